/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns requests into tiles in memory.
 *
 * A request is the number of a tile whose entry a lookup has changed from NONE to REQUESTED. It takes three steps: the
 * plan (txm_locate) says what is to be done, to open a texture or to read a tile; reading fills a slot without the
 * lock; and settling gives the entry its slot, a failure, which samplers show as magenta, or NONE. An entry that stayed
 * LOADING would block every thread that waits for the tile forever.
 */
#include <math.h>
#include <stdlib.h>

#include "base/os/clock.h"
#include "tile/cache/flow/flow.h"

/* ---- waiting ---- */

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

bool txm_next_round(txm_cache *c)
{
    if (txm_clock_seconds() < atomic_load(&c->world.retry_seconds))
        return false;
    atomic_store(&c->world.retry_seconds, INFINITY);
    atomic_fetch_add(&c->world.round, 1);
    txm_slow_down(&c->world);
    return true;
}

/* The clock is not read unless something has failed. */
bool txm_retry(txm_cache *c)
{
    const double due = atomic_load_explicit(&c->world.retry_seconds, memory_order_relaxed);
    if (due == INFINITY || txm_clock_seconds() < due)
        return false;
    pthread_mutex_lock(&c->lock);
    txm_next_round(c);
    pthread_mutex_unlock(&c->lock);
    return true;
}

/* ---- pins ---- */

/* When a texture is replaced, its pinned tiles are evicted; if their slots hold other tiles now, these must not be
 * unpinned. */
txm_slot *txm_pinned_slot(txm_cache *c, const txm_pin *pin)
{
    txm_slot *s = txm_slot_with(&c->tiles, pin->slot, pin->stamp);
    return s && s->state == TXM_SLOT_STATE_HELD && s->pins ? s : NULL;
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

/* ---- files and textures ---- */

/* A file is opened without the lock; other threads that need it wait. */
static void open_file(txm_cache *c, txm_cache_file *f, txm_error *cause)
{
    txm_open_file *opened = NULL;
    while (txm_file_is_opening(f))
        pthread_cond_wait(&c->changed, &c->lock);
    if (!txm_file_to_open(&c->catalog, f, &opened, cause))
        return;
    for (int attempt = 0; attempt < 2; attempt++) {
        pthread_mutex_unlock(&c->lock);
        const txm_status status = txm_file_open(&c->catalog, opened, cause);
        pthread_mutex_lock(&c->lock);
        if (status == TXM_OK || !txm_file_try_again(&c->catalog, cause))
            break;
    }
    txm_file_opened(&c->catalog, opened, cause);
    pthread_cond_broadcast(&c->changed);
}

/* On success the file cannot be closed until txm_file_give. Whether it was overwritten is asked without the lock,
 * because file servers may be slow to answer. */
txm_status txm_file_acquire(txm_cache *c, txm_cache_file *f, txm_tx **tx, txm_error *err)
{
    txm_error cause = {0};
    uint64_t known[4];
    bool compare;
    pthread_mutex_lock(&c->lock);
    open_file(c, f, &cause);
    txm_status status = txm_file_take(&c->catalog, f, &cause, tx, known, &compare, err);
    pthread_mutex_unlock(&c->lock);
    if (status != TXM_OK || !compare)
        return status;
    const bool written = txm_file_overwritten(f, *tx, known);
    pthread_mutex_lock(&c->lock);
    status = txm_file_compared(&c->catalog, f, written, known, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

void txm_file_give(txm_cache *c, txm_cache_file *f)
{
    pthread_mutex_lock(&c->lock);
    txm_file_given(&c->catalog, f);
    pthread_mutex_unlock(&c->lock);
}

/* Only threads that open the same texture wait for it. */
txm_status txm_texture_open(txm_cache *c, uint32_t texture, txm_error *err)
{
    txm_view_texture view = {0};
    txm_source made = {.view = &view};
    txm_error cause = {0};
    txm_status status;
    txm_tx *tx;
    while (c->catalog.textures[texture].opening)
        pthread_cond_wait(&c->changed, &c->lock);
    if (!txm_texture_to_open(&c->catalog, texture, &made, &status, err))
        return status;
    const txm_extension extension = (txm_extension)c->catalog.textures[texture].extension;
    pthread_mutex_unlock(&c->lock);
    const double begin = txm_clock_seconds();
    if (c->rehearsal.user) {
        txm_rehearse_open(c, texture, &made);
    } else if (txm_file_is_called(made.file)) {
        txm_called_describe(&c->catalog, extension, &made, &cause);
    } else if (txm_file_acquire(c, made.file, &tx, &cause) == TXM_OK) {
        txm_file_describe(&c->catalog, tx, extension, &made, &cause);
        txm_file_give(c, made.file);
    }
    pthread_mutex_lock(&c->lock);
    status = txm_texture_opened(&c->catalog, texture, &made, &cause, txm_clock_seconds() - begin, err);
    txm_notify(c);
    pthread_cond_broadcast(&c->changed);
    return status;
}

/* ---- the plan ---- */

static void note_failure(txm_cache *c, txm_load_failure **failure, const txm_error *cause)
{
    c->stats.tiles_failed++;
    txm_failure_note(&c->catalog, failure, cause);
}

txm_job txm_job_of(txm_cache *c, txm_source *s, uint32_t level, uint32_t tile)
{
    s->loading++;
    c->queue.jobs++;
    return (txm_job){.source = s, .level = (uint8_t)level, .tile = tile, .slot = TXM_NO_SLOT, .version = s->version};
}

/* Opening a texture produces no job: the lookup is repeated and then requests tiles. Entries are made first, because a
 * request of a tile without any is noted in the word of its leaf, which would stop others from requesting tiles there.
 */
bool txm_take_request(txm_cache *c, uint32_t number, txm_job *job)
{
    const txm_located at = txm_locate(&c->catalog, number);
    if (!at.source && at.texture == TXM_NO_TEXTURE) { /* the texture was replaced */
        txm_leaf_set(&c->catalog, number, TXM_SLOT_NONE);
        return false;
    }
    if (!txm_entry_make(&c->catalog, number)) {
        txm_error err = {0};
        const txm_cache_file *f = at.source ? at.source->file : c->catalog.textures[at.texture].file;
        txm_fail(&err, TXM_STATUS_NO_MEMORY, "%s: no memory for the page table", txm_file_path(f));
        txm_leaf_set(&c->catalog, number, txm_failed_slot(&c->catalog, &err, 0));
        note_failure(c, at.source ? &at.source->failure : &c->catalog.textures[at.texture].failure, &err);
        return false;
    }
    if (!at.source) {
        txm_texture_open(c, at.texture, NULL);
        return false;
    }
    if (!txm_claim(&c->catalog, number))
        return false;
    c->stats.tile_requests++;
    *job = txm_job_of(c, at.source, at.level, at.tile);
    return true;
}

bool txm_job_take_slot(txm_cache *c, txm_job *job, txm_need need)
{
    job->slot = txm_slot_take(&c->tiles, job->source->view->tile_bytes, need).slot;
    job->pixels = job->slot == TXM_NO_SLOT ? NULL : txm_slot_pixels(&c->tiles, job->slot);
    return job->pixels;
}

/* ---- reading ---- */

/* What reading has found. */
typedef struct reading {
    txm_error err;
    bool one_color, opaque;
    double seconds; /* of the whole load, including the wait for the file, because a render loses all of it */
} reading;

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

/* Without the lock. The source cannot be freed meanwhile, because it counts the job in `loading`; what is read of its
 * view never changes. Tiles of files with other channels are converted from memory that, as all that a reader takes
 * while it reads, is not part of the budget. */
static void read_tile(txm_cache *c, const txm_job *job, reading *r)
{
    const txm_source *s = job->source;
    const double begin = txm_clock_seconds();
    const bool converts = s->converts && !c->rehearsal.user;
    uint8_t *stored = converts ? malloc(txm_view_converted_bytes(s->view)) : NULL;
    txm_status status;
    txm_tx *tx;
    if (job->slot == TXM_NO_SLOT || (converts && !stored)) {
        status = txm_fail(&r->err, TXM_STATUS_NO_MEMORY, "%s: no memory for a tile", txm_file_path(s->file));
    } else if (c->rehearsal.user) {
        status = TXM_OK;
        r->one_color = txm_rehearse_load(c, job);
    } else if (txm_file_is_called(s->file)) {
        status = txm_called_read(s, job->level, job->tile, job->pixels, &r->err);
    } else if ((status = txm_file_acquire(c, s->file, &tx, &r->err)) == TXM_OK) {
        status =
            txm_view_read_tile(tx, s->view, s->skip, job->level, job->tile, job->pixels, stored, &r->opaque, &r->err);
        txm_file_give(c, s->file);
    }
    free(stored);
    if (status == TXM_OK && !c->rehearsal.user && c->options.coalesce & TXM_COALESCE_CONSTANT)
        r->one_color = is_constant(s->view, job->level, job->tile, job->pixels);
    if (status != TXM_OK)
        r->err.status = status;
    r->seconds = txm_clock_seconds() - begin;
}

/* ---- settling ---- */

/* What has become of a tile that was read. */
typedef enum outcome {
    OUTCOME_LOADED,
    OUTCOME_FAILED,
    OUTCOME_REPLACED,   /* the texture shows another file meanwhile, so nobody needs the tile */
    OUTCOME_CHANGED,    /* it was read before the change; the next lookup requests it again */
    OUTCOME_TRANSLUCENT /* the texture was taken for opaque, and is opened again */
} outcome;

static outcome outcome_of(const txm_job *job, const reading *r)
{
    if (!job->source->textures)
        return OUTCOME_REPLACED;
    if (job->version != job->source->version)
        return OUTCOME_CHANGED;
    if (r->err.status != TXM_OK)
        return OUTCOME_FAILED;
    return r->opaque ? OUTCOME_LOADED : OUTCOME_TRANSLUCENT;
}

/* Keeps a tile until the lookup that needs it has used it. Without memory for the list the tile is shown unpinned: it
 * may be evicted before its use, and read twice. Making the list may evict tiles, but not this one, which is LOADING.
 */
static bool pin(txm_cache *c, txm_pins *pins, const txm_job *job)
{
    if (!txm_array_grow(&c->tiles, (void **)&pins->items, &pins->capacity, (uint64_t)pins->count + 1,
                        sizeof *pins->items, NULL))
        return false;
    pins->items[pins->count++] =
        (txm_pin){job->slot, txm_slot_at(&c->tiles, job->slot)->held.stamp, job->rank, job->batch, 0};
    return true;
}

/* Makes a tile visible to lookups. A mark other than 0 means that the tile was loaded before. Marks survive eviction,
 * so reloads are counted without a list of all tiles that were ever loaded. The order at the end matters: slot and mark
 * must be complete before the entry refers to the slot. */
static void show_tile(txm_cache *c, const txm_job *job, bool one_color, txm_pins *pins)
{
    txm_source *s = job->source;
    const uint32_t number = txm_number(s, job->level, job->tile);
    const bool again = __atomic_load_n(&txm_entry(&c->catalog, number)->mark, __ATOMIC_RELAXED) != 0;
    uint32_t slot = job->slot;
    s->loads += s->loads < UINT32_MAX;
    s->reloads += again && s->reloads < UINT32_MAX;
    if (!txm_view_is_packed(s->view))
        txm_level_loads(s)[job->level]++;
    c->stats.tiles_loaded++;
    c->stats.tiles_reloaded += again;
    c->stats.loaded_bytes += s->view->tile_bytes;
    *(again ? &c->stats.reloaded_bytes : &c->stats.working_set_bytes) += s->view->tile_bytes;
    if (one_color) {
        txm_trace_constant(c, s, job->level, job->tile, job->pixels);
        slot = txm_slot_share(&c->tiles, slot, s->view->tile_bytes, s->view->pixel_bytes);
    }
    if (txm_slot_at(&c->tiles, slot)->state != TXM_SLOT_STATE_SHARED) {
        const bool pinned = pin(c, pins, job);
        txm_slot *held = txm_slot_at(&c->tiles, slot);
        held->held.tile = number;
        held->state = TXM_SLOT_STATE_HELD;
        held->pins = pinned;
    }
    __atomic_store_n(&txm_entry(&c->catalog, number)->mark, atomic_load_explicit(&c->world.epoch, memory_order_relaxed),
                     __ATOMIC_RELAXED);
    txm_entry_set(&c->catalog, number, slot);
    /* For the order of last use, epochs must be much shorter than the time that a tile stays, and shorter than a render
     * tile. */
    if (!c->tiles.keeps_all && ++c->loads_of_epoch > c->stats.tiles / 16)
        txm_next_epoch(c);
}

static void give_slot(txm_cache *c, const txm_job *job)
{
    if (job->slot != TXM_NO_SLOT)
        txm_slot_give(&c->tiles, job->slot);
}

/* A failed tile needs no slot. */
static void show_failure(txm_cache *c, const txm_job *job, const txm_error *cause, double seconds)
{
    give_slot(c, job);
    note_failure(c, &job->source->failure, cause);
    txm_entry_set(&c->catalog, txm_number(job->source, job->level, job->tile),
                  txm_failed_slot(&c->catalog, cause, seconds));
}

/* With the lock held. */
static void settle_tile(txm_cache *c, const txm_job *job, reading *r, txm_pins *pins)
{
    txm_source *s = job->source;
    c->stats.load_seconds += r->seconds;
    s->load_seconds += (float)r->seconds;
    switch (outcome_of(job, r)) {
    case OUTCOME_LOADED:
        show_tile(c, job, r->one_color, pins);
        break;
    case OUTCOME_FAILED:
        show_failure(c, job, &r->err, r->seconds);
        break;
    case OUTCOME_REPLACED:
        give_slot(c, job);
        break;
    case OUTCOME_CHANGED:
        give_slot(c, job);
        txm_entry_set(&c->catalog, txm_number(s, job->level, job->tile), TXM_SLOT_NONE);
        break;
    case OUTCOME_TRANSLUCENT:
        if (txm_source_translucent(&c->catalog, s, &r->err) == TXM_OK)
            give_slot(c, job);
        else
            show_failure(c, job, &r->err, r->seconds);
        break;
    }
    if (!job->batch) {
        c->queue.jobs_over++;
        txm_job_over(c, job);
    }
    txm_notify(c);
}

void txm_load(txm_cache *c, const txm_job *job, txm_pins *pins)
{
    reading r = {.opaque = true};
    read_tile(c, job, &r);
    pthread_mutex_lock(&c->lock);
    settle_tile(c, job, &r, pins);
    pthread_mutex_unlock(&c->lock);
}

void txm_abandon(txm_cache *c, const txm_job *job)
{
    give_slot(c, job);
    if (job->source->textures)
        txm_entry_set(&c->catalog, txm_number(job->source, job->level, job->tile), TXM_SLOT_NONE);
    if (!job->batch)
        txm_job_over(c, job);
    txm_notify(c);
}

void txm_job_over(txm_cache *c, const txm_job *job)
{
    c->queue.jobs--;
    job->source->loading--;
    txm_source_drop(&c->catalog, job->source);
}
