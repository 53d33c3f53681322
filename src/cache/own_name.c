/* SPDX-License-Identifier: Apache-2.0
 * Whether a tx file's name is the one that its own metadata leads to. */
#include "cache/own_name.h"

#include <stdlib.h>
#include <string.h>

#include "cache/name.h"
#include "core/path.h"

bool txm_own_name_fits(const char *tx_path, const txm_tx_description *description, const char *source, const char *dir,
                       bool *exhausted)
{
    const txm_tx_description *d = description;
    const char *word = !strcmp(d->requested, "auto") ? "" : !strcmp(d->detected, "data") ? "data" : d->requested;
    const txm_tx_key key = {d->xyz_to_scene_linear, word, d->alpha, d->envlatl};
    if (!*d->requested || !*d->xyz_to_scene_linear || !d->has_alpha_type)
        return false;
    char *path = txm_tx_path(source, dir, &key);
    bool fits = path && !strcmp(txm_path_base(path), txm_path_base(tx_path));
    *exhausted = !path;
    free(path);
    return fits;
}
