/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the texture cache share.
 *
 * Who may change what. Lookups of threads run between txm_enter and txm_leave, without a lock; they read the view's
 * arrays and change entries of the page table from NONE to REQUESTED, with the number of the launch. All else changes
 * under `lock`:
 *  - REQUESTED becomes LOADING where somebody takes the request over, and sees it through;
 *  - a slot is written to an entry when the tile's pixels are complete;
 *  - a slot that was taken out of the page table is reused when every lookup that may have seen it is over
 *    (txm_wait_quiescent);
 *  - arrays move, and textures change their shape, while the world is stopped (txm_stop_world): lookups that run are
 *    waited for, others wait at txm_enter.
 * Whoever holds the lock is in no lookup, so that waiting for lookups with the lock held cannot deadlock.
 */
#ifndef TXM_CACHE_CACHE_IMPL_H
#define TXM_CACHE_CACHE_IMPL_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "tile/base/fail.h"
#include "tile/base/pool.h"
#include "tile/cache/rehearse.h"
#include "tile/sample/sample_ops.h"
#include "tile/sample/view_file.h"
#include "txtile/cache.h"

struct txm_trace_writer;

/* ---- files ------------------------------------------------------------------------------------------------------ */

typedef struct txm_source txm_source;

/* Where the tiles of a texture come from: tx files, or callbacks of the caller (origin.c). Without the lock. */
typedef struct txm_origin {
    /* Shape, digest and levels that are left out. */
    txm_status (*describe)(txm_cache *c, txm_extension extension, txm_source *made, txm_error *err);
    /* A tile as views have it. `unwidened`: memory of txm_view_converted_bytes; *opaque: as txm_view_read_tile says. */
    txm_status (*read_tile)(txm_cache *c, const txm_source *s, uint32_t level, uint32_t tile, uint8_t *pixels,
                            uint8_t *unwidened, bool *opaque, txm_error *err);
} txm_origin;

/* Callbacks of the caller, as in txm_tile_source. */
typedef struct txm_called {
    void *user;
    txm_status (*describe)(void *user, txm_tile_shape *shape, txm_error *err);
    txm_status (*read)(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                       void *pixels, size_t row_stride_bytes, txm_error *err);
    void (*close)(void *user);
} txm_called;

/* A tx file, or callbacks of the caller, of which there may be millions: they end where the file's members begin. */
typedef struct txm_cache_file {
    char *path;
    txm_called called; /* all NULL: a tx file */
    txm_error *broken; /* why it cannot be read: not tried again. NULL: it can */
    uint32_t textures;
    bool translucent; /* it was taken for opaque, and is not */
    bool mapped;      /* used since pages were last given back */
    bool opening;
    txm_tx *tx; /* NULL: not open */
    uint32_t readers, opens;
    uint64_t own_bytes, idle_bytes; /* of the open file; that its reader keeps for the next tile */
    uint64_t identity[4];   /* device, inode, size, time of change: another file under the same name is not read */
    uint64_t digest;        /* of the image, which may have got another time since */
    bool known, has_digest; /* whether these two are those of the file that was opened first */
    double looked_seconds;  /* when it was last compared with that, while it is open */
    struct txm_cache_file *newer, *older; /* open ones by their last use */
} txm_cache_file;

static inline size_t txm_file_bytes(const txm_cache_file *f)
{
    return f->called.read ? offsetof(txm_cache_file, tx) : sizeof *f;
}

/* What could not be read: the first failure in words, by its kind, and how many there were. */
typedef struct txm_trouble {
    char *message;
    txm_status status;
    uint64_t failures;
} txm_trouble;

/* ---- textures --------------------------------------------------------------------------------------------------- */

/* How the texels of a source lie in memory, but for its first entry and average colour. Packed textures of one shape
 * share it, since there may be millions of them. */
typedef struct txm_shape {
    txm_view_texture view; /* first: what sources point to */
    struct txm_shape *next;
    uint64_t level_loads[]; /* as many as there are levels; none of packed ones */
} txm_shape;

/* A file as it is looked up: textures with the same pixels and extension share one. Those without a digest end where
 * that begins. */
struct txm_source {
    txm_cache_file *file;
    txm_view_texture *view; /* of a txm_shape */
    txm_trouble *trouble;   /* NULL: nothing has failed */
    double load_seconds;
    uint32_t first;    /* entry */
    uint32_t textures; /* 0: replaced, and gone when `loading` is 0 */
    uint32_t first_texture;
    uint32_t loading;        /* tiles that are being read, or of a batch that is */
    uint32_t version;        /* counts invalidations */
    uint32_t blocks;         /* that are or were its own: the last one, counted from 1; 0: none */
    uint32_t loads, reloads; /* as far as they go */
    uint8_t skip;            /* levels of the file that limit_px leaves out */
    uint8_t registered;      /* finest level that has entries; view->levels: none */
    bool converts;           /* the file has other channels than the view */
    bool hashed;             /* it has a digest */
    uint64_t digest[2];      /* of the text by which copies are found: oiio:SHA-1 */
    uint64_t file_bytes;
    txm_source *next, **link; /* in its list; what points to it there */
};

static inline size_t txm_source_bytes(const txm_source *s)
{
    return s->hashed ? sizeof *s : offsetof(txm_source, digest);
}

static inline uint64_t *txm_level_loads(const txm_source *s)
{
    return ((txm_shape *)(void *)s->view)->level_loads;
}

typedef struct txm_texture {
    txm_cache_file *file; /* NULL: a UDIM set */
    txm_source *source;   /* NULL: not opened */
    txm_trouble *trouble; /* why it could not be opened */
    union {
        uint32_t next; /* of the same source */
        uint32_t base; /* of a UDIM set */
    };
    uint16_t base_rows;
    uint8_t base_columns;
    uint8_t extension : 3;
    bool opening : 1, failed : 1, passes : 1, traced : 1; /* passes: the failure may */
} txm_texture;

/* Entries of the page table that belong together, by their first one: of a source an entry for each level, then the
 * tiles of levels from `registered` on, finest first; of a texture that is not open one entry. A source that registers
 * more levels moves to a new block. What is on lists of threads that have not seen the move is found in the old one. */
typedef struct txm_block {
    uint32_t first;
    uint32_t count : 26, registered : 6;
    txm_source *source; /* NULL: `texture` is not open; both unset: free */
    uint64_t retired;   /* generation in which it was left; 0: in use */
    uint32_t next;      /* of those that were left, in the order in which they were */
    union {
        uint32_t texture;
        uint32_t of_source; /* the next block that is or was this source's, counted from 1; 0: none */
    };
} txm_block;

/* Blocks that were left, by their size: a queue each. */
typedef struct txm_block_queue {
    uint32_t first, last; /* TXM_NO_BLOCK: empty */
} txm_block_queue;

enum { TXM_BLOCK_QUEUES = 256, TXM_SHAPE_LISTS = 64 };
#define TXM_NO_BLOCK 0xFFFFFFFFu

/* ---- tiles in memory --------------------------------------------------------------------------------------------- */

enum {
    TXM_SLAB_BYTES = 512 << 10,
    TXM_SLOTS = 1 << TXM_SLOT_BITS,
    TXM_CLASSES =
        192, /* sizes of tiles: padded ones of 11 edges and 8 sizes of a pixel, 8 for each octave of packed ones */
    TXM_LOOKUP_TILES = 32 /* that one lookup asks for at a time */
};

typedef enum txm_slot_state {
    TXM_SLOT_STATE_FREE = 0,
    TXM_SLOT_STATE_LOADING,
    TXM_SLOT_STATE_HELD,
    TXM_SLOT_STATE_SHARED,
    TXM_SLOT_STATE_RETIRED, /* evicted, but an open view may still show it */
    TXM_SLOT_STATE_STAGED   /* about to go, but may come back without being read (stage.c) */
} txm_slot_state;

typedef struct txm_slot {
    uint32_t entry; /* of the page table; of shared tiles how many entries; of a free one the next of its slab, of a
                       retired one the next of these */
    uint32_t stamp; /* counts loads: older ones go first among those that were used last in the same epoch; of a retired
                       one the number of the newest view that may show it */
    uint8_t state;  /* txm_slot_state */
    uint8_t age : 7; /* CLOCK4 */
    bool kept : 1;   /* pinned by the caller, or a stand-in: stays until it is unpinned */
    uint16_t pins;   /* lookups and batches that need it; 0: may go. Of a staged one the number of the staging */
} txm_slot;

typedef struct txm_slab {
    uint8_t *pixels; /* NULL: none */
    uint32_t arena, class, slots, used;
    uint32_t free, next, previous; /* the first free slot; slabs of the class that have one too */
    txm_slot *slot;
} txm_slab;

/* Memory that slabs of a class are cut from: a huge page, where the budget is large, or one slab. */
typedef struct txm_arena {
    uint8_t *memory; /* NULL: none */
    size_t bytes;
    size_t piece_bytes;
    uint32_t class, slots, pieces, used; /* slots of each slab */
    uint64_t taken;                      /* one bit per piece */
} txm_arena;

typedef struct txm_class {
    uint32_t tile_bytes, slots;  /* slots in all its slabs */
    uint32_t huge_slots, pieces; /* of a slab in a huge page; slabs there, 0: these tiles fill none */
    uint32_t open, pieces_left;  /* the first slab with a free slot, TXM_NO_SLOT: none; in arenas */
    uint32_t order_capacity;
    uint64_t *order; /* for choosing what goes: made when something must */
} txm_class;

/* A tile of one colour that many entries show. */
typedef struct txm_constant {
    uint32_t tile_bytes, pixel_bytes, slot;
    uint8_t pixel[16];
} txm_constant;

enum { TXM_CONSTANTS = 64 };

/* A slot that may not go, for as long as its stamp is this one. */
typedef struct txm_pin {
    uint32_t slot, stamp;
    uint32_t rank, batch; /* of the job that loaded the tile */
    uint32_t shown_from;  /* the first view that shows it; 0: its batch is not over */
} txm_pin;

typedef struct txm_pins {
    txm_pin *items;
    uint32_t count, capacity;
} txm_pins;

/* A tile to be read. */
typedef struct txm_job {
    txm_source *source;
    uint8_t level;
    bool restored; /* was staged: it has its slot, and there is nothing to read */
    uint32_t tile, slot;
    uint32_t rank;    /* place in the batch's list of requests; the first is 0 */
    uint32_t version; /* of the source, as it was asked for: what was invalidated since is not shown */
    uint32_t batch;   /* number of it, whose end its source waits for; 0: of none */
    uint8_t *pixels;  /* of the slot */
} txm_job;

/* ---- policies ---------------------------------------------------------------------------------------------------- */

/* What goes when memory is needed: see policy.c. With the lock; members that are 0 or NULL do nothing. */
typedef struct txm_policy {
    txm_cache_policy_words words;
    /* The lowest goes first, and of equal ones what came first. Of HELD slots. */
    uint32_t (*order)(const txm_cache *c, const txm_slot *s);
    void (*end_epoch)(txm_cache *c, uint32_t epoch);
    void (*end_render_tile)(txm_cache *c); /* at the end of txm_cache_end_epoch; may give up the lock meanwhile */
    bool keeps_all;                        /* nothing goes, and the budget is not kept */
    bool by_launch;                        /* a view that is prepared begins an epoch */
    uint8_t staged_64ths;                  /* of the tiles of a class: how many are staged before they go (stage.c) */
} txm_policy;

enum { TXM_CACHE_POLICIES = TXM_CACHE_POLICY_SECOND_CHANCE + 1 };
extern const txm_policy txm_policies[TXM_CACHE_POLICIES];

/* ---- threads ----------------------------------------------------------------------------------------------------- */

struct txm_cache_thread {
    _Alignas(64) txm_guard quick; /* first: txm_cache_sample passes it on as it is; see there */
    txm_guarded_function sample;  /* that of this machine */
    txm_sampler asked, biased;    /* with a resolution: the last one, and what it is looked up with */

    txm_cache *cache;
    txm_view view;
    uint64_t generation;            /* of the view */
    atomic_uint_least64_t asks_of;  /* of the view whose entries are on its lists; UINT64_MAX: there are none */
    atomic_uint_least64_t sections; /* that were left; written in none */
    atomic_uint_least64_t missed;
    uint32_t *requests, requests_most; /* `few`, or those of `many` */
    txm_job *jobs;
    uint32_t few_requests[TXM_LOOKUP_TILES];
    txm_job few_jobs[TXM_LOOKUP_TILES];
    uint8_t *many, *areas;         /* for lookups of many at a time: see make_many; NULL: there were none */
    size_t many_bytes, areas_most; /* all of it; lookups that `areas` has room for */
    txm_pins pins;
    uint8_t *unwidened;
    size_t unwidened_bytes;
    uint64_t chance; /* for spurious misses */
    uint32_t number; /* from 1 on */
    txm_cache_thread *next;
};

static inline txm_cache_thread *txm_thread_of(txm_guard *quick)
{
    return (txm_cache_thread *)(void *)quick;
}

/* A batch of tiles that are being read. Kept by whoever counts in `users`: its owner, threads that read for it, and the
 * cache until it is over. Sources count its tiles as loading until then, so that its jobs can be looked at. */
struct txm_ticket {
    txm_cache *cache;
    uint32_t users; /* under the lock */
    uint32_t number, total, jobs_room;
    uint64_t bytes; /* of its tiles */
    txm_job *jobs;
    txm_pins *pins;
    txm_cache_viewer *viewer;    /* NULL: of no launch */
    double deadline_seconds;     /* jobs that nobody has begun by then are given up; INFINITY: never */
    atomic_uint next, remaining; /* the first job that nobody has begun; jobs that are not over */
    atomic_uint begun;           /* jobs that were read, or are */
    atomic_bool cancelled;
    bool preloads, over; /* over: its tiles may be shown to views; under the lock */
    bool awaits_others;  /* it has no tiles, since others load what the launch has missed, or have the room for it */
    uint64_t jobs_seen;  /* then: txm_cache.jobs_over that the launch has seen */
    txm_ticket *next_running;
};

/* What lookups of one launch see: copies of the cache's arrays as they were when the view was prepared, which lookups
 * mark and write requests to. They are brought up to date by what has changed since. */
struct txm_cache_viewer {
    txm_cache *cache;
    txm_view_texture *textures;
    txm_tile_entry *tiles;
    uint64_t *slabs;
    uint32_t *udims;
    uint32_t texture_count, tile_count, udim_count; /* that are shown */
    uint32_t texture_capacity, tile_capacity, slab_capacity, udim_capacity;
    uint64_t *changed_textures, *changed_tiles; /* a bit for each texture, and for every TXM_CHUNK tiles */
    uint32_t changed_textures_capacity, changed_tiles_capacity;
    bool open;           /* somebody may be looking up in it */
    uint16_t launch;     /* of the view */
    uint32_t epoch;      /* of the view; 0: there was none */
    uint32_t stamp;      /* of the cache when it was prepared: tiles of later stamps are not in it */
    uint32_t number;     /* counts views of all viewers */
    uint64_t generation; /* of the cache then */
    uint64_t jobs_over;  /* the same */
    uint32_t rejection;  /* of the next view; see txm_view */
    uint32_t tickets;    /* of its own that are not over */
    txm_pins pins;       /* tiles that its last batches have loaded */
    txm_cache_viewer *next;
};

enum { TXM_CHUNK_SHIFT = 6, TXM_CHUNK = 1 << TXM_CHUNK_SHIFT };

enum {
    TXM_LAUNCHES = 0xFFFF,   /* their numbers repeat after so many */
    TXM_LAUNCH_NONE = 0xFFFF /* that of lookups which load by themselves */
};

/* Whether a lane or a thread has asked for a tile that nobody reads yet. */
static inline bool txm_is_requested(uint32_t slot)
{
    return slot - TXM_SLOT_REQUESTED <= TXM_LAUNCH_NONE;
}

/* ---- the cache --------------------------------------------------------------------------------------------------- */

struct txm_cache {
    /* Read by every lookup, written rarely. */
    _Alignas(64) atomic_uint_least64_t generation; /* of the view; odd: the world is stopped */
    atomic_uint epoch;
    atomic_uint round;            /* of failures that may pass */
    _Atomic double retry_seconds; /* when these are tried again; INFINITY: there are none */
    atomic_bool watched;          /* a trace is written, or misses are invented */
    float bias;
    atomic_uint largest_tile, live_threads; /* bytes; threads that there are now */
    atomic_bool fences;                     /* no membarrier(2) here: lookups bring barriers of their own */
    uint64_t id;                            /* of this cache alone, as long as the process lives */

    _Alignas(64) pthread_mutex_t lock;
    pthread_cond_t changed; /* a tile was loaded or failed, a texture opened, a file opened or free */
    atomic_uint_least64_t completions;
    uint32_t waiting;
    txm_cache_options options;
    txm_view view;
    size_t allocated; /* see txm_cache_allocate, and txm_taken */
    txm_cache_stats stats;

    txm_texture *textures;
    uint32_t texture_capacity, view_capacity;
    txm_view_texture *view_textures;
    txm_tile_entry *tiles;
    uint32_t tile_count, tile_capacity;
    uint32_t unregistered, unregistered_count; /* UNREGISTERED entries: as many as the largest level has tiles */
    uint32_t *udims, udim_count, udim_capacity;
    uint32_t *quick_udims, quick_udim_capacity; /* sets that have a base texture have no tiles here; NULL: as udims */
    txm_block *blocks;
    uint32_t block_count, block_capacity;
    txm_block_queue left_blocks[TXM_BLOCK_QUEUES];
    txm_source **buckets;                /* sources by digest, those that have one */
    uint32_t bucket_count, source_count; /* a power of two, or 0; in the lists */
    txm_shape *shapes[TXM_SHAPE_LISTS];  /* of packed textures, as long as the cache lives */

    txm_slab *slabs;
    uint64_t *slab_addresses;
    uint32_t slab_count, slab_capacity, address_capacity, slabs_free; /* numbers below slab_count */
    txm_arena *arenas;
    uint32_t arena_count, arena_capacity, arenas_free;
    txm_class classes[TXM_CLASSES];
    uint32_t class_count;
    txm_constant constants[TXM_CONSTANTS];
    uint32_t constant_count, constants_most;
    uint32_t stamp, loads_of_epoch;
    uint32_t uses_of_files;    /* since pages were last given back */
    uint32_t stagings;         /* times that tiles were staged */
    uint64_t more_for_readers; /* beyond txm_reader_share's least: grows while files are opened again and again */
    uint32_t loads_since_reopened;
    uint64_t squeezed;      /* tiles that went for want of memory */
    uint32_t tile_began[3]; /* the epochs in which this render tile began, and those before; 0: there was none */

    txm_cache_file *newest, *oldest; /* open files */
    txm_cache_thread *threads;
    uint32_t thread_count;
    txm_cache_viewer *viewers; /* all of them */
    txm_cache_viewer *own;     /* that of txm_cache_prepare; NULL: not called yet */
    uint32_t viewer_count, open_views;
    uint32_t views, batches;              /* numbers of the last ones */
    uint32_t shown_stamp;                 /* tiles of later stamps are in no open view */
    uint32_t retired_first, retired_last; /* slots; TXM_NO_SLOT: none */
    uint64_t retired_bytes, kept_bytes;
    uint64_t reserved_bytes; /* for tiles that are about to be kept */
    double failed_seconds;   /* when something failed last that may pass */
    txm_pool *pool;          /* NULL: nothing was read yet by threads of its own */
    txm_group *group;
    bool processing;       /* somebody is in txm_cache_process */
    txm_ticket *tickets;   /* that are not over, the oldest first */
    uint64_t queued_bytes; /* of their tiles, */
    uint32_t queued;       /* and how many these are */
    uint32_t jobs;         /* that are not over, with those of no batch */
    uint64_t jobs_over;    /* that have changed what the next view shows */
    txm_job *spare_jobs;   /* a list for the next one */
    uint32_t spare_room;
    struct txm_current *current; /* see current.c */
    struct txm_trace_writer *trace;
    txm_rehearsal rehearsal; /* zeros: files are read */
};

static inline const txm_policy *txm_policy_of(const txm_cache *c)
{
    return &txm_policies[c->options.policy];
}

/* memory.c: all memory of the cache, counted. Under the lock; the first makes room in the budget. `bytes` is remembered
 * by the caller. NULL: none. */
void *txm_cache_allocate(txm_cache *c, size_t bytes, size_t alignment);
void txm_cache_release(txm_cache *c, void *memory, size_t bytes);
char *txm_cache_strdup(txm_cache *c, const char *text);
void txm_cache_free_string(txm_cache *c, char **text);
/* A larger copy of an array in place of it; false: no memory. `stops`: lookups read it, so the world is stopped when
 * it is exchanged. */
bool txm_cache_grow(txm_cache *c, void **items, uint32_t *capacity, uint64_t needed, size_t item_bytes, bool stops);
/* What is set aside for open files: a sixteenth of the budget, but what one reader takes, and no more than many do; up
 * to a quarter where that is too little for the files that are read by turns. */
static inline uint64_t txm_reader_share(const txm_cache *c)
{
    enum { LEAST = 256 << 10, MOST = 64 << 20 };
    const uint64_t budget = c->options.max_bytes, part = budget / 16, least = budget / 4 < LEAST ? budget / 4 : LEAST;
    return (part > MOST ? MOST : part < least ? least : part) + c->more_for_readers;
}

/* What counts in the budget: what the cache has allocated, and what open files keep, or may. So replays, which open
 * none, let the same tiles go. */
static inline uint64_t txm_taken(const txm_cache *c)
{
    const uint64_t share = txm_reader_share(c);
    return c->allocated + (c->stats.reader_bytes > share ? c->stats.reader_bytes : share);
}

/* current.c: a number for a new cache; and the end of what threads look up with that found it by themselves, when the
 * cache ends. */
uint64_t txm_next_cache_id(void);
void txm_end_current(txm_cache *c);

/* The arrays that the view shows have changed. */
void txm_cache_refresh(txm_cache *c);

/* viewer.c, with the lock. Every change of the page table that views are to see goes through these. */
void txm_entry_changed(txm_cache *c, uint32_t entry);
void txm_texture_changed(txm_cache *c, uint32_t texture);
/* Released after the pixels: a lookup that sees the slot sees them. */
static inline void txm_entry_set(txm_cache *c, uint32_t entry, uint32_t slot)
{
    __atomic_store_n(&c->tiles[entry].slot, slot, __ATOMIC_RELEASE);
    if (c->viewers)
        txm_entry_changed(c, entry);
}
/* What only the view of txm_cache_prepare forbids while lookups are in it begins: so there are none. */
void txm_own_view_ends(txm_cache *c);
txm_status txm_viewer_new(txm_cache *c, txm_cache_viewer **out, txm_error *err);
void txm_viewer_free(txm_cache_viewer *v);
txm_status txm_viewer_prepare(txm_cache_viewer *v, txm_view *view, txm_cache_extent *extent, txm_error *err);
/* Tells the page table which tiles lookups in a view have touched, and lets go of the view. */
void txm_viewer_merge(txm_cache_viewer *v);
void txm_viewer_close(txm_cache_viewer *v);
/* Whether an open view may show the tile in a slot. */
static inline bool txm_is_shown(const txm_cache *c, const txm_slot *s)
{
    return c->open_views && (int32_t)(s->stamp - c->shown_stamp) <= 0;
}

/* quiescent.c */
void txm_wait_quiescent(txm_cache *c);
void txm_stop_world(txm_cache *c);
void txm_resume_world(txm_cache *c);
/* With the lock: lookups of all threads go the general way, until each thread has renewed what it knows of the
 * cache. */
void txm_slow_down(txm_cache *c);
/* One thread's, with the lock; the same without it, between two lookups of the thread. */
void txm_learn(txm_cache_thread *t);
void txm_renew(txm_cache_thread *t);
/* look.c: quick lookups where there is a resolution; and what a quick one does that has missed, with everything that
 * it was given, as one that is not quick. */
txm_look txm_look_biased(txm_guard *quick, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                         uint32_t *random, float out[4]);
txm_look txm_look_again(txm_guard *quick, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                        uint32_t *random, float out[4]);

static inline bool txm_may_be_quick(const txm_cache *c)
{
    return !atomic_load_explicit(&c->watched, memory_order_relaxed) &&
           !atomic_load_explicit(&c->fences, memory_order_relaxed);
}

/* The end of a lookup; the beginning of one. */
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
        atomic_signal_fence(memory_order_seq_cst); /* membarrier in txm_wait_quiescent is the other half */
        if (atomic_load_explicit(&c->generation, memory_order_acquire) == t->generation)
            break;
        txm_leave(t); /* whoever holds the lock may be waiting for this thread */
        txm_renew(t);
    }
    t->view.epoch = atomic_load_explicit(&c->epoch, memory_order_relaxed);
    t->view.round = (uint16_t)atomic_load_explicit(&c->round, memory_order_relaxed);
}

/* The same for lookups that ask for what they miss: blocks of the page table that are on the thread's lists are not
 * used for anything else before txm_fetch has seen to them. */
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

/* origin.c */
extern const txm_origin txm_origin_file, txm_origin_called;

static inline const txm_origin *txm_origin_of(const txm_cache_file *f)
{
    return f->called.read ? &txm_origin_called : &txm_origin_file;
}

/* file.c: without the lock. */
txm_status txm_file_acquire(txm_cache *c, txm_cache_file *f, txm_tx **tx, txm_error *err);
void txm_file_give(txm_cache *c, txm_cache_file *f);
/* With the lock. */
txm_cache_file *txm_file_new(txm_cache *c, const char *path, const txm_tile_source *called);
void txm_file_drop(txm_cache *c, txm_cache_file **f); /* one texture less */

/* table.c: with the lock. */
bool txm_block_new(txm_cache *c, uint32_t count, uint32_t texture, txm_source *source, uint32_t *first);
/* At least so many UNREGISTERED entries in a row: all tiles of a level. */
bool txm_reserve_unregistered(txm_cache *c, uint32_t count);
void txm_block_retire(txm_cache *c, uint32_t first);
/* The source is gone: requests for its entries lead nowhere from now on. */
void txm_blocks_disown(txm_cache *c, const txm_source *s);
txm_block *txm_block_of(txm_cache *c, uint32_t entry);
uint32_t txm_source_tiles(const txm_source *s, uint32_t from_level); /* of this level and all coarser ones */
uint32_t txm_entry_index(const txm_source *s, uint32_t level, uint32_t tile);
/* Which level of a source an entry belongs to; `tile` is TXM_WHOLE_LEVEL for the level's own entry. */
#define TXM_WHOLE_LEVEL 0xFFFFFFFFu
void txm_block_locate(const txm_block *b, uint32_t entry, uint32_t *level, uint32_t *tile);
txm_status txm_source_register(txm_cache *c, txm_source *s, uint32_t level, txm_error *err);
/* Makes a texture show a source, whose average colour it has already, or NULL: nothing yet. The world is stopped. */
void txm_texture_show(txm_cache *c, uint32_t texture, const txm_source *s, uint32_t first);

/* catalog.c: with the lock, which is given up while a file is read. */
txm_status txm_texture_add(txm_cache *c, const char *path, const txm_tile_source *called, txm_extension extension,
                           uint32_t *texture, txm_error *err);
txm_status txm_texture_open(txm_cache *c, uint32_t texture, txm_error *err);
void txm_source_drop(txm_cache *c, txm_source *s);
void txm_textures_free(txm_cache *c);
/* Its textures were taken for opaque: they are opened again, with four channels. */
txm_status txm_source_translucent(txm_cache *c, txm_source *s, txm_error *err);

/* slab.c: with the lock. */
#define TXM_NO_SLOT 0xFFFFFFFFu
/* `must`: beyond the budget, if there is no other way. */
uint32_t txm_slot_take(txm_cache *c, uint32_t tile_bytes, bool must);
void txm_slot_give(txm_cache *c, uint32_t slot);
/* The same for a tile that lookups could find until now: at once where no open view shows it. */
void txm_slot_retire(txm_cache *c, uint32_t slot);
void txm_slots_free_retired(txm_cache *c);
/* Whether tiles that open views show may still be evicted, to be free when these are closed. */
bool txm_may_retire(const txm_cache *c);
txm_slot *txm_slot_at(txm_cache *c, uint32_t slot);
uint8_t *txm_slot_pixels(txm_cache *c, uint32_t slot);
uint32_t txm_slot_bytes(const txm_cache *c, uint32_t slot);
bool txm_slab_drop_one(txm_cache *c, uint32_t not_of_class);
void txm_slabs_drop_empty(txm_cache *c, uint32_t first, uint32_t end);
void txm_slabs_free(txm_cache *c);

/* stage.c: with the lock. HELD tiles, which stay where they are but can be found no more. */
void txm_stage(txm_cache *c, const uint32_t *slots, uint32_t count);
/* Which goes first of those that are staged. */
uint64_t txm_staged_order(const txm_cache *c, const txm_slot *s);
/* The slot of an entry's tile; TXM_NO_SLOT: it is not staged. */
uint32_t txm_staged_slot(txm_cache *c, uint32_t entry);
/* The same, which is LOADING then; and what was taken and is not used after all. */
uint32_t txm_staged_take(txm_cache *c, uint32_t entry);
void txm_staged_put_back(txm_cache *c, uint32_t entry, uint32_t slot);
/* Where the entry's tile is staged: it goes; it is another entry's from now on, which has the mark. */
void txm_staged_drop(txm_cache *c, uint32_t entry);
void txm_staged_move(txm_cache *c, uint32_t from, uint32_t to);

/* evict.c: with the lock. */
/* Before the first tiles of a class go, so that they have time to come back: there is memory for few more. */
void txm_stage_first(txm_cache *c, uint32_t class);
uint32_t txm_evict(txm_cache *c, uint32_t class, uint32_t count, bool shown);
void txm_evict_slots(txm_cache *c, const uint32_t *slots, uint32_t count);
#define TXM_ALL_SLABS 0, UINT32_MAX
uint32_t txm_evict_if(txm_cache *c, uint32_t first_slab, uint32_t end_slab,
                      bool (*goes)(txm_cache *, uint32_t slot, void *), void *arg);
void txm_make_room(txm_cache *c, size_t bytes);
void txm_next_epoch(txm_cache *c);
bool txm_slot_evictable(const txm_slot *s);
uint64_t txm_slot_order(const txm_cache *c, const txm_slot *s);

/* look.c: txm_cache_resolve for callers that are between enter and leave, or hold the lock. */
uint32_t txm_shown_texture(const txm_cache *c, uint32_t texture, const txm_sampler *how, txm_lookup *at);
/* Loads the first `requests` that a thread has missed. */
void txm_fetch(txm_cache_thread *t, uint32_t requests);
void txm_release_pins(txm_cache_thread *t);
/* What to wait for when another thread has what is missing: seen before the lookup, so that nothing is missed. */
typedef struct txm_watch {
    uint64_t seen;
    bool watched;
} txm_watch;
/* Loads what is missing, or waits for others who do; the watch begins as zeros. */
void txm_get(txm_cache_thread *t, uint32_t requests, txm_watch *w);
/* One lookup that blocks, neither counted nor biased. */
txm_look txm_look_until_there(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                              uint32_t *random, float out[4]);

/* rehearse.c: in place of files. The second is true where the tile is of one colour. */
void txm_rehearse_open(const txm_cache *c, uint32_t texture, txm_source *made);
bool txm_rehearse_load(const txm_cache *c, const txm_job *job);

/* batch.c: reads what nobody has begun of a batch; false: there is no such tile. Without the lock. */
bool txm_help(txm_cache *c);
/* A batch of jobs, whose array of `room` becomes its own. Tiles that are read are pinned on `pins`, which must outlive
 * the batch. NULL: no memory, and the jobs remain the caller's. With the lock, as the two after it. */
txm_ticket *txm_ticket_of(txm_cache *c, txm_job *jobs, uint32_t room, txm_pins *pins);
/* The first `count` of its jobs get memory and their order. */
void txm_ticket_fill(txm_ticket *t, uint32_t count);
/* Memory that the budget has for tiles; UINT64_MAX: no bound. */
uint64_t txm_room_for_tiles(const txm_cache *c);
/* Whether a batch of so many tiles, the last one included, and so many bytes may be. */
bool txm_batch_has_room(const txm_cache *c, uint32_t count, uint64_t bytes);
/* Without the lock: threads of the cache begin to read. */
void txm_ticket_start(txm_ticket *t);

/* part.c, without the lock: what a texture has in memory from its registration on. */
void txm_stand_in_load(txm_cache *c, uint32_t texture);

/* load.c */
/* One failure more. Without memory it is not remembered. */
void txm_trouble_note(txm_cache *c, txm_trouble **trouble, const txm_error *cause);
void txm_trouble_free(txm_cache *c, txm_trouble **trouble);
/* Whether a failure may pass. Such tiles, levels and textures are tried again: at once if nothing else failed lately,
 * else after as long as trying has taken, so that at most half the time is lost to it. */
bool txm_failure_passes(const txm_error *err);
/* What an entry is to say after a failure that took so long. */
uint32_t txm_failed_slot(txm_cache *c, const txm_error *err, double seconds);
/* Begins another round if failures are to be tried again; with the lock, or without. */
bool txm_next_round(txm_cache *c);
bool txm_retry(txm_cache *c);
/* Turns a request into a job where it is a tile; with the lock, which may be given up. False: nothing to read. */
bool txm_plan(txm_cache *c, uint32_t entry, txm_job *job);
bool txm_plan_slot(txm_cache *c, txm_job *job, bool must);
/* Makes an entry LOADING that is neither in memory nor being read nor damaged. */
bool txm_claim(txm_cache *c, uint32_t entry);
/* The job of a claimed tile: a staged one has its slot. */
txm_job txm_job_of(txm_cache *c, txm_source *s, uint32_t level, uint32_t tile);
/* A job that is not run: the tile may be asked for again. With the lock. */
void txm_abandon(txm_cache *c, const txm_job *job);
/* Once for every job, after it was run or abandoned: those of batches when the batch is over. With the lock. */
void txm_job_over(txm_cache *c, const txm_job *job);
void txm_load(txm_cache *c, const txm_job *job, uint8_t **unwidened, size_t *unwidened_bytes, txm_pins *pins);
txm_slot *txm_pinned_slot(txm_cache *c, const txm_pin *pin); /* NULL: it holds another tile by now */
void txm_unpin(txm_cache *c, txm_pins *pins);
void txm_notify(txm_cache *c);
/* Waits until a tile was loaded since `completions` was read. */
void txm_wait_for_others(txm_cache *c, uint64_t seen);

/* trace.c */
void txm_trace_lookup(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                      uint32_t random);
/* With the lock; nothing while no trace is written. */
void txm_trace_constant(txm_cache *c, const txm_source *s, uint32_t level, uint32_t tile, const uint8_t *pixel);
void txm_trace_replace(txm_cache *c, uint32_t texture);
void txm_trace_launch(txm_cache *c);
void txm_trace_epoch(txm_cache *c);

/* stats.c, with the lock: blocking lookups so far; and txm_cache_texture_stats_of, whose path stays as long as the lock
 * is held. */
uint64_t txm_lookups_of(const txm_cache *c);
txm_status txm_texture_stats(txm_cache *c, uint32_t texture, txm_cache_texture_stats *stats, txm_error *err);
#endif
