/* SPDX-License-Identifier: Apache-2.0
 *
 * Carrying out a plan: as many conversions at once as there are threads, biggest first, within a bound of memory. What
 * one conversion does on a single thread (decoding a PNG) so overlaps with the others; they share the context's pool,
 * which never runs more threads than asked for.
 */
#include "batch/batch.h"
#include "convert/memory.h"
#include "core/mem.h"

/* How far behind the biggest one a smaller file is looked for that still fits into the bound. */
enum { LOOK_AHEAD = 256 };
/* Conversions under way at once, however many threads there are: each holds a few files open. */
enum { MOST_AT_ONCE = 128 };

typedef struct running {
    txm_batch *batch;
    pthread_mutex_t lock; /* guards all below but the counter */
    size_t first;         /* before this place in the order everything was started */
    bool *started;        /* by place in the order */
    uint64_t memory_bytes;
    size_t active;
    atomic_size_t finished; /* conversions so far: what waiting threads look at */
} running;

/* ---- one conversion --------------------------------------------------------------------------------------------- */

typedef struct rows_user {
    txm_batch *batch;
    size_t index;
} rows_user;

static void on_rows(void *user, uint32_t rows_done, uint32_t rows)
{
    const rows_user *u = user;
    const txm_batch_events *e = &u->batch->options.events;
    if (e->rows)
        e->rows(e->user, u->index, rows_done, rows);
}

static void tell_begin(txm_batch *b, size_t index)
{
    const txm_batch_file file = {
        .index = index, .input = txm_inputs_at(b->inputs, index), .cost = b->items[index].cost};
    pthread_mutex_lock(&b->events_lock);
    if (b->options.events.begin)
        b->options.events.begin(b->options.events.user, &file);
    pthread_mutex_unlock(&b->events_lock);
}

static void convert(txm_batch *b, size_t index)
{
    rows_user user = {b, index};
    const txm_settings settings = txm_batch_settings_of(b, index);
    const txm_convert_options options = {.output = txm_batch_output_of(b, index),
                                         .force = b->options.force,
                                         .stages = b->options.stages,
                                         .progress = on_rows,
                                         .progress_user = &user};
    txm_result result = {0};
    txm_error err = {0};
    tell_begin(b, index);
    txm_status status =
        txm_convert(b->items[index].context, txm_inputs_at(b->inputs, index)->path, &settings, &options, &result, &err);
    txm_batch_tell(b, index, status == TXM_OK ? &result : NULL, &err);
    txm_result_clear(&result);
}

/* ---- taking turns ----------------------------------------------------------------------------------------------- */

static bool fits(const running *r, const txm_item *item)
{
    uint64_t bound = r->batch->options.max_memory_bytes, taken = TXM_PROCESS_BYTES + r->memory_bytes;
    /* A file that is too big for the bound by this estimate runs alone: the converter adapts, or refuses it. */
    return !bound || !r->active || (taken <= bound && item->cost.memory_bytes <= bound - taken);
}

/* Takes the biggest file that fits. Lock held. False when nothing can be taken: *left tells whether files remain. */
static bool take(running *r, size_t *index, bool *left)
{
    const txm_batch *b = r->batch;
    while (r->first < b->order_count && r->started[r->first])
        r->first++;
    *left = r->first < b->order_count && txm_batch_may_start(b);
    for (size_t i = r->first; *left && i < b->order_count && i - r->first < LOOK_AHEAD; i++) {
        const txm_item *item = &b->items[b->order[i]];
        if (r->started[i] || !fits(r, item))
            continue;
        r->started[i] = true;
        r->active++;
        r->memory_bytes += item->cost.memory_bytes;
        *index = b->order[i];
        return true;
    }
    return false;
}

typedef struct finish_wait {
    running *r;
    size_t seen;
} finish_wait;

static bool another_finished(void *arg)
{
    const finish_wait *w = arg;
    return atomic_load(&w->r->finished) != w->seen;
}

/* One a thread: converts one file after the other. A thread that must wait for memory works on the others' bands. */
static void work(void *arg)
{
    running *r = arg;
    for (;;) {
        size_t index = 0;
        bool left = false;
        finish_wait wait = {r, atomic_load(&r->finished)};
        pthread_mutex_lock(&r->lock);
        bool taken = take(r, &index, &left);
        pthread_mutex_unlock(&r->lock);
        if (!taken && !left)
            return;
        if (!taken) {
            txm_pool_wait_until(txm_context_pool(r->batch->context), another_finished, &wait);
            continue;
        }
        convert(r->batch, index);
        pthread_mutex_lock(&r->lock);
        r->active--;
        r->memory_bytes -= r->batch->items[index].cost.memory_bytes;
        pthread_mutex_unlock(&r->lock);
        atomic_fetch_add(&r->finished, 1);
    }
}

txm_status txm_batch_run(txm_batch *batch, txm_error *err)
{
    if (batch->options.dry_run || !batch->order_count)
        return TXM_OK;
    txm_pool *pool = txm_context_pool(batch->context);
    running r = {.batch = batch, .started = txm_calloc(batch->order_count, sizeof *r.started)};
    txm_group *group = r.started ? txm_group_new_outer(pool) : NULL;
    unsigned threads = txm_pool_threads(pool), most = threads < MOST_AT_ONCE ? threads : MOST_AT_ONCE, workers = 0;
    pthread_mutex_init(&r.lock, NULL);
    while (group && workers < most && txm_group_submit(group, false, work, &r))
        workers++;
    txm_group_free(group);
    pthread_mutex_destroy(&r.lock);
    free(r.started);
    if (!workers)
        return txm_fail(err, TXM_NO_MEMORY, "out of memory");
    return txm_batch_cancelled(batch) ? txm_fail(err, TXM_CANCELLED, "stopped on request") : TXM_OK;
}
