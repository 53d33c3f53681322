/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for running lookups, so that what they may have read can be changed. A lookup first sets a flag and then
 * reads the cache's state; the waiting thread first changes that state and then reads the flags. The two steps must not
 * be reordered on either side. A barrier in every lookup would cost a tenth of its time, so the waiting thread calls
 * membarrier(2), which executes one in all threads.
 */
#include "base/os/barrier.h"
#include "tile/cache/tiles/tiles.h"
#include "tile/ops/ops.h"

/* Changes between any two lookups of a thread, and never during one. */
static uint64_t count_of(txm_reader *r)
{
    return atomic_load(&r->quick.lookups) + atomic_load(&r->sections);
}

/* If the kernel has no membarrier, lookups contain fences. A sandbox may forbid the call after it was registered: then
 * fences are used from then on, and lookups that began without them are waited for once more. Lookups are short, so
 * yielding is enough. Those that begin after the barrier are not waited for, because they can't find what was removed
 * before it. The count is read first: if it has changed since, the thread was outside a lookup for a moment. */
void txm_wait_quiescent(txm_world *w)
{
    if (!w->readers)
        return;
    atomic_signal_fence(memory_order_seq_cst);
    if (!atomic_load(&w->fences) && !txm_barrier_everywhere()) {
        atomic_store(&w->fences, true);
        txm_slow_down(w);
        txm_barrier_by_force();
    }
    for (txm_reader *r = w->readers; r; r = r->next)
        for (const uint64_t before = count_of(r); atomic_load(&r->quick.active) && count_of(r) == before;)
            txm_yield();
    w->waits++;
}

/* The pointer to the sampler is replaced, because testing a flag in every lookup would cost time. */
void txm_slow_down(txm_world *w)
{
    for (txm_reader *r = w->readers; r; r = r->next)
        atomic_store_explicit(&r->quick.sample, w->stale, memory_order_release);
}

/* While the generation is odd, lookups renew their copy of the view, for which they wait for the lock. */
void txm_stop_world(txm_world *w)
{
    atomic_fetch_add(&w->generation, 1);
    txm_slow_down(w);
    txm_wait_quiescent(w);
}

void txm_resume_world(txm_world *w)
{
    atomic_fetch_add(&w->generation, 1);
    txm_slow_down(w);
}
