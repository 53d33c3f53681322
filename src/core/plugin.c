/* SPDX-License-Identifier: Apache-2.0
 * Where the parts lie that are loaded or started when they are needed. */
#include "core/plugin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/path.h"

/* The folder of the running program, "" if the system does not tell. */
static char *program_folder(void)
{
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    return n > 0 ? txm_path_dir(exe) : txm_strdup("");
}

char *txm_plugin_path(const char *file, char **looked_in)
{
    char *program = program_folder(), *path = NULL;
    /* An installation that was moved as a whole keeps its modules at the same distance. */
    char *beside = program && *program ? txm_path_join(program, "../lib/txmill") : NULL;
    const char *folders[] = {getenv("TXMILL_PLUGINS"), program, beside, TXM_MODULE_DIR};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && !path; i++) {
        if (!folders[i] || !*folders[i])
            continue;
        path = txm_path_join(folders[i], file);
        if (path && access(path, F_OK) != 0) {
            free(path);
            path = NULL;
        }
    }
    if (!path && looked_in)
        *looked_in = txm_asprintf("%s is neither in %s nor in %s", file, program ? program : "", TXM_MODULE_DIR);
    free(beside);
    free(program);
    return path;
}
