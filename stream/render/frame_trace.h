/* SPDX-License-Identifier: Apache-2.0
 *
 * The rays of a frame: parts of the picture, which threads trace block by block, and the film that they add to.
 */
#ifndef TXM_STREAM_FRAME_TRACE_H
#define TXM_STREAM_FRAME_TRACE_H
#include "base/threads.h"
#include "render/frame_lookup.h"
#include "render/path.h"

/* Sums of samples. A frame adds to a copy, which becomes the picture when the frame is complete. */
typedef struct txm_frame_film {
    uint32_t width, height;
    float *shown, *next;  /* three floats per pixel */
    uint32_t accumulated; /* frames in `shown` */
} txm_frame_film;

/* Some blocks of the picture, traced by one thread. */
typedef struct txm_frame_part {
    struct txm_frame_trace *trace;
    uint32_t first, count; /* blocks, row by row from the top left */
    txm_frame_source source;
    txm_part_requests requests;
    txm_step_misses step;
    txm_lookup_list noted; /* lookups for the devices; empty: the part is complete */
    uint64_t rays;
    double arrived[3], spread[3]; /* light that paths found after they were scattered in all directions; its weight */
} txm_frame_part;

typedef struct txm_frame_trace {
    const txm_path_world *world;
    const txm_frames_options *options;
    const txm_view *view;
    const float *decoded; /* see txm_texel_decode */
    txm_frame_film *film;
    txm_lookup_queue *queue; /* NULL: lookups run on the processor */
    txm_frame_part *parts;
    uint32_t part_count;
    bool begins_anew; /* the samples replace the film's sums */
} txm_frame_trace;

bool txm_frame_film_new(txm_frame_film *film, uint32_t width, uint32_t height);
void txm_frame_film_free(txm_frame_film *film);

/* Makes the parts of a picture of that size. False: out of memory. */
bool txm_frame_trace_new(txm_frame_trace *trace, uint32_t width, uint32_t height, uint32_t most_requests);
void txm_frame_trace_free(txm_frame_trace *trace);

/* The number of paths of such a picture, for txm_lookup_queue_new. */
uint32_t txm_frame_trace_paths(uint32_t width, uint32_t height);

/* Traces a frame into `film->next`. CANCELLED if it is incomplete. */
txm_status txm_frame_trace_run(txm_frame_trace *trace, stm_pool *pool, uint32_t frame, uint32_t rejection,
                               txm_error *err);
#endif
