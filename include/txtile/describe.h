/* SPDX-License-Identifier: Apache-2.0
 *
 * What a tx file's metadata says, taken apart: TIFF and EXR files, Blender's and ours, tell the same things in
 * different places and wordings.
 *
 * NULL: as status.h says. `reason` may be NULL where reason_bytes is 0; a path that is NULL serves nothing.
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

/* Strings are "" for what the file does not say. */
typedef struct txm_tx_description {
    char *source;        /* path as stored; owned */
    char detected[128];  /* class or name of the source's colour space: "scene_linear_srgb" ... */
    char requested[128]; /* the name it was asked for under; only txmill stores it */
    char xyz_to_scene_linear[160];
    char working_space[64]; /* name of the scene-linear space that the matrix or the interop id means */
    bool has_alpha_type;
    txm_alpha alpha; /* if has_alpha_type */
    char software[128], date[32];
    int format_version; /* n of "Blender maketx v<n>", -1 if it was made by something else */
    bool envlatl;       /* texture format "LatLong Environment" */
    char sha1[41];
    unsigned average_count; /* channels of `average`, 0 if absent */
    float average[4];
    unsigned constant_count; /* channels of `constant`, 0: not a constant image, or not said */
    float constant[4];
    char *config; /* what the OCIO config made of the colour space, as txmill records it; owned; NULL: not recorded */
    txm_encoding encoding; /* what `detected` means for whoever uses the colours */
    uint32_t reserved_word;
    uint64_t reserved[2];
} txm_tx_description;

/* Only fails when memory is exhausted. Texts that are too long are cut; malformed ones count as absent. */
TXM_API txm_status txm_tx_describe(const txm_tx *tx, txm_tx_description *out, txm_error *err);
TXM_API void txm_tx_description_free(txm_tx_description *description); /* NULL-safe; zeroes */

/* Whether version, tiles and levels are as Cycles asks for them; if not, `reason` (of reason_bytes bytes) says why.
 * With a codec that Blender knows, that is all of txm_tx_cycles_accepts. */
TXM_API bool txm_tx_is_pyramid(const txm_tx *tx, char *reason, size_t reason_bytes);

/* Whether Cycles uses an image as it is, whatever its samples are: an outline as above, in TIFF, OpenEXR, or IFF, whose
 * first tile is all of it. False for a TIFF whose codec the official Blender lacks: it renders magenta there. */
TXM_API bool txm_tx_serves_itself(const char *path);

/* Whether the tiles are compressed with a codec that Blender's libtiff lacks: other readers may still know it. */
TXM_API bool txm_tx_codec_is_foreign(const txm_tx *tx);

#ifdef __cplusplus
}
#endif
#endif
