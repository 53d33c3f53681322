/* SPDX-License-Identifier: Apache-2.0
 * Lookups of threads: the sampler, and what is missing loaded until nothing is.
 *
 * The fast path of the cache: a hit takes no lock, and of what threads share it writes nothing but a mark,
 * where that is not set yet. A miss leaves the guarded section, loads what it asked for itself or waits for
 * whoever has it, and looks up again from the beginning, with the random state of its first attempt: so the
 * answer is that of a cache that held everything, whatever was missing and in whatever order it came.
 *
 * Termination: what a thread has loaded is pinned until its lookup has succeeded, so each round leaves
 * fewer tiles to miss, and tiles that cannot be read count as found. Lookups of many are in many.c. */
#include "tile/cache/cache_impl.h"
#include "tile/sample/level.h"

/* ---- UDIM sets ---- */

/* Whether the base texture of a set has the level that a lookup wants; makes it a lookup there.
 * Derivatives scale with the place: one tile's width is 1 / columns of the base's. */
static bool base_serves(const txm_cache *c, const txm_texture *set, const txm_sampler *how, txm_lookup *at)
{
    const txm_view_texture *base = &c->view_textures[set->base];
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

/* Sets within sets do not exist. Called between enter and leave, or with the lock. Outside the set is
 * TXM_NO_TEXTURE, as is a number that has no tile. */
uint32_t txm_shown_texture(const txm_cache *c, uint32_t texture, const txm_sampler *how, txm_lookup *at)
{
    if (texture >= __atomic_load_n(&c->view.texture_count, __ATOMIC_ACQUIRE))
        return TXM_NO_TEXTURE;
    const txm_view_texture *v = &c->view_textures[texture];
    if (!v->udim_rows)
        return texture;
    const txm_texture *set = &c->textures[texture];
    if (set->base != TXM_NO_TEXTURE && base_serves(c, set, how, at))
        return set->base;
    uint32_t number = txm_udim_of(&at->u, &at->v);
    return number && number - 1001 < v->udim_rows * 10 ? c->udims[v->first + number - 1001] : TXM_NO_TEXTURE;
}

/* Arrays that grow are replaced once no thread of the cache is in a lookup. The caller may be another thread, so only
 * the lock keeps the arrays in place. The cast takes const away for the lock alone. */
uint32_t txm_cache_resolve(const txm_cache *c, uint32_t texture, const txm_sampler *how, txm_lookup *at)
{
    pthread_mutex_t *lock = &((txm_cache *)c)->lock;
    pthread_mutex_lock(lock);
    texture = txm_shown_texture(c, texture, how, at);
    pthread_mutex_unlock(lock);
    return texture;
}

/* ---- misses ---- */

/* Planned and slotted under one lock, then read without it. Where nothing was to be read, because a texture
 * was opened or a level registered, others who wait are woken all the same: that may be what they waited
 * for. */
void txm_fetch(txm_cache_thread *t, uint32_t requests)
{
    txm_cache *c = t->cache;
    uint32_t count = 0;
    pthread_mutex_lock(&c->lock);
    txm_own_view_ends(c);
    c->stats.locks++;
    for (uint32_t i = 0; i < requests; i++)
        if (txm_plan(c, t->requests[i], &t->jobs[count]))
            count++;
    for (uint32_t i = 0; i < count; i++)
        txm_plan_slot(c, &t->jobs[i], true);
    if (!count)
        txm_notify(c);
    atomic_store(&t->asks_of, UINT64_MAX);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 0; i < count; i++)
        txm_load(c, &t->jobs[i], &t->unwidened, &t->unwidened_bytes, &t->pins);
}

/* Most lookups have none, and take no lock. */
void txm_release_pins(txm_cache_thread *t)
{
    if (!t->pins.count)
        return;
    pthread_mutex_lock(&t->cache->lock);
    txm_unpin(t->cache, &t->pins);
    pthread_mutex_unlock(&t->cache->lock);
}

/* The first round never waits: the count must be read before a lookup whose misses it is to cover. Looking up
 * twice is cheaper than reading a shared counter in every lookup that hits. */
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
    float *out, *du, *dv; /* du may be NULL */
} call;

/* Sets are resolved under the guard of look, since grids and textures may move. */
static txm_look look_in_set(txm_cache_thread *t, const call *k, txm_lane *lane)
{
    txm_lookup at = *k->at;
    uint32_t texture = txm_shown_texture(t->cache, k->texture, k->how, &at);
    return k->du ? txm_sample_d(&t->view, texture, k->how, &at, lane, k->out, k->du, k->dv)
                 : txm_sample(&t->view, texture, k->how, &at, lane, k->out);
}

/* Between enter and leave nothing that is seen can be freed. The lane starts from the caller's random state
 * every time, and asks for at most TXM_LOOKUP_TILES; what is left is asked for in the next round. */
static inline txm_look look(txm_cache_thread *t, const call *k, txm_lane *lane)
{
    txm_look result;
    *lane = (txm_lane){.random = k->random ? *k->random : 0, .capacity = TXM_LOOKUP_TILES, .requests = t->requests};
    txm_enter_to_ask(t);
    if (k->texture < t->view.texture_count && t->view.textures[k->texture].udim_rows)
        result = look_in_set(t, k, lane);
    else if (k->du)
        result = txm_sample_d(&t->view, k->texture, k->how, k->at, lane, k->out, k->du, k->dv);
    else
        result = txm_sample(&t->view, k->texture, k->how, k->at, lane, k->out);
    txm_leave_asking(t, lane->count);
    return result;
}

/* A lookup can return a colour and yet have asked for something: a stand-in was shown. Blocking lookups
 * don't settle for that. */
static __attribute__((noinline)) txm_look look_until_there(txm_cache_thread *t, const call *k, txm_lane *lane,
                                                           txm_look result)
{
    txm_watch w = {0};
    while (result == TXM_LOOK_MISSED || lane->count) {
        txm_get(t, lane->count, &w);
        result = look(t, k, lane);
    }
    txm_release_pins(t);
    return result;
}

txm_look txm_look_until_there(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                              uint32_t *random, float out[4])
{
    const call k = {texture, how, at, random, out, NULL, NULL};
    txm_lane lane;
    txm_look result = look_until_there(t, &k, &lane, look(t, &k, &lane));
    if (random)
        *random = lane.random;
    return result;
}

/* ---- spurious misses, for tests ---- */

typedef struct dropping {
    txm_cache_thread *thread;
    uint32_t begin, end, epoch;
} dropping;

/* A generator per thread: tests are repeatable. Knuth's 64-bit congruential step; its upper 24 bits, of
 * which a float keeps every one. */
static bool chance(txm_cache_thread *t)
{
    t->chance = t->chance * 6364136223846793005u + 1442695040888963407u;
    return (float)(t->chance >> 40) < t->cache->options.spurious * 16777216.0f;
}

static bool is_dropped(txm_cache *c, uint32_t slot, void *arg)
{
    dropping *d = arg;
    const txm_slot *s = txm_slot_at(c, slot);
    return txm_slot_evictable(s) && s->entry >= d->begin && s->entry < d->end && chance(d->thread);
}

/* Drops tiles of the texture that is about to be looked up. So every path that a tight budget would take is
 * taken in tests of a few tiles, with results that must not change. */
static void drop_some(txm_cache_thread *t, const call *k)
{
    txm_cache *c = t->cache;
    txm_lookup at = *k->at;
    if (!chance(t))
        return;
    pthread_mutex_lock(&c->lock);
    uint32_t texture = txm_shown_texture(c, k->texture, k->how, &at);
    txm_source *s = texture < c->stats.textures ? c->textures[texture].source : NULL;
    if (s) {
        dropping d = {t, s->first, s->first + s->view->levels + txm_source_tiles(s, s->registered), 0};
        txm_evict_if(c, TXM_ALL_SLABS, is_dropped, &d);
    }
    pthread_mutex_unlock(&c->lock);
}

/* ---- calls ---- */

/* Any lookup, in any state of the cache. The sampler is copied only where a bias applies. What a trace
 * records is the random state before the lookup, not after it. */
static __attribute__((noinline)) txm_look sample(txm_cache_thread *t, const call *given)
{
    txm_lane lane;
    call k = *given;
    txm_sampler biased;
    txm_sampler certain;
    if (!k.random)
        k.how = txm_sampler_without_chance(k.how, &certain);
    uint32_t begin = k.random ? *k.random : 0;
    bool watched = atomic_load_explicit(&t->cache->watched, memory_order_relaxed);
    if (t->cache->bias != 0.0f) {
        biased = *k.how;
        biased.mip_bias += t->cache->bias;
        k.how = &biased;
    }
    if (watched && t->cache->options.spurious > 0.0f)
        drop_some(t, &k);
    txm_look result = look(t, &k, &lane);
    txm_count(&t->quick.lookups, 1);
    if (result == TXM_LOOK_FAILED && !lane.count && txm_retry(t->cache))
        result = look(t, &k, &lane);
    if (result == TXM_LOOK_MISSED || lane.count) {
        txm_count(&t->missed, 1);
        result = look_until_there(t, &k, &lane, result);
    }
    if (k.random)
        *k.random = lane.random;
    if (watched)
        txm_trace_lookup(t, k.texture, k.how, k.at, begin);
    return result;
}

/* With a resolution: the sampler is kept with the bias added, for as long as the same one is asked for. */
txm_look txm_look_biased(txm_guard *quick, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                         uint32_t *random, float out[4])
{
    txm_cache_thread *t = txm_thread_of(quick);
    if (memcmp(how, &t->asked, sizeof *how) != 0) {
        t->asked = t->biased = *how;
        t->biased.mip_bias += t->cache->bias;
    }
    return t->sample(quick, texture, &t->biased, at, random, out);
}

txm_look txm_look_again(txm_guard *quick, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                        uint32_t *random, float out[4])
{
    txm_cache_thread *t = txm_thread_of(quick);
    how = how == &t->biased ? &t->asked : how; /* the bias is added again */
    return sample(t, &(call){texture, how, at, random, out, NULL, NULL});
}

/* The usual lookup hits; what does not goes the general way from the beginning, with what it was given.
 *
 * Lookups that wait for memory overlap only while the processor's queues hold both, and the queue of loads is
 * the shortest (linear_simd.h): each load around the sampler counts. So nothing is tested before it is called. When
 * the view, the epoch or anything else has changed, what is called is a function that misses. And nothing is left to be
 * done after it: the sampler's entry ends what begins here. */
txm_look txm_cache_sample(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                          uint32_t *random, float out[4])
{
    atomic_store_explicit(&t->quick.active, 1, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst); /* as in txm_enter */
    return atomic_load_explicit(&t->quick.sample, memory_order_acquire)(&t->quick, texture, how, at, random, out);
}

/* Slopes are rare (bump mapping), so they have no fast path of their own. */
txm_look txm_cache_sample_d(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                            uint32_t *random, float out[4], float du[4], float dv[4])
{
    return sample(t, &(call){texture, how, at, random, out, du, dv});
}
