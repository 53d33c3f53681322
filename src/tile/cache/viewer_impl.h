/* SPDX-License-Identifier: Apache-2.0
 *
 * Views of launches: copies of the textures and the page table that stay as they are while lookups run.
 */
#ifndef TXM_CACHE_VIEWER_IMPL_H
#define TXM_CACHE_VIEWER_IMPL_H
#include <stdbool.h>

#include "tile/cache/load_impl.h"

/* The view of one launch: copies of the cache's arrays from the time when the view was prepared. Lookups mark these
 * copies and write requests to them. Preparing the next view updates only the elements that have changed. */
struct txm_cache_viewer {
    txm_cache *cache;
    txm_view_texture *textures;
    txm_tile_entry *tiles;
    uint32_t *leaves, *filter;
    uint64_t *slabs;
    uint32_t *udims;
    uint32_t texture_count, tile_count, leaf_count, udim_count; /* number of elements that are shown */
    uint32_t texture_capacity, tile_capacity, leaf_capacity, slab_capacity, udim_capacity;
    /* One bit per texture, and one per TXM_CHUNK entries or leaves. */
    uint64_t *changed_textures, *changed_tiles, *changed_leaves;
    uint32_t changed_textures_capacity, changed_tiles_capacity, changed_leaves_capacity;
    /* For each TXM_CHUNK of them, the view in which one was last copied. */
    uint32_t *textures_copied, *tiles_copied, *leaves_copied;
    uint32_t textures_copied_capacity, tiles_copied_capacity, leaves_copied_capacity;
    bool open;           /* lookups may be running in it */
    bool never_repeats;  /* see txm_cache_viewer_never_repeats */
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

typedef struct txm_viewers {
    txm_cache_viewer *first; /* of the list of all */
    txm_cache_viewer *own;   /* that of txm_cache_prepare; NULL: not called yet */
    uint32_t count, open_views;
    uint32_t last_view;   /* number of the last view */
    uint32_t shown_stamp; /* tiles with later stamps are not in any open view */
} txm_viewers;

/* viewer.c, with the lock held. Every change of the page table that views must show is reported to these. */
void txm_entry_changed(txm_cache *c, uint32_t entry); /* an index of the table's entries */
void txm_leaf_changed(txm_cache *c, uint32_t leaf);
void txm_number_changed(txm_cache *c, uint32_t number); /* of a tile whose leaf may have no entries */
void txm_texture_changed(txm_cache *c, uint32_t texture);
/* Called at the start of an operation that is forbidden while lookups run in the view of txm_cache_prepare: it ends
 * that view. */
void txm_own_view_ends(txm_cache *c);
txm_status txm_viewer_new(txm_cache *c, txm_cache_viewer **out, txm_error *err);
void txm_viewer_free(txm_cache_viewer *v);
txm_status txm_viewer_prepare(txm_cache_viewer *v, txm_view *view, txm_cache_extent *extent, txm_error *err);
/* Copies the marks of lookups in a view to the page table, and closes the view. */
void txm_viewer_merge(txm_cache_viewer *v);
void txm_viewer_close(txm_cache_viewer *v);
#endif
