/* SPDX-License-Identifier: Apache-2.0
 *
 * A camera that flies: held keys move it and the mouse turns it. It also chooses the size of the picture while it
 * moves. It needs no window, because keys and mouse arrive as events of window_module.h.
 */
#ifndef STM_STREAM_FLIGHT_H
#define STM_STREAM_FLIGHT_H
#include <stdbool.h>
#include <stdint.h>

#include "render/scene.h"
#include "render/window_module.h"

/* ---- the camera -------------------------------------------------------------------------------------------------- */

typedef struct stm_flight {
    stm_scene_camera start;
    double at[3], home[3]; /* place of the camera now, and at the start */
    float yaw, pitch;      /* turned since the start, in radians: to the left, upwards */
    float lowest, highest; /* limits of pitch: nearly straight down and straight up */
    float speed;           /* metres per second */
    float usual_speed;     /* speed at the start */
    uint32_t held;         /* keys that are down, one bit for each direction */
    bool turned;           /* turned, or moved to another place, since the last step */
} stm_flight;

/* Starts from a camera that sees something `distance` metres ahead, which a flight reaches in some seconds; INFINITY:
 * nothing is there. */
void stm_flight_begin(stm_flight *flight, const stm_scene_camera *camera, float distance);
/* Handles an event. W A S D Q E (by position) and the arrow keys move, the left button turns, the wheel changes the
 * speed, and Home returns to the start; when the window loses focus, all keys are released. `width` is the window's,
 * px. False: the event does not concern the camera. */
bool stm_flight_take(stm_flight *flight, const stm_window_event *event, uint32_t width);
/* Moves for `seconds`. Returns whether the camera has moved since the last step. */
bool stm_flight_step(stm_flight *flight, double seconds);
/* The camera for a picture of that size, which shows more on two sides if its proportions differ from the scene's. If
 * nothing moved and the proportions are the scene's, the camera is identical to the scene's. */
stm_scene_camera stm_flight_camera(const stm_flight *flight, uint32_t width, uint32_t height);

/* ---- the size of pictures ---------------------------------------------------------------------------------------- */

/* The time per pixel, and the fraction of the window's size that fits in a frame's time. */
typedef struct stm_pace {
    double ms_a_pixel; /* 0: unknown */
    double before[2];  /* times of the last two frames */
    uint32_t step;     /* index into the sizes that are tried; 0: all pixels */
} stm_pace;

/* Whether a frame with all pixels of a window of that size is known to fit in `frame_ms`. */
bool stm_pace_fits(const stm_pace *pace, double frame_ms, uint32_t width, uint32_t height);
/* Records that a frame of `pixels` pixels took `ms`. */
void stm_pace_note(stm_pace *pace, uint64_t pixels, double ms);
/* The largest picture that fits in `frame_ms` in a window of that size. It only grows if there is time to spare, so
 * that the size does not alternate. */
void stm_pace_size(stm_pace *pace, double frame_ms, uint32_t width, uint32_t height, uint32_t *picture_width,
                   uint32_t *picture_height);
#endif
