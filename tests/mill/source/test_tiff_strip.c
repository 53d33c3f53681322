/* SPDX-License-Identifier: Apache-2.0
 *
 * Strips as streams: those of libtiff, in pieces of any size; cut short and damaged. */
#include <fcntl.h>
#include <sys/mman.h>
#include <tiffio.h>

#include "mill/source/tiff/tiff_strip.h"
#include "util_check.h"

enum { WIDTH = 500, HEIGHT = 90, BYTES = WIDTH * HEIGHT };

enum { STORED = 3, CONTENTS };

/* Makes noise, runs, and a mixture of both; STORED is runs that are not compressed. */
static void fill(uint8_t pixels[BYTES], int content)
{
    unsigned seed = 7;
    for (int i = 0; i < BYTES; i++) {
        bool noise = content == 0 || (content == 2 && i / 700 % 2);
        pixels[i] = noise ? (uint8_t)rand_r(&seed) : (uint8_t)(i / 300);
    }
}

/* Writes one strip to a file as libtiff does. */
typedef struct sample {
    int fd;
    uint64_t offset, bytes;
    uint8_t pixels[BYTES];
} sample;

static void make(sample *s, int content)
{
    char path[64];
    fill(s->pixels, content);
    s->fd = memfd_create("strip", MFD_CLOEXEC);
    ck_assert_int_ge(s->fd, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", s->fd);
    TIFF *t = TIFFOpen(path, "w");
    ck_assert_ptr_nonnull(t);
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, HEIGHT);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(t, TIFFTAG_COMPRESSION, content == STORED ? COMPRESSION_NONE : COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, HEIGHT);
    for (uint32_t y = 0; y < HEIGHT; y++)
        ck_assert_int_eq(TIFFWriteScanline(t, s->pixels + y * WIDTH, y, 0), 1);
    TIFFClose(t);
    ck_assert_ptr_nonnull(t = TIFFOpen(path, "rc")); /* a strip without compression stays one */
    s->offset = TIFFGetStrileOffset(t, 0);
    s->bytes = TIFFGetStrileByteCount(t, 0);
    TIFFClose(t);
}

/* All bytes before the cut are correct, and then the stream ends. */
TESTS(cut_short, CONTENTS - 2)
{
    static sample s;
    static uint8_t got[BYTES];
    const int content = _i + 2;
    make(&s, content);
    txm_tiff_strip *strip = txm_tiff_strip_new(s.fd, content != STORED);
    for (uint64_t bytes = 0; bytes + 8 < s.bytes; bytes += 1 + bytes / 50) {
        size_t at = 0;
        if (txm_tiff_strip_begin(strip, s.offset, bytes))
            while (at < BYTES && txm_tiff_strip_read(strip, got + at, 1))
                at++;
        ck_assert_uint_lt(at, BYTES);
        ck_assert_mem_eq(got, s.pixels, at);
        ck_assert(*txm_tiff_strip_reason(strip));
    }
    /* The file may also be shorter than the strip claims. */
    ck_assert_int_eq(ftruncate(s.fd, (off_t)(s.offset + s.bytes / 2)), 0);
    ck_assert(txm_tiff_strip_begin(strip, s.offset, s.bytes));
    ck_assert(!txm_tiff_strip_read(strip, got, BYTES));
    ck_assert_ptr_nonnull(strstr(txm_tiff_strip_reason(strip), "file ends"));
    free(strip);
    close(s.fd);
}

/* Any byte may be wrong. The result is bytes or a refusal; sanitizers find the rest. */
TEST(damaged)
{
    static sample s;
    static uint8_t got[BYTES];
    make(&s, 2);
    txm_tiff_strip *strip = txm_tiff_strip_new(s.fd, true);
    unsigned seed = 1;
    for (int round = 0; round < 1500; round++) {
        off_t at = (off_t)(s.offset + (uint64_t)rand_r(&seed) % (round % 2 ? 40 : s.bytes));
        uint8_t old, bad = (uint8_t)rand_r(&seed);
        ck_assert_int_eq(pread(s.fd, &old, 1, at), 1);
        ck_assert_int_eq(pwrite(s.fd, &bad, 1, at), 1);
        if (txm_tiff_strip_begin(strip, s.offset, s.bytes) && !txm_tiff_strip_read(strip, got, BYTES))
            ck_assert(*txm_tiff_strip_reason(strip));
        ck_assert_int_eq(pwrite(s.fd, &old, 1, at), 1);
    }
    free(strip);
    close(s.fd);
}

TEST(refusals)
{
    static const struct {
        uint8_t data[8];
        size_t bytes;
    } inputs[] = {{{0x78, 0x9D, 1, 2}, 4}, /* the checksum of the header is wrong */
                  {{0x78, 0x9C, 0xFF}, 3}, /* no block begins like this */
                  {{0x78}, 1},
                  {{0}, 0}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        uint8_t out[64];
        SCOPED(close_descriptor) int fd = memfd_create("strip", MFD_CLOEXEC);
        ck_assert_int_eq(write(fd, inputs[i].data, inputs[i].bytes), (ssize_t)inputs[i].bytes);
        FREED txm_tiff_strip *strip = txm_tiff_strip_new(fd, true);
        ck_assert_msg(!txm_tiff_strip_begin(strip, 0, inputs[i].bytes) || !txm_tiff_strip_read(strip, out, sizeof out),
                      "input %zu", i);
        ck_assert(*txm_tiff_strip_reason(strip));
    }
}
