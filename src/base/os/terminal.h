/* SPDX-License-Identifier: Apache-2.0
 *
 * The size of a terminal's window.
 *
 * Elsewhere: macOS has the same call. Windows has GetConsoleScreenBufferInfo, without the size in pixels.
 */
#ifndef TXM_BASE_OS_TERMINAL_H
#define TXM_BASE_OS_TERMINAL_H
#include <stdbool.h>

typedef struct txm_window_size {
    unsigned columns, rows;
    unsigned width_px, height_px; /* 0: unknown */
} txm_window_size;

/* Returns false, and sets all to 0, if the file is not a terminal or its size is unknown. */
bool txm_window_size_of(int fd, txm_window_size *out);
#endif
