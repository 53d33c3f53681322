/* SPDX-License-Identifier: Apache-2.0
 * The name under which Cycles looks a tx file up: <source file name>.<format version>-<MD5 of the settings>.tx */
#ifndef TXM_NAME_NAME_H
#define TXM_NAME_NAME_H
#include <stdbool.h>

#include "base/shared.h"
#include "txtile/describe.h"
#include "txtile/name.h"
#include "txtile/settings.h"
#include "txtile/status.h"

typedef struct txm_tx_key {
    const char *xyz_text;   /* txm_color_xyz_to_scene_linear_text */
    const char *colorspace; /* the requested name, "data" for data spaces, "" for auto and where none is set */
    txm_alpha alpha;        /* resolved: not TXM_ALPHA_DEFAULT */
    bool equiangular;
} txm_tx_key;

/* The path of the tx file of `source_path` in `cache_dir` (NULL or "": blender_tx; relative to the source's folder, or
 * absolute: then the source's path relative to it enters the MD5). New string; NULL with errno when memory is
 * exhausted or there is no current folder (txm_path_absolute_failed). */
TXM_SHARED char *txm_tx_path(const char *source_path, const char *cache_dir, const txm_tx_key *key);

/* The word for the requested colour space that names contain; the file must hold one. */
TXM_SHARED const char *txm_requested_word(const txm_tx_description *description);

/* Whether the file at `tx_path` has the name that follows from the settings inside it, for the image `source` (a path
 * or, without a folder, its name) and the cache folder `dir`, which is absolute, or NULL for one relative to the
 * image's folder. False for files that txmill did not make, because they lack some of the settings. *exhausted: memory
 * ran out. */
TXM_SHARED bool txm_own_name_fits(const char *tx_path, const txm_tx_description *description, const char *source,
                                  const char *dir, bool *exhausted);
#endif
