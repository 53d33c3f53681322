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

/* Grey or RGB, whose transparent colour becomes an alpha channel. */
static void key_8(const txm_png_header *h, const uint8_t *row, void *dst)
{
    const unsigned samples = h->file_samples;
    uint8_t *out = dst;
    for (size_t x = 0; x < h->width; x++, row += samples, out += samples + 1) {
        bool transparent = true;
        for (unsigned c = 0; c < samples; c++) {
            out[c] = row[c];
            transparent = transparent && row[c] == h->key[c];
        }
        out[samples] = transparent ? 0 : 255;
    }
}

static void key_16(const txm_png_header *h, const uint8_t *row, void *dst)
{
    const unsigned samples = h->file_samples;
    uint16_t *out = dst;
    for (size_t x = 0; x < h->width; x++, row += 2 * samples, out += samples + 1) {
        for (unsigned c = 0; c < samples; c++)
            out[c] = txm_load_be16(row + 2 * c);
        out[samples] = memcmp(out, h->key, samples * sizeof *out) == 0 ? 0 : 65535;
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

/* Entries are RGBA, of which three bytes are needed if there is no alpha. For whole bytes four are written at once, and
 * the next pixel overwrites the fourth; the last pixel has no next one. */
static void palette(const txm_png_header *h, const uint8_t *row, void *dst)
{
    const size_t bytes = h->colors_have_alpha ? 4 : 3, at_once = h->depth < 8 ? 0 : h->width - (bytes == 3);
    uint8_t *out = dst;
    size_t x = 0;
    for (; x < at_once; x++, out += bytes)
        memcpy(out, h->colors[row[x]], 4);
    for (; x < h->width; x++, out += bytes)
        memcpy(out, h->colors[packed(row, x, h->depth)], bytes);
}

unsigned txm_png_convert_of(const txm_png_header *h, txm_png_convert_fn *convert)
{
    const bool wide = h->depth == 16;
    *convert = NULL;
    if (h->palette) {
        *convert = palette;
        return h->colors_have_alpha ? 4 : 3;
    }
    if (h->depth < 8)
        *convert = widen_gray;
    else if (h->keyed)
        *convert = wide ? key_16 : key_8;
    else if (wide)
        *convert = swap_16;
    return h->file_samples + h->keyed;
}
