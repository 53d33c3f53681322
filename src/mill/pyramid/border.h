/* SPDX-License-Identifier: Apache-2.0
 *
 * A border: the pixels of a padded tile's window that are not the tile itself, for the repeat extension.
 *
 * Order: the two rows above (each valid_w + 4 px, left to right), then for each of the tile's rows its two left and its
 * two right pixels, then the two rows below (each valid_w + 4 px). Tight, in storage type.
 */
#ifndef TXM_PYRAMID_BORDER_H
#define TXM_PYRAMID_BORDER_H
#include <stddef.h>
#include <stdint.h>

#include "txtile/pixel.h"

/* Pixels of the border around a tile of w x h px: 4 (w + h + 4). */
static inline size_t txm_border_pixels(uint32_t w, uint32_t h)
{
    return 4 * ((size_t)w + h + 4);
}

/* A function that gives a level's row `y` (already wrapped into 0 .. h-1), tight pixels of the whole row. */
typedef const uint8_t *(*txm_row_fn)(void *context, uint32_t y);

/* Gathers the border of the tile at (x0, y0) of valid size w x h from a level of level_w x level_h px into `border`. */
void txm_border_gather(txm_row_fn row, void *context, uint32_t level_w, uint32_t level_h, size_t pixel_bytes,
                       uint32_t x0, uint32_t y0, uint32_t w, uint32_t h, uint8_t *border);
#endif
