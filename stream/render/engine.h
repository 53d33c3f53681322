/* SPDX-License-Identifier: Apache-2.0
 *
 * The engines run the steps of paths. An engine gets a rectangle of the picture and adds finished paths to the film.
 * engine_wave.c launches many paths at once over a prepared view, as a GPU would; engine_paths.c follows one path per
 * thread, over a blocking cache, over a set with all tiles in memory (the reference), or over page tables (a budget).
 * The film receives the same numbers in the same order per pixel from all of them, so pictures are equal to the bit.
 */
#ifndef STM_STREAM_ENGINE_H
#define STM_STREAM_ENGINE_H
#include "base/base.h"
#include "base/threads.h"
#include "render/devices.h"
#include "render/use.h"

/* A rectangle of the picture, px. */
typedef struct stm_render_rect {
    uint32_t x, y, w, h;
} stm_render_rect;

/* The picture that is being rendered. */
typedef struct stm_film {
    uint32_t width;
    float *rgb;                     /* sums of samples, in their order */
    float *level, *misses, *passes; /* NULL unless requested */
    uint32_t *level_count;
} stm_film;

typedef struct stm_render_job {
    const stm_render_options *options;
    stm_path_world world;
    stm_render_textures textures;
    stm_film film;
    uint32_t first_sample;  /* index of the first sample of each pixel: a budget traces samples in several passes */
    const txm_view *biased; /* the view of a budget; NULL: a picture is rendered */
    txm_cache *warps;       /* a budget's cache for textures that warp others; NULL: there are none */
    uint32_t depth;         /* the longest chain of lookups of a step that depend on one another, minus 1 */
    stm_pool *pool;
    stm_render_devices devices; /* devices that look up for the wave engine; none: the CPU looks up */
    uint32_t threads;
    stm_render_counts counts;
    stm_moments moments; /* empty without a cache */
    uint64_t samples_done, samples_all;
} stm_render_job;

/* The engines; each renders a rectangle. */
txm_status stm_engine_wave(stm_render_job *job, stm_render_rect rect, txm_error *err);
txm_status stm_engine_paths(stm_render_job *job, stm_render_rect rect, txm_error *err);

/* Adds a finished path; those of one pixel are added in the order of their samples. */
void stm_film_add(stm_film *film, const stm_path *path);

static inline uint32_t stm_rect_pixel(const stm_render_rect *rect, uint32_t width, uint64_t index)
{
    return (rect->y + (uint32_t)(index / rect->w)) * width + rect->x + (uint32_t)(index % rect->w);
}

#endif
