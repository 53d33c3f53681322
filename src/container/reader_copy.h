/* SPDX-License-Identifier: Apache-2.0
 *
 * Copying pixels into the caller's buffer, whose pixels may stand further apart than they are wide.
 */
#ifndef TXM_CONTAINER_READER_COPY_H
#define TXM_CONTAINER_READER_COPY_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copies `count` pixels between places where they stand dst_step and src_step bytes apart. A size that is known when
 * compiling makes a copy a load and a store: hence a loop for each usual one. */
static inline void txm_copy_pixels(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step, size_t count,
                                   size_t pixel_bytes)
{
#define TXM_COPY_LOOP(BYTES)                                                                                           \
    for (size_t i = 0; i < count; i++, dst += dst_step, src += src_step)                                               \
    memcpy(dst, src, BYTES)
    switch (pixel_bytes) {
    case 1:
        TXM_COPY_LOOP(1);
        break;
    case 4:
        TXM_COPY_LOOP(4);
        break;
    case 8:
        TXM_COPY_LOOP(8);
        break;
    case 16:
        TXM_COPY_LOOP(16);
        break;
    default:
        TXM_COPY_LOOP(pixel_bytes);
        break;
    }
#undef TXM_COPY_LOOP
}

typedef struct txm_window {
    uint8_t *data; /* its pixel (0, 0) */
    size_t pixel_stride, row_stride, pixel_bytes;
} txm_window;

static inline uint8_t *txm_window_at(const txm_window *window, uint32_t x, uint32_t y)
{
    return window->data + y * window->row_stride + x * window->pixel_stride;
}

/* Copies `count` tight pixels to (x, y) .. (x + count - 1, y). */
static inline void txm_window_put_row(const txm_window *window, uint32_t x, uint32_t y, const uint8_t *src,
                                      uint32_t count)
{
    uint8_t *dst = txm_window_at(window, x, y);
    if (window->pixel_stride == window->pixel_bytes) {
        memcpy(dst, src, count * window->pixel_bytes);
        return;
    }
    txm_copy_pixels(dst, window->pixel_stride, src, window->pixel_bytes, count, window->pixel_bytes);
}

/* Copies w x h pixels, rows src_stride bytes apart, to the rectangle at (x, y). */
static inline void txm_window_put(const txm_window *window, uint32_t x, uint32_t y, const uint8_t *src,
                                  size_t src_stride, uint32_t w, uint32_t h)
{
    for (uint32_t row = 0; row < h; row++)
        txm_window_put_row(window, x, y + row, src + row * src_stride, w);
}

/* Clears w x h pixels. */
static inline void txm_window_clear(const txm_window *window, uint32_t x, uint32_t y, uint32_t w, uint32_t h)
{
    for (uint32_t row = y; row < y + h; row++)
        for (uint32_t i = 0; i < w; i++)
            memset(txm_window_at(window, x + i, row), 0, window->pixel_bytes);
}

#endif
