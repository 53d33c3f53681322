/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill resolve: shows which file Cycles would load for an image, and why.
 *
 * In: images and settings. Out: for each image the tx file that Cycles would load, or why there is none, and tx files
 * under other names. With --touch, tx files whose modification times were lost get them back, and with --adopt those of
 * renamed images the new names, after a deep comparison.
 *
 * The exit code is 0 if Cycles loads a file for every image, else 5. `make` uses the same lookup; resolve also shows
 * the tx files with other names and how their settings differ.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/path.h"
#include "base/text.h"
#include "tile/terms/settings.h"
#include "tools/inspect/each_file.h"
#include "tools/inspect/tx_files.h"
#include "tools/make/make_scene.h"
#include "tools/options/args.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "txmill/inspect.h"

typedef struct resolve_args {
    bool touch, deep, adopt;
    txm_tx_files_args files;
    txm_rule_args rules;
    txm_jobs_args jobs;
    txm_settings_args settings;
    txm_config_args config;
    txm_report_args report;
} resolve_args;

#define AT(member) .offset = offsetof(resolve_args, member)
static const txm_option options[] = {
    TXM_OPTION(
        FLAG, "touch", AT(touch), .help = "Give outdated tx files the time of their image if they still match it",
        .more = "For files whose times were lost, for instance by rsync, git, cp or zip. The image is converted again "
                "and everything compared, as with 'txmill verify --deep'; files that differ are not changed."),
    TXM_OPTION(FLAG, "adopt", AT(adopt),
               .help = "Rename the tx files of images that were renamed, if they have the same pixels",
               .more = "For images without a tx file, beside tx files of images that are gone and with the same "
                       "settings and size. The image is converted again and everything compared, as with 'txmill "
                       "verify --deep', with at most 16 files. Files that differ are not renamed, and no file is ever "
                       "replaced."),
    TXM_OPTION_DEEP(AT(deep)),
    {0},
};

static const txm_option_group groups[] = {
    {"Action", options, 0},           TXM_FILES_GROUP(resolve_args),   TXM_RULES_GROUP(resolve_args),
    TXM_SETTINGS_GROUP(resolve_args), TXM_COLOUR_GROUP(resolve_args),  TXM_SCENES_GROUP(resolve_args),
    TXM_JOBS_GROUP(resolve_args),     TXM_REPORTS_GROUP(resolve_args), {0},
};

/* The settings are those of make, because the name depends on them. */
static void set_resolve_defaults(void *p)
{
    txm_settings_args_default(&((resolve_args *)p)->settings);
}

/* An image that is itself a tx file, or that needs none, counts as loaded. */
static bool is_loaded(const txm_resolution *r)
{
    return txm_state_words(r->state)->ready;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

/* It is printed only if the versions look for different files, or find a file good for one of them alone; otherwise the
 * line would be the same for every image. */
static void print_versions(const txm_resolution *r)
{
    bool differ = false;
    for (size_t i = 0; i < r->version_count; i++)
        differ |= strcmp(r->versions[i].path, r->path) != 0 || r->versions[i].state != r->versions[0].state;
    for (size_t i = 0; differ && i < r->version_count; i++) {
        const txm_version_answer *v = &r->versions[i];
        printf("  Blender %s: %s, ", txm_blender_name(v->blender), txm_tx_state_name(v->state));
        txm_print_path(v->path);
        putchar('\n');
    }
}

/* The state, and below it the explanation: the two times, or the files under other names. */
static void print_resolve_text(const char *image, const txm_resolution *r)
{
    char image_time[TXM_TIME_BYTES], tx_time[TXM_TIME_BYTES], state[64];
    char *shown = txm_path_shown(r->path);
    snprintf(state, sizeof state, "%s%s", txm_tx_state_name(r->state),
             r->touched   ? " (touched)"
             : r->adopted ? " (adopted)"
                          : "");
    txm_print_line(image, is_loaded(r) ? TXM_GOOD : TXM_BAD, state, shown ? shown : r->path);
    free(shown);
    if (r->state == TXM_TX_STATE_OUTDATED)
        printf("  the image has the time %s, the tx file %s\n", txm_time_text(r->image_time, image_time),
               txm_time_text(r->tx_time, tx_time));
    if (*r->reason) {
        fputs("  ", stdout);
        txm_print_safe(r->reason);
        putchar('\n');
    }
    if (!is_loaded(r)) {
        fputs("  Cycles ", stdout);
        txm_print_safe(r->shows);
        putchar('\n');
    }
    if (!is_loaded(r))
        printf("  requested: colour space %s, alpha type %s\n", txm_space_shown(r->colorspace),
               txm_alpha_name(r->alpha));
    for (size_t i = 0; i < r->other_count; i++) {
        fputs("  found: ", stdout);
        txm_print_path(r->others[i].path);
        fputs(": ", stdout);
        txm_print_safe(r->others[i].difference);
        putchar('\n');
    }
    if (r->former) {
        fputs(r->adopted ? "  renamed from: " : "  the image seems to have been renamed; its tx file: ", stdout);
        txm_print_path(r->former);
        fputs(r->adopted ? "" : " (--adopt compares the pixels and renames it)", stdout);
        putchar('\n');
    }
    print_versions(r);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

/* Times are in seconds since 1970, as Cycles compares them; null if there is no tx file. */
static void print_resolve_json(const char *image, const txm_resolution *r)
{
    cJSON *o = txm_json_result();
    txm_json_text(o, "image", image);
    txm_json_text(o, "state", txm_tx_state_name(r->state));
    txm_json_bool(o, "touched", r->touched);
    txm_json_bool(o, "adopted", r->adopted);
    txm_json_text(o, "former", r->former);
    txm_json_text(o, "path", r->path);
    txm_json_text(o, "reason", *r->reason ? r->reason : NULL);
    txm_json_text(o, "shows", r->shows);
    txm_json_text(o, "colorspace", r->colorspace);
    txm_json_text(o, "alpha", txm_alpha_name(r->alpha));
    txm_json_number(o, "image_time", (double)r->image_time, 15);
    if (r->tx_time)
        txm_json_number(o, "tx_time", (double)r->tx_time, 15);
    else
        txm_json_text(o, "tx_time", NULL);
    txm_project_json(o);
    cJSON *others = txm_json_array(o, "others");
    for (size_t i = 0; i < r->other_count; i++) {
        cJSON *e = txm_json_append(others);
        txm_json_text(e, "path", r->others[i].path);
        txm_json_text(e, "difference", r->others[i].difference);
    }
    cJSON *versions = txm_json_array(o, "versions");
    for (size_t i = 0; i < r->version_count; i++) {
        cJSON *e = txm_json_append(versions);
        txm_json_text(e, "blender", txm_blender_name(r->versions[i].blender));
        txm_json_text(e, "state", txm_tx_state_name(r->versions[i].state));
        txm_json_text(e, "path", r->versions[i].path);
    }
    txm_json_emit(o);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* If scenes and images are named, those images of the scenes are resolved, with the scenes' settings. */
typedef struct resolving {
    const resolve_args *args;
    const txm_inputs *inputs;
    txm_project_contexts contexts;
    bool scenes, images; /* there are inputs of each kind */
} resolving;

static bool has_partner(const resolving *s, const txm_input *input)
{
    for (size_t i = 0; i < txm_inputs_count(s->inputs); i++) {
        const txm_input *other = txm_inputs_at(s->inputs, i);
        if (other->from_scene != input->from_scene && txm_same_file(other->path, input->path))
            return true;
    }
    return false;
}

/* Whether an input is skipped: an image of a scene that was not named, or a named image, which the scene's stands
 * for. A named image that is in no scene, and a scene that cannot be read, are failures. */
static bool passed_over(const resolving *s, const txm_input *input, txm_error *err)
{
    const bool whole_scene = input->from_scene && input->origin && !strcmp(input->origin, input->path);
    if (!s->scenes || !s->images || whole_scene)
        return false;
    const bool partner = has_partner(s, input);
    if (!input->from_scene && !partner && input->status == TXM_OK)
        txm_fail(
            err, TXM_STATUS_NOT_FOUND,
            "%s: none of the scenes uses this image; to resolve it with its default settings, leave out the scenes",
            input->path);
    return input->from_scene ? !partner : partner;
}

/* A scene may have another working space than the config, which needs a separate context. */
static txm_status resolve_one(void *user, txm_one_file *file, txm_error *err)
{
    const resolving *s = user;
    const resolve_args *args = s->args;
    const txm_input *input = file->input;
    txm_context *context = txm_project_context(&s->contexts, file->index), *own = NULL;
    txm_settings settings = args->settings.settings;
    txm_resolution r;
    file->skipped = passed_over(s, input, err);
    if (file->skipped || err->status != TXM_OK || txm_input_check(input, err) != TXM_OK)
        return err->status;
    txm_rules_apply(s->contexts.common_rules, input, &settings);
    txm_resolve_options how;
    txm_resolve_options_init(&how);
    how.touch = args->touch;
    how.deep = args->deep;
    how.adopt = args->adopt;
    txm_status status = input->working_space ? txm_context_derive(context, input->working_space, &own, err) : TXM_OK;
    if (!status)
        status = txm_resolve_image(own ? own : context, input->path, &settings, &how, &r, err);
    txm_context_free(&own);
    if (status)
        return status;
    file->findings = !is_loaded(&r);
    file->word = txm_state_words(r.state)->word;
    if (args->report.json)
        print_resolve_json(input->path, &r);
    else if (!args->report.quiet || !is_loaded(&r))
        print_resolve_text(input->path, &r);
    txm_resolution_clear(&r);
    return TXM_OK;
}

/* Images are resolved one after the other; --touch converts, which uses all threads. */
static void resolve_all(resolving *s, txm_tally *tally)
{
    for (size_t i = 0; i < txm_inputs_count(s->inputs); i++) {
        const bool of_scene = txm_inputs_at(s->inputs, i)->from_scene;
        s->scenes |= of_scene;
        s->images |= !of_scene;
    }
    txm_each_file_run(&(txm_each_file){.one = resolve_one,
                                       .user = s,
                                       .stops = true,
                                       .doing = "examining",
                                       .noun = "image",
                                       .good = txm_state_words(TXM_TX_STATE_FRESH)->word,
                                       .member = "image",
                                       .json = s->args->report.json,
                                       .quiet = s->args->report.quiet},
                      s->inputs, tally);
}

/* Rules apply as in make, so that both compute the same name. */
static int run_resolve(void *p, const txm_operands *operands)
{
    resolve_args *args = p;
    txm_make_scenes scenes = {.config_args = &args->config};
    const txm_files_how how = {
        .command = "resolve", .what = "image", .scene = txm_make_add_scene, .scene_user = &scenes};
    txm_tally tally = {0};
    txm_error err = {0};
    resolving s = {.args = args};
    txm_inputs *inputs = NULL;
    txm_settings_args_finish(&args->settings, operands);
    txm_report_args_apply(&args->report);
    const txm_project_targets project = {&args->settings.settings.cache_dir, &args->config, &args->rules,
                                         &args->jobs.threads};
    /* Collecting reads scenes, which the project's config belongs to, so the project comes first. */
    if (txm_project_apply(&project, operands, &err) == TXM_OK &&
        txm_files_collect(&how, &args->files, operands, &inputs, &err) == TXM_OK &&
        txm_rule_args_read(&args->rules, &s.contexts.common_rules, &err) == TXM_OK) {
        const txm_context_options looking = txm_inspecting_options(&args->config, &args->jobs);
        txm_project_open(inputs, &looking, &args->settings.settings, s.contexts.common_rules, &s.contexts, &err);
    }
    if (err.status == TXM_OK) {
        txm_settings_warn_alias(&args->settings.settings, txm_context_color(s.contexts.common));
        s.inputs = inputs;
        resolve_all(&s, &tally);
    }
    txm_project_contexts_free(&s.contexts);
    txm_make_scenes_free(&scenes);
    return txm_files_finish(&inputs, &tally, &err);
}

TXM_COMMAND(resolve, resolve_args, .purpose = "Show which tx file Cycles would load for an image, and why",
            .synopsis = "[OPTION...] [SCENE.blend] IMAGE...", .operand_values = TXM_VALUES_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL,
            .defaults = set_resolve_defaults);
