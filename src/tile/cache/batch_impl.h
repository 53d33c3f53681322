/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of tiles that threads read together: those of a launch, of a preload, or of a blocking call.
 */
#ifndef TXM_CACHE_BATCH_IMPL_H
#define TXM_CACHE_BATCH_IMPL_H
#include <stdatomic.h>

#include "base/pool.h"
#include "tile/cache/load_impl.h"

/* A batch of tiles that are being read. `users` counts references: its owner, the threads that read for it, and the
 * cache until the batch is over. Sources count its tiles as loading until then, which keeps the sources of its jobs
 * alive. */
struct txm_ticket {
    txm_cache *cache;
    uint32_t users; /* under the lock */
    uint32_t number, total, jobs_room;
    uint64_t bytes; /* total size of its tiles */
    txm_job *jobs;
    txm_pins *pins;
    txm_cache_viewer *viewer;    /* NULL: the batch is not from a launch */
    double deadline_seconds;     /* jobs that were not begun by then are given up; INFINITY: no limit */
    atomic_uint next, remaining; /* index of the first job that was not begun; number of jobs that are not over */
    atomic_uint begun;           /* number of jobs whose reading was begun */
    atomic_bool cancelled;
    bool preloads, over; /* over: its tiles may be shown in views; under the lock */
    bool awaits_others;  /* it has no tiles: other batches load them, or leave no room for them */
    uint64_t jobs_seen;  /* with awaits_others: the value of txm_cache.jobs_over that the launch has seen */
    txm_ticket *next_running;
};

/* The batches that are not over, and the threads that read for them. */
typedef struct txm_queue {
    txm_pool *pool; /* NULL: no batch has needed threads yet */
    txm_group *group;
    txm_ticket *tickets; /* the oldest first */
    bool processing;     /* a thread is in txm_cache_process */
    uint64_t bytes;      /* of the tiles of all batches */
    uint32_t count;      /* number of these tiles */
    uint32_t jobs;       /* number of jobs that are not over, including those outside batches */
    uint64_t jobs_over;  /* number of finished jobs that change the next view */
    uint32_t last;       /* number of the last batch */
    txm_job *spare_jobs; /* a list that the next batch can reuse */
    uint32_t spare_room;
    uint64_t reserved_bytes; /* for tiles that are about to be pinned */
} txm_queue;

/* batch.c: reads tiles of a batch that were not begun; false: there are none. Called without the lock. */
bool txm_help(txm_cache *c);
/* Makes a batch of jobs and takes over their array, which has room for `room`. Tiles that are read are pinned on
 * `pins`, which must outlive the batch. NULL: out of memory, and the caller keeps the jobs. This and the next three
 * functions are called with the lock held. */
txm_ticket *txm_ticket_of(txm_cache *c, txm_job *jobs, uint32_t room, txm_pins *pins);
/* Assigns slots to the first `count` jobs and sorts them. */
void txm_ticket_fill(txm_ticket *t, uint32_t count);
/* The part of the budget that is available for tiles; UINT64_MAX: no bound. */
uint64_t txm_room_for_tiles(const txm_cache *c);
/* Whether a batch of `count` tiles may get one more, with which it has `bytes`. */
bool txm_batch_has_room(const txm_cache *c, uint32_t count, uint64_t bytes);
/* Unpins tiles that batches of a viewer have loaded, if its next launch does not need them. */
void txm_viewer_unpin(txm_cache_viewer *v);
/* Called without the lock: lets the cache's threads begin to read. */
void txm_ticket_start(txm_ticket *t);
#endif
