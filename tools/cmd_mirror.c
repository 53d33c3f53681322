/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill mirror: puts the tx files of scenes into a local folder, for renders whose textures are on a slow share.
 *
 * In: scenes, folders or images. Out: in the folder, under the names that Cycles computes for an absolute cache folder,
 * a copy of each tx file that is fresh beside its image; what is not fresh is converted. It is a run of `txmill make`
 * with another cache folder.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "base/path.h"
#include "tools/make/make_run.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"

typedef struct mirror_args {
    txm_make_args make;
    const char *to;
    txm_pixel_size size; /* 0: all levels */
} mirror_args;

#define AT(member) .offset = offsetof(mirror_args, member)
static const txm_option options[] = {
    TXM_OPTION(STRING, "to", AT(to), .arg = "DIR", .values = TXM_VALUES_DIR,
               .help = "The local folder, which is made if necessary",
               .more = "Set it as the texture cache folder in Blender, as an absolute path. Cycles looks there first, "
                       "and then beside each image, so a mirror need not be complete."),
    TXM_OPTION(PIXELS, "size", .letter = 's', AT(size), .arg = "WxH",
               .help = "Leave out levels that a picture of this size does not need",
               .more =
                   "By the estimate of txmill budget, for textures that fill the picture once. Images that are larger "
                   "are converted without their largest levels; Cycles uses such files, and repeated textures are "
                   "softer. Renders in another size should use another folder."),
    TXM_OPTION(FLAG, "dry-run", .letter = 'n', AT(make.dry_run), .help = "Only show what would be copied or made"),
    TXM_OPTION_CACHE_LIMIT(AT(make.limit),
                           "Afterwards remove files of DIR that were not used for longest, to keep within SIZE",
                           "What the named scenes need stays. A limit of the project's own folders does not count."),
    TXM_OPTION(FLAG, "content", .rare = true, AT(make.running.content),
               .help = "Read each image whole, to find other content of the same size",
               .more = "Otherwise the time and the size of an image decide whether its tx file is fresh."),
    TXM_OPTION(STRING, "log", .rare = true, AT(make.log), .arg = "FILE", .values = TXM_VALUES_LOG,
               .help = "Also write the JSON objects of --json to this file"),
    TXM_OPTION(FLAG, "progress", .rare = true, AT(make.progress), .help = "Print one progress line per percent",
               .more = "A terminal shows progress in any case, unless -q is given."),
    {0},
};

static const txm_option_group groups[] = {
    {"Mirror", options, 0},
    {"Inputs", txm_input_options, offsetof(mirror_args, make.input)},
    {"Rules", txm_rule_options, offsetof(mirror_args, make.rules)},
    {"Colour", txm_config_options, offsetof(mirror_args, make.config)},
    {"Scenes", txm_scene_file_options, offsetof(mirror_args, make.config)},
    {"Running", txm_running_options, offsetof(mirror_args, make.running)},
    {"Reports", txm_report_options, offsetof(mirror_args, make.report)},
    {0},
};

static void set_mirror_defaults(void *p)
{
    txm_settings_init(&((mirror_args *)p)->make.settings.settings);
}

static int run_mirror(void *p, const txm_operands *operands)
{
    mirror_args *args = p;
    txm_make_args *make = &args->make;
    txm_error err = {0};
    char *folder = NULL;
    txm_settings_args_finish(&make->settings, operands);
    txm_report_args_apply(&make->report);
    if (!operands->count)
        txm_fail(&err, TXM_STATUS_USAGE, "no scene given; 'txmill mirror --help' lists the options");
    else if (!args->to || !*args->to)
        txm_fail(&err, TXM_STATUS_USAGE, "no folder given: name it with --to, as in --to /local/cache");
    else if (args->size.w && make->rules.limits.count)
        txm_fail(&err, TXM_STATUS_USAGE, "--size and --limit are two ways to leave out levels; give one of them");
    else if (!(folder = txm_path_absolute(args->to)))
        txm_path_absolute_failed(args->to, &err);
    const txm_project_targets project = {&make->settings.settings.cache_dir, &make->config, &make->rules,
                                         &make->running.threads};
    make->settings.settings.cache_dir = folder;
    make->copies = true;
    /* The budget's finest level is the last that has at least the picture's longer side. */
    const uint32_t shown = args->size.w > args->size.h ? args->size.w : args->size.h;
    make->settings.settings.limit_px = shown ? 2 * shown - 1 : 0;
    if (!err.status && txm_project_apply(&project, operands, &err) == TXM_OK && make->limit.given)
        txm_cache_limit_settle(&make->limit, &err);
    const int code = err.status ? txm_finish_failed(&err, 0) : txm_make_run(make, operands);
    free(folder);
    return code;
}

TXM_COMMAND(mirror, mirror_args, .purpose = "Copy the tx files of scenes to a local folder, where Cycles looks first",
            .synopsis = "[OPTION...] --to DIR SCENE...", .operand_values = TXM_VALUES_SCENE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL, .defaults = set_mirror_defaults);
