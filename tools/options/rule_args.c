/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads rules from the command line, and checks settings.
 *
 * In: --rule, --rules, --preset. Out: rules in the order of their precedence. Names of colour spaces are checked
 * against the config before any image is read.
 */
#include "tools/options/rule_args.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/spelling.h"
#include "tile/terms/settings.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"

txm_status txm_args_limit(const char *text, txm_error *err)
{
    txm_rules *rules = NULL;
    txm_status status = txm_rules_new(&rules, err);
    if (status == TXM_OK)
        status = txm_rules_add_limit(rules, text, err);
    txm_rules_free(&rules);
    return status;
}

static txm_status check_limit(const char *text, void *field, txm_error *err)
{
    (void)field;
    return txm_args_limit(text, err);
}

#define AT(member) .offset = offsetof(txm_rule_args, member)
const txm_option txm_rule_options[] = {
    TXM_OPTION(LIST, "rule", .rare = true, AT(rules), .arg = "GLOB=SPACE[,ALPHA]",
               .help = "Colour space and alpha type of files that match (repeatable, the first match counts)",
               .more = "With an empty SPACE the rule sets only the alpha type. Rules do not apply to images of scenes, "
                       "which have their own settings. For details see COLOUR SPACES BY NAME in txmill-make(1)."),
    TXM_OPTION(LIST, "rules", .rare = true, AT(rule_files), .arg = "FILE", .values = TXM_VALUES_FILE,
               .help = "Read rules from a file, one per line (repeatable)",
               .more = "Empty lines and lines that begin with # are skipped."),
    TXM_OPTION(
        STRING, "preset", AT(preset), .arg = "NAME", .values = "pbr none",
        .help = "Rules for common names; pbr: normal, roughness and other data maps are Non-Color; none: no such rules",
        .more = "Only the last word of the file name counts, without numbers and resolutions: wood_normal.png, "
                "WoodRoughness.1001.exr and wood-ao-4k.jpg are data, normal_wood.png is not."),
    TXM_OPTION(LIST, "limit", .rare = true, AT(limits), .arg = "'[GLOB] SIZE'", .parse = check_limit,
               .help = "Halve images until no side is longer than SIZE pixels: 2048, 2k ... or none (repeatable)",
               .more = "With a GLOB only images that match, as in 'background/* 2k'; the first limit that matches "
                       "counts. Images of scenes are limited too. Cycles shows a limited image at the same place, only "
                       "softer. See SIZE LIMITS in txmill-make(1)."),
    {0},
};
#undef AT

/* Adds a rule, a file of rules or a limit; `from`: the setting that it comes from, NULL: an option. A file that an
 * option or a variable names may be a pipe. Others may have written a file of settings: what it names is not quoted
 * unless it is in the folder of the settings, or says what it is. */
static txm_status add(txm_rules *rules, txm_project_key key, const char *text, const txm_project_value *from,
                      txm_error *err)
{
    if (key == TXM_KEY_RULE)
        return txm_rules_add(rules, text, from ? from->origin : "--rule", err);
    if (key == TXM_KEY_LIMIT)
        return txm_rules_add_limit(rules, text, err);
    if (!from || !from->from_file)
        return txm_rules_load(rules, text, txm_signal_flag(), err);
    bool quoted = !from->outside;
    const txm_status status = txm_rules_load_foreign(rules, text, &quoted, err);
    return status == TXM_OK ? status : txm_error_prefix(err, "%s", from->origin);
}

static txm_status add_all(txm_rules *rules, txm_project_key key, const txm_opt_list *typed, const txm_project *project,
                          txm_error *err)
{
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < typed->count; i++)
        status = add(rules, key, typed->items[i], NULL, err);
    for (size_t i = 0; status == TXM_OK && project && i < project->count; i++)
        if (project->values[i].key == key)
            status = add(rules, key, project->values[i].value, &project->values[i], err);
    return status;
}

/* The first rule that matches counts, so they are read in the order of precedence: single rules, files, and the
 * preset, which has only common names. */
txm_status txm_rule_args_read(const txm_rule_args *args, txm_rules **out, txm_error *err)
{
    txm_status status = txm_rules_new(out, err);
    if (status == TXM_OK)
        status = add_all(*out, TXM_KEY_RULE, &args->rules, args->project, err);
    if (status == TXM_OK)
        status = add_all(*out, TXM_KEY_RULES, &args->rule_files, args->project, err);
    if (status == TXM_OK)
        status = add_all(*out, TXM_KEY_LIMIT, &args->limits, args->project, err);
    if (status == TXM_OK && args->preset)
        status = txm_rules_preset(*out, args->preset, err) == TXM_STATUS_USAGE ? txm_error_prefix(err, "--preset")
                                                                               : err->status;
    return status;
}

/* ---- the check -------------------------------------------------------------------------------------------------- */

const char *txm_alpha_near(const char *word)
{
    const char *best = NULL;
    unsigned least = UINT_MAX;
    for (int a = 0; a <= TXM_ALPHA_AUTO; a++)
        if (txm_spelling_better(word, txm_alpha_name((txm_alpha)a), &least))
            best = txm_alpha_name((txm_alpha)a);
    return best;
}

/* `who` is the origin of the colour space: "--colorspace", "--rule '*_n.png'". */
static txm_status check_space(const char *space, const char *who, const txm_color_config *config, txm_error *err)
{
    const txm_color_space *found;
    txm_error why = {0};
    const char *name;
    if (txm_space_chosen(space, &name) != TXM_SPACE_NAMED || !*name)
        return TXM_OK;
    name = txm_color_meant(config, name);
    if (txm_color_is_data(config, name))
        return TXM_OK;
    txm_status status = txm_color_find(config, name, &found, &why);
    if (status != TXM_STATUS_COLORSPACE)
        return status == TXM_OK ? TXM_OK : txm_fail_with(err, status, &why);
    /* The text after the last comma of a rule may be a mistyped alpha type; the message then names that word. */
    const char *comma = strrchr(space, ',');
    char *front = comma ? txm_strndup(space, (size_t)(comma - space)) : NULL;
    txm_alpha alpha;
    if (front && !strcmp(who, "--colorspace") && txm_alpha_parse(comma + 1, &alpha)) {
        txm_fail(err, TXM_STATUS_USAGE, "--colorspace %s: must be only a colour space; give the alpha type with -a %s",
                 space, comma + 1);
    } else if (front && txm_color_canonical(config, front)) {
        const char *near = txm_alpha_near(comma + 1);
        txm_fail(err, TXM_STATUS_USAGE,
                 "%s: unknown alpha type '%s'%s%s%s; there are straight, premultiplied, channel_packed, none, default "
                 "and auto",
                 who, comma + 1, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
    } else {
        txm_fail(err, TXM_STATUS_USAGE, "%s: %s", who, why.message);
    }
    free(front);
    return TXM_STATUS_USAGE;
}

txm_status txm_settings_check(const txm_settings *settings, const txm_rules *rules, const txm_color_config *config,
                              const txm_project_value *const *used, txm_error *err)
{
    /* With strict settings an unknown colour space is treated as linear, as in Blender. */
    txm_status status = settings->strict ? TXM_OK : check_space(settings->colorspace, "--colorspace", config, err);
    if (status == TXM_OK && rules && !settings->strict) {
        /* Checks all rules, because it is not known yet which will match an image. */
        const txm_rule *rule;
        for (size_t i = 0; status == TXM_OK && (rule = txm_rules_at(rules, i)); i++) {
            char who[512];
            snprintf(who, sizeof who, "%s '%s'", rule->origin, rule->glob);
            status = check_space(rule->colorspace, who, config, err);
            if (status == TXM_STATUS_USAGE && rule->unquoted) {
                txm_error_clear(err);
                txm_fail(err, status,
                         "%s: not a rule for this OCIO config; its text is not shown, since others named the file",
                         rule->origin);
            }
        }
    }
    if (status != TXM_OK)
        return status;
    /* A cache folder need not exist yet, but every existing part of its path must be a folder. */
    const txm_project_value *from = used[TXM_KEY_CACHE_DIR];
    struct stat st;
    if (!settings->cache_dir || !txm_path_is_absolute(settings->cache_dir))
        return TXM_OK;
    char *path = txm_strdup(settings->cache_dir);
    if (!path)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory");
    while (stat(path, &st) != 0 && strcmp(path, "/") != 0) {
        char *above = txm_path_dir(path);
        free(path);
        if (!(path = above))
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory");
    }
    bool is_folder = stat(path, &st) != 0 || S_ISDIR(st.st_mode);
    if (!is_folder) {
        txm_fail(err, TXM_STATUS_USAGE, "cache-dir %s: %s is a file, not a folder; name a folder", settings->cache_dir,
                 path);
        txm_error_prefix(err, "%s", from ? from->origin : "command line");
    }
    free(path);
    return is_folder ? TXM_OK : TXM_STATUS_USAGE;
}
