/* SPDX-License-Identifier: Apache-2.0
 *
 * What the TIFF half of the reader shares: directories (tiff_reader_directory.c), levels (tiff_reader.c), metadata
 * (tiff_reader_metadata.c), the end of the image (tiff_reader_extent.c), tiles (tiff_reader_tile.c), predictors and the
 * small codecs (tiff_reader_predictor.c, tiff_reader_codec.c).
 */
#ifndef TXM_CONTAINER_TIFF_READER_H
#define TXM_CONTAINER_TIFF_READER_H
#include "container/reader_impl.h"

/* Compression tag values. */
enum {
    TXM_TIFF_NONE = 1,
    TXM_TIFF_LZW = 5,
    TXM_TIFF_ZIP = 8,
    TXM_TIFF_ZIP_OLD = 32946,
    TXM_TIFF_PACKBITS = 32773,
    TXM_TIFF_ZSTD = 50000
};

extern const txm_container_ops txm_tiff_reader_ops;

/* An unsigned number of 1, 2, 4 or 8 bytes; `swap`: big-endian. */
uint64_t txm_tiff_uint(const uint8_t *p, unsigned width, bool swap);

/* Where the last structure that the directories point to ends. */
uint64_t txm_tiff_image_end(const txm_tx *tx);
/* Whether a value that a directory points to lies outside of the file, so that the file was cut short, even if only
 * texts are missing. */
bool txm_tiff_lost_values(const txm_tx *tx);

/* Name of a codec that the reader decodes, NULL for others. */
const char *txm_tiff_codec_name(uint32_t compression);

/* Each decodes exactly dst_bytes bytes; false if the data ends early or is malformed. Data behind the last needed byte
 * is ignored, as libtiff does. */
bool txm_lzw_decode(const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes);
bool txm_packbits_decode(const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes);

/* Undoes a predictor in place over `rows` rows of `width` pixels, tight. Horizontal (2): differences to the pixel on
 * the left, samples as integers. Floating point (3): bytes of equal weight side by side, then differences; `line` is
 * scratch for one row. */
void txm_unpredict_horizontal(uint8_t *pixels, uint32_t width, uint32_t rows, uint32_t channels, unsigned sample_bytes);
void txm_unpredict_float(uint8_t *pixels, uint32_t width, uint32_t rows, uint32_t channels, unsigned sample_bytes,
                         uint8_t *line);

#endif
