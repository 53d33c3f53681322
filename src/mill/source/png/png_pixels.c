/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts the samples of a PNG file to the pixels that are delivered, which libpng calls expansion. Palettes become
 * RGB or RGBA, grey of less than 8 bits becomes 8 bits, a transparent colour becomes an alpha channel, and 16-bit
 * samples get the machine's byte order.
 */
#include "mill/source/png/png.h"

#include <string.h>

#include "base/endian.h"

static void swap_16(const txm_png_header *h, const uint8_t *row, void *dst)
{
    const uint64_t low_bytes = 0x00ff00ff00ff00ff;
    uint8_t *out = dst;
    size_t bytes = (size_t)h->width * h->file_samples * 2, i = 0;

    for (uint64_t four; i + 8 <= bytes; i += 8) {
        memcpy(&four, row + i, 8);
        four = (four & low_bytes) << 8 | (four >> 8 & low_bytes);
        memcpy(out + i, &four, 8);
    }
    for (; i < bytes; i += 2) {
        uint16_t one = txm_load_be16(row + i);
        memcpy(out + i, &one, 2);
    }
}

static void key_gray_8(const txm_png_header *h, const uint8_t *row, void *dst)
{
    uint8_t *out = dst;

    for (size_t x = 0; x < h->width; x++) {
        out[2 * x] = row[x];
        out[2 * x + 1] = row[x] == h->key[0] ? 0 : 255;
    }
}

static void key_gray_16(const txm_png_header *h, const uint8_t *row, void *dst)
{
    uint16_t *out = dst;

    for (size_t x = 0; x < h->width; x++) {
        uint16_t v = txm_load_be16(row + 2 * x);
        out[2 * x] = v;
        out[2 * x + 1] = v == h->key[0] ? 0 : 65535;
    }
}

static void key_rgb_8(const txm_png_header *h, const uint8_t *row, void *dst)
{
    uint8_t *out = dst;

    for (size_t x = 0; x < h->width; x++, row += 3, out += 4) {
        bool transparent = row[0] == h->key[0] && row[1] == h->key[1] && row[2] == h->key[2];
        memcpy(out, row, 3);
        out[3] = transparent ? 0 : 255;
    }
}

static void key_rgb_16(const txm_png_header *h, const uint8_t *row, void *dst)
{
    uint16_t *out = dst;

    for (size_t x = 0; x < h->width; x++, row += 6, out += 4) {
        for (int c = 0; c < 3; c++)
            out[c] = txm_load_be16(row + 2 * c);
        out[3] = memcmp(out, h->key, sizeof h->key) == 0 ? 0 : 65535;
    }
}

/* Sample x of a row with 1, 2, 4 or 8 bits per sample, of which the first is in the highest bits. */
static inline unsigned packed(const uint8_t *row, size_t x, unsigned depth)
{
    size_t bit = x * depth;

    return (unsigned)row[bit >> 3] >> (8 - depth - (bit & 7)) & ((1u << depth) - 1);
}

static void widen_gray(const txm_png_header *h, const uint8_t *row, void *dst)
{
    const unsigned scale = 255 / ((1u << h->depth) - 1);
    uint8_t *out = dst;

    for (size_t x = 0; x < h->width; x++) {
        unsigned v = packed(row, x, h->depth);
        *out++ = (uint8_t)(v * scale);
        if (h->keyed)
            *out++ = v == h->key[0] ? 0 : 255;
    }
}

/* Entries are RGBA, of which three bytes are needed. */
static void palette_rgb(const txm_png_header *h, const uint8_t *row, void *dst)
{
    uint8_t *out = dst;
    size_t x = 0;

    /* Writes four bytes at once, the fourth of which the next pixel overwrites; the last pixel has no next one. */
    if (h->depth == 8)
        for (; x + 1 < h->width; x++, out += 3)
            memcpy(out, h->colors[row[x]], 4);
    for (; x < h->width; x++, out += 3)
        memcpy(out, h->colors[packed(row, x, h->depth)], 3);
}

static void palette_rgba(const txm_png_header *h, const uint8_t *row, void *dst)
{
    uint8_t *out = dst;
    size_t x = 0;

    if (h->depth == 8)
        for (; x < h->width; x++, out += 4)
            memcpy(out, h->colors[row[x]], 4);
    for (; x < h->width; x++, out += 4)
        memcpy(out, h->colors[packed(row, x, h->depth)], 4);
}

unsigned txm_png_convert_of(const txm_png_header *h, txm_png_convert_fn *convert)
{
    const bool wide = h->depth == 16;

    *convert = NULL;
    if (h->palette) {
        *convert = h->colors_have_alpha ? palette_rgba : palette_rgb;
        return h->colors_have_alpha ? 4 : 3;
    }
    if (h->depth < 8)
        *convert = widen_gray;
    else if (h->keyed && h->file_samples == 1)
        *convert = wide ? key_gray_16 : key_gray_8;
    else if (h->keyed)
        *convert = wide ? key_rgb_16 : key_rgb_8;
    else if (wide)
        *convert = swap_16;
    return h->file_samples + h->keyed;
}
