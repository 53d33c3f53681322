/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of a thread that looks up tiles, and its waiting for lookups of other threads.
 */
#ifndef TXM_CACHE_THREAD_IMPL_H
#define TXM_CACHE_THREAD_IMPL_H
#include <stdatomic.h>

#include "tile/cache/load_impl.h"
#include "tile/sample/sample_ops.h"

struct txm_cache_thread {
    _Alignas(64) txm_guard quick; /* must be first: txm_cache_sample passes it on without conversion */
    txm_guarded_function sample;  /* the implementation for this machine */
    txm_sampler asked, biased; /* if a resolution is set: the caller's last sampler, and the same with the bias added */

    txm_cache *cache;
    txm_view view;
    uint64_t generation;            /* generation of the view that the thread has */
    atomic_uint_least64_t asks_of;  /* generation of the view of the listed entries; UINT64_MAX: none are listed */
    atomic_uint_least64_t sections; /* number of critical sections that the thread has left; not written inside one */
    atomic_uint_least64_t missed;
    uint32_t *requests, requests_most; /* few_requests, or memory in `many` */
    txm_job *jobs;
    uint32_t few_requests[TXM_LOOKUP_TILES];
    txm_job few_jobs[TXM_LOOKUP_TILES];
    uint8_t *many, *areas;         /* scratch for txm_cache_sample_n: see make_many; NULL: not allocated yet */
    size_t many_bytes, areas_most; /* size of `many`; number of lookups that `areas` has room for */
    txm_pins pins;
    uint8_t *unwidened;
    size_t unwidened_bytes;
    uint64_t chance; /* state of the random numbers for spurious misses */
    uint32_t number; /* from 1 on */
    txm_cache_thread *next;
};

static inline txm_cache_thread *txm_thread_of(txm_guard *quick)
{
    return (txm_cache_thread *)(void *)quick;
}

/* quiescent.c */
void txm_wait_quiescent(txm_cache *c);
void txm_stop_world(txm_cache *c);
void txm_resume_world(txm_cache *c);
/* With the lock held: makes lookups of all threads take the general path, until each thread has renewed its copy of the
 * cache's state. */
void txm_slow_down(txm_cache *c);
/* Both renew that copy for one thread: the first with the lock held, the second without it, between two lookups of the
 * thread. */
void txm_learn(txm_cache_thread *t);
void txm_renew(txm_cache_thread *t);

/* look.c: quick lookups for a cache with a resolution; and the general lookup with the same arguments, which repeats a
 * quick one that has missed. */
txm_lookup_result txm_lookup_biased(txm_guard *quick, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                                    uint32_t *random, float out[4]);
txm_lookup_result txm_lookup_again(txm_guard *quick, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                                   uint32_t *random, float out[4]);
/* txm_cache_resolve for callers that are between txm_enter and txm_leave, or hold the lock. */
uint32_t txm_shown_texture(const txm_cache *c, uint32_t texture, const txm_sampler *how, txm_lookup *at);
/* Loads the first `requests` tiles that a thread has missed. */
void txm_fetch(txm_cache_thread *t, uint32_t requests);
void txm_release_pins(txm_cache_thread *t);
/* The count to wait on if another thread loads what is missing. It is read before the lookup, so no completion can be
 * overlooked. */
typedef struct txm_watch {
    uint64_t seen;
    bool watched;
} txm_watch;
/* Loads what is missing, or waits for other threads that do; the watch must be zero-initialised. */
void txm_get(txm_cache_thread *t, uint32_t requests, txm_watch *w);
/* One blocking lookup, without counting it or adding the bias. */
txm_lookup_result txm_lookup_until_there(txm_cache_thread *t, uint32_t texture, const txm_sampler *how,
                                         const txm_lookup *at, uint32_t *random, float out[4]);
#endif
