/* SPDX-License-Identifier: Apache-2.0
 * txmill list: the images of Blender scenes. */
#include <stdio.h>
#include <string.h>

#include "blend/colors.h"
#include "color/color.h"
#include "tools/output/exits.h"
#include "tools/list/list_scene.h"
#include "tools/options/opt.h"
#include "tools/output/say.h"

typedef struct list_options {
    bool lint, json;
    const char *cache_dir;
} list_options;

typedef struct list_args {
    list_options list;
    txm_config_args config;
} list_args;

#define AT(member) .offset = offsetof(list_options, member)
static const txm_option options[] = {
    {.name = "lint",
     .type = TXM_OPT_FLAG,
     AT(lint),
     .help = "Report what is missing or probably not meant so; exit with 5 if something is found",
     .more = "An image that feeds a Normal Map node but is no data; one image used as colour and as data; one file in "
             "two colour spaces; missing files and libraries; unknown colour spaces; and of the images what make "
             "--lint looks for. They are read for that. See FINDINGS."},
    TXM_OPTION_CACHE_DIR(AT(cache_dir),
                         "Folder in which tx files are looked for (default: blender_tx beside each image)", NULL),
    {.name = "json", .type = TXM_OPT_FLAG, AT(json), .help = "Print a JSON object a scene, image, library and finding"},
    {0},
};
#undef AT

static const txm_option_group groups[] = {
    {"Listing", options, offsetof(list_args, list)}, {"Colour", txm_config_options, offsetof(list_args, config)}, {0}};

/* The config as the scene's render sees it: with the scene's own working space, where the file has one. */
static txm_status config_for(const txm_blend *blend, const list_args *args, const txm_color_config *plain,
                             txm_color_config **own, txm_error *err)
{
    const char *space = txm_blend_info_of(blend)->working_space;
    if (!space || args->config.working_space) {
        return TXM_OK;
    }
    const char *current = txm_color_role(plain, "scene_linear");
    return current && strcmp(current, space) == 0 ? TXM_OK : txm_list_load_config(&args->config, space, own, err);
}

static txm_status list_scene(const char *path, const list_args *args, const txm_color_config *config, bool *findings,
                             txm_error *err)
{
    txm_list_report report = {.scene = path};
    txm_color_config *own = NULL;
    txm_blend_options blend_options = {.colors = txm_blend_colors_of(config), .lint = args->list.lint};
    txm_status status = txm_blend_open(path, &blend_options, &report.blend, err);
    if (status == TXM_OK) {
        status = config_for(report.blend, args, config, &own, err);
    }
    if (status == TXM_OK) {
        status = txm_list_look_up(&report, own ? own : config, args->list.cache_dir, err);
    }
    if (status == TXM_OK && args->list.lint) {
        status = txm_list_find_faults(&report, own ? own : config, txm_signal_flag(), err);
    }
    if (status == TXM_OK && !args->list.json) {
        txm_list_print_text(&report);
    } else if (status == TXM_OK && !txm_list_print_json(&report)) {
        status = txm_fail(err, TXM_NO_MEMORY, "%s: no memory to print the list", path);
    }
    *findings |= report.finding_count > 0;
    txm_list_report_free(&report);
    txm_color_free(&own);
    return status;
}

static int run_list(void *p, const txm_operands *operands)
{
    const list_args *args = p;
    txm_tally tally = {0};
    txm_color_config *config = NULL;
    txm_error err = {0};
    if (!operands->count) {
        txm_fail(&err, TXM_USAGE, "no scene given; 'txmill list --help' lists the options");
        return txm_finish_failed(&err, 0);
    }
    if (txm_list_load_config(&args->config, NULL, &config, &err) != TXM_OK) {
        return txm_finish_failed(&err, operands->count);
    }
    for (size_t i = 0; i < operands->count && !txm_signal_caught(); i++) {
        if (i > 0 && !args->list.json) {
            putchar('\n');
        }
        txm_error_clear(&err);
        txm_status status = list_scene(operands->items[i], args, config, &tally.findings, &err);
        txm_tally_add(&tally, status);
        if (status != TXM_OK) {
            txm_say(TXM_SAY_ERROR, "%s", err.message);
            if (args->list.json) {
                txm_list_print_json_error(operands->items[i], &err);
            }
        }
    }
    txm_color_free(&config);
    return txm_finish(&tally);
}

const txm_command txm_cmd_list = {
    .name = "list",
    .purpose = "List the images of Blender scenes and the state of their tx files",
    .synopsis = "[OPTION...] SCENE.blend...",
    .groups = groups,
    .operand_values = TXM_VALUES_FILE,
    .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL,
    .args_bytes = sizeof(list_args),
    .run = run_list,
};
