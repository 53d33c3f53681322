/* SPDX-License-Identifier: Apache-2.0
 * A window, opened through the module that contains SDL. */
#ifndef TXM_STREAM_WINDOW_H
#define TXM_STREAM_WINDOW_H
#include "render/window_module.h"
#include "txtile/status.h"

/* An open window, with the functions for it. */
typedef struct txm_screen {
    const txm_window_table *call;
    txm_window *data; /* NULL: none */
} txm_screen;

/* Opens a window whose inside has that size, or as much of it as there is room for. From one thread. NOT_INSTALLED
 * without the module or its library, UNSUPPORTED without a display; the message says what to do. */
txm_status txm_screen_open(const char *title, uint32_t width, uint32_t height, txm_screen *out, txm_error *err);
void txm_screen_close(txm_screen *screen); /* NULL-safe */
#endif
