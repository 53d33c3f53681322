/* SPDX-License-Identifier: Apache-2.0
 *
 * Tx files that an image may have had under a former name. A tx file has the name of its image, so after an image was
 * renamed Cycles does not find it.
 */
#ifndef TXM_INSPECT_RENAMED_H
#define TXM_INSPECT_RENAMED_H
#include <sys/stat.h>

#include "mill/inspect/listings.h"
#include "mill/source/source.h"
#include "tile/name/name.h"

/* The name that the file had, and the one that Cycles looks for now. */
typedef struct txm_former {
    char *path, *target;
    bool same_time; /* it has the time of the image, which renaming keeps */
} txm_former;

typedef struct txm_formers {
    txm_former *items; /* those with the image's time first */
    size_t count, capacity;
} txm_formers;
void txm_formers_free(txm_formers *formers); /* zeroes */

/* Finds the tx files for which this holds: they are where Cycles looks, in `cache_dir` and beside the image; the image
 * that they are named for is gone; name and size are as for this image with the settings of `key`. Of files
 * with another time than the image, some. Folders are those of `listings`. IO if one cannot be listed; NO_MEMORY. */
txm_status txm_formers_find(const char *image, const txm_source_info *info, const char *cache_dir,
                            const txm_tx_key *key, txm_listings *listings, txm_formers *out, txm_error *err);

#endif
