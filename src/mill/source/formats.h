/* SPDX-License-Identifier: Apache-2.0
 *
 * Image formats, by the name of a file, by its first bytes, or by OpenImageIO's name of the format.
 */
#ifndef TXM_SOURCE_FORMATS_H
#define TXM_SOURCE_FORMATS_H
#include "mill/source/source.h"
#include "txmill/format.h"

/* The role of the config from which Blender takes the colour space. */
typedef enum txm_format_role {
    TXM_ROLE_FLOAT,       /* default_float: the format may contain scene-referred light */
    TXM_ROLE_BYTE,        /* default_byte: it never does */
    TXM_ROLE_BY_WIDTH,    /* default_float if a sample is wider than a byte */
    TXM_ROLE_BY_FLOATNESS /* Blender does not read the format: default_float for half and float samples */
} txm_format_role;

enum {
    TXM_FORMAT_UNPACKED = 1,            /* Blender gives its extension to a packed image without a name */
    TXM_FORMAT_BY_ROWS = 2,             /* OpenImageIO decodes rows on request, and not the whole image at once */
    TXM_FORMAT_ASSOCIATED = 4,          /* Blender treats its alpha as premultiplied */
    TXM_FORMAT_UNASSOCIATED = 8,        /* its alpha is unassociated, whatever OpenImageIO reports */
    TXM_FORMAT_NAMES_SPACE = 16,        /* Blender trusts the colour space that OpenImageIO reports */
    TXM_FORMAT_STORES = 32,             /* stores linear floats: pictures are not encoded for viewing */
    TXM_FORMAT_ALPHA_BESIDE_COLOR = 64, /* when written, alpha is possible with colours but not with grey */
    TXM_FORMAT_SLOW = 128               /* decoding takes longer than all other steps of a conversion */
};

enum { TXM_FORMAT_MAGICS = 4 };

typedef struct txm_format_magic {
    const char *bytes; /* NULL: none */
    uint8_t offset, size;
    const char *digits; /* digits for PNM: the file begins with 'P', one of these, then white space or a comment; NULL
                           for other formats */
} txm_format_magic;

typedef struct txm_image_format {
    const char *name, *noun, *extensions, *also;
    txm_format_role role;
    unsigned traits, ratio;
    const txm_reader_ops *reader; /* NULL: OpenImageIO's */
    txm_format_magic magics[TXM_FORMAT_MAGICS];
} txm_image_format;

/* Looks up OpenImageIO's name; an unknown format gives a row without traits and with TXM_ROLE_BY_FLOATNESS. Never NULL.
 */
const txm_image_format *txm_format_named(const char *name);
/* Looks up the first bytes of a file; NULL if they match none. */
const txm_image_format *txm_format_of_head(const void *head, size_t bytes);
/* Looks up the extension of a source; if `first`, only the first one of each format. NULL if it is not in the table. */
const txm_image_format *txm_format_of_source(const char *path, bool first);
/* Looks up the extension of a picture to write; NULL if unknown. */
const txm_image_format *txm_format_of_picture(const char *path);
size_t txm_format_extension_bytes(const txm_image_format *format);

#endif
