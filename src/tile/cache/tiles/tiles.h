/* SPDX-License-Identifier: Apache-2.0
 *
 * The lowest room of the cache: memory within a budget, slots for tiles, the choice of those that lose theirs, and
 * waiting for lookups that may still read them. It knows bytes and slots, but neither files nor textures. Functions are
 * called with the cache's lock held. Those that allocate or take a slot may evict tiles, so the caller reads again what
 * it has read from slots and entries before.
 */
#ifndef TXM_CACHE_TILES_H
#define TXM_CACHE_TILES_H
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "tile/sample/sample_ops.h"
#include "txtile/cache.h"

/* ---- lookups that run (world.c) ---- */

/* The part of a thread's state by which others see whether it is in a lookup. */
typedef struct txm_reader {
    txm_guard quick;                /* must be first: lookups pass it on without conversion */
    atomic_uint_least64_t asks_of;  /* generation of the view of the listed requests; UINT64_MAX: none are listed */
    atomic_uint_least64_t sections; /* number of critical sections that the thread has left; not written inside one */
    atomic_uint_least64_t missed;   /* lookups */
    struct txm_reader *next;
} txm_reader;

typedef struct txm_world {                         /* what every lookup reads, and nobody writes often */
    _Alignas(64) atomic_uint_least64_t generation; /* of the view; odd while lookups are stopped */
    atomic_uint epoch, round;                      /* round: number of the round of temporary failures */
    _Atomic double retry_seconds; /* when temporary failures are tried again; INFINITY: there are none */
    atomic_bool watched;          /* lookups take the slow path: a trace is being written, or misses are simulated */
    atomic_bool fences;           /* membarrier(2) is not available: lookups use memory barriers of their own */
    atomic_uint largest_tile, live_threads; /* bytes of the largest tile; number of threads that exist now */
    float bias;
    _Alignas(64) txm_view view; /* the arrays that lookups read; the owner of each writes its address here */
    txm_reader *readers;
    txm_guarded_function stale; /* takes the sampler's place until the reader has renewed its copy of the view */
    uint64_t waits;
} txm_world;

/* Waits until no lookup is left that may have seen what was hidden before the call. */
void txm_wait_quiescent(txm_world *w);
/* Between the two no lookup runs, and the arrays of the view may be moved. */
void txm_stop_world(txm_world *w);
void txm_resume_world(txm_world *w);
/* Makes lookups of all threads take the general path, until each thread has renewed its copy of the view. */
void txm_slow_down(txm_world *w);

/* ---- slots ---- */

/* VICTIMS: the most tiles that are evicted together. */
enum { TXM_SLAB_BYTES = 512 << 10, TXM_SLOTS = 1 << TXM_SLOT_BITS, TXM_VICTIMS = 1024 };
#define TXM_NO_SLOT 0xFFFFFFFFu
#define TXM_ALL_SLABS 0, UINT32_MAX

typedef enum txm_slot_state {
    TXM_SLOT_STATE_FREE,
    TXM_SLOT_STATE_LOADING,
    TXM_SLOT_STATE_HELD,
    TXM_SLOT_STATE_SHARED,
    TXM_SLOT_STATE_RETIRED /* evicted, but an open view may still show it */
} txm_slot_state;

/* `state` says which member of the union holds. A loading slot has a stamp, and no tile yet. */
typedef struct txm_slot {
    uint8_t state; /* txm_slot_state */
    bool kept;     /* pinned by the caller, or a stand-in: not evicted until it is unpinned */
    uint16_t pins; /* number of lookups and batches that need it; 0: may be evicted */
    union {
        struct {
            uint32_t stamp; /* number of the load: of tiles last used in the same epoch, lower ones are evicted first */
            uint32_t tile;  /* its number in the page table */
        } held;
        struct {
            uint32_t stamp;
        } shared;
        struct {
            uint32_t view, next; /* number of the newest view that may show it; the slot that was retired after it */
        } retired;
        struct {
            uint32_t next; /* next free slot of the slab */
        } free;
    };
} txm_slot;
_Static_assert(sizeof(txm_slot) == 12, "there is one for each tile in memory");

/* Why the owner of the tiles is called: it hides those tiles from lookups, and returns when no lookup reads them. */
typedef enum txm_loss {
    TXM_LOSS_EVICTED,
    TXM_LOSS_MOVED,  /* to the slots in `to` */
    TXM_LOSS_SHARED, /* all shared tiles; the lists are empty */
    TXM_LOSS_SHORT   /* no tile: memory is short, and what the owner has allocated besides is to shrink */
} txm_loss;

typedef struct txm_tiles {
    txm_world *world;
    txm_cache_stats *stats;
    txm_cache_allocator allocator;
    uint64_t max_bytes; /* 0: no budget */
    bool keeps_all;     /* the policy evicts nothing, whatever the budget is */
    bool busy;          /* tiles are being moved or a slab is being made: no room is made meanwhile */
    void *owner;
    void (*lost)(void *owner, txm_loss why, const uint32_t *slots, const uint32_t *to, uint32_t count);
    uint32_t (*order)(const void *owner, const txm_slot *s); /* sort key of the policy: the lowest is evicted first */
    uint64_t allocated, beside; /* bytes; beside: what others use, which counts towards the budget too */
    struct txm_slabs *slabs;    /* slabs.h */
    uint32_t stamp;             /* of the last load */
    uint32_t open_views, shown_stamp, last_view; /* tiles with later stamps than shown_stamp are in no open view */
    uint64_t kept_bytes, squeezed;               /* squeezed: number of tiles that were evicted for lack of memory */
} txm_tiles;
bool txm_tiles_init(txm_tiles *t); /* the members above `allocated` are set already; false: out of memory */
void txm_tiles_free(txm_tiles *t);
void txm_tiles_set_budget(txm_tiles *t, uint64_t max_bytes);

/* slots.c: whether a slot may cost others theirs, and be taken beyond the budget if open views hold the memory. */
typedef enum txm_need { TXM_NEED_FREE, TXM_NEED_EVICTS, TXM_NEED_MUST } txm_need;
typedef struct txm_taking {
    uint32_t slot; /* LOADING; TXM_NO_SLOT: there is none */
    bool evicted;  /* other tiles have lost their slots, or have other ones */
} txm_taking;
txm_taking txm_slot_take(txm_tiles *t, uint32_t tile_bytes, txm_need need);
void txm_slot_give(txm_tiles *t, uint32_t slot); /* of a tile that no lookup can find */
/* Takes the shared slot of a colour in place of a tile's own; the tile keeps its own if there are too many colours. */
uint32_t txm_slot_share(txm_tiles *t, uint32_t slot, uint32_t tile_bytes, uint32_t pixel_bytes);
void txm_slots_free_retired(txm_tiles *t, uint32_t oldest_view);
txm_slot *txm_slot_at(const txm_tiles *t, uint32_t slot);
txm_slot *txm_slot_with(const txm_tiles *t, uint32_t slot, uint32_t stamp); /* NULL: it holds another tile, or none */
uint8_t *txm_slot_pixels(const txm_tiles *t, uint32_t slot);
uint32_t txm_slot_bytes(const txm_tiles *t, uint32_t slot);
/* The slots of a slab; none: the number is unused. */
const txm_slot *txm_slab_slots(const txm_tiles *t, uint32_t slab, uint32_t *count);
uint32_t txm_slabs_end(const txm_tiles *t); /* all slots have numbers below this << TXM_SLOT_BITS */
void txm_slot_keep(txm_tiles *t, uint32_t slot, bool kept);

/* victims.c. The second evicts the tiles of a range of slabs for which `goes` returns true. */
void txm_evict_slots(txm_tiles *t, const uint32_t *slots, uint32_t count);
void txm_evict_if(txm_tiles *t, uint32_t first_slab, uint32_t end_slab, bool (*goes)(void *arg, const txm_slot *s),
                  void *arg);
bool txm_slot_evictable(const txm_slot *s);
void txm_slabs_drop_empty(txm_tiles *t, uint32_t first_slab, uint32_t end_slab);

/* memory.c: every byte is counted. The caller remembers sizes. NULL or false: out of memory. */
void txm_make_room(txm_tiles *t, size_t bytes);
void *txm_allocate(txm_tiles *t, size_t bytes, size_t alignment);
void txm_release(txm_tiles *t, void *memory, size_t bytes);
/* `shown`: where lookups read the address of the array, which then moves in a stopped world; NULL: they do not. */
bool txm_array_grow(txm_tiles *t, void **items, uint32_t *capacity, uint64_t needed, size_t item_bytes, void **shown);
void txm_array_shrink(txm_tiles *t, void **items, uint32_t *capacity, uint64_t needed, size_t item_bytes, void **shown);
#endif
