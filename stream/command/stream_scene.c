/* SPDX-License-Identifier: Apache-2.0
 *
 * The scene named on the command line: a folder, or a built-in scene with the images that follow.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base.h"
#include "cli/say.h"
#include "cli/settings.h"
#include "command/stream_args.h"
#include "txmill/batch.h"
#include "txmill/guard.h"

static txm_status input_check(const txm_input *input, txm_error *err)
{
    return input->status == TXM_OK
               ? TXM_OK
               : stm_fail_parts(err, input->status, input->message, input->subject_bytes, input->advice_at);
}

/* Rules of the images' projects choose how they are looked up, as in make; `first` has the first input of each. */
static txm_status apply_rules(const stm_stream_args *a, txm_inputs *inputs, const size_t *first,
                              stm_render_scene *scene, txm_error *err)
{
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < scene->image_count; i++) {
        const txm_input *input = txm_inputs_at(inputs, first[i]);
        char *space = NULL;
        status = input_check(input, err);
        if (status != TXM_OK || stm_path_has_ext(input->path, "tx"))
            continue;
        status = stm_settings_of_image(&a->project, input->path, &space, &scene->images[i].alpha, err);
        if (space) {
            free(scene->images[i].colorspace);
            scene->images[i].colorspace = space;
        }
    }
    return status;
}

static void say_empty(void *user, const char *message)
{
    (void)user;
    stm_say(STM_SAY_WARNING, "%s", message);
}

/* The files that the operands name; those in folders too. */
static txm_status collect(const stm_stream_args *a, const stm_operands *given, txm_inputs **out, txm_error *err)
{
    txm_inputs_options how;
    struct stat st;
    bool folders = false;
    txm_inputs_options_init(&how);
    how.recursive = true;
    how.include = a->include.items;
    how.exclude = a->exclude.items;
    how.empty = say_empty;
    how.cancel = stm_signal_flag();
    for (size_t i = 0; i < given->count; i++)
        folders |= strchr("@-", *given->items[i]) || stat(given->items[i], &st) != 0 || S_ISDIR(st.st_mode);
    if (given->count && !folders && (a->include.count || a->exclude.count))
        return stm_fail(err, TXM_STATUS_USAGE,
                        "--%s: applies to files in folders, but no folder is given; name a folder, or only the files "
                        "that are wanted",
                        a->include.count ? "include" : "exclude");
    txm_status status = txm_inputs_new(&how, out, err);
    for (size_t i = 0; status == TXM_OK && i < given->count; i++)
        status = txm_inputs_add(*out, given->items[i], err);
    return status;
}

/* A scene with the images of the operands; a UDIM set counts as one image, named by its pattern. */
static txm_status open_builtin(const stm_stream_args *a, const char *name, const stm_operands *given,
                               stm_render_scene **scene, txm_error *err)
{
    txm_inputs *inputs = NULL;
    txm_status status = collect(a, given, &inputs, err);
    if (status == TXM_OK && given->count && !txm_inputs_count(inputs))
        status = stm_fail(err, TXM_STATUS_USAGE, "%s: no image found; nothing was done", given->items[0]);
    const char **images = status == TXM_OK ? stm_calloc(txm_inputs_count(inputs) + 1, sizeof *images) : NULL;
    size_t *first = images ? stm_calloc(txm_inputs_count(inputs) + 1, sizeof *first) : NULL, count = 0;
    if (status == TXM_OK && !first)
        status = stm_no_memory(err, name);
    for (size_t i = 0; status == TXM_OK && i < txm_inputs_count(inputs); i++) {
        const txm_input *input = txm_inputs_at(inputs, i);
        const char *path = input->pattern ? input->pattern : input->path;
        status = input_check(input, err);
        if (!input->pattern || !count || strcmp(images[count - 1], path) != 0) {
            first[count] = i;
            images[count++] = path;
        }
    }
    if (status == TXM_OK)
        status = stm_render_scene_builtin(name, images, count, (float)a->frame, scene, err);
    if (status == TXM_OK && count && a->settings.rules)
        status = apply_rules(a, inputs, first, *scene, err);
    free(first);
    free(images);
    txm_inputs_free(&inputs);
    return status;
}

static void say_unmapped(const stm_render_scene *scene)
{
    size_t count = 0;
    for (size_t i = 0; i < scene->image_count; i++)
        count += scene->images[i].ptex && txm_ptex_info_of(scene->images[i].ptex)->is_unmapped;
    if (count)
        stm_say(STM_SAY_WARNING,
                "%zu of its Ptex files are opened again for each read, which is slower: the kernel lets a process map "
                "too few files; raise its limit with 'sysctl vm.max_map_count=1000000'",
                count);
}

/* Images on the command line are for built-in scenes; the scene in a folder names its own. */
txm_status stm_stream_open_scene(const stm_stream_args *a, const stm_operands *operands, stm_render_scene **scene,
                                 txm_error *err)
{
    const char *name = operands->items[1];
    const stm_operands images = {.items = operands->items + 2, .count = operands->count - 2};
    struct stat s; /* of a link, what it leads to: scenes are often links */
    const bool exists = stat(name, &s) == 0, is_folder = exists && S_ISDIR(s.st_mode);
    const int failure = exists ? 0 : errno;
    /* A folder of that name takes precedence over a built-in scene. */
    for (size_t i = 0; !is_folder && stm_render_builtin_name(i); i++)
        if (strcmp(stm_render_builtin_name(i), name) == 0)
            return open_builtin(a, name, &images, scene, err);
    if (failure && failure != ENOENT && failure != ENOTDIR && failure != ENAMETOOLONG)
        return stm_fail_errno(err, failure, "%s: cannot examine the scene", name);
    if (images.count)
        return stm_fail(err, TXM_STATUS_USAGE, "%s: only built-in scenes take images; this scene names its own",
                        images.items[0]);
    if (!is_folder) {
        /* The name is neither a folder nor a built-in scene. */
        const char *near = NULL, *one;
        unsigned least = UINT_MAX;
        const char *noun = NULL;
        if (exists) {
            txm_kind_of_file(name, &noun);
            return stm_fail(
                err, TXM_STATUS_UNSUPPORTED,
                "%s: is %s, but a scene is a folder with a file scene.txt, described in txmill-scene(5); the "
                "Blender extension's Export Scene writes one",
                name, noun);
        }
        for (size_t i = 0; (one = stm_render_builtin_name(i)); i++)
            if (stm_spelling_better(name, one, &least))
                near = one;
        return stm_fail(
            err, TXM_STATUS_NOT_FOUND,
            "%s: neither a folder nor a built-in scene%s%s%s; the built-in scenes are plane, room, grid, udim, "
            "sphere and fly",
            name, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
    }
    txm_status status = stm_render_scene_open(name, a->settings.maps, a->settings.map_count, scene, err);
    if (status == TXM_OK)
        say_unmapped(*scene);
    return status;
}
