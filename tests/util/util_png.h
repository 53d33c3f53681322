/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds PNG files field by field, valid or not.
 */
#ifndef TESTS_UTIL_PNG_H
#define TESTS_UTIL_PNG_H
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

enum { PNG_GRAY = 0, PNG_RGB = 2, PNG_PALETTE = 3, PNG_GRAY_ALPHA = 4, PNG_RGBA = 6 };

typedef struct png_layout {
    uint32_t width, height;
    uint8_t depth, color_type, interlace;
} png_layout;

unsigned png_samples(uint8_t color_type);
size_t png_row_bytes(const png_layout *l);
/* The distance to the left neighbour that filters use. */
size_t png_pixel_bytes(const png_layout *l);

/* Writes signature and IHDR. */
void png_begin(txm_bytes *f, const png_layout *l);
/* Writes a chunk with its CRC xor `crc_error`. */
void png_chunk_crc(txm_bytes *f, const char *type, const void *data, size_t bytes, uint32_t crc_error);
void png_chunk(txm_bytes *f, const char *type, const void *data, size_t bytes);

/* Appends rows (height * png_row_bytes) with their filters to `out`: filter type `filter`, or 0 to 4 in turn if it is
 * negative. */
void png_filter(txm_bytes *out, const png_layout *l, const uint8_t *rows, int filter);
/* Writes data as a zlib stream; level 0 stores. */
void png_deflate(txm_bytes *out, const void *data, size_t bytes, int level);
/* Writes IDAT chunks of at most `piece` bytes each. */
void png_idats(txm_bytes *f, const void *stream, size_t bytes, size_t piece);
/* Writes all of the above after what `f` already has, and IEND. */
void png_finish(txm_bytes *f, const png_layout *l, const uint8_t *rows, int filter);

/* Repeatable noise. */
void test_noise(uint64_t *seed, void *dst, size_t bytes);
#endif
