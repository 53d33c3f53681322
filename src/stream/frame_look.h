/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups of frames: what is in memory is taken, what is missing is asked for, and nothing waits.
 *
 * Which texels those are follows from the page table of the frame's view. Where devices look up, their colours alone
 * come from answers (asks.h): a step that lacks one is MISSED, and the frame is traced again. Only the last time
 * counts, for statistics and requests alike. Since devices mark what they look up, a step notes no lookup after one
 * without an answer where marks count: it might be another one than the processor's. */
#ifndef TXM_STREAM_FRAME_LOOK_H
#define TXM_STREAM_FRAME_LOOK_H
#include "stream/asks.h"
#include "stream/frame_requests.h"

/* Counts of texels, as in txm_frame_stats. */
typedef struct txm_frame_looks {
    uint64_t texels, sharp, coarser, stand_ins, failed;
} txm_frame_looks;

/* A looker for one part of a frame: its first member is what paths see. */
typedef struct txm_frame_looker {
    txm_looker looker;
    txm_frames_filter filter;
    txm_frames_show show;
    uint32_t lane; /* that looks up now: 0 to TXM_BLOCK_LANES - 1 */
    txm_step_misses *step;
    txm_part_requests *requests;
    txm_frame_looks looks;
    bool lacks_answer; /* in this step */
} txm_frame_looker;

/* A looker in a view; `lane`, the lane's random state and the path of the asks change with each path. `asks` and
 * `noted` are NULL where the processor looks up. */
txm_frame_looker txm_frame_looker_of(const txm_frames_options *options, const txm_view *view, txm_step_misses *step,
                                     txm_part_requests *requests, const txm_asks *asks, txm_ask_list *noted);
/* What the asks of frames have to look up with: those of the images, and then one for texels of each. */
void txm_frame_samplers(const txm_bound_image *images, size_t count, txm_sampler *samplers);
#endif
