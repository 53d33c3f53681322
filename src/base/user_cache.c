/* SPDX-License-Identifier: Apache-2.0
 *
 * The folder for caches, as the XDG Base Directory Specification defines it.
 */
#include "base/user_cache.h"

#include <stdlib.h>

#include "base/path.h"

char *txm_user_cache(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/')
        return txm_path_join(cache, "txmill");
    return home && *home == '/' ? txm_path_join(home, ".cache/txmill") : NULL;
}
