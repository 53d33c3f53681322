/* SPDX-License-Identifier: Apache-2.0
 *
 * The rays of a frame: parts of the picture, which threads trace block by block, and the film that they add to.
 */
#ifndef STM_STREAM_FRAME_TRACE_H
#define STM_STREAM_FRAME_TRACE_H
#include <pthread.h>

#include "base/threads.h"
#include "render/frame_lookup.h"
#include "render/path.h"

/* Sums of samples. A frame adds to a copy, which becomes the picture when the frame is complete. */
typedef struct stm_frame_film {
    uint32_t width, height;
    float *shown, *next;  /* three floats per pixel */
    uint32_t accumulated; /* frames in `shown` */
} stm_frame_film;

/* Some blocks of the picture, traced by one thread. */
typedef struct stm_frame_part {
    struct stm_frame_trace *trace;
    uint32_t first, count; /* blocks, row by row from the top left */
    stm_frame_source source;
    stm_part_requests requests;
    stm_lookup_list noted; /* lookups for the devices; empty: the part is complete */
    uint64_t rays;
    double arrived[3], spread[3]; /* light that paths found after they were scattered in all directions; its weight */
    double others_seconds;        /* processor time, if another thread than the caller traced it; else 0 */
} stm_frame_part;

typedef struct stm_frame_trace {
    const stm_path_world *world;
    const stm_frames_options *options;
    const txm_view *view;
    const float *decoded; /* see txm_texel_decode */
    stm_frame_film *film;
    stm_lookup_queue *queue;     /* NULL: lookups run on the processor */
    const txm_sampler *samplers; /* of each image, for point samples; NULL: lookups are not served together */
    stm_frame_part *parts;
    uint32_t part_count;
    bool begins_anew; /* the samples replace the film's sums */
    pthread_t caller;
} stm_frame_trace;

bool stm_frame_film_new(stm_frame_film *film, uint32_t width, uint32_t height);
void stm_frame_film_free(stm_frame_film *film);

/* Makes the parts of a picture of that size. False: out of memory. */
bool stm_frame_trace_new(stm_frame_trace *trace, uint32_t width, uint32_t height, uint32_t most_requests);
void stm_frame_trace_free(stm_frame_trace *trace);

/* The number of paths of such a picture, for stm_lookup_queue_new. */
uint32_t stm_frame_trace_paths(uint32_t width, uint32_t height);

/* Traces a frame into `film->next`. CANCELLED if it is incomplete. */
txm_status stm_frame_trace_run(stm_frame_trace *trace, stm_pool *pool, uint32_t frame, uint32_t rejection,
                               txm_error *err);
#endif
