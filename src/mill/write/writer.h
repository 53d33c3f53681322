/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes tx files: integer types become tiled TIFF (libtiff), float types tiled mip-mapped EXR (OpenEXRCore). Tiles are
 * encoded already (mill/encode/tile.h) and come in one strict order: level 0 first, each level's tiles row by row.
 * Values that are known only at the end (SHA-1, averages) are passed to finish.
 *
 * The directory src/mill/write makes tx files. writer.c and its parts put encoded tiles into a TIFF or EXR file;
 * section_writer.c and border_encode.c write the border section at its end; read_back.c compares a finished file with
 * what was to be written; publish.c gives it its final name, complete or not at all. src/tile/reader reads them.
 */
#ifndef TXM_WRITE_WRITER_H
#define TXM_WRITE_WRITER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "tile/terms/density.h"
#include "txtile/pixel.h"
#include "txtile/settings.h"
#include "txtile/status.h"

typedef struct txm_tx_layout {
    uint32_t width, height, levels; /* px of level 0; number of levels */
    uint32_t channels;              /* 1 or 4 */
    txm_type type;
    uint32_t tile_px;
    txm_compression compression;
} txm_tx_layout;

/* The number of tiles across and down a level. */
static inline uint32_t txm_layout_tiles_x(const txm_tx_layout *l, uint32_t level)
{
    return (txm_level_size(l->width, level) + l->tile_px - 1) / l->tile_px;
}

static inline uint32_t txm_layout_tiles_y(const txm_tx_layout *l, uint32_t level)
{
    return (txm_level_size(l->height, level) + l->tile_px - 1) / l->tile_px;
}

typedef struct txm_tx_attribute {
    const char *name, *value;
} txm_tx_attribute;

/* Values known before the first tile. Strings and attributes must outlive the writer; NULL counts as "". */
typedef struct txm_tx_metadata {
    const char *source;                        /* path as it is stored in the file */
    const char *detected_colorspace;           /* "scene_linear_srgb", "data" ... */
    const char *requested_colorspace, *config; /* texts from txm_color_fingerprint; "": left out */
    /* The releases of Blender that make these pixels of the image, separated by blanks, and those that do if it turns
     * out to be opaque; "": left out, because all of them do. */
    const char *releases, *releases_if_opaque;
    uint32_t limit_px;               /* the image was halved for this limit of its sides; 0: left out */
    const char *content;             /* txm_content_key of the image; "": left out */
    const char *xyz_to_scene_linear; /* the 12 numbers as text */
    txm_alpha alpha;
    const char *interop_id;             /* EXR colorInteropID: "data" or the working space's; "": left out */
    bool equiangular;                   /* texture format "LatLong Environment" instead of "Plain Texture" */
    time_t source_mtime;                /* time for DateTime and capDate, in local time */
    txm_density density;                /* the source's density, validated; all 0: unknown */
    const txm_tx_attribute *attributes; /* kept from the source and given with --attrib */
    size_t attribute_count;
} txm_tx_metadata;

/* Values known after the last row of level 0. */
typedef struct txm_tx_summary {
    char sha1[41];
    float average[4];
    bool opaque; /* integers whose alpha is full everywhere */
    bool constant;
    float constant_color[4];
} txm_tx_summary;

typedef struct txm_tx_writer txm_tx_writer;

/* Whether the container of this type of samples can be compressed so; USAGE, with `name` in front, if not. */
txm_status txm_tx_check_codec(txm_type type, txm_codec codec, const char *name, txm_error *err);

/* Starts a file on `fd` (empty, read-write, seekable; not closed by the writer). BigTIFF is chosen if the uncompressed
 * size of all levels could exceed 4 GiB, and only then. */
txm_status txm_tx_writer_open(int fd, const char *name_for_messages, const txm_tx_layout *layout,
                              const txm_tx_metadata *metadata, txm_tx_writer **out, txm_error *err);

txm_status txm_tx_writer_add(txm_tx_writer *writer, const void *encoded, size_t size_bytes, txm_error *err);

/* Writes directories and late metadata; all tiles must have been added. If this returns TXM_OK, the file is complete;
 * *image_bytes (may be NULL) is then its size, after which a border section may be appended. Consumes nothing: call
 * close. */
txm_status txm_tx_writer_finish(txm_tx_writer *writer, const txm_tx_summary *summary, uint64_t *image_bytes,
                                txm_error *err);
void txm_tx_writer_close(txm_tx_writer **writer); /* NULL-safe; accepts unfinished writers */

/* `fd` is the whole file, including the border section if `section` is set; `image_bytes` is the size from
 * txm_tx_writer_finish. IO if the file differs from what was to be written; NO_MEMORY. */
txm_status txm_tx_read_back(int fd, const char *name_for_messages, const txm_tx_layout *layout,
                            const txm_tx_metadata *metadata, const txm_tx_summary *summary, uint64_t image_bytes,
                            bool section, txm_error *err);
#endif
