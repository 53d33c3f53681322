/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for lookups that run, so that what they may have seen can be changed. A lookup says that it is under way
 * and then looks at what the cache shows it; whoever waits changes that first and then looks at what threads say.
 * Neither may overtake the other: a barrier in every lookup would cost a tenth of it, so membarrier(2) puts one into
 * all threads when somebody waits.
 */
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tile/cache/cache_impl.h"
#include "tile/ops/ops.h"

/* A barrier in all threads without membarrier: a page that every processor may know is taken away, of which all that
 * run this process must hear before the call returns. Where not even that is allowed, the wait is far longer than any
 * processor keeps a write to itself. */
static void interrupt_all(void)
{
    static const struct timespec LONG = {.tv_nsec = 10000000};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED) {
        *(volatile uint8_t *)p = 1;
        munmap(p, page);
    }
    nanosleep(&LONG, NULL);
}

/* Where the kernel has no membarrier, lookups carry fences themselves (c->fences). A sandbox may forbid the call later
 * than it was asked for: then they do so from here on, and those that run without are waited for once more. */
static void barrier_everywhere(txm_cache *c)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load(&c->fences) || syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
        return;
    atomic_store(&c->fences, true);
    txm_slow_down(c);
    interrupt_all();
}

/* Changes between any two lookups of a thread, and in none. */
static uint64_t count_of(txm_cache_thread *t)
{
    return atomic_load(&t->quick.lookups) + atomic_load(&t->sections);
}

/* Lookups are short: yielding is enough. With the lock held. Lookups that begin from now on are not waited for: they
 * can't see what was taken out before the barrier. The count is read first: where it has changed since, the thread
 * was in no lookup for a moment. */
void txm_wait_quiescent(txm_cache *c)
{
    if (!c->threads)
        return;
    barrier_everywhere(c);
    for (txm_cache_thread *t = c->threads; t; t = t->next)
        for (const uint64_t before = count_of(t); atomic_load(&t->quick.active) && count_of(t) == before;)
            sched_yield();
    c->stats.quiescent_states++;
}

/* ---- quick lookups ---- */

/* Stands where the sampler was. The first lookup after a change renews what the thread knows, so that the next ones
 * are quick again; a cache whose lookups never are is not asked each time. */
static txm_look find_stale(txm_guard *quick, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                           uint32_t *random, float out[4])
{
    txm_cache_thread *t = txm_thread_of(quick);
    atomic_store_explicit(&quick->active, 0, memory_order_release); /* before the lock: its holder may wait for it */
    if (txm_may_be_quick(t->cache))
        txm_renew(t);
    return quick->missed(quick, texture, how, at, random, out);
}

/* To be called when anything has changed that quick lookups don't look at: the view, the epoch, whether lookups
 * are watched. Instead of a flag that each of them would test, it is the sampler that is exchanged. */
void txm_slow_down(txm_cache *c)
{
    for (txm_cache_thread *t = c->threads; t; t = t->next)
        atomic_store_explicit(&t->quick.sample, find_stale, memory_order_release);
}

/* For quick lookups, sets that have a base texture have no tiles, so that they go the general way. */
void txm_learn(txm_cache_thread *t)
{
    const txm_cache *c = t->cache;
    t->view = t->quick.view = c->view;
    t->generation = atomic_load(&c->generation);
    t->view.launch = t->quick.view.launch = TXM_LAUNCH_NONE;
    t->quick.view.epoch = atomic_load(&c->epoch);
    t->quick.view.round = (uint16_t)atomic_load(&c->round);
    if (c->quick_udims)
        t->quick.view.udims = c->quick_udims;
    t->sample = txm_sample_ops_isa(txm_ops_best()->isa)->sample_guarded;
    t->quick.missed = txm_look_again;
    atomic_store_explicit(&t->quick.sample,
                          !txm_may_be_quick(c) ? find_stale
                          : c->bias != 0.0f    ? txm_look_biased
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

/* An odd generation sends lookups to txm_renew, where they wait for the lock. */
void txm_stop_world(txm_cache *c)
{
    atomic_fetch_add(&c->generation, 1);
    txm_slow_down(c);
    txm_wait_quiescent(c);
}

/* The view is made anew before the generation is even again: whoever sees the one has the other. */
void txm_resume_world(txm_cache *c)
{
    txm_cache_refresh(c);
    atomic_fetch_add(&c->generation, 1);
    txm_slow_down(c);
}
