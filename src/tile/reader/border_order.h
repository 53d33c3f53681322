/* SPDX-License-Identifier: Apache-2.0
 *
 * A border: the pixels of a padded tile's window that are not the tile itself, for the repeat extension.
 *
 * Order: the two rows above (each valid_w + 4 px, left to right), then for each of the tile's rows its two left and its
 * two right pixels, then the two rows below (each valid_w + 4 px). Tight, in storage type.
 */
#ifndef TXM_READER_BORDER_ORDER_H
#define TXM_READER_BORDER_ORDER_H
#include <stddef.h>
#include <stdint.h>

/* Pixels of the border around a tile of w x h px: 4 (w + h + 4). */
static inline size_t txm_border_pixels(uint32_t w, uint32_t h)
{
    return 4 * ((size_t)w + h + 4);
}
#endif
