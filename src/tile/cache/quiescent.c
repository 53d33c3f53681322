/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for running lookups, so that what they may have read can be changed. A lookup first sets a flag and then
 * reads the cache's state; the waiting thread first changes that state and then reads the flags. The two steps must not
 * be reordered on either side. A barrier in every lookup would cost a tenth of its time, so the waiting thread calls
 * membarrier(2), which executes one in all threads.
 */
#include "base/os/barrier.h"
#include "tile/cache/cache_impl.h"
#include "tile/ops/ops.h"

/* If the kernel has no membarrier, lookups contain fences (c->fences). A sandbox may forbid the call after it was
 * registered: then fences are used from then on, and lookups that began without them are waited for once more. */
static void barrier_everywhere(txm_cache *c)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load(&c->fences) || txm_barrier_everywhere())
        return;
    atomic_store(&c->fences, true);
    txm_slow_down(c);
    txm_barrier_by_force();
}

/* Changes between any two lookups of a thread, and never during one. */
static uint64_t count_of(txm_cache_thread *t)
{
    return atomic_load(&t->quick.lookups) + atomic_load(&t->sections);
}

/* Lookups are short, so yielding is enough. Called with the lock held. Lookups that begin after the barrier are not
 * waited for, because they can't find what was removed before it. The count is read first: if it has changed since, the
 * thread was outside a lookup for a moment. */
void txm_wait_quiescent(txm_cache *c)
{
    if (!c->threads)
        return;
    barrier_everywhere(c);
    for (txm_cache_thread *t = c->threads; t; t = t->next)
        for (const uint64_t before = count_of(t); atomic_load(&t->quick.active) && count_of(t) == before;)
            txm_yield();
    c->stats.quiescent_states++;
}

/* ---- quick lookups ---- */

static bool may_be_quick(const txm_cache *c)
{
    return !atomic_load_explicit(&c->watched, memory_order_relaxed) &&
           !atomic_load_explicit(&c->fences, memory_order_relaxed);
}

/* Takes the place of the sampler after a change. The first lookup then renews the thread's copy of the cache's state,
 * so the next ones are quick again. If lookups of this cache cannot be quick, the copy is not renewed here. */
static txm_lookup_result find_stale(txm_guard *quick, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                                    uint32_t *random, float out[4])
{
    txm_cache_thread *t = txm_thread_of(quick);
    /* This must come before the lock, because the thread that holds it may be waiting for this one. */
    atomic_store_explicit(&quick->active, 0, memory_order_release);
    if (may_be_quick(t->cache))
        txm_renew(t);
    return quick->missed(quick, texture, how, at, random, out);
}

/* Must be called after every change that quick lookups do not check for: of the view, the epoch, and whether lookups
 * are watched. The pointer to the sampler is replaced, because testing a flag in every lookup would cost time. */
void txm_slow_down(txm_cache *c)
{
    for (txm_cache_thread *t = c->threads; t; t = t->next)
        atomic_store_explicit(&t->quick.sample, find_stale, memory_order_release);
}

/* In the view for quick lookups, sets with a base texture have no tiles, so their lookups take the general path. */
void txm_learn(txm_cache_thread *t)
{
    const txm_cache *c = t->cache;
    t->view = t->quick.view = c->view;
    t->generation = atomic_load(&c->generation);
    t->view.launch = t->quick.view.launch = TXM_LAUNCH_NONE;
    t->quick.view.epoch = atomic_load(&c->epoch);
    t->quick.view.round = (uint16_t)atomic_load(&c->round);
    if (c->catalog.quick_udims)
        t->quick.view.udims = c->catalog.quick_udims;
    t->sample = txm_sample_ops_isa(txm_ops_best()->isa)->sample_guarded;
    t->quick.missed = txm_lookup_again;
    atomic_store_explicit(&t->quick.sample,
                          !may_be_quick(c)  ? find_stale
                          : c->bias != 0.0f ? txm_lookup_biased
                                            : t->sample,
                          memory_order_release);
}

void txm_renew(txm_cache_thread *t)
{
    pthread_mutex_lock(&t->cache->lock);
    txm_learn(t);
    pthread_mutex_unlock(&t->cache->lock);
}

/* ---- the world ---- */

/* While the generation is odd, lookups call txm_renew, where they wait for the lock. */
void txm_stop_world(txm_cache *c)
{
    atomic_fetch_add(&c->generation, 1);
    txm_slow_down(c);
    txm_wait_quiescent(c);
}

/* The view is updated before the generation becomes even: a thread that reads the new generation also reads the new
 * view. */
void txm_resume_world(txm_cache *c)
{
    txm_cache_refresh(c);
    atomic_fetch_add(&c->generation, 1);
    txm_slow_down(c);
}
