/* SPDX-License-Identifier: Apache-2.0
 * `txmill stream view`: a window in which one flies through a scene. */
#ifndef TXM_TOOLS_STREAM_VIEW_H
#define TXM_TOOLS_STREAM_VIEW_H
#include "tools/stream/play.h"

/* Of a play's options those that a view has no use for. USAGE. */
txm_status txm_stream_view_check(const txm_play_args *args, txm_error *err);

/* Until the window is closed, a signal came or as many frames are made as the arguments say. What was shown comes out
 * as of a play, with the last frame alone; txm_play_clear frees it. */
txm_status txm_stream_view(const char *name, const txm_render_scene *scene, const txm_play_args *args,
                           const txm_frames_options *options, txm_play_run *run, txm_error *err);
#endif
