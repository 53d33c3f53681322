/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns a scene into inputs of a batch.
 *
 * In: a .blend file, or the folder of a scene, txmill-scene(5). Out: one input per image and setting that the scene
 * uses, with the scene's name as origin. Packed images are unpacked first if a folder for them is given, and otherwise
 * reported.
 */
#include "tools/make/make_scene.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/path.h"
#include "base/shell.h"
#include "tools/list/list_scene.h"
#include "tools/make/scene_folder.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/say.h"
#include "txmill/scene.h"

static txm_status add_failure(txm_inputs *inputs, const char *scene, const char *path, txm_status status, char *message,
                              txm_error *err)
{
    if (!message)
        return txm_no_memory(err, scene);
    txm_input input = {.path = path, .origin = scene, .from_scene = true, .status = status, .message = message};
    status = txm_inputs_add_entry(inputs, &input, err);
    free(message);
    return status;
}

/* Loads the config of the scene's project; scenes of a project follow each other. If it cannot be loaded, the images
 * of the scene fail later, with the others of the project. */
static txm_status load_config(txm_make_scenes *scenes, const char *scene, txm_error *err)
{
    const txm_config_args args = txm_project_config(scene, scenes->config_args);
    txm_error why = {0};
    if (scenes->config && txm_config_args_same(&args, &scenes->loaded))
        return TXM_OK;
    txm_color_free(&scenes->config);
    scenes->loaded = args;
    if (txm_list_load_config(&args, NULL, &scenes->config, &why) == TXM_OK)
        return TXM_OK;
    const txm_project_applied *run = txm_project_state();
    const bool said = run->said[TXM_KEY_OCIO] || run->said[TXM_KEY_WORKING_SPACE];
    const txm_config_args other = {0};
    const txm_config_args *instead = txm_config_args_same(&args, scenes->config_args) ? &other : scenes->config_args;
    if (why.status != TXM_STATUS_NO_MEMORY && !(said && instead == &other) &&
        txm_list_load_config(instead, NULL, &scenes->config, NULL) == TXM_OK)
        return TXM_OK;
    txm_config_explain(&args, &why);
    return txm_fail_as(err, &why);
}

/* The scene's working space, if it differs from that of the config; --working-space takes precedence. */
static const char *working_space(const txm_make_scenes *scenes, const txm_scene *opened)
{
    const char *space = txm_scene_info_of(opened)->working_space;
    const char *current = txm_color_role(scenes->config, "scene_linear");
    bool same = space && current && strcmp(space, current) == 0;
    return scenes->loaded.working_space || same ? NULL : space;
}

static txm_status add_files(txm_make_scenes *scenes, txm_inputs *inputs, const char *scene, const txm_input *settings,
                            txm_scene *opened, txm_error *err)
{
    txm_scene_entry *entries = NULL;
    size_t count = 0;
    txm_error why = {0};
    txm_status status = txm_scene_entries(opened, scenes->packed_folder, &entries, &count, &why);
    if (status == TXM_STATUS_NO_MEMORY)
        return txm_fail_with(err, status, &why);
    if (status != TXM_OK) /* unpacking failed */
        return add_failure(inputs, scene, scene, status, txm_strdup(why.message), err);
    const char *space = settings->working_space ? settings->working_space : working_space(scenes, opened);
    for (size_t i = 0; status == TXM_OK && i < count; i++) {
        txm_input input = {.path = entries[i].path,
                           .pattern = entries[i].pattern,
                           .origin = scene,
                           .colorspace = entries[i].colorspace,
                           .alpha = entries[i].alpha,
                           .working_space = space,
                           .cache_dir = settings->cache_dir,
                           .from_scene = true};
        status = txm_inputs_add_entry(inputs, &input, err);
    }
    txm_scene_entries_free(&entries, count);
    return status;
}

/* An image that is not unpacked yet is a finding, not a failure: decided_by tells it from one that is gone. */
static txm_status add_unpacked(const txm_make_scenes *scenes, txm_inputs *inputs, const char *scene, txm_scene *opened,
                               size_t index, size_t packed, txm_error *err)
{
    const txm_scene_image *image = txm_scene_image_at(opened, index);
    bool there = false;
    char *path = NULL;
    txm_error why = {0};
    txm_status status = txm_scene_find_unpacked(opened, index, packed, scenes->unpacked, &path, &there, &why);
    if (status != TXM_OK)
        return status == TXM_STATUS_NO_MEMORY ? txm_fail_as(err, &why)
                                              : add_failure(inputs, scene, scene, status, txm_strdup(why.message), err);
    const txm_input input = {.path = path,
                             .origin = scene,
                             .colorspace = image->colorspace,
                             .alpha = image->alpha,
                             .working_space = working_space(scenes, opened),
                             .from_scene = true,
                             .decided_by = there ? NULL : "packed",
                             .status = there ? TXM_OK : TXM_STATUS_NOT_FOUND,
                             .message = there ? NULL : "packed in the scene, and not unpacked yet"};
    status = txm_inputs_add_entry(inputs, &input, err);
    free(path);
    return status;
}

/* `kinds`: the words for one such image and for several, with what can be done about them. */
static void say_left_out(const char *scene, size_t count, const char *const kinds[2], const char *hint)
{
    if (count)
        txm_say(TXM_SAY_WARNING, "%s: %zu %s left out%s", scene, count, kinds[count > 1], hint);
}

/* Blender's operator takes whatever file has the name, also where unpacking had to choose another name. */
static void say_other_names(const char *folder, const char *scene, txm_scene *opened, size_t index)
{
    const txm_scene_image *image = txm_scene_image_at(opened, index);
    for (size_t p = 0; p < image->packed_count; p++) {
        const char *name = image->packed[p].name;
        bool there = false;
        char *path = NULL;
        if (txm_scene_find_unpacked(opened, index, p, folder, &path, &there, NULL) == TXM_OK && there &&
            strcmp(txm_path_base(path), name))
            txm_say(TXM_SAY_WARNING,
                    "%s: image \"%s\" is unpacked as %s, because %s is another file, which Blender would use instead: "
                    "after unpacking in Blender, set the path of the image to the first",
                    scene, image->name, path, name);
        free(path);
    }
}

static txm_status report_rest(const txm_make_scenes *scenes, txm_inputs *inputs, const char *scene, txm_scene *opened,
                              txm_error *err)
{
    txm_status status = TXM_OK;
    size_t packed = 0, inside = 0, generated = 0, movies = 0, unnamed = 0;
    for (size_t i = 0; status == TXM_OK && i < txm_scene_image_count(opened); i++) {
        const txm_scene_image *image = txm_scene_image_at(opened, i);
        packed += image->state == TXM_SCENE_STATE_PACKED && image->packed_count;
        inside += image->state == TXM_SCENE_STATE_PACKED && !image->packed_count;
        unnamed += image->state == TXM_SCENE_STATE_NO_PATH;
        generated += image->source == TXM_SCENE_SOURCE_GENERATED;
        movies += image->source == TXM_SCENE_SOURCE_MOVIE;
        for (size_t p = 0; scenes->packed && p < image->packed_count; p++)
            scenes->packed(scenes->packed_user, image->packed[p].name);
        if (scenes->packed_folder && image->packed_count)
            say_other_names(scenes->packed_folder, scene, opened, i);
        if (image->state == TXM_SCENE_STATE_MISSING) {
            char *other = txm_path_other_case(image->path);
            status = add_failure(inputs, scene, image->path, TXM_STATUS_NOT_FOUND,
                                 txm_asprintf("%s: image \"%s\" of %s does not exist%s%s%s", image->path, image->name,
                                              scene, other ? "; " : "", other ? other : "",
                                              other ? " does: upper and lower case are different here" : ""),
                                 err);
            free(other);
        }
        if (!image->colorspace_known) {
            txm_say(TXM_SAY_WARNING,
                    "%s: image \"%s\": its colour space %s is not in the config: treated as scene-linear, as in Cycles",
                    scene, image->name, image->colorspace_stored);
        }
    }
    for (size_t i = 0; status == TXM_OK && i < txm_scene_library_count(opened); i++) {
        const txm_scene_library *library = txm_scene_library_at(opened, i);
        if (library->status != TXM_OK) {
            status = add_failure(inputs, scene, library->path, library->status,
                                 txm_asprintf("library of %s: %s", scene, library->message), err);
        }
    }
    for (size_t i = 0; i < txm_scene_finding_count(opened); i++)
        txm_say(TXM_SAY_WARNING, "%s: %s", scene, txm_scene_finding_at(opened, i)->message);
    if (!scenes->packed_folder && !scenes->packed && !scenes->unpacked) {
        say_left_out(scene, packed, (const char *const[]){"packed image is", "packed images are"},
                     "; --packed DIR unpacks and converts them");
    }
    if (scenes->packed_folder && packed) {
        /* Blender's operator looks for files in the folder textures beside the scene, under the names that they have
         * here. */
        char *beside = txm_path_dir(scene), *textures = beside ? txm_path_join(beside, "textures") : NULL;
        char *word = txm_shell_path(textures ? textures : "textures");
        const bool there = textures && txm_same_file(scenes->packed_folder, textures);
        txm_say(
            TXM_SAY_INFO,
            "%s: the scene uses the tx files of %s packed image%s once it loads the images from %s: %s%s%sin Blender "
            "choose File > External Data > Unpack Resources > Use Files in Current Directory, and save",
            scene, packed == 1 ? "its" : "these", packed == 1 ? "" : "s", scenes->packed_folder,
            there ? "" : "give --packed ", there || !word ? "" : word, there ? "" : " instead, then ");
        free(word);
        free(textures);
        free(beside);
    }
    say_left_out(scene, inside, (const char *const[]){"image inside the package is", "images inside the package are"},
                 ": Cycles does not look up tx files for them");
    say_left_out(scene, generated, (const char *const[]){"generated image is", "generated images are"},
                 ", as in Blender");
    say_left_out(scene, movies, (const char *const[]){"movie is", "movies are"}, ", as in Blender");
    say_left_out(scene, unnamed, (const char *const[]){"image without a file is", "images without a file are"}, "");
    return status;
}

typedef struct folder_files {
    txm_inputs *inputs;
    const char *scene;
    const txm_input *settings;
    size_t first; /* of its inputs */
} folder_files;

/* Images that differ only in how they are looked up have the same file. */
static txm_status add_scene_file(void *user, const txm_input *image, txm_error *err)
{
    const folder_files *to = user;
    for (size_t i = to->first; i < txm_inputs_count(to->inputs); i++) {
        const txm_input *before = txm_inputs_at(to->inputs, i);
        if (!strcmp(before->path, image->path) && !strcmp(before->colorspace, image->colorspace) &&
            before->alpha == image->alpha)
            return TXM_OK;
    }
    txm_input input = *image;
    input.origin = to->scene;
    input.working_space = to->settings->working_space;
    input.cache_dir = to->settings->cache_dir;
    return txm_inputs_add_entry(to->inputs, &input, err);
}

/* A scene that the Blender extension has exported. */
static txm_status add_scene_folder(txm_inputs *inputs, const char *path, const txm_project_maps *maps,
                                   const txm_input *settings, txm_error *err)
{
    folder_files to = {inputs, path, settings, txm_inputs_count(inputs)};
    txm_error why = {0};
    const txm_status status = txm_scene_folder_images(path, maps, add_scene_file, &to, &why);
    if (status == TXM_STATUS_NO_MEMORY)
        return txm_fail_as(err, &why);
    return status == TXM_OK ? TXM_OK : add_failure(inputs, path, path, status, txm_strdup(why.message), err);
}

txm_status txm_make_add_scene(void *user, txm_inputs *inputs, const char *path, const txm_input *settings,
                              txm_error *err)
{
    txm_make_scenes *scenes = user;
    txm_scene *opened = NULL;
    txm_error why = {0};
    struct stat s;
    txm_project_maps maps;
    txm_status status = txm_project_maps_of(path, scenes->config_args, &maps, err);
    if (status == TXM_OK && stat(path, &s) == 0 && S_ISDIR(s.st_mode)) {
        status = add_scene_folder(inputs, path, &maps, settings, err);
        txm_project_maps_free(&maps);
        return status;
    }
    if (status == TXM_OK)
        status = load_config(scenes, path, err);
    if (status != TXM_OK) {
        txm_project_maps_free(&maps);
        return status;
    }
    txm_scene_options options = {.struct_size = sizeof(txm_scene_options),
                                 .colors = txm_scene_colors_of(scenes->config),
                                 .opened = txm_scene_opened_name,
                                 .lint = scenes->lint,
                                 .cancel = txm_signal_flag(),
                                 .every_variant = scenes->config_args->every_variant,
                                 .maps = maps.items,
                                 .map_count = maps.count};
    status = txm_scene_open(path, &options, &opened, &why);
    txm_project_maps_free(&maps);
    if (status == TXM_STATUS_NO_MEMORY || status == TXM_STATUS_CANCELLED)
        return txm_fail_with(err, status, &why);
    if (status != TXM_OK)
        return add_failure(inputs, path, path, status, txm_strdup(why.message), err);
    status = add_files(scenes, inputs, path, settings, opened, err);
    for (size_t i = 0; scenes->unpacked && status == TXM_OK && i < txm_scene_image_count(opened); i++)
        for (size_t p = 0; status == TXM_OK && p < txm_scene_image_at(opened, i)->packed_count; p++)
            status = add_unpacked(scenes, inputs, path, opened, i, p, err);
    if (status == TXM_OK)
        status = report_rest(scenes, inputs, path, opened, err);
    txm_scene_close(&opened);
    return status;
}

void txm_make_scenes_free(txm_make_scenes *scenes)
{
    txm_color_free(&scenes->config);
}
