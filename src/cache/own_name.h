/* SPDX-License-Identifier: Apache-2.0
 * Whether a tx file's name is the one that its own metadata leads to. */
#ifndef TXM_CACHE_OWN_NAME_H
#define TXM_CACHE_OWN_NAME_H
#include "container/describe.h"

/* Whether the settings that the file at `tx_path` holds give its name, for the image `source` (a path or, without a
 * folder, its name) and the cache folder `dir`: NULL for one that counts from the image's folder, else absolute. Only
 * txmill's files hold all that it takes; of others nothing fits. *exhausted: memory ran out. */
bool txm_own_name_fits(const char *tx_path, const txm_tx_description *description, const char *source, const char *dir,
                       bool *exhausted);
#endif
