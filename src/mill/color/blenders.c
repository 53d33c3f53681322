/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the config of a Blender on this machine, for the few spaces that the built-in config leaves out because they
 * need lookup tables. It is the Blender that PATH leads to; only its config is read, and nothing is executed. The
 * config is in datafiles/, below a folder named after the version in an unpacked Blender, and below share/blender in
 * one that a distribution installed.
 */
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "mill/color/config.h"

/* Takes the last of several versions below a folder. New string; NULL if there is none. */
static char *config_in(const char *path)
{
    static const char *const places[] = {"%s/[0-9]*.[0-9]*/%s", "%s/../share/blender/%s",
                                         "%s/../share/blender/[0-9]*.[0-9]*/%s"};
    /* The folder's name as a pattern that matches only this name. */
    char *found = NULL, *folder = txm_calloc(2 * strlen(path) + 1, 1), *end = folder;
    for (; folder && *path; *end++ = *path++)
        if (strchr("*?[\\", *path))
            *end++ = '\\';
    for (size_t i = 0; folder && !found && i < sizeof places / sizeof *places; i++) {
        glob_t matches = {0};
        char *pattern = txm_asprintf(places[i], folder, "datafiles/colormanagement/config.ocio");
        if (pattern && glob(pattern, 0, NULL, &matches) == 0)
            found = txm_strdup(matches.gl_pathv[matches.gl_pathc - 1]);
        globfree(&matches);
        free(pattern);
    }
    free(folder);
    return found;
}

/* Sets the working space and version of `config`, so that its processors convert to the same space. Distributions and
 * users put a symbolic link to Blender into a folder of PATH. */
txm_status txm_color_blenders(const txm_color_config *config, txm_ocio **out, txm_error *err)
{
    txm_color_library *library = config->library;
    txm_status status = TXM_OK;
    if (!library->blenders) {
        const char *words = library->ignores_environment ? NULL : getenv("PATH");
        char *list = txm_strdup(words), *rest = list, *path = NULL, *folder;
        while (list && !path && (folder = strsep(&rest, ":"))) {
            char *program = txm_asprintf("%s/blender", folder), real[PATH_MAX];
            if (*folder == '/' && program && access(program, X_OK) == 0 && realpath(program, real)) {
                *strrchr(real, '/') = 0;
                path = config_in(real);
            }
            free(program);
        }
        free(list);
        if (!path)
            return txm_fail(err, TXM_STATUS_NOT_FOUND, "no Blender was found in PATH");
        const txm_color_options options = {.struct_size = sizeof options,
                                           .ocio_path = path,
                                           .working_space = txm_color_role_space(config, "scene_linear"),
                                           .ignore_environment = true,
                                           .blender = config->blender};
        txm_error why = {0};
        status = txm_color_load(&options, &library->blenders, &why);
        if (status == TXM_STATUS_CONFIG)
            txm_fail(err, status, "the one in PATH cannot be used, see 'txmill colorspaces --ocio %s'", path);
        else if (status != TXM_OK)
            txm_fail_with(err, status, &why);
        free(path);
    }
    if (status == TXM_OK)
        *out = library->blenders->library->ocio;
    return status;
}
