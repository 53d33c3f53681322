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

/* The encoding of a tx file's samples. */
typedef enum txm_values {
    TXM_VALUES_DATA,    /* the values are not colours, and are shown as they are */
    TXM_VALUES_ENCODED, /* already through the sRGB curve */
    TXM_VALUES_LINEAR   /* scene-linear: to be encoded for viewing */
} txm_values;

/* Decides by the colour space that the file records for its source; without one, integers are ENCODED, floats LINEAR.
 */
TXM_API txm_values txm_values_of(const txm_tx_description *description, txm_type type);

/* A level, or all of them, in memory: rows from the top, width * channels samples of `type` each. */
typedef struct txm_level_picture {
    uint8_t *pixels; /* tight, channels interleaved; owned */
    uint32_t width, height, channels;
    txm_type type;
    const char *colorspace; /* colour space of the values, as OpenImageIO names it; NULL: unspecified */
    bool encoded;           /* for viewing: values are 8 bits through the sRGB curve */
} txm_level_picture;

/* The largest picture in memory: a small file can claim to hold far more. */
#define TXM_PICTURE_MAX_BYTES ((size_t)4 << 30)

/* Reads one level, or with `atlas` all: level 0 at the left, the others below each other to its right, and 0 elsewhere.
 * `level` is ignored for an atlas. TOO_LARGE beyond TXM_PICTURE_MAX_BYTES. */
TXM_API txm_status txm_level_picture_read(txm_tx *tx, uint32_t level, bool atlas, txm_level_picture *out,
                                          txm_error *err);

/* Converts scene-linear values to 8 bits for viewing; pictures of data or with encoded values are not changed. On
 * failure (NO_MEMORY) the picture is not changed. */
TXM_API txm_status txm_level_picture_encode(const txm_tx *tx, txm_level_picture *picture, txm_error *err);
/* Converts any other picture to 8 bits as well. On failure (NO_MEMORY) the picture is not changed. */
TXM_API txm_status txm_level_picture_to_8_bits(txm_level_picture *picture, txm_error *err);
TXM_API void txm_level_picture_clear(txm_level_picture *picture); /* NULL-safe; zeroes */

/* Which level is extracted, and how. */
typedef struct txm_extract_options {
    size_t struct_size; /* set by txm_extract_options_init */
    uint32_t level;
    bool atlas; /* all levels in one picture, as txm_level_picture_read places them; `level` is ignored */
    bool raw;   /* write values as they are stored, even into a format for viewing */
    uint32_t
        fit_px; /* take the largest level with neither side longer than this, and ignore `level`; 0: take `level` */
    const char *format; /* extension of the format, such as "png"; NULL: that of the output's name */
} txm_extract_options;

/* Initialises options with the defaults. */
static inline void txm_extract_options_init(txm_extract_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* A description of the picture that was written. */
typedef struct txm_extracted {
    uint32_t width, height, channels;
    txm_type type;
    bool encoded;   /* for viewing: values are 8 bits through the sRGB curve */
    uint32_t level; /* 0 for an atlas */
    uint64_t reserved[4];
} txm_extracted;

/* Writes a level of a tx file as a picture, as txm_picture_write does. Formats for viewing (PNG, JPEG and others) get
 * scene-linear values through the sRGB curve, all others get the stored values; primaries are not converted. `options`
 * may be NULL, which means level 0; `result` may be NULL. TOO_LARGE if no level fits into fit_px; other failures are
 * those of txm_tx_open, txm_level_picture_read and txm_picture_write. */
TXM_API txm_status txm_extract(const char *tx_path, const char *output, const txm_extract_options *options,
                               txm_extracted *result, txm_error *err);

/* The 8-bit code that a scene-linear value has in a picture for viewing: through the sRGB curve. */
TXM_API unsigned txm_srgb_code(float value);

#ifdef __cplusplus
}
#endif
#endif
