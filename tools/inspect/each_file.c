/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop of commands that treat one input after the other.
 *
 * In: inputs, and a function for one of them. Out: counts for the exit code, messages and objects of failures, and the
 * summary of text output.
 */
#include "tools/inspect/each_file.h"

#include <pthread.h>

#include "tools/output/json.h"
#include "tools/output/say.h"
#include "tools/output/summary.h"

typedef struct walk {
    const txm_each_file *how;
    const txm_inputs *inputs;
    pthread_mutex_t lock; /* protects the rest */
    txm_tally *tally;
    txm_summary summary;
    size_t done;
    bool stopped;
} walk;

static size_t treat(walk *w, size_t index)
{
    const txm_each_file *how = w->how;
    const txm_input *input = txm_inputs_at(w->inputs, index);
    txm_one_file file = {.input = input, .index = index, .name = input->path, .word = how->good, .inputs = 1};
    txm_error err = {0};
    const txm_status status = how->one(how->user, &file, &err);
    pthread_mutex_lock(&w->lock);
    w->done++;
    const bool stops = how->stops && status == TXM_STATUS_CANCELLED;
    w->stopped |= stops;
    if (stops || file.skipped) {
        pthread_mutex_unlock(&w->lock);
        return file.inputs;
    }
    txm_tally_add(w->tally, status);
    w->tally->findings |= file.findings;
    if (how->noun)
        txm_summary_add(&w->summary, status ? "failed" : file.word);
    if (status) {
        /* Only now, because the kind of failure that was counted decides about the advice at the end. */
        if (how->explain)
            how->explain(input->path, &err);
        txm_say(TXM_SAY_ERROR, "%s", err.message);
        cJSON *o = how->json ? txm_json_result() : NULL;
        if (o && how->member)
            txm_json_text(o, how->member, file.name);
        if (o && how->describe)
            how->describe(how->user, &file, o);
        if (o) {
            txm_json_error(o, &err);
            txm_json_emit(o);
        }
    }
    if (how->in_context && how->doing)
        txm_say_file_progress(how->doing, w->done, txm_inputs_count(w->inputs), how->quiet);
    pthread_mutex_unlock(&w->lock);
    return file.inputs;
}

static void treat_in_pool(void *user, size_t index)
{
    if (!txm_signal_caught())
        treat(user, index);
}

void txm_each_file_run(const txm_each_file *how, const txm_inputs *inputs, txm_tally *tally)
{
    walk w = {how, inputs, PTHREAD_MUTEX_INITIALIZER, tally, {.words = {how->good}}, 0, false};
    const size_t count = txm_inputs_count(inputs);
    for (size_t i = 0; !how->in_context && i < count && !w.stopped && !txm_signal_caught();) {
        if (how->doing)
            txm_say_file_progress(how->doing, i, count, how->quiet || how->data);
        i += treat(&w, i);
    }
    if (how->in_context) {
        txm_say_file_progress(how->doing, 0, count, how->quiet);
        txm_context_run(how->in_context, count, treat_in_pool, &w);
    }
    if (!how->noun || how->json || how->quiet || w.summary.total < 2)
        return;
    if (how->data)
        txm_summary_say(&w.summary, how->noun);
    else
        txm_summary_print(&w.summary, how->noun);
}
