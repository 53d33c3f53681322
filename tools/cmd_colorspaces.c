/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill colorspaces: lists the colour spaces and roles of the OpenColorIO config.
 *
 * Out: roles, and spaces with their aliases and classes, including spaces that this build cannot use, with the reason.
 * The names printed are valid for --colorspace and in rules.
 *
 * There is text for people, --json for programs, and --names for scripts that fill a menu. The spaces are in the order
 * of the config, in which Blender shows them too.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "tools/options/args.h"
#include "tools/options/opt.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "tools/output/say.h"
#include "tools/output/text.h"
#include "txmill/color.h"

typedef struct colorspaces_args {
    txm_config_args config;
    bool json, names;
} colorspaces_args;

static const txm_option options[] = {
    TXM_OPTION(FLAG, "json", .offset = offsetof(colorspaces_args, json), .help = "Print the list as one JSON object"),
    TXM_OPTION(FLAG, "names", .offset = offsetof(colorspaces_args, names),
               .help = "Print only the names of the available spaces, one per line"),
    {0},
};

static const txm_option_group groups[] = {TXM_COLOUR_GROUP(colorspaces_args), {"Reports", options, 0}, {0}};

/* Roles that matter for textures. */
static const char *const roles[] = {"scene_linear", "default_byte",     "default_float",
                                    "data",         "aces_interchange", "cie_xyz_d65_interchange"};
enum { ROLES = sizeof roles / sizeof *roles };

/* Words for the text output and for JSON, by txm_color_class. */
static const char *const class_texts[] = {"data", "linear", "sRGB", "other"};
static const char *const class_words[] = {"data", "scene_linear", "scene_linear_srgb", "other"};

/* Values come from a config, which may contain anything: control characters are shown, not sent to the terminal. */
static void print_field(const char *label, const char *value)
{
    printf("%-24s", label);
    txm_print_format("%s\n", value);
}

static void print_head(const txm_color_config *config)
{
    /* Parts of a newer config that were left out to load it are listed first, because they explain names that are
     * missing below. */
    const char *left_out = txm_color_config_left_out(config), *id = txm_color_working_interop_id(config);
    print_field("config", txm_color_config_name(config));
    print_field("profile version", txm_color_config_version(config));
    if (*left_out)
        print_field("left out", left_out);
    for (int i = 0; i < ROLES; i++) {
        const char *space = txm_color_role(config, roles[i]);
        print_field(roles[i], space ? space : "(no such role)");
    }
    print_field("working interop id", *id ? id : "(unknown)");
    print_field("XYZ to scene_linear", txm_color_xyz_to_scene_linear_text(config));
}

/* A space that cannot be used is listed with the reason, because users look for it by name. */
static void print_entry(const txm_color_entry *e)
{
    char line[200];
    txm_print_format("\n%s\n    %s%s", e->name,
                     e->available ? class_texts[e->color_class] : "not available: ", e->unavailable_reason);
    if (*e->family)
        txm_print_format("\n    family %s", e->family);
    if (*e->description) {
        /* Descriptions may have many lines; the first is printed. */
        snprintf(line, sizeof line, "%.*s", (int)strcspn(e->description, "\n"), e->description);
        txm_print_format("\n    %s", line);
    }
    for (const char *const *alias = e->aliases; *alias; alias++)
        txm_print_format("%s%s", alias == e->aliases ? "\n    also " : ", ", *alias);
    putchar('\n');
}

/* Values that a config does not have are null, so that the same members are always present. */
static cJSON *head_json(const txm_color_config *config)
{
    cJSON *object = txm_json_new("txmill.colorspaces");
    const char *left_out = txm_color_config_left_out(config), *id = txm_color_working_interop_id(config);
    txm_json_text(object, "config", txm_color_config_name(config));
    txm_json_text(object, "profile_version", txm_color_config_version(config));
    txm_json_text_or_null(object, "left_out", left_out);
    cJSON *r = txm_json_object(object, "roles");
    for (int i = 0; i < ROLES; i++)
        txm_json_text(r, roles[i], txm_color_role(config, roles[i]));
    cJSON *w = txm_json_object(object, "working_space");
    txm_json_text(w, "name", txm_color_role(config, "scene_linear"));
    txm_json_text_or_null(w, "interop_id", id);
    txm_json_text(w, "xyz_to_scene_linear", txm_color_xyz_to_scene_linear_text(config));
    txm_project_json(object);
    return object;
}

/* A space that cannot be used has a reason instead of a class. */
static void add_entry(cJSON *array, const txm_color_entry *e)
{
    cJSON *o = txm_json_append(array);
    txm_json_text(o, "name", e->name);
    cJSON *aliases = txm_json_array(o, "aliases");
    for (const char *const *alias = e->aliases; *alias; alias++)
        txm_json_append_text(aliases, *alias);
    txm_json_text_or_null(o, "family", e->family);
    txm_json_text_or_null(o, "description", e->description);
    txm_json_bool(o, "available", e->available);
    txm_json_text(o, "reason", e->available ? NULL : e->unavailable_reason);
    txm_json_text(o, "class", e->available ? class_words[e->color_class] : NULL);
}

/* Entries are printed as they are read; after an error the earlier ones remain. */
static txm_status list(const colorspaces_args *args, const txm_color_config *config, txm_error *err)
{
    cJSON *object = args->json ? head_json(config) : NULL,
          *spaces = object ? txm_json_array(object, "colorspaces") : NULL;
    txm_status status = TXM_OK;
    if (!args->json && !args->names)
        print_head(config);
    for (size_t i = 0; status == TXM_OK && i < txm_color_count(config); i++) {
        txm_color_entry entry;
        status = txm_color_entry_at(config, i, &entry, err);
        if (status == TXM_OK && args->json)
            add_entry(spaces, &entry);
        else if (status == TXM_OK && !args->names)
            print_entry(&entry);
        else if (status == TXM_OK && entry.available) /* so that each printed name works with --colorspace */
            txm_print_format("%s\n", entry.name);
    }
    if (status == TXM_OK && args->json)
        txm_json_emit(object);
    else
        cJSON_Delete(object);
    return status;
}

static int run_colorspaces(void *p, const txm_operands *operands)
{
    colorspaces_args *args = p;
    const txm_project_targets project = {NULL, &args->config, NULL, NULL};
    txm_color_config *config = NULL;
    txm_error err = {0};
    txm_status status = txm_project_apply(&project, operands, &err);
    const txm_color_options color = txm_color_options_from(&args->config);
    if (status == TXM_OK && txm_color_load(&color, &config, &err) != TXM_OK) {
        txm_config_explain(&args->config, &err);
        status = err.status;
    }
    if (status == TXM_OK) {
        txm_config_warn(config);
        status = list(args, config, &err);
    }
    txm_color_free(&config);
    if (status != TXM_OK)
        return txm_finish_failed(&err, 1);
    return txm_finish(&(txm_tally){.total = 1});
}

TXM_COMMAND(colorspaces, colorspaces_args, .purpose = "List the colour spaces of the OpenColorIO config",
            .synopsis = "[OPTION...]", .no_operands = "give a config with --ocio",
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL);
