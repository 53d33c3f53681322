/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for look-ups that run, so that what they may have seen can be changed. A look-up notes the grace period in
 * which it began and looks at the generation of the view; whoever waits begins a new period and then looks at what
 * threads have noted. Neither may overtake the other: a barrier in every look-up would cost a tenth of it, so
 * membarrier(2) puts one into all threads when somebody waits.
 */
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "residency/residency_impl.h"

/* Where the kernel has no membarrier, look-ups carry fences themselves (c->fences). */
static void barrier_everywhere(const txm_cache *c)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (!c->fences)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/* Look-ups are short: yielding is enough. With the lock held. Look-ups that begin from now on note the new
 * period and are not waited for: they can't have seen what was taken out before the barrier. */
void txm_wait_quiet(txm_cache *c)
{
    uint64_t now = atomic_load_explicit(&c->grace, memory_order_relaxed) + 1;
    atomic_store(&c->grace, now);
    if (!c->threads)
        return;
    barrier_everywhere(c);
    for (txm_cache_thread *t = c->threads; t; t = t->next)
        for (uint64_t began; (began = atomic_load(&t->active)) && began < now;)
            sched_yield();
    c->stats.graces++;
}

/* One number for all that sends a look-up the general way, since each test of its own would show in the time of
 * those that hit; to be called when any of it has changed. No view is of an odd generation. */
void txm_set_quick(txm_cache *c)
{
    const bool plain = !atomic_load(&c->watched) && !c->fences && c->bias == 0.0f;
    atomic_store(&c->quick, txm_quick_of(plain ? atomic_load(&c->generation) : 1, atomic_load(&c->epoch)));
}

/* An odd generation sends look-ups to the slow way, where they wait for the lock. */
void txm_stop_world(txm_cache *c)
{
    atomic_fetch_add(&c->generation, 1);
    txm_set_quick(c);
    txm_wait_quiet(c);
}

/* The view is made anew before the generation is even again: whoever sees the one has the other. */
void txm_resume_world(txm_cache *c)
{
    txm_cache_refresh(c);
    atomic_fetch_add(&c->generation, 1);
    txm_set_quick(c);
}

/* Not active while it waits for the lock, or the holder, who waits for it, would never give the lock up. */
void txm_enter_slowly(txm_cache_thread *t)
{
    txm_leave(t);
    pthread_mutex_lock(&t->cache->lock);
    t->view = t->cache->view;
    t->with_base = t->cache->with_base;
    t->generation = atomic_load(&t->cache->generation);
    pthread_mutex_unlock(&t->cache->lock);
}
