/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the direct TIFF reader: opening (tiff.c), header (tiff_header.c), rows (tiff_rows.c) and large strips
 * (tiff_strip.c).
 *
 * Samples lie in planes: one that holds whole pixels, or one for each channel.
 */
#ifndef TXM_SOURCE_TIFF_H
#define TXM_SOURCE_TIFF_H
#include <setjmp.h>
#include <tiffio.h>

#include "mill/source/random_file.h"
#include "mill/source/readers.h"
#include "mill/source/tiff/tiff_strip.h"

enum { TXM_INKS = 4 }; /* cyan, magenta, yellow, black */

typedef struct txm_tiff {
    char *path;
    TIFF *tif;
    txm_random_file file;
    uint64_t position; /* of libtiff in the file */
    char message[256]; /* what libtiff complained about last */
    bool doubtful;     /* it was about a tag that says how pixels are stored */
    bool no_memory;    /* it complained about that once */
    bool guarded;      /* escape leads out of a call of libtiff that broke its handle (tile/reader/libtiff.h) */
    jmp_buf escape;
    bool tiled;
    uint32_t width, height;
    uint32_t block_w, block_h;        /* a tile; or the image's width and the rows of a strip */
    uint32_t file_channels, channels; /* in the file; delivered */
    uint32_t planes, plane_channels;  /* planes that are read; channels of the file in each */
    uint32_t sample_bytes;            /* in the file: 3 and 8 are floats of 24 and 64 bits, which become float */
    bool invert;                      /* 0 is white */
    bool inks;                        /* CMYK, delivered as RGB */
    bool by_scanline;                 /* strips too large to be decoded as a whole */
    /* Those strips as streams, one for each plane; NULL: libtiff decodes them. */
    txm_tiff_strip *strip[TXM_MAX_CHANNELS];
    uint16_t predictor; /* of the streams */

    uint8_t *block; /* one tile, or one scanline of each plane */
    uint8_t *line;  /* scratch for the predictor of floats */
    uint8_t *band;  /* image rows [band_begin, band_end), plane after plane as in the file */
    uint32_t band_begin, band_end;
} txm_tiff;

/* OK unless reading failed or memory was exhausted: then that is the failure, whatever libtiff makes of it. */
txm_status txm_tiff_cause(const txm_tiff *t, txm_error *err);

/* Reads the first directory of the opened file into `t` and `info`. UNSUPPORTED for what OpenImageIO is to serve. */
txm_status txm_tiff_describe(txm_tiff *t, txm_source_info *info, txm_error *err);

/* Bytes of a row of one plane as the file has it. */
static inline size_t txm_tiff_plane_row(const txm_tiff *t)
{
    return (size_t)t->width * t->plane_channels * t->sample_bytes;
}

/* Delivers rows as source.h says. */
txm_status txm_tiff_read_rows(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err);

#endif
