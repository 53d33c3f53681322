/* SPDX-License-Identifier: Apache-2.0
 *
 * What txmill knows of image formats, by the name of a file, by its first bytes or by OpenImageIO's name of the format.
 */
#ifndef TXM_SOURCE_FORMATS_H
#define TXM_SOURCE_FORMATS_H
#include "mill/source/source.h"
#include "txmill/format.h"

/* Which of the config's roles names the colour space that Blender sets. */
typedef enum txm_format_role {
    TXM_ROLE_FLOAT,       /* default_float: the format may hold scene-referred light */
    TXM_ROLE_BYTE,        /* default_byte: it never does */
    TXM_ROLE_BY_WIDTH,    /* default_float if a sample is wider than a byte */
    TXM_ROLE_BY_FLOATNESS /* Blender does not read the format: default_float for half and float samples */
} txm_format_role;

enum {
    TXM_FORMAT_UNPACKED = 1,     /* Blender gives its extension to a packed image that has no name */
    TXM_FORMAT_BY_ROWS = 2,      /* OpenImageIO decodes rows as they are asked for, not the whole image at once */
    TXM_FORMAT_ASSOCIATED = 4,   /* Blender takes its alpha for premultiplied */
    TXM_FORMAT_UNASSOCIATED = 8, /* its alpha is straight whatever OpenImageIO says */
    TXM_FORMAT_NAMES_SPACE = 16, /* Blender believes the colour space that OpenImageIO reports */
    TXM_FORMAT_STORES = 32,      /* holds linear floats: pictures in it are not encoded for viewing */
    TXM_FORMAT_ALPHA_BESIDE_COLOR = 64, /* when written: alpha goes with colours, not with grey */
    TXM_FORMAT_SLOW = 128               /* decoding takes longer than all the rest of a conversion */
};

enum { TXM_FORMAT_MAGICS = 4 };

typedef struct txm_format_magic {
    const char *bytes; /* NULL: none */
    uint8_t offset, size;
    const char *digits; /* not NULL: 'P', one of these, then white space or a comment */
} txm_format_magic;

typedef struct txm_image_format {
    const char *name, *noun, *extensions, *also;
    txm_format_role role;
    unsigned traits;
    const txm_reader_ops *reader; /* NULL: OpenImageIO's */
    txm_format_magic magics[TXM_FORMAT_MAGICS];
} txm_image_format;

/* By OpenImageIO's name; of an unknown format a row without traits and with TXM_ROLE_BY_FLOATNESS. Never NULL. */
const txm_image_format *txm_format_named(const char *name);
/* By the first bytes of a file; NULL: none of these, or one that cannot be told by them. */
const txm_image_format *txm_format_of_head(const void *head, size_t bytes);
/* By the extension of a source, and the first one of the format if `first`; NULL: not one that is searched for. */
const txm_image_format *txm_format_of_source(const char *path, bool first);
/* By the extension of a picture that is written; NULL: unknown. */
const txm_image_format *txm_format_of_picture(const char *path);
/* Bytes of the first extension. */
size_t txm_format_extension_bytes(const txm_image_format *format);

#endif
