/* SPDX-License-Identifier: Apache-2.0
 *
 * The few descriptive fields that the direct readers of PNG, JPEG and TIFF take from a file, found where OpenImageIO
 * finds them: named texts, Exif, XMP, IPTC.
 *
 * In: the raw blocks that a reader met, in the order of the file. Out: at most four texts, a resolution, and
 * whether Exif claims sRGB. Where two blocks say different things, the winner is the one that OpenImageIO would
 * name, because the fields end up in the tx file's metadata and must not depend on which reader made it.
 */
#ifndef TXM_SOURCE_RASTER_META_H
#define TXM_SOURCE_RASTER_META_H
#include "mill/source/source.h"

enum { TXM_META_ARTIST, TXM_META_COPYRIGHT, TXM_META_DESCRIPTION, TXM_META_SOFTWARE, TXM_META_FIELDS };

typedef struct txm_raster_meta {
    char *fields[TXM_META_FIELDS];    /* NULL: the file says nothing */
    float x_resolution, y_resolution; /* of Exif; 0: not said */
    bool says_srgb;                   /* Exif names a colour space, which OpenImageIO takes for sRGB whatever it is */
} txm_raster_meta;

/* A named text: replaces what was there if `name` (in any case) is one of the fields, else does nothing. False when
 * memory is exhausted. */
bool txm_raster_meta_set(txm_raster_meta *meta, const char *name, const char *value);

/* As above for `bytes` bytes of text, cut at the first NUL. */
bool txm_raster_meta_set_bytes(txm_raster_meta *meta, int field, const void *text, size_t bytes);

/* An Exif block from its TIFF header on. Fields that are there already stay. False when memory is exhausted; a damaged
 * block is used as far as it goes. */
bool txm_raster_meta_add_exif(txm_raster_meta *meta, const uint8_t *data, size_t bytes);

/* A Photoshop block after its "Photoshop 3.0". Fields that are there already stay. False when memory is exhausted. */
bool txm_raster_meta_add_iptc(txm_raster_meta *meta, const uint8_t *data, size_t bytes);

/* The records inside such a block, which TIFF stores bare. */
bool txm_raster_meta_add_iim(txm_raster_meta *meta, const uint8_t *data, size_t bytes);

/* An XMP packet: each value replaces what was there. False when memory is exhausted. */
bool txm_raster_meta_add_xmp(txm_raster_meta *meta, const char *packet, size_t bytes);

/* Hands the fields over to `info`. False when memory is exhausted. */
bool txm_raster_meta_store(const txm_raster_meta *meta, txm_source_info *info);

void txm_raster_meta_clear(txm_raster_meta *meta);
#endif
