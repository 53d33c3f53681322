/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations that the parts of the texture cache share.
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

#include "tile/base/fail.h"
#include "tile/base/pool.h"
#include "tile/cache/rehearse.h"
#include "tile/sample/sample_ops.h"
#include "tile/sample/view_file.h"
#include "txtile/cache.h"

struct txm_recorder;

/* ---- files ------------------------------------------------------------------------------------------------------ */

typedef struct txm_source txm_source;

/* The source of a texture's tiles: a tx file, or the caller's callbacks (origin.c). Called without the lock. */
typedef struct txm_origin {
    /* Fills in the shape, the digest and the number of levels to skip. */
    txm_status (*describe)(txm_cache *c, txm_extension extension, txm_source *made, txm_error *err);
    /* Reads a tile in the layout of views. `unwidened` has room for txm_view_converted_bytes; *opaque is as in
     * txm_view_read_tile. */
    txm_status (*read_tile)(txm_cache *c, const txm_source *s, uint32_t level, uint32_t tile, uint8_t *pixels,
                            uint8_t *unwidened, bool *opaque, txm_error *err);
} txm_origin;

/* The caller's callbacks, as in txm_tile_source. */
typedef struct txm_called {
    void *user;
    txm_status (*describe)(void *user, txm_tile_shape *shape, txm_error *err);
    txm_status (*read)(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                       void *pixels, size_t row_stride_bytes, txm_error *err);
    void (*close)(void *user);
} txm_called;

/* What a file needs only while it is open. */
typedef struct txm_open_file {
    txm_tx *tx;
    struct txm_cache_file *file;
    struct txm_open_file *newer, *older; /* neighbours in the list of open files, in the order of their last use */
    uint64_t own_bytes, idle_bytes; /* memory of the open file, and memory that its reader keeps for the next tile */
    double looked_seconds;          /* time of the last comparison with the file's identity */
    uint32_t readers;
    bool mapped; /* it was used since its pages were last released */
} txm_open_file;

/* A tx file, or the caller's callbacks. There may be millions of the latter, so their structs are allocated only up to
 * the end of `called`. */
typedef struct txm_cache_file {
    char *path;
    txm_error *broken; /* the permanent failure that prevents reading; NULL: none */
    uint32_t textures;
    bool is_called;
    bool translucent; /* it was taken for opaque but has transparent pixels */
    bool opening;
    bool known : 1, has_digest : 1; /* known: `identity` is set; has_digest: `digest` is set, at the first opening */
    union {
        txm_called called;
        struct {
            txm_open_file *open; /* NULL: not open */
            uint64_t digest;     /* digest of the image; it stays the same if only the time changes */
            uint64_t
                identity[4]; /* device, inode, size and time of change: another file with the same name is not read */
            uint32_t opens;
        };
    };
} txm_cache_file;

/* A record of failures: the first one's message and status, and their number. */
typedef struct txm_trouble {
    char *message;
    txm_status status;
    uint64_t failures;
} txm_trouble;

/* ---- textures --------------------------------------------------------------------------------------------------- */

/* The layout of a source's texels in memory, without its first entry and average colour. Packed textures of the same
 * layout share one, because there may be millions of them. */
typedef struct txm_shape {
    txm_view_texture view; /* must be first: sources point to it */
    struct txm_shape *next;
    uint64_t level_loads[]; /* one per level; packed textures have none */
} txm_shape;

/* A file with one extension. Textures with the same pixels and extension share one. For sources without a digest, the
 * struct is cut off before that member. */
struct txm_source {
    txm_cache_file *file;
    txm_view_texture *view; /* in a txm_shape */
    txm_trouble *trouble;   /* NULL: nothing has failed */
    double load_seconds;
    uint32_t first;    /* index of its first entry */
    uint32_t textures; /* 0: it was replaced, and is freed when `loading` is 0 */
    uint32_t first_texture;
    uint32_t loading;        /* tiles that are being read, or belong to a batch that is not over */
    uint32_t version;        /* number of invalidations */
    uint32_t blocks;         /* head of the list of blocks that are or were its own, counted from 1; 0: none */
    uint32_t loads, reloads; /* saturating counts */
    uint8_t skip;            /* number of the file's levels that limit_px leaves out */
    uint8_t registered;      /* finest level that has entries; view->levels: none */
    bool converts;           /* the file and the view differ in their channels */
    bool hashed;             /* it has a digest */
    uint64_t digest[2];      /* digest of the text that identifies copies: oiio:SHA-1 */
    uint64_t file_bytes;
    txm_source *next, **link; /* next in its list; the link that points to this source */
};

static inline uint64_t *txm_level_loads(const txm_source *s)
{
    return ((txm_shape *)(void *)s->view)->level_loads;
}

typedef struct txm_texture {
    txm_cache_file *file; /* NULL: this is a UDIM set */
    txm_source *source;   /* NULL: not opened yet */
    txm_trouble *trouble; /* why it could not be opened */
    union {
        uint32_t next; /* next texture of the same source */
        uint32_t base; /* base texture of a UDIM set */
    };
    uint16_t base_rows;
    uint8_t base_columns;
    uint8_t extension : 3;
    bool opening : 1, failed : 1, passes : 1, traced : 1; /* passes: the failure may be temporary */
} txm_texture;

/* A run of entries of the page table, identified by the first one. A source has one entry for each level, then the
 * tiles of the levels from `registered` on, finest first; a texture that is not open has one entry. When a source
 * registers more levels, it moves to a new block. The old block is kept for the requests of threads that have not seen
 * the move yet. */
typedef struct txm_block {
    uint32_t first;
    uint32_t count : 26, registered : 6;
    txm_source *source; /* NULL: the block belongs to `texture`, which is not open; both unset: free */
    uint64_t retired;   /* generation in which the source left the block; 0: in use */
    uint32_t next;      /* next in the queue of blocks that were left, oldest first */
    union {
        uint32_t texture;
        uint32_t of_source; /* next block that is or was this source's, counted from 1; 0: none */
    };
} txm_block;

/* A queue of blocks that were left; there is one queue per size. */
typedef struct txm_block_queue {
    uint32_t first, last; /* TXM_NO_BLOCK: empty */
} txm_block_queue;

enum { TXM_BLOCK_QUEUES = 256, TXM_SHAPE_LISTS = 64 };
#define TXM_NO_BLOCK 0xFFFFFFFFu

/* ---- tiles in memory --------------------------------------------------------------------------------------------- */

enum {
    TXM_SLAB_BYTES = 512 << 10,
    TXM_SLOTS = 1 << TXM_SLOT_BITS,
    TXM_CLASSES = 192,    /* sizes of tiles: of padded ones 11 edges and 8 pixel sizes, of packed ones 8 per octave */
    TXM_LOOKUP_TILES = 32 /* the most tiles that a lookup requests at a time */
};

typedef enum txm_slot_state {
    TXM_SLOT_STATE_FREE = 0,
    TXM_SLOT_STATE_LOADING,
    TXM_SLOT_STATE_HELD,
    TXM_SLOT_STATE_SHARED,
    TXM_SLOT_STATE_RETIRED, /* evicted, but an open view may still show it */
    TXM_SLOT_STATE_STAGED   /* next to be evicted, but may be restored without being read (stage.c) */
} txm_slot_state;

typedef struct txm_slot {
    uint32_t entry; /* entry of the page table; for a shared tile the number of its entries, for a free slot the next
                       free slot of its slab, for a retired slot the next retired one */
    uint32_t stamp; /* number of the load: of the tiles last used in the same epoch, those with lower stamps are evicted
                       first. For a retired slot the number of the newest view that may show it */
    uint8_t state;  /* txm_slot_state */
    uint8_t age : 7; /* for CLOCK4 */
    bool kept : 1;   /* pinned by the caller, or a stand-in: not evicted until it is unpinned */
    uint16_t pins; /* number of lookups and batches that need it; 0: may be evicted. For a staged slot the number of the
                      staging */
} txm_slot;

typedef struct txm_slab {
    uint8_t *pixels; /* NULL: this number is unused */
    uint32_t arena, class, slots, used;
    uint32_t free, next, previous; /* the first free slot; neighbours in the class's list of slabs with free slots */
    txm_slot *slot;
} txm_slab;

/* Memory that slabs of a class are cut from: a huge page if the budget is large, otherwise one slab. */
typedef struct txm_arena {
    uint8_t *memory; /* NULL: this number is unused */
    size_t bytes;
    size_t piece_bytes;
    uint32_t class, slots, pieces, used; /* slots: in each slab */
    uint64_t taken;                      /* one bit per piece */
} txm_arena;

typedef struct txm_class {
    uint32_t tile_bytes, slots;  /* slots: in all slabs of the class */
    uint32_t huge_slots, pieces; /* slots of a slab in a huge page; number of slabs in a huge page, 0: tiles of this
                                    size do not fill one */
    uint32_t open, pieces_left;  /* the first slab with a free slot, TXM_NO_SLOT: none; unused pieces of arenas */
    uint32_t order_capacity;
    uint64_t *order; /* scratch for choosing the tiles to evict; allocated when it is first needed */
} txm_class;

/* A tile of one colour, which many entries share. */
typedef struct txm_constant {
    uint32_t tile_bytes, pixel_bytes, slot;
    uint8_t pixel[16];
} txm_constant;

enum { TXM_CONSTANTS = 64 };

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
    bool restored; /* the tile was staged: it has its slot, and needs no reading */
    uint32_t tile, slot;
    uint32_t rank; /* index in the batch's list of requests */
    uint32_t
        version; /* the source's version when the tile was requested: if it has changed since, the tile is not shown */
    uint32_t batch;  /* number of the batch; the source counts the tile as loading until it ends; 0: not in a batch */
    uint8_t *pixels; /* pixels of the slot */
} txm_job;

/* ---- policies ---------------------------------------------------------------------------------------------------- */

/* A policy of eviction: see policy.c. Called with the lock held; members that are 0 or NULL have no effect. */
typedef struct txm_policy {
    txm_cache_policy_words words;
    /* Sort key of a HELD slot: the lowest is evicted first; of equal ones, the one that was loaded first. */
    uint32_t (*order)(const txm_cache *c, const txm_slot *s);
    void (*end_epoch)(txm_cache *c, uint32_t epoch);
    void (*end_render_tile)(txm_cache *c); /* at the end of txm_cache_end_epoch; may release the lock */
    bool keeps_all;                        /* nothing is evicted, and the budget may be exceeded */
    bool by_launch;                        /* preparing a view begins an epoch */
    uint8_t staged_64ths; /* how many 64ths of a class's tiles are staged before they are evicted (stage.c) */
} txm_policy;

extern const txm_policy txm_policies[];

/* ---- threads ----------------------------------------------------------------------------------------------------- */

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

/* The view of one launch: copies of the cache's arrays from the time when the view was prepared. Lookups mark these
 * copies and write requests to them. Preparing the next view updates only the elements that have changed. */
struct txm_cache_viewer {
    txm_cache *cache;
    txm_view_texture *textures;
    txm_tile_entry *tiles;
    uint64_t *slabs;
    uint32_t *udims;
    uint32_t texture_count, tile_count, udim_count; /* number of elements that are shown */
    uint32_t texture_capacity, tile_capacity, slab_capacity, udim_capacity;
    uint64_t *changed_textures, *changed_tiles; /* one bit per texture, and one per TXM_CHUNK tiles */
    uint32_t changed_textures_capacity, changed_tiles_capacity;
    uint32_t *textures_copied, *tiles_copied; /* for each TXM_CHUNK of them, the view in which one was last copied */
    uint32_t textures_copied_capacity, tiles_copied_capacity;
    bool open;           /* lookups may be running in it */
    bool never_repeats;  /* see tile/base/frames.h */
    uint16_t launch;     /* the view's launch number */
    uint32_t epoch;      /* the view's epoch; 0: no view was prepared yet */
    uint32_t stamp;      /* the cache's stamp when the view was prepared: tiles with later stamps are not in it */
    uint32_t number;     /* the view's number; views of all viewers are counted together */
    uint64_t generation; /* the cache's generation at that time */
    uint64_t jobs_over;  /* the cache's jobs_over at that time */
    uint32_t rejection;  /* for the next view; see txm_view */
    uint32_t tickets;    /* number of its tickets that are not over */
    txm_pins pins;       /* tiles that its latest batches have loaded */
    txm_cache_viewer *next;
};

enum { TXM_CHUNK_SHIFT = 6, TXM_CHUNK = 1 << TXM_CHUNK_SHIFT };

enum {
    TXM_LAUNCHES = 0xFFFF,   /* number of launch numbers, which are reused cyclically */
    TXM_LAUNCH_NONE = 0xFFFF /* the launch number of blocking lookups */
};

/* Whether a tile was requested and its reading has not begun. */
static inline bool txm_is_requested(uint32_t slot)
{
    return slot - TXM_SLOT_REQUESTED <= TXM_LAUNCH_NONE;
}

/* ---- the cache --------------------------------------------------------------------------------------------------- */

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

    txm_texture *textures;
    uint32_t texture_capacity, view_capacity;
    txm_view_texture *view_textures;
    txm_tile_entry *tiles;
    uint32_t tile_count, tile_capacity;
    uint32_t unregistered, unregistered_count; /* UNREGISTERED entries: as many as the largest level has tiles */
    uint32_t *udims, udim_count, udim_capacity;
    uint32_t *quick_udims, quick_udim_capacity; /* for quick lookups: like `udims`, but without tiles for sets that have
                                                   a base texture; NULL: the same as `udims` */
    txm_block *blocks;
    uint32_t block_count, block_capacity;
    txm_block_queue left_blocks[TXM_BLOCK_QUEUES];
    txm_source **buckets;                /* hash table of sources that have a digest */
    uint32_t bucket_count, source_count; /* a power of two, or 0; number of sources in the table */
    txm_shape *shapes[TXM_SHAPE_LISTS];  /* layouts of packed textures; kept as long as the cache */

    txm_slab *slabs;
    uint64_t *slab_addresses;
    uint32_t slab_count, slab_capacity, address_capacity, slabs_free; /* slabs_free: unused numbers below slab_count */
    txm_arena *arenas;
    uint32_t arena_count, arena_capacity, arenas_free;
    txm_class classes[TXM_CLASSES];
    uint32_t class_count;
    txm_constant constants[TXM_CONSTANTS];
    uint32_t constant_count, constants_most;
    uint32_t stamp, loads_of_epoch;
    uint32_t uses_of_files;    /* since pages were last released */
    uint32_t stagings;         /* number of the last staging */
    uint64_t more_for_readers; /* added to the minimum of txm_reader_share, for files that are opened repeatedly */
    uint32_t loads_since_reopened;
    uint64_t squeezed;      /* number of tiles that were evicted for lack of memory */
    uint32_t tile_began[3]; /* epochs in which the current render tile and the two before it began; 0: there was none */

    txm_open_file *newest, *oldest; /* ends of the list of open files */
    txm_cache_thread *threads;
    uint32_t thread_count;
    txm_cache_viewer *viewers; /* list of all viewers */
    txm_cache_viewer *own;     /* the viewer of txm_cache_prepare; NULL: it was not called yet */
    uint32_t viewer_count, open_views;
    uint32_t views, batches;              /* numbers of the last view and the last batch */
    uint32_t shown_stamp;                 /* tiles with later stamps are not in any open view */
    uint32_t retired_first, retired_last; /* list of retired slots; TXM_NO_SLOT: empty */
    uint64_t retired_bytes, kept_bytes;
    uint64_t reserved_bytes; /* for tiles that are about to be pinned */
    double failed_seconds;   /* time of the last temporary failure */
    txm_pool *pool;          /* NULL: no batch has needed threads yet */
    txm_group *group;
    bool processing;       /* a thread is in txm_cache_process */
    txm_ticket *tickets;   /* batches that are not over, the oldest first */
    uint64_t queued_bytes; /* bytes of their tiles */
    uint32_t queued;       /* number of their tiles */
    uint32_t jobs;         /* number of jobs that are not over, including those outside batches */
    uint64_t jobs_over;    /* number of finished jobs that change the next view */
    txm_job *spare_jobs;   /* a list that the next batch can reuse */
    uint32_t spare_room;
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
/* Replaces an array by a larger copy; false: out of memory. `stops`: lookups read the array, so the world is stopped
 * for the exchange. */
bool txm_cache_grow(txm_cache *c, void **items, uint32_t *capacity, uint64_t needed, size_t item_bytes, bool stops);
/* The part of the budget that is set aside for open files: a sixteenth, but at least what one reader takes and at most
 * what many take. It grows up to a quarter if that is too little for files that are read in turn. */
static inline uint64_t txm_reader_share(const txm_cache *c)
{
    enum { LEAST = 256 << 10, MOST = 64 << 20 };
    const uint64_t budget = c->options.max_bytes, part = budget / 16, least = budget / 4 < LEAST ? budget / 4 : LEAST;
    return (part > MOST ? MOST : part < least ? least : part) + c->more_for_readers;
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

/* viewer.c, with the lock held. Every change of the page table that views must show is reported to these. */
void txm_entry_changed(txm_cache *c, uint32_t entry);
void txm_texture_changed(txm_cache *c, uint32_t texture);
/* The store has release order, so a lookup that sees the slot also sees its pixels. */
static inline void txm_entry_set(txm_cache *c, uint32_t entry, uint32_t slot)
{
    __atomic_store_n(&c->tiles[entry].slot, slot, __ATOMIC_RELEASE);
    if (c->viewers)
        txm_entry_changed(c, entry);
}
/* Called at the start of an operation that is forbidden while lookups run in the view of txm_cache_prepare: it ends
 * that view. */
void txm_own_view_ends(txm_cache *c);
txm_status txm_viewer_new(txm_cache *c, txm_cache_viewer **out, txm_error *err);
void txm_viewer_free(txm_cache_viewer *v);
txm_status txm_viewer_prepare(txm_cache_viewer *v, txm_view *view, txm_cache_extent *extent, txm_error *err);
/* Copies the marks of lookups in a view to the page table, and closes the view. */
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
/* With the lock held: makes lookups of all threads take the general path, until each thread has renewed its copy of the
 * cache's state. */
void txm_slow_down(txm_cache *c);
/* Both renew that copy for one thread: the first with the lock held, the second without it, between two lookups of the
 * thread. */
void txm_learn(txm_cache_thread *t);
void txm_renew(txm_cache_thread *t);
/* look.c: quick lookups for a cache with a resolution; and the general lookup with the same arguments, which repeats a
 * quick one that has missed. */
txm_look txm_look_biased(txm_guard *quick, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                         uint32_t *random, float out[4]);
txm_look txm_look_again(txm_guard *quick, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                        uint32_t *random, float out[4]);

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

/* origin.c */
extern const txm_origin txm_origin_file, txm_origin_called;

static inline const txm_origin *txm_origin_of(const txm_cache_file *f)
{
    return f->is_called ? &txm_origin_called : &txm_origin_file;
}

/* file.c: called without the lock. */
txm_status txm_file_acquire(txm_cache *c, txm_cache_file *f, txm_tx **tx, txm_error *err);
void txm_file_give(txm_cache *c, txm_cache_file *f);
/* Called with the lock held. */
txm_cache_file *txm_file_new(txm_cache *c, const char *path, const txm_tile_source *called);
void txm_file_drop(txm_cache *c, txm_cache_file **f); /* drops one texture's reference */

/* table.c: called with the lock held. */
bool txm_block_new(txm_cache *c, uint32_t count, uint32_t texture, txm_source *source, uint32_t *first);
/* Makes at least `count` consecutive UNREGISTERED entries, enough for all tiles of a level. */
bool txm_reserve_unregistered(txm_cache *c, uint32_t count);
void txm_block_retire(txm_cache *c, uint32_t first);
/* Called when a source is freed: requests for its entries are ignored from then on. */
void txm_blocks_disown(txm_cache *c, const txm_source *s);
txm_block *txm_block_of(txm_cache *c, uint32_t entry);
uint32_t txm_source_tiles(const txm_source *s, uint32_t from_level); /* of this level and all coarser ones */
uint32_t txm_entry_index(const txm_source *s, uint32_t level, uint32_t tile);
/* Finds the level of a source that an entry belongs to; `tile` is TXM_WHOLE_LEVEL for the level's own entry. */
#define TXM_WHOLE_LEVEL 0xFFFFFFFFu
void txm_block_locate(const txm_block *b, uint32_t entry, uint32_t *level, uint32_t *tile);
txm_status txm_source_register(txm_cache *c, txm_source *s, uint32_t level, txm_error *err);
/* Makes a texture show a source, whose average colour is in the texture already; NULL: nothing yet. The world must be
 * stopped. */
void txm_texture_show(txm_cache *c, uint32_t texture, const txm_source *s, uint32_t first);

/* catalog.c: called with the lock held; it is released while a file is read. */
txm_status txm_texture_add(txm_cache *c, const char *path, const txm_tile_source *called, txm_extension extension,
                           uint32_t *texture, txm_error *err);
txm_status txm_texture_open(txm_cache *c, uint32_t texture, txm_error *err);
/* USAGE: the texture is unknown, or it is a UDIM set. */
txm_status txm_texture_check(const txm_cache *c, uint32_t texture, txm_error *err);
void txm_source_drop(txm_cache *c, txm_source *s);
void txm_textures_free(txm_cache *c);
/* Handles a source that was taken for opaque and is not: its textures are opened again with four channels. */
txm_status txm_source_translucent(txm_cache *c, txm_source *s, txm_error *err);

/* slab.c: called with the lock held. */
#define TXM_NO_SLOT 0xFFFFFFFFu
/* `must`: exceeds the budget if there is no other way. */
uint32_t txm_slot_take(txm_cache *c, uint32_t tile_bytes, bool must);
void txm_slot_give(txm_cache *c, uint32_t slot);
/* Frees the slot of a tile that lookups could find until now: at once if no open view shows it, otherwise when these
 * views are closed. */
void txm_slot_retire(txm_cache *c, uint32_t slot);
void txm_slots_free_retired(txm_cache *c);
txm_slot *txm_slot_at(txm_cache *c, uint32_t slot);
uint8_t *txm_slot_pixels(txm_cache *c, uint32_t slot);
uint32_t txm_slot_bytes(const txm_cache *c, uint32_t slot);
bool txm_slab_drop_one(txm_cache *c, uint32_t not_of_class);
void txm_slabs_drop_empty(txm_cache *c, uint32_t first, uint32_t end);
void txm_slabs_free(txm_cache *c);

/* stage.c: called with the lock held. Stages HELD tiles: they keep their slots, but lookups no longer find them. */
void txm_stage(txm_cache *c, const uint32_t *slots, uint32_t count);
/* The order in which staged tiles are evicted. */
uint64_t txm_staged_order(const txm_cache *c, const txm_slot *s);
/* The slot of an entry's staged tile; TXM_NO_SLOT: it is not staged. */
uint32_t txm_staged_slot(txm_cache *c, uint32_t entry);
/* The same, but the slot becomes LOADING; and the reverse, for a slot that is not used after all. */
uint32_t txm_staged_take(txm_cache *c, uint32_t entry);
void txm_staged_put_back(txm_cache *c, uint32_t entry, uint32_t slot);
/* If the entry's tile is staged: the first frees it; the second moves it to another entry, whose mark is set already.
 */
void txm_staged_drop(txm_cache *c, uint32_t entry);
void txm_staged_move(txm_cache *c, uint32_t from, uint32_t to);

/* evict.c: called with the lock held. */
/* Stages tiles of a class before the first of them must be evicted, to give them time to be restored. Called when there
 * is memory for only a few more. */
void txm_stage_first(txm_cache *c, uint32_t class);
uint32_t txm_evict(txm_cache *c, uint32_t class, uint32_t count, bool shown);
void txm_evict_slots(txm_cache *c, const uint32_t *slots, uint32_t count);
/* Tiles that are evicted together, so that lookups are waited for once for many. */
enum { TXM_GOING_MOST = 1024 };
typedef struct txm_going {
    uint32_t slots[TXM_GOING_MOST], count;
} txm_going;
void txm_going_add(txm_cache *c, txm_going *g, uint32_t slot);
void txm_going_end(txm_cache *c, txm_going *g); /* evicts those that were added last */
#define TXM_ALL_SLABS 0, UINT32_MAX
void txm_evict_if(txm_cache *c, uint32_t first_slab, uint32_t end_slab,
                  bool (*goes)(txm_cache *, uint32_t slot, void *), void *arg);
void txm_make_room(txm_cache *c, size_t bytes);
void txm_next_epoch(txm_cache *c);
bool txm_slot_evictable(const txm_slot *s);
uint64_t txm_slot_order(const txm_cache *c, const txm_slot *s);

/* look.c: txm_cache_resolve for callers that are between txm_enter and txm_leave, or hold the lock. */
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
txm_look txm_look_until_there(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                              uint32_t *random, float out[4]);

/* rehearse.c: replaces the reading of files. The second function returns true if the tile has one colour. */
void txm_rehearse_open(const txm_cache *c, uint32_t texture, txm_source *made);
bool txm_rehearse_load(const txm_cache *c, const txm_job *job);

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

/* part.c, without the lock: loads the stand-in of a texture when it is registered. */
void txm_stand_in_load(txm_cache *c, uint32_t texture);

/* load.c */
/* Records a failure, if there is memory for it. */
void txm_trouble_note(txm_cache *c, txm_trouble **trouble, const txm_error *cause);
void txm_trouble_free(txm_cache *c, txm_trouble **trouble);
/* Whether a failure may be temporary. Tiles, levels and textures that failed for such a reason are tried again: at once
 * if nothing else failed lately, otherwise after as long as the attempt took, so at most half of the time is lost to
 * attempts. */
bool txm_failure_passes(const txm_error *err);
/* The value of an entry after a failure; `seconds` is how long the attempt took. */
uint32_t txm_failed_slot(txm_cache *c, const txm_error *err, double seconds);
/* Begins a new round if temporary failures are due to be tried again; with the lock held, and without it. */
bool txm_next_round(txm_cache *c);
bool txm_retry(txm_cache *c);
/* Turns a request into a job if it is for a tile; with the lock held, which may be released in between. False: there is
 * nothing to read. */
bool txm_plan(txm_cache *c, uint32_t entry, txm_job *job);
bool txm_plan_slot(txm_cache *c, txm_job *job, bool must);
/* Makes an entry LOADING, unless it is in memory, being read or permanently failed. */
bool txm_claim(txm_cache *c, uint32_t entry);
/* Makes the job of a claimed tile; if the tile was staged, the job gets its slot. */
txm_job txm_job_of(txm_cache *c, txm_source *s, uint32_t level, uint32_t tile);
/* Ends a job that was not run: its tile may be requested again. With the lock held. */
void txm_abandon(txm_cache *c, const txm_job *job);
/* Called once for every job after it was run or abandoned; for jobs of a batch, when the batch is over. With the lock
 * held. */
void txm_job_over(txm_cache *c, const txm_job *job);
void txm_load(txm_cache *c, const txm_job *job, uint8_t **unwidened, size_t *unwidened_bytes, txm_pins *pins);
txm_slot *txm_pinned_slot(txm_cache *c, const txm_pin *pin); /* NULL: the slot holds another tile by now */
void txm_unpin(txm_cache *c, txm_pins *pins);
void txm_notify(txm_cache *c);
/* Waits until `completions` differs from the value that was read before. */
void txm_wait_for_others(txm_cache *c, uint64_t seen);

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
