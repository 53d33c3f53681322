/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill list: lists the images of Blender scenes.
 *
 * In: scenes. Out: the images that a render would look up, the nodes that use them, and the state of their tx files;
 * with --lint, findings about nodes and files. Nothing is made.
 *
 * Scenes are read without Blender (src/mill/scene); tx files are looked up as in Cycles. The exit code is 5 if --lint
 * finds something.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/shell.h"
#include "tools/inspect/each_file.h"
#include "tools/inspect/tx_files.h"
#include "tools/list/list_scene.h"
#include "tools/make/here.h"
#include "tools/options/opt.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "tools/output/summary.h"
#include "txmill/guard.h"
#include "txmill/scene.h"

typedef struct list_options {
    bool lint, json, deep;
    const char *cache_dir;
} list_options;

typedef struct list_args {
    list_options list;
    txm_tx_files_args files;
    txm_rule_args rules;
    txm_config_args config;
    txm_jobs_args jobs;
} list_args;

#define AT(member) .offset = offsetof(list_options, member)
static const txm_option options[] = {
    TXM_OPTION(FLAG, "lint", AT(lint), .help = "Report missing files and likely mistakes; exit with 5 if there are any",
               .more = "An image that feeds a Normal Map node but is not data; one image used as colour and as data; "
                       "one file in two colour spaces; missing files and libraries; unknown colour spaces; and the "
                       "findings of make --lint, for which the images are read. See FINDINGS."),
    TXM_OPTION_CACHE_DIR(AT(cache_dir), "Folder in which to look for tx files (default: blender_tx beside each image)",
                         NULL),
    TXM_OPTION_DEEP(AT(deep)),
    TXM_OPTION(FLAG, "json", AT(json), .help = "Print one JSON object per scene, image, library and finding"),
    {0},
};

static const txm_option_group groups[] = {
    {"Listing", options, offsetof(list_args, list)},
    TXM_FILES_GROUP(list_args),
    TXM_RULES_GROUP(list_args),
    TXM_COLOUR_GROUP(list_args),
    TXM_SCENES_GROUP(list_args),
    TXM_JOBS_GROUP(list_args),
    {0},
};

/* The context for a scene, with the scene's own working space if the file has one. */
static txm_status context_for(const txm_scene *opened, const txm_input *input, const list_args *args,
                              txm_context *plain, txm_context **own, txm_error *err)
{
    const char *space = input->working_space ? input->working_space : txm_scene_info_of(opened)->working_space;
    const char *current = txm_color_role(txm_context_color(plain), "scene_linear");
    const char *said = txm_project_config(input->path, &args->config).working_space;
    if (!space || (said && !input->working_space) || (current && strcmp(current, space) == 0)) {
        return TXM_OK;
    }
    return txm_context_derive(plain, space, own, err);
}

typedef struct listing {
    const list_args *args;
    const txm_operands *operands;
    txm_project_contexts contexts;
    txm_summary summary; /* of textures */
    size_t scenes;
} listing;

/* If the working space of a scene differs from the config's, a context is made for it. The part of a scene that
 * could be read is printed before an error in it is reported. */
static txm_status list_scene(listing *l, txm_one_file *file, txm_error *err)
{
    const txm_input *input = file->input;
    const list_args *args = l->args;
    const char *path = input->path;
    txm_context *context = txm_project_context(&l->contexts, file->index);
    txm_list_report report = {.scene = path, .config = txm_context_color(context)};
    txm_context *own = NULL;
    const txm_list_how how = {.cache_dir = input->cache_dir ? input->cache_dir : args->list.cache_dir,
                              .deep = args->list.deep,
                              .limits = txm_project_rules(&l->contexts, file->index)};
    txm_project_maps maps;
    if (txm_project_maps_of(path, &args->config, &maps, err) != TXM_OK) {
        return err->status;
    }
    const txm_scene_options scene_options = {.struct_size = sizeof(txm_scene_options),
                                             .colors = txm_scene_colors_of(txm_context_color(context)),
                                             .opened = txm_scene_opened_name,
                                             .lint = args->list.lint,
                                             .cancel = txm_signal_flag(),
                                             .every_variant = args->config.every_variant,
                                             .maps = maps.items,
                                             .map_count = maps.count};
    txm_status status = txm_scene_open(path, &scene_options, &report.opened, err);
    txm_project_maps_free(&maps);
    if (status == TXM_OK) {
        status = context_for(report.opened, input, args, context, &own, err);
    }
    txm_context *used = own ? own : context;
    if (status == TXM_OK) {
        status = txm_list_find(&report, used, &how, err);
    }
    if (status == TXM_OK && args->list.lint) {
        status = txm_list_find_faults(&report, txm_context_color(used), txm_signal_flag(), err);
    }
    if (status == TXM_OK && !args->list.json) {
        txm_list_print_text(&report);
        txm_list_sum(&report, &l->summary);
    } else if (status == TXM_OK && !txm_list_print_json(&report)) {
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory while printing the list", path);
    }
    if (status == TXM_OK) {
        status = txm_list_failures(&report, err);
    }
    file->findings = report.finding_count > 0;
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
        kind == TXM_FILE_PACKED) {
        return; /* a damaged scene */
    }
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

/* Scenes are listed one after the other, with a blank line between them. */
static txm_status list_one(void *user, txm_one_file *file, txm_error *err)
{
    listing *l = user;
    const txm_input *input = file->input;
    file->skipped = !is_wanted(input, l->operands);
    if (file->skipped)
        return TXM_OK;
    if (l->scenes++ && !l->args->list.json)
        putchar('\n');
    txm_status status = txm_input_check(input, err);
    if (status == TXM_OK)
        status = list_scene(l, file, err);
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

/* A folder of images has no scene to list. */
static void explain_folder(const char *path, txm_error *err)
{
    char *word = is_folder(path) ? txm_shell_path(path) : NULL;
    if (word) {
        txm_error_clear(err);
        txm_fail(err, TXM_STATUS_USAGE, "%s: no scene found; 'txmill resolve %s' shows the tx files of its images",
                 path, word);
    }
    free(word);
}

enum { MOST_EXTENSIONS = 32 };

/* The files that are searched for in folders are those of all formats. */
static int run_list(void *p, const txm_operands *operands)
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
    list_args *args = p;
    const txm_files_how how = {.command = "list", .what = "scene", .usual = scenes};
    txm_tally tally = {0};
    listing l = {.args = args, .operands = operands, .summary = {.words = {txm_state_words(TXM_TX_STATE_FRESH)->word}}};
    txm_inputs *inputs = NULL;
    txm_error err = {0};
    /* The settings in a scene take precedence over rules, but the rules are checked, so that the same options work
     * for all commands. */
    const txm_settings settings = {.cache_dir = args->list.cache_dir};
    const txm_project_targets project = {&args->list.cache_dir, &args->config, &args->rules, &args->jobs.threads};
    if (txm_files_collect(&how, &args->files, operands, &inputs, &err) == TXM_OK &&
        txm_project_examine(&project, operands, inputs, &settings, &l.contexts, &err) == TXM_OK) {
        txm_each_file_run(&(txm_each_file){.one = list_one,
                                           .stops = true,
                                           .user = &l,
                                           .doing = "reading",
                                           .json = args->list.json,
                                           .describe = describe_scene},
                          inputs, &tally);
        if (l.scenes && !args->list.json)
            txm_summary_print(&l.summary, "texture");
        if (!l.scenes && !txm_signal_caught())
            txm_fail(&err, TXM_STATUS_USAGE, "no scene found");
    }
    if (err.status == TXM_STATUS_USAGE && operands->count == 1)
        explain_folder(operands->items[0], &err);
    txm_project_contexts_free(&l.contexts);
    return txm_files_finish(&inputs, &tally, &err);
}

TXM_COMMAND(list, list_args, .purpose = "List the images of scenes and the state of their tx files",
            .synopsis = "[OPTION...] SCENE...", .operand_values = TXM_VALUES_SCENE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL);
