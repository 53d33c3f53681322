/* SPDX-License-Identifier: Apache-2.0
 * `txmill stream view`: a window for flying through a scene. */
#ifndef TXM_TOOLS_STREAM_VIEW_H
#define TXM_TOOLS_STREAM_VIEW_H
#include "command/play.h"

/* Refuses options of a play that do not apply to a view. USAGE. */
txm_status txm_stream_view_check(const txm_play_args *args, txm_error *err);

/* Runs until the window is closed, a signal arrives or the requested number of frames is complete. The results are in
 * the form of a play with the last frame only; free them with txm_play_clear. */
txm_status txm_stream_view(const char *name, const txm_render_scene *scene, const txm_play_args *args,
                           const txm_frames_options *options, txm_play_run *run, txm_error *err);
#endif
