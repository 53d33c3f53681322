/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole levels of a tx file in memory, as they are stored or encoded for viewing.
 *
 * The room tools/picture makes pictures of tx files for commands that show or write them: whole levels here, tiles
 * apart from each other in tile_sheet.c; both go through the library's image writer.
 */
#ifndef TXM_TOOLS_LEVEL_PICTURE_H
#define TXM_TOOLS_LEVEL_PICTURE_H
#include <stdbool.h>
#include <stddef.h>

#include "container/describe.h"
#include "source/oiio/picture.h"

/* What the samples of a tx file are. */
typedef enum txm_values {
    TXM_VALUES_DATA,    /* no colour: shown as they are */
    TXM_VALUES_ENCODED, /* through the sRGB curve already */
    TXM_VALUES_LINEAR   /* scene-linear: to be encoded for viewing */
} txm_values;

txm_values txm_values_of(const txm_tx_description *description, txm_type type);

typedef struct txm_level_picture {
    uint8_t *pixels; /* tight, channels interleaved; owned */
    uint32_t width, height, channels;
    txm_type type;
    const char *colorspace; /* what the values are, as OpenImageIO names it; NULL: says nothing */
    bool encoded;           /* for viewing: 8 bits through the sRGB curve */
} txm_level_picture;

/* How much a picture may take: what a file claims to hold is not what it has to cost. */
#define TXM_PICTURE_MAX_BYTES ((size_t)4 << 30)

/* One level, or with `atlas` all: level 0 at the left, the others below each other to its right, nothing (zero) in
 * between. `level` is ignored for an atlas. TOO_LARGE beyond 4 GiB. */
txm_status txm_level_picture_read(txm_tx *tx, uint32_t level, bool atlas, txm_level_picture *out, txm_error *err);

/* Turns scene-linear values into 8 bits for viewing; pictures of data or with encoded values stay as they are. */
txm_status txm_level_picture_encode(const txm_tx *tx, txm_level_picture *picture, txm_error *err);
/* Whatever that left as it was becomes 8 bits. */
txm_status txm_level_picture_to_8_bits(txm_level_picture *picture, txm_error *err);
void txm_level_picture_clear(txm_level_picture *picture); /* NULL-safe; zeroes */
/* Encodes a picture (source/oiio/picture.h) and puts it under `path` (batch/out_file.h), whole or not at all. Its
 * folder must be there. */
txm_status txm_picture_write(const char *path, const txm_picture *picture, txm_error *err);
#endif
