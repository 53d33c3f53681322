/* SPDX-License-Identifier: Apache-2.0
 *
 * Who answers the lookups of a path. An engine makes a looker for each of its threads; a path calls its `look` and
 * knows no more of where colours come from.
 *
 * There is one kind for each way to live with textures: none at all, a thread that waits for tiles, a view in which
 * tiles may be missing, page tables that only remember what was asked for (a budget), and frames that take what is
 * there (frame_look.h).
 */
#ifndef TXM_STREAM_LOOK_H
#define TXM_STREAM_LOOK_H
#include <stdbool.h>

#include "txtile/cache.h"

/* A texture of the view, and how an image is looked up. */
typedef struct txm_bound_image {
    uint32_t texture;
    uint32_t width, height; /* of level 0; of a UDIM set, of a tile */
    txm_sampler how;
} txm_bound_image;

/* What a lookup found, and how it changes by the texture's u and v: what a lookup that depends on it needs as well.
 */
typedef struct txm_found_color {
    float rgba[4], du[4], dv[4];
    bool with_derivatives; /* are asked for */
    bool decides;          /* rays depend on what is found: a budget must not do without it */
    bool blank;            /* answered: there are no textures, so that normals stay as they are */
} txm_found_color;

typedef struct txm_looker txm_looker;
/* One lookup. MISSED: the step does nothing, and is run again. The random state is the lane's. */
typedef txm_look txm_look_fn(txm_looker *looker, const txm_bound_image *image, txm_lookup at, txm_found_color *out);

struct txm_looker {
    txm_look_fn *look;
    txm_look_fn *note; /* looks up and writes a trace: called once for each lookup of a finished step; NULL: no trace */
    txm_lane lane;     /* the random state, and of views what is missed */
    txm_cache_thread *thread; /* waits; of a budget only for what decides */
    txm_cache *cache;         /* of the view; NULL: it is a texture set's */
    const txm_view *view;
    const txm_view *biased; /* page tables, for one level of bias more each */
    uint32_t biased_count;
    uint32_t number;             /* of this looker in the trace */
    const struct txm_asks *asks; /* devices answer (asks.h) */
    struct txm_ask_list *noted;  /* what they are asked next */
    uint32_t path;               /* whose step it is, in the wave */
};

/* Nothing is looked up: all is grey. */
txm_looker txm_looker_untextured(void);
/* Nothing is ever missed. */
txm_looker txm_looker_waiting(txm_cache_thread *thread);
/* In a view, of `cache` unless it is NULL; `lane` collects what is missed. `traced`: lookups are noted in the trace
 * that the cache writes. */
txm_looker txm_looker_viewing(const txm_view *view, txm_cache *cache, txm_lane lane, bool traced, uint32_t number);
/* In page tables that have no tiles. `thread`, which may be NULL, answers what rays depend on. */
txm_looker txm_looker_asking(const txm_view *biased, uint32_t count, txm_cache_thread *thread, txm_lane lane);
#endif
