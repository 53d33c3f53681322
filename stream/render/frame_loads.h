/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads batches of tiles while frames are rendered: from the list of a frame to tiles that a later frame shows.
 *
 * Only one batch loads at a time; frames repeat requests that they make in the meantime. A batch is passed to the cache
 * at the end of a frame, and threads load it (frame_loader.h; in virtual time, the cache's own). It is complete when
 * the cache says so or, in virtual time, when its tiles have been paid for. In virtual time the whole batch is loaded
 * at once, and its tiles are hidden from the views of frames before its completion.
 *
 * If a picture needs more tiles than fit, its tiles drive each other out. So those that most lookups request are loaded
 * first, and while the camera rests, fewer and fewer tiles are loaded in place of others that the picture uses, until
 * none are: it keeps those that matter most.
 */
#ifndef STM_STREAM_FRAME_LOADS_H
#define STM_STREAM_FRAME_LOADS_H
#include "render/frame_loader.h"
#include "render/frame_requests.h"
#include "render/textures.h"

/* A key of the list: the number of its requests, and its place there. */
typedef struct stm_frame_choice {
    txm_tile_key key;
    uint32_t count, place;
} stm_frame_choice;

typedef struct stm_frame_loads {
    txm_cache *cache;
    txm_cache_viewer *viewer;
    txm_cache_extent extent;
    txm_view view;       /* view of the current frame; lookups may mark tiles or not */
    uint32_t view_epoch; /* the epoch of marks, even if lookups do not mark */
    uint32_t *requests;  /* entries, at most `most` */
    txm_tile_key *keys;  /* keys of the batch, at most `most` */
    uint32_t most, key_count;
    bool loading;             /* a batch was begun and is not shown yet */
    txm_ticket *ticket;       /* ticket of the batch, unless time is virtual */
    stm_loader *loader;       /* NULL: time is virtual, or the cache's own threads load */
    uint32_t batch;           /* its number of tiles */
    double due_ms;            /* virtual time at which the batch is complete */
    uint32_t requested_frame; /* the frame whose list it was */
    bool is_virtual;
    bool has_evicted;                        /* a tile was evicted since the budget was set */
    bool is_new;                             /* the budget was set since the last frame, which may have evicted tiles */
    bool was_full;                           /* tiles were evicted for others since the budget was set */
    uint64_t loaded_before_set;              /* tiles that were loaded before the budget was set */
    uint32_t picture_epoch, picture_batches; /* the picture's first epoch; its batches while memory was full */
    stm_frame_choice *choices;               /* at most `most` */
    txm_cache_stats before, now;
} stm_frame_loads;

/* `loaders`: the number of threads that load, for a cache that has none; 0: the cache has threads. */
txm_status stm_frame_loads_new(stm_frame_loads *loads, txm_cache *cache, uint32_t most, bool is_virtual,
                               uint32_t loaders, txm_error *err);
/* Threads that load may use so much processor time until the end of the next frame. */
void stm_frame_loads_allow(stm_frame_loads *loads, double seconds);
/* Cancels loads that have not begun. */
void stm_frame_loads_free(stm_frame_loads *loads);

/* Begins a frame, which may begin a picture anew: takes over a batch that is complete, and prepares the view. Lookups
 * mark tiles once `mark_share` of the budget is used or a tile was evicted, and always without a budget. *shown is the
 * number of tiles that are available for the first time. */
txm_status stm_frame_loads_begin(stm_frame_loads *loads, double now_ms, uint64_t max_bytes, float mark_share,
                                 bool begins_anew, uint32_t *shown, txm_error *err);
/* Ends a frame with its list: begins a batch, unless one is being loaded. *cut is the number of tiles that do not fit.
 * In virtual time this waits for the batch, and `cancel` ends the wait. */
txm_status stm_frame_loads_end(stm_frame_loads *loads, const stm_request_list *list, uint32_t frame, double now_ms,
                               const stm_cost_model *costs, const volatile int *cancel, uint32_t *cut, txm_error *err);
/* The cache has another budget. */
void stm_frame_loads_resized(stm_frame_loads *loads);
/* Closes the view of a frame that makes no requests. */
void stm_frame_loads_skip(stm_frame_loads *loads);

#endif
