/* SPDX-License-Identifier: Apache-2.0
 * The bytes of ZIP and RLE chunks of EXR files. */
#ifndef TXM_SOURCE_EXR_BYTES_H
#define TXM_SOURCE_EXR_BYTES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Undoes what EXR does to bytes before it compresses them: sums the differences up, then takes turns between both
 * halves. `in` is overwritten. */
void txm_exr_unpredict(uint8_t *in, uint8_t *out, size_t size_bytes);

/* Expands runs to exactly size_bytes bytes; false if they are not so many. */
bool txm_exr_unrle(const uint8_t *in, size_t bytes, uint8_t *out, size_t size_bytes);
#endif
