/* SPDX-License-Identifier: Apache-2.0
 * A window, opened through the module that contains SDL. */
#ifndef STM_STREAM_WINDOW_H
#define STM_STREAM_WINDOW_H
#include "render/window_module.h"
#include "txtile/status.h"

/* An open window, with the functions for it. */
typedef struct stm_screen {
    const stm_window_table *call;
    stm_window *data; /* NULL: none */
} stm_screen;

/* Opens a window whose inside has that size, or as much of it as there is room for. From one thread. NOT_INSTALLED
 * without the module or its library, UNSUPPORTED without a display; the message says what to do. */
txm_status stm_screen_open(const char *title, uint32_t width, uint32_t height, stm_screen *out, txm_error *err);
void stm_screen_close(stm_screen *screen); /* NULL-safe */
#endif
