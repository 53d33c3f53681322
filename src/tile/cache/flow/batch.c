/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches: the tiles that a launch of lookups has missed, loaded in the order of the files by the cache's own threads.
 *
 * A batch is made from the request lists of a launch's lanes, and is represented by a ticket, which the renderer waits
 * for, or polls while the next launch runs. There are three steps: requests become jobs (txm_plan), jobs get slots, and
 * threads fill the slots. Only the second step may evict. All slots are taken before the first read, and tiles that are
 * loading are not evictable, so no tile of a batch is evicted to make room for another. Batches queue up within a
 * bound, and views show a batch only when all of it is loaded. Blocking lookups use the same steps without a ticket;
 * they are in look.c.
 */
#include <math.h>
#include <stdlib.h>

#include "base/os/clock.h"
#include "tile/cache/flow/flow.h"

/* A part is long enough for a thread to read ahead in one file, and short enough for a batch from a single file to keep
 * all threads busy. If there is not room for all requested tiles, CHOICE times as many as fit are listed to choose
 * from. */
enum { TILES_OF_A_PART = 32, CHOICE = 8 };

/* ---- running ---- */

/* Drops a reference, with the lock held. The last one frees the list of jobs, or keeps it for the next batch:
 * allocating a new one while memory is short would evict tiles that the next launch needs. */
static void leave_running(txm_ticket *t)
{
    txm_cache *c = t->cache;
    if (--t->users)
        return;
    if (!t->preloads && c->queue.spare_room < t->jobs_room) {
        txm_release(&c->tiles, c->queue.spare_jobs, c->queue.spare_room * sizeof *c->queue.spare_jobs);
        c->queue.spare_jobs = t->jobs;
        c->queue.spare_room = t->jobs_room;
    } else {
        txm_release(&c->tiles, t->jobs, t->jobs_room * sizeof *t->jobs);
    }
    free(t);
}

/* Called when all tiles of a batch were read or given up: from now on views may show them. With the lock held; the
 * caller must hold a reference. */
static void end_ticket(txm_ticket *t)
{
    txm_cache *c = t->cache;
    txm_ticket **at = &c->queue.tickets;
    while (*at != t)
        at = &(*at)->next_running;
    *at = t->next_running;
    c->queue.count -= t->total;
    c->queue.bytes -= t->bytes;
    c->queue.jobs_over += t->total;
    for (uint32_t i = 0; i < t->total; i++) {
        const txm_job *job = &t->jobs[i];
        if (job->source->textures && c->viewers)
            txm_number_changed(&c->catalog, txm_number(job->source, job->level, job->tile));
        txm_job_over(c, job);
    }
    for (uint32_t i = 0; i < t->pins->count; i++)
        if (t->pins->items[i].batch == t->number && !t->pins->items[i].shown_from)
            t->pins->items[i].shown_from = c->tiles.last_view + 1 ? c->tiles.last_view + 1 : 1;
    if (t->viewer)
        t->viewer->tickets--;
    t->over = true;
    atomic_fetch_add(&c->completions, 1); /* the queue has room again */
    pthread_cond_broadcast(&c->changed);
    leave_running(t);
}

/* Whether no more jobs of a batch should be begun: it was cancelled, or its time limit has passed. One tile of each
 * batch is always read, so a limit that is too small only costs time. */
static bool is_ended(txm_ticket *t)
{
    return atomic_load(&t->cancelled) ||
           (t->deadline_seconds != INFINITY && atomic_load(&t->begun) && txm_clock_seconds() > t->deadline_seconds);
}

/* Reads jobs that were not begun, at most `parts` parts: the jobs of a part are neighbours in the file, and so on the
 * disk. */
static void run_parts(txm_ticket *t, uint32_t parts)
{
    txm_cache *c = t->cache;
    for (uint32_t begin; parts-- && (begin = atomic_fetch_add(&t->next, TILES_OF_A_PART)) < t->total;)
        for (uint32_t i = begin; i < t->total && i - begin < TILES_OF_A_PART; i++) {
            if (is_ended(t)) { /* the next lookup that needs the tile requests it again */
                pthread_mutex_lock(&c->lock);
                c->stats.requests_late += !atomic_load(&t->cancelled);
                txm_abandon(c, &t->jobs[i]);
                pthread_mutex_unlock(&c->lock);
            } else {
                atomic_fetch_add(&t->begun, 1);
                txm_load(c, &t->jobs[i], t->pins);
            }
            if (atomic_fetch_sub(&t->remaining, 1) == 1) {
                pthread_mutex_lock(&c->lock);
                end_ticket(t);
                pthread_mutex_unlock(&c->lock);
            }
        }
}

/* Runs a batch, on a thread of the pool, and drops a reference. */
static void run_along(void *arg)
{
    txm_ticket *t = arg;
    txm_cache *c = t->cache;
    run_parts(t, UINT32_MAX);
    pthread_mutex_lock(&c->lock);
    leave_running(t);
    pthread_mutex_unlock(&c->lock);
}

/* Used by lookups that wait for a tile of a batch whose owner may not load it for a long time. */
bool txm_help(txm_cache *c)
{
    pthread_mutex_lock(&c->lock);
    txm_ticket *t = c->queue.tickets;
    while (t && atomic_load(&t->next) >= t->total)
        t = t->next_running;
    if (t)
        t->users++;
    pthread_mutex_unlock(&c->lock);
    if (t)
        run_along(t);
    return t;
}

/* The threads are started for the first batch that has work for them. If they cannot be started, the thread that waits
 * for the ticket does the work. */
void txm_ticket_start(txm_ticket *t)
{
    txm_cache *c = t->cache;
    uint32_t parts = (t->total + TILES_OF_A_PART - 1) / TILES_OF_A_PART;
    if (c->options.threads < 2 || !parts)
        return;
    pthread_mutex_lock(&c->lock);
    if (!c->queue.pool)
        c->queue.pool = txm_pool_new(c->options.threads);
    if (c->queue.pool && !c->queue.group)
        c->queue.group = txm_group_new(c->queue.pool);
    for (uint32_t n = 0; c->queue.group && n < parts && n + 1 < c->options.threads; n++) {
        t->users++;
        if (!txm_group_submit(c->queue.group, false, run_along, t)) {
            t->users--;
            break;
        }
    }
    pthread_mutex_unlock(&c->lock);
}

/* Orders jobs by file, level and tile, which is their order on the disk. Sources of one file with different extensions
 * are kept apart, but adjacent. */
static int by_place(const void *a, const void *b)
{
    const txm_job *x = a, *y = b;
    int files = strcmp(txm_file_path(x->source->file), txm_file_path(y->source->file));
    if (x->source != y->source && files)
        return files;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return x->tile < y->tile ? -1 : x->tile > y->tile;
}

/* Ends a job that will not be loaded: the next lookup requests the tile again. */
static void drop_request(txm_cache *c, const txm_job *job)
{
    c->stats.requests_dropped++;
    txm_abandon(c, job);
}

txm_ticket *txm_ticket_of(txm_cache *c, txm_job *jobs, uint32_t room, txm_pins *pins)
{
    txm_ticket *t = calloc(1, sizeof *t);
    if (t)
        *t = (txm_ticket){.cache = c,
                          .users = 1,
                          .jobs_room = room,
                          .jobs = jobs,
                          .pins = pins,
                          .deadline_seconds = INFINITY,
                          .over = true};
    return t;
}

/* Threads are started later, without the lock. If open views hold the memory, jobs without a slot are left out, except
 * for the first TXM_LOOKUP_TILES, which a lookup needs to make progress. All other jobs without a slot stay in the
 * batch and fail. */
void txm_ticket_fill(txm_ticket *t, uint32_t count)
{
    txm_cache *c = t->cache;
    c->queue.last = c->queue.last + 1 ? c->queue.last + 1 : 1;
    t->number = c->queue.last;
    for (uint32_t i = 0; i < count; i++) {
        txm_job job = t->jobs[i];
        const bool stays = t->viewer && t->viewer->evicts_nothing, head = job.rank < TXM_LOOKUP_TILES;
        const txm_need need = stays ? TXM_NEED_FREE : head ? TXM_NEED_MUST : TXM_NEED_EVICTS;
        if (!txm_job_take_slot(c, &job, need) && (stays || (c->tiles.open_views && !head))) {
            drop_request(c, &job);
            continue;
        }
        job.batch = t->number;
        t->jobs[t->total++] = job;
    }
    qsort(t->jobs, t->total, sizeof *t->jobs, by_place);
    atomic_store(&t->remaining, t->total);
    if (!t->total)
        return;
    t->over = false;
    t->users++; /* the list of batches that are not over */
    txm_ticket **at = &c->queue.tickets;
    while (*at)
        at = &(*at)->next_running;
    *at = t;
    for (uint32_t i = 0; i < t->total; i++)
        t->bytes += t->jobs[i].source->view->tile_bytes;
    c->queue.count += t->total;
    c->queue.bytes += t->bytes;
    t->shown_seconds = txm_clock_seconds();
    if (t->viewer)
        t->viewer->tickets++;
}

uint32_t txm_ticket_total(const txm_ticket *ticket)
{
    return ticket ? ticket->total : 0;
}

/* Any thread may call this. The cast removes const because atomic_load takes a pointer to a non-const object. */
uint32_t txm_ticket_remaining(const txm_ticket *ticket)
{
    return ticket ? atomic_load(&((txm_ticket *)ticket)->remaining) : 0;
}

/* If the cache has no threads of its own to load with, the caller loads one part. */
bool txm_ticket_poll(txm_ticket *ticket)
{
    if (!ticket)
        return true;
    if (!ticket->cache->queue.group)
        run_parts(ticket, 1);
    pthread_mutex_lock(&ticket->cache->lock);
    const bool over = ticket->over;
    pthread_mutex_unlock(&ticket->cache->lock);
    return over;
}

/* The caller reads tiles of the batch meanwhile. A ticket without tiles waits until a job of another batch has ended:
 * repeating its launch before that would miss the same tiles. */
void txm_ticket_wait(txm_ticket **ticket)
{
    txm_ticket *t = ticket ? *ticket : NULL;
    if (!t)
        return;
    txm_cache *c = t->cache;
    run_parts(t, UINT32_MAX);
    pthread_mutex_lock(&c->lock);
    while (!t->over)
        pthread_cond_wait(&c->changed, &c->lock);
    while (t->awaits_others && c->queue.jobs_over == t->jobs_seen && c->queue.jobs) {
        pthread_mutex_unlock(&c->lock);
        const bool helped = txm_help(c);
        pthread_mutex_lock(&c->lock);
        if (helped || c->queue.jobs_over != t->jobs_seen || !c->queue.jobs)
            continue;
        c->waiting++;
        pthread_cond_wait(&c->changed, &c->lock);
        c->waiting--;
    }
    leave_running(t);
    pthread_mutex_unlock(&c->lock);
    *ticket = NULL;
}

/* Jobs that were not begun are given up here, because lookups may be waiting for them. */
void txm_ticket_cancel(txm_ticket **ticket)
{
    if (!ticket || !*ticket)
        return;
    atomic_store(&(*ticket)->cancelled, true);
    run_along(*ticket);
    *ticket = NULL;
}

/* ---- what lanes have missed ---- */

uint64_t txm_room_for_tiles(const txm_cache *c)
{
    const uint64_t beside = c->tiles.allocated - c->stats.slab_bytes + txm_reader_share(&c->catalog),
                   most = c->options.max_bytes;
    return !most || c->tiles.keeps_all ? UINT64_MAX : most > beside ? most - beside : 0;
}

/* Together with what is queued, a batch may take half of the room for tiles, so that tiles which lookups have found can
 * stay. */
bool txm_batch_has_room(const txm_cache *c, uint32_t count, uint64_t bytes)
{
    const txm_cache_options *o = &c->options;
    if (count >= o->max_requests || count + c->queue.count >= o->max_queued)
        return false;
    if (!count && !c->queue.count)
        return true;
    return bytes + c->queue.bytes <= txm_room_for_tiles(c) / 2 &&
           (!count || !o->launch_bytes || bytes <= o->launch_bytes);
}

/* Orders jobs depth first in a texture's tree of tiles: a tile comes before the tiles of finer levels that lie in it.
 * Tiles are compared by their upper left corner, in tiles of level 0, in Morton order but without computing its codes:
 * the highest bit in which the coordinates differ decides, and the rows' bit if both are equally high. */
static int by_area(const void *a, const void *b)
{
    const txm_job *p = a, *q = b;
    if (p->source->first_texture != q->source->first_texture)
        return p->source->first_texture < q->source->first_texture ? -1 : 1;
    if (p->source != q->source)
        return p->source < q->source ? -1 : 1;
    const uint32_t p_across = txm_view_tiles_across(p->source->view, p->level);
    const uint32_t q_across = txm_view_tiles_across(q->source->view, q->level);
    const uint32_t px = p->tile % p_across << p->level, py = p->tile / p_across << p->level;
    const uint32_t qx = q->tile % q_across << q->level, qy = q->tile / q_across << q->level;
    const uint32_t x = px ^ qx, y = py ^ qy;
    if (y < x && y < (x ^ y)) /* the highest bit that differs belongs to x */
        return px < qx ? -1 : 1;
    if (y)
        return py < qy ? -1 : 1;
    return p->level > q->level ? -1 : p->level < q->level;
}

/* Turns requests into jobs: as many as there is room for, or CHOICE times as many to choose from if there is not room
 * for all. Those that were kept come first. If two lists hold the same tile, as those of two launches may, the first
 * one gets it. The lists are emptied. */
static uint32_t collect_jobs(txm_ticket *t, txm_lookup_state *const *lanes, size_t count)
{
    txm_cache *c = t->cache;
    txm_cache_viewer *v = t->viewer;
    txm_lookup_state kept = {.requests = v->kept, .count = v->kept_count};
    const uint32_t capacity = v->kept_capacity;
    uint32_t n = 0, fit = 0;
    uint64_t bytes = 0;
    v->kept = NULL;
    v->kept_count = v->kept_capacity = 0;
    for (size_t i = 0; i <= count; i++) {
        txm_lookup_state *lane = i ? lanes[i - 1] : &kept;
        for (uint32_t k = 0; k < lane->count; k++) {
            txm_job job;
            if (!txm_take_request(c, lane->requests[k], &job))
                continue;
            bytes += job.source->view->tile_bytes;
            if (fit == n && txm_batch_has_room(c, n, bytes))
                fit++;
            if ((n < fit || n / CHOICE < fit) &&
                txm_array_grow(&c->tiles, (void **)&t->jobs, &t->jobs_room, (uint64_t)n + 1, sizeof *t->jobs, NULL)) {
                job.rank = n;
                t->jobs[n++] = job;
            } else {
                drop_request(c, &job);
            }
        }
        lane->count = 0;
    }
    txm_release(&c->tiles, kept.requests, capacity * sizeof *kept.requests);
    return n;
}

/* Chooses the jobs to load if there is not room for all. A quarter of the room, but at least as much as one lookup may
 * request, is for the first requests, so these lookups make progress whatever others request. The rest is filled area
 * by area: lookups need tiles of several levels, and a tile of a coarser level serves many of them. In the order of the
 * requests, few lookups that share such a tile would be served together, and it would be loaded again for each of them.
 */
static uint32_t choose_jobs(txm_ticket *t, uint32_t count)
{
    txm_cache *c = t->cache;
    txm_job *jobs = t->jobs;
    uint32_t n = 0;
    uint64_t bytes = 0;
    while (n < count && txm_batch_has_room(c, n, bytes + jobs[n].source->view->tile_bytes))
        bytes += jobs[n++].source->view->tile_bytes;
    if (n == count)
        return count;
    n = n / 4 > TXM_LOOKUP_TILES ? n / 4 : n < TXM_LOOKUP_TILES ? n : TXM_LOOKUP_TILES;
    bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        bytes += jobs[i].source->view->tile_bytes;
    qsort(jobs + n, count - n, sizeof *jobs, by_area);
    for (uint32_t i = n; i < count; i++) {
        if (txm_batch_has_room(c, n, bytes + jobs[i].source->view->tile_bytes)) {
            bytes += jobs[i].source->view->tile_bytes;
            jobs[n++] = jobs[i];
        } else {
            drop_request(c, &jobs[i]);
        }
    }
    return n;
}

/* Orders pins: tiles that were requested first come first; among equals, the tile that was loaded last. */
static int by_claim(const void *a, const void *b)
{
    const txm_pin *p = a, *q = b;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    return p->stamp > q->stamp ? -1 : p->stamp < q->stamp;
}

/* Whether the viewer has had a view that shows the tile of a pin. */
static bool was_shown(const txm_cache_viewer *v, const txm_pin *pin)
{
    return pin->shown_from && (int32_t)(v->number - pin->shown_from) >= 0;
}

/* Unpins the tiles of earlier batches, except for tiles that no view has shown yet and those that the last launch
 * touched: lookups that missed again may need them, and would otherwise never have all their tiles at once. Pins may
 * hold up to half of the memory. The first requests have priority, so the lookup at the head of a launch's list
 * collects its tiles until it is done, and then the next one is at the head. This must also work in the smallest
 * budget, so the head tiles, as many as one lookup can need, are kept even beyond that half. Frames are an exception:
 * their lookups are never repeated, so each frame would add a tile. While the budget is exceeded, frames keep none: a
 * single tile would hold the memory of all its neighbours. */
void txm_viewer_unpin(txm_cache_viewer *v)
{
    txm_cache *c = v->cache;
    const uint32_t epoch = atomic_load(&c->world.epoch);
    const bool none =
        v->never_repeats && c->options.max_bytes && c->tiles.allocated + c->tiles.beside > c->options.max_bytes;
    const uint64_t most = none ? 0 : txm_room_for_tiles(c) / 2 / c->viewer_count;
    const uint32_t head = v->never_repeats ? 0 : TXM_LOOKUP_TILES;
    txm_pins *pins = &v->pins;
    uint64_t kept_bytes = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pins->count; i++)
        kept_bytes += txm_pinned_slot(c, &pins->items[i]) && !was_shown(v, &pins->items[i])
                          ? txm_slot_bytes(&c->tiles, pins->items[i].slot)
                          : 0;
    if (pins->count)
        qsort(pins->items, pins->count, sizeof *pins->items, by_claim);
    for (uint32_t i = 0; i < pins->count; i++) {
        const txm_pin pin = pins->items[i];
        txm_slot *s = txm_pinned_slot(c, &pin);
        if (!s)
            continue;
        const uint32_t mark = __atomic_load_n(&txm_entry(&c->catalog, s->held.tile)->mark, __ATOMIC_RELAXED);
        const bool touched = v->epoch && mark - v->epoch <= epoch - v->epoch;
        const uint32_t bytes = txm_slot_bytes(&c->tiles, pin.slot);
        if (!was_shown(v, &pin))
            pins->items[kept++] = pin;
        else if (touched && (kept_bytes + bytes <= most || (!pin.rank && kept < head))) {
            kept_bytes += bytes;
            pins->items[kept++] = pin;
        } else {
            s->pins--;
        }
    }
    pins->count = kept;
}

void txm_cache_viewer_never_repeats(txm_cache_viewer *v)
{
    v->never_repeats = true;
}

/* The probability that a request of the next view is left out, in units of 2^-32, if lists were too short or would have
 * been. SPREAD leaves as many requests as the lists have room for; UNIQUE, the formula of Disney's paper, as many as
 * there were different ones on the lists, so with short lists it leaves fewer from launch to launch. */
static uint32_t rejection_of(txm_cache *c, txm_lookup_state *const *lanes, size_t count)
{
    uint64_t total = 0, unique = 0, capacity = 0, rejected = 0, full = 0;
    for (size_t i = 0; i < count; i++) {
        total += lanes[i]->asked;
        unique += lanes[i]->count;
        capacity += lanes[i]->capacity;
        rejected += lanes[i]->rejected;
        full += lanes[i]->full;
        lanes[i]->asked = lanes[i]->rejected = lanes[i]->full = 0;
    }
    c->stats.requests_made += total;
    c->stats.requests_rejected += rejected;
    c->stats.requests_full += full;
    const uint64_t wanted = c->options.reject == TXM_REJECT_UNIQUE ? unique : capacity;
    if (c->options.reject == TXM_REJECT_NONE || !(full || rejected) || !wanted || wanted >= total)
        return 0;
    return (uint32_t)((1.0 - (double)wanted / (double)total) * 4294967295.0);
}

/* Ends a view whose requests are to be loaded by the next batch. The oldest ones go if there are too many. */
void txm_cache_viewer_keep(txm_cache_viewer *v, txm_lookup_state *const *lanes, size_t count)
{
    txm_cache *c = v->cache;
    pthread_mutex_lock(&c->lock);
    v->rejection = rejection_of(c, lanes, count);
    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < lanes[i]->count; k++) {
            if (v->kept_count == c->options.max_requests)
                memmove(v->kept, v->kept + 1, --v->kept_count * sizeof *v->kept);
            if (!txm_array_grow(&c->tiles, (void **)&v->kept, &v->kept_capacity, v->kept_count + 1, sizeof *v->kept,
                                NULL))
                break;
            v->kept_from = v->kept_count ? v->kept_from : v->generation;
            v->kept[v->kept_count++] = lanes[i]->requests[k];
        }
        lanes[i]->count = 0;
    }
    txm_viewer_close(v);
    pthread_mutex_unlock(&c->lock);
}

void txm_cache_viewer_evicts(txm_cache_viewer *v, bool evicts)
{
    v->evicts_nothing = !evicts;
}

txm_status txm_cache_viewer_process(txm_cache_viewer *v, txm_lookup_state *const *lanes, size_t count,
                                    txm_ticket **ticket, txm_error *err)
{
    txm_cache *c = v->cache;
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    while (c->queue.processing) /* batches are planned one at a time, although opening files releases the lock */
        pthread_cond_wait(&c->changed, &c->lock);
    c->queue.processing = true;
    txm_job *jobs = c->queue.spare_jobs;
    uint32_t room = c->queue.spare_room;
    c->queue.spare_jobs = NULL;
    c->queue.spare_room = 0;
    const bool made = txm_array_grow(&c->tiles, (void **)&jobs, &room, 1, sizeof *jobs, NULL);
    txm_ticket *t = *ticket = made ? txm_ticket_of(c, jobs, room, &v->pins) : NULL;
    if (t) {
        t->viewer = v;
        if (c->options.launch_seconds > 0)
            t->deadline_seconds = txm_clock_seconds() + (double)c->options.launch_seconds;
        txm_trace_event(c, txm_recorder_launch);
        txm_viewer_close(v);
        txm_viewer_unpin(v);
        v->rejection = rejection_of(c, lanes, count);
        txm_ticket_fill(t, choose_jobs(t, collect_jobs(t, lanes, count)));
        t->awaits_others = !t->total && v->generation == atomic_load(&c->world.generation);
        t->jobs_seen = v->jobs_over;
        /* Makes room for all pins now: to allocate it while the next launch runs could evict tiles. */
        txm_array_grow(&c->tiles, (void **)&v->pins.items, &v->pins.capacity, (uint64_t)v->pins.count + c->queue.count,
                       sizeof *v->pins.items, NULL);
    } else {
        txm_release(&c->tiles, jobs, room * sizeof *jobs);
    }
    c->queue.processing = false;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    if (!t)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a batch of tiles");
    txm_ticket_start(t);
    return TXM_OK;
}

txm_status txm_cache_process(txm_cache *c, txm_lookup_state *const *lanes, size_t count, txm_ticket **ticket,
                             txm_error *err)
{
    txm_error_clear(err);
    *ticket = NULL;
    const txm_status status = txm_own_viewer(c, err);
    return status ? status : txm_cache_viewer_process(c->own_viewer, lanes, count, ticket, err);
}

float txm_cache_bias(const txm_cache *c)
{
    return c->world.bias;
}
