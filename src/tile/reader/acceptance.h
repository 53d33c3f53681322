/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that Cycles opens but txmill does not read, or reads differently.
 *
 * The results are facts for the verdict (src/tile/name/verdict.h), which says what a render shows.
 */
#ifndef TXM_READER_ACCEPTANCE_H
#define TXM_READER_ACCEPTANCE_H
#include "base/shared.h"
#include "txtile/reader.h"

typedef enum txm_opening {
    TXM_OPENING_NONE,    /* Cycles does not open it as a tx file */
    TXM_OPENING_PARTS,   /* an OpenEXR file, whose table of tiles is at its beginning, so tiles may be missing */
    TXM_OPENING_FOREIGN, /* its codec is one that the libtiff of the official Blender lacks */
    TXM_OPENING_WHOLE    /* another TIFF, or an IFF, which Blender's libraries decode */
} txm_opening;

/* Finds out how Cycles opens a file, regardless of its samples. It fails if the file cannot be examined just now, with
 * a status that is retryable; *out is then TXM_OPENING_NONE. */
txm_status txm_tx_opening(const char *path, txm_opening *out, txm_error *err);

/* txm_tx_serves_itself for those who can report that the file cannot be examined just now. */
TXM_SHARED txm_status txm_tx_find_serving(const char *path, bool *serves, txm_error *err);

/* Whether Cycles keeps samples of this type in the file's container and so does not convert them. */
TXM_SHARED bool txm_tx_has_native_samples(const txm_tx *tx);

/* A TIFF directory after the last level that is tiled like the levels but does not have the size of the next one;
 * Cycles reads it as that level. 0 if there is none. */
TXM_SHARED uint32_t txm_tx_odd_level(const txm_tx *tx, uint32_t *width, uint32_t *height);
#endif
