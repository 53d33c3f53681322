/* SPDX-License-Identifier: Apache-2.0
 *
 * Policies: a table with one row per policy, which decides what is evicted when memory is needed. Only this file
 * distinguishes them.
 *
 * Eviction itself is the same for all policies, and is in tiles/victims.c: the tiles that were used least recently go
 * first. A policy says whether tiles are evicted at other times too, and when epochs begin. To add a policy, add a
 * constant to txm_cache_policy and a row here: options, reports, replays, help and manuals take its names and its
 * description from the row.
 *
 * Orders are based on the epochs in which lookups have marked tiles. Epochs are short: load.c begins one after a
 * sixteenth of the tiles was loaded, so a render tile may have many.
 */
#include <time.h>

#include "base/os/clock.h"
#include "tile/cache/flow/flow.h"

/* Lookups write marks without a lock; a slightly old value does no harm. */
uint32_t txm_policy_order(const void *cache, const txm_slot *s)
{
    const txm_cache *c = cache;
    return __atomic_load_n(&txm_entry(&c->catalog, s->held.tile)->mark, __ATOMIC_RELAXED);
}

/* Epoch 0 means 'never', so it is skipped. After 2^32 epochs the number wraps around; then old marks count as newer
 * than they are, which costs a few reads but changes no results. */
void txm_next_epoch(txm_cache *c)
{
    const uint32_t epoch = atomic_load_explicit(&c->world.epoch, memory_order_relaxed);
    c->loads_of_epoch = 0;
    atomic_store_explicit(&c->world.epoch, epoch + 1 ? epoch + 1 : 1, memory_order_relaxed);
    txm_slow_down(&c->world);
}

/* ---- render tiles ---- */

typedef struct since {
    const txm_cache *cache;
    uint32_t epoch;
} since;

static bool is_stale(void *arg, const txm_slot *s)
{
    const since *of = arg;
    return txm_slot_evictable(s) && txm_policy_order(of->cache, s) < of->epoch;
}

/* Evicts the tiles that the last keep_epochs render tiles did not use. That may be all tiles, and freeing their memory
 * takes long, so the lock is released in between, each time long enough for waiting threads to wake up. */
static void drop_stale(txm_cache *c)
{
    enum { SLABS = 32 };
    static const double MOST_SECONDS = 0.001;
    static const struct timespec moment = {.tv_nsec = 50000};
    since began = {c, c->tile_began[c->options.keep_epochs]};
    double resumed = txm_clock_seconds();
    for (uint32_t i = 0; i < txm_slabs_end(&c->tiles); i += SLABS) {
        if (txm_clock_seconds() - resumed > MOST_SECONDS) {
            pthread_mutex_unlock(&c->lock);
            nanosleep(&moment, NULL);
            pthread_mutex_lock(&c->lock);
            resumed = txm_clock_seconds();
        }
        txm_evict_if(&c->tiles, i, i + SLABS, is_stale, &began);
        txm_slabs_drop_empty(&c->tiles, i, i + SLABS);
    }
}

/* ---- the table ---- */

/* Indexed by txm_cache_policy. */
const txm_policy txm_policies[] = {
    [TXM_CACHE_POLICY_RENDER_TILES] =
        {.words =
             {"render-tiles", "tiles",
              "at the end of a render tile, tiles that it did not use are evicted, as in Cycles; within it as lru"},
         .end_render_tile = drop_stale},
    [TXM_CACHE_POLICY_LRU] = {.words = {"lru", "lru", "tiles that were not used for the longest time are evicted"},
                              .by_launch = true},
    [TXM_CACHE_POLICY_NONE] = {.words = {"none", "none", "nothing is evicted, even if the size is exceeded"},
                               .keeps_all = true},
};

enum { POLICIES = sizeof txm_policies / sizeof *txm_policies };

const txm_cache_policy_words *txm_cache_policy_words_of(txm_cache_policy policy)
{
    return (unsigned)policy < POLICIES ? &txm_policies[policy].words : NULL;
}

const char *txm_cache_policy_name(txm_cache_policy policy)
{
    return (unsigned)policy < POLICIES ? txm_policies[policy].words.name : NULL;
}

/* Called by the renderer when a render tile is finished. Most policies only begin an epoch. */
txm_status txm_cache_end_epoch(txm_cache *c)
{
    pthread_mutex_lock(&c->lock);
    if (txm_own_view_allows(c, "txm_cache_end_epoch", NULL) != TXM_OK) {
        pthread_mutex_unlock(&c->lock);
        return TXM_STATUS_USAGE;
    }
    for (txm_cache_viewer *v = c->viewers; v; v = v->next)
        txm_viewer_merge(v);
    txm_next_epoch(c);
    memmove(c->tile_began + 1, c->tile_began, sizeof c->tile_began - sizeof *c->tile_began);
    c->tile_began[0] = atomic_load_explicit(&c->world.epoch, memory_order_relaxed);
    txm_trace_event(c, txm_recorder_epoch);
    if (txm_policy_of(c)->end_render_tile)
        txm_policy_of(c)->end_render_tile(c);
    pthread_mutex_unlock(&c->lock);
    return TXM_OK;
}
