/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups of many at a time: a tile that several of them need is loaded once for all.
 *
 * A few hundred lookups at a time request together what they miss, and are repeated together. If the tiles of the
 * texture may not fit into memory at once, the order of the lookups decides how often each tile is read. So lookups
 * whose tiles are in memory come first. Those that missed are then repeated area by area of the texture, where each
 * area is so small that its tiles of all levels fit. In their original order, random lookups would read nearly every
 * tile again for each few hundred.
 */
#include <math.h>

#include "tile/cache/flow/flow.h"
#include "tile/terms/extension.h"

enum {
    FEW = 512,            /* lookups that are repeated together */
    MOST = 1 << 20,       /* the most lookups that are sorted together */
    MOST_TILES = 1 << 12, /* the most tiles that are loaded together */
    MOST_ACROSS = 15      /* the most areas along a side of a texture: their numbers must fit into bytes */
};

/* ---- shares of the budget ---- */

/* A thread's share of a part of the budget; without a bound it is unlimited. Idle threads count too, because their
 * share must be available when they begin. */
static uint64_t share_of(const txm_cache *c, unsigned part)
{
    const uint64_t most = __atomic_load_n(&c->options.max_bytes, __ATOMIC_RELAXED);
    return most && !txm_policy_of(c)->keeps_all
               ? most / part / atomic_load_explicit(&c->world.live_threads, memory_order_relaxed)
               : UINT64_MAX;
}

/* Allocates the lists of tiles, a 64th of the budget, and the areas of `look_ups` lookups, at most a sixteenth. Without
 * that memory, tiles are requested as a single lookup does, and in any order. It is one allocation with its arrays in
 * order of decreasing alignment; it is only ever replaced by a larger one, and is freed with the thread. */
static void make_many(txm_cache_thread *t, size_t look_ups)
{
    enum { LISTS = 64, AREAS = 16, EACH_TILE = sizeof(txm_job) + sizeof(uint32_t) };
    txm_cache *c = t->cache;
    if (t->many && look_ups <= t->areas_most)
        return;
    pthread_mutex_lock(&c->lock);
    uint64_t share = share_of(c, AREAS), tiles = share_of(c, LISTS) / EACH_TILE;
    const uint64_t space = look_ups < share ? look_ups : share;
    tiles = tiles < MOST_TILES ? tiles : MOST_TILES;
    const size_t bytes = tiles * EACH_TILE + space;
    uint8_t *many = NULL;
    if (tiles > TXM_LOOKUP_TILES && (!t->many || space > t->areas_most))
        many = txm_allocate(&c->tiles, bytes, _Alignof(txm_job));
    if (many) {
        txm_release(&c->tiles, t->many, t->many_bytes);
        t->many = many;
        t->many_bytes = bytes;
        t->jobs = (txm_job *)(void *)many;
        t->requests = (uint32_t *)(void *)(t->jobs + tiles);
        t->requests_most = (uint32_t)tiles;
        t->areas = (uint8_t *)(t->requests + tiles);
        t->areas_most = space;
    }
    pthread_mutex_unlock(&c->lock);
}

/* The most tiles that a thread may load and keep pinned at a time: its share of half the budget, or a slab if that is
 * more. The size of the largest tile of all textures is assumed, so no mixture can exceed the share. It is at least one
 * tile: a lookup that needs more gets them when it is repeated alone. */
static uint32_t tiles_of_round(const txm_cache_thread *t)
{
    const uint32_t known = atomic_load_explicit(&t->cache->world.largest_tile, memory_order_relaxed);
    const uint32_t largest = known ? known : 1, slab = TXM_SLAB_BYTES / largest;
    const uint32_t least = slab > TXM_LOOKUP_TILES ? TXM_LOOKUP_TILES : slab ? slab : 1;
    const uint64_t fit = share_of(t->cache, 2) / largest;
    const uint32_t most = fit < t->requests_most ? (uint32_t)fit : t->requests_most;
    return most > least ? most : least;
}

/* ---- a few ---- */

static txm_lookup_result worse(txm_lookup_result a, txm_lookup_result b)
{
    return a > b ? a : b;
}

/* The state that is needed to repeat a few lookups. */
typedef struct attempt {
    txm_lookups todo; /* the caller's arrays, but with the mask and look below */
    uint8_t mask[FEW], result[FEW];
    uint32_t random[FEW]; /* as they were at the beginning */
} attempt;

/* Elements begin to begin + count - 1 of a batch. */
static txm_lookups part_of(const txm_lookups *b, size_t begin, size_t count)
{
    return (txm_lookups){count,
                         b->u + begin,
                         b->v + begin,
                         b->dudx + begin,
                         b->dvdx + begin,
                         b->dudy + begin,
                         b->dvdy + begin,
                         b->random ? b->random + begin : NULL,
                         b->mask ? b->mask + begin : NULL,
                         {b->out[0] + begin, b->out[1] + begin, b->out[2] + begin, b->out[3] + begin},
                         b->result ? b->result + begin : NULL};
}

/* The caller's mask is only read, and its `look` is written at the end. */
static void begin_attempt(attempt *a, const txm_lookups *given)
{
    a->todo = *given;
    a->todo.result = a->result;
    memset(a->result, TXM_LOOKUP_HIT, given->count);
    if (given->random)
        memcpy(a->random, given->random, given->count * sizeof *a->random);
}

/* Runs one round, and returns how many lookups missed; the mask then selects these, with their original random states.
 * Lookups that hit are finished: their results are in the caller's arrays. */
static size_t look_up(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, attempt *a, txm_lookup_state *lane)
{
    size_t missed = 0;
    txm_enter_to_ask(t);
    txm_sample_n(&t->view, texture, how, &a->todo, lane);
    txm_leave_asking(t, lane->count);
    for (size_t i = 0; i < a->todo.count; i++) {
        a->mask[i] = (!a->todo.mask || a->todo.mask[i]) && a->result[i] == TXM_LOOKUP_MISS;
        missed += a->mask[i];
        if (a->mask[i] && a->todo.random)
            a->todo.random[i] = a->random[i];
    }
    a->todo.mask = a->mask;
    return missed;
}

/* Returns the worst result of the lookups that were not masked, and writes each result to the caller's `look`. */
static txm_lookup_result end_attempt(const attempt *a, const txm_lookups *given)
{
    txm_lookup_result worst = TXM_LOOKUP_HIT;
    for (size_t i = 0; i < given->count; i++) {
        worst = worse(worst, (txm_lookup_result)a->result[i]);
        if (given->result && (!given->mask || given->mask[i]))
            given->result[i] = a->result[i];
    }
    return worst;
}

/* Repeats the remaining lookups one by one, each until its tiles are there. One lookup's tiles always fit, because a
 * slab may be taken beyond the budget if necessary. */
static void finish_each(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, attempt *a)
{
    const txm_lookups *b = &a->todo;
    for (size_t i = 0; i < b->count; i++) {
        float out[4];
        const txm_lookup at = {b->u[i], b->v[i], b->dudx[i], b->dvdx[i], b->dudy[i], b->dvdy[i]};
        if (!a->mask[i])
            continue;
        a->result[i] = (uint8_t)txm_lookup_until_there(t, texture, how, &at, b->random ? &b->random[i] : NULL, out);
        for (int n = 0; n < 4; n++)
            b->out[n][i] = out[n];
    }
}

/* Does up to FEW lookups. Those that missed are repeated together, or, if that makes no progress, one by one, which
 * always ends. *missed receives the number of those that missed in the first round. */
static txm_lookup_result sample_few(txm_cache_thread *t, uint32_t texture, const txm_sampler *how,
                                    const txm_lookups *given, size_t *missed)
{
    /* With a budget that is far too small, loading for one lookup may evict tiles of another. */
    enum { IDLE_ROUNDS = 8 };
    attempt a;
    txm_watch w = {0};
    size_t before = SIZE_MAX;
    begin_attempt(&a, given);
    for (int idle = 0; idle < IDLE_ROUNDS;) {
        txm_lookup_state lane = {.capacity = tiles_of_round(t), .requests = t->requests};
        const size_t left = look_up(t, texture, how, &a, &lane);
        txm_release_pins(t);
        if (before == SIZE_MAX)
            *missed = left;
        if (!left && !lane.count)
            return end_attempt(&a, given);
        txm_get(t, lane.count, &w);
        idle = left < before ? 0 : idle + 1;
        before = left;
    }
    finish_each(t, texture, how, &a);
    txm_release_pins(t);
    return end_attempt(&a, given);
}

/* ---- areas ---- */

/* A division of a texture into areas: `across` along each side; in a UDIM set, each tile is an area. */
typedef struct division {
    uint32_t across; /* 1: the texture is not divided */
    uint8_t extension;
    bool set;
} division;

enum { UDIM_COLUMNS = 10, MOST_AREAS = MOST_ACROSS * MOST_ACROSS };

/* Chooses areas such that all levels of one area, and the tiles that it shares with its neighbours, fit into half of
 * the thread's budget. A texture that is not open shows one tile of one pixel; it is opened now, because its size is
 * needed. If opening fails, the lookups report it. */
static division divide(txm_cache_thread *t, uint32_t texture)
{
    const uint64_t fit = share_of(t->cache, 2);
    if (fit == UINT64_MAX)
        return (division){.across = 1};
    txm_view_texture v = {0};
    for (int tries = 0; tries < 2 && !v.udim_rows && !v.tile_shift; tries++) {
        if (tries)
            txm_cache_open(t->cache, texture, NULL, NULL);
        txm_enter(t);
        v = texture < t->view.texture_count ? t->view.textures[texture] : v;
        txm_leave(t);
    }
    if (v.udim_rows || !v.width)
        return (division){.across = 1, .set = v.udim_rows};
    const double across = ceil(sqrt(4.0 / 3 * txm_view_tiles(&v, 0) * v.tile_bytes / (double)(fit + 1)));
    return (division){.across = across < MOST_ACROSS ? (uint32_t)across : MOST_ACROSS, .extension = v.extension};
}

static bool is_divided(const division *d)
{
    return d->set || d->across > 1;
}

/* Maps a coordinate to 0..1 through the extension; a rejected one belongs to the area at the edge. */
static float wrapped(float x, txm_extension extension)
{
    txm_wrap(&x, (int)extension);
    return fminf(fmaxf(x, 0), 1);
}

/* The number of an area, from 1 on. Every second row is numbered backwards, so consecutive areas are neighbours and
 * share tiles of coarse levels. */
static uint8_t area_of(const division *d, float u, float v)
{
    if (d->set) {
        const float number = floorf(fminf(fmaxf(u, 0), UDIM_COLUMNS - 1)) + UDIM_COLUMNS * floorf(fmaxf(v, 0));
        return (uint8_t)(1 + (number < 1e6f ? (uint32_t)number % MOST_AREAS : 0)); /* also false for NaN */
    }
    const float n = (float)d->across, x = wrapped(u, TXM_EXTENSION_U(d->extension)) * n;
    const float y = wrapped(v, TXM_EXTENSION_V(d->extension)) * n;
    const uint32_t last = d->across - 1, column = x < n ? (uint32_t)x : last, row = y < n ? (uint32_t)y : last;
    return (uint8_t)(1 + row * d->across + (row & 1 ? last - column : column));
}

/* Looks up without requests. The areas of lookups that missed are written to `areas`, 0 for the others; returns the
 * number of misses. */
static size_t sample_present(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookups *given,
                             const division *d, uint8_t *areas, txm_lookup_result *worst)
{
    attempt a;
    txm_lookup_state lane = {0};
    begin_attempt(&a, given);
    const size_t missed = look_up(t, texture, how, &a, &lane);
    for (size_t i = 0; i < given->count; i++) {
        areas[i] = a.mask[i] ? area_of(d, given->u[i], given->v[i]) : 0;
        if (a.mask[i])
            a.result[i] = TXM_LOOKUP_HIT; /* it will be resident when it is repeated */
    }
    *worst = worse(*worst, end_attempt(&a, given));
    return missed;
}

/* Lookups of an area, gathered from anywhere in the batch. */
typedef struct gathered {
    size_t count;
    float in[6][FEW], out[4][FEW];
    uint32_t from[FEW], random[FEW];
    uint8_t result[FEW];
} gathered;

static void gather(gathered *g, const txm_lookups *b, size_t i)
{
    const float *const in[] = {b->u, b->v, b->dudx, b->dvdx, b->dudy, b->dvdy};
    for (int k = 0; k < 6; k++)
        g->in[k][g->count] = in[k][i];
    if (b->random)
        g->random[g->count] = b->random[i];
    g->from[g->count++] = (uint32_t)i;
}

/* Looks up what was gathered, and writes the results to their places in the batch. */
static txm_lookup_result sample_gathered(txm_cache_thread *t, uint32_t texture, const txm_sampler *how,
                                         const txm_lookups *b, gathered *g)
{
    const txm_lookups together = {g->count, g->in[0],
                                  g->in[1], g->in[2],
                                  g->in[3], g->in[4],
                                  g->in[5], b->random ? g->random : NULL,
                                  NULL,     {g->out[0], g->out[1], g->out[2], g->out[3]},
                                  g->result};
    size_t missed;
    const txm_lookup_result worst = sample_few(t, texture, how, &together, &missed);
    for (size_t i = 0; i < g->count; i++) {
        const uint32_t to = g->from[i];
        for (int n = 0; n < 4; n++)
            b->out[n][to] = g->out[n][i];
        if (b->random)
            b->random[to] = g->random[i];
        if (b->result)
            b->result[to] = g->result[i];
    }
    g->count = 0;
    return worst;
}

/* Does as many lookups as `areas` has room for. Threads begin at different areas, so each finds tiles that others have
 * loaded. */
static txm_lookup_result sample_by_areas(txm_cache_thread *t, uint32_t texture, const txm_sampler *how,
                                         const txm_lookups *part, const division *d, size_t *missed)
{
    const uint32_t areas = d->set ? MOST_AREAS : d->across * d->across;
    const uint32_t first = t->number * 5 * areas / 8 % areas; /* steps of about the golden ratio */
    const uint8_t *end = t->areas + part->count;
    txm_lookup_result worst = TXM_LOOKUP_HIT;
    gathered g = {.count = 0};
    *missed = 0;
    for (size_t i = 0; i < part->count; i += FEW) {
        const txm_lookups few = part_of(part, i, part->count - i < FEW ? part->count - i : FEW);
        *missed += sample_present(t, texture, how, &few, d, t->areas + i, &worst);
    }
    for (uint32_t k = 0; *missed && k < areas; k++) {
        const int area = 1 + (int)((first + k) % areas);
        for (const uint8_t *p = t->areas; p < end && (p = memchr(p, area, (size_t)(end - p))); p++) {
            gather(&g, part, (size_t)(p - t->areas));
            if (g.count == FEW)
                worst = worse(worst, sample_gathered(t, texture, how, part, &g));
        }
        if (g.count)
            worst = worse(worst, sample_gathered(t, texture, how, part, &g));
    }
    return worst;
}

/* ---- the call ---- */

txm_lookup_result txm_cache_sample_n(txm_cache_thread *t, uint32_t texture, const txm_sampler *how,
                                     const txm_lookups *batch)
{
    txm_lookup_result worst = TXM_LOOKUP_HIT;
    txm_sampler biased = *how;
    division d = {1, 0, false};
    biased.mip_bias += t->cache->world.bias;
    if (!batch->random)
        biased.chance = TXM_CHANCE_NONE;
    txm_retry(t->cache);
    /* For sets with a base, one of two textures is chosen for each lookup, which the batch sampler cannot do. */
    txm_enter(t);
    const bool has_base = texture < t->view.texture_count && t->view.textures[texture].udim_rows &&
                          t->cache->catalog.textures[texture].base != TXM_NO_TEXTURE;
    txm_leave(t);
    if (has_base || atomic_load_explicit(&t->cache->world.watched, memory_order_relaxed))
        return txm_lookup_each(t, texture, how, batch, NULL);
    if (batch->count > FEW) {
        d = divide(t, texture);
        make_many(t, is_divided(&d) ? (batch->count < MOST ? batch->count : MOST) : 0);
    }
    const size_t most = is_divided(&d) && t->areas_most > FEW ? t->areas_most : FEW;
    for (size_t begin = 0, n; begin < batch->count; begin += n) {
        n = batch->count - begin < most ? batch->count - begin : most;
        const txm_lookups part = part_of(batch, begin, n);
        size_t missed;
        worst = worse(worst, most > FEW ? sample_by_areas(t, texture, &biased, &part, &d, &missed)
                                        : sample_few(t, texture, &biased, &part, &missed));
        txm_count(&t->reader.missed, missed);
    }
    uint64_t wanted = batch->mask ? 0 : batch->count;
    for (size_t i = 0; batch->mask && i < batch->count; i++)
        wanted += batch->mask[i] != 0;
    txm_count(&t->reader.quick.lookups, wanted);
    return worst;
}
