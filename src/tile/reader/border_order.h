/* SPDX-License-Identifier: Apache-2.0
 *
 * The layout of a border: the pixels of a padded tile's window that are outside the tile, for the repeat extension.
 *
 * The order is: the two rows above (valid_w + 4 px each, left to right); the two left and two right pixels of each row
 * of the tile; the two rows below (valid_w + 4 px each). Pixels are packed without gaps, in storage type.
 */
#ifndef TXM_READER_BORDER_ORDER_H
#define TXM_READER_BORDER_ORDER_H
#include <stddef.h>
#include <stdint.h>

/* The number of pixels in the border around a tile of w x h px: 4 (w + h + 4). */
static inline size_t txm_border_pixels(uint32_t w, uint32_t h)
{
    return 4 * ((size_t)w + h + 4);
}
#endif
