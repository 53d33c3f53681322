/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups of frames: they use the texels in memory, request missing ones, and never wait.
 *
 * The page table of the frame's view determines which texels those are. On devices, only the colours come from results
 * (lookup_queue.h): a step that lacks one is MISSED, and the frame is traced again. Only the last pass counts, for
 * statistics and requests alike. Since devices mark the tiles that they look up, if marks count a step does not note
 * any lookup after one without a result: it might differ from the processor's.
 */
#ifndef STM_STREAM_FRAME_LOOKUP_H
#define STM_STREAM_FRAME_LOOKUP_H
#include "render/frame_requests.h"
#include "render/lookup_queue.h"

/* Counts of texels, as in stm_frame_stats. */
typedef struct stm_frame_lookups {
    uint64_t texels, sharp, coarser, stand_ins, failed;
} stm_frame_lookups;

/* A source for one part of a frame; its first member is the interface that paths use. */
typedef struct stm_frame_source {
    stm_lookup_source base;
    stm_frames_filter filter;
    stm_frames_show show;
    const float *decoded; /* see txm_texel_decode */
    bool one_level;       /* draws one of the two levels around a footprint instead of blending them */
    uint32_t lane;        /* lane of the path that looks up: 0 to STM_BLOCK_LANES - 1 */
    stm_step_misses *step;
    stm_part_requests *requests;
    stm_frame_lookups lookups;
    bool lacks_answer; /* an answer is missing in this step */
} stm_frame_source;

/* A source in a view; `lane`, the lane's random state and the path of the queue have to be set for each path. `queue`
 * and `noted` are NULL if lookups run on the processor. */
stm_frame_source stm_frame_source_of(const stm_frames_options *options, const txm_view *view, const float *decoded,
                                     stm_step_misses *step, stm_part_requests *requests, const stm_lookup_queue *queue,
                                     stm_lookup_list *noted);
/* Serves the lookups in the source's batch, and notes the requests of paths of blocks from `first` on: those of each
 * block in its element of `steps`. */
void stm_frame_serve(stm_frame_source *source, stm_step_misses *steps, uint32_t first);
/* An image's sampler for point samples. */
txm_sampler stm_frame_sampler(const stm_bound_image *image, bool one_level);
/* Whether all lookups of such frames are point samples, so that they can be served together. */
bool stm_frame_has_batches(const stm_frames_options *options);
/* The samplers for the queue of frames: those of the images, followed by one per image that reads single texels. */
void stm_frame_samplers(const stm_bound_image *images, size_t count, txm_sampler *samplers);
#endif
