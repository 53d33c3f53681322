/* SPDX-License-Identifier: Apache-2.0
 *
 * Applies the settings of projects: those of the operands' to the run, and those of others to the images below them.
 *
 * In: inputs, and the settings of the command line. Out: inputs with the settings of their projects, and the context
 * of each. A config and working space that differ from the run's are loaded once for all projects that share them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/path.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/say.h"

/* ---- the run ---------------------------------------------------------------------------------------------------- */

/* A .txmill other than the operands', with its settings below those of the command line. */
typedef struct own_project {
    txm_project project;
    txm_rules *rules;
    const txm_project_value *used[TXM_KEYS]; /* as in txm_project_applied */
    txm_error failure;                       /* failure of reading or checking it, which fails only its own images */
    bool checked;
} own_project;

/* A process runs a single command; what was applied lasts until the next call of txm_project_apply. */
static txm_project_applied applied;
static struct {
    txm_names folders, files; /* index + 1 of the project of a folder, 0 for the operands' project; the same for a
                               * .txmill */
    own_project *items;
    size_t count, capacity;
} own;

const txm_project_applied *txm_project_state(void)
{
    return &applied;
}

/* The values of a project that apply: of each setting the first one, unless something before it has set it. */
static void choose(const txm_project *project, const bool said[TXM_KEYS], const txm_project_value *used[TXM_KEYS])
{
    for (size_t i = 0; i < project->count; i++) {
        const txm_project_value *v = &project->values[i];
        if (!said[v->key] && !used[v->key] && !txm_project_key_repeats(v->key))
            used[v->key] = v;
    }
}

static const char *value_of(const txm_project_value *v)
{
    return v ? v->value : NULL;
}

static const char *origin_of(const txm_project_value *v)
{
    return v ? v->origin : NULL;
}

/* Settings that lead out of their folder, each once, copied: projects come and go. */
static struct {
    txm_project_value *items;
    size_t count, capacity;
} outside;

txm_status txm_project_note(const txm_project_value *value, txm_error *err)
{
    bool known = !value->outside;
    for (size_t i = 0; !known && i < outside.count; i++)
        known = !strcmp(outside.items[i].origin, value->origin);
    if (known)
        return TXM_OK;
    const bool project = value->key == TXM_KEY_OCIO && txm_color_is_project(value->value);
    char *leads_to = NULL;
    if (project && txm_color_project_config(value->value, &leads_to, err) != TXM_OK)
        return err->status;
    if (!leads_to && !(leads_to = txm_strdup(value->value)))
        return txm_no_memory(err, value->value);
    txm_say(TXM_SAY_INFO, "%s: %s = %s is outside of the folder of this %s (--no-settings ignores %s)", value->origin,
            project ? "ocio_config" : txm_project_key_name(value->key), leads_to, project ? "project" : "file",
            project ? "Blender projects" : ".txmill files");
    char *origin = txm_strdup(value->origin);
    if (!origin || !TXM_GROW(outside.items, outside.capacity, outside.count)) {
        free(origin);
        free(leads_to);
        return txm_no_memory(err, value->value);
    }
    outside.items[outside.count++] = (txm_project_value){value->key, leads_to, origin, true, true};
    return TXM_OK;
}

void txm_project_json(cJSON *object)
{
    cJSON *list = outside.count ? txm_json_array(object, "settings_outside") : NULL;
    for (size_t i = 0; i < outside.count; i++) {
        const txm_project_value *v = &outside.items[i];
        cJSON *o = txm_json_append(list);
        txm_json_text(o, "setting", txm_project_key_name(v->key));
        txm_json_text(o, "value", v->value);
        txm_json_text(o, "origin", v->origin);
    }
}

/* Options that were given keep their values. Each setting that takes effect is printed with -v, to help find a
 * forgotten file when a run does something unexpected. A target that is NULL is a setting that the command does not
 * use. */
txm_status txm_project_apply(const txm_project_targets *targets, const txm_operands *operands, txm_error *err)
{
    static const char *const options[TXM_KEYS] = {
        "cache-dir", "cache-limit", "ocio", "working-space", "blender", "preset", "", "", "jobs", "", ""};
    for (size_t i = 0; i < own.count; i++) {
        txm_project_free(&own.items[i].project);
        txm_rules_free(&own.items[i].rules);
    }
    own.count = 0;
    txm_names_free(&own.folders);
    txm_names_free(&own.files);
    txm_project_free(&applied.project);
    applied = (txm_project_applied){.targets = *targets};
    for (int k = 0; k < TXM_KEYS; k++)
        applied.said[k] = *options[k] && txm_opt_given(operands, options[k]);
    txm_status status = txm_project_find(operands->items, operands->count, &applied.project, err);
    choose(&applied.project, applied.said, applied.used);
    for (size_t i = 0; status == TXM_OK && i < applied.project.count; i++) {
        const txm_project_value *v = &applied.project.values[i];
        if (!txm_project_key_repeats(v->key) && applied.used[v->key] != v)
            continue;
        txm_say(TXM_SAY_DETAIL, "%s = %s (%s)", txm_project_key_name(v->key), v->value, v->origin);
        status = txm_project_note(v, err);
    }
    if (status != TXM_OK)
        return status;
    const txm_project_value **used = applied.used;
    txm_config_args *config = targets->config;
    if (used[TXM_KEY_CACHE_DIR] && targets->cache_dir)
        *targets->cache_dir = used[TXM_KEY_CACHE_DIR]->value;
    if (used[TXM_KEY_OCIO] && config) {
        config->ocio = used[TXM_KEY_OCIO]->value;
        config->ocio_origin = used[TXM_KEY_OCIO]->origin;
    }
    if (used[TXM_KEY_WORKING_SPACE] && config) {
        config->working_space = used[TXM_KEY_WORKING_SPACE]->value;
        config->working_space_origin = used[TXM_KEY_WORKING_SPACE]->origin;
    }
    if (used[TXM_KEY_BLENDER] && config)
        txm_blender_parse(used[TXM_KEY_BLENDER]->value, &config->blender); /* a newer one remains the newest */
    if (used[TXM_KEY_THREADS] && targets->threads)
        *targets->threads = (uint32_t)strtoul(used[TXM_KEY_THREADS]->value, NULL, 10);
    if (used[TXM_KEY_PRESET] && targets->rules)
        targets->rules->preset = used[TXM_KEY_PRESET]->value;
    if (targets->rules)
        targets->rules->project = &applied.project;
    for (int k = 0; k < TXM_KEYS; k++)
        applied.said[k] |= used[k] && !used[k]->from_file;
    return TXM_OK;
}

txm_status txm_args_cache_limit(const char *text, void *field, txm_error *err)
{
    txm_cache_limit *limit = field;
    *limit = (txm_cache_limit){.given = true, .project = !strcmp(text, "project"), .trusted = true};
    limit->on = !limit->project;
    if (limit->project || txm_parse_size(text, &limit->bytes, err) == TXM_OK)
        return TXM_OK;
    txm_error_clear(err);
    return txm_fail(err, TXM_STATUS_USAGE, "must be a number of bytes, such as 512M or 200G, or project");
}

txm_status txm_cache_limit_settle(txm_cache_limit *limit, txm_error *err)
{
    const txm_project_value *v = limit->on ? NULL : applied.used[TXM_KEY_CACHE_LIMIT];
    /* The option hides the file's value, which it asks for. */
    for (size_t i = 0; limit->project && !v && i < applied.project.count; i++)
        v = applied.project.values[i].key == TXM_KEY_CACHE_LIMIT ? &applied.project.values[i] : NULL;
    if (limit->project && !v)
        return txm_fail(err, TXM_STATUS_USAGE, "--cache-limit project: no settings name a cache-limit here");
    if (!v)
        return TXM_OK;
    limit->on = true;
    limit->trusted |= !v->from_file;
    limit->origin = v->origin;
    return txm_parse_size(v->value, &limit->bytes, err);
}

/* ---- projects of images ----------------------------------------------------------------------------------------- */

/* Settings of the command line and of variables apply to every project; those of the run's own do not. */
static txm_status load_project(own_project *o, char *path, txm_error *err)
{
    txm_status status = txm_project_find(&path, 1, &o->project, err);
    choose(&o->project, applied.said, o->used);
    for (size_t i = 0; status == TXM_OK && i < o->project.count; i++) {
        const txm_project_value *v = &o->project.values[i];
        if (o->used[v->key] == v || txm_project_key_repeats(v->key))
            status = txm_project_note(v, err);
    }
    if (status != TXM_OK || !applied.targets.rules)
        return status;
    txm_rule_args rules = *applied.targets.rules;
    rules.project = &o->project;
    rules.preset = applied.said[TXM_KEY_PRESET] ? rules.preset : value_of(o->used[TXM_KEY_PRESET]);
    return txm_rule_args_read(&rules, &o->rules, err);
}

/* The project of a .txmill, which is read once. NULL when memory is exhausted. Takes ownership of `path`. */
static own_project *project_of(char *path, size_t *number)
{
    txm_name *entry = txm_names_entry(&own.files, path);
    if (entry && !entry->value && TXM_GROW(own.items, own.capacity, own.count)) {
        own_project *o = &own.items[own.count];
        *o = (own_project){0};
        load_project(o, path, &o->failure);
        entry->value = ++own.count;
    }
    free(path);
    *number = entry ? entry->value : 0;
    return *number ? &own.items[*number - 1] : NULL;
}

/* The project of a file's folder; NULL if it is the operands' or there is none, so that the operands' applies. */
static own_project *find_project(const char *file, txm_error *err)
{
    const char *common = applied.project.path;
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

/* ---- configs ---------------------------------------------------------------------------------------------------- */

/* A config that differs from the run's, or could not be loaded. */
typedef struct txm_loaded_config {
    txm_config_args args;
    txm_context *context;
    txm_error failure;
} txm_loaded_config;

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

bool txm_config_args_same(const txm_config_args *a, const txm_config_args *b)
{
    return same_text(a->ocio, b->ocio) && same_text(a->working_space, b->working_space) && a->blender == b->blender;
}

/* The release for projects that name none. */
static txm_blender assumed = TXM_BLENDER_NEWEST;

void txm_project_assume(txm_blender blender)
{
    assumed = blender;
}

/* Settings of the run's own .txmill do not apply to other projects. */
static txm_config_args config_of(const own_project *o)
{
    txm_config_args args = *applied.targets.config;
    if (!applied.said[TXM_KEY_OCIO]) {
        args.ocio = value_of(o->used[TXM_KEY_OCIO]);
        args.ocio_origin = origin_of(o->used[TXM_KEY_OCIO]);
    }
    if (!applied.said[TXM_KEY_WORKING_SPACE]) {
        args.working_space = value_of(o->used[TXM_KEY_WORKING_SPACE]);
        args.working_space_origin = origin_of(o->used[TXM_KEY_WORKING_SPACE]);
    }
    if (!applied.said[TXM_KEY_BLENDER]) {
        args.blender = assumed;
        if (o->used[TXM_KEY_BLENDER])
            txm_blender_parse(o->used[TXM_KEY_BLENDER]->value, &args.blender);
    }
    return args;
}

/* It is loaded once for all projects with the same settings. NULL when memory is exhausted. */
static txm_loaded_config *load_config(txm_project_contexts *contexts, const txm_config_args *args)
{
    for (size_t i = 0; i < contexts->count; i++)
        if (txm_config_args_same(&contexts->configs[i].args, args))
            return &contexts->configs[i];
    if (!TXM_GROW(contexts->configs, contexts->capacity, contexts->count))
        return NULL;
    txm_loaded_config *c = &contexts->configs[contexts->count++];
    *c = (txm_loaded_config){.args = *args};
    txm_context_derive_blender(contexts->common, args->ocio, args->working_space, args->blender, &c->context,
                               &c->failure);
    return c;
}

/* *context: that of the project; NULL if it is the common one. */
static txm_status find_context(const own_project *o, txm_project_contexts *contexts, txm_context **context,
                               txm_error *err)
{
    const txm_config_args args = config_of(o);
    *context = NULL;
    if (txm_config_args_same(&args, applied.targets.config))
        return TXM_OK;
    const txm_loaded_config *c = load_config(contexts, &args);
    if (!c)
        return txm_no_memory(err, NULL);
    *context = c->context;
    if (c->context)
        return TXM_OK;
    txm_fail_as(err, &c->failure);
    txm_config_explain(&args, err);
    return err->status;
}

txm_context *txm_project_context(const txm_project_contexts *contexts, size_t input)
{
    return contexts->of && contexts->of[input] ? contexts->of[input] : contexts->common;
}

const txm_rules *txm_project_rules(const txm_project_contexts *contexts, size_t input)
{
    return contexts->rules && contexts->rules[input] ? contexts->rules[input] : contexts->common_rules;
}

/* The common one is freed last, because the others share its threads. */
void txm_project_contexts_free(txm_project_contexts *contexts)
{
    for (size_t i = 0; i < contexts->count; i++)
        txm_context_free(&contexts->configs[i].context);
    free(contexts->configs);
    free(contexts->of);
    free(contexts->rules);
    txm_rules_free(&contexts->common_rules);
    txm_context_free(&contexts->common);
    *contexts = (txm_project_contexts){0};
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

/* NULL, the run's own, if the command line or a variable sets it; otherwise only the project's own. */
static const char *cache_dir_of(const own_project *o)
{
    const char *named = value_of(o->used[TXM_KEY_CACHE_DIR]);
    return applied.said[TXM_KEY_CACHE_DIR] ? NULL : named ? named : "";
}

/* Called once per project: the settings of the run must be valid in its config too. */
static txm_status check_project(own_project *o, const txm_settings *run, const txm_context *context, txm_error *err)
{
    txm_settings settings = *run;
    if (cache_dir_of(o))
        settings.cache_dir = cache_dir_of(o);
    if (o->failure.status == TXM_OK && !o->checked)
        txm_settings_check(&settings, o->rules, txm_context_color(context), o->used, &o->failure);
    o->checked = true;
    return txm_fail_as(err, &o->failure);
}

static txm_status say(txm_inputs *inputs, size_t index, const own_project *o, const txm_settings *settings,
                      txm_error *err)
{
    txm_input said = *txm_inputs_at(inputs, index);
    txm_rule rule;
    char by[512];
    said.ruled = true;
    if (txm_rules_decide(o->rules, &said, settings, &rule)) {
        snprintf(by, sizeof by, "%s (%s)", rule.glob, rule.origin);
        said.decided_by = by;
        said.by_preset = rule.by_preset;
        said.colorspace = said.colorspace ? said.colorspace : rule.colorspace;
        said.alpha = said.alpha ? said.alpha : rule.alpha;
    }
    if (!said.limit_px && !(said.limit_px = txm_rules_limit(o->rules, said.path)))
        said.limit_px = TXM_NO_LIMIT;
    if (!said.cache_dir)
        said.cache_dir = cache_dir_of(o);
    /* A setting overrides the scene, as in the operands' project. */
    if (o->used[TXM_KEY_WORKING_SPACE] && (!said.working_space || said.from_scene))
        said.working_space = o->used[TXM_KEY_WORKING_SPACE]->value;
    return txm_inputs_say(inputs, index, &said, err);
}

/* An image of a scene belongs to the project of the scene, where its user would look for settings. *project: NULL
 * for the operands' own. */
static txm_status project_of_input(const txm_input *input, const txm_project_contexts *contexts, own_project **project,
                                   txm_error *err)
{
    const char *file = input->from_scene && input->origin ? input->origin : input->path;
    char *place = NULL;
    txm_error failure = {0};
    *project = NULL;
    if (!contexts->place || contexts->place(file, &place, &failure) == TXM_OK)
        *project = find_project(place ? place : file, &failure);
    free(place);
    return txm_fail_as(err, &failure);
}

/* `unusable`: why there is no context for inputs of the operands' project. */
static txm_status follow(txm_inputs *inputs, size_t index, const txm_settings *settings, const txm_error *unusable,
                         txm_project_contexts *contexts, txm_error *err)
{
    txm_error failure = {0};
    own_project *o = NULL;
    txm_context **context = &contexts->of[index];
    txm_status status = project_of_input(txm_inputs_at(inputs, index), contexts, &o, &failure);
    if (status == TXM_OK && o && txm_fail_as(&failure, &o->failure) == TXM_OK)
        status = find_context(o, contexts, context, &failure);
    if (failure.status == TXM_OK && !*context)
        txm_fail_as(&failure, unusable);
    if (failure.status == TXM_OK && o)
        check_project(o, settings, *context ? *context : contexts->common, &failure);
    if (failure.status == TXM_STATUS_NO_MEMORY)
        return txm_fail_as(err, &failure);
    if (failure.status != TXM_OK)
        return txm_inputs_fail(inputs, index, &failure, err);
    contexts->rules[index] = o ? o->rules : NULL;
    return o ? say(inputs, index, o, settings, err) : TXM_OK;
}

/* Whether an input has another .txmill than the operands', and so need not fail with theirs. */
static bool any_follows_another(const txm_inputs *inputs, const txm_project_contexts *contexts)
{
    for (size_t i = 0; i < txm_inputs_count(inputs); i++) {
        const txm_input *input = txm_inputs_at(inputs, i);
        own_project *o = NULL;
        txm_error ignored = {0};
        if (input->status == TXM_OK && project_of_input(input, contexts, &o, &ignored) == TXM_OK && o)
            return true;
    }
    return false;
}

txm_status txm_project_open(txm_inputs *inputs, const txm_context_options *options, const txm_settings *settings,
                            const txm_rules *rules, txm_project_contexts *contexts, txm_error *err)
{
    txm_error failure = {0};
    txm_context_options any = *options;
    if (txm_context_make(options, applied.targets.config, &contexts->common, &failure) != TXM_OK) {
        if (!((failure.status == TXM_STATUS_CONFIG && options->ocio_path && !applied.said[TXM_KEY_OCIO]) ||
              (failure.status == TXM_STATUS_USAGE && options->working_space && !applied.said[TXM_KEY_WORKING_SPACE])) ||
            !any_follows_another(inputs, contexts))
            return txm_fail_as(err, &failure);
        /* The other projects share its threads, so any config will do. */
        any.ocio_path = any.working_space = NULL;
        if (txm_context_make(&any, applied.targets.config, &contexts->common, err) != TXM_OK) {
            txm_error_clear(err);
            return txm_fail_as(err, &failure);
        }
    }
    /* The common context has been opened, or `unusable` has the reason. */
    size_t count = txm_inputs_count(inputs), common = 0, others = 0;
    contexts->of = txm_calloc(count, sizeof *contexts->of);
    contexts->rules = txm_calloc(count, sizeof *contexts->rules);
    txm_status status = count && (!contexts->of || !contexts->rules) ? txm_no_memory(err, NULL) : TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < count; i++) {
        if (txm_inputs_at(inputs, i)->status != TXM_OK)
            continue;
        status = follow(inputs, i, settings, &failure, contexts, err);
        others += contexts->of[i] != NULL;
        common += !contexts->of[i] && txm_inputs_at(inputs, i)->status == TXM_OK;
    }
    /* If each image has its own config, a colour space need not be in the run's, with which none is converted. */
    if (status == TXM_OK && failure.status == TXM_OK && (common || !others))
        status = txm_settings_check(settings, rules, txm_context_color(contexts->common), applied.used, err);
    return status;
}

txm_status txm_project_examine(const txm_project_targets *targets, const txm_operands *operands, txm_inputs *inputs,
                               const txm_settings *settings, txm_project_contexts *contexts, txm_error *err)
{
    txm_status status = txm_project_apply(targets, operands, err);
    if (status == TXM_OK && targets->rules)
        status = txm_rule_args_read(targets->rules, &contexts->common_rules, err);
    if (status != TXM_OK)
        return status;
    const txm_jobs_args jobs = {*targets->threads};
    const txm_context_options options = txm_inspecting_options(targets->config, &jobs);
    return txm_project_open(inputs, &options, settings, contexts->common_rules, contexts, err);
}

txm_config_args txm_project_config(const char *file, const txm_config_args *otherwise)
{
    txm_error err = {0};
    const own_project *o = find_project(file, &err);
    return o && o->failure.status == TXM_OK ? config_of(o) : *otherwise;
}
