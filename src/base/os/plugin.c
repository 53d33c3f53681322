/* SPDX-License-Identifier: Apache-2.0
 *
 * Files are looked for in the folder that $TXMILL_PLUGINS names, beside the library or the program, or where they were
 * installed, in this order. A build for a Python wheel (MODULEDIR empty) has no installation folder.
 */
#include "base/os/plugin.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/library.h"
#include "base/os/pages.h"
#include "base/path.h"

bool txm_is_our_user(uid_t owner)
{
    const char *user = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
    return owner == 0 || owner == geteuid() || (user && *user && owner == (uid_t)strtoul(user, NULL, 10));
}

/* Whether a file that exists may run in or for this process: it belongs to us or to the owner of `own`, a file whose
 * code runs already, and so does its folder, in which others cannot replace it. The folder of `own` is taken as it is,
 * because who may write to it could replace that code. For a link both owners count, because the owner of the link
 * chose the file. */
static bool may_run(const char *path, const char *folder, const char *own, bool same_folder)
{
    struct stat file, link, dir, code;
    if (lstat(path, &link) != 0 || stat(path, &file) != 0 || stat(folder, &dir) != 0)
        return false;
    const bool known = stat(own, &code) == 0;
    const uid_t owners[] = {link.st_uid, file.st_uid, dir.st_uid};
    bool ours = same_folder || (dir.st_mode & (S_IWOTH | S_ISVTX)) != S_IWOTH;
    for (size_t i = 0; i < (same_folder ? 2 : 3); i++)
        ours = ours && (txm_is_our_user(owners[i]) || (known && owners[i] == code.st_uid));
    return ours;
}

char *txm_plugin_path(const char *file, char **looked_in)
{
    static const char in_this_library;
    char own[PATH_MAX], code[PATH_MAX];
    const bool in_program = txm_program_path(own);
    char *program = in_program ? txm_path_dir(own) : NULL,
         *library = txm_library_at(&in_this_library, code) ? txm_path_dir(code) : NULL;
    /* An installation that was moved as a whole has its modules at the same relative path: LIBDIR/txmill. */
    char *beside_program = program ? txm_path_join(program, "../lib/txmill") : NULL;
    char *beside_library = library ? txm_path_join(library, "txmill") : NULL;
    /* `own`: the code that is beside a folder which nobody named. */
    const struct {
        const char *folder, *own;
        bool same_folder;
    } places[] = {{secure_getenv("TXMILL_PLUGINS"), NULL, false},
                  {library, code, true},
                  {beside_library, code, false},
                  {program, own, true},
                  {beside_program, own, false},
                  {TXM_MODULE_DIR, NULL, false}};
    char *path = NULL, *refused = NULL;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !path; i++) {
        if (!places[i].folder || !*places[i].folder)
            continue;
        char *found = txm_path_join(places[i].folder, file);
        if (found && access(found, F_OK) == 0) {
            const bool may = !places[i].own || may_run(found, places[i].folder, places[i].own, places[i].same_folder);
            char **take = may ? &path : &refused;
            free(*take);
            *take = found;
        } else {
            free(found);
        }
    }
    if (!path && looked_in && refused)
        *looked_in = txm_asprintf("%s is not used, because it belongs to another user or is in a folder that everybody "
                                  "may write to; if you trust it, set TXMILL_PLUGINS to its folder",
                                  refused);
    else if (!path && looked_in)
        *looked_in = txm_asprintf("%s is neither in %s nor in %s", file,
                                  library   ? library
                                  : program ? program
                                            : "",
                                  *TXM_MODULE_DIR ? TXM_MODULE_DIR : "../lib/txmill beside it");
    free(refused);
    free(beside_library);
    free(beside_program);
    free(library);
    free(program);
    return path;
}

/* The linker has no codes for its failures. Its texts for lack of memory are the same in all versions; for a library
 * that was mapped in part they differ, but then there is no room for another one of that size either. */
bool txm_loading_lacked_memory(const char *why)
{
    enum { LARGE_LIBRARY_BYTES = 64 << 20 };
    static const char *const texts[] = {"failed to map segment", "annot allocate memory", "cannot create ",
                                        "cannot map zero-fill",  "Too many open files",   "memory exhausted"};
    for (size_t i = 0; why && i < sizeof texts / sizeof *texts; i++)
        if (strstr(why, texts[i]))
            return true;
    return !txm_pages_have_room(LARGE_LIBRARY_BYTES);
}
