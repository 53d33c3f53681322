/* SPDX-License-Identifier: Apache-2.0
 *
 * Gathers a border from the whole level, with the repeat extension. Rows come from a callback, since they may be in
 * different bands; columns and rows beyond the level's edges wrap around as often as needed, because a level may be
 * narrower than its border.
 */
#include "mill/pyramid/border.h"

#include "txtile/pixel.h"

#include <string.h>

/* Copies `count` pixels of a row, from column x0 on, which may be outside; wraps around. */
static uint8_t *copy_wrapped(const uint8_t *row, uint32_t level_w, size_t pixel_bytes, int64_t x0, uint32_t count,
                             uint8_t *dst)
{
    uint32_t x = (uint32_t)(x0 >= 0 && x0 < level_w ? x0 : ((x0 % (int64_t)level_w) + level_w) % level_w);
    if (count == TXM_BORDER_PX && pixel_bytes == 4 && x + TXM_BORDER_PX <= level_w) /* most calls: one instruction */
        return (uint8_t *)memcpy(dst, row + (size_t)4 * x, 4 * TXM_BORDER_PX) + 4 * TXM_BORDER_PX;
    while (count) {
        uint32_t n = count < level_w - x ? count : level_w - x;
        memcpy(dst, row + x * pixel_bytes, n * pixel_bytes);
        dst += n * pixel_bytes;
        count -= n;
        x = 0;
    }
    return dst;
}

/* The order is that of section_format.h: two rows above, the sides row by row, two rows below. */
void txm_border_gather(txm_row_fn row, void *context, uint32_t level_w, uint32_t level_h, size_t pixel_bytes,
                       uint32_t x0, uint32_t y0, uint32_t w, uint32_t h, uint8_t *border)
{
    for (int64_t y = -TXM_BORDER_PX; y < (int64_t)h + TXM_BORDER_PX; y++) {
        int64_t source_y = (int64_t)y0 + y;
        if (source_y < 0 || source_y >= level_h)
            source_y = (source_y % level_h + level_h) % level_h;
        const uint8_t *src = row(context, (uint32_t)source_y);
        int64_t left = (int64_t)x0 - TXM_BORDER_PX;
        if (y < 0 || y >= (int64_t)h) {
            border = copy_wrapped(src, level_w, pixel_bytes, left, w + 2 * TXM_BORDER_PX, border);
        } else {
            border = copy_wrapped(src, level_w, pixel_bytes, left, TXM_BORDER_PX, border);
            border = copy_wrapped(src, level_w, pixel_bytes, (int64_t)x0 + w, TXM_BORDER_PX, border);
        }
    }
}
