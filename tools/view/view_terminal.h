/* SPDX-License-Identifier: Apache-2.0 Finds out what a terminal supports, and shows pictures in it. */
#ifndef TXM_TOOLS_VIEW_TERMINAL_H
#define TXM_TOOLS_VIEW_TERMINAL_H
#include "txmill/level.h"

typedef enum txm_view_format { TXM_VIEW_AUTO, TXM_VIEW_SYMBOLS, TXM_VIEW_SIXEL, TXM_VIEW_KITTY } txm_view_format;

typedef struct txm_view_terminal {
    uint32_t columns, rows;  /* cells for a picture; 0: as many as the terminal has */
    uint32_t cell_w, cell_h; /* px of a cell; filled in by txm_view_terminal_find */
    txm_view_format format;  /* AUTO becomes the best that the terminal supports */
} txm_view_terminal;

/* Examines the terminal on standard output, if it is one: its size, and what it supports according to TERM and
 * similar variables. Fills in members that are zero. */
void txm_view_terminal_find(txm_view_terminal *terminal);

/* The largest number of pixels that a picture of this shape gets. */
void txm_view_terminal_target(const txm_view_terminal *terminal, uint32_t *width_px, uint32_t *height_px);

/* Prints an 8-bit picture, in as many cells as fit its shape. NO_MEMORY. */
txm_status txm_view_terminal_print(const txm_view_terminal *terminal, const txm_level_picture *picture, txm_error *err);
#endif
