/* SPDX-License-Identifier: Apache-2.0
 * Whole levels of a tx file in memory and as pictures, as they are stored or encoded for viewing. */
#ifndef TXMILL_LEVEL_H
#define TXMILL_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "txmill/format.h"
#include "txmill/picture.h"
#include "txtile/describe.h"
#include "txtile/export.h"
#include "txtile/pixel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the samples of a tx file are. */
typedef enum txm_values {
    TXM_VALUES_DATA,    /* no colour: shown as they are */
    TXM_VALUES_ENCODED, /* through the sRGB curve already */
    TXM_VALUES_LINEAR   /* scene-linear: to be encoded for viewing */
} txm_values;

/* By the colour space that the file says its source had; where it says none, integers are ENCODED, floats LINEAR. */
TXM_API txm_values txm_values_of(const txm_tx_description *description, txm_type type);

/* A level, or all of them, in memory: rows from the top, width * channels samples of `type` each. */
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
TXM_API txm_status txm_level_picture_read(txm_tx *tx, uint32_t level, bool atlas, txm_level_picture *out,
                                          txm_error *err);

/* Turns scene-linear values into 8 bits for viewing; pictures of data or with encoded values stay as they are. On
 * failure (NO_MEMORY) its pixels are as they were. */
TXM_API txm_status txm_level_picture_encode(const txm_tx *tx, txm_level_picture *picture, txm_error *err);
/* Whatever that left as it was becomes 8 bits. On failure (NO_MEMORY) the picture is as it was. */
TXM_API txm_status txm_level_picture_to_8_bits(txm_level_picture *picture, txm_error *err);
TXM_API void txm_level_picture_clear(txm_level_picture *picture); /* NULL-safe; zeroes */

/* Which level is extracted, and how. */
typedef struct txm_extract_options {
    size_t struct_size; /* set by txm_extract_options_init */
    uint32_t level;
    bool atlas;         /* all levels in one picture, as txm_level_picture_read places them; `level` is ignored */
    bool raw;           /* values as they are stored in formats for viewing, too */
    uint32_t fit_px;    /* the largest level of which neither side is longer, whatever `level` says; 0: `level` */
    const char *format; /* extension of the format, as "png", whatever the output is called; NULL: by its name */
} txm_extract_options;

/* Opens options: every member asks for nothing in particular. */
static inline void txm_extract_options_init(txm_extract_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* What was written. */
typedef struct txm_extracted {
    uint32_t width, height, channels;
    txm_type type;
    bool encoded;   /* for viewing: 8 bits through the sRGB curve */
    uint32_t level; /* 0 for an atlas */
    uint64_t reserved[4];
} txm_extracted;

/* Writes a level of a tx file as a picture, as txm_picture_write does. Formats for viewing (PNG, JPEG ...) get
 * scene-linear values through the sRGB curve, all others what is stored; primaries are not converted. `options` may be
 * NULL: level 0; so may `result`. TOO_LARGE when no level fits into fit_px; else what txm_tx_open,
 * txm_level_picture_read and txm_picture_write return. */
TXM_API txm_status txm_extract(const char *tx_path, const char *output, const txm_extract_options *options,
                               txm_extracted *result, txm_error *err);

/* The 8-bit code of a scene-linear value as pictures for viewing have it: through the sRGB curve. */
TXM_API unsigned txm_srgb_code(float value);

#ifdef __cplusplus
}
#endif
#endif
