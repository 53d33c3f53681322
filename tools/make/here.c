/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses what a command without arguments works on.
 *
 * In: the current folder. Out: its scenes, since they say how images are used, or else the folder itself, with the
 * preset that knows data maps by their names. What was chosen is always said.
 */
#include "tools/make/here.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/shell.h"
#include "tools/output/say.h"
#include "txmill/format.h"
#include "txmill/scene.h"

/* A folder of a million files is not searched to the end for a suggestion. */
enum { MOST_ENTRIES = 20000, HEAD_BYTES = 1024 };

/* XML may be anything. */
static bool has_mark(const char *path, const char *mark)
{
    char head[HEAD_BYTES + 1];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n = fd < 0 ? 0 : read(fd, head, HEAD_BYTES);
    if (fd >= 0)
        close(fd);
    head[n > 0 ? n : 0] = 0;
    return strstr(head, mark) != NULL;
}

bool txm_here_is_scene(const char *path)
{
    struct stat st;
    const txm_scene_format *format = txm_scene_format_of(path);
    return format && stat(path, &st) == 0 && S_ISREG(st.st_mode) && (!format->mark || has_mark(path, format->mark));
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Hidden files are left out, as in folders of images. Takes ownership of `path`. */
static txm_status add_entry(txm_here *here, const char *name, char *path, txm_error *err)
{
    if (!path)
        return txm_no_memory(err, name);
    here->images |= txm_is_image_name(name);
    const bool scene = txm_here_is_scene(path);
    char **grown = scene ? realloc(here->scenes, (here->count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(path);
        return scene ? txm_no_memory(err, name) : TXM_OK;
    }
    here->scenes = grown;
    here->scenes[here->count++] = path;
    return TXM_OK;
}

txm_status txm_here_scenes(const char *folder, txm_here *here, txm_error *err)
{
    DIR *dir = opendir(folder);
    txm_status status = TXM_OK;
    struct dirent *e;
    for (size_t i = 0; status == TXM_OK && dir && i < MOST_ENTRIES && (e = readdir(dir)); i++)
        if (e->d_name[0] != '.')
            status = add_entry(here, e->d_name,
                               strcmp(folder, ".") ? txm_path_join(folder, e->d_name) : txm_strdup(e->d_name), err);
    if (dir)
        closedir(dir);
    if (here->count)
        qsort(here->scenes, here->count, sizeof *here->scenes, by_name);
    return status;
}

/* Images are often one folder below. */
static bool has_images_below(void)
{
    DIR *dir = opendir(".");
    bool found = false;
    struct dirent *e;
    for (size_t i = 0; !found && dir && i < MOST_ENTRIES && (e = readdir(dir)); i++) {
        DIR *below = e->d_name[0] == '.' || e->d_type == DT_REG ? NULL : opendir(e->d_name);
        struct dirent *f;
        for (size_t k = 0; !found && below && k < MOST_ENTRIES && (f = readdir(below)); k++)
            found = txm_is_image_name(f->d_name);
        if (below)
            closedir(below);
    }
    if (dir)
        closedir(dir);
    return found;
}

/* Whether nothing that was typed says how images are used. */
static bool wants_preset(const txm_operands *given)
{
    return !txm_opt_given(given, "preset") && !txm_opt_given(given, "colorspace");
}

void txm_here_say(const txm_here *here, const txm_operands *given, const char *doing)
{
    const bool preset = wants_preset(given);
    if (here->images)
        txm_say(TXM_SAY_INFO, "no scene here: %s the images of this folder%s", doing,
                preset ? ", data maps by their names (--preset pbr)" : "");
    else if (here->count == 1)
        txm_say(TXM_SAY_INFO, "%s %s", doing, here->scenes[0]);
    else
        txm_say(TXM_SAY_INFO, "%s %s and %zu other scene%s of this folder", doing, here->scenes[0], here->count - 1,
                here->count == 2 ? "" : "s");
}

txm_status txm_here_find(const txm_operands *given, txm_here *here, txm_error *err)
{
    static char *all[] = {".", NULL};
    txm_status status = txm_here_scenes(".", here, err);
    if (status != TXM_OK)
        return status;
    here->images = !here->count && (here->images || has_images_below());
    here->operands = *given;
    here->operands.items = here->count ? here->scenes : all;
    here->operands.count = here->count ? here->count : here->images ? 1 : 0;
    return TXM_OK;
}

txm_status txm_here_choose(txm_here *here, const char *command, const char *doing, const txm_operands **operands,
                           txm_error *err)
{
    if ((*operands)->count)
        return TXM_OK;
    if (txm_here_find(*operands, here, err) != TXM_OK)
        return err->status;
    if (!here->operands.count)
        return txm_fail(err, TXM_STATUS_USAGE,
                        "no scene, folder or image given, and none here; 'txmill %s --help' lists the options",
                        command);
    txm_here_say(here, *operands, doing);
    *operands = &here->operands;
    return TXM_OK;
}

bool txm_here_preset(const txm_here *here, const txm_operands *given, txm_rule_args *rules)
{
    const bool chosen = here->images && !rules->preset && wants_preset(given);
    if (chosen)
        rules->preset = "pbr";
    return chosen;
}

char *txm_here_hint(const char *command, const txm_operands *operands)
{
    char *hint = NULL;
    for (size_t i = 0; i < operands->count && !hint; i++) {
        struct stat st;
        txm_here here = {0};
        txm_error ignored = {0}; /* it is only a hint */
        if (stat(operands->items[i], &st) == 0 && S_ISDIR(st.st_mode) &&
            txm_here_scenes(operands->items[i], &here, &ignored) == TXM_OK && here.count) {
            char *scene = txm_shell_path(here.scenes[0]);
            hint = scene ? txm_asprintf("txmill %s %s", command, scene) : NULL;
            free(scene);
        }
        txm_here_free(&here);
    }
    return hint;
}

void txm_here_free(txm_here *here)
{
    for (size_t i = 0; i < here->count; i++)
        free(here->scenes[i]);
    free(here->scenes);
    *here = (txm_here){0};
}
