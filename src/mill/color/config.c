/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads a config, and looks up names, roles and file rules in it. For the built-in config most of these come from a
 * table.
 */
#include "mill/color/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "mill/color/known.h"

txm_status txm_color_load_builtin(txm_ocio **out, txm_error *err)
{
    txm_status status = txm_ocio_from_builtin(txm_builtin_config, txm_builtin_config_bytes, out, err);
    if (status != TXM_OK)
        txm_error_prefix(err, "the built-in OCIO config");
    return status;
}

/* OpenColorIO is started only when a conversion needs a processor: names and roles are in tables. With another working
 * space than the config's own, the classes and the matrix of the table are not valid. Spaces that the config lacks are
 * listed after all others. */
static txm_status load_builtin(txm_color_config *config, const char *working_space, txm_error *err)
{
    const txm_known_config *known = &txm_builtin_known;
    const char *wanted = working_space && known->space_count ? txm_known_canonical(known, working_space) : NULL;
    config->is_builtin = true;
    config->name = txm_strdup("built-in");
    if (!config->name)
        return txm_no_memory(err, NULL);
    if (known->space_count &&
        (!working_space || (wanted && strcmp(wanted, txm_known_role_space(known, "scene_linear")) == 0)))
        config->known = known;
    txm_status status = config->known ? TXM_OK : txm_color_load_builtin(&config->library->ocio, err);
    if (status != TXM_OK)
        return status;
    for (size_t i = 0; i < txm_builtin_missing_count; i++) {
        const txm_builtin_missing *from = &txm_builtin_missing_spaces[i];
        if (config->known ? txm_known_canonical(known, from->name)
                          : txm_ocio_canonical(config->library->ocio, from->name))
            continue;
        txm_color_missing *m = txm_color_missing_add(&config->missing);
        if (!m || !(m->name = txm_strdup(from->name)) || !(m->reason = txm_strdup(from->reason)) ||
            !(m->family = txm_strdup("View")) ||
            !(m->aliases = txm_calloc(sizeof from->aliases / sizeof *from->aliases, sizeof *m->aliases)))
            return txm_no_memory(err, NULL);
        for (size_t k = 0; from->aliases[k]; k++)
            if (!(m->aliases[k] = txm_strdup(from->aliases[k])))
                return txm_no_memory(err, NULL);
        m->before = SIZE_MAX;
        m->blenders = true;
    }
    return TXM_OK;
}

/* Every config needs its spaces, its version and the matrix, wherever it comes from. The scene's working space becomes
 * the config's role scene_linear, as in Blender. */
static txm_status finish(txm_color_config *config, const txm_color_options *options, txm_error *err)
{
    unsigned major, minor;
    txm_status status = txm_color_list_spaces(config, err);
    if (status != TXM_OK)
        return status;
    if (config->known) {
        snprintf(config->version, sizeof config->version, "%s", config->known->version);
        return txm_color_compute_matrix(config, err);
    }
    if (!config->version[0]) {
        txm_ocio_profile(config->library->ocio, &major, &minor);
        snprintf(config->version, sizeof config->version, "%u.%u", major, minor);
    }
    const txm_color_space *linear = txm_color_lookup(config, "scene_linear");
    if (!linear || linear->reason)
        return txm_fail(err, TXM_STATUS_CONFIG,
                        "%s: not a usable OCIO config: textures are converted to its role scene_linear, which %s%s",
                        config->name, linear ? "cannot be built: " : "it lacks", linear ? linear->reason : "");
    const char *name = options->working_space;
    txm_color_space *space = name ? txm_color_lookup(config, name) : NULL;
    if (name && !space) {
        txm_fail(err, TXM_STATUS_COLORSPACE, "working space \"%.200s\" is not in the OCIO config %.400s", name,
                 config->name);
        txm_color_suggest(config, name, err);
        return TXM_STATUS_COLORSPACE;
    }
    /* In a linear encoding relative to the config's own scene_linear, half the light has half the value. */
    txm_ocio_processor *processor = NULL;
    bool usable =
        space && !space->is_data && !space->reason &&
        txm_ocio_processor_new(config->library->ocio, space->name, "scene_linear", &processor, NULL) == TXM_OK;
    if (usable) {
        float full[3] = {0.75f, 0.5f, 0.25f}, half[3] = {0.375f, 0.25f, 0.125f};
        txm_ocio_apply_rgb(processor, full);
        txm_ocio_apply_rgb(processor, half);
        for (int c = 0; c < 3; c++) {
            const float difference = full[c] - 2 * half[c];
            usable = usable && difference < 1e-4f && difference > -1e-4f;
        }
    }
    txm_ocio_processor_free(&processor);
    if (space && !usable)
        return txm_fail(err, TXM_STATUS_COLORSPACE,
                        "\"%s\" cannot be the working space: it is not a linear colour space that can be built; "
                        "Blender offers Linear Rec.709, Linear Rec.2020 and ACEScg",
                        space->name);
    if (space)
        status = txm_ocio_set_role(config->library->ocio, "scene_linear", space->name, err);
    return status == TXM_OK ? txm_color_compute_matrix(config, err) : status;
}

/* Loads the config at `origin`, or the built-in one if it is NULL. *broken says that Blender cannot load it either. */
static txm_status load_one(const txm_color_options *options, const char *origin, const char *named_by, bool *broken,
                           txm_color_config **out, txm_error *err)
{
    txm_color_config *config = txm_calloc(1, sizeof *config);
    txm_color_library *library = txm_calloc(1, sizeof *library);
    *broken = false;
    if (!config || !library) {
        free(config);
        free(library);
        return txm_no_memory(err, NULL);
    }
    pthread_mutex_init(&library->lock, NULL);
    config->library = library;
    library->ignores_environment = options->ignore_environment;
    config->blender = txm_blender_versions()[txm_blender_index(options->blender)];
    config->named_by = txm_strdup(named_by ? named_by : "");
    txm_status status = !config->named_by ? txm_no_memory(err, NULL)
                        : origin          ? txm_color_load_origin(config, origin, broken, err)
                                          : load_builtin(config, options->working_space, err);
    if (status == TXM_OK)
        status = finish(config, options, err);
    if (status == TXM_STATUS_CONFIG && origin)
        txm_color_advise(err);
    if (status == TXM_OK)
        *out = config;
    else
        txm_color_free(&config);
    return status;
}

/* Adds why what `by` names is not used to *replaced. */
static txm_status note_replaced(char **replaced, const char *by, txm_error *why, txm_error *err)
{
    txm_error_drop_advice(why);
    char *text = txm_asprintf("%s%s%s: %s", *replaced ? *replaced : "", *replaced ? "; " : "", by, why->message);
    free(*replaced);
    *replaced = text;
    return text ? TXM_OK : txm_no_memory(err, NULL);
}

/* A config that is given in the options and cannot be used is an error. What the environment and projects name counts
 * as in Blender, and in its order: the variable that is set, even if it is empty, hides the other one. */
txm_status txm_color_load(const txm_color_options *options, txm_color_config **out, txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    txm_color_options own = {.struct_size = sizeof own};
    txm_status status = txm_options_take(&own, sizeof own, options, "txm_color_options", err);
    if (status != TXM_OK)
        return status;
    if (txm_blender_index(own.blender) < 0)
        return txm_fail(err, TXM_STATUS_USAGE, "Blender %d: unknown version", (int)own.blender);
    bool broken = false;
    const bool is_project = txm_color_is_project(own.ocio_path);
    if (own.ocio_path && !is_project)
        return load_one(&own, own.ocio_path, NULL, &broken, out, err);
    const char *variable = own.ignore_environment ? NULL : txm_color_variable();
    const char *named = variable ? getenv(variable) : NULL;
    char *replaced = NULL, *of_project = NULL; /* why what they name is not used; what the project names */
    txm_error why = {0};
    if (named && *named)
        status = load_one(&own, named, variable, &broken, out, &why);
    if (broken)
        status = note_replaced(&replaced, strcmp(variable, "OCIO") == 0 ? "$OCIO" : "$BLENDER_OCIO", &why, &why);
    if (status == TXM_OK && !*out && is_project && TXM_RELEASE(own.blender, projects)) {
        txm_error_clear(&why);
        status = txm_color_project_config(own.ocio_path, &of_project, &why);
        broken = status == TXM_STATUS_CONFIG;
        if (of_project)
            status = load_one(&own, of_project, own.ocio_path, &broken, out, &why);
        free(of_project);
        if (broken)
            status = note_replaced(&replaced, "the project", &why, &why);
    }
    if (status != TXM_OK)
        txm_fail_as(err, &why);
    else if (!*out)
        status = load_one(&own, NULL, NULL, &broken, out, err);
    if (status == TXM_OK && replaced) {
        (*out)->replaced = txm_asprintf("%s; as in Blender, the config that is used instead is %s", replaced,
                                        (*out)->is_builtin ? "the built-in one" : (*out)->name);
        if (!(*out)->replaced) {
            txm_color_free(out);
            status = txm_no_memory(err, NULL);
        }
    }
    free(replaced);
    return status;
}

const char *txm_color_config_named_by(const txm_color_config *config)
{
    return config->named_by;
}

const char *txm_color_config_replaced(const txm_color_config *config)
{
    return config->replaced ? config->replaced : "";
}

void txm_color_free(txm_color_config **config)
{
    if (!config || !*config)
        return;
    txm_color_config *c = *config;
    txm_color_free_spaces(c);
    txm_color_missing_free(&c->missing);
    txm_ocio_free(&c->library->ocio);
    txm_color_free(&c->library->blenders);
    pthread_mutex_destroy(&c->library->lock);
    free(c->library);
    free(c->left_out);
    free(c->replaced);
    free(c->named_by);
    free(c->name);
    free(c);
    *config = NULL;
}

const char *txm_color_config_name(const txm_color_config *config)
{
    return config->name;
}

const char *txm_color_config_version(const txm_color_config *config)
{
    return config->version;
}

const char *txm_color_config_left_out(const txm_color_config *config)
{
    return config->left_out ? config->left_out : "";
}

void txm_color_xyz_to_scene_linear(const txm_color_config *config, float matrix[12])
{
    memcpy(matrix, config->matrix, sizeof config->matrix);
}

const char *txm_color_xyz_to_scene_linear_text(const txm_color_config *config)
{
    return txm_color_xyz_text_of(config, config->blender);
}

const char *txm_color_xyz_text_of(const txm_color_config *config, txm_blender blender)
{
    int version = txm_blender_index(blender);
    return version < 0 ? "" : config->matrix_texts[version];
}

txm_blender txm_color_blender(const txm_color_config *config)
{
    return config->blender;
}

const char *txm_color_srgb_interop_id(const txm_color_config *config)
{
    return config->srgb_interop_id;
}

const char *txm_color_working_interop_id(const txm_color_config *config)
{
    return config->interop_id;
}

const char *txm_color_role(const txm_color_config *config, const char *role)
{
    return role ? txm_color_canonical(config, txm_color_role_space(config, role)) : NULL;
}

const char *txm_color_canonical(const txm_color_config *config, const char *name)
{
    const txm_color_space *space = txm_color_lookup(config, name);
    return space ? space->name : NULL;
}

bool txm_color_is_data(const txm_color_config *config, const char *name)
{
    const txm_color_space *space = txm_color_lookup(config, name);
    return space && space->is_data;
}

/* Blender's name for data; other configs have a role for it. */
const char *txm_color_meant(const txm_color_config *config, const char *name)
{
    const char *data = name && !strcmp(name, "Non-Color") && !txm_color_canonical(config, name)
                           ? txm_color_role(config, "data")
                           : NULL;
    return data ? data : name;
}

/* The built-in config has no file rules. */
const char *txm_color_file_rule(const txm_color_config *config, const char *path)
{
    if (!path || config->known)
        return NULL;
    return txm_color_canonical(config, txm_ocio_file_rule(config->library->ocio, path));
}

const char *txm_color_library_version(void)
{
    return txm_ocio_version();
}
