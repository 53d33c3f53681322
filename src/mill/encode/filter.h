/* SPDX-License-Identifier: Apache-2.0
 *
 * The reversible filters in front of deflate. Both turn smooth images into streams of small numbers:
 *
 *   - TIFF's horizontal predictor (tag 317 = 2): each sample becomes its difference from the sample of the same channel
 *     one pixel to the left, modulo 2^bits, row by row.
 *   - EXR's zip filter: a tile's bytes are split into those at even and those at odd positions (the low and the high
 *     bytes of half samples), then each byte becomes its difference from the byte before it plus 128.
 *
 * They are plain C, which compilers vectorize with SSE2 or NEON. At 10 GB/s TIFF's takes one or two per cent of the
 * encoder's time, so versions for other ISAs are not worthwhile. EXR's takes six with the split into channels before
 * it, so there is one for AVX-512 that does both at once.
 */
#ifndef TXM_ENCODE_FILTER_H
#define TXM_ENCODE_FILTER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One row of `samples` samples, `channels` (1 to 4) interleaved. src and dst do not overlap. */
void txm_predict_row_u8(const uint8_t *src, size_t samples, uint32_t channels, uint8_t *dst);
void txm_predict_row_u16(const uint16_t *src, size_t samples, uint32_t channels, uint16_t *dst);

/* Splits `size_bytes` bytes and takes differences; dst has the same size and does not overlap src. */
void txm_zip_filter(const uint8_t *src, size_t size_bytes, uint8_t *dst);

/* Splits `pixels` interleaved pixels of `channels` samples of 2 or 4 bytes into `channels` planes of `pixels` samples
 * each, in channel order. */
void txm_planes_u16(const uint16_t *src, size_t pixels, uint32_t channels, uint16_t *dst);
void txm_planes_u32(const uint32_t *src, size_t pixels, uint32_t channels, uint32_t *dst);

/* The bytes of txm_zip_filter for rows of RGBA half, each split into channels: directly from pixels, whose rows are
 * stride_bytes apart. dst does not overlap them. */
typedef void (*txm_half_filter)(const uint8_t *pixels, size_t stride_bytes, uint32_t width, uint32_t height,
                                uint8_t *dst);

/* NULL if this machine, or $TXMILL_ISA, does not allow one. */
txm_half_filter txm_half_filter_best(void);
/* Whether it supports rows of this width. */
bool txm_half_filter_fits(uint32_t width);
#endif
