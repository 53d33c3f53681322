/* SPDX-License-Identifier: Apache-2.0
 *
 * The folder for caches is defined by the XDG Base Directory Specification.
 */
#include "base/user_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/files.h"
#include "base/path.h"
#include "base/whole.h"

char *txm_user_cache(const char *name)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/')
        return txm_asprintf("%s/txmill/%s", cache, name);
    return home && *home == '/' ? txm_asprintf("%s/.cache/txmill/%s", home, name) : NULL;
}

txm_status txm_user_cache_write(const char *name, const char *text, txm_error *err)
{
    txm_error own = {0};
    char *path = txm_user_cache(name);
    if (!path)
        return txm_fail(err, TXM_STATUS_IO,
                        "neither XDG_CACHE_HOME nor HOME is set to a folder: the result was not stored");
    char *folder = txm_path_dir(path), *draft = txm_asprintf("%s.XXXXXX", path);
    if (!folder || !draft)
        txm_no_memory(&own, NULL);
    else if (txm_folders_make(folder, &own) == TXM_OK) {
        const int fd = txm_file_temporary(draft);
        int rc = fd < 0 ? errno : txm_write_all(fd, text, strlen(text));
        if (fd >= 0 && close(fd) != 0 && !rc)
            rc = errno;
        if (rc)
            txm_fail_errno(&own, rc, "%s", draft);
        else if (rename(draft, path) != 0)
            txm_fail_errno(&own, errno, "%s", path);
        if (fd >= 0 && own.status)
            unlink(draft);
    }
    free(draft);
    free(folder);
    free(path);
    return own.status ? txm_fail_as(err, &own) : TXM_OK;
}
