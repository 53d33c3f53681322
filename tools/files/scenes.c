/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens one scene after the other and looks up its tx files.
 *
 * In: operands. Out: the report of each scene, for a command's function. Scenes are read without Blender
 * (src/mill/scene); tx files are looked up as in Cycles.
 */
#include "tools/files/scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/shell.h"
#include "tools/make/here.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "txmill/guard.h"

typedef struct reading {
    const txm_scenes_how *how;
    const txm_operands *operands;
    txm_project_contexts contexts;
    size_t scenes;
} reading;

/* The context for a scene, with the scene's own working space if the file has one. */
static txm_status context_for(const txm_scene *opened, const txm_input *input, const txm_scenes_args *args,
                              txm_context *plain, txm_context **own, txm_error *err)
{
    const char *space = input->working_space ? input->working_space : txm_scene_info_of(opened)->working_space;
    const char *current = txm_color_role(txm_context_color(plain), "scene_linear");
    const char *said = txm_project_config(input->path, &args->config).working_space;
    if (!space || (said && !input->working_space) || (current && strcmp(current, space) == 0))
        return TXM_OK;
    return txm_context_derive(plain, space, own, err);
}

/* If the working space of a scene differs from the config's, a context is made for it. */
static txm_status read_scene(reading *r, txm_one_file *file, txm_error *err)
{
    const txm_scenes_how *how = r->how;
    const txm_input *input = file->input;
    const txm_scenes_args *args = how->args;
    const char *path = input->path;
    txm_context *context = txm_project_context(&r->contexts, file->index);
    txm_list_report report = {.scene = path, .config = txm_context_color(context)};
    txm_context *own = NULL;
    const txm_list_how find = {.cache_dir = input->cache_dir ? input->cache_dir : args->cache_dir,
                               .deep = args->deep,
                               .limits = txm_project_rules(&r->contexts, file->index),
                               .user = how->user,
                               .wants = how->wants};
    txm_project_maps maps;
    if (txm_project_maps_of(path, &args->config, &maps, err) != TXM_OK)
        return err->status;
    const txm_scene_options scene_options = {.struct_size = sizeof(txm_scene_options),
                                             .colors = txm_scene_colors_of(txm_context_color(context)),
                                             .opened = txm_scene_opened_name,
                                             .lint = args->lint,
                                             .cancel = txm_signal_flag(),
                                             .every_variant = args->config.every_variant,
                                             .maps = maps.items,
                                             .map_count = maps.count};
    txm_status status = txm_scene_open(path, &scene_options, &report.opened, err);
    txm_project_maps_free(&maps);
    if (status == TXM_OK)
        status = context_for(report.opened, input, args, context, &own, err);
    txm_context *used = own ? own : context;
    if (status == TXM_OK)
        status = txm_list_find(&report, used, &find, err);
    if (status == TXM_OK && args->lint)
        status = txm_list_find_faults(&report, txm_context_color(used), txm_signal_flag(), err);
    if (status == TXM_OK)
        status = how->one(how->user, &report, file, err);
    /* What could be read of a scene was shown before an error in it is reported. */
    if (status == TXM_OK)
        status = txm_list_failures(&report, err);
    file->findings |= report.finding_count > 0;
    txm_list_report_free(&report);
    txm_context_free(&own);
    return status;
}

static void explain(const char *path, txm_error *err)
{
    const char *noun;
    const txm_scene_format *format = txm_scene_format_of(path);
    const txm_file_kind kind = txm_kind_of_file(path, &noun);
    if (err->status != TXM_STATUS_CORRUPT || (format && !format->begins) || kind == TXM_FILE_SCENE ||
        kind == TXM_FILE_PACKED)
        return; /* a damaged scene */
    char *word = txm_shell_path(path);
    const char *quoted = word ? word : path;
    txm_error_clear(err);
    if (kind == TXM_FILE_TX) {
        txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: not a scene, but a tx file; 'txmill info %s' shows what is in it",
                 path, quoted);
    } else if (kind == TXM_FILE_IMAGE) {
        txm_fail(err, TXM_STATUS_UNSUPPORTED,
                 "%s: not a scene, but %s; 'txmill resolve %s' shows the tx file of an image", path, noun, quoted);
    } else {
        txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: not a scene, but %s; give a scene", path, noun);
    }
    free(word);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* What was found in a folder, by an extension that other programs use too, may be anything; what was named is meant to
 * be a scene. */
static bool is_wanted(const txm_input *input, const txm_operands *operands)
{
    bool named = false, searched = false;
    for (size_t i = 0; i < operands->count; i++) {
        named |= !strcmp(operands->items[i], input->path);
        searched |= is_folder(operands->items[i]);
    }
    const txm_scene_format *format = txm_scene_format_of(input->path);
    return named || !searched || !format || !format->mark || txm_here_is_scene(input->path);
}

static txm_status read_one(void *user, txm_one_file *file, txm_error *err)
{
    reading *r = user;
    const txm_input *input = file->input;
    file->skipped = !is_wanted(input, r->operands);
    if (file->skipped)
        return TXM_OK;
    r->scenes++;
    txm_status status = txm_input_check(input, err);
    if (status == TXM_OK)
        status = read_scene(r, file, err);
    if (status != TXM_OK && status != TXM_STATUS_CANCELLED)
        explain(input->path, err);
    return err->status;
}

static void describe_scene(void *user, const txm_one_file *file, cJSON *o)
{
    (void)user;
    txm_json_text(o, "type", "scene");
    txm_json_text(o, "scene", file->name);
}

enum { MOST_EXTENSIONS = 32 };

/* The files that are searched for in folders are those of all formats. */
int txm_scenes_run(const txm_scenes_how *how, const txm_operands *operands)
{
    static char globs[MOST_EXTENSIONS][16];
    static const char *scenes[MOST_EXTENSIONS + 1];
    size_t extensions = 0;
    for (size_t i = 0; txm_scene_format_at(i); i++)
        for (const char *at = txm_scene_format_at(i)->extensions; *at && extensions < MOST_EXTENSIONS;) {
            const size_t n = strcspn(at, " ");
            snprintf(globs[extensions], sizeof globs[0], "*.%.*s", (int)n, at);
            scenes[extensions] = globs[extensions];
            extensions++;
            at += n + (at[n] == ' ');
        }
    txm_scenes_args *args = how->args;
    const txm_files_how files_how = {.command = how->command, .what = "scene", .usual = scenes};
    txm_tally tally = {0};
    reading r = {.how = how, .operands = operands};
    txm_inputs *inputs = NULL;
    txm_error err = {0};
    /* The settings in a scene take precedence over rules, but the rules are checked, so that the same options work
     * for all commands. */
    const txm_settings settings = {.cache_dir = args->cache_dir};
    const txm_project_targets project = {&args->cache_dir, &args->config, &args->rules, &args->jobs.threads};
    if (txm_files_collect(&files_how, &args->files, operands, &inputs, &err) == TXM_OK &&
        txm_project_examine(&project, operands, inputs, &settings, &r.contexts, &err) == TXM_OK) {
        txm_each_file_run(&(txm_each_file){.one = read_one,
                                           .stops = true,
                                           .user = &r,
                                           .doing = "reading",
                                           .json = args->report.json,
                                           .quiet = args->report.quiet,
                                           .describe = describe_scene},
                          inputs, &tally);
        if (!r.scenes && !txm_signal_caught())
            txm_fail(&err, TXM_STATUS_USAGE, "no scene found");
        else if (r.scenes && how->after)
            how->after(how->user, &tally, &err);
    }
    if (err.status == TXM_STATUS_USAGE && operands->count == 1) {
        /* A folder of images has no scene to list. */
        const char *path = operands->items[0];
        char *word = is_folder(path) ? txm_shell_path(path) : NULL;
        if (word) {
            txm_error_clear(&err);
            txm_fail(&err, TXM_STATUS_USAGE, "%s: no scene found; 'txmill resolve %s' shows the tx files of its images",
                     path, word);
        }
        free(word);
    }
    txm_project_contexts_free(&r.contexts);
    return txm_files_finish(&inputs, &tally, &err);
}
