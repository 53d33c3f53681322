/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of a texture that the caller specifies, to preload, pin or invalidate them.
 *
 * A part is a range of levels and a rectangle. Its tiles are visited from coarse to fine: coarse levels take little
 * memory, and serve as stand-ins for tiles that do not fit. The stand-ins of all textures are loaded as parts too.
 */
#include <math.h>

#include "tile/cache/flow/flow.h"

/* ---- walking ---- */

/* Called for each tile of a part; false stops the walk. */
typedef bool (*txm_part_step)(txm_cache *c, txm_source *s, uint32_t level, uint32_t tile, void *arg);

static const txm_cache_part whole_texture = {0, TXM_MAX_LOOKUP_LEVELS, 0.0f, 0.0f, 1.0f, 1.0f};

/* The range of tiles that [a, b] touches along a side of `size` pixels. It is clamped to the texture, whatever the
 * extension, because a part means pixels and not places in a repeating pattern. An empty range means the tile that it
 * lies in. */
static void range_of(float a, float b, uint32_t size, uint32_t shift, uint32_t *first, uint32_t *last)
{
    float low = fminf(fmaxf(fminf(a, b), 0.0f), 1.0f) * (float)size;
    float high = fminf(fmaxf(fmaxf(a, b), 0.0f), 1.0f) * (float)size;
    uint32_t from = (uint32_t)low, to = (uint32_t)ceilf(high);
    to = to > from ? to - 1 : from;
    *first = (from < size ? from : size - 1) >> shift;
    *last = (to < size ? to : size - 1) >> shift;
}

static void levels_of_part(const txm_source *s, const txm_cache_part *part, uint32_t *first, uint32_t *last)
{
    *last = part->last_level < s->view->levels ? part->last_level : s->view->levels - 1u;
    if (txm_view_is_packed(s->view)) /* its only tile has all levels */
        *last = 0;
    *first = part->first_level < *last ? part->first_level : *last;
}

/* `entries`: only tiles that have entries are visited, because nothing of the others is in memory. v counts from the
 * bottom and rows from the top, hence 1 - v. */
static bool walk_part(txm_cache *c, txm_source *s, const txm_cache_part *part, bool entries, txm_part_step step,
                      void *arg)
{
    const txm_view_texture *v = s->view;
    uint32_t first, last, x0, x1, y0, y1;
    levels_of_part(s, part, &first, &last);
    for (uint32_t level = last + 1; level-- > first;) {
        const uint32_t across = txm_view_tiles_across(v, level);
        range_of(part->u0, part->u1, txm_level_size(v->width, level), v->tile_shift, &x0, &x1);
        range_of(1.0f - part->v0, 1.0f - part->v1, txm_level_size(v->height, level), v->tile_shift, &y0, &y1);
        for (uint32_t y = y0; y <= y1; y++)
            for (uint32_t x = x0; x <= x1; x++) {
                const uint32_t number = txm_number(s, level, y * across + x);
                if (entries && !txm_entry(&c->catalog, number))
                    x += ~number & (TXM_LEAF_TILES - 1);
                else if (!step(c, s, level, y * across + x, arg))
                    return false;
            }
    }
    return true;
}

static txm_status check_part(const txm_cache *c, uint32_t texture, const txm_cache_part **part, txm_error *err)
{
    txm_status status = txm_texture_check(&c->catalog, texture, err);
    *part = *part ? *part : &whole_texture;
    if (status == TXM_OK && (isnan((*part)->u0) || isnan((*part)->v0) || isnan((*part)->u1) || isnan((*part)->v1)))
        status = txm_fail(err, TXM_STATUS_USAGE, "texture %u: the corners of a part must not be NaN", texture);
    return status;
}

/* Opens the texture. With the lock held, which may be released in between. */
static txm_status open_part(txm_cache *c, uint32_t texture, txm_source **out, txm_error *err)
{
    txm_status status = txm_texture_open(c, texture, err);
    *out = status == TXM_OK ? c->catalog.textures[texture].source : NULL;
    return status;
}

/* ---- loading ---- */

/* The most tiles of a round. A part is loaded in rounds, so a large one does not pin the whole cache. */
enum { LOADED_TOGETHER = 1024 };

typedef struct part_load {
    txm_ticket *ticket;
    uint32_t count;
    uint64_t bytes, all_bytes; /* size of the tiles of this round, and of the rounds before */
    bool full, over;           /* full: another round may be needed; over: the rest does not fit the budget */
    bool keeps;                /* pin the tiles that are in memory */
    bool waits;                /* another thread is loading a tile of the part */
} part_load;

/* Whether one more tile fits into seven eighths of the room for tiles: beyond that, each tile would evict one that was
 * loaded before it. The tiles that this call has loaded count even if they were evicted since, so the call ends. */
static bool has_space(const txm_cache *c, const part_load *p, uint64_t tile_bytes)
{
    const uint64_t there = c->stats.tile_bytes + p->bytes, loaded = p->all_bytes + p->bytes;
    return (there > loaded ? there : loaded) + tile_bytes <= txm_room_for_tiles(c) / 8 * 7;
}

/* Handles one tile of a part that is to be loaded or kept. Tiles that are kept need no check for space, because it was
 * reserved. */
static bool want_tile(txm_cache *c, txm_source *s, uint32_t level, uint32_t tile, void *arg)
{
    part_load *p = arg;
    const uint32_t number = txm_number(s, level, tile), bytes = s->view->tile_bytes;
    const uint32_t slot = txm_entry_slot(&c->catalog, number);
    if (slot < TXM_SLOT_STATES) {
        if (p->keeps)
            txm_slot_keep(&c->tiles, slot, true);
        return true;
    }
    p->waits |= slot == TXM_SLOT_LOADING;
    p->over = p->over || (!p->keeps && !has_space(c, p, bytes));
    p->full = p->count == LOADED_TOGETHER || !txm_batch_has_room(c, p->count, p->bytes + bytes);
    if (p->over || p->full)
        return false;
    if (!txm_entry_make(&c->catalog, number)) {
        p->over = true;
        return false;
    }
    if (!txm_claim(&c->catalog, number))
        return true;
    p->bytes += bytes;
    p->ticket->jobs[p->count++] = txm_job_of(c, s, level, tile);
    return true;
}

/* Runs one round, which skips tiles in memory. The tiles that it has loaded are pinned until the next round of the same
 * call. */
static txm_status load_round(txm_cache *c, uint32_t texture, const txm_cache_part *part, part_load *p, txm_pins *pins,
                             txm_error *err)
{
    txm_status status;
    txm_source *s = NULL;
    pthread_mutex_lock(&c->lock);
    p->all_bytes += p->bytes;
    p->bytes = p->count = 0;
    p->full = p->waits = false;
    txm_job *jobs = txm_allocate(&c->tiles, LOADED_TOGETHER * sizeof *jobs, _Alignof(txm_job));
    p->ticket = jobs ? txm_ticket_of(c, jobs, LOADED_TOGETHER, pins) : NULL;
    if (p->ticket) {
        p->ticket->preloads = true;
        status = open_part(c, texture, &s, err);
        if (status == TXM_OK && s)
            walk_part(c, s, part, false, want_tile, p);
        txm_unpin(c, pins); /* tiles to be kept have been marked by now */
        txm_ticket_fill(p->ticket, p->count);
    } else {
        txm_release(&c->tiles, jobs, LOADED_TOGETHER * sizeof *jobs);
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a batch of tiles");
    }
    pthread_mutex_unlock(&c->lock);
    if (p->ticket)
        txm_ticket_start(p->ticket);
    txm_ticket_wait(&p->ticket);
    return status;
}

/* Loads a part, round by round. A part that is to be kept needs rounds until one finds nothing to load, and waits for
 * tiles that other threads load. */
static txm_status load_part(txm_cache *c, uint32_t texture, const txm_cache_part *part, bool keeps, txm_error *err)
{
    part_load p = {.keeps = keeps};
    txm_pins pins = {0};
    txm_status status;
    do {
        const uint64_t seen = atomic_load(&c->completions);
        status = load_round(c, texture, part, &p, &pins, err);
        if (status == TXM_OK && !p.count && (p.full || (keeps && p.waits))) /* full: other batches take the room */
            txm_wait_for_others(c, seen);
    } while (status == TXM_OK && !p.over && (p.full || (keeps && (p.count || p.waits))));
    pthread_mutex_lock(&c->lock);
    txm_unpin(c, &pins);
    txm_release(&c->tiles, pins.items, pins.capacity * sizeof *pins.items);
    pthread_mutex_unlock(&c->lock);
    return status;
}

static txm_status preload_part(txm_cache *c, uint32_t texture, const txm_cache_part *part, txm_error *err)
{
    pthread_mutex_lock(&c->lock);
    txm_status status = check_part(c, texture, &part, err);
    pthread_mutex_unlock(&c->lock);
    return status == TXM_OK ? load_part(c, texture, part, false, err) : status;
}

/* ---- keeping ---- */

/* Sums up the bytes of tiles that are not kept yet. */
static bool count_unkept(txm_cache *c, txm_source *s, uint32_t level, uint32_t tile, void *arg)
{
    const uint32_t slot = txm_entry_slot(&c->catalog, txm_number(s, level, tile));
    if (slot >= TXM_SLOT_STATES || !txm_slot_at(&c->tiles, slot)->kept)
        *(uint64_t *)arg += s->view->tile_bytes;
    return true;
}

/* Reserves room for all of a part first, so that a part which does not fit is not loaded at all. */
static txm_status reserve_part(txm_cache *c, uint32_t texture, const txm_cache_part **part, uint64_t *bytes,
                               txm_error *err)
{
    txm_source *s = NULL;
    *bytes = 0;
    pthread_mutex_lock(&c->lock);
    txm_status status = check_part(c, texture, part, err);
    if (status == TXM_OK)
        status = open_part(c, texture, &s, err);
    if (status == TXM_OK && s)
        walk_part(c, s, *part, false, count_unkept, bytes);
    const uint64_t most = txm_room_for_tiles(c) / 2, kept = c->tiles.kept_bytes + c->queue.reserved_bytes;
    if (*bytes && (*bytes > most || kept > most - *bytes)) {
        status = txm_fail(err, TXM_STATUS_TOO_LARGE,
                          "texture %u: %llu bytes of tiles cannot be pinned: only %llu of %llu are left for that",
                          texture, (unsigned long long)*bytes, (unsigned long long)(kept < most ? most - kept : 0),
                          (unsigned long long)most);
        *bytes = 0;
    }
    c->queue.reserved_bytes += *bytes;
    pthread_mutex_unlock(&c->lock);
    return status;
}

static txm_status pin_part(txm_cache *c, uint32_t texture, const txm_cache_part *part, txm_error *err)
{
    uint64_t reserved;
    txm_status status = reserve_part(c, texture, &part, &reserved, err);
    if (status == TXM_OK)
        status = load_part(c, texture, part, true, err);
    pthread_mutex_lock(&c->lock);
    c->queue.reserved_bytes -= reserved;
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* The level whose tile is the texture's stand-in; UINT32_MAX: none. */
static uint32_t stand_in_level(const txm_cache *c, const txm_source *s)
{
    uint32_t level = 0;
    if (c->options.stand_in != TXM_STAND_IN_KIND_TILE)
        return UINT32_MAX;
    while (level + 1 < s->view->levels && txm_view_tiles(s->view, level) > 1)
        level++;
    return level;
}

static bool unkeep(txm_cache *c, txm_source *s, uint32_t level, uint32_t tile, void *arg)
{
    const uint32_t slot = txm_entry_slot(&c->catalog, txm_number(s, level, tile));
    if (slot < TXM_SLOT_STATES && level != *(const uint32_t *)arg)
        txm_slot_keep(&c->tiles, slot, false);
    return true;
}

static txm_status unpin_part(txm_cache *c, uint32_t texture, const txm_cache_part *part, txm_error *err)
{
    pthread_mutex_lock(&c->lock);
    txm_status status = check_part(c, texture, &part, err);
    txm_source *s = status == TXM_OK ? c->catalog.textures[texture].source : NULL;
    uint32_t stays = s ? stand_in_level(c, s) : 0;
    if (s)
        walk_part(c, s, part, true, unkeep, &stays);
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* ---- invalidating ---- */

typedef struct victims {
    uint32_t slots[TXM_VICTIMS], count;
} victims;

static bool invalidate_tile(txm_cache *c, txm_source *s, uint32_t level, uint32_t tile, void *arg)
{
    victims *gone = arg;
    const uint32_t number = txm_number(s, level, tile), slot = txm_entry_slot(&c->catalog, number);
    if (slot < TXM_SLOT_STATES && txm_slot_at(&c->tiles, slot)->state == TXM_SLOT_STATE_HELD) {
        gone->slots[gone->count++] = slot;
        if (gone->count == TXM_VICTIMS) {
            txm_evict_slots(&c->tiles, gone->slots, gone->count);
            gone->count = 0;
        }
    } else if (slot != TXM_SLOT_LOADING && slot != TXM_SLOT_NONE && !txm_is_requested(slot)) {
        txm_entry_set(&c->catalog, number, TXM_SLOT_NONE); /* a failure, or a shared tile that others still show */
    }
    return true;
}

static txm_status invalidate_part(txm_cache *c, uint32_t texture, const txm_cache_part *part, txm_error *err)
{
    victims gone = {.count = 0};
    pthread_mutex_lock(&c->lock);
    txm_status status = check_part(c, texture, &part, err);
    txm_source *s = status == TXM_OK ? c->catalog.textures[texture].source : NULL;
    if (s) {
        s->version++;
        walk_part(c, s, part, true, invalidate_tile, &gone);
        txm_evict_slots(&c->tiles, gone.slots, gone.count);
    } else if (status == TXM_OK) {
        txm_texture_forget_failure(&c->catalog, texture);
    }
    txm_notify(c);
    pthread_mutex_unlock(&c->lock);
    if (s)
        txm_stand_in_load(c, texture);
    return status;
}

/* ---- stand-ins ---- */

/* Sets the average colour from the coarsest level, for files that do not contain one. */
static void average_of_pixels(txm_cache *c, uint32_t texture)
{
    static const float unnamed[4] = {0.5f, 0.5f, 0.5f, 1.0f};
    txm_sampler how = {.rule = TXM_LEVEL_RULE_GIVEN, .mode = TXM_LEVEL_MODE_FLOOR, .anisotropy = 1};
    const txm_lookup far = {.u = 0.5f, .v = 0.5f, .dudx = TXM_MAX_LOOKUP_LEVELS}; /* beyond the last level */
    txm_view_texture v;
    txm_cache_thread *thread;
    float color[4];
    if (txm_cache_open(c, texture, &v, NULL) != TXM_OK || memcmp(v.average, unnamed, sizeof unnamed) != 0 ||
        txm_level_size(v.width, v.levels - 1) != 1 || txm_level_size(v.height, v.levels - 1) != 1 ||
        txm_cache_thread_new(c, &thread, NULL) != TXM_OK)
        return;
    if (txm_cache_sample(thread, texture, &how, &far, NULL, color) == TXM_LOOKUP_HIT) {
        pthread_mutex_lock(&c->lock);
        const txm_source *s = c->catalog.textures[texture].source;
        if (s && !c->catalog.textures[texture].opening) {
            txm_stop_world(&c->world);
            for (uint32_t i = s->first_texture; i != TXM_NO_TEXTURE; i = c->catalog.textures[i].next) {
                memcpy(c->catalog.view_textures[i].average, color, sizeof color);
                txm_texture_changed(&c->catalog, i);
            }
            txm_resume_world(&c->world);
        }
        pthread_mutex_unlock(&c->lock);
    }
    txm_cache_thread_free(&thread);
}

/* Loads a texture's stand-in. Failures are ignored here: lookups report them when they need the tile. */
void txm_stand_in_load(txm_cache *c, uint32_t texture)
{
    txm_cache_part part = whole_texture;
    if (c->options.stand_in == TXM_STAND_IN_KIND_NONE || txm_cache_open(c, texture, NULL, NULL) != TXM_OK)
        return;
    average_of_pixels(c, texture);
    pthread_mutex_lock(&c->lock);
    const txm_source *s = c->catalog.textures[texture].source;
    part.first_level = part.last_level = s ? stand_in_level(c, s) : UINT32_MAX;
    pthread_mutex_unlock(&c->lock);
    if (part.first_level != UINT32_MAX)
        pin_part(c, texture, &part, NULL);
}

/* ---- calls ---- */

typedef txm_status (*part_call)(txm_cache *c, uint32_t texture, const txm_cache_part *part, txm_error *err);

/* Whether [a, b] has a part in common with a tile, which has 0 and not 1. */
static bool touches_tile(float a, float b)
{
    const float low = fminf(a, b), high = fmaxf(a, b);
    return low < 1 && (high > 0 || (high == 0 && low == 0));
}

/* `name`: the call is refused while the view of txm_cache_prepare is open; NULL: it changes nothing there. It is made
 * for a texture or, for a UDIM set, for each of its tiles that the part touches: its coordinates are those
 * of the set, in which each tile is 1 wide. The base belongs to the whole set. */
static txm_status call_for(txm_cache *c, const char *name, part_call call, uint32_t texture, const txm_cache_part *part,
                           txm_error *err)
{
    enum { COLUMNS = 10 };
    pthread_mutex_lock(&c->lock);
    const bool set = texture < c->stats.textures && !c->catalog.textures[texture].file;
    const txm_view_texture v = set ? c->catalog.view_textures[texture] : (txm_view_texture){0};
    const uint32_t base = set && !part ? c->catalog.textures[texture].base : TXM_NO_TEXTURE;
    txm_status status = name ? txm_own_view_allows(c, name, err) : TXM_OK;
    pthread_mutex_unlock(&c->lock);
    if (!set)
        return status == TXM_OK ? call(c, texture, part, err) : status;
    for (uint32_t i = 0; i < v.udim_rows * COLUMNS && status == TXM_OK; i++) {
        pthread_mutex_lock(&c->lock);
        const uint32_t tile = c->catalog.udims[v.first + i];
        pthread_mutex_unlock(&c->lock);
        const float u = (float)(i % COLUMNS), w = (float)(i / COLUMNS);
        txm_cache_part own = part ? *part : whole_texture;
        if (part)
            own = (txm_cache_part){own.first_level, own.last_level, own.u0 - u, own.v0 - w, own.u1 - u, own.v1 - w};
        if (tile != TXM_NO_TEXTURE && touches_tile(own.u0, own.u1) && touches_tile(own.v0, own.v1))
            status = call(c, tile, &own, err);
    }
    return status == TXM_OK && base != TXM_NO_TEXTURE ? call(c, base, NULL, err) : status;
}

txm_status txm_cache_preload(txm_cache *c, uint32_t texture, const txm_cache_part *part, txm_error *err)
{
    txm_error_clear(err);
    return call_for(c, "txm_cache_preload", preload_part, texture, part, err);
}

txm_status txm_cache_pin(txm_cache *c, uint32_t texture, const txm_cache_part *part, txm_error *err)
{
    txm_error_clear(err);
    return call_for(c, "txm_cache_pin", pin_part, texture, part, err);
}

txm_status txm_cache_unpin(txm_cache *c, uint32_t texture, const txm_cache_part *part, txm_error *err)
{
    txm_error_clear(err);
    return call_for(c, NULL, unpin_part, texture, part, err);
}

txm_status txm_cache_invalidate(txm_cache *c, uint32_t texture, const txm_cache_part *part, txm_error *err)
{
    txm_error_clear(err);
    return call_for(c, "txm_cache_invalidate", invalidate_part, texture, part, err);
}

/* Textures that share a source are invalidated with the first of them. */
txm_status txm_cache_invalidate_all(txm_cache *c, txm_error *err)
{
    txm_status status = TXM_OK;
    txm_error_clear(err);
    for (uint32_t i = 0; status == TXM_OK; i++) {
        pthread_mutex_lock(&c->lock);
        const bool over = i >= c->stats.textures;
        const txm_texture *t = over ? NULL : &c->catalog.textures[i];
        const bool first = t && t->file && (!t->source || t->source->first_texture == i);
        status = txm_own_view_allows(c, "txm_cache_invalidate_all", err);
        pthread_mutex_unlock(&c->lock);
        if (over)
            break;
        if (status == TXM_OK && first)
            status = invalidate_part(c, i, NULL, err);
    }
    return status;
}
