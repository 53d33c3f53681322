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

/* A tile that nobody has begun when its batch is cancelled: whoever needs it asks again. */
static void give_up(txm_cache *c, const txm_job *job)
{
    pthread_mutex_lock(&c->lock);
    txm_abandon(c, job);
    pthread_mutex_unlock(&c->lock);
}

/* Reads what nobody has begun, part by part: neighbours in the file are neighbours on the disk. The scratch memory for
 * widening lives as long as the part: it counts against the budget, and threads of the pool keep nothing. */
static void run(txm_ticket *t)
{
    txm_cache *c = t->cache;
    uint8_t *unwidened = NULL;
    size_t unwidened_bytes = 0;
    for (uint32_t begin; (begin = atomic_fetch_add(&t->next, TILES_OF_A_PART)) < t->total;)
        for (uint32_t i = begin; i < t->total && i - begin < TILES_OF_A_PART; i++) {
            if (atomic_load(&t->cancelled))
                give_up(c, &t->jobs[i]);
            else
                txm_load(c, &t->jobs[i], &unwidened, &unwidened_bytes, t->pins);
            if (atomic_fetch_sub(&t->remaining, 1) == 1) {
                pthread_mutex_lock(&c->lock);
                pthread_cond_broadcast(&c->changed);
                pthread_mutex_unlock(&c->lock);
            }
        }
    if (!unwidened)
        return;
    pthread_mutex_lock(&c->lock);
    txm_cache_release(c, unwidened, unwidened_bytes);
    pthread_mutex_unlock(&c->lock);
}

/* One user less, with the lock. The last frees the list, or leaves it to the next batch: to make it anew where memory
 * is short would let tiles go that the next launch needs. */
static void leave(txm_ticket *t)
{
    txm_cache *c = t->cache;
    if (--t->users)
        return;
    if (!t->preloads && c->spare_room < t->jobs_room) {
        txm_cache_release(c, c->spare_jobs, c->spare_room * sizeof *c->spare_jobs);
        c->spare_jobs = t->jobs;
        c->spare_room = t->jobs_room;
    } else {
        txm_cache_release(c, t->jobs, t->jobs_room * sizeof *t->jobs);
    }
    free(t);
}

/* What a thread of the pool does for a batch. */
static void run_along(void *arg)
{
    txm_ticket *t = arg;
    txm_cache *c = t->cache;
    run(t);
    pthread_mutex_lock(&c->lock);
    leave(t);
    pthread_mutex_unlock(&c->lock);
}

/* Until all of it is over, reading along; with the lock, which is given up, and with a use of its own. */
static void wait_for(txm_ticket *t)
{
    txm_cache *c = t->cache;
    pthread_mutex_unlock(&c->lock);
    run(t);
    pthread_mutex_lock(&c->lock);
    while (atomic_load(&t->remaining))
        pthread_cond_wait(&c->changed, &c->lock);
}

/* For look-ups that wait for a tile which the owner of a ticket may not get round to for long. */
bool txm_help(txm_cache *c)
{
    pthread_mutex_lock(&c->lock);
    txm_ticket *t = c->ticket;
    const bool idle = t && atomic_load(&t->next) < t->total;
    if (idle) {
        t->users++;
        pthread_mutex_unlock(&c->lock);
        run(t);
        pthread_mutex_lock(&c->lock);
        leave(t);
    }
    pthread_mutex_unlock(&c->lock);
    return idle;
}

/* Threads are started for the first batch that has work for them. Where there can be none, whoever waits does it. */
static void call_threads(txm_ticket *t)
{
    txm_cache *c = t->cache;
    uint32_t parts = (t->total + TILES_OF_A_PART - 1) / TILES_OF_A_PART;
    if (c->options.threads < 2 || !parts)
        return;
    pthread_mutex_lock(&c->lock);
    if (!c->pool)
        c->pool = txm_pool_new(c->options.threads);
    if (c->pool && !c->group)
        c->group = txm_group_new(c->pool);
    for (uint32_t n = 0; c->group && n < parts && n + 1 < c->options.threads; n++) {
        t->users++;
        if (!txm_group_submit(c->group, false, run_along, t)) {
            t->users--;
            break;
        }
    }
    pthread_mutex_unlock(&c->lock);
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

/* A batch of jobs, whose array of `room` becomes its own. Tiles that are read are pinned on `pins`, which must outlive
 * the batch. NULL: no memory, and the jobs remain the caller's. */
static txm_ticket *ticket_of(txm_cache *c, txm_job *jobs, uint32_t room, uint32_t count, txm_pins *pins)
{
    txm_ticket *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (txm_ticket){.cache = c, .users = 1, .total = count, .jobs_room = room, .jobs = jobs, .pins = pins};
    atomic_init(&t->remaining, count);
    return t;
}

uint32_t txm_ticket_total(const txm_ticket *ticket)
{
    return ticket ? ticket->total : 0;
}

/* May be polled by any thread. The cast takes const away only for atomic_load, which wants a plain pointer. */
uint32_t txm_ticket_remaining(const txm_ticket *ticket)
{
    return ticket ? atomic_load(&((txm_ticket *)ticket)->remaining) : 0;
}

void txm_ticket_wait(txm_ticket **ticket)
{
    txm_ticket *t = ticket ? *ticket : NULL;
    if (!t)
        return;
    txm_cache *c = t->cache;
    pthread_mutex_lock(&c->lock);
    wait_for(t);
    leave(t);
    pthread_mutex_unlock(&c->lock);
    *ticket = NULL;
}

/* What nobody has begun is given up here, so that nobody waits for it. */
void txm_ticket_cancel(txm_ticket **ticket)
{
    txm_ticket *t = ticket ? *ticket : NULL;
    if (!t)
        return;
    txm_cache *c = t->cache;
    atomic_store(&t->cancelled, true);
    run(t);
    pthread_mutex_lock(&c->lock);
    leave(t);
    pthread_mutex_unlock(&c->lock);
    *ticket = NULL;
}

/* ---- what lanes have missed ---- */

/* Memory that the budget has for tiles; UINT64_MAX: no bound. */
static uint64_t room_for_tiles(const txm_cache *c)
{
    const uint64_t beside = c->allocated - c->stats.slab_bytes + txm_reader_share(c), most = c->options.max_bytes;
    return !most || c->options.policy == TXM_CACHE_POLICY_NONE ? UINT64_MAX : most > beside ? most - beside : 0;
}

/* Whether a batch may take one tile more: half of that, so that what look-ups have found stays beside it. */
static bool has_room(const txm_cache *c, uint32_t count, uint64_t bytes)
{
    return count < c->options.max_requests && (!count || bytes <= room_for_tiles(c) / 2);
}

/* Nobody loads it: the next look-up asks again. */
static void drop_request(txm_cache *c, const txm_job *job)
{
    c->stats.requests_dropped++;
    txm_abandon(c, job);
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

/* What is asked for: all that has room, and CHOICE times as many to choose from where not all has. Where two lists name
 * a tile, as those of two launches may, the first takes it over. Lists are emptied. */
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
                txm_cache_grow(c, (void **)jobs, room, (uint64_t)n + 1, sizeof **jobs, false)) {
                job.rank = n;
                (*jobs)[n++] = job;
            } else {
                drop_request(c, &job);
            }
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

/* One batch at a time: a second call waits until the first is planned, and for its tiles. The lock is given up while
 * files are opened, so that `processing` is needed. */
static void begin_processing(txm_cache *c)
{
    while (c->processing)
        pthread_cond_wait(&c->changed, &c->lock);
    c->processing = true;
    txm_ticket *before = c->ticket;
    if (before) {
        wait_for(before);
        c->ticket = NULL;
        leave(before);
    }
}

static void end_processing(txm_cache *c)
{
    c->processing = false;
    pthread_cond_broadcast(&c->changed);
}

/* Tiles that were asked for first come first; among those, the ones that were loaded last. */
static int by_claim(const void *a, const void *b)
{
    const txm_pin *p = a, *q = b;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    return p->stamp > q->stamp ? -1 : p->stamp < q->stamp;
}

/* Lets go of what earlier batches have pinned, except for tiles that the last launch touched: look-ups that missed again
 * may need them, and would never have all their tiles at once. Pins may hold up to half of the memory. Whoever asked
 * first comes first, so the look-up at the head of every launch's list gathers its tiles one by one until it is done and
 * the next one is at the head. This must also work in the smallest budget, so as many head tiles as one look-up can need
 * are kept even beyond that half. */
static void unpin_most(txm_cache *c)
{
    const uint32_t epoch = atomic_load(&c->epoch);
    const uint64_t most = room_for_tiles(c) / 2;
    txm_pins *pins = &c->batch_pins;
    uint64_t kept_bytes = 0;
    uint32_t kept = 0;
    if (pins->count)
        qsort(pins->items, pins->count, sizeof *pins->items, by_claim);
    for (uint32_t i = 0; i < pins->count; i++) {
        const txm_pin pin = pins->items[i];
        txm_slot *s = txm_pinned_slot(c, &pin);
        if (!s)
            continue;
        const bool touched = c->prepared_epoch && __atomic_load_n(&c->tiles[s->entry].mark, __ATOMIC_RELAXED) -
                                                          c->prepared_epoch <= epoch - c->prepared_epoch;
        const uint32_t bytes = txm_slot_bytes(c, pin.slot);
        if (touched && (kept_bytes + bytes <= most || (!pin.rank && kept < TXM_LOOKUP_TILES))) {
            kept_bytes += bytes;
            pins->items[kept++] = pin;
        } else {
            s->pins--;
        }
    }
    pins->count = kept;
}

txm_status txm_cache_process(txm_cache *c, txm_lane *const *lanes, size_t count, txm_ticket **ticket, txm_error *err)
{
    txm_error_clear(err);
    *ticket = NULL;
    pthread_mutex_lock(&c->lock);
    begin_processing(c);
    txm_job *jobs = c->spare_jobs;
    uint32_t room = c->spare_room;
    c->spare_jobs = NULL;
    c->spare_room = 0;
    txm_ticket *t = NULL;
    if (txm_cache_grow(c, (void **)&jobs, &room, 1, sizeof *jobs, false))
        t = ticket_of(c, jobs, room, 0, &c->batch_pins);
    if (!t) {
        txm_cache_release(c, jobs, room * sizeof *jobs);
        end_processing(c);
        pthread_mutex_unlock(&c->lock);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a batch of tiles");
    }
    txm_trace_launch(c);
    unpin_most(c);
    uint32_t n = collect(c, lanes, count, &t->jobs, &t->jobs_room);
    n = choose(c, t->jobs, n);
    for (uint32_t i = 0; i < n; i++)
        txm_plan_slot(c, &t->jobs[i]);
    qsort(t->jobs, n, sizeof *t->jobs, by_place);
    atomic_store(&t->remaining, n);
    t->total = n;
    if (n) {
        t->users++;
        c->ticket = t;
    }
    end_processing(c);
    pthread_mutex_unlock(&c->lock);
    call_threads(t);
    *ticket = t;
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
    txm_next_round(c);
    c->prepared = atomic_load(&c->generation);
    c->launch = (uint16_t)((c->launch + 1u) % TXM_LAUNCHES);
    *view = c->view;
    view->epoch = c->prepared_epoch = atomic_load(&c->epoch);
    view->launch = c->launch;
    view->round = (uint16_t)atomic_load(&c->round);
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

/* What is preloaded together. Some at a time, so that a large part does not pin the whole cache. */
enum { PRELOADED_TOGETHER = 1024 };
typedef struct preload {
    txm_ticket *ticket;
    uint64_t bytes, all_bytes; /* of tiles of this round; and of those before it */
    bool full, over;           /* there may be more for another round; what is left does not fit the budget */
} preload;

/* Whether a tile more fits seven eighths of what the budget has for tiles: beyond, each would evict one that was
 * preloaded before it. What this call has loaded counts whether or not it is still there, so that a call ends. */
static bool has_space(const txm_cache *c, const preload *p, uint64_t tile_bytes)
{
    const uint64_t there = c->stats.tile_bytes + p->bytes, loaded = p->all_bytes + p->bytes;
    return (there > loaded ? there : loaded) + tile_bytes <= room_for_tiles(c) / 8 * 7;
}

/* Puts the tiles of one level that are not there on the list. v counts from the bottom and rows from the top, hence
 * 1 - v. */
static void want_level(txm_cache *c, txm_source *s, uint32_t level, const txm_cache_part *part, preload *p)
{
    const txm_view_texture *v = &s->view;
    txm_ticket *t = p->ticket;
    uint32_t x0, x1, y0, y1, across = txm_view_tiles_across(v, level);
    range_of(part->u0, part->u1, txm_level_size(v->width, level), v->tile_shift, &x0, &x1);
    range_of(1.0f - part->v0, 1.0f - part->v1, txm_level_size(v->height, level), v->tile_shift, &y0, &y1);
    for (uint32_t y = y0; y <= y1; y++)
        for (uint32_t x = x0; x <= x1; x++) {
            p->over = p->over || !has_space(c, p, v->tile_bytes);
            p->full = t->total == PRELOADED_TOGETHER || !has_room(c, t->total, p->bytes + v->tile_bytes);
            if (p->over || p->full)
                return;
            if (!txm_claim(c, txm_entry_index(s, level, y * across + x)))
                continue;
            p->bytes += v->tile_bytes;
            s->loading++;
            t->jobs[t->total++] = (txm_job){.source = s, .level = level, .tile = y * across + x, .slot = TXM_NO_SLOT};
        }
}

/* Plans a number of tiles of a part, coarse levels first; with the lock. Coarse levels cost little and
 * serve as stand-ins for what did not fit. */
static txm_status want_part(txm_cache *c, uint32_t texture, const txm_cache_part *part, preload *p, txm_error *err)
{
    txm_ticket *t = p->ticket;
    if (texture >= c->stats.textures || !c->textures[texture].file)
        return txm_fail(err, TXM_STATUS_USAGE, "there is no texture %u of its own file", texture);
    txm_status status = txm_texture_open(c, texture, err);
    txm_source *s = c->textures[texture].source;
    if (status != TXM_OK || !s)
        return status;
    uint32_t last = part->last_level < s->view.levels ? part->last_level : s->view.levels - 1u;
    uint32_t first = part->first_level < last ? part->first_level : last;
    status = txm_source_register(c, s, first, err);
    for (uint32_t level = last + 1; status == TXM_OK && !p->full && !p->over && level-- > first;)
        want_level(c, s, level, part, p);
    for (uint32_t i = 0; i < t->total; i++)
        txm_plan_slot(c, &t->jobs[i]);
    atomic_store(&t->remaining, t->total);
    return status;
}

/* The next round skips what is there. */
txm_status txm_cache_preload(txm_cache *c, uint32_t texture, const txm_cache_part *given, txm_error *err)
{
    const txm_cache_part all = {0, TXM_MAX_LEVELS, 0.0f, 0.0f, 1.0f, 1.0f};
    txm_status status = TXM_OK;
    preload p = {.full = true};
    txm_error_clear(err);
    while (status == TXM_OK && p.full && !p.over) {
        txm_pins pins = {0};
        pthread_mutex_lock(&c->lock);
        txm_job *jobs = txm_cache_allocate(c, PRELOADED_TOGETHER * sizeof *jobs, _Alignof(txm_job));
        p = (preload){.ticket = jobs ? ticket_of(c, jobs, PRELOADED_TOGETHER, 0, &pins) : NULL,
                      .all_bytes = p.all_bytes + p.bytes};
        if (p.ticket) {
            p.ticket->preloads = true;
            status = want_part(c, texture, given ? given : &all, &p, err);
        } else {
            txm_cache_release(c, jobs, PRELOADED_TOGETHER * sizeof *jobs);
            status = txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a batch of tiles");
        }
        pthread_mutex_unlock(&c->lock);
        if (p.ticket)
            call_threads(p.ticket);
        txm_ticket_wait(&p.ticket);
        pthread_mutex_lock(&c->lock);
        txm_unpin(c, &pins);
        txm_cache_release(c, pins.items, pins.capacity * sizeof *pins.items);
        pthread_mutex_unlock(&c->lock);
    }
    return status;
}
