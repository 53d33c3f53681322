/* SPDX-License-Identifier: Apache-2.0
 *
 * The few descriptive fields that the direct readers of PNG, JPEG and TIFF take from a file, where OpenImageIO finds
 * them: named texts, Exif, XMP, IPTC. A reader passes the raw blocks in the order of the file; the result is at most
 * four texts, a resolution, and whether Exif says sRGB. If two blocks disagree, the one that OpenImageIO would take
 * counts, because the fields become metadata of the tx file and must not depend on the reader.
 */
#ifndef TXM_SOURCE_RASTER_META_H
#define TXM_SOURCE_RASTER_META_H
#include "mill/source/source.h"

enum { TXM_META_ARTIST, TXM_META_COPYRIGHT, TXM_META_DESCRIPTION, TXM_META_SOFTWARE, TXM_META_FIELDS };

typedef struct txm_raster_meta {
    char *fields[TXM_META_FIELDS];    /* NULL: the file does not have it */
    float x_resolution, y_resolution; /* resolution in Exif; 0: none */
    bool says_srgb;                   /* Exif names a colour space, which OpenImageIO always takes as sRGB */
} txm_raster_meta;

/* Adds a named text: replaces the value if `name` (in any case) is one of the fields, else does nothing. false if
 * memory is exhausted. */
bool txm_raster_meta_set(txm_raster_meta *meta, const char *name, const char *value);

/* The same for `bytes` bytes of text, cut at the first NUL. */
bool txm_raster_meta_set_bytes(txm_raster_meta *meta, int field, const void *text, size_t bytes);

/* Adds an Exif block, from its TIFF header on. Fields that have a value keep it. A damaged block is used as far as
 * possible. false if memory is exhausted. */
bool txm_raster_meta_add_exif(txm_raster_meta *meta, const uint8_t *data, size_t bytes);

/* Adds a Photoshop block, from after its "Photoshop 3.0". Fields that have a value keep it. false if memory is
 * exhausted. */
bool txm_raster_meta_add_iptc(txm_raster_meta *meta, const uint8_t *data, size_t bytes);

/* Adds the records inside such a block, which TIFF stores without it. */
bool txm_raster_meta_add_iim(txm_raster_meta *meta, const uint8_t *data, size_t bytes);

/* Adds an XMP packet; each value replaces an earlier one. false if memory is exhausted. */
bool txm_raster_meta_add_xmp(txm_raster_meta *meta, const char *packet, size_t bytes);

bool txm_raster_meta_store(const txm_raster_meta *meta, txm_source_info *info);

void txm_raster_meta_clear(txm_raster_meta *meta);
#endif
