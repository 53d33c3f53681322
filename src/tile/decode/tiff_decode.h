/* SPDX-License-Identifier: Apache-2.0
 *
 * Undoes TIFF's predictors, and its codecs LZW and PackBits; widens samples that are not whole bytes.
 */
#ifndef TXM_DECODE_TIFF_DECODE_H
#define TXM_DECODE_TIFF_DECODE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/shared.h"

/* Both decode exactly dst_bytes bytes and return false if the data ends early or is malformed. Data after the last
 * needed byte is ignored, as in libtiff. */
bool txm_lzw_decode(const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes);
bool txm_packbits_decode(const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes);

/* Undoes a predictor in place over `rows` contiguous rows of `width` pixels. Horizontal (2): differences from the pixel
 * on the left, with samples as integers. Floating point (3): bytes of equal significance side by side, then
 * differences; `line` is scratch memory for one row. */
TXM_SHARED void txm_unpredict_horizontal(uint8_t *pixels, uint32_t width, uint32_t rows, uint32_t channels,
                                         unsigned sample_bytes);
TXM_SHARED void txm_unpredict_float(uint8_t *pixels, uint32_t width, uint32_t rows, uint32_t channels,
                                    unsigned sample_bytes, uint8_t *line);

/* Widens `count` packed samples of `bits` bits, the highest bit first, to sample_bytes bytes each (1 or 2), which have
 * more bits, as Blender's OpenImageIO does: the largest value stays the largest, and fractions are cut off. */
void txm_widen_bits(const uint8_t *src, unsigned bits, uint8_t *dst, size_t count, unsigned sample_bytes);
#endif
