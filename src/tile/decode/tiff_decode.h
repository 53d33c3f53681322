/* SPDX-License-Identifier: Apache-2.0
 *
 * Undoing TIFF's predictors, and its codecs LZW and PackBits.
 */
#ifndef TXM_DECODE_TIFF_DECODE_H
#define TXM_DECODE_TIFF_DECODE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile/base/shared.h"

/* Each decodes exactly dst_bytes bytes; false if the data ends early or is malformed. Data after the last needed byte
 * is ignored, as libtiff does. */
bool txm_lzw_decode(const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes);
bool txm_packbits_decode(const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes);

/* Undoes a predictor in place over `rows` rows of `width` pixels, tight. Horizontal (2): differences to the pixel on
 * the left, samples as integers. Floating point (3): bytes of equal weight side by side, then differences; `line` is
 * scratch for one row. */
TXM_SHARED void txm_unpredict_horizontal(uint8_t *pixels, uint32_t width, uint32_t rows, uint32_t channels,
                                         unsigned sample_bytes);
TXM_SHARED void txm_unpredict_float(uint8_t *pixels, uint32_t width, uint32_t rows, uint32_t channels,
                                    unsigned sample_bytes, uint8_t *line);
#endif
