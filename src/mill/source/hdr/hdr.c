/* SPDX-License-Identifier: Apache-2.0
 *
 * The direct reader of Radiance pictures (.hdr): rows of shared-exponent pixels, plain, with the runs of today (each
 * component of a row by itself) or with those of before 1991 (a pixel, then how often it repeats), which OpenImageIO
 * takes for pixels.
 *
 * Headers that are in any way unusual are left to OpenImageIO.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mill/source/raster_file.h"
#include "mill/source/readers.h"
#include "tile/base/endian.h"
#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/base/text.h"

enum {
    LINE_BYTES = 128, /* OpenImageIO reads lines into as much */
    HEADER_LINES = 1000,
    MIN_RUN_WIDTH = 8, /* of rows that may be in runs of components */
    MAX_RUN_WIDTH = 0x7FFF,
    PIXEL_BYTES = 4, /* mantissas of red, green, blue; exponent */
    CHANNELS = 3
};

typedef struct hdr {
    char *path;
    txm_raster_file file;
    uint32_t width, height;
    uint64_t data;    /* where the pixels begin */
    bool plain;       /* exactly as many bytes as pixels need: nothing in them is a run */
    uint8_t *row;     /* one row as in the file, its runs undone */
    uint8_t *parts;   /* the same, component after component */
    float scale[256]; /* of each exponent */
} hdr;

/* Takes a picture at any stage, NULL included. */
static void close_image(void *self)
{
    hdr *h = self;
    if (!h)
        return;
    txm_raster_file_close(&h->file);
    free(h->row);
    free(h->parts);
    free(h->path);
    free(h);
}

/* "#?RADIANCE" or "#?RGBE": what follows is a program's name, and not to be relied on. */
static bool probe(const uint8_t *head, size_t head_bytes, const char *path)
{
    (void)path;
    return head_bytes >= 2 && memcmp(head, "#?", 2) == 0;
}

/* ---- the header ------------------------------------------------------------------------------------------------- */

/* The sentence ends in what is unusual. */
static txm_status refuse(const hdr *h, const char *what, txm_error *err)
{
    return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: a Radiance picture with %s is not read directly", h->path, what);
}

/* One line without its end. False at the end of the file and for lines that are too long. */
static bool get_line(hdr *h, char line[LINE_BYTES])
{
    for (size_t n = 0; n < LINE_BYTES - 1; n++) {
        uint8_t byte;
        if (!txm_raster_file_get(&h->file, &byte, 1))
            return false;
        if (byte == '\n' || byte == 0) {
            line[n] = 0;
            return byte == '\n';
        }
        line[n] = (char)byte;
    }
    return false;
}

/* To the empty line. Lines that nobody needs are skipped; those that change pixels are refused or applied.
 * EXPOSURE is not applied, as in OpenImageIO. The bound on lines keeps a file without an empty one from
 * being read to its end. */
static txm_status read_lines(hdr *h, txm_source_info *info, txm_error *err)
{
    char line[LINE_BYTES];
    static const char gamma_is[] = "GAMMA=";
    bool format = false;
    strcpy(info->colorspace_hint, TXM_INTEROP_LINEAR);
    for (int i = 0; i < HEADER_LINES && get_line(h, line); i++) {
        char *end;
        if (!*line)
            return format ? TXM_OK : refuse(h, "another encoding of pixels", err);
        if (strcmp(line, "FORMAT=32-bit_rle_rgbe") == 0)
            format = true;
        if (strncmp(line, gamma_is, sizeof gamma_is - 1) != 0)
            continue;
        float gamma = txm_parse_float(line + sizeof gamma_is - 1, &end);
        if (end > line + sizeof gamma_is - 1)
            txm_source_hint_gamma(info, 1.0f / gamma);
    }
    return refuse(h, "an odd header", err);
}

/* The size in pixels; rows come one after the other, from whichever side, as OpenImageIO delivers them. */
static txm_status read_size(hdr *h, txm_error *err)
{
    char line[LINE_BYTES], y_sign, x_sign;
    long width, height;
    int end = 0;
    if (!get_line(h, line) || sscanf(line, "%cY %9ld %cX %9ld%n", &y_sign, &height, &x_sign, &width, &end) != 4 ||
        line[end] || !strchr("+-", y_sign) || !strchr("+-", x_sign) || width < 1 || height < 1)
        return refuse(h, "columns in place of rows, or without a size,", err);
    if (width > TXM_MAX_SIZE_PX || height > TXM_MAX_SIZE_PX)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: %ld x %ld px; the limit is %d px per side", h->path, width,
                        height, TXM_MAX_SIZE_PX);
    h->width = (uint32_t)width;
    h->height = (uint32_t)height;
    h->data = txm_raster_file_tell(&h->file);
    return TXM_OK;
}

/* Mantissas are 0 to 255, not 0 to 1. Exponent 0 stands for black. */
static void fill_scale(float scale[256])
{
    /* Powers that OpenImageIO's table has one unit in the last place too low: the same file must give the same bits. */
    static const int low[] = {40, 223, 226};
    for (int e = 1; e < 256; e++)
        scale[e] = ldexpf(1.0f, e - (128 + 8));
    for (size_t i = 0; i < sizeof low / sizeof *low; i++)
        scale[low[i]] = nextafterf(scale[low[i]], 0.0f);
}

/* A file of exactly the size of its pixels has no runs. */
static txm_status prepare(hdr *h, const txm_source_options *options, txm_error *err)
{
    size_t row = (size_t)h->width * PIXEL_BYTES;
    struct stat st;
    if (fstat(h->file.fd, &st) != 0)
        return txm_fail_errno(err, errno, "%s: cannot be examined", h->path);
    h->plain = (uint64_t)st.st_size - h->data == (uint64_t)row * h->height;
    if (options->max_memory_bytes && 2 * row > options->max_memory_bytes)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: its rows need %zu bytes to decode, the limit is %llu", h->path,
                        2 * row, (unsigned long long)options->max_memory_bytes);
    if (!(h->row = txm_alloc_pixels(row, 1)) || !(h->parts = txm_alloc_pixels(row, 1)))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory to decode %u px wide rows", h->path, h->width);
    fill_scale(h->scale);
    return TXM_OK;
}

/* Float, although eight bits of mantissa would fit half: the range of exponents would not. */
static void describe(const hdr *h, txm_source_info *info)
{
    info->width = h->width;
    info->height = h->height;
    info->file_channels = info->channels = CHANNELS;
    info->type = TXM_TYPE_FLOAT;
    info->file_alpha = TXM_FILE_ALPHA_SILENT;
    strcpy(info->format, "hdr");
    strcpy(info->reader, "hdr");
}

/* UNSUPPORTED hands the file on to OpenImageIO, so anything odd is refused rather than guessed at. */
static txm_status open_image(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                             txm_error *err)
{
    hdr *h = txm_calloc(1, sizeof *h);
    if (!h || !(h->path = txm_strdup(path))) {
        free(h);
        return txm_no_memory(err, path);
    }
    txm_status status = txm_raster_file_open(&h->file, path, err);
    if (status == TXM_OK)
        status = read_lines(h, info, err);
    if (status == TXM_OK)
        status = read_size(h, err);
    if (status == TXM_OK)
        status = prepare(h, options, err);
    if (status != TXM_OK) {
        close_image(h);
        return status;
    }
    describe(h, info);
    *self = h;
    return TXM_OK;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

/* Damage and a failing disk must not be confused: one is final, the other may be tried again. */
static txm_status ended(const hdr *h, uint32_t y, txm_error *err)
{
    if (h->file.sys_errno)
        return txm_fail_errno(err, h->file.sys_errno, "%s: row %u: reading failed", h->path, y);
    return txm_fail(err, TXM_STATUS_CORRUPT, "%s: row %u: the file ends here: it is truncated", h->path, y);
}

/* Each component by itself: 1 to 128 literal bytes after their number, or one byte that stands for up to 127. */
static txm_status read_components(hdr *h, uint32_t y, txm_error *err)
{
    for (size_t at = 0; at < (size_t)h->width * PIXEL_BYTES;) {
        size_t left = h->width - at % h->width; /* no run reaches into the next component */
        uint8_t code, value;
        if (!txm_raster_file_get(&h->file, &code, 1))
            return ended(h, y, err);
        size_t count = code > 128 ? code - 128u : code;
        if (count == 0 || count > left)
            return txm_fail(err, TXM_STATUS_CORRUPT, "%s: row %u: a run of %zu where %zu are left: the data is damaged",
                            h->path, y, count, left);
        if (code > 128) {
            if (!txm_raster_file_get(&h->file, &value, 1))
                return ended(h, y, err);
            memset(h->parts + at, value, count);
        } else if (!txm_raster_file_get(&h->file, h->parts + at, count)) {
            return ended(h, y, err);
        }
        at += count;
    }
    for (uint32_t x = 0; x < h->width; x++)
        for (uint32_t c = 0; c < PIXEL_BYTES; c++)
            h->row[x * PIXEL_BYTES + c] = h->parts[c * h->width + x];
    return TXM_OK;
}

/* Pixels, of which one with three mantissas of 1 says how often the one before it repeats; of several such in a row
 * each counts 256 times the one before it. `first` was read already. */
static txm_status read_pixels(hdr *h, uint32_t y, const uint8_t first[PIXEL_BYTES], txm_error *err)
{
    uint8_t pixel[PIXEL_BYTES];
    unsigned shift = 0;
    memcpy(pixel, first, sizeof pixel);
    for (uint32_t x = 0;;) {
        bool run = !h->plain && pixel[0] == 1 && pixel[1] == 1 && pixel[2] == 1;
        uint64_t count = run ? (uint64_t)pixel[3] << shift : 1;
        if (run && (x == 0 || count > h->width - x || shift > 16))
            return txm_fail(err, TXM_STATUS_CORRUPT,
                            "%s: row %u: an impossible run of %llu pixels: the data is damaged", h->path, y,
                            (unsigned long long)count);
        for (uint64_t i = 0; i < count; i++, x++)
            memcpy(h->row + (size_t)x * PIXEL_BYTES, run ? h->row + (size_t)(x - 1) * PIXEL_BYTES : pixel, PIXEL_BYTES);
        shift = run ? shift + 8 : 0;
        if (x == h->width)
            return TXM_OK;
        if (!txm_raster_file_get(&h->file, pixel, sizeof pixel))
            return ended(h, y, err);
    }
}

/* Two bytes of 2 and the width announce the newer runs; anything else is a pixel. */
static txm_status read_row(hdr *h, uint32_t y, txm_error *err)
{
    uint8_t first[PIXEL_BYTES];
    if (!txm_raster_file_get(&h->file, first, sizeof first))
        return ended(h, y, err);
    bool components =
        h->width >= MIN_RUN_WIDTH && h->width <= MAX_RUN_WIDTH && first[0] == 2 && first[1] == 2 && !(first[2] & 0x80);
    if (!components)
        return read_pixels(h, y, first, err);
    uint32_t width = txm_load_be16(first + 2);
    if (width != h->width)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: row %u: is %u px wide in a picture of %u: the data is damaged",
                        h->path, y, width, h->width);
    return read_components(h, y, err);
}

/* The shared exponent is a table of 256 scales. */
static txm_status read_rows(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    hdr *h = self;
    for (uint32_t r = 0; r < rows; r++) {
        txm_status status = read_row(h, y + r, err);
        if (status != TXM_OK)
            return status;
        float *out = (float *)(void *)((uint8_t *)dst + r * stride_bytes);
        for (uint32_t x = 0; x < h->width; x++) {
            const uint8_t *p = h->row + (size_t)x * PIXEL_BYTES;
            for (int c = 0; c < CHANNELS; c++)
                *out++ = (float)p[c] * h->scale[p[3]];
        }
    }
    return TXM_OK;
}

/* No state goes from row to row, so the place in the file is all. */
static txm_status rewind_image(void *self, txm_error *err)
{
    hdr *h = self;
    (void)err;
    txm_raster_file_seek(&h->file, h->data);
    return TXM_OK;
}

const txm_reader_ops txm_hdr_reader = {"hdr", probe, open_image, read_rows, rewind_image, close_image, NULL, NULL};
