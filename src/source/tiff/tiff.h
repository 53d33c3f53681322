/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the direct TIFF reader: header (tiff_header.c), rows (tiff.c) and large strips (tiff_strip.c).
 */
#ifndef TXM_SOURCE_TIFF_H
#define TXM_SOURCE_TIFF_H
#include <tiffio.h>

#include "source/readers.h"
#include "source/tiff/tiff_strip.h"

typedef struct txm_tiff {
    char *path;
    TIFF *tif;
    char words[256]; /* what libtiff complained about last */
    bool tiled;
    uint32_t width, height;
    uint32_t block_w, block_h; /* a tile; or the image's width and the rows of a strip */
    uint32_t file_channels, channels, sample_bytes;
    bool by_scanline;      /* strips too large to be decoded as a whole */
    txm_tiff_strip *strip; /* those strips as streams; NULL: libtiff decodes them */
    uint16_t predictor;    /* of the stream */

    uint8_t *block; /* one tile or scanline */
    uint8_t *line;  /* scratch for the predictor of floats */
    uint8_t *band;  /* image rows [band_begin, band_end), channels as in the file */
    uint32_t band_begin, band_end;
} txm_tiff;

/* Reads the first directory of the opened file into `t` and `info`. UNSUPPORTED for what OpenImageIO is to serve. */
txm_status txm_tiff_describe(txm_tiff *t, txm_source_info *info, txm_error *err);

#endif
