/* SPDX-License-Identifier: Apache-2.0
 * Look-ups of threads: the sampler, and what is missing loaded until nothing is.
 *
 * The fast path of the cache: a hit takes no lock, and of what threads share it writes nothing but a mark,
 * where that is not set yet. A miss leaves the guarded section, loads what it asked for itself or waits for
 * whoever has it, and looks up again from the beginning, with the random state of its first attempt: so the
 * answer is that of a cache that held everything, whatever was missing and in whatever order it came.
 *
 * Termination: what a thread has loaded is pinned until its look-up has succeeded, so each round leaves
 * fewer tiles to miss, and tiles that cannot be read count as found. Look-ups of many may give their pins
 * up between rounds, and so end one by one. */
#include "residency/residency_impl.h"

/* ---- UDIM sets ---- */

/* Whether the base texture of a set has the level that a look-up wants; makes it a look-up there.
 * Derivatives scale with the place: one tile's width is 1 / columns of the base's. */
static bool base_serves(const txm_cache *c, const txm_texture *set, const txm_sampler *how, txm_lookup *at)
{
    const txm_view_texture *base = &c->view_textures[set->base];
    float x = 1.0f / (float)set->base_columns, y = 1.0f / (float)set->base_rows;
    txm_lookup whole = {at->u * x, at->v * y, at->dudx * x, at->dvdx * y, at->dudy * x, at->dvdy * y};
    uint32_t none = 0;
    if (!(whole.u >= 0.0f && whole.u < 1.0f && whole.v >= 0.0f && whole.v < 1.0f) ||
        !(txm_level_of(base->width, base->height, how, &whole, &none) >= 0.0f))
        return false;
    *at = whole;
    return true;
}

/* Sets within sets do not exist. Called between enter and leave, or with the lock. Outside the set is
 * TXM_NO_TEXTURE, as is a number that has no tile. */
uint32_t txm_cache_resolve(const txm_cache *c, uint32_t texture, const txm_sampler *how, txm_lookup *at)
{
    if (texture >= c->view.texture_count)
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

/* ---- misses ---- */

/* Planned and slotted under one lock, then read without it. Where nothing was to be read, because a texture
 * was opened or a level registered, others who wait are woken all the same: that may be what they waited
 * for. */
void txm_fetch(txm_cache_thread *t, uint32_t requests)
{
    txm_cache *c = t->cache;
    uint32_t count = 0;
    pthread_mutex_lock(&c->lock);
    c->stats.locks++;
    for (uint32_t i = 0; i < requests; i++)
        if (txm_plan(c, t->requests[i], &t->jobs[count]))
            count++;
    for (uint32_t i = 0; i < count; i++)
        txm_plan_slot(c, &t->jobs[i]);
    if (!count)
        txm_notify(c);
    pthread_mutex_unlock(&c->lock);
    for (uint32_t i = 0; i < count; i++)
        txm_load(c, &t->jobs[i], &t->unwidened, &t->unwidened_bytes, &t->pins);
}

/* Most look-ups have none, and take no lock. */
void txm_release_pins(txm_cache_thread *t)
{
    if (!t->pins.count)
        return;
    pthread_mutex_lock(&t->cache->lock);
    txm_unpin(t->cache, &t->pins);
    pthread_mutex_unlock(&t->cache->lock);
}

/* What to wait for when another thread has what is missing: seen before the look-up, so that nothing is missed. */
typedef struct watch {
    uint64_t seen;
    bool watched;
} watch;

/* Loads what is missing, or waits for others who do. The first round never waits: the count must be read
 * before a look-up whose misses it is to cover. Looking up twice is cheaper than reading a shared counter
 * in every look-up that hits. */
static void get(txm_cache_thread *t, uint32_t requests, watch *w)
{
    if (requests)
        txm_fetch(t, requests);
    else if (w->watched)
        txm_wait_for_others(t->cache, w->seen);
    w->watched = true;
    w->seen = atomic_load(&t->cache->completions);
}

/* ---- one look-up ---- */

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
    uint32_t texture = txm_cache_resolve(t->cache, k->texture, k->how, &at);
    return k->du ? txm_sample_d(&t->view, texture, k->how, &at, lane, k->out, k->du, k->dv)
                 : txm_sample(&t->view, texture, k->how, &at, lane, k->out);
}

/* Between enter and leave nothing that is seen can be freed. The lane starts from the caller's random state
 * every time, and asks for at most TXM_LOOKUP_TILES; what is left is asked for in the next round. */
static inline txm_look look(txm_cache_thread *t, const call *k, txm_lane *lane)
{
    txm_look result;
    *lane = (txm_lane){k->random ? *k->random : 0, TXM_LOOKUP_TILES, 0, t->requests};
    txm_enter(t);
    if (k->texture < t->view.texture_count && t->view.textures[k->texture].udim_rows)
        result = look_in_set(t, k, lane);
    else if (k->du)
        result = txm_sample_d(&t->view, k->texture, k->how, k->at, lane, k->out, k->du, k->dv);
    else
        result = txm_sample(&t->view, k->texture, k->how, k->at, lane, k->out);
    txm_leave(t);
    return result;
}

/* A look-up can return a colour and yet have asked for something: a stand-in was shown. Blocking look-ups
 * don't settle for that. */
static __attribute__((noinline)) txm_look look_until_there(txm_cache_thread *t, const call *k, txm_lane *lane,
                                                           txm_look result)
{
    watch w = {0};
    while (result == TXM_LOOK_MISSED || lane->count) {
        get(t, lane->count, &w);
        result = look(t, k, lane);
    }
    txm_release_pins(t);
    return result;
}

/* No atomic addition: each thread has counters of its own. */
static void count(atomic_uint_least64_t *counter, uint64_t n)
{
    /* One thread writes it. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_relaxed);
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
    return !s->pins && s->entry >= d->begin && s->entry < d->end && chance(d->thread);
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
    uint32_t texture = txm_cache_resolve(c, k->texture, k->how, &at);
    txm_source *s = texture < c->stats.textures ? c->textures[texture].source : NULL;
    if (s) {
        dropping d = {t, s->view.first, s->view.first + s->view.levels + txm_source_tiles(s, s->registered), 0};
        txm_evict_if(c, is_dropped, &d);
    }
    pthread_mutex_unlock(&c->lock);
}

/* ---- calls ---- */

/* Any look-up, in any state of the cache. The sampler is copied only where a bias applies. What a trace
 * records is the random state before the look-up, not after it. */
static __attribute__((noinline)) txm_look sample(txm_cache_thread *t, const call *given)
{
    txm_lane lane;
    call k = *given;
    txm_sampler biased;
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
    count(&t->lookups, 1);
    if (result == TXM_LOOK_MISSED || lane.count) {
        count(&t->missed, 1);
        result = look_until_there(t, &k, &lane, result);
    }
    if (k.random)
        *k.random = lane.random;
    if (watched)
        txm_trace_lookup(t, k.texture, k.how, k.at, begin);
    return result;
}

/* What asked for nothing and missed, or may not go the quick way. */
static __attribute__((noinline, cold)) txm_look sample_given(txm_cache_thread *t, uint32_t *random)
{
    const txm_given *k = &t->given;
    txm_leave(t);
    return sample(t, &(call){k->texture, k->how, k->at, random, k->out, NULL, NULL});
}

static inline bool is_set_with_base(const txm_cache_thread *t, uint32_t texture)
{
    return __builtin_expect(texture >= t->with_base, 0) && texture < t->view.texture_count &&
           t->view.textures[texture].udim_rows;
}

/* The usual look-up hits; what does not goes the general way from the beginning. The lane has room for no
 * request, so a miss leaves the page table untouched and the general way asks for everything itself.
 *
 * Each instruction around the sampler counts: look-ups that wait for memory overlap only while they fit the
 * processor's window together. So one number says that neither the view, the epoch nor anything else has
 * changed, and what a miss needs again lies in the thread, not in registers that would have to be saved. */
static inline txm_look sample_quickly(txm_cache_thread *t, uint32_t texture, const txm_sampler *how,
                                      const txm_lookup *at, uint32_t *random, float out[4])
{
    txm_lane *lane = random ? &t->drawn : &t->silent;
    t->given.texture = texture;
    t->given.how = how;
    t->given.at = at;
    t->given.out = out;
    if (random)
        t->given.random = random;
    txm_cache *c = t->cache;
    atomic_store_explicit(&t->active, atomic_load_explicit(&c->grace, memory_order_acquire), memory_order_release);
    atomic_signal_fence(memory_order_seq_cst); /* as in txm_enter */
    if (__builtin_expect(atomic_load_explicit(&c->quick, memory_order_acquire) != t->quick, 0) ||
        is_set_with_base(t, texture))
        return sample_given(t, random);
    if (random)
        lane->random = *random;
    txm_look result = t->sample(&t->view, texture, how, at, lane, out);
    if (__builtin_expect(result != TXM_LOOK_RESIDENT, 0))
        return sample_given(t, random ? t->given.random : NULL);
    txm_leave(t);
    count(&t->lookups, 1);
    if (random)
        *t->given.random = lane->random;
    return result;
}

/* Two copies of one function: without a random state there is less to do. */
txm_look txm_cache_sample(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                          uint32_t *random, float out[4])
{
    return random ? sample_quickly(t, texture, how, at, random, out)
                  : sample_quickly(t, texture, how, at, NULL, out);
}

/* Slopes are rare (bump mapping), so they have no fast path of their own. */
txm_look txm_cache_sample_d(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                            uint32_t *random, float out[4], float du[4], float dv[4])
{
    return sample(t, &(call){texture, how, at, random, out, du, dv});
}

/* ---- many ---- */

enum {
    FEW = 128,           /* look-ups that need no memory of their own */
    MOST = 1 << 20,      /* that are looked up together */
    MOST_TILES = 1 << 12 /* that are loaded together */
};

/* A part of a batch, and what its look-ups need to be repeated. */
typedef struct chunk {
    txm_lookups part;
    uint8_t *mask, *look;
    uint32_t *random;
} chunk;

typedef struct few {
    uint8_t mask[FEW], look[FEW];
    uint32_t random[FEW];
} few;

/* What is kept of each look-up of a batch: two bytes, and its random state if it has one. */
static size_t bytes_of_one(const txm_lookups *b)
{
    return 2 + (b->random ? sizeof(uint32_t) : 0);
}

/* A thread's share of a part of the budget; without a bound all that may be wanted. Threads that do nothing
 * at the moment count as well: their share must be there when they begin. */
static uint64_t share_of(const txm_cache *c, unsigned part)
{
    const uint64_t most = __atomic_load_n(&c->options.max_bytes, __ATOMIC_RELAXED);
    return most && c->options.policy != TXM_CACHE_POLICY_NONE
               ? most / part / atomic_load_explicit(&c->live_threads, memory_order_relaxed)
               : UINT64_MAX;
}

/* Memory to look up many at a time, so that a tile that many of them need is loaded once even where memory
 * is short: a sixteenth of the budget for look-ups and for the lists of tiles. Where there is none, few are
 * looked up at a time. One piece of memory: jobs first, then requests, then what look-ups share, in falling
 * order of alignment. It is only ever exchanged for a larger one, and goes with the thread. */
static void make_many(txm_cache_thread *t, size_t wanted)
{
    enum { PART = 32, EACH_TILE = sizeof(txm_job) + sizeof(uint32_t) };
    txm_cache *c = t->cache;
    pthread_mutex_lock(&c->lock);
    uint64_t share = share_of(c, PART), space = wanted < share ? wanted : share, tiles = share / EACH_TILE;
    space -= space % sizeof(uint32_t);
    tiles = tiles < MOST_TILES ? tiles : MOST_TILES;
    const size_t bytes = tiles * EACH_TILE + space;
    uint8_t *many = NULL;
    if (tiles > TXM_LOOKUP_TILES && space > sizeof(few) && space > t->many_space)
        many = txm_cache_allocate(c, bytes, _Alignof(txm_job));
    if (many) {
        txm_cache_release(c, t->many, t->many_bytes);
        t->many = many;
        t->many_bytes = bytes;
        t->many_space = space;
        t->jobs = (txm_job *)(void *)many;
        t->requests = (uint32_t *)(void *)(t->jobs + tiles);
        t->requests_most = (uint32_t)tiles;
    }
    pthread_mutex_unlock(&c->lock);
}

/* Tiles that a thread may load, and hold, together: those of one look-up, or half the budget of all
 * threads. The largest tile of all textures is assumed, so that no mixture can exceed the share. */
static uint32_t tiles_of_round(const txm_cache_thread *t)
{
    const uint32_t largest = atomic_load_explicit(&t->cache->largest_tile, memory_order_relaxed);
    const uint64_t fit = share_of(t->cache, 2) / (largest ? largest : 1);
    const uint32_t most = fit < t->requests_most ? (uint32_t)fit : t->requests_most;
    return most > TXM_LOOKUP_TILES ? most : TXM_LOOKUP_TILES;
}

/* The part of a batch from `begin` on that is looked up together. The caller's mask is only read; what is
 * left to do is noted in ours. Random states are saved, since look-ups that miss must be repeated from
 * where they began. */
static void cut(const txm_cache_thread *t, chunk *k, few *own, const txm_lookups *b, size_t begin)
{
    const size_t most = t->many ? t->many_space / bytes_of_one(b) : FEW;
    const size_t n = b->count - begin < most ? b->count - begin : most;
    k->random = t->many ? t->requests + t->requests_most : own->random;
    k->mask = t->many ? (uint8_t *)(k->random + (b->random ? n : 0)) : own->mask;
    k->look = t->many ? k->mask + n : own->look;
    k->part = (txm_lookups){n,
                            b->u + begin,
                            b->v + begin,
                            b->dudx + begin,
                            b->dvdx + begin,
                            b->dudy + begin,
                            b->dvdy + begin,
                            b->random ? b->random + begin : NULL,
                            b->mask ? b->mask + begin : NULL,
                            {b->out[0] + begin, b->out[1] + begin, b->out[2] + begin, b->out[3] + begin},
                            k->look};
    if (b->random)
        memcpy(k->random, b->random + begin, n * sizeof *k->random);
}

/* Leaves those to be repeated that have missed; how many. Elements that have hit are finished: their
 * results stay in the caller's arrays, and they are masked out of the next round. */
static size_t keep_missed(chunk *k)
{
    size_t count = 0;
    for (size_t i = 0; i < k->part.count; i++) {
        k->mask[i] = (!k->part.mask || k->part.mask[i]) && k->look[i] == TXM_LOOK_MISSED;
        count += k->mask[i];
        if (k->mask[i] && k->part.random)
            k->part.random[i] = k->random[i];
    }
    k->part.mask = k->mask;
    return count;
}

/* Batches are structures of arrays. */
static void put(const chunk *k, size_t i, const float out[4])
{
    for (int n = 0; n < 4; n++)
        k->part.out[n][i] = out[n];
}

/* Those that are left, each until its tiles are there. One look-up's tiles always fit, since a slab is
 * taken beyond the budget if it must be. */
static void finish_chunk(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, chunk *k)
{
    for (size_t i = 0; i < k->part.count; i++) {
        float out[4];
        const txm_lookup at = {k->part.u[i],    k->part.v[i],    k->part.dudx[i],
                               k->part.dvdx[i], k->part.dudy[i], k->part.dvdy[i]};
        const call one = {texture, how, &at, k->part.random ? &k->part.random[i] : NULL, out, NULL, NULL};
        txm_lane lane;
        if (!k->mask[i])
            continue;
        k->look[i] = (uint8_t)look_until_there(t, &one, &lane, look(t, &one, &lane));
        if (one.random)
            *one.random = lane.random;
        put(k, i, out);
    }
}

/* Elements that missed are looked up again together; where that leads nowhere one by one, which always
 * ends. Returns the worst result of its elements. `looks` is the caller's, and written only where its mask
 * asked for a look-up. */
static txm_look sample_chunk(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, chunk *k, uint8_t *looks)
{
    enum { IDLE_ROUNDS = 8 }; /* a budget that is far too small drops what other look-ups of the chunk need */
    watch w = {0};
    size_t before = SIZE_MAX;
    txm_look worst = TXM_LOOK_RESIDENT;
    const uint8_t *wanted = k->part.mask;
    memset(k->look, TXM_LOOK_RESIDENT, k->part.count);
    for (int idle = 0;;) {
        txm_lane lane = {0, tiles_of_round(t), 0, t->requests};
        txm_enter(t);
        txm_sample_n(&t->view, texture, how, &k->part, &lane);
        txm_leave(t);
        txm_release_pins(t);
        size_t missed = keep_missed(k);
        if (before == SIZE_MAX)
            count(&t->missed, missed);
        if (!missed && !lane.count)
            break;
        get(t, lane.count, &w);
        idle = missed < before ? 0 : idle + 1;
        before = missed;
        if (idle == IDLE_ROUNDS) {
            finish_chunk(t, texture, how, k);
            break;
        }
    }
    txm_release_pins(t);
    for (size_t i = 0; i < k->part.count; i++) {
        worst = k->look[i] > worst ? k->look[i] : worst;
        if (looks && (!wanted || wanted[i]))
            looks[i] = k->look[i];
    }
    return worst;
}

/* One by one: for textures of UDIM tiles that have a base, and where look-ups are watched. */
static txm_look sample_each(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookups *b)
{
    txm_look worst = TXM_LOOK_RESIDENT;
    for (size_t i = 0; i < b->count; i++) {
        if (b->mask && !b->mask[i])
            continue;
        float out[4];
        const txm_lookup at = {b->u[i], b->v[i], b->dudx[i], b->dvdx[i], b->dudy[i], b->dvdy[i]};
        txm_look result = txm_cache_sample(t, texture, how, &at, b->random ? &b->random[i] : NULL, out);
        for (int n = 0; n < 4; n++)
            b->out[n][i] = out[n];
        if (b->look)
            b->look[i] = (uint8_t)result;
        worst = result > worst ? result : worst;
    }
    return worst;
}

/* Sets with a base choose between two textures for each element, which the batch sampler cannot; plain sets
 * it resolves itself. */
static bool has_base(txm_cache_thread *t, uint32_t texture)
{
    txm_enter(t);
    bool has = texture < t->view.texture_count && t->view.textures[texture].udim_rows &&
               t->cache->textures[texture].base != TXM_NO_TEXTURE;
    txm_leave(t);
    return has;
}

/* Chunks bound what is kept for repeating; within one, a tile that a thousand elements need is asked for
 * once. */
txm_look txm_cache_sample_n(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookups *batch)
{
    txm_look worst = TXM_LOOK_RESIDENT;
    txm_sampler biased = *how;
    biased.mip_bias += t->cache->bias;
    if (has_base(t, texture) || atomic_load_explicit(&t->cache->watched, memory_order_relaxed))
        return sample_each(t, texture, how, batch);
    const size_t space = (batch->count < MOST ? batch->count : MOST) * bytes_of_one(batch);
    if (batch->count > FEW && space > t->many_space)
        make_many(t, space);
    for (size_t begin = 0; begin < batch->count;) {
        chunk k;
        few own;
        cut(t, &k, &own, batch, begin);
        txm_look result = sample_chunk(t, texture, &biased, &k, batch->look ? batch->look + begin : NULL);
        worst = result > worst ? result : worst;
        begin += k.part.count;
        count(&t->lookups, k.part.count);
    }
    return worst;
}
