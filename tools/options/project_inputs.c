/* SPDX-License-Identifier: Apache-2.0
 * Projects below the folders that were given: each image follows its own .txmill. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fail.h"
#include "core/mem.h"
#include "core/names.h"
#include "core/path.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"

/* A .txmill other than the operands', and what it comes to under the command line. */
typedef struct own_project {
    txm_project project;
    txm_rules *rules;
    const char *values[TXM_KEYS], *origins[TXM_KEYS]; /* of what the command line left open; NULL: not said */
    txm_error failure;                                /* of reading or checking it: fails its images, no others */
    bool checked;
} own_project;

/* One process, one command: they live as long as it runs. */
static struct {
    txm_names folders, files; /* by folder: index + 1 of its project, 0 the operands'; by .txmill the same */
    own_project *items;
    size_t count, capacity;
} own;

/* Rules of the command line come before those of the project, with those of the run's own project cut off:
 * `rules` and `rule_files` count how many were there before it was applied. */
static txm_status read_rules(own_project *o, txm_error *err)
{
    const txm_project_applied *a = txm_project_state();
    txm_rule_args before = *a->targets.rules;
    before.rules.count = a->rules;
    before.rule_files.count = a->rule_files;
    before.preset = NULL;
    txm_status status = txm_rule_args_read(&before, &o->rules, err);
    for (size_t i = 0; status == TXM_OK && i < o->project.count; i++) {
        const txm_project_value *v = &o->project.values[i];
        bool variable = !strncmp(v->origin, "TXMILL_", 7);
        if (v->key == TXM_KEY_RULE && !variable)
            status = txm_rules_add(o->rules, v->value, v->origin, err);
        else if (v->key == TXM_KEY_RULES && !variable)
            status = txm_rules_load(o->rules, v->value, txm_signal_flag(), err);
    }
    const char *preset = a->said[TXM_KEY_PRESET] ? a->targets.rules->preset : o->values[TXM_KEY_PRESET];
    return status == TXM_OK && preset ? txm_rules_preset(o->rules, preset, err) : status;
}

/* What the user said on the command line counts for every project. */
static txm_status load(own_project *o, char *path, txm_error *err)
{
    const txm_project_applied *a = txm_project_state();
    txm_status status = txm_project_find(&path, 1, &o->project, err);
    for (size_t i = 0; status == TXM_OK && i < o->project.count; i++) {
        const txm_project_value *v = &o->project.values[i];
        if (!a->said[v->key] && !o->values[v->key]) {
            o->values[v->key] = v->value;
            o->origins[v->key] = v->origin;
        }
    }
    return status == TXM_OK && a->targets.rules ? read_rules(o, err) : status;
}

/* The project of a .txmill, which is read once. NULL when memory is exhausted. Takes over `path`. */
static own_project *project_of(char *path, size_t *number)
{
    txm_name *entry = txm_names_entry(&own.files, path);
    if (entry && !entry->value && TXM_GROW(own.items, own.capacity, own.count)) {
        own_project *o = &own.items[own.count];
        *o = (own_project){0};
        load(o, path, &o->failure);
        entry->value = ++own.count;
    }
    free(path);
    *number = entry ? entry->value : 0;
    return *number ? &own.items[*number - 1] : NULL;
}

/* The project of a file's folder; NULL where it is the operands' or none: then the operands' counts. */
static own_project *find(const char *file, txm_error *err)
{
    const char *common = txm_project_state()->project.path;
    char *folder = txm_path_dir(file);
    bool known = folder && txm_names_has(&own.folders, folder);
    txm_name *entry = folder ? txm_names_entry(&own.folders, folder) : NULL;
    size_t number = entry ? entry->value : 0;
    free(folder);
    if (!entry)
        txm_no_memory(err, NULL);
    if (!entry || known)
        return number ? &own.items[number - 1] : NULL;
    char *path;
    if (txm_project_path(file, &path, err) != TXM_OK || !path || (common && !strcmp(path, common))) {
        free(path);
        return NULL;
    }
    own_project *o = project_of(path, &number);
    if (!o)
        txm_no_memory(err, NULL);
    entry->value = number;
    return o;
}

/* A run has one config. Of one that is bad, a run of its own would say no more. */
static txm_status refuse_config(const char *ocio, const char *origin, txm_error *err)
{
    const txm_color_options how = {.struct_size = sizeof(txm_color_options), .ocio_path = ocio};
    txm_color_config *config = NULL;
    if (txm_color_load(&how, &config, err) != TXM_OK) {
        txm_config_blame(origin, err);
        return err->status;
    }
    txm_color_free(&config);
    return txm_fail(err, TXM_STATUS_USAGE,
                    "%s: another OpenColorIO config than that of the run; give this folder to a run of its own",
                    origin);
}

static txm_status check_working_space(const char *name, const char *ocio, const char *origin, txm_error *err)
{
    const txm_color_options how = {.struct_size = sizeof(txm_color_options), .ocio_path = ocio, .working_space = name};
    txm_color_config *config = NULL;
    txm_status status = txm_color_load(&how, &config, err);
    txm_color_free(&config);
    if (status == TXM_STATUS_COLORSPACE)
        err->status = TXM_STATUS_USAGE;
    return status == TXM_OK ? TXM_OK : txm_error_prefix(err, "%s", origin);
}

static txm_status check(const own_project *o, const txm_color_config *config, txm_error *err)
{
    const txm_project_applied *a = txm_project_state();
    const txm_settings settings = {.cache_dir = o->values[TXM_KEY_CACHE_DIR]};
    const char *ocio = o->values[TXM_KEY_OCIO], *common = a->targets.config ? a->targets.config->ocio : NULL;
    if (ocio && a->targets.config && (!common || strcmp(ocio, common) != 0))
        return refuse_config(ocio, o->origins[TXM_KEY_OCIO], err);
    const char *space = o->values[TXM_KEY_WORKING_SPACE];
    if (space && config && check_working_space(space, common, o->origins[TXM_KEY_WORKING_SPACE], err) != TXM_OK)
        return err->status;
    return config ? txm_settings_check(&settings, o->rules, config, err) : TXM_OK;
}

/* What the project says of an input, where the input does not say it itself. */
static txm_status say(txm_inputs *inputs, size_t index, const own_project *o, txm_error *err)
{
    txm_input said = *txm_inputs_at(inputs, index);
    const txm_rule *rule = said.from_scene ? NULL : txm_rules_match(o->rules, said.path);
    char by[512];
    said.ruled = true;
    if (rule && (!said.colorspace || !said.alpha)) {
        snprintf(by, sizeof by, "%s (%s)", rule->glob, rule->origin);
        said.decided_by = by;
        said.colorspace = said.colorspace ? said.colorspace : rule->colorspace;
        said.alpha = said.alpha ? said.alpha : rule->alpha;
    }
    if (!said.cache_dir)
        said.cache_dir = o->values[TXM_KEY_CACHE_DIR];
    /* As with the operands' project: it says more than the scene. */
    if (o->values[TXM_KEY_WORKING_SPACE] && (!said.working_space || said.from_scene))
        said.working_space = o->values[TXM_KEY_WORKING_SPACE];
    return txm_inputs_say(inputs, index, &said, err);
}

/* An image of a scene belongs to the project of the scene: that is where its user would look for settings. */
txm_status txm_project_inputs(txm_inputs *inputs, const txm_color_config *config, txm_error *err)
{
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < txm_inputs_count(inputs); i++) {
        const txm_input *input = txm_inputs_at(inputs, i);
        txm_error own_err = {0};
        own_project *o = input->status == TXM_OK
                             ? find(input->from_scene && input->origin ? input->origin : input->path, &own_err)
                             : NULL;
        if (o && o->failure.status == TXM_OK && !o->checked)
            check(o, config, &o->failure);
        if (o)
            o->checked = true;
        const txm_error *failure = o ? &o->failure : &own_err;
        if (failure->status == TXM_STATUS_NO_MEMORY)
            return txm_fail_as(err, failure);
        if (failure->status != TXM_OK)
            status = txm_inputs_fail(inputs, i, failure, err);
        else if (o)
            status = say(inputs, i, o, err);
    }
    return status;
}

const txm_rules *txm_project_rules(const char *file, const txm_rules *otherwise)
{
    txm_error err = {0};
    const own_project *o = find(file, &err);
    return o && o->failure.status == TXM_OK && o->rules ? o->rules : otherwise;
}
