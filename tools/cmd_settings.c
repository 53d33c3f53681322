/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill settings: shows the settings that apply to a path, and where each is set.
 *
 * In: paths. Out: for each the settings that apply to it, and where each is set: a .txmill file with its line, a
 * variable, or the default.
 *
 * Of settings that are combined (rules), all are listed; of others only the one with the highest precedence, which is
 * the nearest to the path.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "tools/inspect/each_file.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "tools/output/say.h"
#include "tools/output/text.h"

typedef struct settings_args {
    bool json;
} settings_args;

static const txm_option options[] = {
    TXM_OPTION(FLAG, "json", .offset = offsetof(settings_args, json), .help = "Print one JSON object per setting"),
    {0},
};
static const txm_option_group groups[] = {{"Reports", options, 0}, {0}};

static txm_project_value otherwise(txm_project_key key)
{
    static const char *const values[TXM_KEYS] = {[TXM_KEY_CACHE_DIR] = "blender_tx",
                                                 [TXM_KEY_WORKING_SPACE] = "the config's scene_linear",
                                                 [TXM_KEY_THREADS] = "as many as the process may use"};
    if (key == TXM_KEY_BLENDER)
        return (txm_project_value){.key = key, .value = txm_blender_name(TXM_BLENDER_NEWEST), .origin = "default"};
    return (txm_project_value){.key = key, .value = values[key], .origin = "default"};
}

/* The origin is a file with its line number, so that an editor can jump there. */
static void print(const char *path, const txm_project_value *v, bool json)
{
    if (json) {
        cJSON *o = txm_json_new("txmill.settings");
        txm_json_text(o, "path", path);
        txm_json_text(o, "setting", txm_project_key_name(v->key));
        txm_json_text(o, "value", v->value);
        txm_json_text(o, "origin", v->origin);
        txm_json_bool(o, "outside", v->outside);
        txm_json_emit(o);
        return;
    }
    printf("%-14s ", txm_project_key_name(v->key));
    txm_print_format("%s  ", v->value ? v->value : "none");
    fputs(txm_style_on(TXM_DIM), stdout);
    txm_print_format("(%s%s)", v->origin, v->outside ? ", outside of its folder" : "");
    puts(txm_style_on(TXM_PLAIN));
}

/* The config that a variable, a Blender project or nothing names: the one that is really loaded. `named`: what the
 * files say; NULL if they say nothing. One that cannot be loaded now is a failure. */
static txm_status print_config(const char *path, const txm_project *project, const txm_project_value *named, bool json,
                               txm_error *err)
{
    txm_color_options how;
    txm_color_config *config = NULL;
    txm_error why = {0};
    txm_color_options_init(&how);
    how.ocio_path = named ? named->value : NULL;
    for (size_t i = 0; i < project->count && how.blender == TXM_BLENDER_NEWEST; i++)
        if (project->values[i].key == TXM_KEY_BLENDER)
            txm_blender_parse(project->values[i].value, &how.blender);
    if (txm_status_retryable(txm_color_load(&how, &config, &why)))
        return txm_fail_as(err, &why);
    if (why.status != TXM_OK) {
        const char *variable = getenv("BLENDER_OCIO") ? "BLENDER_OCIO" : "OCIO", *value = getenv(variable);
        const txm_project_value unusable = {.key = TXM_KEY_OCIO,
                                            .value = value && *value ? value : how.ocio_path,
                                            .origin = value && *value ? variable : how.ocio_path};
        txm_say(TXM_SAY_WARNING, "%s", why.message);
        print(path, &unusable, json);
        return TXM_OK;
    }
    const char *by = txm_color_config_named_by(config);
    const txm_project_value loaded = {.key = TXM_KEY_OCIO,
                                      .value = *by ? txm_color_config_name(config) : "built in",
                                      .origin = *by ? by : "default",
                                      .outside = named && named->outside && strcmp(by, named->value) == 0};
    txm_config_warn(config);
    print(path, &loaded, json);
    txm_color_free(&config);
    return TXM_OK;
}

/* If there is no .txmill, this is printed too, to explain why a setting does not apply. */
static txm_status show_settings(const char *path, const txm_project *project, bool json, txm_error *err)
{
    txm_status status = TXM_OK;
    if (!json) {
        txm_print_format("%s: %s", path, project->path ? project->path : "no .txmill in this folder or above it");
        for (size_t i = 0; i < project->above_count; i++)
            txm_print_format("%s%s", i ? ", " : ", which inherits from ", project->above[i]);
        putchar('\n');
    }
    for (int key = 0; status == TXM_OK && key < TXM_KEYS; key++) {
        bool adds = txm_project_key_repeats((txm_project_key)key), found = false;
        for (size_t i = 0; i < project->count && (adds || !found); i++) {
            if (project->values[i].key != (txm_project_key)key)
                continue;
            found = true;
            if (key == TXM_KEY_OCIO && txm_color_is_project(project->values[i].value))
                status = print_config(path, project, &project->values[i], json, err);
            else
                print(path, &project->values[i], json);
        }
        const txm_project_value rest = otherwise((txm_project_key)key);
        if (!found && key == TXM_KEY_OCIO)
            status = print_config(path, project, NULL, json, err);
        else if (!found)
            print(path, &rest, json);
    }
    return status;
}

/* A path that does not exist has settings too, but was probably mistyped, so it is an error. */
static txm_status show_place(void *user, txm_one_file *file, txm_error *err)
{
    const settings_args *args = user;
    char *path = (char *)file->input->path;
    txm_project project;
    if (txm_place_check(file->input, err) != TXM_OK)
        return err->status;
    if (access(path, F_OK) != 0)
        return txm_fail_errno(err, errno, "%s: cannot be examined", path);
    if (txm_project_find(&path, 1, &project, err) != TXM_OK)
        return err->status;
    txm_status status = show_settings(path, &project, args->json, err);
    txm_project_free(&project);
    return status;
}

static void describe_failure(void *user, const txm_one_file *file, cJSON *o)
{
    (void)user, (void)file;
    txm_json_text(o, "type", "error");
}

static int run_settings(void *p, const txm_operands *operands)
{
    settings_args *args = p;
    txm_tally tally = {0};
    txm_error err = {0};
    static char *here[] = {".", NULL};
    const txm_operands otherwise_here = {.items = here, .count = 1};
    txm_inputs *places = NULL;
    if (txm_places_collect("settings", "path", operands->count ? operands : &otherwise_here, &places, &err) != TXM_OK)
        return txm_finish_failed(&err, 0);
    /* A path that fails does not end the run; its object is printed among the others. */
    txm_each_file_run(
        &(txm_each_file){.one = show_place, .user = args, .json = args->json, .describe = describe_failure}, places,
        &tally);
    txm_inputs_free(&places);
    return txm_finish(&tally);
}

TXM_COMMAND(settings, settings_args, .purpose = "Show the settings for a path, and where each comes from",
            .synopsis = "[OPTION...] [PATH...]", .operand_values = TXM_VALUES_FILE, .exits = TXM_EXITS_FAIL);
