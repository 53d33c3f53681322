/* SPDX-License-Identifier: Apache-2.0
 * Making folders. */
#include "core/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/path.h"

int txm_folders_make(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0)
        return S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    char *parent = txm_path_dir(path);
    if (!parent)
        return ENOMEM;
    int rc = strcmp(parent, path) ? txm_folders_make(parent) : ENOENT;
    free(parent);
    if (rc == 0 && mkdir(path, 0777) != 0 && errno != EEXIST)
        rc = errno;
    return rc;
}
