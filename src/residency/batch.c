/* SPDX-License-Identifier: Apache-2.0
 * Batches: what a launch of look-ups has missed, loaded in the order of the files by threads of the cache's own.
 *
 * In come the request lists of a wavefront's lanes; out goes a ticket that the renderer waits for while it
 * does other work. Three steps, of which only the middle one may evict: requests become jobs (txm_plan),
 * jobs get slots, threads fill the slots. All slots are taken before the first read, so that one tile of a
 * batch can never be evicted for the sake of another: tiles that are loading are not evictable. Blocking
 * look-ups share all of this but the ticket; they are in look.c. */
#include <math.h>
#include <stdlib.h>

#include "residency/residency_impl.h"

/* Long enough that a thread reads ahead in one file, and short enough that a batch from a single file still
 * keeps all threads busy. */
enum { TILES_OF_A_PART = 32, CHOICE = 8 /* times as many tiles are listed as there is room for, to choose from */ };

/* ---- running ---- */

/* Consecutive jobs of one file, for one thread. */
typedef struct stretch {
    txm_ticket *ticket;
    uint32_t begin, end;
} stretch;

/* A stretch of a file's tiles by one thread: neighbours in the file are neighbours on the disk. The scratch
 * memory for widening lives as long as the part: it counts against the budget, and threads of the pool keep
 * nothing. */
static void run_part(void *arg)
{
    stretch *p = arg;
    txm_ticket *ticket = p->ticket;
    txm_cache *c = ticket->cache;
    uint8_t *unwidened = NULL;
    size_t unwidened_bytes = 0;
    for (uint32_t i = p->begin; i < p->end; i++) {
        txm_load(c, &ticket->jobs[i], &unwidened, &unwidened_bytes, ticket->pins);
        atomic_fetch_sub(&ticket->remaining, 1);
    }
    pthread_mutex_lock(&c->lock);
    txm_cache_release(c, unwidened, unwidened_bytes);
    pthread_mutex_unlock(&c->lock);
    free(p);
}

/* The job owns its stretch and frees it; a job that was not accepted leaves it to us. */
static bool submit_part(txm_ticket *t, uint32_t begin, uint32_t end)
{
    stretch *p = malloc(sizeof *p);
    if (p) {
        *p = (stretch){t, begin, end};
        if (txm_group_submit(t->group, false, run_part, p))
            return true;
    }
    free(p);
    return false;
}

/* Without memory for a job the caller does it. A batch therefore never fails for want of memory: it is only
 * slower. */
static void run_here(txm_ticket *t, uint32_t begin, uint32_t end)
{
    uint8_t *unwidened = NULL;
    size_t unwidened_bytes = 0;
    for (uint32_t i = begin; i < end; i++) {
        txm_load(t->cache, &t->jobs[i], &unwidened, &unwidened_bytes, t->pins);
        atomic_fetch_sub(&t->remaining, 1);
    }
    pthread_mutex_lock(&t->cache->lock);
    txm_cache_release(t->cache, unwidened, unwidened_bytes);
    pthread_mutex_unlock(&t->cache->lock);
}

/* By file, level and tile: that is how they lie. Sources of one file, with different extensions, stay apart
 * but adjacent. */
static int by_place(const void *a, const void *b)
{
    const txm_job *x = a, *y = b;
    int files = strcmp(x->source->file->path, y->source->file->path);
    if (x->source != y->source && files)
        return files;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return x->tile < y->tile ? -1 : x->tile > y->tile;
}

/* Memory of a list of jobs counts in the budget. One list of what lanes have missed is kept for the next batch: to make
 * it anew where memory is short would let tiles go that the next launch needs. */
static void release_jobs(txm_cache *c, txm_job *jobs, uint32_t room, bool may_be_kept)
{
    pthread_mutex_lock(&c->lock);
    if (may_be_kept && c->spare_room < room) {
        txm_job *kept = c->spare_jobs;
        uint32_t kept_room = c->spare_room;
        c->spare_jobs = jobs;
        c->spare_room = room;
        jobs = kept;
        room = kept_room;
    }
    txm_cache_release(c, jobs, room * sizeof *jobs);
    pthread_mutex_unlock(&c->lock);
}

/* Loads jobs, whose array of `room` becomes the ticket's: in other threads, and in the one that waits. On failure
 * they remain the caller's. Tiles that this call loads are pinned on `pins`, which must outlive the ticket. */
static txm_status start(txm_cache *c, txm_job *jobs, uint32_t room, uint32_t count, txm_pins *pins, txm_ticket **out,
                        txm_error *err)
{
    txm_ticket *t = calloc(1, sizeof *t);
    if (t && !(t->group = txm_group_new(c->pool))) {
        free(t);
        t = NULL;
    }
    if (!t)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a batch of tiles");
    t->cache = c;
    t->jobs = jobs;
    t->jobs_room = room;
    t->pins = pins;
    t->total = count;
    atomic_init(&t->remaining, count);
    qsort(jobs, count, sizeof *jobs, by_place);
    for (uint32_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && end - begin < TILES_OF_A_PART && jobs[end].source == jobs[begin].source;)
            end++;
        if (!submit_part(t, begin, end))
            run_here(t, begin, end);
    }
    *out = t;
    return TXM_OK;
}

uint32_t txm_ticket_total(const txm_ticket *ticket)
{
    return ticket->total;
}

/* May be polled by any thread. The cast takes const away only for atomic_load, which wants a plain pointer. */
uint32_t txm_ticket_remaining(const txm_ticket *ticket)
{
    return atomic_load(&((txm_ticket *)ticket)->remaining);
}

/* Waits for the threads. Twice is possible: the next process may have waited before the owner of the ticket
 * does, so the group is cleared. */
static void finish(txm_ticket *t)
{
    txm_group_wait(t->group, 0);
    txm_group_free(t->group);
    t->group = NULL;
    release_jobs(t->cache, t->jobs, t->jobs_room, !t->preloads);
    t->jobs = NULL;
}

/* NULL-safe, and required: a ticket holds pins. */
void txm_ticket_wait(txm_ticket **ticket)
{
    txm_ticket *t = ticket ? *ticket : NULL;
    if (!t)
        return;
    if (t->group)
        finish(t);
    pthread_mutex_lock(&t->cache->lock);
    if (t->cache->ticket == t)
        t->cache->ticket = NULL;
    pthread_mutex_unlock(&t->cache->lock);
    free(t);
    *ticket = NULL;
}

/* ---- what lanes have missed ---- */

/* Whether a batch may take one tile more: half the budget, so that what look-ups have found stays beside it. */
static bool has_room(const txm_cache *c, uint32_t count, uint64_t bytes)
{
    return count < c->options.max_requests && (!c->options.max_bytes || c->options.policy == TXM_CACHE_POLICY_NONE ||
                                               !count || bytes <= c->options.max_bytes / 2);
}

/* Nobody loads it: the next look-up asks again. The entry goes from REQUESTED back to NONE, or nobody could
 * ever ask for the tile again. */
static void drop_request(txm_cache *c, const txm_job *job)
{
    job->source->loading--;
    c->stats.requests_dropped++;
    __atomic_store_n(&c->tiles[txm_entry_index(job->source, job->level, job->tile)].slot, TXM_SLOT_NONE,
                     __ATOMIC_RELEASE);
}

/* Depth first, in a texture's tree of tiles: a tile before those of the finer levels that lie in it. Tiles are compared
 * by where they begin, in tiles of level 0; of two places the one is first that has the lower bit where they first
 * differ, rows before columns (Morton order, without its codes). */
static int by_area(const void *a, const void *b)
{
    const txm_job *p = a, *q = b;
    if (p->source->first_texture != q->source->first_texture)
        return p->source->first_texture < q->source->first_texture ? -1 : 1;
    if (p->source != q->source)
        return p->source < q->source ? -1 : 1;
    const uint32_t p_across = txm_view_tiles_across(&p->source->view, p->level);
    const uint32_t q_across = txm_view_tiles_across(&q->source->view, q->level);
    const uint32_t px = p->tile % p_across << p->level, py = p->tile / p_across << p->level;
    const uint32_t qx = q->tile % q_across << q->level, qy = q->tile / q_across << q->level;
    const uint32_t x = px ^ qx, y = py ^ qy;
    if (y < x && y < (x ^ y)) /* the highest bit that differs is one of x */
        return px < qx ? -1 : 1;
    if (y)
        return py < qy ? -1 : 1;
    return p->level > q->level ? -1 : p->level < q->level;
}

/* What is asked for: all that has room, and CHOICE times as many to choose from where not all has. Two lanes may not
 * hold the same tile: the first to ask turned its entry to REQUESTED, and the second saw that. Lists are emptied. */
static uint32_t collect(txm_cache *c, txm_lane *const *lanes, size_t count, txm_job **jobs, uint32_t *room)
{
    uint32_t n = 0, fit = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < lanes[i]->count; k++) {
            txm_job job;
            if (!txm_plan(c, lanes[i]->requests[k], &job))
                continue;
            bytes += job.source->view.tile_bytes;
            if (fit == n && has_room(c, n, bytes))
                fit++;
            if ((n < fit || n / CHOICE < fit) &&
                txm_cache_grow(c, (void **)jobs, room, (uint64_t)n + 1, sizeof **jobs, false))
                (*jobs)[n++] = job;
            else
                drop_request(c, &job);
        }
        lanes[i]->count = 0;
    }
    return n;
}

/* What of it is loaded, if not all has room. A quarter of the room is for those that asked first, and not less than a
 * look-up may ask for, so that they get on whatever the others want. The rest is filled area by area: look-ups need
 * tiles of several levels, and tiles of a coarser one serve many. In the order of asking, few of those that share one
 * would be loaded together, and it would be loaded for each of them. */
static uint32_t choose(txm_cache *c, txm_job *jobs, uint32_t count)
{
    uint32_t n = 0;
    uint64_t bytes = 0;
    while (n < count && has_room(c, n, bytes + jobs[n].source->view.tile_bytes))
        bytes += jobs[n++].source->view.tile_bytes;
    if (n == count)
        return count;
    n = n / 4 > TXM_LOOKUP_TILES ? n / 4 : n < TXM_LOOKUP_TILES ? n : TXM_LOOKUP_TILES;
    bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        bytes += jobs[i].source->view.tile_bytes;
    qsort(jobs + n, count - n, sizeof *jobs, by_area);
    for (uint32_t i = n; i < count; i++) {
        if (has_room(c, n, bytes + jobs[i].source->view.tile_bytes)) {
            bytes += jobs[i].source->view.tile_bytes;
            jobs[n++] = jobs[i];
        } else {
            drop_request(c, &jobs[i]);
        }
    }
    return n;
}

/* One ticket at a time: a second call waits for the first. What the batch before it has pinned may go from
 * here on: the launch that asked for it has had its turn. */
txm_status txm_cache_process(txm_cache *c, txm_lane *const *lanes, size_t count, txm_ticket **ticket, txm_error *err)
{
    uint32_t n = 0;
    txm_error_clear(err);
    *ticket = NULL;
    if (c->ticket && c->ticket->group)
        finish(c->ticket);
    pthread_mutex_lock(&c->lock);
    txm_job *jobs = c->spare_jobs;
    uint32_t room = c->spare_room;
    c->spare_jobs = NULL;
    c->spare_room = 0;
    const bool listed = txm_cache_grow(c, (void **)&jobs, &room, 1, sizeof *jobs, false);
    if (listed) {
        txm_trace_launch(c);
        txm_unpin(c, &c->batch_pins);
        n = collect(c, lanes, count, &jobs, &room);
        n = choose(c, jobs, n);
        for (uint32_t i = 0; i < n; i++)
            txm_plan_slot(c, &jobs[i]);
    }
    pthread_mutex_unlock(&c->lock);
    if (!listed)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a batch of tiles");
    txm_status status = start(c, jobs, room, n, &c->batch_pins, ticket, err);
    if (status != TXM_OK) { /* one after the other, then */
        txm_ticket plain = {.cache = c, .jobs = jobs, .pins = &c->batch_pins, .total = n};
        atomic_init(&plain.remaining, n);
        run_here(&plain, 0, n);
        release_jobs(c, jobs, room, true);
        *ticket = NULL;
        txm_error_clear(err);
        return TXM_OK;
    }
    pthread_mutex_lock(&c->lock);
    c->ticket = *ticket;
    pthread_mutex_unlock(&c->lock);
    return TXM_OK;
}

/* The view is a copy of pointers and sizes; it is valid until the next process. For policies that count by
 * launch an epoch begins here. The generation is kept so that page-table blocks that this view shows are
 * not reused while a device may still hold entries of them (table.c). */
txm_status txm_cache_prepare(txm_cache *c, txm_view *view, txm_cache_extent *extent, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    txm_trace_launch(c);
    if (c->options.policy == TXM_CACHE_POLICY_LRU || c->options.policy == TXM_CACHE_POLICY_CLOCK4)
        txm_next_epoch(c);
    c->prepared = atomic_load(&c->generation);
    *view = c->view;
    view->epoch = atomic_load(&c->epoch);
    if (extent)
        *extent = (txm_cache_extent){c->stats.textures, c->tile_count, c->slab_count, c->udim_count};
    pthread_mutex_unlock(&c->lock);
    return TXM_OK;
}

float txm_cache_bias(const txm_cache *c)
{
    return c->bias;
}

/* ---- preloading ---- */

/* The range of tiles that [a, b] of a side of `size` pixels touches. Clamped to the texture, whatever its
 * extension: a part names pixels, not a place in a repeating pattern. An empty range is the one tile that
 * it lies in. */
static void range_of(float a, float b, uint32_t size, uint32_t shift, uint32_t *first, uint32_t *last)
{
    float low = fminf(fmaxf(fminf(a, b), 0.0f), 1.0f) * (float)size;
    float high = fminf(fmaxf(fmaxf(a, b), 0.0f), 1.0f) * (float)size;
    uint32_t from = (uint32_t)low, to = (uint32_t)ceilf(high);
    to = to > from ? to - 1 : from;
    *first = (from < size ? from : size - 1) >> shift;
    *last = (to < size ? to : size - 1) >> shift;
}

/* Puts the tiles of one level that are not there on a list; returns how many. v counts from the bottom and
 * rows from the top, hence 1 - v. Preloading stops at seven eighths of the budget: beyond, each tile would
 * evict one that was preloaded before it. */
static uint32_t want_level(txm_cache *c, txm_source *s, uint32_t level, const txm_cache_part *part, txm_job *jobs,
                           uint32_t most, uint64_t *bytes)
{
    const txm_view_texture *v = &s->view;
    uint32_t x0, x1, y0, y1, n = 0, across = txm_view_tiles_across(v, level);
    range_of(part->u0, part->u1, txm_level_size(v->width, level), v->tile_shift, &x0, &x1);
    range_of(1.0f - part->v0, 1.0f - part->v1, txm_level_size(v->height, level), v->tile_shift, &y0, &y1);
    for (uint32_t y = y0; y <= y1; y++)
        for (uint32_t x = x0; x <= x1 && n < most; x++) {
            uint32_t none = TXM_SLOT_NONE, entry = txm_entry_index(s, level, y * across + x);
            if (c->options.max_bytes && c->options.policy != TXM_CACHE_POLICY_NONE &&
                c->stats.tile_bytes + *bytes + v->tile_bytes > (c->options.max_bytes - txm_reader_share(c)) / 8 * 7)
                return n;
            if (!__atomic_compare_exchange_n(&c->tiles[entry].slot, &none, TXM_SLOT_REQUESTED, false, __ATOMIC_RELAXED,
                                             __ATOMIC_RELAXED))
                continue;
            *bytes += v->tile_bytes;
            s->loading++;
            jobs[n++] = (txm_job){s, level, y * across + x, TXM_NO_SLOT, NULL};
        }
    return n;
}

/* Plans a number of tiles of a part, coarse levels first; with the lock. Coarse levels cost little and
 * serve as stand-ins for what did not fit. */
static txm_status want_part(txm_cache *c, uint32_t texture, const txm_cache_part *part, txm_job *jobs, uint32_t most,
                            uint32_t *count, txm_error *err)
{
    *count = 0;
    if (texture >= c->stats.textures || !c->textures[texture].file)
        return txm_fail(err, TXM_STATUS_USAGE, "there is no texture %u of its own file", texture);
    txm_status status = txm_texture_open(c, texture, err);
    txm_source *s = c->textures[texture].source;
    if (status != TXM_OK || !s)
        return status;
    uint32_t last = part->last_level < s->view.levels ? part->last_level : s->view.levels - 1;
    uint32_t first = part->first_level < last ? part->first_level : last;
    uint64_t bytes = 0;
    status = txm_source_register(c, s, first, err);
    for (uint32_t level = last + 1; status == TXM_OK && level-- > first;)
        *count += want_level(c, s, level, part, jobs + *count, most - *count, &bytes);
    for (uint32_t i = 0; i < *count; i++)
        txm_plan_slot(c, &jobs[i]);
    return status;
}

/* Some at a time, so that a large part does not pin the whole cache. A full round means that there may be
 * more; the next one skips what is there, since those entries are no longer NONE. */
txm_status txm_cache_preload(txm_cache *c, uint32_t texture, const txm_cache_part *given, txm_error *err)
{
    enum { AT_A_TIME = 1024 };
    const txm_cache_part all = {0, TXM_MAX_LEVELS, 0.0f, 0.0f, 1.0f, 1.0f};
    txm_status status = TXM_OK;
    txm_error_clear(err);
    for (uint32_t count = AT_A_TIME; status == TXM_OK && count == AT_A_TIME;) {
        txm_ticket *ticket = NULL;
        txm_pins pins = {0};
        pthread_mutex_lock(&c->lock);
        txm_job *jobs = txm_cache_allocate(c, AT_A_TIME * sizeof *jobs, _Alignof(txm_job));
        if (jobs)
            status = want_part(c, texture, given ? given : &all, jobs, AT_A_TIME, &count, err);
        pthread_mutex_unlock(&c->lock);
        if (!jobs)
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a batch of tiles");
        txm_ticket plain = {.cache = c, .jobs = jobs, .pins = &pins, .total = count};
        atomic_init(&plain.remaining, count);
        if (start(c, jobs, AT_A_TIME, count, &pins, &ticket, NULL) == TXM_OK) {
            ticket->preloads = true;
            txm_ticket_wait(&ticket);
        } else {
            run_here(&plain, 0, count);
            release_jobs(c, jobs, AT_A_TIME, false);
        }
        pthread_mutex_lock(&c->lock);
        txm_unpin(c, &pins);
        txm_cache_release(c, pins.items, pins.capacity * sizeof *pins.items);
        pthread_mutex_unlock(&c->lock);
    }
    return status;
}
