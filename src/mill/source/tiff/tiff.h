/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the direct TIFF reader: opening (tiff.c), header (tiff_header.c), rows (tiff_rows.c) and large strips
 * (tiff_strip.c). Samples are in planes: one plane of whole pixels, or one for each channel.
 */
#ifndef TXM_SOURCE_TIFF_H
#define TXM_SOURCE_TIFF_H
#include <setjmp.h>
#include <tiffio.h>

#include "mill/source/readers.h"
#include "mill/source/source_file.h"
#include "mill/source/tiff/tiff_strip.h"

enum { TXM_INKS = 4 }; /* cyan, magenta, yellow, black */

typedef struct txm_tiff {
    const char *path;
    TIFF *tif;
    txm_source_file file;
    uint64_t position; /* libtiff's position in the file */
    char message[256]; /* libtiff's last message */
    bool doubtful;     /* it was about a tag that says how pixels are stored */
    bool no_memory;    /* a message was about lack of memory */
    bool guarded;      /* `escape` leaves a call of libtiff that has damaged its handle (tile/reader/libtiff.h) */
    jmp_buf escape;
    bool tiled;
    uint32_t width, height;
    uint32_t block_w, block_h;        /* size of a tile; or the image's width and the rows of a strip */
    uint32_t file_channels, channels; /* number in the file; number delivered */
    uint32_t planes, plane_channels;  /* number of planes that are read; channels in each plane of the file */
    uint32_t sample_bytes;            /* size in the file: 3 and 8 mean floats of 24 and 64 bits, which become float */
    bool invert;                      /* 0 is white */
    bool inks;                        /* CMYK, delivered as RGB */
    bool by_scanline;                 /* strips are too large to be decoded as a whole */
    /* Streams for such strips, one for each plane; NULL: libtiff decodes them. */
    txm_tiff_strip *strip[TXM_MAX_CHANNELS];
    uint16_t predictor; /* predictor of the streams */

    uint8_t *block; /* one tile, or one scanline of each plane */
    uint8_t *line;  /* scratch for the predictor of floats */
    uint8_t *band;  /* image rows [band_begin, band_end), plane after plane as in the file */
    uint32_t band_begin, band_end;
} txm_tiff;

/* OK unless reading failed or memory was exhausted: then that is the failure, whatever libtiff reports. */
txm_status txm_tiff_cause(const txm_tiff *t, txm_error *err);

/* Reads the first directory of the open file into `t` and `info`. UNSUPPORTED for files that OpenImageIO is to read. */
txm_status txm_tiff_describe(txm_tiff *t, txm_source_info *info, txm_error *err);

static inline size_t txm_tiff_plane_row(const txm_tiff *t)
{
    return (size_t)t->width * t->plane_channels * t->sample_bytes;
}

txm_status txm_tiff_read_rows(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err);

#endif
