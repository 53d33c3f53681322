/* SPDX-License-Identifier: Apache-2.0
 * The lines of text over the picture of a view. */
#ifndef STM_TOOLS_STREAM_VIEW_OVERLAY_H
#define STM_TOOLS_STREAM_VIEW_OVERLAY_H
#include "command/view_worker.h"

enum { STM_VIEW_LINES = 24, STM_VIEW_LINE = 60 };

typedef struct stm_view_lines {
    char written[STM_VIEW_LINES][STM_VIEW_LINE];
    const char *text[STM_VIEW_LINES];
    size_t count;
} stm_view_lines;

/* Data that the overlay shows in addition to a frame's figures. */
typedef struct stm_view_overlay {
    double seconds_a_frame; /* time between pictures, averaged over about a second; 0: unknown */
    bool is_hidden, with_keys;
    char message[STM_VIEW_LINE]; /* the last event */
    double message_until;        /* 0: none */
} stm_view_overlay;

/* Records the time between the last two pictures. */
void stm_view_overlay_note(stm_view_overlay *overlay, double seconds);
/* `last` is NULL while the scene is being opened. Lines are ASCII and fit in a window of 480 px. */
void stm_view_overlay_write(const stm_view_overlay *overlay, const stm_view_result *last, float speed, bool is_paused,
                            stm_view_lines *lines);
#endif
