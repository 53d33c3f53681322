/* SPDX-License-Identifier: Apache-2.0
 *
 * Slabs, the sets of slots of one size, for the files of this room alone.
 */
#ifndef TXM_CACHE_SLABS_H
#define TXM_CACHE_SLABS_H
#include "tile/cache/tiles/tiles.h"

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

enum {
    CLASSES = 224, /* sizes of tiles: of padded ones 11 edges and 8 pixel sizes, of packed ones 12 per octave */
    CONSTANTS = 64 /* the most colours whose tiles are shared */
};

typedef struct txm_slabs {
    txm_slab *slab;
    uint64_t *addresses;                              /* of the slabs' pixels, for lookups */
    uint32_t count, capacity, address_capacity, free; /* free: unused numbers below `count` */
    txm_arena *arenas;
    uint32_t arena_count, arena_capacity, arenas_free;
    txm_class classes[CLASSES];
    uint32_t class_count;
    struct {
        uint32_t tile_bytes, pixel_bytes, slot;
        uint8_t pixel[16];
    } constants[CONSTANTS]; /* tiles of one colour, which many entries share */
    uint32_t constant_count, constants_most;
    uint32_t retired_first, retired_last; /* list of retired slots; TXM_NO_SLOT: empty */
    uint64_t retired_bytes;
    uint64_t changes; /* number of tiles that were evicted or moved */
} txm_slabs;

/* Whether an open view may show the tile in a slot. */
static inline bool txm_is_shown(const txm_tiles *t, const txm_slot *s)
{
    return t->open_views && (s->state == TXM_SLOT_STATE_RETIRED || (int32_t)(s->held.stamp - t->shown_stamp) <= 0);
}

/* Whether `bytes` more fit the budget. Always true without a budget, and under a policy that evicts nothing. */
static inline bool txm_fits_budget(const txm_tiles *t, size_t bytes)
{
    return !t->max_bytes || t->keeps_all || t->allocated + t->beside + bytes <= t->max_bytes;
}

/* slots.c */
bool txm_slab_drop_one(txm_tiles *t, uint32_t not_of_class);
void txm_slot_retire(txm_tiles *t, uint32_t slot);
bool txm_shared_drop(txm_tiles *t);
/* victims.c */
uint32_t txm_evict(txm_tiles *t, uint32_t class, uint32_t count, bool shown);
#endif
