/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups of frames: what is in memory is taken, what is missing is asked for, and nothing waits. */
#ifndef TXM_STREAM_FRAME_LOOK_H
#define TXM_STREAM_FRAME_LOOK_H
#include "stream/frame_requests.h"
#include "stream/look.h"

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
} txm_frame_looker;

/* A looker in a view; `lane` and the lane's random state change with each path. */
txm_frame_looker txm_frame_looker_of(const txm_frames_options *options, const txm_view *view, txm_step_misses *step,
                                     txm_part_requests *requests);
#endif
