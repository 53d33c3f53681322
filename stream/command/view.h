/* SPDX-License-Identifier: Apache-2.0
 * `txmill stream view`: a window for flying through a scene. */
#ifndef STM_TOOLS_STREAM_VIEW_H
#define STM_TOOLS_STREAM_VIEW_H
#include "command/play.h"

/* Refuses options of a play that do not apply to a view. USAGE. */
txm_status stm_stream_view_check(const stm_play_args *args, txm_error *err);

/* Runs until the window is closed, a signal arrives or the requested number of frames is complete. The results are in
 * the form of a play with the last frame only; free them with stm_play_clear. */
txm_status stm_stream_view(const char *name, const stm_render_scene *scene, const stm_play_args *args,
                           const stm_frames_options *options, stm_play_run *run, txm_error *err);
#endif
