/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures padded tiles per second with one thread, a warm cache, and the same tiles in the same random order: from the
 * border section, by gathering with txmill's reader, and by gathering through OpenImageIO's ImageInput.
 *     bench_padded [-t] [-s SECONDS] TX...
 * prints one line per file: name, tiles per second of the three, and the first over the third; -t leaves out the names
 * of columns. The three windows of every measured tile are compared first, so that times are of equal work.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench_oiio.h"
#include "txtile/reader.h"

enum { PADDING = 2, TILES = 2048, COMPARED = 200 };

typedef struct bench {
    txm_tx *tx;              /* file with its section */
    txm_tx *plain;           /* the same file without it */
    oiio_tiles *oiio;        /* as a renderer reads it */
    uint32_t pick[TILES][3]; /* level, x, y */
    size_t pixel_bytes, row_bytes, window_bytes;
    uint8_t *out, *other;
} bench;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID,
                  &t); /* everything is in memory, and the load of other programs does not count */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int die(const char *what)
{
    fprintf(stderr, "bench_padded: %s\n", what);
    exit(1);
}

typedef void (*read_fn)(bench *b, const uint32_t *tile, uint8_t *out);

static void read_ours(txm_tx *tx, const bench *b, const uint32_t *tile, uint8_t *out)
{
    txm_error err = {0};
    if (txm_tx_read_tile(tx,
                         &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                           .level = tile[0],
                                           .tile_x = tile[1],
                                           .tile_y = tile[2],
                                           .padding_px = PADDING,
                                           .extension = TXM_EXTENSION_REPEAT,
                                           .pixels = out,
                                           .pixel_stride_bytes = b->pixel_bytes,
                                           .row_stride_bytes = b->row_bytes},
                         &err) != TXM_OK)
        die(err.message);
}

static void read_section(bench *b, const uint32_t *tile, uint8_t *out)
{
    read_ours(b->tx, b, tile, out);
}

static void read_gather(bench *b, const uint32_t *tile, uint8_t *out)
{
    read_ours(b->plain, b, tile, out);
}

static void read_oiio(bench *b, const uint32_t *tile, uint8_t *out)
{
    const char *why = oiio_tiles_padded(b->oiio, tile[0], tile[1], tile[2], PADDING, out, b->row_bytes);
    if (why)
        die(why);
}

/* Picks tiles of all levels, in proportion to their number, in a fixed random order. */
static void pick_tiles(bench *b)
{
    uint64_t state = 88172645463325252u, total = 0;
    const txm_tx_info *info = txm_tx_info_of(b->tx);
    for (uint32_t i = 0; i < info->levels; i++)
        total += (uint64_t)txm_tx_level_of(b->tx, i)->tiles_x * txm_tx_level_of(b->tx, i)->tiles_y;
    for (int k = 0; k < TILES; k++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint64_t n = state % total;
        uint32_t level = 0;
        const txm_tx_level *l = txm_tx_level_of(b->tx, 0);
        for (; n >= (uint64_t)l->tiles_x * l->tiles_y; l = txm_tx_level_of(b->tx, level)) {
            n -= (uint64_t)l->tiles_x * l->tiles_y;
            level++;
        }
        b->pick[k][0] = level;
        b->pick[k][1] = (uint32_t)(n % l->tiles_x);
        b->pick[k][2] = (uint32_t)(n / l->tiles_x);
    }
}

static double rate(bench *b, read_fn read, double seconds)
{
    uint64_t done = 0;
    double start = now(), end;
    do {
        for (int k = 0; k < 64; k++, done++)
            read(b, b->pick[done % TILES], b->out);
        end = now();
    } while (end - start < seconds);
    return (double)done / (end - start);
}

static void compare(bench *b)
{
    static const struct {
        read_fn read;
        const char *name;
    } others[] = {{read_gather, "gathering differs from the section"},
                  {read_oiio, "OpenImageIO's pixels differ from ours"}};
    for (int k = 0; k < COMPARED; k++) {
        memset(b->out, 0, b->window_bytes);
        read_section(b, b->pick[k], b->out);
        for (int i = 0; i < 2; i++) {
            memset(b->other, 0, b->window_bytes);
            others[i].read(b, b->pick[k], b->other);
            if (memcmp(b->out, b->other, b->window_bytes) != 0)
                die(others[i].name);
        }
    }
}

/* Copies the image part, so that the reader has to gather borders. */
static void open_plain(bench *b, const char *path, const char *copy)
{
    txm_error err = {0};
    size_t bytes = (size_t)txm_tx_info_of(b->tx)->image_bytes;
    uint8_t *data = malloc(bytes);
    FILE *in = fopen(path, "rb"), *out = fopen(copy, "wb");
    if (!data || !in || !out || fread(data, 1, bytes, in) != bytes || fwrite(data, 1, bytes, out) != bytes ||
        fclose(out) != 0)
        die("cannot copy the image part");
    fclose(in);
    free(data);
    if (txm_tx_open(copy, &b->plain, &err) != TXM_OK)
        die(err.message);
    unlink(copy);
}

static void measure(const char *path, double seconds)
{
    bench b = {0};
    txm_error err = {0};
    char copy[64];
    if (txm_tx_open(path, &b.tx, &err) != TXM_OK)
        die(err.message);
    const txm_tx_info *info = txm_tx_info_of(b.tx);
    if (info->section != TXM_SECTION_STATE_VALID)
        die("the file has no valid border section");
    snprintf(copy, sizeof copy, "/tmp/bench_padded.%ld", (long)getpid());
    open_plain(&b, path, copy);
    b.oiio = oiio_tiles_open(path);
    if (!b.oiio)
        die("OpenImageIO cannot open the file");
    b.pixel_bytes = info->channels * txm_type_bytes(info->type);
    b.row_bytes = (info->tile_w + 2 * PADDING) * b.pixel_bytes;
    b.window_bytes = b.row_bytes * (info->tile_h + 2 * PADDING);
    b.out = calloc(2, b.window_bytes);
    if (!b.out)
        die("no memory");
    b.other = b.out + b.window_bytes;
    pick_tiles(&b);
    compare(&b);
    double section = rate(&b, read_section, seconds), gathered = rate(&b, read_gather, seconds);
    double oiio = rate(&b, read_oiio, seconds);
    const char *slash = strrchr(path, '/');
    printf("| %s | %.0f | %.0f | %.0f | %.1f |\n", slash ? slash + 1 : path, section, gathered, oiio, section / oiio);
    oiio_tiles_close(b.oiio);
    txm_tx_close(&b.plain);
    txm_tx_close(&b.tx);
    free(b.out);
}

int main(int argc, char **argv)
{
    double seconds = 2;
    int c, head = 1;
    while ((c = getopt(argc, argv, "ts:")) != -1) {
        if (c == 't')
            head = 0;
        else if (c == 's')
            seconds = atof(optarg);
        else
            return 2;
    }
    if (head)
        printf("| padded tiles a second | section | gathered | gathered by OIIO | section / OIIO |\n"
               "|---|---|---|---|---|\n");
    for (int i = optind; i < argc; i++)
        measure(argv[i], seconds);
    return 0;
}
