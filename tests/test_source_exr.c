/* SPDX-License-Identifier: Apache-2.0
 * The direct EXR reader: its codecs on their own, files written by OpenEXR, and damage at every place. */
#include <check.h>
#include <openexr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container/exr_channels.h"
#include "core/mem.h"
#include "codec/exr_decode.h"
#include "source/source.h"
#include "util_check.h"

static char path[64];

static void make_path(void)
{
    strcpy(path, "/tmp/txm-exr-XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void remove_path(void)
{
    unlink(path);
}

/* ---- codecs ---- */

/* The definition, byte by byte. */
static void unpredict_slowly(const uint8_t *in, uint8_t *out, size_t n)
{
    uint8_t sums[512];
    for (size_t i = 0; i < n; i++)
        sums[i] = i ? (uint8_t)(sums[i - 1] + in[i] - 128) : in[i];
    for (size_t i = 0; i < n; i++)
        out[i] = sums[(i & 1 ? (n + 1) / 2 : 0) + i / 2];
}

START_TEST(unpredict_every_size)
{
    unsigned seed = 3;
    for (size_t n = 0; n <= 400; n++) {
        uint8_t in[512], expected[512], out[512];
        for (size_t i = 0; i < n; i++)
            in[i] = (uint8_t)rand_r(&seed);
        unpredict_slowly(in, expected, n);
        out[n] = 77;
        txm_exr_unsplit(in, out, n);
        ck_assert_mem_eq(out, expected, n);
        ck_assert_uint_eq(out[n], 77);
    }
}
END_TEST

START_TEST(runs)
{
    static const uint8_t good[] = {2, 'a', (uint8_t)-3, 'x', 'y', 'z', 0, 'b'};
    uint8_t out[8];
    ck_assert(txm_exr_rle_decode(good, sizeof good, out, 7));
    ck_assert_mem_eq(out, "aaaxyzb", 7);
    ck_assert(!txm_exr_rle_decode(good, sizeof good, out, 8)); /* too few */
    ck_assert(!txm_exr_rle_decode(good, sizeof good, out, 6)); /* too many */
    ck_assert(!txm_exr_rle_decode(good, 1, out, 3));           /* a run of nothing */
    ck_assert(!txm_exr_rle_decode(good + 2, 3, out, 3));       /* three promised, two there */
    ck_assert(!txm_exr_rle_decode(good, 0, out, 1));
    ck_assert(txm_exr_rle_decode(good, 0, out, 0));
}
END_TEST

/* ---- order of channels ---- */

START_TEST(channel_order)
{
    /* Names as a file has them, and in the order in which OpenImageIO 3.1 and 2.4 deliver them. */
    static const struct {
        const char *stored[7], *delivered[7];
    } cases[] = {
        {{"X", "Y", "Z"}, {"X", "Y", "Z"}},
        {{"A", "X", "Y", "Z"}, {"X", "Y", "Z", "A"}},
        {{"N.X", "N.Y", "N.Z"}, {"N.X", "N.Y", "N.Z"}},
        {{"V.W", "V.X", "V.Y", "V.Z"}, {"V.X", "V.Y", "V.Z", "V.W"}},
        {{"a.b.x", "a.b.y"}, {"a.b.x", "a.b.y"}},
        {{"X", "Z"}, {"X", "Z"}},
        {{"Y", "Z"}, {"Y", "Z"}},
        {{"A", "Y", "Z"}, {"Y", "A", "Z"}},     /* luminance, alpha, depth */
        {{"A", "X"}, {"A", "X"}},               /* an X alone is no vector */
        {{"X", "Y", "red"}, {"red", "X", "Y"}}, /* in the same layer */
        {{"N.X", "Y", "Z"}, {"Y", "Z", "N.X"}}, /* in two */
        {{"A", "B", "G", "R", "Z"}, {"R", "G", "B", "A", "Z"}},
        {{"A", "B", "G", "R", "X", "Y"}, {"R", "G", "B", "X", "Y", "A"}},
        {{"Depth", "X", "Y", "imag", "real"}, {"X", "Y", "real", "imag", "Depth"}},
        {{"v", "u", "Zback", "Z"}, {"Z", "Zback", "u", "v"}},
        {{"b.X", "a.Z", "b.Z", "a.Y"}, {"a.Y", "a.Z", "b.X", "b.Z"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t count = 0, order[7];
        while (count < 7 && cases[i].stored[count])
            count++;
        txm_exr_channel_order(cases[i].stored, count, order);
        for (uint32_t c = 0; c < count; c++)
            ck_assert_msg(strcmp(cases[i].stored[order[c]], cases[i].delivered[c]) == 0, "case %zu: %s as channel %u",
                          i, cases[i].stored[order[c]], c);
    }
}
END_TEST

/* ---- files ---- */

typedef struct kind {
    exr_compression_t compression;
    bool is_float, tiled;
    uint32_t channels;
    int noise; /* 0: smooth; else so many random bits */
} kind;

enum { WIDTH = 301, HEIGHT = 143 };

static uint32_t sample(const kind *k, uint32_t x, uint32_t y, uint32_t c)
{
    uint32_t hash = (x * 2654435761u) ^ (y * 40503u + c * 977u) * 2246822519u;
    hash ^= hash >> 15;
    uint32_t random = k->noise ? hash & ((1u << k->noise) - 1) : 0;
    if (k->is_float)
        return 0x3f000000u + (x << 10) + (y << 14) + random;
    return (0x3800 + x + 3 * y + 100 * c + random) & 0xffff;
}

/* Names in the file's order; delivered are R, G, B, A. */
static const char *const names[][4] = {{"Y"}, {"A", "Y"}, {"B", "G", "R"}, {"A", "B", "G", "R"}};
static const int delivered[][4] = {{0}, {1, 0}, {2, 1, 0}, {3, 2, 1, 0}};

static void write_chunk(exr_context_t f, const kind *k, exr_encode_pipeline_t *e, const exr_chunk_info_t *chunk,
                        uint32_t x0, uint32_t y0, bool first)
{
    uint32_t bytes = k->is_float ? 4 : 2;
    ck_assert_int_eq(first ? exr_encoding_initialize(f, 0, chunk, e) : exr_encoding_update(f, 0, chunk, e), 0);
    size_t plane = (size_t)chunk->width * (size_t)chunk->height * (size_t)bytes;
    uint8_t *pixels = malloc(plane * k->channels);
    for (uint32_t c = 0; c < k->channels; c++) {
        uint8_t *p = pixels + c * plane;
        for (int32_t y = 0; y < chunk->height; y++)
            for (int32_t x = 0; x < chunk->width; x++, p += bytes) {
                uint32_t v = sample(k, x0 + (uint32_t)x, y0 + (uint32_t)y, c);
                memcpy(p, &v, bytes);
            }
        e->channels[c].encode_from_ptr = pixels + c * plane;
        e->channels[c].user_pixel_stride = (int32_t)bytes;
        e->channels[c].user_line_stride = chunk->width * (int32_t)bytes;
        e->channels[c].user_bytes_per_element = (int16_t)bytes;
        e->channels[c].user_data_type = e->channels[c].data_type;
    }
    if (first)
        ck_assert_int_eq(exr_encoding_choose_default_routines(f, 0, e), 0);
    ck_assert_int_eq(exr_encoding_run(f, 0, e), 0);
    free(pixels);
}

static void write_exr(const kind *k)
{
    exr_context_t f;
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_encode_pipeline_t e = {0};
    int part = 0;
    ck_assert_int_eq(exr_start_write(&f, path, EXR_WRITE_FILE_DIRECTLY, &init), 0);
    ck_assert_int_eq(exr_add_part(f, "p", k->tiled ? EXR_STORAGE_TILED : EXR_STORAGE_SCANLINE, &part), 0);
    ck_assert_int_eq(exr_initialize_required_attr_simple(f, 0, WIDTH, HEIGHT, k->compression), 0);
    if (k->tiled)
        ck_assert_int_eq(exr_set_tile_descriptor(f, 0, 48, 80, EXR_TILE_ONE_LEVEL, EXR_TILE_ROUND_DOWN), 0);
    for (uint32_t c = 0; c < k->channels; c++)
        ck_assert_int_eq(exr_add_channel(f, 0, names[k->channels - 1][c],
                                         k->is_float ? EXR_PIXEL_FLOAT : EXR_PIXEL_HALF, EXR_PERCEPTUALLY_LOGARITHMIC,
                                         1, 1),
                         0);
    ck_assert_int_eq(exr_write_header(f), 0);
    exr_chunk_info_t chunk;
    bool first = true;
    int32_t lines = 80;
    if (!k->tiled)
        ck_assert_int_eq(exr_get_scanlines_per_chunk(f, 0, &lines), 0);
    for (uint32_t y = 0; y < HEIGHT; y += (uint32_t)lines)
        for (uint32_t x = 0; x < (k->tiled ? WIDTH : 1); x += 48, first = false) {
            ck_assert_int_eq(k->tiled ? exr_write_tile_chunk_info(f, 0, (int)x / 48, (int)y / 80, 0, 0, &chunk)
                                      : exr_write_scanline_chunk_info(f, 0, (int)y, &chunk),
                             0);
            write_chunk(f, k, &e, &chunk, x, y, first);
        }
    exr_encoding_destroy(f, &e);
    ck_assert_int_eq(exr_finish(&f), 0);
}

static txm_status read_and_compare(const kind *k, uint32_t band_rows, txm_error *err)
{
    txm_source *s = NULL;
    txm_status status = txm_source_open(path, NULL, &s, err);
    if (status != TXM_OK)
        return status;
    const txm_source_info *i = txm_source_info_of(s);
    uint32_t bytes = k->is_float ? 4 : 2;
    size_t stride = (size_t)WIDTH * k->channels * bytes;
    uint8_t *band = malloc(stride * band_rows);
    ck_assert_str_eq(i->reader, "exr");
    ck_assert_uint_eq(i->channels, k->channels);
    for (uint32_t y = 0; y < HEIGHT && status == TXM_OK; y += band_rows) {
        uint32_t rows = HEIGHT - y < band_rows ? HEIGHT - y : band_rows;
        status = txm_source_read(s, y, rows, band, stride, err);
        const uint8_t *p = band;
        for (uint32_t r = y; r < y + rows && status == TXM_OK; r++)
            for (uint32_t x = 0; x < WIDTH; x++)
                for (uint32_t c = 0; c < k->channels; c++, p += bytes) {
                    uint32_t v = sample(k, x, r, (uint32_t)delivered[k->channels - 1][c]);
                    if (memcmp(p, &v, bytes) != 0)
                        ck_abort_msg("pixel %u, %u channel %u differs", x, r, c);
                }
    }
    free(band);
    txm_source_close(&s);
    return status;
}

/* Few values leave room for signed differences in PIZ's wavelet; 15 and more random bits do not. */
static const kind kinds[] = {
    {EXR_COMPRESSION_NONE, false, false, 3, 4}, {EXR_COMPRESSION_NONE, true, true, 1, 20},
    {EXR_COMPRESSION_RLE, false, false, 4, 0},  {EXR_COMPRESSION_RLE, true, true, 2, 2},
    {EXR_COMPRESSION_ZIPS, false, false, 2, 5}, {EXR_COMPRESSION_ZIPS, true, false, 4, 0},
    {EXR_COMPRESSION_ZIP, false, false, 3, 3},  {EXR_COMPRESSION_ZIP, true, true, 4, 8},
    {EXR_COMPRESSION_ZIP, false, true, 1, 0},   {EXR_COMPRESSION_PIZ, false, false, 3, 0},
    {EXR_COMPRESSION_PIZ, false, false, 1, 6},  {EXR_COMPRESSION_PIZ, false, true, 4, 3},
    {EXR_COMPRESSION_PIZ, false, false, 4, 16}, {EXR_COMPRESSION_PIZ, false, false, 2, 13},
    {EXR_COMPRESSION_PIZ, true, false, 3, 9},   {EXR_COMPRESSION_PIZ, true, true, 1, 0},
    {EXR_COMPRESSION_PIZ, true, false, 4, 20},  {EXR_COMPRESSION_PIZ, true, true, 2, 12},
};

START_TEST(reads_what_openexr_writes)
{
    static const uint32_t bands[] = {64, 1, 37, HEIGHT};
    write_exr(&kinds[_i]);
    for (size_t b = 0; b < sizeof bands / sizeof bands[0]; b++) {
        txm_error err = {0};
        ck_assert_msg(read_and_compare(&kinds[_i], bands[b], &err) == TXM_OK, "%s", err.message);
    }
}
END_TEST

START_TEST(truncation)
{
    const kind *k = &kinds[_i];
    struct stat st;
    write_exr(k);
    ck_assert_int_eq(stat(path, &st), 0);
    for (int part = 9; part > 0; part--) {
        txm_error err = {0};
        ck_assert_int_eq(truncate(path, st.st_size * part / 10), 0);
        txm_status status = read_and_compare(k, 64, &err);
        /* Of a header cut short OpenImageIO may say that it knows no such format. */
        ck_assert_msg(status == TXM_STATUS_CORRUPT || status == TXM_STATUS_UNSUPPORTED, "%s", err.message);
        ck_assert_ptr_nonnull(strstr(err.message, path));
    }
}
END_TEST

/* Bytes that lie: after the header only, because another reader is asked about broken headers. */
START_TEST(damaged_blocks)
{
    const kind *k = &kinds[_i];
    struct stat st;
    unsigned seed = (unsigned)_i + 1;
    write_exr(k);
    FILE *f = fopen(path, "r+b");
    ck_assert_int_eq(fstat(fileno(f), &st), 0);
    for (int round = 0; round < 40; round++) {
        long at = 2000 + (long)((unsigned)rand_r(&seed) % (unsigned)(st.st_size - 2000));
        fseek(f, at, SEEK_SET);
        int old = fgetc(f);
        fseek(f, at, SEEK_SET);
        fputc(rand_r(&seed) & 255, f);
        fflush(f);
        txm_source *s = NULL;
        ck_assert_int_eq(txm_source_open(path, NULL, &s, NULL), TXM_OK);
        uint8_t *rows = malloc((size_t)WIDTH * HEIGHT * 16);
        txm_source_read(s, 0, HEIGHT, rows, (size_t)WIDTH * 16, NULL); /* right or refused, never a crash */
        free(rows);
        txm_source_close(&s);
        fseek(f, at, SEEK_SET);
        fputc(old, f);
    }
    fclose(f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source_exr");
    TCase *codecs = add_case(suite, "codecs"), *exr = add_case(suite, "files");
    int count = sizeof kinds / sizeof kinds[0];
    add_tests(codecs, unpredict_every_size, runs, channel_order);
    tcase_add_checked_fixture(exr, make_path, remove_path);
    tcase_add_loop_test(exr, reads_what_openexr_writes, 0, count);
    tcase_add_loop_test(exr, truncation, 0, count);
    tcase_add_loop_test(exr, damaged_blocks, 0, count);
    return run_suite(suite);
}
