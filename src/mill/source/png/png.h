/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of the direct PNG reader: what a file states before its pixels (png_header.c), the zlib stream in its IDAT
 * chunks (png_idat.c), and the conversion of its samples (png_pixels.c). A PNG's pixels are one zlib stream cut into
 * chunks of any length. It is read as rows are requested, so the image is never in memory as a whole. Checksums are
 * verified on the way; files that were truncated or changed are refused exactly if libpng refuses them.
 */
#ifndef TXM_SOURCE_PNG_H
#define TXM_SOURCE_PNG_H
#include "mill/source/source.h"
#include "mill/source/source_file.h"
#include <isa-l/igzip_lib.h>

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
txm_status txm_png_read_header(txm_source_file *file, const char *path, txm_png_header *header, txm_source_info *info,
                               txm_error *err);

typedef struct txm_png_idat {
    txm_source_file *file;
    uint64_t start;       /* file offset of the first IDAT chunk's data */
    uint32_t start_bytes; /* length of that chunk */
    uint32_t left;        /* bytes of the current chunk that the CRC does not include yet */
    uint32_t crc;         /* CRC of the current chunk's type and the bytes read so far */
    bool starved;         /* the inflater has used all its input */
    bool ended;           /* the zlib stream is complete and its checksum correct */
    txm_status status;    /* the first failure, which is kept */
    const char *reason;   /* its message */
    struct inflate_state state;
} txm_png_idat;

void txm_png_idat_begin(txm_png_idat *idat);

/* Inflates up to `bytes` bytes and returns their number: fewer only at the end of the stream or on a failure (`status`,
 * `reason`). */
size_t txm_png_idat_read(txm_png_idat *idat, uint8_t *dst, size_t bytes);

/* Called after all pixels were read: checks the rest of the stream as libpng does. false on a failure. */
bool txm_png_idat_finish(txm_png_idat *idat);

typedef void (*txm_png_convert_fn)(const txm_png_header *header, const uint8_t *row, void *dst);

/* How rows are converted, and how many samples per pixel result (0 for a depth that PNG does not have). *convert is
 * NULL if rows already have the pixels that are delivered. */
unsigned txm_png_convert_of(const txm_png_header *header, txm_png_convert_fn *convert);
#endif
