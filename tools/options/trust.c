/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose settings files are obeyed.
 *
 * In: the path of a .txmill. Out: whether it counts. Settings decide where files are written and which OpenColorIO
 * config is loaded, so whoever can put one above a user's images has a say in that user's runs. A shared project folder
 * is written by its group, which is trusted; only folders that everybody may write are not.
 */
#include "tools/options/trust.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/base/path.h"
#include "tools/output/say.h"

/* Root decides anyway. Under sudo the user who typed the command is meant. */
static bool is_ours(uid_t owner)
{
    const char *user = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
    return owner == 0 || owner == geteuid() || (user && *user && owner == (uid_t)strtoul(user, NULL, 10));
}

/* Of a link both count: the one who made it chose the file. */
static txm_status examine(const char *path, const char *folder, bool *trusted, txm_error *err)
{
    struct stat file, link, dir;
    if (lstat(path, &link) != 0 || stat(path, &file) != 0 || stat(folder, &dir) != 0)
        return txm_fail_errno(err, errno, "%s: cannot be examined", path);
    *trusted = (is_ours(link.st_uid) && is_ours(file.st_uid)) || !(dir.st_mode & S_IWOTH);
    return TXM_OK;
}

txm_status txm_settings_trust(const char *path, bool *trusted, txm_error *err)
{
    static char *warned; /* many images share their settings */
    char *folder = txm_path_dir(path);
    *trusted = false;
    txm_status status = folder ? examine(path, folder, trusted, err) : txm_no_memory(err, path);
    free(folder);
    if (status != TXM_OK || *trusted || (warned && strcmp(warned, path) == 0))
        return status;
    txm_say(TXM_SAY_WARNING,
            "%s: ignored: it belongs to another user, in a folder that everybody may write; if you trust it, set "
            "TXMILL_SETTINGS to this path",
            path);
    free(warned);
    warned = txm_strdup(path);
    return TXM_OK;
}
