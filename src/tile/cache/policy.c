/* SPDX-License-Identifier: Apache-2.0
 *
 * Policies: a table with one row per policy, which decides what is evicted when memory is needed. Only this file
 * distinguishes them.
 *
 * Eviction itself is the same for all policies, and is in evict.c. A policy defines the order, whether tiles are
 * evicted at other times too, and whether they are staged first. To add a policy, add a constant to txm_cache_policy
 * and a row here: options, reports, replays, help and manuals take its names and its description from the row.
 *
 * Orders are based on the epochs in which lookups have marked tiles. Epochs are short: load.c begins one after a
 * sixteenth of the tiles was loaded, so a render tile may have many.
 */
#include <time.h>

#include "base/os/clock.h"
#include "tile/cache/cache_impl.h"

/* ---- orders ---- */

/* Lookups write marks without a lock; a slightly old value does no harm. */
static uint32_t mark_of(const txm_cache *c, const txm_slot *s)
{
    return __atomic_load_n(&txm_entry(c, s->entry)->mark, __ATOMIC_RELAXED);
}

/* All slots are equal, so stamps alone decide, and tiles are evicted in the order of loading. The number of staged
 * tiles was chosen from two traces, one of single lookups and one of waves, with a cache of a tenth of what they use:
 * it reads 3461 and 3435 tiles without staging, 3118 and 3281 with a sixteenth staged, as OptiX Toolkit advises, 3112
 * and 3093 with a quarter, and no fewer with a half. */
static uint32_t order_of_none(const txm_cache *c, const txm_slot *s)
{
    (void)c, (void)s;
    return 0;
}

/* ---- epochs ---- */

/* Whether a tile was not used since the epoch that `arg` points to. */
static bool is_stale(txm_cache *c, uint32_t slot, void *arg)
{
    const txm_slot *s = txm_slot_at(c, slot);
    return txm_slot_evictable(s) && mark_of(c, s) < *(const uint32_t *)arg;
}

/* Evicts the tiles that the last keep_epochs render tiles did not use. That may be all tiles, and freeing their memory
 * takes long, so the lock is released in between, each time long enough for waiting threads to wake up. */
static void drop_stale(txm_cache *c)
{
    enum { SLABS = 32 };
    static const double MOST_SECONDS = 0.001;
    static const struct timespec moment = {.tv_nsec = 50000};
    uint32_t began = c->tile_began[c->options.keep_epochs];
    double since = txm_clock_seconds();
    for (uint32_t i = 0; i < c->store.slab_count; i += SLABS) {
        if (txm_clock_seconds() - since > MOST_SECONDS) {
            pthread_mutex_unlock(&c->lock);
            nanosleep(&moment, NULL);
            pthread_mutex_lock(&c->lock);
            since = txm_clock_seconds();
        }
        txm_evict_if(c, i, i + SLABS, is_stale, &began);
        txm_slabs_drop_empty(c, i, i + SLABS);
    }
}

/* ---- the table ---- */

/* Indexed by txm_cache_policy. */
const txm_policy txm_policies[] = {
    [TXM_CACHE_POLICY_RENDER_TILES] =
        {.words =
             {"render-tiles", "tiles",
              "at the end of a render tile, tiles that it did not use are evicted, as in Cycles; within it as lru"},
         .order = mark_of,
         .end_render_tile = drop_stale},
    [TXM_CACHE_POLICY_LRU] = {.words = {"lru", "lru", "tiles that were not used for the longest time are evicted"},
                              .order = mark_of,
                              .by_launch = true},
    [TXM_CACHE_POLICY_NONE] = {.words = {"none", "none", "nothing is evicted, even if the size is exceeded"},
                               .order = mark_of,
                               .keeps_all = true},
    [TXM_CACHE_POLICY_SECOND_CHANCE] = {.words = {"second-chance", "second",
                                                  "tiles are evicted in the order of loading, but the quarter that is "
                                                  "next can be restored without reading"},
                                        .order = order_of_none,
                                        .by_launch = true,
                                        .staged_64ths = 16},
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
