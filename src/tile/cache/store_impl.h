/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of tiles: slots in slabs, slabs in arenas. Slots of evicted tiles are reused; before that, some may be
 * staged, or retired until no view shows them.
 */
#ifndef TXM_CACHE_STORE_IMPL_H
#define TXM_CACHE_STORE_IMPL_H
#include <stdbool.h>

#include "txtile/cache.h"

enum {
    TXM_SLAB_BYTES = 512 << 10,
    TXM_SLOTS = 1 << TXM_SLOT_BITS,
    TXM_CLASSES = 224,    /* sizes of tiles: of padded ones 11 edges and 8 pixel sizes, of packed ones 12 per octave */
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
    uint32_t entry; /* number of the tile; for a shared tile how many show it, for a free slot the next
                       free slot of its slab, for a retired slot the next retired one */
    uint32_t stamp; /* number of the load: of the tiles last used in the same epoch, those with lower stamps are evicted
                       first. For a retired slot the number of the newest view that may show it */
    uint8_t state;  /* txm_slot_state */
    bool kept;      /* pinned by the caller, or a stand-in: not evicted until it is unpinned */
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

typedef struct txm_store {
    txm_slab *slabs;
    uint64_t *addresses;                                              /* of the slabs' pixels, for lookups */
    uint32_t slab_count, slab_capacity, address_capacity, slabs_free; /* slabs_free: unused numbers below slab_count */
    txm_arena *arenas;
    uint32_t arena_count, arena_capacity, arenas_free;
    txm_class classes[TXM_CLASSES];
    uint32_t class_count;
    txm_constant constants[TXM_CONSTANTS];
    uint32_t constant_count, constants_most;
    uint32_t stamp;
    uint32_t stagings;                    /* number of the last staging */
    uint32_t retired_first, retired_last; /* list of retired slots; TXM_NO_SLOT: empty */
    uint64_t retired_bytes, kept_bytes;
    bool moving;       /* tiles are being moved or a slab is being made: no room is made meanwhile */
    uint64_t squeezed; /* number of tiles that were evicted for lack of memory */
} txm_store;

/* slab.c: called with the lock held. */
#define TXM_NO_SLOT 0xFFFFFFFFu
/* `must`: exceeds the budget as a last resort. */
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
/* The slot of a staged tile; TXM_NO_SLOT: it is not staged. */
uint32_t txm_staged_slot(txm_cache *c, uint32_t number);
/* The same, but the slot becomes LOADING; and the reverse, for a slot that is not used after all. */
uint32_t txm_staged_take(txm_cache *c, uint32_t number);
void txm_staged_put_back(txm_cache *c, uint32_t number, uint32_t slot);
/* Frees the tile if it is staged. */
void txm_staged_drop(txm_cache *c, uint32_t number);

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
#endif
