/* SPDX-License-Identifier: Apache-2.0
 * The direct TIFF reader with files that are too large for the corpus: strips of many megabytes, many channels, odd
 * blocks, and damage at every place. */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <tiffio.h>

#include "base/mem.h"
#include "mill/source/source.h"
#include "mill/source/tiff/tiff.h"
#include "util_check.h"
#include "util_faults.h"

static char path[64];

static void make_path(void)
{
    strcpy(path, "/tmp/txm-tiff-XXXXXX");
    SCOPED(close_descriptor) int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
}

static void remove_path(void)
{
    unlink(path);
}
FIXTURE(make_path, remove_path)

typedef struct layout {
    uint32_t width, height;
    uint16_t channels, bits, format, compression, predictor;
    uint32_t rows_per_strip, tile_w, tile_h; /* strips when tile_w is 0 */
    const char *mode;
    bool separate; /* a plane for each channel */
} layout;

/* Makes every byte of sample (x, y, c) from its place; writer and reader use the same function. EQUAL_ROWS rows are the
 * same. */
enum { EQUAL_ROWS = 4 };

static uint8_t byte_at(uint32_t x, uint32_t y, uint32_t c, uint32_t b)
{
    return (uint8_t)(x * (3 + c) + y / EQUAL_ROWS * 7 + c * 50 + b * 11);
}

/* Fills channels [c0, c0 + channels) of a part of a row. */
static void fill(uint8_t *dst, const layout *l, uint32_t x0, uint32_t w, uint32_t y, uint32_t c0, uint32_t channels)
{
    uint32_t bytes = l->bits / 8;
    for (uint32_t x = x0; x < x0 + w; x++)
        for (uint32_t c = c0; c < c0 + channels; c++)
            for (uint32_t b = 0; b < bytes; b++)
                *dst++ = byte_at(x, y, c, b);
}

static void write_tiles(TIFF *t, const layout *l, uint16_t plane, uint32_t channels)
{
    size_t pixel = (size_t)channels * l->bits / 8, row = l->tile_w * pixel;
    FREED uint8_t *tile = calloc(l->tile_h, row);
    for (uint32_t y = 0; y < l->height; y += l->tile_h)
        for (uint32_t x = 0; x < l->width; x += l->tile_w) {
            uint32_t w = l->width - x < l->tile_w ? l->width - x : l->tile_w;
            for (uint32_t r = 0; r < l->tile_h; r++)
                if (r % EQUAL_ROWS)
                    memcpy(tile + r * row, tile + (r - 1) * row, row);
                else
                    fill(tile + r * row, l, x, w, y + r, plane, channels);
            ck_assert_int_ge(TIFFWriteTile(t, tile, x, y, 0, plane), 0);
        }
}

static void write_strips(TIFF *t, const layout *l, uint16_t plane, uint32_t channels)
{
    size_t bytes = (size_t)l->width * channels * l->bits / 8;
    uint8_t *made = malloc(bytes), *row = malloc(bytes); /* libtiff changes what it writes */
    for (uint32_t y = 0; y < l->height; y++) {
        if (y % EQUAL_ROWS == 0)
            fill(made, l, 0, l->width, y, plane, channels);
        memcpy(row, made, bytes);
        ck_assert_int_eq(TIFFWriteScanline(t, row, y, plane), 1);
    }
    free(made);
    free(row);
}

static uint16_t photometric; /* 0: grey or RGB, as the number of channels says */

static void write_tiff(const layout *l)
{
    TIFF *t = TIFFOpen(path, l->mode);
    ck_assert_ptr_nonnull(t);
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, l->width);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, l->height);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, l->channels);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, l->bits);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, l->format);
    TIFFSetField(t, TIFFTAG_COMPRESSION, l->compression);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, l->separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC,
                 photometric       ? photometric
                 : l->channels < 3 ? PHOTOMETRIC_MINISBLACK
                                   : PHOTOMETRIC_RGB);
    if (l->predictor)
        TIFFSetField(t, TIFFTAG_PREDICTOR, l->predictor);
    if (l->tile_w) {
        TIFFSetField(t, TIFFTAG_TILEWIDTH, l->tile_w);
        TIFFSetField(t, TIFFTAG_TILELENGTH, l->tile_h);
    } else {
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, l->rows_per_strip);
    }
    for (uint16_t plane = 0; plane < (l->separate ? l->channels : 1); plane++)
        (l->tile_w ? write_tiles : write_strips)(t, l, plane, l->separate ? 1 : l->channels);
    TIFFClose(t);
}

/* Converts a float with a sign, 7 bits of exponent and 16 of mantissa. byte_at makes infinity and NaN, too. */
static float float24(const uint8_t bytes[3])
{
    int exponent = bytes[2] & 0x7F, mantissa = bytes[0] | bytes[1] << 8;
    float sign = bytes[2] & 0x80 ? -1.0f : 1.0f;
    if (exponent == 127)
        return mantissa ? nanf("") : sign * INFINITY;
    return sign * ldexpf((float)(exponent ? mantissa + 65536 : mantissa), (exponent ? exponent : 1) - 63 - 16);
}

/* Returns a sample as it is delivered: floats of other sizes as float. */
static uint32_t delivered_sample(const layout *l, uint32_t x, uint32_t y, uint32_t c, uint8_t out[8])
{
    uint32_t bytes = l->bits / 8;
    for (uint32_t b = 0; b < bytes; b++)
        out[b] = byte_at(x, y, c, b);
    if (bytes == 8) {
        double wide;
        memcpy(&wide, out, sizeof wide);
        float narrow = (float)wide;
        memcpy(out, &narrow, bytes = sizeof narrow);
    } else if (bytes == 3) {
        float wide = float24(out);
        memcpy(out, &wide, bytes = sizeof wide);
    }
    return bytes;
}

static bool both_nan(const void *a, const void *b)
{
    float x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return isnan(x) && isnan(y);
}

/* All samples as they are delivered, computed once for all ways in which a test reads this image. */
static const uint8_t *delivered_pixels(const layout *l, uint32_t channels)
{
    static const layout *of;
    static uint8_t *pixels;
    if (of == l)
        return pixels;
    of = l;
    free(pixels);
    uint8_t *p = pixels = malloc((size_t)l->width * l->height * channels * 8);
    size_t stride = 0;
    for (uint32_t y = 0; y < l->height; y++, p += stride)
        if (y % EQUAL_ROWS) {
            memcpy(p, p - stride, stride);
        } else {
            uint8_t *end = p;
            for (uint32_t x = 0; x < l->width; x++)
                for (uint32_t c = 0; c < channels; c++)
                    end += delivered_sample(l, x, y, c, end);
            stride = (size_t)(end - p);
        }
    return pixels;
}

static txm_status read_and_compare(const layout *l, uint32_t band_rows, txm_error *err)
{
    SCOPED(txm_source_close) txm_source *s = NULL;
    txm_status status = txm_source_open(path, NULL, &s, err);
    if (status != TXM_OK)
        return status;
    const txm_source_info *i = txm_source_info_of(s);
    ck_assert_str_eq(i->reader, "tiff");
    ck_assert_uint_eq(i->channels, l->channels < 4 ? l->channels : 4);
    size_t stride = (size_t)l->width * i->channels * txm_type_bytes(i->type);
    FREED uint8_t *band = malloc(stride * band_rows);
    for (uint32_t y = 0; y < l->height && status == TXM_OK; y += band_rows) {
        uint32_t rows = l->height - y < band_rows ? l->height - y : band_rows;
        status = txm_source_read(s, y, rows, band, stride, err);
        for (uint32_t r = 0; r < rows && status == TXM_OK; r++) {
            const uint8_t *p = band + r * stride, *expected = delivered_pixels(l, i->channels) + (y + r) * stride;
            if (!memcmp(p, expected, stride))
                continue;
            const size_t bytes = txm_type_bytes(i->type);
            for (size_t k = 0; k < stride; k += bytes)
                if (memcmp(p + k, expected + k, bytes) != 0 && !(l->bits == 24 && both_nan(p + k, expected + k)))
                    ck_abort_msg("pixel %zu, %u differs", k / bytes / i->channels, y + r);
        }
    }
    return status;
}

static const layout layouts[] = {
    /* One strip of more than 8 MiB is decoded by scanlines. */
    {2048, 1400, 3, 8, SAMPLEFORMAT_UINT, COMPRESSION_LZW, 2, 1400, 0, 0, "w", false},
    {2048, 1400, 3, 8, SAMPLEFORMAT_UINT, COMPRESSION_ADOBE_DEFLATE, 2, 1400, 0, 0, "wb", false},
    {2048, 1400, 3, 8, SAMPLEFORMAT_UINT, COMPRESSION_NONE, 0, 1400, 0, 0, "w", false},
    {2048, 550, 4, 16, SAMPLEFORMAT_UINT, COMPRESSION_PACKBITS, 0, 550, 0, 0, "wb", false},
    {2048, 1400, 3, 8, SAMPLEFORMAT_UINT, COMPRESSION_ZSTD, 2, 1400, 0, 0, "w", false},
    {512, 1400, 3, 32, SAMPLEFORMAT_IEEEFP, COMPRESSION_ADOBE_DEFLATE, 3, 1400, 0, 0, "w", false},
    {2048, 550, 4, 16, SAMPLEFORMAT_UINT, COMPRESSION_LZW, 2, 550, 0, 0, "wb", false},
    /* Two such strips and a remainder. */
    {1500, 2100, 3, 16, SAMPLEFORMAT_IEEEFP, COMPRESSION_ADOBE_DEFLATE, 2, 1000, 0, 0, "w", false},
    /* Seven channels, of which four are delivered, in strips that match no band. */
    {61, 149, 7, 8, SAMPLEFORMAT_UINT, COMPRESSION_ADOBE_DEFLATE, 0, 10, 0, 0, "w", false},
    {61, 149, 7, 32, SAMPLEFORMAT_IEEEFP, COMPRESSION_LZW, 0, 64, 0, 0, "wb", false},
    {700, 130, 5, 16, SAMPLEFORMAT_UINT, COMPRESSION_LZW, 0, 0, 128, 48, "wb", false},
    {33, 70, 2, 8, SAMPLEFORMAT_UINT, COMPRESSION_ZSTD, 0, 0, 64, 256, "w8", false},
    {1, 1, 1, 8, SAMPLEFORMAT_UINT, COMPRESSION_NONE, 0, 1, 0, 0, "w", false},
    {3000, 1, 3, 16, SAMPLEFORMAT_IEEEFP, COMPRESSION_ADOBE_DEFLATE, 0, 1, 0, 0, "w", false},
    {1, 3000, 4, 32, SAMPLEFORMAT_IEEEFP, COMPRESSION_ADOBE_DEFLATE, 3, 7, 0, 0, "w", false},
    /* Samples are doubles. */
    {33, 127, 4, 64, SAMPLEFORMAT_IEEEFP, COMPRESSION_NONE, 0, 7, 0, 0, "w", false},
    {33, 127, 3, 64, SAMPLEFORMAT_IEEEFP, COMPRESSION_LZW, 2, 20, 0, 0, "wb", false},
    {150, 70, 5, 64, SAMPLEFORMAT_IEEEFP, COMPRESSION_ADOBE_DEFLATE, 3, 0, 64, 32, "w", false},
    {700, 510, 3, 64, SAMPLEFORMAT_IEEEFP, COMPRESSION_ADOBE_DEFLATE, 3, 510, 0, 0, "w", false},
    {700, 510, 3, 64, SAMPLEFORMAT_IEEEFP, COMPRESSION_PACKBITS, 0, 510, 0, 0, "wb", false},
    {700, 510, 3, 64, SAMPLEFORMAT_IEEEFP, COMPRESSION_ADOBE_DEFLATE, 2, 510, 0, 0, "w", false},
    /* Samples have 24 bits, which OpenImageIO does not read from tiles. */
    {150, 70, 5, 24, SAMPLEFORMAT_IEEEFP, COMPRESSION_NONE, 0, 0, 64, 64, "wb", false},
    {150, 70, 3, 24, SAMPLEFORMAT_IEEEFP, COMPRESSION_PACKBITS, 0, 0, 64, 32, "w", false},
    {33, 127, 1, 24, SAMPLEFORMAT_IEEEFP, COMPRESSION_ADOBE_DEFLATE, 3, 0, 64, 64, "w", false},
    {150, 70, 4, 24, SAMPLEFORMAT_IEEEFP, COMPRESSION_LZW, 0, 0, 16, 64, "w", true},
    /* Planes are separate, with small and large strips; some compressions are streams and others are not. */
    {61, 149, 3, 8, SAMPLEFORMAT_UINT, COMPRESSION_LZW, 2, 10, 0, 0, "w", true},
    {61, 149, 2, 16, SAMPLEFORMAT_UINT, COMPRESSION_ADOBE_DEFLATE, 2, 64, 0, 0, "wb", true},
    {61, 149, 6, 32, SAMPLEFORMAT_IEEEFP, COMPRESSION_NONE, 0, 1, 0, 0, "w", true},
    {61, 149, 4, 64, SAMPLEFORMAT_IEEEFP, COMPRESSION_PACKBITS, 0, 50, 0, 0, "w", true},
    {150, 70, 4, 16, SAMPLEFORMAT_IEEEFP, COMPRESSION_LZW, 0, 0, 64, 32, "wb", true},
    {1100, 1000, 4, 16, SAMPLEFORMAT_UINT, COMPRESSION_ADOBE_DEFLATE, 2, 1000, 0, 0, "w", true},
    {1100, 1100, 4, 32, SAMPLEFORMAT_IEEEFP, COMPRESSION_LZW, 0, 500, 0, 0, "wb", true},
    {1100, 1000, 5, 16, SAMPLEFORMAT_UINT, COMPRESSION_NONE, 0, 1000, 0, 0, "wb", true},
    {1100, 1000, 4, 16, SAMPLEFORMAT_UINT, COMPRESSION_ZSTD, 2, 1000, 0, 0, "w", true},
};

TESTS(large_and_odd, sizeof layouts / sizeof layouts[0])
{
    static const uint32_t bands[] = {64, 1, 37, 4000};
    const layout *l = &layouts[_i];
    /* Neighbours of a large image are read in other bands. */
    const size_t count = (size_t)l->width * l->height > 300000 ? some_of(4) : 4;
    write_tiff(l);
    for (size_t b = 0; b < count; b++) {
        txm_error err = {0};
        ck_assert_msg(read_and_compare(l, bands[(b + (size_t)_i) % 4], &err) == TXM_OK, "%s", err.message);
    }
}

static uint8_t *read_inks(const layout *l, bool force_oiio, const char *reader, txm_error *err)
{
    txm_source_options options = {.force_oiio = force_oiio};
    SCOPED(txm_source_close) txm_source *s = NULL;
    photometric = PHOTOMETRIC_SEPARATED;
    write_tiff(l);
    if (txm_source_open(path, &options, &s, err) != TXM_OK)
        return NULL;
    const txm_source_info *i = txm_source_info_of(s);
    ck_assert_str_eq(i->reader, reader);
    ck_assert_uint_eq(i->file_channels, l->channels == 4 ? 3 : l->channels);
    ck_assert(!i->tiff_premultiplied_default);
    size_t stride = (size_t)l->width * i->channels * l->bits / 8;
    uint8_t *pixels = malloc(stride * l->height);
    for (uint32_t y = 0; y < l->height; y += 7) {
        uint32_t rows = l->height - y < 7 ? l->height - y : 7;
        ck_assert_msg(!txm_source_read(s, y, rows, pixels + y * stride, stride, err), "%s", err->message);
    }
    return pixels;
}

/* Every value of cyan is combined with every value of black. OpenImageIO converts strips like this; for tiles it writes
 * beyond its memory. */
TESTS(cmyk_becomes_rgb, 4)
{
    txm_error err = {0};
    const uint16_t bits = _i & 1 ? 16 : 8;
    layout l = {256, thorough() ? 1027 : 257, 4, bits, SAMPLEFORMAT_UINT, COMPRESSION_NONE, 0, 5, 0, 0, "w", _i & 2};
    FREED uint8_t *expected = read_inks(&l, true, "oiio", &err);
    l.compression = COMPRESSION_ADOBE_DEFLATE; /* OpenImageIO refuses planes of these */
    uint8_t *strips = read_inks(&l, false, "tiff", &err);
    const size_t bytes = (size_t)l.width * l.height * 3 * bits / 8;
    ck_assert(expected && strips);
    ck_assert_msg(memcmp(expected, strips, bytes) == 0, "strips differ");
    free(strips);
    l.tile_w = 64;
    l.tile_h = 48;
    for (int order = 0; order < 2; order++) {
        l.mode = order ? "wb" : "w";
        FREED uint8_t *tiles = read_inks(&l, false, "tiff", &err);
        ck_assert_msg(tiles && memcmp(expected, tiles, bytes) == 0, "tiles differ");
    }
}

/* More than four inks are ordinary channels. Tiles that only OpenImageIO could read are refused. */
TEST(other_inks)
{
    txm_error err = {0};
    layout l = {100, 70, 5, 8, SAMPLEFORMAT_UINT, COMPRESSION_ADOBE_DEFLATE, 0, 5, 0, 0, "w", false};
    uint8_t *strips = read_inks(&l, false, "oiio", &err);
    l.tile_w = l.tile_h = 64;
    uint8_t *tiles = read_inks(&l, false, "oiio", &err);
    ck_assert(strips && tiles);
    ck_assert_mem_eq(strips, tiles, (size_t)l.width * l.height * 4);
    free(strips);
    free(tiles);
    l.channels = 4;
    l.bits = 32;
    ck_assert_ptr_null(read_inks(&l, false, "oiio", &err));
    ck_assert_int_eq(err.status, TXM_STATUS_UNSUPPORTED);
    ck_assert_msg(strstr(err.message, path) && strstr(err.message, "CMYK in tiles"), "%s", err.message);
}

/* Makes a second pass over an image that is decoded by scanlines. */
TESTS(rewinds_large_strips, 8)
{
    const layout *l = &layouts[_i];
    SCOPED(txm_source_close) txm_source *s = NULL;
    write_tiff(l);
    ck_assert_int_eq(txm_source_open(path, NULL, &s, NULL), TXM_OK);
    size_t stride = (size_t)l->width * l->channels * l->bits / 8;
    FREED uint8_t *first = malloc(stride * 100), *second = malloc(stride * 100);
    ck_assert_int_eq(txm_source_read(s, 0, 100, first, stride, NULL), TXM_OK);
    ck_assert_int_eq(txm_source_read(s, 100, 100, second, stride, NULL), TXM_OK);
    ck_assert_int_eq(txm_source_rewind(s, NULL), TXM_OK);
    ck_assert_int_eq(txm_source_read(s, 0, 100, second, stride, NULL), TXM_OK);
    ck_assert_mem_eq(first, second, stride * 100);
}

/* Large deflated strips are streams. With other compressions libtiff holds a whole strip as it is in the file: its
 * memory is counted, and refused before it is read. */
TESTS(large_strips_count_as_memory, 8)
{
    struct stat st;
    SCOPED(txm_source_close) txm_source *s = NULL;
    txm_error err = {0};
    write_tiff(&layouts[_i]);
    ck_assert_int_eq(stat(path, &st), 0);
    txm_source_options options = {.max_memory_bytes = (uint64_t)st.st_size / 2};
    txm_status status = txm_source_open(path, &options, &s, &err);
    if (layouts[_i].compression == COMPRESSION_ADOBE_DEFLATE || layouts[_i].compression == COMPRESSION_NONE) {
        ck_assert_msg(status == TXM_OK, "%s", err.message);
    } else {
        ck_assert_int_eq(status, TXM_STATUS_TOO_LARGE);
        ck_assert_msg(strstr(err.message, path) && strstr(err.message, "a strip of it needs"), "%s", err.message);
        options.max_memory_bytes = (uint64_t)st.st_size + (1 << 20);
        ck_assert_int_eq(txm_source_open(path, &options, &s, NULL), TXM_OK);
    }
}

/* ---- tags ---- */

typedef struct entry {
    uint16_t tag, type;
    uint32_t count, value; /* the value or its offset */
} entry;

/* Writes a grey image of 4 x 2 px with one more directory entry, which replaces an entry with the same tag. */
static void write_with_entry(const entry *odd)
{
    entry all[12] = {{256, 3, 1, 4}, {257, 3, 1, 2}, {258, 3, 1, 8}, {259, 3, 1, 1}, {262, 3, 1, 1},
                     {273, 4, 1, 8}, {277, 3, 1, 1}, {278, 3, 1, 2}, {279, 4, 1, 8}};
    uint16_t count = 9, at = 0;
    while (at < count && all[at].tag < odd->tag)
        at++;
    if (at == count || all[at].tag != odd->tag)
        memmove(&all[at + 1], &all[at], (size_t)(count++ - at) * sizeof *all);
    all[at] = *odd;
    FILE *f = fopen(path, "wb");
    fwrite("II\x2a\0\x10\0\0\0"
           "abcdefgh",
           1, 16, f);
    fwrite(&count, 2, 1, f);
    fwrite(all, sizeof *all, count, f);
    fwrite("\0\0\0\0", 1, 4, f);
    ck_assert_int_eq(fclose(f), 0);
}

/* libtiff complains about each of these, but none affects the pixels. */
TESTS(odd_tags_leave_the_image_alone, 20)
{
    static const entry odd[] = {
        {65000, 2, 100, 1 << 20}, {65000, 7, 300, 1 << 20}, {65000, 3, 0, 0},        {65000, 13, 1, 8},
        {33432, 2, 90, 1 << 20},  {270, 2, 90, 1 << 20},    {274, 3, 1, 0},          {274, 3, 1, 99},
        {296, 3, 1, 77},          {282, 5, 1, 1 << 20},     {333, 2, 4, 0x41424344}, {334, 3, 1, 9},
        {34675, 7, 999, 1 << 20}, {700, 1, 999, 1 << 20},   {306, 2, 20, 1 << 20},   {266, 3, 1, 0},
        {50706, 1, 4, 1},         {34665, 4, 1, 1 << 20},   {330, 4, 1, 1 << 20},    {40000, 16, 1, 7},
    };
    SCOPED(txm_source_close) txm_source *s = NULL;
    txm_error err = {0};
    char pixels[8];
    write_with_entry(&odd[_i]);
    ck_assert_msg(txm_source_open(path, NULL, &s, &err) == TXM_OK, "tag %u: %s", odd[_i].tag, err.message);
    ck_assert_str_eq(txm_source_info_of(s)->reader, "tiff");
    ck_assert_msg(txm_source_read(s, 0, 2, pixels, 4, &err) == TXM_OK, "tag %u: %s", odd[_i].tag, err.message);
    ck_assert_mem_eq(pixels, "abcdefgh", 8);
}

/* These might affect them. */
TESTS(lost_tags_of_pixels_are_damage, 4)
{
    static const entry lost[] = {
        {338, 3, 9, 1 << 20}, {339, 3, 9, 1 << 20}, {258, 3, 9, 1 << 20}, {320, 3, 768, 1 << 20}};
    txm_source *s = NULL;
    txm_error err = {0};
    write_with_entry(&lost[_i]);
    ck_assert_msg(txm_source_open(path, NULL, &s, &err) == TXM_STATUS_CORRUPT, "tag %u", lost[_i].tag);
    ck_assert_ptr_nonnull(strstr(err.message, path));
}

/* A file that is cut anywhere is refused with the decoder's message. If only data after the pixels is missing, it is
 * read correctly. */
TEST(truncation)
{
    static const layout l = {61, 90, 3, 8, SAMPLEFORMAT_UINT, COMPRESSION_LZW, 2, 16, 0, 0, "w", false};
    struct stat st;
    write_tiff(&l);
    ck_assert_int_eq(stat(path, &st), 0);
    for (off_t size = st.st_size - 1; size > 0; size -= 97) {
        txm_error err = {0};
        ck_assert_int_eq(truncate(path, size), 0);
        txm_status status = read_and_compare(&l, 64, &err);
        ck_assert_msg(status == TXM_STATUS_CORRUPT || status == TXM_STATUS_UNSUPPORTED, "cut to %lld: %s",
                      (long long)size, err.message);
        ck_assert_ptr_nonnull(strstr(err.message, path));
    }
}

/* Any byte may be wrong: nothing may crash, and no allocation may exceed what a file of this size can hold. */
TEST(damaged_bytes)
{
    static const layout l = {61, 30, 3, 8, SAMPLEFORMAT_UINT, COMPRESSION_ADOBE_DEFLATE, 0, 0, 32, 16, "w", false};
    write_tiff(&l);
    FILE *f = fopen(path, "r+b");
    struct stat st;
    ck_assert_int_eq(fstat(fileno(f), &st), 0);
    unsigned seed = 1;
    for (int round = 0; round < (int)some_of(2000); round++) {
        long at = rand_r(&seed) % st.st_size;
        fseek(f, at, SEEK_SET);
        int old = fgetc(f);
        fseek(f, at, SEEK_SET);
        fputc(rand_r(&seed) & 255, f);
        fflush(f);
        txm_source *s = NULL;
        txm_source_options options = {.max_memory_bytes = 64 << 20};
        if (txm_source_open(path, &options, &s, NULL) == TXM_OK) {
            const txm_source_info *i = txm_source_info_of(s);
            size_t stride = (size_t)i->width * i->channels * txm_type_bytes(i->type);
            FREED uint8_t *row = malloc(stride);
            for (uint32_t y = 0; y < i->height && y < 100; y++)
                if (txm_source_read(s, y, 1, row, stride, NULL) != TXM_OK)
                    break;
        }
        txm_source_close(&s);
        fseek(f, at, SEEK_SET);
        fputc(old, f);
    }
    fclose(f);
}

/* ---- the reader alone, without OpenImageIO ----------------------------------------------------------------------- */

static txm_source_options no_bound;

/* Opens the file with this reader only. */
static txm_status open_direct(txm_source_info *info, txm_tiff **out, txm_error *err)
{
    void *self = NULL;
    *info = (txm_source_info){0};
    txm_status status = txm_tiff_reader.open(path, &no_bound, info, &self, err);
    *out = self;
    return status;
}

static void close_direct(txm_source_info *info, txm_tiff *t)
{
    txm_tiff_reader.close(t);
    txm_source_forget(info);
}

/* Writes a grey image of 4 x 2 px with one extra tag. */
static txm_status open_with(const entry *odd, txm_source_info *info, txm_tiff **t, txm_error *err)
{
    write_with_entry(odd);
    return open_direct(info, t, err);
}

TEST(what_openimageio_must_read_is_left_to_it)
{
    static const struct {
        entry odd;
        txm_status status;
        const char *why;
    } cases[] = {
        {{258, 3, 1, 4}, TXM_STATUS_UNSUPPORTED, "this sample type"},
        {{259, 3, 1, 7}, TXM_STATUS_UNSUPPORTED, "this compression"},
        {{262, 3, 1, 8}, TXM_STATUS_UNSUPPORTED, "this colour model"},
        {{339, 3, 1, 2}, TXM_STATUS_UNSUPPORTED, "this sample type"}, /* signed */
        {{32997, 4, 1, 2}, TXM_STATUS_UNSUPPORTED, "a volume"},
        {{256, 4, 1, TXM_MAX_SIZE_PX + 1}, TXM_STATUS_TOO_LARGE, "the limit is"},
        {{257, 4, 1, 0}, TXM_STATUS_CORRUPT, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        txm_source_info info;
        txm_tiff *t;
        txm_error err = {0};
        txm_status status = open_with(&cases[i].odd, &info, &t, &err);
        ck_assert_msg(status == cases[i].status || (status == TXM_STATUS_UNSUPPORTED && !*cases[i].why), "case %zu: %s",
                      i, err.message);
        ck_assert_msg(strstr(err.message, cases[i].why) && strstr(err.message, path), "%s", err.message);
        ck_assert_ptr_null(t);
        txm_source_forget(&info);
    }
}

TEST(white_may_be_zero)
{
    const entry white = {262, 3, 1, PHOTOMETRIC_MINISWHITE};
    txm_source_info info;
    txm_tiff *t;
    uint8_t out[8];
    ck_assert_int_eq(open_with(&white, &info, &t, NULL), TXM_OK);
    ck_assert(t->invert);
    ck_assert_int_eq(txm_tiff_read_rows(t, 0, 2, out, 4, NULL), TXM_OK);
    for (int i = 0; i < 8; i++)
        ck_assert_uint_eq(out[i], (uint8_t) ~"abcdefgh"[i]);
    close_direct(&info, t);
}

/* These tags of a libtiff file become members of `info`. */
TEST(tags_become_information)
{
    TIFF *f = TIFFOpen(path, "w");
    const uint16_t extra = EXTRASAMPLE_UNASSALPHA;
    const uint16_t row[4] = {1, 2, 3, 4};
    TIFFSetField(f, TIFFTAG_IMAGEWIDTH, 1);
    TIFFSetField(f, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(f, TIFFTAG_SAMPLESPERPIXEL, 4);
    TIFFSetField(f, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(f, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(f, TIFFTAG_EXTRASAMPLES, 1, &extra);
    TIFFSetField(f, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(f, TIFFTAG_XRESOLUTION, 300.0);
    TIFFSetField(f, TIFFTAG_YRESOLUTION, 150.0);
    TIFFSetField(f, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
    TIFFSetField(f, TIFFTAG_SOFTWARE, "a program");
    TIFFSetField(f, TIFFTAG_ARTIST, "a painter");
    ck_assert_int_eq(TIFFWriteScanline(f, (void *)row, 0, 0), 1);
    TIFFClose(f);
    txm_source_info info;
    txm_tiff *t;
    txm_error err = {0};
    ck_assert_msg(open_direct(&info, &t, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_eq(info.file_alpha, TXM_FILE_ALPHA_UNASSOCIATED);
    ck_assert(info.tiff_premultiplied_default && info.type == TXM_TYPE_U16);
    ck_assert(info.density.x == 300 && info.density.y == 150 && info.density.aspect == 0.5f);
    ck_assert_str_eq(info.density.unit, "cm");
    ck_assert_str_eq(info.software, "a program");
    ck_assert_uint_eq(info.attribute_count, 1);
    ck_assert_str_eq(info.attributes[0].value, "a painter");
    close_direct(&info, t);
}

/* OpenImageIO removes digests and averages from a description. */
TEST(descriptions_of_textures_are_left_to_openimageio)
{
    static const char *const texts[] = {"oiio:AverageColor=1", "a SHA-1=2", "a wall"};
    for (int i = 0; i < 3; i++) {
        TIFF *f = TIFFOpen(path, "w");
        TIFFSetField(f, TIFFTAG_IMAGEWIDTH, 1);
        TIFFSetField(f, TIFFTAG_IMAGELENGTH, 1);
        TIFFSetField(f, TIFFTAG_BITSPERSAMPLE, 8);
        TIFFSetField(f, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        TIFFSetField(f, TIFFTAG_IMAGEDESCRIPTION, texts[i]);
        ck_assert_int_eq(TIFFWriteScanline(f, (void *)"x", 0, 0), 1);
        TIFFClose(f);
        txm_source_info info;
        txm_tiff *t;
        ck_assert_int_eq(open_direct(&info, &t, NULL), i < 2 ? TXM_STATUS_UNSUPPORTED : TXM_OK);
        close_direct(&info, t);
    }
}

/* Reads from the descriptor fail with EIO. */
static void break_file(txm_tiff *t)
{
    int fd = open("/proc/self/mem", O_RDONLY);
    ck_assert_int_ge(fd, 0);
    close(t->file.fd);
    t->file.fd = fd;
}

/* libtiff reports damage, and large strips are read without it; in both cases it was the disk that failed. */
TESTS(a_failing_disk_is_no_damage, 3)
{
    static const layout kinds[] = {
        {61, 90, 3, 8, 1, COMPRESSION_NONE, 0, 16, 0, 0, "w", false},
        {61, 90, 3, 8, 1, COMPRESSION_LZW, 0, 0, 32, 32, "w", false},
        {1500, 1500, 4, 8, 1, COMPRESSION_ZSTD, 2, 1500, 0, 0, "w", false},
    };
    txm_source_info info;
    txm_tiff *t;
    txm_error err = {0};
    write_tiff(&kinds[_i]);
    ck_assert_int_eq(open_direct(&info, &t, NULL), TXM_OK);
    ck_assert_int_eq(txm_tiff_cause(t, &err), TXM_OK);
    uint8_t *row = malloc((size_t)info.width * 4);
    break_file(t);
    ck_assert_int_eq(txm_tiff_read_rows(t, 0, 1, row, (size_t)info.width * 4, &err), TXM_STATUS_IO);
    ck_assert_msg(strstr(err.message, path) && err.sys_errno == EIO, "%s", err.message);
    txm_error_clear(&err);
    ck_assert_int_eq(txm_tiff_cause(t, &err), TXM_STATUS_IO);
    txm_error_clear(&err);
    t->no_memory = true; /* this one is reported first */
    ck_assert_int_eq(txm_tiff_cause(t, &err), TXM_STATUS_NO_MEMORY);
    free(row);
    close_direct(&info, t);
}

/* The limit goes down until libtiff has no memory for itself, which it reports as a lack of memory. */
TEST(limits_are_no_lack_of_memory)
{
    static const layout l = {1400, 1400, 4, 8, SAMPLEFORMAT_UINT, COMPRESSION_ZSTD, 0, 0, 1408, 1408, "w", false};
    write_tiff(&l);
    for (uint64_t bound = 1; bound < 8000000; bound = bound * 3 / 2 + 1) {
        const txm_source_options options = {.max_memory_bytes = bound};
        txm_source_info info = {0};
        void *self = NULL;
        txm_error err = {0};
        txm_status status = txm_tiff_reader.open(path, &options, &info, &self, &err);
        ck_assert_msg(status == TXM_STATUS_TOO_LARGE && !self && strstr(err.message, "the limit is"), "%llu: %d, %s",
                      (unsigned long long)bound, status, err.message);
        txm_source_forget(&info);
    }
}

/* Opens the file, reads two rows and closes it. */
static txm_status read_again(void *user)
{
    static uint8_t rows[61 * 3 * 2];
    txm_source_info info;
    txm_tiff *t;
    (void)user;
    txm_status status = open_direct(&info, &t, NULL);
    if (status == TXM_OK)
        status = txm_tiff_read_rows(t, 0, 2, rows, 61 * 3, NULL);
    close_direct(&info, t);
    return status;
}

TEST(the_reader_may_find_no_memory)
{
    static const layout l = {61, 30, 3, 8, SAMPLEFORMAT_UINT, COMPRESSION_ADOBE_DEFLATE, 2, 16, 0, 0, "w", false};
    write_tiff(&l);
    refuse_each_but(DOES_WITHOUT | LEAKS, read_again, NULL); /* both are libtiff's */
}
