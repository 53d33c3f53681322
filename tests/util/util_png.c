/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds PNG files field by field. */
#include "util_png.h"

#include <check.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

unsigned png_samples(uint8_t color_type)
{
    static const uint8_t samples[7] = {1, 0, 3, 1, 2, 0, 4};

    return samples[color_type];
}

size_t png_row_bytes(const png_layout *l)
{
    return ((size_t)l->width * l->depth * png_samples(l->color_type) + 7) / 8;
}

size_t png_pixel_bytes(const png_layout *l)
{
    return (l->depth * png_samples(l->color_type) + 7) / 8;
}

static void add(txm_bytes *f, const void *data, size_t bytes)
{
    ck_assert(txm_bytes_add(f, data, bytes));
}

static void add32(txm_bytes *f, uint32_t v)
{
    uint8_t big[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};

    add(f, big, 4);
}

void png_chunk_crc(txm_bytes *f, const char *type, const void *data, size_t bytes, uint32_t crc_error)
{
    add32(f, (uint32_t)bytes);
    add(f, type, 4);
    add(f, data, bytes);
    add32(f, libdeflate_crc32(0, f->data + f->size - bytes - 4, bytes + 4) ^ crc_error);
}

void png_chunk(txm_bytes *f, const char *type, const void *data, size_t bytes)
{
    png_chunk_crc(f, type, data, bytes, 0);
}

void png_begin(txm_bytes *f, const png_layout *l)
{
    txm_bytes header = {0};

    add32(&header, l->width);
    add32(&header, l->height);
    add(&header, (uint8_t[]){l->depth, l->color_type, 0, 0, l->interlace}, 5);
    add(f, "\x89PNG\r\n\x1a\n", 8);
    png_chunk(f, "IHDR", header.data, header.size);
    txm_bytes_free(&header);
}

static uint8_t predict(int filter, int a, int b, int c)
{
    int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);

    switch (filter) {
    case 1:
        return (uint8_t)a;
    case 2:
        return (uint8_t)b;
    case 3:
        return (uint8_t)((a + b) / 2);
    case 4:
        return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
    default:
        return 0;
    }
}

void png_filter(txm_bytes *out, const png_layout *l, const uint8_t *rows, int filter)
{
    size_t bytes = png_row_bytes(l), bpp = png_pixel_bytes(l);

    for (uint32_t y = 0; y < l->height; y++, rows += bytes) {
        uint8_t type = (uint8_t)(filter < 0 ? y % 5 : (unsigned)filter);
        const uint8_t *above = y ? rows - bytes : NULL;
        add(out, &type, 1);
        add(out, rows, bytes);
        for (size_t i = 0; i < bytes; i++) {
            int a = i >= bpp ? rows[i - bpp] : 0, b = above ? above[i] : 0;
            int c = i >= bpp && above ? above[i - bpp] : 0;
            out->data[out->size - bytes + i] = (char)(rows[i] - predict(type, a, b, c));
        }
    }
}

void png_deflate(txm_bytes *out, const void *data, size_t bytes, int level)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
    size_t bound = libdeflate_zlib_compress_bound(c, bytes);

    ck_assert(txm_bytes_reserve(out, bound));
    out->size += libdeflate_zlib_compress(c, data, bytes, out->data + out->size, bound);
    libdeflate_free_compressor(c);
}

void png_idats(txm_bytes *f, const void *stream, size_t bytes, size_t piece)
{
    const uint8_t *p = stream;

    for (size_t n; bytes; p += n, bytes -= n) {
        n = bytes < piece ? bytes : piece;
        png_chunk(f, "IDAT", p, n);
    }
}

void png_finish(txm_bytes *f, const png_layout *l, const uint8_t *rows, int filter)
{
    txm_bytes filtered = {0}, stream = {0};

    png_filter(&filtered, l, rows, filter);
    png_deflate(&stream, filtered.data, filtered.size, 6);
    png_idats(f, stream.data, stream.size, 8192);
    png_chunk(f, "IEND", "", 0);
    txm_bytes_free(&filtered);
    txm_bytes_free(&stream);
}

void test_noise(uint64_t *seed, void *dst, size_t bytes)
{
    uint8_t *p = dst;

    for (size_t i = 0; i < bytes; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        p[i] = (uint8_t)(*seed >> 56);
    }
}
