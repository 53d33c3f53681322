/* SPDX-License-Identifier: Apache-2.0
 *
 * Undoing what EXR does to bytes: run lengths, and the split and differences that precede ZIP and RLE.
 */
#ifndef TXM_DECODE_EXR_DECODE_H
#define TXM_DECODE_EXR_DECODE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile/base/shared.h"

/* Decodes exactly dst_bytes bytes of run lengths; false if the data is malformed. */
TXM_SHARED bool txm_exr_rle_decode(const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes);

/* Undoes what precedes ZIP and RLE: differences between bytes (in place in `src`), then the two halves of the buffer
 * (even and odd bytes) are woven into `dst`. */
TXM_SHARED void txm_exr_unsplit(uint8_t *src, uint8_t *dst, size_t bytes);
#endif
