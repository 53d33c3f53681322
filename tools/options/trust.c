/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides which users' settings files are used.
 *
 * In: the path of a .txmill. Out: whether it is used. Settings decide where files are written and which OpenColorIO
 * config is loaded, so a user who can put a file above another user's images could change that user's runs. The
 * members of a group that may write to a shared project folder are trusted; folders that everybody may write to are
 * not.
 */
#include "tools/options/trust.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/plugin.h"
#include "base/path.h"
#include "tools/output/say.h"

/* For a link, both owners count, because the owner of the link chose the file. */
static txm_status examine(const char *path, const char *folder, bool *trusted, txm_error *err)
{
    struct stat file, link, dir;
    if (lstat(path, &link) != 0 || stat(path, &file) != 0 || stat(folder, &dir) != 0)
        return txm_fail_errno(err, errno, "%s: cannot be examined", path);
    *trusted = (txm_is_our_user(link.st_uid) && txm_is_our_user(file.st_uid)) || !(dir.st_mode & S_IWOTH);
    return TXM_OK;
}

txm_status txm_settings_trust(const char *path, bool *trusted, txm_error *err)
{
    static char *warned; /* the last path, because many images share their settings */
    char *folder = txm_path_dir(path);
    *trusted = false;
    txm_status status = folder ? examine(path, folder, trusted, err) : txm_no_memory(err, path);
    free(folder);
    if (status != TXM_OK || *trusted || (warned && strcmp(warned, path) == 0))
        return status;
    txm_say(TXM_SAY_WARNING,
            "%s: ignored, because it belongs to another user and is in a folder that everybody may write to; if you "
            "trust it, %s",
            path,
            strstr(path, "/.blender_project") ? "name its project.toml with --ocio"
                                              : "set TXMILL_SETTINGS to this path");
    free(warned);
    warned = txm_strdup(path);
    return TXM_OK;
}
