/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads rules from the command line, and checks settings.
 *
 * In: --rule, --rules, --preset. Out: rules in the order of their precedence. Names of colour spaces are checked
 * against the config before any image is read.
 */
#include "tools/options/rule_args.h"

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

/* A file that the command line or a variable names may be a pipe. */
static txm_status load_rules(txm_rules *rules, const char *path, txm_error *err)
{
    const txm_project *project = &txm_project_state()->project;
    for (size_t i = 0; i < project->count; i++)
        if (project->values[i].value == path && project->values[i].origin[0] == '/')
            return txm_project_load_rules(rules, &project->values[i], err);
    return txm_rules_load(rules, path, txm_signal_flag(), err);
}

/* The first rule that matches counts, so they are read in the order of precedence: single rules, files, and the
 * preset, which has only common names. */
txm_status txm_rule_args_read(const txm_rule_args *args, txm_rules **out, txm_error *err)
{
    txm_status status = txm_rules_new(out, err);
    txm_rules *rules = *out;
    for (size_t i = 0; status == TXM_OK && i < args->rules.count; i++)
        status = txm_rules_add(rules, args->rules.items[i], txm_project_origin(args->rules.items[i], "--rule"), err);
    for (size_t i = 0; status == TXM_OK && i < args->rule_files.count; i++)
        status = load_rules(rules, args->rule_files.items[i], err);
    for (size_t i = 0; status == TXM_OK && i < args->limits.count; i++)
        status = txm_rules_add_limit(rules, args->limits.items[i], err);
    if (status == TXM_OK && args->preset)
        status = txm_rules_preset(rules, args->preset, err) == TXM_STATUS_USAGE ? txm_error_prefix(err, "--preset")
                                                                                : err->status;
    return status;
}

/* ---- the check -------------------------------------------------------------------------------------------------- */

const char *txm_alpha_near(const char *word)
{
    const char *best = NULL;
    unsigned distance, least = 0;
    for (int a = 0; a <= TXM_ALPHA_AUTO; a++) {
        const char *name = txm_alpha_name((txm_alpha)a);
        if (txm_spelling_close(word, name, &distance) && (!best || distance < least)) {
            best = name;
            least = distance;
        }
    }
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

/* Checks all rules, because it is not known yet which will match an image. */
static txm_status check_rule_spaces(const txm_rules *rules, const txm_color_config *config, txm_error *err)
{
    const txm_rule *rule;
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && (rule = txm_rules_at(rules, i)); i++) {
        char who[512];
        snprintf(who, sizeof who, "%s '%s'", rule->origin, rule->glob);
        status = check_space(rule->colorspace, who, config, err);
        if (status == TXM_STATUS_USAGE && !txm_project_quotes(rule)) {
            txm_error_clear(err);
            txm_fail(err, status,
                     "%s: not a rule for this OCIO config; its text is not shown, since others named the file",
                     rule->origin);
        }
    }
    return status;
}

/* A cache folder need not exist yet, but every existing part of its path must be a folder. */
static txm_status check_cache_dir(const char *dir, txm_error *err)
{
    struct stat st;
    if (!dir || !txm_path_is_absolute(dir))
        return TXM_OK;
    char *path = txm_strdup(dir);
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
        txm_fail(err, TXM_STATUS_USAGE, "cache-dir %s: %s is a file, not a folder; name a folder", dir, path);
        txm_error_prefix(err, "%s", txm_project_origin(dir, "command line"));
    }
    free(path);
    return is_folder ? TXM_OK : TXM_STATUS_USAGE;
}

txm_status txm_settings_check(const txm_settings *settings, const txm_rules *rules, const txm_color_config *config,
                              txm_error *err)
{
    /* With strict settings an unknown colour space is treated as linear, as in Blender. */
    txm_status status = settings->strict ? TXM_OK : check_space(settings->colorspace, "--colorspace", config, err);
    if (status == TXM_OK && rules && !settings->strict)
        status = check_rule_spaces(rules, config, err);
    return status == TXM_OK ? check_cache_dir(settings->cache_dir, err) : status;
}
