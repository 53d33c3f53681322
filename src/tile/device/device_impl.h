/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of a device's view share.
 *
 * The room src/tile/device keeps copies of a texture cache's view on devices and runs lookups there. places.c divides
 * memory into places for tiles, table.c works out what has changed, launch.c puts copies and kernels in line, several.c
 * does whole batches. Plug-ins bring memory, copies and kernels (lookup_abi.h); nothing here knows a driver. The public
 * header is txtile/device.h.
 *
 * Why two tables: each launch that may be under way has a viewer of the cache, a copy of the page table on the device
 * and lists of its own. Tiles are shared: what a later launch puts in the place of another tile is in line behind the
 * launch that may still read it.
 */
#ifndef TXM_DEVICE_DEVICE_IMPL_H
#define TXM_DEVICE_DEVICE_IMPL_H
#include "tile/cache/mirror.h"
#include "tile/device/lookup_abi.h"
#include "txtile/device.h"

/* ---- places ------------------------------------------------------------------------------------------------------ */

#define TXM_NO_PLACE 0xFFFFFFFFu /* a unit that there is none of */

/* A piece of memory for tiles of one size. */
typedef struct txm_chunk {
    uint32_t tile_units; /* 0: free */
    uint32_t count, used;
    uint32_t *slot; /* of the cache, for each place; TXM_NO_PLACE: free */
} txm_chunk;

/* Memory for tiles, in units of TXM_DEVICE_UNIT_BYTES. */
typedef struct txm_places {
    void *memory; /* of the device's runtime; NULL: none */
    uint32_t first_unit, units;
    uint32_t chunk_units, chunk_count;
    txm_chunk *chunks;
} txm_places;

/* A slot of the cache as the device has it. */
typedef struct txm_copy {
    uint32_t unit, stamp; /* TXM_NO_PLACE: it has not */
    uint32_t used;        /* number of the launch that touched it last */
    uint32_t session;     /* in which it was compared with the cache last */
} txm_copy;

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* Memory of the machine and of the device that something is copied through; grows. */
typedef struct txm_passage {
    void *pinned, *memory;
    size_t pinned_bytes, memory_bytes;
} txm_passage;

/* A list that grows. */
typedef struct txm_words {
    uint32_t *items;
    size_t count, capacity;
} txm_words;

struct txm_device_launch {
    txm_device *device;
    txm_cache_viewer *viewer; /* made with the first launch that needs one, since it takes memory of the cache */
    txm_view view;
    txm_cache_extent extent;
    bool busy;
    bool in_view;       /* the view is the caller's; the cache is asked for nothing */
    uint32_t number;    /* of its last launch */
    uint16_t requested; /* the number that requests of its last launch have in the table */
    /* The table on the device, and what was sent of it: words that lookups there have changed count as they were sent.
     */
    void *table;
    size_t table_words;
    uint32_t texture_room, udim_room, slot_room; /* that its parts have room for */
    uint32_t udims_sent;
    txm_words sent;             /* a word for each entry */
    txm_view_texture *textures; /* as they were sent */
    size_t textures_sent, textures_capacity;
    txm_passage updates, tiles, in, out, notes;
    txm_words runs, values; /* of the next update; four words a run */
    /* The batch: what it was, and which of its lookups are under way. */
    txm_device_batch batch;
    txm_words picked;
    uint32_t capacity, touched_words; /* of its notes */
    void *events[4];
    double begun_seconds;
};

struct txm_device {
    txm_cache *cache;
    const txm_device_lookups *call;
    uint32_t index;
    char name[32], title[256];
    txm_device_options options;
    bool lost;
    uint64_t host_most; /* bytes of far memory that may be taken */
    txm_places near_places, far_places;
    txm_copy *copies; /* by slots of the cache */
    uint32_t copy_count;
    uint32_t chance;  /* random state, for spurious misses */
    txm_words wanted; /* entries that lookups have asked for and that are not here yet */
    uint32_t clock;   /* number of the last launch */
    uint32_t session; /* calls of txm_device_sample_view: during one of them what a view shows stays in its slot */
    void *stream;
    txm_device_launch launches[TXM_DEVICE_LAUNCHES];
    txm_device_stats stats;
    txm_error why; /* it was lost */
};

bool txm_words_room(txm_words *w, size_t more);
static inline void txm_words_add(txm_words *w, uint32_t v)
{
    w->items[w->count++] = v;
}

/* places.c: a unit for a tile of a slot; what was touched last by a launch before `horizon` may go. TXM_NO_PLACE: there
 * is no room. */
bool txm_places_new(txm_places *p, void *memory, uint32_t first_unit, uint64_t bytes);
void txm_places_free(txm_places *p);
uint32_t txm_places_take(txm_device *d, txm_places *p, uint32_t slot, uint32_t tile_units, uint32_t horizon);
void txm_places_give(txm_places *p, uint32_t unit);

/* table.c: prepares the launch's view; then `updates` and `tiles` of the launch hold what has to be copied. */
typedef struct txm_update {
    uint32_t table_runs, tile_runs; /* at the head of the pieces */
    size_t table_bytes, tile_bytes; /* 0: nothing to copy */
    bool far_away;                  /* tiles go to far places, too */
} txm_update;
txm_status txm_table_update(txm_device_launch *l, txm_update *u, txm_error *err);
/* Nothing is known of the table on the device: all of it is sent anew. Closes the launch's own view. */
void txm_table_forget(txm_device_launch *l);
/* Tiles that a launch of that number or a later one has copied or touched count as not on the device. */
void txm_copies_forget(txm_device *d, uint32_t number);

/* launch.c: the halves of txm_device_submit and txm_device_collect, for a view that the caller holds open. *complete:
 * nothing was missing on the device that the view shows; otherwise nothing was taken over, and another launch finds
 * more of it there. */
txm_status txm_launch_in_view(txm_device *d, const txm_view *view, const txm_cache_extent *extent,
                              const txm_device_batch *batch, txm_device_launch **launch, txm_error *err);
txm_status txm_launch_end_in_view(txm_device_launch **launch, bool *complete, txm_error *err);
/* Room of a passage, on both sides where `memory` is asked for. */
txm_status txm_passage_room(txm_device *d, txm_passage *p, size_t bytes, bool memory, txm_error *err);
void txm_passage_free(txm_device *d, txm_passage *p);

/* What a code of the runtime says; a code that is not for lack of memory loses the device. */
txm_status txm_device_check(txm_device *d, int code, const char *what, txm_error *err);

/* find.c: the device of a name: "opencl:1". */
typedef struct txm_device_found {
    const txm_device_lookups *lookups;
    uint32_t index;
    char name[32], title[256];
    uint64_t memory_bytes, piece_bytes; /* all of it; the largest allocation, 0: unknown */
} txm_device_found;
txm_status txm_device_find(const char *name, txm_device_found *found, txm_error *err);

/* several.c: lookups that the processor does; NULL device: of none. */
txm_status txm_device_by_processor(txm_cache *cache, const txm_device_batch *batch, size_t first, size_t count,
                                   txm_device *of, txm_error *err);
#endif
