/* SPDX-License-Identifier: Apache-2.0
 *
 * The camera in each frame: keyframes of the scene, or an orbit around what it shows.
 */
#ifndef STM_STREAM_CAMERA_PATH_H
#define STM_STREAM_CAMERA_PATH_H
#include "render/frames.h"

/* The camera of the scene, rotated by `turn` (1: a full turn) about a vertical axis. The axis passes through what the
 * middle of the picture shows. If there is also something at the camera's back, as in a room, the axis is closer, so
 * that the camera stays inside. */
stm_scene_camera stm_camera_orbit(const stm_frames *frames, float turn);

/* Whether the scene has keyframes, and the number of the last one. */
bool stm_camera_has_keys(const stm_render_scene *scene, uint32_t *last);
/* The camera at a frame: at a keyframe that of the keyframe, between two of them on a smooth curve. *is_cut: a new shot
 * begins with this frame. */
stm_scene_camera stm_camera_at(const stm_render_scene *scene, uint32_t frame, bool *is_cut);
#endif
