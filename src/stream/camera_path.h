/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the camera is in each frame: keyframes of the scene, or an orbit about what it shows. */
#ifndef TXM_STREAM_CAMERA_PATH_H
#define TXM_STREAM_CAMERA_PATH_H
#include "stream/frames.h"

/* The camera of the scene, turned by `turn` (1: all the way) about a vertical axis: through what the middle of its
 * picture shows or, where something is behind the camera as well, as in a room, closer, so that it stays inside. */
txm_scene_camera txm_camera_orbit(const txm_frames *frames, float turn);

/* Whether the scene has keyframes, and the last frame that one of them names. */
bool txm_camera_has_keys(const txm_render_scene *scene, uint32_t *last);
/* The camera at a frame: at a keyframe where it says, between two of them on a smooth curve. *is_cut: a new shot begins
 * with this frame. */
txm_scene_camera txm_camera_at(const txm_render_scene *scene, uint32_t frame, bool *is_cut);
#endif
