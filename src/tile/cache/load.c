/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns requests into tiles in memory.
 *
 * A request is the number of a tile whose entry a lookup has changed from NONE to REQUESTED. txm_plan finds out
 * what it requires (opening a texture, registering a level, reading a tile), and makes the entry of a tile LOADING;
 * txm_plan_slot finds memory; txm_load reads without the lock, and publishes the tile with it. In every case the entry
 * leaves LOADING again, with a slot, a failure, which samplers show as magenta, or NONE. An entry that stayed LOADING
 * would block every thread that waits for the tile forever.
 */
#include <math.h>

#include "base/os/clock.h"
#include "tile/cache/cache_impl.h"

/* Called with the lock held. The count changes even if no thread waits, because one may have read it and be about to
 * wait. */
void txm_notify(txm_cache *c)
{
    atomic_fetch_add(&c->completions, 1);
    if (c->waiting)
        pthread_cond_broadcast(&c->changed);
}

/* Waits until any tile was completed since `seen` was read. It may be any tile: the lookup is repeated, and waits again
 * if it still misses one. */
void txm_wait_for_others(txm_cache *c, uint64_t seen)
{
    while (atomic_load(&c->completions) == seen && txm_help(c))
        ;
    pthread_mutex_lock(&c->lock);
    c->stats.waits++;
    c->waiting++;
    while (atomic_load(&c->completions) == seen)
        pthread_cond_wait(&c->changed, &c->lock);
    c->waiting--;
    pthread_mutex_unlock(&c->lock);
}

/* ---- pins ---- */

/* Keeps a tile until the lookup that needs it has used it. Without memory for the list the tile is published unpinned:
 * it may be evicted before its use, and read twice. */
static bool pin(txm_cache *c, txm_pins *pins, uint32_t slot, const txm_job *job)
{
    if (!txm_cache_grow(c, (void **)&pins->items, &pins->capacity, (uint64_t)pins->count + 1, sizeof *pins->items,
                        false))
        return false;
    pins->items[pins->count++] = (txm_pin){slot, txm_slot_at(c, slot)->stamp, job->rank, job->batch, 0};
    return true;
}

/* The stamp shows whether the slot still holds the tile that was pinned. When a texture is replaced, its pinned tiles
 * are evicted; if their slots hold other tiles now, these must not be unpinned. The slab's number may even belong to a
 * slab of another class by now, with fewer slots. */
txm_slot *txm_pinned_slot(txm_cache *c, const txm_pin *pin)
{
    const txm_slab *slab = &c->store.slabs[pin->slot >> TXM_SLOT_BITS];
    const uint32_t place = pin->slot & (TXM_SLOTS - 1);
    txm_slot *s = place < slab->slots ? &slab->slot[place] : NULL;
    return s && s->state == TXM_SLOT_STATE_HELD && s->stamp == pin->stamp && s->pins ? s : NULL;
}

void txm_unpin(txm_cache *c, txm_pins *pins)
{
    for (uint32_t i = 0; i < pins->count; i++) {
        txm_slot *s = txm_pinned_slot(c, &pins->items[i]);
        if (s)
            s->pins--;
    }
    pins->count = 0;
}

/* ---- planning ---- */

void txm_load_failure_note(txm_cache *c, txm_load_failure **trouble, const txm_error *cause)
{
    if (!*trouble) {
        *trouble = txm_cache_allocate(c, sizeof **trouble, _Alignof(txm_load_failure));
        if (!*trouble)
            return;
        **trouble = (txm_load_failure){.status = cause->status};
    }
    (*trouble)->failures++;
    if (!(*trouble)->message)
        (*trouble)->message = txm_cache_strdup(c, cause->message);
}

void txm_load_failure_free(txm_cache *c, txm_load_failure **trouble)
{
    if (!*trouble)
        return;
    txm_cache_free_string(c, &(*trouble)->message);
    txm_cache_release(c, *trouble, sizeof **trouble);
    *trouble = NULL;
}

static void note_failure(txm_cache *c, txm_source *s, const txm_error *cause)
{
    c->stats.tiles_failed++;
    txm_load_failure_note(c, &s->trouble, cause);
}

/* These are lack of memory or descriptors, and errors of disks and servers that may end. */
bool txm_failure_passes(const txm_error *err)
{
    return err->status != TXM_STATUS_CHANGED &&
           (txm_status_retryable(err->status) || err->status == TXM_STATUS_NOT_FOUND ||
            err->status == TXM_STATUS_DENIED);
}

/* A failure after a second without any is treated as a single one. */
uint32_t txm_failed_slot(txm_cache *c, const txm_error *err, double seconds)
{
    if (!txm_failure_passes(err))
        return TXM_SLOT_FAILED;
    const double now = txm_clock_seconds(), due = atomic_load(&c->retry_seconds);
    if (due != INFINITY)
        atomic_store(&c->retry_seconds, (due > now ? due : now) + seconds);
    else
        atomic_store(&c->retry_seconds, now - c->failed_seconds > 1 ? now : now + seconds);
    c->failed_seconds = now;
    return TXM_SLOT_UNREADABLE + (uint16_t)atomic_load(&c->round);
}

bool txm_next_round(txm_cache *c)
{
    if (txm_clock_seconds() < atomic_load(&c->retry_seconds))
        return false;
    atomic_store(&c->retry_seconds, INFINITY);
    atomic_fetch_add(&c->round, 1);
    txm_slow_down(c);
    return true;
}

/* The clock is not read unless something has failed. */
bool txm_retry(txm_cache *c)
{
    const double due = atomic_load_explicit(&c->retry_seconds, memory_order_relaxed);
    if (due == INFINITY || txm_clock_seconds() < due)
        return false;
    pthread_mutex_lock(&c->lock);
    txm_next_round(c);
    pthread_mutex_unlock(&c->lock);
    return true;
}

/* Marks a whole level as failed if there is no memory for its entries. The failure is written to the level's own entry,
 * where lookups of all its tiles find it. */
static void fail_level(txm_cache *c, txm_source *s, uint32_t level, const txm_error *cause, double seconds)
{
    txm_entry_set(c, s->first + level, txm_failed_slot(c, cause, seconds));
    note_failure(c, s, cause);
}

txm_job txm_job_of(txm_cache *c, txm_source *s, uint32_t level, uint32_t tile)
{
    const uint32_t slot = txm_staged_take(c, txm_number(s, level, tile));
    s->loading++;
    c->queue.jobs++;
    return (txm_job){.source = s,
                     .level = (uint8_t)level,
                     .tile = tile,
                     .slot = slot,
                     .version = s->version,
                     .restored = slot != TXM_NO_SLOT};
}

/* The leaf of a tile gets entries here. If there is no memory for them, all tiles of the leaf fail. `number` may be in
 * a block that its source has left since the request was made, or belong to a level whose tiles have other numbers now;
 * the block still identifies the tile. Opening a texture or registering a level produces no job: the lookup is repeated
 * and then requests tiles. Requests of a source without textures, which was replaced, are ignored. */
bool txm_plan(txm_cache *c, uint32_t number, txm_job *job)
{
    txm_error err = {0};
    const txm_block *b = txm_block_of(c, number);
    if (!b)
        return false;
    if (!b->source) {
        if (b->texture != TXM_NO_TEXTURE)
            txm_texture_open(c, b->texture, NULL);
        return false;
    }
    txm_source *s = b->source;
    uint32_t level, tile;
    txm_block_locate(b, number, &level, &tile);
    if (!s->textures)
        return false;
    if (tile == TXM_WHOLE_LEVEL) {
        const double begin = txm_clock_seconds();
        if (txm_source_register(c, s, level, &err) != TXM_OK)
            fail_level(c, s, level, &err, txm_clock_seconds() - begin);
        return false;
    }
    number = txm_number(s, level, tile);
    if (!txm_entry_make(c, number)) {
        txm_fail(&err, TXM_STATUS_NO_MEMORY, "%s: no memory for the page table", s->file->path);
        txm_leaf_fail(c, number, txm_failed_slot(c, &err, 0));
        note_failure(c, s, &err);
        return false;
    }
    if (!txm_claim(c, number))
        return false;
    c->stats.tile_requests++;
    *job = txm_job_of(c, s, level, tile);
    return true;
}

/* Called with the lock held; may evict tiles. A job without a slot is passed to txm_load too, which publishes the
 * failure. */
bool txm_plan_slot(txm_cache *c, txm_job *job, bool must)
{
    if (!job->restored)
        job->slot = txm_slot_take(c, job->source->view->tile_bytes, must);
    job->pixels = job->slot == TXM_NO_SLOT ? NULL : txm_slot_pixels(c, job->slot);
    return job->pixels;
}

/* ---- tiles of one colour ---- */

/* Compares the border too, because filters read it. Tiles at the right and lower edges are compared only as far as they
 * have pixels. The first row is compared with itself shifted by a pixel, and the others with the first: most tiles with
 * several colours differ in the first few bytes. Packed textures are not examined, because they are small. */
static bool is_constant(const txm_view_texture *v, uint32_t level, uint32_t tile, const uint8_t *pixels)
{
    if (txm_view_is_packed(v))
        return false;
    uint32_t across = txm_view_tiles_across(v, level), edge = 1u << v->tile_shift;
    uint32_t left_w = txm_level_size(v->width, level) - tile % across * edge;
    uint32_t left_h = txm_level_size(v->height, level) - tile / across * edge;
    uint32_t w = (left_w < edge ? left_w : edge) + 2 * TXM_BORDER_PX,
             h = (left_h < edge ? left_h : edge) + 2 * TXM_BORDER_PX;
    size_t row = (size_t)w * v->pixel_bytes;
    if (memcmp(pixels, pixels + v->pixel_bytes, row - v->pixel_bytes) != 0)
        return false;
    for (uint32_t y = 1; y < h; y++)
        if (memcmp(pixels, pixels + (size_t)y * v->row_bytes, row) != 0)
            return false;
    return true;
}

/* Searches the list, which is short, because few colours fill whole tiles. Only bytes and sizes are compared, so a slot
 * may serve textures of different types whose bytes happen to be equal. */
static txm_constant *find_constant(txm_cache *c, const txm_view_texture *v, const uint8_t *pixel)
{
    for (uint32_t i = 0; i < c->store.constant_count; i++)
        if (c->store.constants[i].tile_bytes == v->tile_bytes && c->store.constants[i].pixel_bytes == v->pixel_bytes &&
            memcmp(c->store.constants[i].pixel, pixel, v->pixel_bytes) == 0)
            return &c->store.constants[i];
    return NULL;
}

/* Returns the slot that all tiles of this colour share. If there is none yet and one more may be kept, `slot` becomes
 * the shared one. It is filled to its last byte, because it may later serve tiles that are not cut at the edge. When
 * the list is full, the tile keeps its slot as an ordinary tile. */
static uint32_t share(txm_cache *c, const txm_view_texture *v, uint32_t slot)
{
    uint8_t *pixels = txm_slot_pixels(c, slot);
    txm_constant *known = find_constant(c, v, pixels);
    if (known) {
        txm_slot_give(c, slot);
        c->stats.tiles_coalesced++;
        return known->slot;
    }
    if (c->store.constant_count == c->store.constants_most)
        return slot;
    for (size_t at = v->pixel_bytes; at < v->tile_bytes; at += v->pixel_bytes)
        memcpy(pixels + at, pixels, v->pixel_bytes);
    known = &c->store.constants[c->store.constant_count++];
    *known = (txm_constant){.tile_bytes = v->tile_bytes, .pixel_bytes = v->pixel_bytes, .slot = slot};
    memcpy(known->pixel, pixels, v->pixel_bytes);
    *txm_slot_at(c, slot) = (txm_slot){.state = TXM_SLOT_STATE_SHARED, .stamp = txm_slot_at(c, slot)->stamp};
    return slot;
}

/* ---- publishing ---- */

/* A mark other than 0 means that the tile was loaded before. Marks survive eviction, so reloads are counted without a
 * list of all tiles that were ever loaded. */
static void count_load(txm_cache *c, const txm_job *job)
{
    txm_source *s = job->source;
    const txm_tile_entry *e = txm_entry(c, txm_number(s, job->level, job->tile));
    bool again = __atomic_load_n(&e->mark, __ATOMIC_RELAXED) != 0;
    s->loads += s->loads < UINT32_MAX;
    if (!txm_view_is_packed(s->view))
        txm_level_loads(s)[job->level]++;
    c->stats.tiles_loaded++;
    c->stats.loaded_bytes += s->view->tile_bytes;
    c->stats.working_set_bytes += again ? 0 : s->view->tile_bytes;
    if (again) {
        s->reloads += s->reloads < UINT32_MAX;
        c->stats.tiles_reloaded++;
        c->stats.reloaded_bytes += s->view->tile_bytes;
    }
}

/* Makes a tile visible to lookups. The order at the end matters: slot and mark must be complete before the entry refers
 * to the slot. */
static void publish(txm_cache *c, const txm_job *job, bool constant, txm_pins *pins)
{
    txm_source *s = job->source;
    uint32_t number = txm_number(s, job->level, job->tile), slot = job->slot;
    if (job->restored)
        c->stats.tiles_restored++;
    else
        count_load(c, job);
    if (constant) {
        txm_trace_constant(c, s, job->level, job->tile, job->pixels);
        slot = share(c, s->view, slot);
    }
    txm_slot *held = txm_slot_at(c, slot);
    if (held->state == TXM_SLOT_STATE_SHARED) {
        held->entry++;
    } else {
        bool pinned = pin(c, pins, slot, job); /* may evict HELD tiles to make room for the list */
        held->entry = number;
        held->state = TXM_SLOT_STATE_HELD;
        held->pins = pinned;
    }
    __atomic_store_n(&txm_entry(c, number)->mark, atomic_load_explicit(&c->epoch, memory_order_relaxed),
                     __ATOMIC_RELAXED);
    txm_entry_set(c, number, slot);
    /* For the order of last use, epochs must be much shorter than the time that a tile stays, and shorter than a render
     * tile. */
    if (!txm_policy_of(c)->keeps_all && ++c->loads_of_epoch > c->stats.tiles / 16)
        txm_next_epoch(c);
}

/* Frees the slot of a job whose tile is not shown. If the tile was staged, open views may still show it. */
static void give_slot(txm_cache *c, const txm_job *job)
{
    if (job->restored) {
        txm_slot_retire(c, job->slot);
        c->stats.tiles_evicted++;
    } else if (job->slot != TXM_NO_SLOT) {
        txm_slot_give(c, job->slot);
    }
}

/* A failed tile needs no slot. */
static void publish_failure(txm_cache *c, const txm_job *job, const txm_error *cause, double seconds)
{
    txm_source *s = job->source;
    give_slot(c, job);
    note_failure(c, s, cause);
    txm_entry_set(c, txm_number(s, job->level, job->tile), txm_failed_slot(c, cause, seconds));
}

/* Tiles of files with two or three channels are first read to a buffer of the thread, and widened to four channels on
 * the way to the slot. The buffer only grows; its owner frees it. */
static bool need_unwidened(txm_cache *c, size_t bytes, uint8_t **buffer, size_t *buffer_bytes)
{
    if (*buffer_bytes >= bytes)
        return true;
    pthread_mutex_lock(&c->lock);
    txm_cache_release(c, *buffer, *buffer_bytes);
    *buffer = txm_cache_allocate(c, bytes, 64);
    *buffer_bytes = *buffer ? bytes : 0;
    pthread_mutex_unlock(&c->lock);
    return *buffer;
}

void txm_abandon(txm_cache *c, const txm_job *job)
{
    txm_source *s = job->source;
    if (job->restored && s->textures && job->version == s->version)
        txm_staged_put_back(c, txm_number(s, job->level, job->tile), job->slot);
    else
        give_slot(c, job);
    if (s->textures)
        txm_entry_set(c, txm_number(s, job->level, job->tile), TXM_SLOT_NONE);
    if (!job->batch)
        txm_job_over(c, job);
    txm_notify(c);
}

void txm_job_over(txm_cache *c, const txm_job *job)
{
    c->queue.jobs--;
    job->source->loading--;
    txm_source_drop(c, job->source);
}

/* Called without the lock, and takes it only for the last step. The source cannot be freed meanwhile, because it counts
 * the job in `loading`. The measured time is that of the whole load, including the wait for the file, because a render
 * loses all of it. */
void txm_load(txm_cache *c, const txm_job *job, uint8_t **unwidened, size_t *unwidened_bytes, txm_pins *pins)
{
    txm_source *s = job->source;
    const txm_view_texture *v = s->view; /* the members that are read here never change */
    txm_error err = {0};
    double begin = txm_clock_seconds();
    txm_status status = TXM_OK;
    bool constant = false, opaque = true;
    if (job->slot == TXM_NO_SLOT ||
        (!job->restored && s->converts && !need_unwidened(c, txm_view_converted_bytes(v), unwidened, unwidened_bytes)))
        status = txm_fail(&err, TXM_STATUS_NO_MEMORY, "%s: no memory for a tile", s->file->path);
    if (status == TXM_OK && !job->restored && c->rehearsal.user)
        constant = txm_rehearse_load(c, job);
    else if (status == TXM_OK && !job->restored) {
        status = txm_origin_of(s->file)->read_tile(c, s, job->level, job->tile, job->pixels, *unwidened, &opaque, &err);
        constant = status == TXM_OK && c->options.coalesce & TXM_COALESCE_CONSTANT &&
                   is_constant(v, job->level, job->tile, job->pixels);
    }
    pthread_mutex_lock(&c->lock);
    double seconds = txm_clock_seconds() - begin;
    c->stats.load_seconds += seconds;
    s->load_seconds += (float)seconds;
    if (status == TXM_OK && !opaque && s->textures)
        status = txm_source_translucent(c, s, &err);
    if (!s->textures) { /* the texture was replaced meanwhile: the tile is not needed any more */
        give_slot(c, job);
    } else if (job->version != s->version) { /* it was read before the change; the next lookup requests it again */
        give_slot(c, job);
        txm_entry_set(c, txm_number(s, job->level, job->tile), TXM_SLOT_NONE);
    } else if (status == TXM_OK) {
        publish(c, job, constant, pins);
    } else {
        publish_failure(c, job, &err, seconds);
    }
    if (!job->batch) {
        c->queue.jobs_over++;
        txm_job_over(c, job);
    }
    txm_notify(c);
    pthread_mutex_unlock(&c->lock);
}
