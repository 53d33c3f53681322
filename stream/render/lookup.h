/* SPDX-License-Identifier: Apache-2.0
 *
 * Sources look up textures for paths. An engine makes a source for each of its threads; a path calls its `look` and
 * does not depend on where colours come from. There is one kind for each way to access textures: not at all, a thread
 * that waits for tiles, a view in which tiles may be missing, page tables that only record requests (a budget), and
 * frames that use what is in memory (frame_lookup.h).
 */
#ifndef STM_STREAM_LOOKUP_H
#define STM_STREAM_LOOKUP_H
#include <stdbool.h>

#include "txtile/cache.h"

/* A texture of the view, and how the image is looked up. */
typedef struct stm_bound_image {
    uint32_t texture;
    uint32_t width, height; /* size of level 0; for a UDIM set, that of a tile */
    txm_sampler how;
    bool is_certain; /* every place in the texture shows it: it is no UDIM set, and no extension rejects places */
} stm_bound_image;

/* The result of a lookup, and its derivatives by the texture's u and v, which a lookup that depends on it needs. */
typedef struct stm_found_color {
    float rgba[4], du[4], dv[4];
    bool with_derivatives; /* derivatives are requested */
    bool decides;          /* rays depend on the result, so a budget must have it */
    bool blank;            /* result: there are no textures, so normals are not changed */
} stm_found_color;

/* Lookups of many paths, which are served together. A path records the lookups of its step, as long as it knows where
 * they are, and takes their results afterwards. There is room for a few lookups of each path; a path makes the others
 * itself, when it takes its step. */
enum { STM_BATCH_LOOKUPS = 1024 };
typedef struct stm_lookup_batch {
    uint32_t count;
    const txm_sampler *samplers; /* of each image */
    bool moves;                  /* places are moved at random, see txm_texels */
    float u[STM_BATCH_LOOKUPS], v[STM_BATCH_LOOKUPS], dudx[STM_BATCH_LOOKUPS], dvdx[STM_BATCH_LOOKUPS],
        dudy[STM_BATCH_LOOKUPS], dvdy[STM_BATCH_LOOKUPS];
    uint32_t image[STM_BATCH_LOOKUPS], texture[STM_BATCH_LOOKUPS], path[STM_BATCH_LOOKUPS];
    uint32_t random[STM_BATCH_LOOKUPS], before[STM_BATCH_LOOKUPS]; /* random state after and before each lookup */
    float rgba[STM_BATCH_LOOKUPS][4];
    uint8_t result[STM_BATCH_LOOKUPS]; /* txm_lookup_result */
} stm_lookup_batch;

typedef struct stm_lookup_source stm_lookup_source;
/* Makes one lookup. MISSED: the step does nothing, and is run again. The random numbers are the state's. */
typedef txm_lookup_result stm_lookup_fn(stm_lookup_source *source, const stm_bound_image *image, txm_lookup at,
                                        stm_found_color *out);

struct stm_lookup_source {
    stm_lookup_fn *lookup;
    stm_lookup_fn
        *note; /* looks up and writes a trace: called once for each lookup of a finished step; NULL: no trace */
    txm_lookup_state state;   /* has the random state and, for views, what is missed */
    txm_cache_thread *thread; /* waits; for a budget only for lookups that decide */
    txm_cache *cache;         /* the cache of the view; NULL: it is a texture set's */
    const txm_view *view;
    const txm_view *biased; /* page tables, each for one more level of bias */
    uint32_t biased_count;
    uint32_t number;                      /* number of this source in the trace */
    const struct stm_lookup_queue *queue; /* lookups are made on devices (lookup_queue.h) */
    struct stm_lookup_list *noted;        /* lookups that they run next */
    uint32_t path;                        /* index in the wave of the path that takes a step */
    stm_lookup_batch *batch;              /* NULL: each lookup is made when the path needs it */
    uint32_t next, end;      /* recorded lookups of the path that takes its step, in their order, which are left */
    bool is_recording, ends; /* ends: a lookup was not recorded, and so none of the path's later ones is */
};

/* Looks up nothing: all is grey. */
stm_lookup_source stm_lookup_source_untextured(void);
/* Such a source never misses. */
stm_lookup_source stm_lookup_source_waiting(txm_cache_thread *thread);
/* Looks up in a view, that of `cache` unless it is NULL; `state` collects what is missed. `traced`: lookups are written
 * to the cache's trace. */
stm_lookup_source stm_lookup_source_viewing(const txm_view *view, txm_cache *cache, txm_lookup_state state, bool traced,
                                            uint32_t number);
/* Serves the lookups in the source's batch in its view, those of one image after those of another: side by side, they
 * do not wait for memory one by one. `heads` has an element for each image, all 0 before and afterwards. */
void stm_lookup_serve(stm_lookup_source *source, uint32_t *heads);
/* Looks up in page tables that have no tiles. `thread`, which may be NULL, makes lookups on which rays depend. */
stm_lookup_source stm_lookup_source_requesting(const txm_view *biased, uint32_t count, txm_cache_thread *thread,
                                               txm_lookup_state state);
#endif
