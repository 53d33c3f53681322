/* SPDX-License-Identifier: Apache-2.0
 * Draws all tiles of a level on a contact sheet, separate from each other, with their numbers and the pixels around
 * them. */
#ifndef TXM_TOOLS_TILE_SHEET_H
#define TXM_TOOLS_TILE_SHEET_H
#include "txmill/level.h"

/* 8-bit RGB for viewing. Each tile is drawn below its column and row; the padding_px pixels around it are tinted, so
 * that they can be distinguished from its own. TOO_LARGE beyond 4 GiB. */
txm_status txm_tile_sheet(txm_tx *tx, uint32_t level, uint32_t padding_px, txm_extension extension,
                          txm_level_picture *out, txm_error *err);
#endif
