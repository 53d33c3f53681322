/* SPDX-License-Identifier: Apache-2.0
 *
 * The metadata of a tx file in one struct, whichever program wrote it: Blender and txmill, TIFF and EXR store the same
 * facts in different places and words.
 *
 * NULL: as in status.h. `reason` may be NULL if reason_bytes is 0; txm_tx_serves_itself returns false for a path that
 * is NULL.
 */
#ifndef TXTILE_DESCRIBE_H
#define TXTILE_DESCRIBE_H

#include <stdbool.h>

#include "txtile/export.h"
#include "txtile/reader.h"
#include "txtile/settings.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The metadata of a tx file. Strings are "" for facts that the file does not state. */
typedef struct txm_tx_description {
    char *source;        /* path as stored; owned */
    char detected[128];  /* class or name of the source's colour space, such as "scene_linear_srgb" */
    char requested[128]; /* the name by which the space was requested; only txmill stores it */
    char xyz_to_scene_linear[160];
    char working_space[64]; /* name of the scene-linear space that the matrix or the interop id denotes */
    bool has_alpha_type;
    txm_alpha alpha; /* valid if has_alpha_type */
    char software[128], date[32];
    int format_version; /* n of "Blender maketx v<n>", -1 if another program made the file */
    bool envlatl;       /* the texture format is "LatLong Environment" */
    char sha1[41];
    unsigned average_count; /* channels of `average`; 0 if the file lacks it */
    float average[4];
    unsigned constant_count; /* channels of `constant`; 0: the image is not constant, or the file does not say */
    float constant[4];
    char *config; /* how the OCIO config defined the colour space, as txmill records it; owned; NULL: not recorded */
    txm_encoding encoding; /* how stored colours are encoded, by `detected` */
    uint32_t limit_px;     /* its image was halved until no side was longer, as txmill records it; 0: not recorded */
    /* The releases of Blender whose pixels the file has, separated by blanks ("5.3"); owned. txmill records it for
     * images of which releases make different pixels. NULL: not recorded. */
    char *releases;
    /* Size and XXH3-128 of the image's bytes, as in "70000:" and 32 hex digits; owned. Only txmill records it. NULL:
     * not recorded. */
    char *content;
} txm_tx_description;

/* Reads the metadata. Fails with NO_MEMORY only. Texts that are too long are cut; malformed ones count as absent. */
TXM_API txm_status txm_tx_describe(const txm_tx *tx, txm_tx_description *out, txm_error *err);
TXM_API void txm_tx_description_free(txm_tx_description *description); /* NULL-safe; zeroes */

/* Whether Cycles accepts the version, tiles and levels; if not, `reason` (of reason_bytes bytes) says why.
 * txm_tx_cycles_accepts also requires a codec that Blender supports. */
TXM_API bool txm_tx_is_pyramid(const txm_tx *tx, char *reason, size_t reason_bytes);

/* Whether Cycles uses an image as it is and needs no tx file: a TIFF, OpenEXR or IFF file that txm_tx_is_pyramid
 * accepts, whose first tile is the whole image, with samples of any type. false for a TIFF whose codec the official
 * Blender lacks: it renders magenta. */
TXM_API bool txm_tx_serves_itself(const char *path);

/* Whether the tiles are compressed with a codec that Blender's libtiff lacks; other readers may support it. */
TXM_API bool txm_tx_codec_is_foreign(const txm_tx *tx);

#ifdef __cplusplus
}
#endif
#endif
