/* SPDX-License-Identifier: Apache-2.0
 *
 * The texture cache as a whole. Each of its parts has a header of its own, with the part of the struct that it keeps.
 *
 * Locking: lookups of threads run between txm_enter and txm_leave, without a lock. They read the view's arrays and
 * change entries of the page table from NONE to REQUESTED, with the number of the launch. All other changes are made
 * under `lock`:
 *  - REQUESTED becomes LOADING when a thread takes the request over; that thread must finish or abandon it;
 *  - a slot is written to an entry when the tile's pixels are complete;
 *  - a slot that was taken out of the page table is reused after every lookup that may have seen it is over
 *    (txm_wait_quiescent);
 *  - arrays are moved, and textures change their shape, only while the world is stopped (txm_stop_world): running
 *    lookups are waited for, others wait in txm_enter.
 *
 * A thread that holds the lock is not in a lookup, so waiting for lookups with the lock held cannot deadlock.
 */
#ifndef TXM_CACHE_CACHE_IMPL_H
#define TXM_CACHE_CACHE_IMPL_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/fail.h"
#include "tile/cache/batch_impl.h"
#include "tile/cache/catalog_impl.h"
#include "tile/cache/file_impl.h"
#include "tile/cache/load_impl.h"
#include "tile/cache/policy_impl.h"
#include "tile/cache/rehearse.h"
#include "tile/cache/store_impl.h"
#include "tile/cache/table_impl.h"
#include "tile/cache/thread_impl.h"
#include "tile/cache/viewer_impl.h"

struct txm_recorder;

struct txm_cache {
    /* Read by every lookup, but rarely written. */
    _Alignas(64) atomic_uint_least64_t generation; /* of the view; odd while lookups are stopped */
    atomic_uint epoch;
    atomic_uint round;            /* number of the round of temporary failures */
    _Atomic double retry_seconds; /* when temporary failures are tried again; INFINITY: there are none */
    atomic_bool watched; /* lookups take the slow path: a trace is being written, or spurious misses are simulated */
    float bias;
    atomic_uint largest_tile, live_threads; /* bytes of the largest tile; number of threads that exist now */
    atomic_bool fences; /* membarrier(2) is not available: lookups use memory barriers of their own */
    uint64_t id;        /* unique among the caches of this process */

    _Alignas(64) pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled when a tile was loaded or failed, a texture was opened, or a file was opened or
                               became free */
    atomic_uint_least64_t completions;
    uint32_t waiting;
    txm_cache_options options;
    txm_view view;
    size_t allocated; /* see txm_cache_allocate, and txm_taken */
    txm_cache_stats stats;

    txm_catalog catalog;
    txm_table table;
    txm_store store;
    txm_files files;
    txm_queue queue;
    txm_viewers viewers;
    txm_cache_thread *threads;
    uint32_t thread_count;

    uint32_t loads_of_epoch;
    uint32_t tile_began[3]; /* epochs in which the current render tile and the two before it began; 0: there was none */
    double failed_seconds;  /* time of the last temporary failure */
    struct txm_current *current; /* see current.c */
    struct txm_recorder *trace;
    uint64_t trace_began[8]; /* the numbers of its end block when it began */
    txm_rehearsal rehearsal; /* all zero: tiles are read from files */
};

static inline const txm_policy *txm_policy_of(const txm_cache *c)
{
    return &txm_policies[c->options.policy];
}

/* memory.c: allocates and counts all memory of the cache. Called with the lock held. Allocating makes room in the
 * budget first. The caller remembers `bytes`. NULL: out of memory. */
void *txm_cache_allocate(txm_cache *c, size_t bytes, size_t alignment);
void txm_cache_release(txm_cache *c, void *memory, size_t bytes);
char *txm_cache_strdup(txm_cache *c, const char *text);
void txm_cache_free_string(txm_cache *c, char **text);
/* Replaces an array by a smaller copy of its first items, if there is memory for that. */
void txm_cache_shrink(txm_cache *c, void **items, uint32_t *capacity, uint64_t needed, size_t item_bytes, bool stops);
/* Replaces an array by a larger copy; false: out of memory. `stops`: lookups read the array, so the world is stopped
 * for the exchange. */
bool txm_cache_grow(txm_cache *c, void **items, uint32_t *capacity, uint64_t needed, size_t item_bytes, bool stops);
/* The part of the budget that is set aside for open files: a sixteenth, but at least what one reader takes and at most
 * what many take. It grows up to a quarter if that is too little for files that are read in turn. */
static inline uint64_t txm_reader_share(const txm_cache *c)
{
    enum { LEAST = 256 << 10, MOST = 64 << 20 };
    const uint64_t budget = c->options.max_bytes, part = budget / 16, least = budget / 4 < LEAST ? budget / 4 : LEAST;
    return (part > MOST ? MOST : part < least ? least : part) + c->files.more_bytes;
}

/* The memory that counts towards the budget: what the cache has allocated, and the larger of what open files keep and
 * their share. Because the share is always counted, replays, which do not open files, evict the same tiles. */
static inline uint64_t txm_taken(const txm_cache *c)
{
    const uint64_t share = txm_reader_share(c);
    return c->allocated + (c->stats.reader_bytes > share ? c->stats.reader_bytes : share);
}

/* current.c. The first returns a unique number for a new cache; the second frees the threads of
 * txm_cache_thread_current when the cache is freed. */
uint64_t txm_next_cache_id(void);
void txm_end_current(txm_cache *c);

/* Updates the view after its arrays were moved or resized. */
void txm_cache_refresh(txm_cache *c);

/* Whether an open view may show the tile in a slot. */
static inline bool txm_is_shown(const txm_cache *c, const txm_slot *s)
{
    return c->viewers.open_views && (int32_t)(s->stamp - c->viewers.shown_stamp) <= 0;
}

/* Ends a lookup. */
static inline void txm_leave(txm_cache_thread *t)
{
    atomic_store_explicit(&t->quick.active, 0, memory_order_release);
    txm_count(&t->sections, 1);
}

static inline void txm_enter(txm_cache_thread *t)
{
    txm_cache *c = t->cache;
    for (;;) {
        if (atomic_load_explicit(&c->fences, memory_order_relaxed))
            atomic_exchange(&t->quick.active, 1);
        else
            atomic_store_explicit(&t->quick.active, 1, memory_order_release);
        atomic_signal_fence(memory_order_seq_cst); /* pairs with the membarrier in txm_wait_quiescent */
        if (atomic_load_explicit(&c->generation, memory_order_acquire) == t->generation)
            break;
        txm_leave(t); /* the thread that holds the lock may be waiting for this one */
        txm_renew(t);
    }
    t->view.epoch = atomic_load_explicit(&c->epoch, memory_order_relaxed);
    t->view.round = (uint16_t)atomic_load_explicit(&c->round, memory_order_relaxed);
}

/* The same for lookups that request the tiles they miss: blocks of the page table that are on the thread's lists are
 * not reused before txm_fetch has handled them. */
static inline void txm_enter_to_ask(txm_cache_thread *t)
{
    atomic_store_explicit(&t->asks_of, t->generation, memory_order_release);
    txm_enter(t);
}

static inline void txm_leave_asking(txm_cache_thread *t, uint32_t requests)
{
    if (!requests)
        atomic_store_explicit(&t->asks_of, UINT64_MAX, memory_order_release);
    txm_leave(t);
}

/* trace.c */
void txm_trace_lookup(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                      uint32_t random);
/* Called with the lock held; these do nothing while no trace is being written. */
void txm_trace_constant(txm_cache *c, const txm_source *s, uint32_t level, uint32_t tile, const uint8_t *pixel);
void txm_trace_replace(txm_cache *c, uint32_t texture);
void txm_trace_launch(txm_cache *c);
void txm_trace_epoch(txm_cache *c);

/* stats.c, with the lock held: the number of blocking lookups so far; and txm_cache_texture_stats_of, whose path is
 * valid as long as the lock is held. */
uint64_t txm_lookups_of(const txm_cache *c);
txm_status txm_texture_stats(txm_cache *c, uint32_t texture, txm_cache_texture_stats *stats, txm_error *err);
#endif
