/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the files that are loaded or started on demand.
 *
 * Elsewhere: macOS has the same owners of files. Windows has the security descriptors of files and folders, and no
 * sudo.
 */
#ifndef TXM_BASE_OS_PLUGIN_H
#define TXM_BASE_OS_PLUGIN_H
#include <stdbool.h>
#include <sys/types.h>

/* Whether a user's files may decide what this process does: root's, the caller's and, under sudo, those of the user who
 * ran the command. */
bool txm_is_our_user(uid_t owner);
/* The path of `file`: in the folder that $TXMILL_PLUGINS names, beside the library or the running program (a build
 * folder, an installation that was moved), or where it was installed. Beside them, files are passed over that another
 * user put there or could replace. NULL if it is in none of them or memory is exhausted; *looked_in (if not NULL; free
 * it) then lists them, or says what was passed over. */
char *txm_plugin_path(const char *file, char **looked_in);

/* Whether dlopen failed for lack of memory, address space or files, so that the same may work elsewhere or later. `why`
 * is the text of dlerror; called right after the failure. */
bool txm_loading_lacked_memory(const char *why);
#endif
