/* SPDX-License-Identifier: Apache-2.0
 *
 * Radiance pictures: as OpenImageIO reads them; runs of the old kind as the same picture without runs; hostile bytes.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mill/source/source.h"
#include "tile/base/bytes.h"
#include "tile/base/mem.h"
#include "util_check.h"

#define HEADER "#?RADIANCE\n# made by hand\nFORMAT=32-bit_rle_rgbe\n\n"

/* ---- files ------------------------------------------------------------------------------------------------------ */

/* A file that ends in .hdr, by which OpenImageIO goes. */
static char *write_file(const void *data, size_t bytes)
{
    char *path = txm_strdup("/tmp/txm-XXXXXX.hdr");
    int fd = mkstemps(path, 4);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, data, bytes), (ssize_t)bytes);
    close(fd);
    return path;
}

/* Reads all pixels; NULL and *err on failure. Frees nothing of the caller's. */
static float *decode(const char *path, bool oiio, txm_source_info *info, txm_error *err)
{
    const txm_source_options options = {.force_oiio = oiio};
    txm_source *s = NULL;
    float *pixels = NULL;
    *err = (txm_error){0};
    if (txm_source_open(path, &options, &s, err) != TXM_OK)
        return NULL;
    *info = *txm_source_info_of(s);
    size_t stride = (size_t)info->width * info->channels * sizeof(float);
    ck_assert_str_eq(info->reader, oiio ? "oiio" : "hdr");
    ck_assert_int_eq(info->type, TXM_TYPE_FLOAT);
    pixels = malloc(stride * info->height);
    if (txm_source_read(s, 0, info->height, pixels, stride, err) != TXM_OK) {
        free(pixels);
        pixels = NULL;
    }
    txm_source_close(&s);
    return pixels;
}

/* The same for bytes. The message of a failure names the file. */
static float *decode_bytes(const void *data, size_t bytes, txm_source_info *info, txm_error *err)
{
    char *path = write_file(data, bytes);
    float *pixels = decode(path, false, info, err);
    ck_assert(pixels || (err->status != TXM_OK && strstr(err->message, path)));
    unlink(path);
    free(path);
    return pixels;
}

static txm_status fails(const txm_bytes *file, const char *words)
{
    txm_source_info info;
    txm_error err;
    ck_assert_ptr_null(decode_bytes(file->data, file->size, &info, &err));
    ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
    return err.status;
}

static void add(txm_bytes *b, const void *data, size_t bytes)
{
    ck_assert(txm_bytes_add(b, data, bytes));
}

static txm_bytes begin(const char *header, const char *size)
{
    txm_bytes b = {0};
    ck_assert(txm_bytes_printf(&b, "%s%s\n", header, size));
    return b;
}

/* Some pixels, each with a mantissa of 128 or more, as writers make them. */
static void add_pixels(txm_bytes *b, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const uint8_t p[4] = {(uint8_t)(128 + i % 100), (uint8_t)(i * 7), (uint8_t)(i * 13), (uint8_t)(100 + i % 60)};
        add(b, p, 4);
    }
}

/* ---- as OpenImageIO ------------------------------------------------------------------------------------------- */

static void compare(const txm_bytes *file)
{
    char *path = write_file(file->data, file->size);
    txm_source_info ours, theirs;
    txm_error err;
    float *a = decode(path, false, &ours, &err), *b;
    ck_assert_msg(a != NULL, "%s", err.message);
    b = decode(path, true, &theirs, &err);
    ck_assert_msg(b != NULL, "%s", err.message);
    ck_assert_uint_eq(ours.width, theirs.width);
    ck_assert_uint_eq(ours.height, theirs.height);
    ck_assert_uint_eq(ours.file_channels, theirs.file_channels);
    ck_assert_str_eq(ours.colorspace_hint, theirs.colorspace_hint);
    ck_assert_mem_eq(a, b, (size_t)ours.width * ours.height * 3 * sizeof(float));
    free(a);
    free(b);
    unlink(path);
    free(path);
}

START_TEST(headers_as_openimageio)
{
    static const char *const headers[] = {
        HEADER, "#?RGBE\nFORMAT=32-bit_rle_rgbe\n\n", "#?RADIANCE\nGAMMA=1.0\nEXPOSURE=2.5\nFORMAT=32-bit_rle_rgbe\n\n",
        "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\nGAMMA=0.454545\nSOFTWARE=a tool\n\n",
        "#?RADIANCE\nGAMMA=0.5555\nPRIMARIES=0.64 0.33 0.3 0.6 0.15 0.06 0.3127 0.329\nFORMAT=32-bit_rle_rgbe\n\n"};
    static const char *const sizes[] = {"-Y 3 +X 5", "+Y 3 +X 5", "-Y 3 -X 5", "+Y 3 -X 5"};
    for (size_t h = 0; h < sizeof headers / sizeof *headers; h++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            txm_bytes file = begin(headers[h], sizes[s]);
            add_pixels(&file, 15);
            compare(&file);
            txm_bytes_free(&file);
        }
    }
}
END_TEST

/* All exponents, mantissas of 0 and 1 among them, and pixels that would be runs were the file not full without. */
START_TEST(pixels_as_openimageio)
{
    txm_bytes file = begin(HEADER, "-Y 3 +X 256");
    for (int row = 0; row < 3; row++) {
        for (int e = 0; e < 256; e++) {
            const uint8_t p[4] = {row == 2 ? 1 : (uint8_t)(e ^ 0x85), 1, (uint8_t)(row == 2 ? 1 : 255 - e), (uint8_t)e};
            add(&file, p, 4);
        }
    }
    compare(&file);
    txm_bytes_free(&file);
}
END_TEST

START_TEST(runs_of_components_as_openimageio)
{
    txm_bytes file = begin(HEADER, "-Y 2 +X 300");
    const uint8_t start[4] = {2, 2, 300 >> 8, 300 & 255};
    for (int row = 0; row < 2; row++) {
        add(&file, start, 4);
        for (int c = 0; c < 4; c++) {
            const uint8_t run[2] = {128 + 127, (uint8_t)(130 + c)}, most = 128, rest[2] = {128 + 45, 7};
            uint8_t literal[128];
            for (int i = 0; i < 128; i++)
                literal[i] = (uint8_t)(100 + i / 3 + row + c);
            add(&file, run, 2);
            add(&file, &most, 1);
            add(&file, literal, sizeof literal);
            add(&file, rest, 2);
        }
    }
    compare(&file);
    txm_bytes_free(&file);
}
END_TEST

/* ---- runs of the old kind --------------------------------------------------------------------------------------- */

START_TEST(old_runs_are_the_same_picture)
{
    char *old = txm_asprintf("%s/sources/old-rle.hdr", getenv("TXM_TESTDATA")),
         *flat = txm_asprintf("%s/sources/flat.hdr", getenv("TXM_TESTDATA"));
    txm_source_info a_info, b_info;
    txm_error err;
    float *a = decode(old, false, &a_info, &err), *b = decode(flat, true, &b_info, &err);
    ck_assert_msg(a && b, "%s", err.message);
    ck_assert_int_lt(a_info.file_bytes, b_info.file_bytes);
    ck_assert_uint_eq(a_info.width, b_info.width);
    ck_assert_uint_eq(a_info.height, b_info.height);
    ck_assert_mem_eq(a, b, (size_t)a_info.width * a_info.height * 3 * sizeof(float));
    free(a);
    free(b);
    free(old);
    free(flat);
}
END_TEST

/* Runs longer than 255 pixels: a second count of 256s, a third of 65536s. */
START_TEST(counts_add_up)
{
    enum { WIDTH = 40000 };
    static const uint8_t data[] = {200, 100, 50, 129,  /* a pixel */
                                   1,   1,   1,  0x3F, /* 63 times more */
                                   1,   1,   1,  0x9C, /* and 156 * 256 times */
                                   10,  250, 20, 130}; /* the last one */
    txm_bytes file = begin(HEADER, "-Y 2 +X 40001");
    txm_source_info info;
    txm_error err;
    add(&file, data, sizeof data);
    add(&file, data, sizeof data);
    float *p = decode_bytes(file.data, file.size, &info, &err);
    ck_assert_msg(p != NULL, "%s", err.message);
    for (size_t i = 0; i < 2 * (WIDTH + 1); i++) {
        bool last = i % (WIDTH + 1) == WIDTH;
        ck_assert_float_eq(p[3 * i], (last ? 40.0f : 400.0f) / 256);
        ck_assert_float_eq(p[3 * i + 1], (last ? 1000.0f : 200.0f) / 256);
    }
    free(p);
    txm_bytes_free(&file);
}
END_TEST

/* ---- hostile ---------------------------------------------------------------------------------------------------- */

START_TEST(impossible_runs)
{
    static const struct {
        const char *size;
        uint8_t data[16];
        size_t bytes;
        const char *words;
    } files[] = {{"-Y 1 +X 5", {1, 1, 1, 3}, 4, "impossible run"},                            /* of nothing */
                 {"-Y 1 +X 5", {200, 1, 1, 1, 1, 1, 1, 5}, 8, "impossible run"},              /* beyond the row */
                 {"-Y 1 +X 5", {9, 9, 9, 9, 1, 1, 1, 0, 1, 1, 1, 255}, 12, "impossible run"}, /* 255 * 256 */
                 {"-Y 1 +X 5", {9, 9, 9, 9, 1, 1, 1, 2}, 8, "truncated"},
                 {"-Y 1 +X 9", {2, 2, 0, 8}, 4, "8 px wide in a picture of 9"},
                 {"-Y 1 +X 9", {2, 2, 0, 9, 0}, 5, "a run of 0"},
                 {"-Y 1 +X 9", {2, 2, 0, 9, 10}, 5, "a run of 10 where 9"},
                 {"-Y 1 +X 9", {2, 2, 0, 9, 128 + 10, 1}, 6, "a run of 10 where 9"},
                 {"-Y 1 +X 9", {2, 2, 0, 9, 3, 1}, 6, "truncated"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        txm_bytes file = begin(HEADER, files[i].size);
        add(&file, files[i].data, files[i].bytes);
        ck_assert_int_eq(fails(&file, files[i].words), TXM_STATUS_CORRUPT);
        txm_bytes_free(&file);
    }
}
END_TEST

/* Zero counts say nothing for ever; the shift that they make must not overflow. */
START_TEST(counts_of_zero)
{
    txm_bytes file = begin(HEADER, "-Y 1 +X 5");
    const uint8_t pixel[4] = {200, 1, 2, 128}, zero[4] = {1, 1, 1, 0};
    add(&file, pixel, 4);
    for (int i = 0; i < 100; i++)
        add(&file, zero, 4);
    ck_assert_int_eq(fails(&file, "impossible run"), TXM_STATUS_CORRUPT);
    txm_bytes_free(&file);
}
END_TEST

START_TEST(sizes_are_bounded)
{
    txm_bytes file = begin(HEADER, "-Y 3 +X 65537");
    ck_assert_int_eq(fails(&file, "the limit is 65536"), TXM_STATUS_TOO_LARGE);
    txm_bytes_free(&file);
    file = begin(HEADER, "-Y 65536 +X 65536");
    ck_assert_int_eq(fails(&file, "truncated"), TXM_STATUS_CORRUPT);
    char *path = write_file(file.data, file.size);
    txm_source *s = NULL;
    const txm_source_options tight = {.max_memory_bytes = 100000};
    ck_assert_int_eq(txm_source_open(path, &tight, &s, NULL), TXM_STATUS_TOO_LARGE);
    unlink(path);
    free(path);
    txm_bytes_free(&file);
}
END_TEST

/* What is left to OpenImageIO, which refuses it in its own words. */
START_TEST(odd_headers)
{
    static const char *const headers[] = {
        "#?RADIANCE\n", "#?RADIANCE\nFORMAT=32-bit_rle_xyze\n\n-Y 2 +X 2\n", "#?RADIANCE\n\n-Y 2 +X 2\n",
        "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 0 +X 2\n", "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\nno size\n"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        txm_source_info info;
        txm_error err;
        ck_assert_ptr_null(decode_bytes(headers[i], strlen(headers[i]), &info, &err));
        ck_assert_int_ne(err.status, TXM_OK);
    }
}
END_TEST

/* Cut anywhere after the header, and with any byte of the data wrong: an error or pixels, never more. */
START_TEST(cut_and_damaged)
{
    txm_bytes file = begin(HEADER, "-Y 2 +X 9");
    const uint8_t old[] = {200, 1, 2, 128, 1, 1, 1, 8}, start[] = {2, 2, 0, 9}, part[] = {128 + 4, 9, 5, 1, 2, 3, 4, 5};
    size_t header = file.size;
    txm_source_info info;
    txm_error err;
    add(&file, old, sizeof old);
    add(&file, start, sizeof start);
    for (int c = 0; c < 4; c++)
        add(&file, part, sizeof part);
    float *whole = decode_bytes(file.data, file.size, &info, &err);
    ck_assert_msg(whole != NULL, "%s", err.message);
    free(whole);
    for (size_t n = header; n < file.size; n++) {
        ck_assert_ptr_null(decode_bytes(file.data, n, &info, &err));
        ck_assert_int_eq(err.status, TXM_STATUS_CORRUPT);
    }
    for (size_t i = header; i < file.size; i++) {
        for (int bit = 0; bit < 8; bit++) {
            file.data[i] ^= (char)(1 << bit);
            free(decode_bytes(file.data, file.size, &info, &err));
            file.data[i] ^= (char)(1 << bit);
        }
    }
    txm_bytes_free(&file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source_hdr");
    TCase *t = add_case(suite, "hdr");
    add_tests(t, headers_as_openimageio, pixels_as_openimageio, runs_of_components_as_openimageio,
              old_runs_are_the_same_picture, counts_add_up, impossible_runs, counts_of_zero, sizes_are_bounded,
              odd_headers, cut_and_damaged);
    tcase_set_timeout(t, 60);
    return run_suite(suite);
}
