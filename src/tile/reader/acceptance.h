/* SPDX-License-Identifier: Apache-2.0
 *
 * What Cycles opens although txmill does not read it, or not as Cycles does.
 *
 * In: a path, or an open tx file. Out: facts for the verdict (src/tile/name/verdict.h), which says what a render shows.
 */
#ifndef TXM_READER_ACCEPTANCE_H
#define TXM_READER_ACCEPTANCE_H
#include "tile/base/shared.h"
#include "txtile/reader.h"

typedef enum txm_opening {
    TXM_OPENING_NONE,    /* not as a tx file */
    TXM_OPENING_PARTS,   /* an OpenEXR file, whose table of tiles is at the front: tiles may be missing */
    TXM_OPENING_FOREIGN, /* its codec is not in the libtiff of the official Blender */
    TXM_OPENING_WHOLE    /* another TIFF, or IFF, which its libraries decode */
} txm_opening;

/* How Cycles opens a file, whatever its samples are. */
txm_opening txm_tx_opening(const char *path);

/* Whether the samples are of the kind that Cycles keeps in the file's container, and so need no conversion. */
TXM_SHARED bool txm_tx_has_native_samples(const txm_tx *tx);

/* A directory of a TIFF that follows the last level, is tiled as the levels are, and has another size than the next
 * level has: Cycles takes it for that level. 0 if there is none. */
TXM_SHARED uint32_t txm_tx_odd_level(const txm_tx *tx, uint32_t *width, uint32_t *height);
#endif
