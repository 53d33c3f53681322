/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects images and scenes, and resolves one image after the other with the settings that make would use.
 */
#include "tools/resolve/resolve_images.h"

#include <string.h>

#include "base/fail.h"
#include "base/names.h"
#include "base/path.h"
#include "tools/make/make_scene.h"
#include "tools/output/words.h"

bool txm_is_loaded(const txm_resolution *r)
{
    return txm_state_words(r->state)->ready;
}

/* If scenes and images are named, those images of the scenes are resolved, with the scenes' settings. */
typedef struct resolving {
    const txm_resolving *how;
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
    const txm_resolve_args *args = s->how->args;
    const txm_input *input = file->input;
    txm_context *context = txm_project_context(&s->contexts, file->index), *own = NULL;
    txm_settings settings = args->settings.settings;
    txm_resolution r;
    file->skipped = passed_over(s, input, err);
    if (file->skipped || err->status != TXM_OK || txm_input_check(input, err) != TXM_OK)
        return err->status;
    txm_rules_apply(s->contexts.common_rules, input, &settings);
    txm_status status = input->working_space ? txm_context_derive(context, input->working_space, &own, err) : TXM_OK;
    if (!status)
        status = txm_resolve_image(own ? own : context, input->path, &settings, &s->how->how, &r, err);
    txm_context_free(&own);
    if (status)
        return status;
    file->findings = !txm_is_loaded(&r);
    file->word = s->how->show(args, input->path, &r);
    txm_resolution_clear(&r);
    return TXM_OK;
}

/* Rules apply as in make, so that both compute the same name. */
int txm_resolve_run(const txm_resolving *resolving_how, const txm_operands *operands)
{
    txm_resolve_args *args = resolving_how->args;
    txm_make_scenes scenes = {.config_args = &args->config};
    const txm_files_how how = {
        .command = resolving_how->command, .what = "image", .scene = txm_make_add_scene, .scene_user = &scenes};
    txm_tally tally = {0};
    txm_error err = {0};
    resolving s = {.how = resolving_how};
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
        /* Images are resolved one after the other; what compares by converting uses all threads. */
        for (size_t i = 0; i < txm_inputs_count(s.inputs); i++) {
            const bool of_scene = txm_inputs_at(s.inputs, i)->from_scene;
            s.scenes |= of_scene;
            s.images |= !of_scene;
        }
        txm_each_file_run(&(txm_each_file){.one = resolve_one,
                                           .user = &s,
                                           .stops = true,
                                           .doing = s.how->doing,
                                           .noun = "image",
                                           .good = s.how->good,
                                           .member = "image",
                                           .json = s.how->args->report.json,
                                           .quiet = s.how->args->report.quiet},
                          s.inputs, &tally);
    }
    txm_project_contexts_free(&s.contexts);
    txm_make_scenes_free(&scenes);
    return txm_files_finish(&inputs, &tally, &err);
}
