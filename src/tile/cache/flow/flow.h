/* SPDX-License-Identifier: Apache-2.0
 *
 * The upper room of the cache: lookups, misses, batches, views, threads, epochs, and the policy. It alone locks, and it
 * ties the rooms below together. This header is for its own files.
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
#ifndef TXM_CACHE_FLOW_H
#define TXM_CACHE_FLOW_H
#include <pthread.h>

#include "base/fail.h"
#include "base/pool.h"
#include "tile/cache/catalog/catalog.h"
#include "tile/cache/flow/rehearse.h"
#include "tile/record/recorder.h"

enum {
    TXM_LOOKUP_TILES = 32, /* the most tiles that a lookup requests at a time */
    TXM_LAUNCHES = 0xFFFF  /* number of launch numbers, which are reused cyclically */
};

/* ---- loading (load.c) ---- */

/* Prevents a slot from being evicted, as long as the slot has this stamp. */
typedef struct txm_pin {
    uint32_t slot, stamp;
    uint32_t rank, batch; /* those of the job that loaded the tile */
    uint32_t shown_from;  /* number of the first view that shows the tile; 0: its batch is not over */
} txm_pin;

typedef struct txm_pins {
    txm_pin *items;
    uint32_t count, capacity;
} txm_pins;

/* A tile to be read. */
typedef struct txm_job {
    txm_source *source;
    uint8_t level;
    bool shown; /* its batch is not over, but a portion with this tile was shown; under the lock */
    uint32_t tile, slot;
    uint32_t rank;    /* index in the batch's list of requests */
    uint32_t version; /* of the source when the tile was requested: if it has changed since, the tile is not shown */
    uint32_t batch;   /* number of the batch; the source counts the tile as loading until it ends; 0: not in a batch */
    uint8_t *pixels;  /* pixels of the slot */
} txm_job;

/* Does what a request needs, with the lock held, which may be released in between. True: a tile is to be read, and
 * *job is its job, which is LOADING. */
bool txm_take_request(txm_cache *c, uint32_t number, txm_job *job);
/* Makes the job of a claimed tile. */
txm_job txm_job_of(txm_cache *c, txm_source *s, uint32_t level, uint32_t tile);
/* Finds memory for a job; may evict tiles. A job without a slot is passed to txm_load too, which makes it a failure. */
bool txm_job_take_slot(txm_cache *c, txm_job *job, txm_need need);
/* Reads the tile without the lock, and shows it. */
void txm_load(txm_cache *c, const txm_job *job, txm_pins *pins);
/* Ends a job that was not run: its tile may be requested again. With the lock held. */
void txm_abandon(txm_cache *c, const txm_job *job);
/* Called once for every job after it was run or abandoned; for jobs of a batch, when the batch is over. With the lock.
 */
void txm_job_over(txm_cache *c, const txm_job *job);
/* Opens a texture, with the lock held, which is released in between. */
txm_status txm_texture_open(txm_cache *c, uint32_t texture, txm_error *err);
/* A file for one reader, without the lock. */
txm_status txm_file_acquire(txm_cache *c, txm_cache_file *f, txm_tx **tx, txm_error *err);
void txm_file_give(txm_cache *c, txm_cache_file *f);
txm_slot *txm_pinned_slot(txm_cache *c, const txm_pin *pin); /* NULL: the slot holds another tile by now */
void txm_unpin(txm_cache *c, txm_pins *pins);
/* Begins a new round if temporary failures are due to be tried again; with the lock held, and without it. */
bool txm_next_round(txm_cache *c);
bool txm_retry(txm_cache *c);
void txm_notify(txm_cache *c);
/* Waits until `completions` differs from the value that was read before. */
void txm_wait_for_others(txm_cache *c, uint64_t seen);

/* ---- batches of tiles that threads read together (batch.c) ---- */

/* `users` counts references: its owner, the threads that read for it, and the cache until the batch is over. Sources
 * count its tiles as loading until then, which keeps the sources of its jobs alive. */
struct txm_ticket {
    txm_cache *cache;
    uint32_t users; /* under the lock */
    uint32_t number, total, jobs_room;
    uint64_t bytes; /* total size of its tiles */
    txm_job *jobs;
    txm_pins *pins;
    txm_cache_viewer *viewer;    /* NULL: the batch is not from a launch */
    double shown_seconds;        /* when it began, or a portion of it was shown last */
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

/* Reads tiles of a batch that were not begun; false: there are none. Called without the lock. */
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

/* ---- views (viewer.c) ---- */

/* The view of one launch: copies of the cache's arrays from the time when the view was prepared. Lookups mark these
 * copies and write requests to them. Preparing the next view updates only the elements that have changed. */
struct txm_cache_viewer {
    txm_cache *cache;
    txm_changes changes;
    struct {
        void *items;      /* the copy */
        uint32_t *copied; /* for each TXM_CHUNK of them, the view in which one was last copied */
        uint32_t capacity, bits_capacity, copied_capacity;
    } of[TXM_COPIES];
    uint32_t *filter;
    uint64_t *slabs;
    uint32_t *udims, udim_count;
    uint32_t slab_capacity, udim_capacity;
    bool open;           /* lookups may be running in it */
    bool never_repeats;  /* see txm_cache_viewer_never_repeats */
    bool evicts_nothing; /* for its batches */
    uint16_t launch;     /* the view's launch number */
    uint32_t epoch;      /* the view's epoch; 0: no view was prepared yet */
    uint32_t stamp;      /* the cache's stamp when the view was prepared: tiles with later stamps are not in it */
    uint32_t number;     /* the view's number; views of all viewers are counted together */
    uint64_t generation; /* the cache's generation at that time */
    uint64_t jobs_over;  /* the cache's jobs_over at that time */
    uint32_t rejection;  /* for the next view; see txm_view */
    uint32_t tickets;    /* number of its tickets that are not over */
    uint32_t *kept, kept_count, kept_capacity; /* requests for its next batch */
    uint64_t kept_from;                        /* generation of the view that made the first of them */
    txm_pins pins;                             /* tiles that its latest batches have loaded */
    txm_cache_viewer *next;
};

/* Makes the viewer of txm_cache_prepare if there is none yet; without the lock. */
txm_status txm_own_viewer(txm_cache *c, txm_error *err);
void txm_viewer_free(txm_cache_viewer *v);
txm_status txm_viewer_prepare(txm_cache_viewer *v, txm_view *view, txm_cache_extent *extent, txm_error *err);
/* USAGE if the view of txm_cache_prepare is open: `call` would change what it shows. With the lock held. */
txm_status txm_own_view_allows(const txm_cache *c, const char *call, txm_error *err);
/* Copies the marks of lookups in a view to the page table; the second closes the view too. */
void txm_viewer_merge(txm_cache_viewer *v);
void txm_viewer_close(txm_cache_viewer *v);

/* ---- the policy (policy.c) ---- */

/* Members that are 0 or NULL have no effect. */
typedef struct txm_policy {
    txm_cache_policy_words words;
    void (*end_render_tile)(txm_cache *c); /* at the end of txm_cache_end_epoch; may release the lock */
    bool keeps_all;                        /* nothing is evicted, and the budget may be exceeded */
    bool by_launch;                        /* preparing a view begins an epoch */
} txm_policy;

extern const txm_policy txm_policies[];
uint32_t txm_policy_order(const void *cache, const txm_slot *s); /* of txm_tiles */
void txm_next_epoch(txm_cache *c);

/* ---- the cache and its threads (cache.c) ---- */

struct txm_cache {
    txm_world world;
    _Alignas(64) pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled when a tile was loaded or failed, a texture was opened, or a file was opened or
                               became free */
    atomic_uint_least64_t completions;
    uint32_t waiting;
    uint64_t id; /* unique among the caches of this process */
    txm_cache_options options;
    txm_cache_stats stats;
    txm_tiles tiles;
    txm_catalog catalog;
    txm_queue queue;
    txm_cache_viewer *viewers, *own_viewer; /* all; and that of txm_cache_prepare, NULL: not called yet */
    uint32_t viewer_count;
    uint32_t thread_count;
    uint32_t loads_of_epoch;
    uint32_t tile_began[3]; /* epochs in which the current render tile and the two before it began; 0: there was none */
    float spurious;         /* see mirror.h */
    struct txm_current *current; /* see current.c */
    struct txm_recorder *trace;
    uint64_t trace_began[8]; /* the numbers of its end block when it began */
    txm_rehearsal rehearsal; /* all zero: tiles are read from files */
};

struct txm_cache_thread {
    _Alignas(64) txm_reader reader;
    txm_guarded_function sample; /* the implementation for this machine */
    txm_sampler asked, biased; /* if a resolution is set: the caller's last sampler, and the same with the bias added */

    txm_cache *cache;
    txm_view view;
    uint64_t generation;               /* generation of the view that the thread has */
    uint32_t *requests, requests_most; /* few_requests, or memory in `many` */
    txm_job *jobs;
    uint32_t few_requests[TXM_LOOKUP_TILES];
    txm_job few_jobs[TXM_LOOKUP_TILES];
    uint8_t *many, *areas;         /* scratch for txm_cache_sample_n: see make_many; NULL: not allocated yet */
    size_t many_bytes, areas_most; /* size of `many`; number of lookups that `areas` has room for */
    txm_pins pins;
    uint64_t chance; /* state of the random numbers for spurious misses */
    uint32_t number; /* from 1 on */
};

static inline const txm_policy *txm_policy_of(const txm_cache *c)
{
    return &txm_policies[c->options.policy];
}

static inline txm_cache_thread *txm_thread_of(txm_guard *quick)
{
    return (txm_cache_thread *)(void *)quick;
}

/* Both renew a thread's copy of the cache's view: the first with the lock held, the second without it, between two
 * lookups of the thread. */
void txm_learn(txm_cache_thread *t);
void txm_renew(txm_cache_thread *t);
/* Takes the sampler's place after a change (txm_world.stale). */
txm_lookup_result txm_find_stale(txm_guard *quick, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                                 uint32_t *random, float out[4]);
/* current.c. The first returns a unique number for a new cache; the second frees the threads of
 * txm_cache_thread_current when the cache is freed. */
uint64_t txm_next_cache_id(void);
void txm_end_current(txm_cache *c);

/* Ends a lookup. */
static inline void txm_leave(txm_cache_thread *t)
{
    atomic_store_explicit(&t->reader.quick.active, 0, memory_order_release);
    txm_count(&t->reader.sections, 1);
}

static inline void txm_enter(txm_cache_thread *t)
{
    txm_world *w = &t->cache->world;
    for (;;) {
        if (atomic_load_explicit(&w->fences, memory_order_relaxed))
            atomic_exchange(&t->reader.quick.active, 1);
        else
            atomic_store_explicit(&t->reader.quick.active, 1, memory_order_release);
        atomic_signal_fence(memory_order_seq_cst); /* pairs with the membarrier in txm_wait_quiescent */
        if (atomic_load_explicit(&w->generation, memory_order_acquire) == t->generation)
            break;
        txm_leave(t); /* the thread that holds the lock may be waiting for this one */
        txm_renew(t);
    }
    t->view.epoch = atomic_load_explicit(&w->epoch, memory_order_relaxed);
    t->view.round = (uint16_t)atomic_load_explicit(&w->round, memory_order_relaxed);
}

/* The same for lookups that request the tiles they miss: blocks of the page table that are on the thread's lists are
 * not reused before txm_fetch has handled them. */
static inline void txm_enter_to_ask(txm_cache_thread *t)
{
    atomic_store_explicit(&t->reader.asks_of, t->generation, memory_order_release);
    txm_enter(t);
}

static inline void txm_leave_asking(txm_cache_thread *t, uint32_t requests)
{
    if (!requests)
        atomic_store_explicit(&t->reader.asks_of, UINT64_MAX, memory_order_release);
    txm_leave(t);
}

/* ---- lookups (lookup.c) ---- */

/* Quick lookups for a cache with a resolution; and the general lookup with the same arguments, which repeats a quick
 * one that has missed. */
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

/* Lookups of a batch one by one; `slopes` may be NULL. */
txm_lookup_result txm_lookup_each(txm_cache_thread *t, uint32_t texture, const txm_sampler *how,
                                  const txm_lookups *batch, const txm_lookup_slopes *slopes);

/* ---- the rest ---- */

/* part.c, without the lock: loads the stand-in of a texture when it is registered. */
void txm_stand_in_load(txm_cache *c, uint32_t texture);

/* rehearse.c: replaces the reading of files. The second function returns true if the tile has one colour. */
void txm_rehearse_open(const txm_cache *c, uint32_t texture, txm_source *made);
bool txm_rehearse_load(const txm_cache *c, const txm_job *job);

/* trace.c */
void txm_trace_lookup(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                      uint32_t random);
/* Called with the lock held; these do nothing while no trace is being written. */
void txm_trace_constant(txm_cache *c, const txm_source *s, uint32_t level, uint32_t tile, const uint8_t *pixel);
void txm_trace_event(txm_cache *c, void (*record)(txm_recorder *r));
/* Before the statistics are reset, with -1, and after that, with 1. */
void txm_trace_recount(txm_cache *c, int sign);

/* report.c, with the lock held: the number of blocking lookups so far. */
uint64_t txm_lookups_of(const txm_cache *c);
#endif
