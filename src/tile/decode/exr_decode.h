/* SPDX-License-Identifier: Apache-2.0
 *
 * Undoes EXR's transformations of bytes: run lengths, and the split and differences that precede ZIP and RLE.
 */
#ifndef TXM_DECODE_EXR_DECODE_H
#define TXM_DECODE_EXR_DECODE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/shared.h"

/* Decodes run lengths to exactly dst_bytes bytes; false if the data is malformed. */
TXM_SHARED bool txm_exr_rle_decode(const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes);

/* Undoes the transformation before ZIP and RLE: sums differences between bytes (in place in `src`), then interleaves
 * the two halves of the buffer (even and odd bytes) into `dst`. */
TXM_SHARED void txm_exr_unsplit(uint8_t *src, uint8_t *dst, size_t bytes);
#endif
