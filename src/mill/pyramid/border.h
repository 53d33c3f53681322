/* SPDX-License-Identifier: Apache-2.0
 *
 * The border of a tile from its level, in the order of tile/reader/border_order.h.
 */
#ifndef TXM_PYRAMID_BORDER_H
#define TXM_PYRAMID_BORDER_H
#include <stddef.h>
#include <stdint.h>

#include "tile/reader/border_order.h"

/* Returns row `y` of a level (already wrapped into 0 .. h-1), as tight pixels of the whole row. */
typedef const uint8_t *(*txm_row_fn)(void *context, uint32_t y);

/* Gathers the border of the tile at (x0, y0), whose valid size is w x h, from a level of level_w x level_h px into
 * `border`. */
void txm_border_gather(txm_row_fn row, void *context, uint32_t level_w, uint32_t level_h, size_t pixel_bytes,
                       uint32_t x0, uint32_t y0, uint32_t w, uint32_t h, uint8_t *border);
#endif
