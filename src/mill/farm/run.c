/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs as many conversions at once as there are threads, biggest first, within the bound of memory, and others while
 * these wait for a device. Steps of a conversion that run on one thread (such as decoding a PNG) overlap with other
 * conversions; all share the context's pool, of which never more threads compute than configured.
 *
 * A thread takes the next item that fits into the remaining memory, claims its tx file, converts, publishes and reports
 * it. An item that another process has claimed is tried again later, until that process has finished or died. fail_fast
 * and cancellation are checked before each item.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/clock.h"
#include "mill/convert/hooks.h"
#include "mill/convert/memory.h"
#include "mill/farm/batch.h"
#include "mill/farm/store.h"

/* If the biggest file does not fit into the remaining memory, a smaller one is searched for at this many places after
 * it. */
enum { LOOK_AHEAD = 256 };
/* The most conversions at once, however many threads there are, because each holds a few files open. */
enum { MOST_AT_ONCE = 128 };

/* A file that another process is making is tried again, first after a moment and then less often, but not forever: that
 * process may hang in a read that never returns, and still renew its claim. */
#define FIRST_RETRY_SECONDS 0.02
#define LAST_RETRY_SECONDS 1.0
#define PATIENCE_SECONDS 3600.0

/* The state of a place in the order. */
typedef struct turn {
    bool started;
    float retry;               /* seconds until the next try; 0: not tried yet */
    double locked, not_before; /* since when another process has it, and when to try again; monotonic clock */
} turn;

typedef struct running {
    txm_batch *batch;
    txm_group *group;
    pthread_mutex_t lock; /* guards all members below except the counter */
    size_t first;         /* everything before this place in the order was started */
    turn *turns;
    uint64_t memory_bytes;
    size_t active;
    atomic_size_t finished; /* number of finished conversions, which waiting threads watch */
} running;

typedef struct conversion {
    txm_batch *batch;
    size_t index;
    txm_claim *claim; /* NULL unless it is held */
    char *object;     /* path in the store */
} conversion;

/* Called on any thread, as the callback must allow. */
static void on_rows(void *user, uint32_t rows_done, uint32_t rows)
{
    const conversion *u = user;
    const txm_batch_events *e = &u->batch->events;
    if (e->rows)
        e->rows(e->user, u->index, rows_done, rows);
}

/* A hook of the conversion: the converter itself handles neither claims nor stores. */
static txm_status acquire(void *user, const char *target, txm_error *err)
{
    conversion *c = user;
    return txm_claims_take(c->batch->claims, target, &c->claim, err);
}

static void release(void *user)
{
    conversion *c = user;
    txm_claims_drop(c->batch->claims, &c->claim);
}

static bool fetch(void *user, const txm_making *making, txm_result *result)
{
    conversion *c = user;
    if (making->fresh)
        return txm_batch_copy(c->batch, making, result);
    return c->batch->options.store && txm_batch_fetch(c->batch, making, result, &c->object);
}

static void keep_in_store(void *user, const txm_making *making)
{
    const conversion *c = user;
    txm_batch_keep(c->batch, making, c->object);
}

/* Converts one input and reports it; returns false if another process is making its file, which is reported only with
 * `last_try`. */
static bool convert(txm_batch *b, size_t index, bool last_try)
{
    conversion c = {.batch = b, .index = index};
    const txm_settings settings = txm_batch_settings_of(b, index);
    const txm_convert_options options = {.struct_size = sizeof(txm_convert_options),
                                         .output = txm_batch_output_of(b, index),
                                         .force = b->options.force || b->items[index].remake,
                                         .copies = b->options.copies,
                                         .stages = b->options.stages,
                                         .progress = on_rows,
                                         .progress_user = &c};
    const txm_convert_hooks hooks = {
        .user = &c, .acquire = b->claims ? acquire : NULL, .fetch = fetch, .keep = keep_in_store, .release = release};
    txm_result result = {0};
    txm_error err = {0};
    const txm_item *item = &b->items[index];
    const char *path = txm_inputs_at(b->inputs, index)->path;
    const txm_batch_file begun = {.index = index, .input = txm_inputs_at(b->inputs, index), .cost = item->cost};
    pthread_mutex_lock(&b->events_lock);
    if (b->events.begin)
        b->events.begin(b->events.user, &begun);
    pthread_mutex_unlock(&b->events_lock);
    txm_status status = txm_convert_hooked(item->context, path, &settings, &options, &hooks, &result, &err);
    free(c.object);
    if (status != TXM_OK)
        txm_damaged_remember(path, item->source_bytes, item->image_time, &err);
    else if (result.outcome == TXM_OUTCOME_CREATED)
        txm_damaged_forget(path);
    if (status == TXM_STATUS_NOT_FOUND && access(path, F_OK) != 0) {
        /* A file that existed when the plan was made may not be gone for good: somebody may be replacing it, or a share
         * was unmounted. So the failure is one that a retry may cure. */
        status = err.status = TXM_STATUS_CHANGED;
        txm_error_drop_advice(&err);
        txm_error_advise(&err, "it existed a moment ago: it was removed, or its folder is no longer mounted");
    }
    if (status == TXM_STATUS_LOCKED && !last_try)
        return false;
    txm_batch_tell(b, index, status == TXM_OK ? &result : NULL, &err);
    txm_result_clear(&result);
    return true;
}

/* The estimate without what the process takes only once. */
static uint64_t more_bytes(const txm_item *item)
{
    return item->cost.memory_bytes - TXM_PROCESS_BYTES;
}

typedef enum taken {
    TAKEN,     /* took a place in the order */
    NO_ROOM,   /* memory must be released first */
    NOT_YET,   /* other processes are making all that is left */
    NONE_LEFT, /* nothing is left, or nothing may be started any more */
} taken;

static taken take_biggest(running *r, size_t *place, double *wait_s)
{
    const txm_batch *b = r->batch;
    bool full = false;
    double now = txm_clock_seconds(), next = now + LAST_RETRY_SECONDS;
    while (r->first < b->order_count && r->turns[r->first].started)
        r->first++;
    if (r->first == b->order_count || !txm_batch_may_start(b))
        return NONE_LEFT;
    for (size_t i = r->first; i < b->order_count && i - r->first < LOOK_AHEAD; i++) {
        turn *t = &r->turns[i];
        if (t->started)
            continue;
        if (t->not_before > now) {
            next = t->not_before < next ? t->not_before : next;
            continue;
        }
        const txm_item *item = &b->items[b->order[i]];
        const uint64_t bound = b->options.max_memory_bytes, used = TXM_PROCESS_BYTES + r->memory_bytes;
        /* A file whose estimate alone exceeds the bound runs alone: the converter adapts, or refuses it. */
        if (bound && r->active && (used > bound || more_bytes(item) > bound - used)) {
            full = true;
            continue;
        }
        t->started = true;
        r->active++;
        r->memory_bytes += more_bytes(item);
        *place = i;
        return TAKEN;
    }
    *wait_s = next - now;
    return full ? NO_ROOM : NOT_YET;
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

/* Converts a file and queues itself for the next one, so that files that were begun go first. A thread that waits for
 * memory works on the bands of other conversions. */
static void convert_inputs(void *arg)
{
    running *r = arg;
    for (;;) {
        size_t place = 0;
        double wait_s = 0;
        finish_wait wait = {r, atomic_load(&r->finished)};
        pthread_mutex_lock(&r->lock);
        taken what = take_biggest(r, &place, &wait_s);
        pthread_mutex_unlock(&r->lock);
        if (what == NONE_LEFT)
            return;
        if (what == NO_ROOM)
            txm_pool_wait_until(txm_context_pool(r->batch->context), another_finished, &wait);
        if (what == NOT_YET) {
            /* Sleeps are short, so that a request to stop takes effect at once. */
            long ns = (long)((wait_s < FIRST_RETRY_SECONDS ? wait_s : FIRST_RETRY_SECONDS) * 1e9);
            nanosleep(&(struct timespec){0, ns > 0 ? ns : 1}, NULL);
        }
        if (what != TAKEN)
            continue;
        turn *t = &r->turns[place];
        bool done = convert(r->batch, r->batch->order[place],
                            t->retry > 0 && txm_clock_seconds() - t->locked > PATIENCE_SECONDS);
        pthread_mutex_lock(&r->lock);
        r->active--;
        r->memory_bytes -= more_bytes(&r->batch->items[r->batch->order[place]]);
        if (!done) { /* the turn is returned, and tried again later */
            const double now = txm_clock_seconds();
            if (t->retry <= 0)
                t->locked = now;
            t->retry = t->retry > 0 ? t->retry * 2 : (float)FIRST_RETRY_SECONDS;
            if (t->retry > (float)LAST_RETRY_SECONDS)
                t->retry = (float)LAST_RETRY_SECONDS;
            t->not_before = now + (double)t->retry;
            t->started = false;
            if (place < r->first)
                r->first = place;
        }
        pthread_mutex_unlock(&r->lock);
        atomic_fetch_add(&r->finished, 1);
        if (txm_group_submit(r->group, false, convert_inputs, r))
            return;
    }
}

txm_status txm_batch_run(txm_batch *batch, txm_error *err)
{
    txm_error_clear(err);
    if (batch->options.dry_run || !batch->order_count)
        return TXM_OK;
    if (!batch->options.no_claims && !(batch->claims = txm_claims_new(NULL)))
        return txm_fail_errno(err, errno, "cannot start the thread that renews claims (not needed with --no-claims)");
    txm_pool *pool = txm_context_pool(batch->context);
    running r = {.batch = batch, .turns = txm_calloc(batch->order_count, sizeof *r.turns)};
    r.group = r.turns ? txm_group_new_outer(pool) : NULL;
    const size_t at_once = txm_context_expect(batch->context, batch->order_count);
    size_t workers = 0;
    pthread_mutex_init(&r.lock, NULL);
    while (r.group && workers < at_once && workers < MOST_AT_ONCE &&
           txm_group_submit(r.group, false, convert_inputs, &r))
        workers++;
    txm_group_free(r.group);
    (void)txm_context_expect(batch->context, 0);
    pthread_mutex_destroy(&r.lock);
    free(r.turns);
    txm_claims_free(&batch->claims);
    if (!workers)
        return txm_no_memory(err, NULL);
    return txm_batch_cancelled(batch) ? txm_fail(err, TXM_STATUS_CANCELLED, "stopped on request") : TXM_OK;
}
