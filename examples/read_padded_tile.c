/* SPDX-License-Identifier: Apache-2.0
 * Reads one padded tile of an 8-bit RGBA tx file with only libtiff and zstd, as txmill-borders(5) describes it, and
 * prints its pixels (level 0, repeat extension). A real reader also compares the identity and the checksums, and
 * gathers the border from the neighbouring tiles if they do not match.
 *
 *     cc read_padded_tile.c -ltiff -lzstd
 *     ./a.out FILE COLUMN ROW */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>
#include <zstd.h>
#define NEED(what) ((what) ? (void)0 : (fprintf(stderr, "%s: not so: %s\n", argv[1], #what), exit(1)))
#define U32(p) (*(const uint32_t *)(const void *)(p))
#define U64(p) (*(const uint64_t *)(const void *)(p))
static uint8_t window[260][260][4], tile[256 * 256 * 4], planes[4 * 4 * 516], kept[4 * 4 * 516];

int main(int argc, char **argv)
{
    TIFF *tif = argc == 4 ? TIFFOpen(argv[1], "r") : NULL;
    FILE *f = tif ? fopen(argv[1], "rb") : NULL;
    uint32_t W = 0, H = 0, T = 0, tx = f ? atoi(argv[2]) : 0, ty = f ? atoi(argv[3]) : 0;
    NEED(f && TIFFGetField(tif, TIFFTAG_IMAGEWIDTH, &W) && TIFFGetField(tif, TIFFTAG_IMAGELENGTH, &H));
    NEED(TIFFGetField(tif, TIFFTAG_TILEWIDTH, &T) && T <= 256 && tx < (W + T - 1) / T && ty < (H + T - 1) / T);
    uint32_t w = W - tx * T < T ? W - tx * T : T, h = H - ty * T < T ? H - ty * T : T,
             number = ty * ((W + T - 1) / T) + tx;
    NEED(TIFFTileSize(tif) == (tmsize_t)T * T * 4 && TIFFReadEncodedTile(tif, number, tile, sizeof tile) > 0);

    _Alignas(8) uint8_t footer[64];
    NEED(!fseek(f, -64, SEEK_END) && fread(footer, 64, 1, f) && !memcmp(footer + 56, "TXMRINGS", 8));
    NEED(U32(footer + 44) == 1 && footer[38] == 2 && footer[39] == 4 && footer[40] == 0); /* version 1, 8-bit RGBA */
    uint32_t packed = U32(footer + 24), raw = U32(footer + 28), n = 4 * (w + h + 4);
    uint8_t *file = malloc(packed), *index = malloc(raw);
    NEED(file && index && number < U32(footer + 32) && !fseek(f, U64(footer + 16), SEEK_SET) &&
         fread(file, packed, 1, f));
    NEED(ZSTD_decompress(index, raw, file, packed) == raw);
    const uint8_t *sizes = index + 4 + 8 * U32(index);
    uint32_t size = 7, have = 0;
    uint8_t *payload = NULL;
    for (uint32_t border = number; size == 7; border = U32(payload + 3)) { /* 7 bytes: that of an earlier border */
        uint64_t at = U64(footer);
        for (uint32_t i = 0; i < border; i++)
            at += U32(sizes + 4 * i);
        size = U32(sizes + 4 * border);
        NEED((payload = calloc(size + 8, 1)) && !fseek(f, at, SEEK_SET) && fread(payload, 1, size, f) == size);
        NEED(size != 1 && (size != 7 || U32(payload + 3) < border)); /* 1 byte: not stored, gather the neighbours */
    }
    uint32_t mask = payload[0]; /* the planes that are not all zero, in one zstd frame; 0: the border has one colour */
    NEED(!mask || !ZSTD_isError(ZSTD_decompress(kept, sizeof kept, payload + 2, size - 2)));
    for (uint32_t p = 0; p < 4; p++)
        if (mask >> p & 1)
            memcpy(planes + p * n, kept + have++ * n, n);

    for (uint32_t y = 0; y < h; y++)
        memcpy(window[y + 2][2], tile + y * T * 4, w * 4);
    int line[8][6] = {{1, 2, 0, 1, 1, 0}, {0, 2, 0, 1, 1, 0}, {w + 2, 2, 0, 1, -1, 0}, {w + 3, 2, 0, 1, -1, 0},
                      {0, 1, 1, 0, 0, 1}, {0, 0, 1, 0, 0, 1}, {0, h + 2, 1, 0, 0, -1}, {0, h + 3, 1, 0, 0, -1}};
    for (uint32_t i = 0, k = 0; k < 8; k++) /* start x, y; step x, y; where the reference is */
        for (uint32_t j = 0; j < (k < 4 ? h : w + 4); j++, i++)
            for (int c = 0; c < 4; c++) {
                int x = line[k][0] + (int)j * line[k][2], y = line[k][1] + (int)j * line[k][3], g = planes[n + i];
                int v = planes[c * n + i], r = (v >> 1 ^ -(v & 1)) + (c == 0 || c == 2 ? g >> 1 ^ -(g & 1) : 0);
                int rx = x + line[k][4], ry = y + line[k][5], u = window[ry][rx][c], p = u;
                if (j) { /* the median of l, u and l + u - k */
                    int l = window[y - line[k][3]][x - line[k][2]][c], d = window[ry - line[k][3]][rx - line[k][2]][c];
                    int low = l < u ? l : u, high = l < u ? u : l;
                    p = d >= high ? low : d <= low ? high : l + u - d;
                }
                window[y][x][c] = size && !mask ? payload[2 + c] : (uint8_t)(p + r);
            }
    for (int y = 0; y < (int)h + 4; y++)
        for (int x = 0; x < (int)w + 4; x++)
            printf("%d %d %d %d %d %d\n", (int)(tx * T) + x - 2, (int)(ty * T) + y - 2, window[y][x][0],
                   window[y][x][1], window[y][x][2], window[y][x][3]);
    return 0;
}
