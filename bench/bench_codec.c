/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures time and size of the tile encoder by strategy, on a raw image: bench_codec FILE WIDTH HEIGHT CHANNELS TYPE
 * [TILE [STEP]] FILE holds tight rows of interleaved samples; TYPE is uint8, uint16, half or float; every STEP-th tile
 * is encoded. Sizes are compared with those of zlib level 6 after the same filter, to which all size goals refer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "base/mem.h"
#include "mill/encode/tile.h"
#include "mill/write/section_writer.h"

typedef struct image {
    uint8_t *pixels;
    uint32_t width, height, step;
    size_t pixel_bytes;
    txm_tile_format format;
} image;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Encodes each tile; returns the number of bytes. */
typedef size_t (*tile_fn)(void *context, const image *img, uint32_t x, uint32_t y, uint32_t w, uint32_t h);

static size_t for_tiles(const image *img, tile_fn fn, void *context, uint32_t *count)
{
    size_t sum = 0;
    uint32_t n = 0, tile = img->format.tile_px;
    *count = 0;
    for (uint32_t y = 0; y < img->height; y += tile)
        for (uint32_t x = 0; x < img->width; x += tile) {
            if (n++ % img->step)
                continue;
            uint32_t w = img->width - x < tile ? img->width - x : tile,
                     h = img->height - y < tile ? img->height - y : tile;
            sum += fn(context, img, x, y, w, h);
            ++*count;
        }
    return sum;
}

static const uint8_t *at(const image *img, uint32_t x, uint32_t y)
{
    return img->pixels + ((size_t)y * img->width + x) * img->pixel_bytes;
}

static size_t encode(void *context, const image *img, uint32_t x, uint32_t y, uint32_t w, uint32_t h)
{
    const void *encoded;
    size_t size = 0;
    txm_tile_encode(context, at(img, x, y), img->width * img->pixel_bytes, w, h, &encoded, &size, NULL);
    return size;
}

/* Compresses the encoder's filtered bytes with zlib level 6. The stream is decoded first, outside of the measured time.
 */
typedef struct yardstick {
    txm_tile_encoder *encoder;
    uint8_t *filtered, *packed;
    size_t capacity;
    double seconds;
} yardstick;

static size_t zlib_6(void *context, const image *img, uint32_t x, uint32_t y, uint32_t w, uint32_t h)
{
    yardstick *k = context;
    const void *encoded;
    size_t size = 0;
    uLongf raw = k->capacity, packed = 2 * k->capacity;
    txm_tile_encode(k->encoder, at(img, x, y), img->width * img->pixel_bytes, w, h, &encoded, &size, NULL);
    if (uncompress(k->filtered, &raw, encoded, size) != Z_OK)
        return size; /* stored */
    double start = now();
    compress2(k->packed, &packed, k->filtered, raw, 6);
    k->seconds += now() - start;
    return packed;
}

static size_t border(void *context, const image *img, uint32_t x, uint32_t y, uint32_t w, uint32_t h)
{
    static uint8_t pixels[4 * (2 * TXM_MAX_TILE_PX + 4) * 16], *p;
    const void *encoded;
    size_t size = 0;
    p = pixels;
    for (int64_t j = -2; j < (int64_t)h + 2; j++)
        for (int64_t i = -2; i < (int64_t)w + 2; i++)
            if (i < 0 || j < 0 || i >= w || j >= h) {
                memcpy(p,
                       at(img, (uint32_t)((x + i + img->width) % img->width),
                          (uint32_t)((y + j + img->height) % img->height)),
                       img->pixel_bytes);
                p += img->pixel_bytes;
            }
    txm_border_encode(context, pixels, at(img, x, y), img->width * img->pixel_bytes, w, h, &encoded, &size, NULL);
    return size + 2; /* sizes in the index compress to about two bytes */
}

static int load(image *img, char **argv, int argc)
{
    static const char *const types[] = {"uint8", "uint16", "half", "float"};
    img->width = (uint32_t)atoi(argv[2]);
    img->height = (uint32_t)atoi(argv[3]);
    img->format.channels = (uint32_t)atoi(argv[4]);
    for (int t = 0; t < 4; t++)
        if (!strcmp(argv[5], types[t]))
            img->format.type = (txm_type)t;
    img->format.tile_px = argc > 6 ? (uint32_t)atoi(argv[6]) : TXM_DEFAULT_TILE_PX;
    img->step = argc > 7 ? (uint32_t)atoi(argv[7]) : 1;
    img->pixel_bytes = img->format.channels * txm_type_bytes(img->format.type);
    size_t pixels = (size_t)img->width * img->height;
    img->pixels = txm_alloc_pixels(pixels, img->pixel_bytes);
    FILE *f = fopen(argv[1], "rb");
    int ok = f && img->pixels && fread(img->pixels, img->pixel_bytes, pixels, f) == pixels;
    if (f)
        fclose(f);
    return ok;
}

int main(int argc, char **argv)
{
    image img = {0};
    txm_error err = {0};
    uint32_t tiles;
    if (argc < 6 || !load(&img, argv, argc)) {
        fprintf(stderr, "usage: bench_codec FILE WIDTH HEIGHT CHANNELS uint8|uint16|half|float [TILE [STEP]]\n");
        return 2;
    }
    size_t tile_bytes = (size_t)img.format.tile_px * img.format.tile_px * img.pixel_bytes;
    yardstick k = {.capacity = tile_bytes};
    k.filtered = malloc(tile_bytes);
    k.packed = malloc(2 * tile_bytes);
    img.format.compression = (txm_compression){TXM_CODEC_ZIP, 1};
    if (!k.filtered || !k.packed || txm_tile_encoder_new(&img.format, &k.encoder, &err) != TXM_OK)
        return 1;
    size_t reference = for_tiles(&img, zlib_6, &k, &tiles), adaptive = 0;
    printf("%-14s %8.1f us a tile  %9.3f MB\n", "zlib 6", 1e6 * k.seconds / tiles, 1e-6 * (double)reference);
    for (int level = 0; level <= 6; level++) {
        txm_tile_encoder *e = NULL;
        img.format.compression.level = level;
        if (txm_tile_encoder_new(&img.format, &e, &err) != TXM_OK)
            return 1;
        double start = now();
        size_t size = for_tiles(&img, encode, e, &tiles);
        adaptive = level ? adaptive : size;
        printf("%s %-7.0d %8.1f us a tile  %9.3f MB  %+6.1f %%\n", level ? "zip:  " : "zip", level,
               1e6 * (now() - start) / tiles, 1e-6 * (double)size, 100.0 * (double)size / (double)reference - 100);
        txm_tile_encoder_free(&e);
    }
    txm_tx_layout layout = {img.width, img.height, 1, img.format.channels, img.format.type, img.format.tile_px, {0}};
    txm_border_encoder *r = NULL;
    if (txm_border_encoder_new(&layout, &r, &err) != TXM_OK)
        return 1;
    double start = now();
    size_t size = for_tiles(&img, border, r, &tiles);
    printf("%-14s %8.1f us a border  %9.3f MB  %6.1f %% of a file with it (gathering included)\n", "borders",
           1e6 * (now() - start) / tiles, 1e-6 * (double)size, 100.0 * (double)size / (double)(size + adaptive));
    txm_border_encoder_free(&r);
    txm_tile_encoder_free(&k.encoder);
    free(k.filtered);
    free(k.packed);
    free(img.pixels);
    return 0;
}
