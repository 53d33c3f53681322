/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of tiles beside frames: from the list of a frame to tiles that a later frame shows.
 *
 * One batch loads at a time; what frames ask for meanwhile they ask for again. It is handed to the cache at the end of
 * a frame, whose threads load it, and is over when the cache says so or, where time is virtual, when its tiles have
 * been paid for. In virtual time all of it is loaded at once, and its tiles are hidden from the views of the frames
 * before.
 */
#ifndef TXM_STREAM_FRAME_LOADS_H
#define TXM_STREAM_FRAME_LOADS_H
#include "stream/frame_requests.h"
#include "stream/textures.h"

/* A tile that a view does not show yet. */
typedef struct txm_hidden_tile {
    uint32_t entry, slot;
} txm_hidden_tile;

typedef struct txm_frame_loads {
    txm_cache *cache;
    txm_cache_viewer *viewer;
    txm_cache_extent extent;
    txm_view view;       /* of the frame that runs; lookups may mark it or not */
    uint32_t view_epoch; /* that marks would have */
    uint32_t *requests;  /* entries, `most` of them */
    txm_tile_key *keys;  /* of the batch: `most` */
    txm_hidden_tile *hidden;
    uint32_t most, key_count, hidden_count;
    bool loading;         /* a batch is not shown yet */
    txm_ticket *ticket;   /* of it, unless time is virtual */
    uint32_t batch;       /* its tiles */
    double due_ms;        /* in virtual time */
    uint32_t asked_frame; /* whose list it was */
    bool is_virtual;
    bool has_evicted; /* since the budget was set */
    txm_cache_stats before, now;
} txm_frame_loads;

txm_status txm_frame_loads_new(txm_frame_loads *loads, txm_cache *cache, uint32_t most, bool is_virtual,
                               txm_error *err);
/* Gives up what was not begun. */
void txm_frame_loads_free(txm_frame_loads *loads);

/* A frame begins: takes up a batch that is over, and prepares the view. Marks are on from `mark_share` of the budget
 * on. *shown: tiles that are there for the first time. */
txm_status txm_frame_loads_begin(txm_frame_loads *loads, double now_ms, uint64_t max_bytes, float mark_share,
                                 uint32_t *shown, txm_error *err);
/* A frame has ended with that list: begins a batch, unless one is being loaded. *cut: tiles that do not fit. `cancel`
 * ends waiting for it where time is virtual. */
txm_status txm_frame_loads_end(txm_frame_loads *loads, const txm_request_list *list, uint32_t frame, double now_ms,
                               const txm_frames_prices *prices, const volatile int *cancel, uint32_t *cut,
                               txm_error *err);
/* Closes the view of a frame that asks for nothing. */
void txm_frame_loads_skip(txm_frame_loads *loads);

#endif
