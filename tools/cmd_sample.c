/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill sample: looks up a colour in a texture as a renderer does, and explains it; or renders a patch as a picture.
 *
 * In: a tx file, a place, derivatives and a filter. Out: the colour, and on request the levels, tiles, pixels and
 * weights that it is computed from; or a patch of the texture as a picture. The lookup is the library's, so a renderer
 * gets the same.
 *
 * Without --grid there is a single lookup, which can be explained; with --grid each pixel of the patch is a lookup.
 * UDIM sets are one texture, given as a pattern.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "tools/inspect/each_file.h"
#include "tools/output/exits.h"
#include "tools/output/say.h"
#include "tools/output/text.h"
#include "tools/sample/sample.h"
#include "txmill/guard.h"

static const txm_option_group groups[] = {
    {"Where", txm_sample_place_options, 0},
    {"How", txm_sample_how_options, 0},
    TXM_FILES_GROUP(txm_sample_args),
    TXM_COLOUR_GROUP(txm_sample_args),
    TXM_JOBS_GROUP(txm_sample_args),
    {"Output", txm_sample_output_options, 0},
    {0},
};

/* ---- one lookup ---- */

/* Repeats the lookup until all its tiles are loaded. Each round starts from the seed, so that the result does not
 * depend on which tiles were loaded when. */
static txm_status look_up_until_there(txm_texture_set *set, uint32_t id, const txm_sampler *how, const txm_lookup *at,
                                      uint32_t seed, float out[4], txm_explanation *e, txm_error *err)
{
    uint32_t requests[TXM_SAMPLE_REQUESTS];
    txm_lookup_state lane = {.random = seed, .capacity = TXM_SAMPLE_REQUESTS, .requests = requests};
    while (txm_sample_explain(txm_texture_set_view(set), id, how, at, &lane, out, e) == TXM_LOOKUP_MISS) {
        txm_status status = txm_texture_set_load(set, &lane, err);
        if (status != TXM_OK)
            return status;
        lane.random = seed;
    }
    return TXM_OK;
}

/* The place defaults to the centre. The explanation is on the heap, because the struct is large. */
static txm_status sample_place(const txm_sampled_texture *t, const txm_sample_args *args, bool named, txm_error *err)
{
    const txm_sampler how = txm_sample_args_sampler(args);
    const txm_lookup at = {txm_given_or(args->u, 0.5f),    txm_given_or(args->v, 0.5f),
                           txm_given_or(args->dudx, 0.0f), txm_given_or(args->dvdx, 0.0f),
                           txm_given_or(args->dudy, 0.0f), txm_given_or(args->dvdy, 0.0f)};
    txm_explanation *e = malloc(sizeof *e);
    float out[4];
    if (!e)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for an explanation");
    txm_status status = look_up_until_there(t->set, t->id, &how, &at, args->seed, out, e, err);
    if (status == TXM_OK && args->json) {
        if (!txm_lookup_json(t, &how, args, &at, out, e))
            status = txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for the JSON");
    } else if (status == TXM_OK) {
        if (named) {
            txm_print_path(t->name);
            fputs(": ", stdout);
        }
        txm_lookup_print_values(out);
        if (args->explain)
            txm_lookup_print_explanation(t, at, e);
    }
    free(e);
    return status;
}

/* ---- the command ---- */

typedef struct sampling {
    const txm_sample_args *args;
    const txm_inputs *inputs;
    txm_project_contexts contexts;
    bool named; /* the output names each file, since there are several */
} sampling;

static txm_status sample(void *user, txm_one_file *file, txm_error *err)
{
    const sampling *s = user;
    const txm_sample_args *args = s->args;
    file->inputs = txm_sampled_inputs(s->inputs, file->index);
    if (txm_input_udim(file->input))
        file->name = file->input->pattern;
    txm_sampled_texture t = {.name = file->name, .inputs = s->inputs, .first = file->index, .count = file->inputs};
    txm_status status = txm_sampled_open(&t, (txm_extension)args->extension, err);
    if (status == TXM_OK)
        status = txm_sampled_judge(&t, &s->contexts, err);
    if (status == TXM_OK)
        status = args->grid.w ? txm_patch_render(&t, args, err) : sample_place(&t, args, s->named, err);
    free(t.verdicts);
    txm_texture_set_free(&t.set);
    if (status == TXM_OK && args->grid.w)
        txm_say(TXM_SAY_INFO, "%s: wrote the patch, %u x %u px", args->output, args->grid.w, args->grid.h);
    return status;
}

/* A patch is a picture of a single texture. */
static int run_sample(void *p, const txm_operands *operands)
{
    txm_sample_args *args = p;
    txm_tally tally = {0};
    txm_error err = {0};
    txm_inputs *inputs = NULL;
    sampling s = {.args = args, .contexts = {.place = txm_tx_place}};
    const txm_settings settings = {.cache_dir = NULL};
    const txm_project_targets project = {NULL, &args->config, NULL, &args->jobs.threads};
    const txm_output output = {"-o", args->output, TXM_OUTPUT_PICTURE, args->overwrite};
    if (txm_sample_check(args, &err) == TXM_OK &&
        txm_tx_files_collect("sample", &args->files, operands, &inputs, &err) == TXM_OK &&
        txm_project_examine(&project, operands, inputs, &settings, &s.contexts, &err) == TXM_OK) {
        size_t count = txm_sampled_count(inputs);
        s.inputs = inputs;
        s.named = count > 1;
        if (args->grid.w && count > 1)
            txm_fail(&err, TXM_STATUS_USAGE, "--grid takes a single texture, but %zu are given", count);
        else if (!args->grid.w || txm_guard_output(&output, txm_files_path, inputs, &err) == TXM_OK)
            txm_each_file_run(&(txm_each_file){.one = sample,
                                               .user = &s,
                                               .noun = "file",
                                               .good = "sampled",
                                               .member = "file",
                                               .json = args->json,
                                               .data = true,
                                               .explain = txm_tx_explain},
                              inputs, &tally);
    }
    txm_project_contexts_free(&s.contexts);
    return txm_files_finish(&inputs, &tally, &err);
}

TXM_COMMAND(sample, txm_sample_args, .purpose = "Look up and explain a colour in a tx file, as a renderer does",
            .synopsis = "[OPTION...] TX", .operand_values = TXM_VALUES_TX_OR_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL, .defaults = txm_sample_defaults);
