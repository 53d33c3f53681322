/* SPDX-License-Identifier: Apache-2.0
 *
 * What a PNG file states before its pixels.
 */
#ifndef TXM_SOURCE_PNG_HEADER_H
#define TXM_SOURCE_PNG_HEADER_H
#include "mill/source/raster_file.h"
#include "mill/source/source.h"

typedef struct txm_png_header {
    uint32_t width, height;
    unsigned depth;        /* bits per sample in the file */
    unsigned file_samples; /* samples per pixel in the file: 1 for palette images */
    bool palette, interlaced;
    bool keyed;             /* the colour `key` is transparent (tRNS of a grey or RGB image) */
    uint16_t key[3];        /* the transparent colour in the file's depth; one value for grey */
    uint8_t colors[256][4]; /* the palette: RGBA, opaque unless tRNS says otherwise, black beyond the last colour */
    bool colors_have_alpha;
    uint64_t data_offset; /* file offset of the first IDAT chunk's data */
    uint32_t data_bytes;  /* size of that chunk */
} txm_png_header;

/* Reads up to the first IDAT chunk and fills in `header` and `info`. */
txm_status txm_png_read_header(txm_raster_file *file, const char *path, txm_png_header *header, txm_source_info *info,
                               txm_error *err);
#endif
