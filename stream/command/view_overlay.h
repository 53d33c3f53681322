/* SPDX-License-Identifier: Apache-2.0
 * The lines of text over the picture of a view. */
#ifndef TXM_TOOLS_STREAM_VIEW_OVERLAY_H
#define TXM_TOOLS_STREAM_VIEW_OVERLAY_H
#include "command/view_worker.h"

enum { TXM_VIEW_LINES = 24, TXM_VIEW_LINE = 60 };

typedef struct txm_view_lines {
    char written[TXM_VIEW_LINES][TXM_VIEW_LINE];
    const char *text[TXM_VIEW_LINES];
    size_t count;
} txm_view_lines;

/* Data that the overlay shows in addition to a frame's figures. */
typedef struct txm_view_overlay {
    double seconds_a_frame; /* time between pictures, averaged over about a second; 0: unknown */
    bool is_hidden, with_keys;
    char message[TXM_VIEW_LINE]; /* the last event */
    double message_until;        /* 0: none */
} txm_view_overlay;

/* Records the time between the last two pictures. */
void txm_view_overlay_note(txm_view_overlay *overlay, double seconds);
/* `last` is NULL while the scene is being opened. Lines are ASCII and fit in a window of 480 px. */
void txm_view_overlay_write(const txm_view_overlay *overlay, const txm_view_result *last, float speed, bool is_paused,
                            txm_view_lines *lines);
#endif
