/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations shared by the parts of a device's view.
 *
 * The room src/tile/device keeps copies of a texture cache's view on devices and runs lookups there. places.c divides
 * memory into places for tiles, table.c works out what has changed, launch.c queues copies and kernels, and several.c
 * runs whole batches. Plug-ins provide memory, copies and kernels (lookup_abi.h); nothing here depends on a particular
 * driver. The public header is txtile/device.h.
 *
 * Each launch that may be under way has a viewer of the cache, a copy of the page table on the device, and lists of its
 * own, because the first launch may still read its table while the second one's is updated. Tiles are shared: if a
 * later launch overwrites a tile, its copy is queued after the launch that may still read it.
 */
#ifndef TXM_DEVICE_DEVICE_IMPL_H
#define TXM_DEVICE_DEVICE_IMPL_H
#include "tile/cache/flow/mirror.h"
#include "tile/device/lookup_abi.h"
#include "txtile/device.h"

/* ---- places ------------------------------------------------------------------------------------------------------ */

#define TXM_NO_PLACE 0xFFFFFFFFu /* says that there is no unit */
#define TXM_NO_ENTRY 0xFFFFFFFFu /* says that there is no entry, or more than one */
#define TXM_MANY 0xFFFFFFFEu

/* A piece of memory that holds tiles of one size. */
typedef struct txm_chunk {
    uint32_t tile_units; /* units of one tile; 0: the chunk is free */
    uint32_t count, used;
    uint32_t *slot; /* the cache's slot that each place holds; TXM_NO_PLACE: free */
} txm_chunk;

/* Memory for tiles, in units of TXM_DEVICE_UNIT_BYTES. */
typedef struct txm_places {
    void *memory; /* memory of the device's runtime; NULL: none */
    uint32_t first_unit, units;
    uint32_t chunk_units, chunk_count;
    txm_chunk *chunks;
} txm_places;

/* The device's copy of a slot of the cache. */
typedef struct txm_copy {
    uint32_t unit, stamp; /* unit: TXM_NO_PLACE if there is no copy */
    uint32_t used;        /* number of the last launch that touched it */
    uint32_t session;     /* the last session in which it was compared with the cache */
} txm_copy;

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* A pair of buffers, one in machine memory and one on the device, that data are copied through; it grows as needed. */
typedef struct txm_passage {
    void *pinned, *memory;
    size_t pinned_bytes, memory_bytes;
} txm_passage;

/* A growing list of words. */
typedef struct txm_words {
    uint32_t *items;
    size_t count, capacity;
} txm_words;

struct txm_device_launch {
    txm_device *device;
    txm_cache_viewer *viewer; /* created with the first launch that needs one, since it takes memory of the cache */
    txm_view view;
    txm_cache_extent extent;
    bool busy;
    bool in_view;       /* the view belongs to the caller, and nothing is requested from the cache */
    uint32_t number;    /* number of this slot's last launch */
    uint16_t requested; /* the value that marks requests of its last launch in the table */
    /* The table on the device, and the words that were sent to it. Words that lookups have changed on the device count
     * as sent. */
    void *table;
    uint32_t texture_room, udim_room, leaf_room, slot_room; /* capacities of its parts */
    uint32_t udims_sent;
    txm_words sent, sent_leaves; /* one word for each entry, and for each leaf */
    txm_view_texture *textures;  /* the textures as they were sent */
    size_t textures_sent, textures_capacity;
    /* The parts that may differ from what was sent: see table.c. */
    txm_mirror_changes changes, changes_sent; /* changes of `view`, and of the view that was sent */
    uint16_t round_sent;
    txm_words entry_of; /* the entry that shows each slot of the cache in the table; TXM_NO_ENTRY, TXM_MANY */
    txm_words moved;    /* one bit for each group of entries: a tile of them has got or lost its place */
    bool all_moved;
    txm_passage updates, tiles, in, out, notes;
    txm_words runs, values; /* contents of the next update; runs have four words each */
    bool kinds;             /* lookups may be of TXM_QUERY_KINDS */
    size_t in_bytes;        /* of samplers and lookups that are copied to the device */
    uint32_t count;         /* lookups under way; of TXM_OF_KERNELS about how many there will be */
    enum { TXM_OF_BATCH, TXM_OF_ARRAYS, TXM_OF_KERNELS } of;
    /* TXM_OF_BATCH: a copy of the batch, and the lookups of it that are under way. Otherwise `arrays` is the caller's.
     */
    txm_device_batch batch;
    txm_words picked;
    txm_device_arrays arrays;
    uint32_t capacity, touched_words; /* sizes of its notes: most requests, and words for touched entries */
    void *events[5];
};

struct txm_device {
    txm_cache *cache;
    const txm_device_lookups *call;
    const char *(*note)(void); /* the function of its plug-in */
    uint32_t index;
    char name[32], title[256];
    txm_device_options options;
    bool lost;
    uint64_t host_most; /* most bytes of far memory that may be allocated */
    txm_places near_places, far_places;
    txm_copy *copies; /* indexed by slots of the cache */
    uint32_t copy_count;
    uint32_t chance;   /* random state for spurious misses in tests */
    txm_words wanted;  /* numbers of tiles that lookups have requested and that have not been copied yet */
    uint32_t clock;    /* number of the last launch */
    uint32_t session;  /* number of calls of txm_device_sample_view: during a call, tiles that the view shows stay in
                          their slots */
    uint32_t types;    /* bits of the types that textures of the view have had */
    uint64_t rest;     /* lookups that the kernel of the rest did, for tests */
    uint64_t compared; /* entries and textures that were compared with what was sent, for tests */
    void *stream, *copies_stream; /* uploads are in a stream of their own */
    txm_device_launch launches[TXM_DEVICE_LAUNCHES];
    txm_device_stats stats;
    txm_error why; /* the device was lost */
};

bool txm_words_room(txm_words *w, size_t more);
static inline void txm_words_add(txm_words *w, uint32_t v)
{
    w->items[w->count++] = v;
}

/* places.c: finds a unit for a tile of a slot. Tiles whose last launch was before `horizon` may be evicted.
 * TXM_NO_PLACE if there is no room. */
bool txm_places_new(txm_places *p, void *memory, uint32_t first_unit, uint64_t bytes);
void txm_places_free(txm_places *p);
uint32_t txm_places_take(txm_device *d, txm_places *p, uint32_t slot, uint32_t tile_units, uint32_t horizon);
void txm_places_give(txm_places *p, uint32_t unit);

/* table.c: prepares the launch's view; afterwards, `updates` and `tiles` of the launch hold the data to be copied. */
typedef struct txm_update {
    uint32_t table_runs, tile_runs; /* number of runs at the start of the pieces */
    size_t table_bytes, tile_bytes; /* 0: nothing to copy */
    bool far_away;                  /* some tiles go to far places */
} txm_update;
txm_status txm_table_update(txm_device_launch *l, txm_update *u, txm_error *err);
/* Treats the table on the device as unknown, so all of it is sent again. Closes the launch's own view. */
void txm_table_forget(txm_device_launch *l);
/* Drops the copy of a slot's tile. */
void txm_copy_drop(txm_device *d, uint32_t slot);
/* Treats tiles that this launch or a later one has copied or touched as not on the device. */
void txm_copies_forget(txm_device *d, uint32_t number);

/* launch.c: the halves of txm_device_submit and txm_device_collect, for a view that the caller holds open. *complete:
 * every tile that the view shows and a lookup needed was on the device. Otherwise no results were taken over, and the
 * next launch finds more of the tiles. */
txm_status txm_launch_in_view(txm_device *d, const txm_view *view, const txm_cache_extent *extent,
                              const txm_device_batch *batch, txm_device_launch **launch, txm_error *err);
txm_status txm_launch_end_in_view(txm_device_launch **launch, bool *complete, txm_error *err);
/* Makes room in a passage: in machine memory, and on the device if `memory` is set. */
txm_status txm_passage_room(txm_device *d, txm_passage *p, size_t bytes, bool memory, txm_error *err);
void txm_passage_free(txm_device *d, txm_passage *p);

/* Turns a code of the runtime into a status; any code other than lack of memory marks the device as lost. */
txm_status txm_device_check(txm_device *d, int code, const char *what, txm_error *err);

/* find.c: the result of finding a device by its name, such as "opencl:1". */
typedef struct txm_device_found {
    const txm_device_lookups *lookups;
    const char *(*note)(void);
    uint32_t index;
    char name[32], title[256];
    uint64_t memory_bytes, piece_bytes; /* total memory, and the largest allocation; 0: unknown */
} txm_device_found;
txm_status txm_device_find(const char *name, txm_device_found *found, txm_error *err);

/* several.c: looks up on the processor; the lookups are counted for `device` unless it is NULL. */
txm_status txm_device_by_processor(txm_cache *cache, const txm_device_batch *batch, size_t first, size_t count,
                                   txm_device *of, txm_error *err);
#endif
