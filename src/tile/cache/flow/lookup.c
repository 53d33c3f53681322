/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocking lookups: the sampler is called again until nothing is missing.
 *
 * This is the fast path of the cache. A hit takes no lock and writes nothing that threads share, except for a mark that
 * is not set yet. After a miss, the lookup leaves the guarded section, loads the missing tiles or waits for the thread
 * that loads them, and starts again from the beginning with the same random state. So the result is that of a cache
 * which holds everything, whatever was missing and in whatever order it was loaded.
 *
 * The loop ends because the tiles that a thread has loaded are pinned until its lookup has succeeded, so each round
 * misses fewer tiles; tiles that cannot be read count as found. Lookups of many at a time are in many.c.
 */
#include "tile/cache/flow/flow.h"
#include "tile/sample/level.h"

/* ---- UDIM sets ---- */

/* Whether the base texture of a set has the level that a lookup needs; if so, *at becomes a lookup in the base.
 * Derivatives are scaled like the coordinates, because the width of one tile is 1 / columns of the base. */
static bool base_serves(const txm_cache *c, const txm_texture *set, const txm_sampler *how, txm_lookup *at)
{
    const txm_view_texture *base = &c->catalog.view_textures[set->base];
    float x = 1.0f / (float)set->base_columns, y = 1.0f / (float)set->base_rows;
    txm_lookup whole = {at->u * x, at->v * y, at->dudx * x, at->dvdx * y, at->dudy * x, at->dvdy * y};
    uint32_t none = 0;
    if (how->rule == TXM_LEVEL_RULE_GIVEN ||
        !(whole.u >= 0.0f && whole.u < 1.0f && whole.v >= 0.0f && whole.v < 1.0f) ||
        !(txm_level_of(base->width, base->height, how, &whole, &none) >= 0.0f))
        return false;
    *at = whole;
    return true;
}

/* Sets cannot contain sets. Called between txm_enter and txm_leave, or with the lock held. TXM_NO_TEXTURE: the place is
 * outside the set, or its number has no tile. */
uint32_t txm_shown_texture(const txm_cache *c, uint32_t texture, const txm_sampler *how, txm_lookup *at)
{
    if (texture >= __atomic_load_n(&c->world.view.texture_count, __ATOMIC_ACQUIRE))
        return TXM_NO_TEXTURE;
    const txm_view_texture *v = &c->catalog.view_textures[texture];
    if (!v->udim_rows)
        return texture;
    const txm_texture *set = &c->catalog.textures[texture];
    if (set->base != TXM_NO_TEXTURE && base_serves(c, set, how, at))
        return set->base;
    uint32_t number = txm_udim_of(&at->u, &at->v);
    return number && number - 1001 < v->udim_rows * 10 ? c->catalog.udims[v->first + number - 1001] : TXM_NO_TEXTURE;
}

/* Arrays that grow are replaced once no thread of the cache is in a lookup. The caller may be any other thread, so only
 * the lock keeps the arrays in place. The cast removes const for the lock only. */
uint32_t txm_cache_resolve(const txm_cache *c, uint32_t texture, const txm_sampler *how, txm_lookup *at)
{
    pthread_mutex_t *lock = &((txm_cache *)c)->lock;
    pthread_mutex_lock(lock);
    texture = txm_shown_texture(c, texture, how, at);
    pthread_mutex_unlock(lock);
    return texture;
}

/* ---- misses ---- */

/* Jobs are planned and get their slots under one lock, and are read without it. If there is nothing to read, because a
 * texture was opened, waiting threads are woken too: they may be waiting for that. */
void txm_fetch(txm_cache_thread *t, uint32_t requests)
{
    txm_cache *c = t->cache;
    uint32_t count = 0;
    pthread_mutex_lock(&c->lock);
    c->stats.locks++;
    for (uint32_t i = 0; i < requests; i++)
        if (txm_take_request(c, t->requests[i], &t->jobs[count]))
            count++;
    for (uint32_t i = 0; i < count; i++)
        txm_job_take_slot(c, &t->jobs[i], TXM_NEED_MUST);
    if (!count)
        txm_notify(c);
    atomic_store(&t->reader.asks_of, UINT64_MAX);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 0; i < count; i++)
        txm_load(c, &t->jobs[i], &t->pins);
}

/* Most lookups have no pins, and take no lock. */
void txm_release_pins(txm_cache_thread *t)
{
    if (!t->pins.count)
        return;
    pthread_mutex_lock(&t->cache->lock);
    txm_unpin(t->cache, &t->pins);
    pthread_mutex_unlock(&t->cache->lock);
}

/* The first round never waits, because the count must be read before a lookup to cover its misses. Looking up twice is
 * cheaper than reading a shared counter in every lookup that hits. */
void txm_get(txm_cache_thread *t, uint32_t requests, txm_watch *w)
{
    if (requests)
        txm_fetch(t, requests);
    else if (w->watched)
        txm_wait_for_others(t->cache, w->seen);
    w->watched = true;
    w->seen = atomic_load(&t->cache->completions);
}

/* ---- one lookup ---- */

typedef struct call {
    uint32_t texture;
    const txm_sampler *how;
    const txm_lookup *at;
    uint32_t *random;
    float *out, *du, *dv;        /* du may be NULL */
    txm_sample_function several; /* NULL, or a lookup that is made of several */
} call;

static bool is_base(const txm_cache *c, uint32_t texture, uint32_t shown)
{
    return texture != shown && shown != TXM_NO_TEXTURE && c->catalog.textures[texture].base == shown;
}

/* Nothing that is read between txm_enter and txm_leave can be freed or moved; hence sets are resolved there. The lane
 * starts from the caller's random state every time, and requests at most TXM_LOOKUP_TILES tiles; others are requested
 * in the next round. */
static inline txm_lookup_result look(txm_cache_thread *t, const call *k, txm_lookup_state *lane)
{
    txm_lookup_result result;
    txm_lookup at = *k->at;
    uint32_t texture = k->texture;
    *lane =
        (txm_lookup_state){.random = k->random ? *k->random : 0, .capacity = TXM_LOOKUP_TILES, .requests = t->requests};
    txm_enter_to_ask(t);
    if (texture < t->view.texture_count && t->view.textures[texture].udim_rows)
        texture = txm_shown_texture(t->cache, texture, k->how, &at);
    if (k->several && !is_base(t->cache, k->texture, texture))
        result = k->several(&t->view, k->texture, k->how, k->at, lane, k->out);
    else if (k->du)
        result = txm_sample_d(&t->view, texture, k->how, &at, lane, k->out, k->du, k->dv);
    else
        result = txm_sample(&t->view, texture, k->how, &at, lane, k->out);
    txm_leave_asking(t, lane->count);
    return result;
}

/* A lookup may return a colour although it has requested a tile: then the colour is a stand-in, which a blocking lookup
 * must not return. */
static __attribute__((noinline)) txm_lookup_result look_until_there(txm_cache_thread *t, const call *k,
                                                                    txm_lookup_state *lane, txm_lookup_result result)
{
    txm_watch w = {0};
    while (result == TXM_LOOKUP_MISS || lane->count) {
        txm_get(t, lane->count, &w);
        result = look(t, k, lane);
    }
    txm_release_pins(t);
    return result;
}

txm_lookup_result txm_lookup_until_there(txm_cache_thread *t, uint32_t texture, const txm_sampler *how,
                                         const txm_lookup *at, uint32_t *random, float out[4])
{
    const call k = {.texture = texture, .how = how, .at = at, .random = random, .out = out};
    txm_lookup_state lane;
    txm_lookup_result result = look_until_there(t, &k, &lane, look(t, &k, &lane));
    if (random)
        *random = lane.random;
    return result;
}

/* ---- spurious misses, for tests ---- */

typedef struct dropping {
    txm_cache_thread *thread;
    const txm_source *source;
} dropping;

/* Each thread has a generator of its own, so tests can be repeated. Knuth's 64-bit congruential step; the upper 24 bits
 * fit exactly into a float. */
static bool chance(txm_cache_thread *t)
{
    t->chance = t->chance * 6364136223846793005u + 1442695040888963407u;
    return (float)(t->chance >> 40) < t->cache->spurious * 16777216.0f;
}

static bool is_dropped(void *arg, const txm_slot *s)
{
    dropping *d = arg;
    return txm_slot_evictable(s) && txm_source_of(&d->thread->cache->catalog, s->held.tile) == d->source &&
           chance(d->thread);
}

/* Drops tiles of the texture that is about to be looked up. So tests with a few tiles run through all paths that a
 * tight budget would cause, and the results must not change. */
static void drop_some(txm_cache_thread *t, const call *k)
{
    txm_cache *c = t->cache;
    txm_lookup at = *k->at;
    if (!chance(t))
        return;
    pthread_mutex_lock(&c->lock);
    uint32_t texture = txm_shown_texture(c, k->texture, k->how, &at);
    txm_source *s = texture < c->stats.textures ? c->catalog.textures[texture].source : NULL;
    if (s) {
        dropping d = {t, s};
        txm_evict_if(&c->tiles, TXM_ALL_SLABS, is_dropped, &d);
    }
    pthread_mutex_unlock(&c->lock);
}

/* ---- calls ---- */

/* The general lookup, for any state of the cache. The sampler is copied only if there is a bias. A trace records the
 * random state before the lookup. */
static __attribute__((noinline)) txm_lookup_result sample(txm_cache_thread *t, const call *given)
{
    txm_lookup_state lane;
    call k = *given;
    txm_sampler biased;
    txm_sampler certain;
    if (!k.random)
        k.how = txm_sampler_without_chance(k.how, &certain);
    uint32_t begin = k.random ? *k.random : 0;
    bool watched = atomic_load_explicit(&t->cache->world.watched, memory_order_relaxed);
    if (t->cache->world.bias != 0.0f) {
        biased = *k.how;
        biased.mip_bias += t->cache->world.bias;
        k.how = &biased;
    }
    if (watched && t->cache->spurious > 0.0f)
        drop_some(t, &k);
    txm_lookup_result result = look(t, &k, &lane);
    txm_count(&t->reader.quick.lookups, 1);
    if (result == TXM_LOOKUP_FAILURE && !lane.count && txm_retry(t->cache))
        result = look(t, &k, &lane);
    if (result == TXM_LOOKUP_MISS || lane.count) {
        txm_count(&t->reader.missed, 1);
        result = look_until_there(t, &k, &lane, result);
    }
    if (k.random)
        *k.random = lane.random;
    if (watched)
        txm_trace_lookup(t, k.texture, k.how, k.at, begin);
    return result;
}

/* With a resolution: keeps a copy of the sampler with the bias added, as long as the caller passes the same sampler. */
txm_lookup_result txm_lookup_biased(txm_guard *quick, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                                    uint32_t *random, float out[4])
{
    txm_cache_thread *t = txm_thread_of(quick);
    if (memcmp(how, &t->asked, sizeof *how) != 0) {
        t->asked = t->biased = *how;
        t->biased.mip_bias += t->cache->world.bias;
    }
    return t->sample(quick, texture, &t->biased, at, random, out);
}

txm_lookup_result txm_lookup_again(txm_guard *quick, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                                   uint32_t *random, float out[4])
{
    txm_cache_thread *t = txm_thread_of(quick);
    how = how == &t->biased ? &t->asked : how; /* because the bias is added again */
    return sample(t, &(call){.texture = texture, .how = how, .at = at, .random = random, .out = out});
}

/* The usual lookup hits; one that misses is repeated by the general path with its original arguments.
 *
 * Lookups that wait for memory overlap only as far as the processor's queues hold several of them, and the queue of
 * loads is the shortest (linear_simd.h), so each load around the sampler counts. Therefore nothing is tested before the
 * sampler is called. If the view, the epoch or anything else has changed, the pointer is that of a function that
 * reports a miss. And nothing is done after the call: the sampler's entry function ends the section that begins here.
 */
txm_lookup_result txm_cache_sample(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                                   uint32_t *random, float out[4])
{
    atomic_store_explicit(&t->reader.quick.active, 1, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst); /* as in txm_enter */
    return atomic_load_explicit(&t->reader.quick.sample, memory_order_acquire)(&t->reader.quick, texture, how, at,
                                                                               random, out);
}

/* Derivatives of the colour are rarely needed (bump mapping), so they have no fast path. */
txm_lookup_result txm_cache_sample_d(txm_cache_thread *t, uint32_t texture, const txm_sampler *how,
                                     const txm_lookup *at, uint32_t *random, float out[4], float du[4], float dv[4])
{
    return sample(t, &(call){texture, how, at, random, out, du, dv, NULL});
}

txm_lookup_result txm_lookup_each(txm_cache_thread *t, uint32_t texture, const txm_sampler *how,
                                  const txm_lookups *batch, const txm_lookup_slopes *slopes)
{
    txm_lookup_result worst = TXM_LOOKUP_HIT;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->mask && !batch->mask[i])
            continue;
        const txm_lookup at = {batch->u[i],    batch->v[i],    batch->dudx[i],
                               batch->dvdx[i], batch->dudy[i], batch->dvdy[i]};
        uint32_t *random = batch->random ? &batch->random[i] : NULL;
        float out[4], du[4], dv[4];
        const txm_lookup_result result = slopes ? txm_cache_sample_d(t, texture, how, &at, random, out, du, dv)
                                                : txm_cache_sample(t, texture, how, &at, random, out);
        for (int c = 0; c < 4; c++) {
            batch->out[c][i] = out[c];
            if (slopes) {
                slopes->du[c][i] = du[c];
                slopes->dv[c][i] = dv[c];
            }
        }
        if (batch->result)
            batch->result[i] = (uint8_t)result;
        worst = result > worst ? result : worst;
    }
    return worst;
}

txm_lookup_result txm_cache_sample_n_d(txm_cache_thread *t, uint32_t texture, const txm_sampler *how,
                                       const txm_lookups *batch, const txm_lookup_slopes *slopes)
{
    return txm_lookup_each(t, texture, how, batch, slopes);
}

txm_lookup_result txm_cache_sample_udim_blend(txm_cache_thread *t, uint32_t texture, const txm_sampler *how,
                                              const txm_lookup *at, uint32_t *random, float out[4])
{
    return sample(t, &(call){texture, how, at, random, out, NULL, NULL, txm_sample_udim_blend});
}

txm_lookup_result txm_cache_sample_latlong(txm_cache_thread *t, uint32_t texture, const txm_sampler *how,
                                           const txm_lookup *at, uint32_t *random, float out[4])
{
    return sample(t, &(call){texture, how, at, random, out, NULL, NULL, txm_sample_latlong});
}
