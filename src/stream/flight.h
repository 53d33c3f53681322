/* SPDX-License-Identifier: Apache-2.0
 *
 * A camera that flies: keys that are held move it, the mouse turns it, and how large a picture can be while it moves.
 * Needs no window: what keys and mouse do comes in as events of window_module.h. */
#ifndef TXM_STREAM_FLIGHT_H
#define TXM_STREAM_FLIGHT_H
#include <stdbool.h>
#include <stdint.h>

#include "stream/scene.h"
#include "stream/window_module.h"

/* ---- the camera -------------------------------------------------------------------------------------------------- */

typedef struct txm_flight {
    txm_scene_camera start;
    double at[3], home[3]; /* of the camera now, and at the start */
    float yaw, pitch;      /* turned since the start, radians: to the left, upwards */
    float lowest, highest; /* of pitch: straight down and straight up, nearly */
    float speed;           /* metres a second */
    float usual_speed;     /* at the start */
    uint32_t held;         /* keys that are down, a bit for each direction */
    bool turned;           /* or put somewhere since the last step */
} txm_flight;

/* From a camera that sees something `distance` metres ahead, which a flight reaches in some seconds; INFINITY: nothing.
 */
void txm_flight_begin(txm_flight *flight, const txm_scene_camera *camera, float distance);
/* W A S D Q E by their places and arrows by what they say move, the left button turns, the wheel changes the speed,
 * Home goes back to the start; a window without focus lets go of all keys. `width` is the window's, px. False:
 * the event is about something else. */
bool txm_flight_take(txm_flight *flight, const txm_window_event *event, uint32_t width);
/* Moves for that long. Whether the camera has moved since the last step. */
bool txm_flight_step(txm_flight *flight, double seconds);
/* The camera in a picture of that size: of other proportions than the scene's it shows more at two sides. Where nothing
 * moved and the proportions are the scene's, the very same camera. */
txm_scene_camera txm_flight_camera(const txm_flight *flight, uint32_t width, uint32_t height);

/* ---- the size of pictures ---------------------------------------------------------------------------------------- */

/* How long a pixel takes, and which part of the window's size fits a frame's time. */
typedef struct txm_pace {
    double ms_a_pixel; /* 0: unknown */
    uint32_t step;     /* of the sizes that are tried, 0: all pixels */
} txm_pace;

/* A frame of that many pixels took so long. */
void txm_pace_note(txm_pace *pace, uint64_t pixels, double ms);
/* The largest picture that fits `frame_ms` in a window of that size. It grows only where there is time to spare, so
 * that it does not change its size back and forth. */
void txm_pace_size(txm_pace *pace, double frame_ms, uint32_t width, uint32_t height, uint32_t *picture_width,
                   uint32_t *picture_height);
#endif
