/* SPDX-License-Identifier: Apache-2.0
 *
 * The direct PNG reader against OpenImageIO: every layout and width, metadata, damaged files. */
#include <fcntl.h>
#include <glob.h>

#include "base/mem.h"
#include "mill/source/png/png.h"
#include "util_check.h"
#include "util_png.h"
#include "util_raster.h"

typedef struct kind {
    const char *name;
    uint8_t color_type, depth;
    bool transparent;
} kind;

static const kind kinds[] = {
    {"gray1", PNG_GRAY, 1, false},        {"gray1-key", PNG_GRAY, 1, true},
    {"gray2", PNG_GRAY, 2, false},        {"gray2-key", PNG_GRAY, 2, true},
    {"gray4", PNG_GRAY, 4, false},        {"gray4-key", PNG_GRAY, 4, true},
    {"gray8", PNG_GRAY, 8, false},        {"gray8-key", PNG_GRAY, 8, true},
    {"gray16", PNG_GRAY, 16, false},      {"gray16-key", PNG_GRAY, 16, true},
    {"rgb8", PNG_RGB, 8, false},          {"rgb8-key", PNG_RGB, 8, true},
    {"rgb16", PNG_RGB, 16, false},        {"rgb16-key", PNG_RGB, 16, true},
    {"palette1", PNG_PALETTE, 1, false},  {"palette1-alpha", PNG_PALETTE, 1, true},
    {"palette2", PNG_PALETTE, 2, false},  {"palette2-alpha", PNG_PALETTE, 2, true},
    {"palette4", PNG_PALETTE, 4, false},  {"palette4-alpha", PNG_PALETTE, 4, true},
    {"palette8", PNG_PALETTE, 8, false},  {"palette8-alpha", PNG_PALETTE, 8, true},
    {"graya8", PNG_GRAY_ALPHA, 8, false}, {"graya16", PNG_GRAY_ALPHA, 16, false},
    {"rgba8", PNG_RGBA, 8, false},        {"rgba16", PNG_RGBA, 16, false},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* The transparent colour is that of the first pixel; a few later pixels have it, too. */
static void add_colors(txm_bytes *f, const kind *k, const png_layout *l, uint8_t *rows)
{
    size_t row = png_row_bytes(l), pixel = png_pixel_bytes(l);
    uint8_t colors[768], key[6] = {0};
    uint64_t seed = 7;

    if (k->color_type == PNG_PALETTE) {
        /* There are fewer colours than indices; indices beyond them count as black. */
        size_t entries = (1u << k->depth) - (k->depth == 8 ? 20 : 0);
        test_noise(&seed, colors, sizeof colors);
        png_chunk(f, "PLTE", colors, 3 * entries);
        if (k->transparent)
            png_chunk(f, "tRNS", colors + 100, entries / 2);
        return;
    }
    if (!k->transparent)
        return;
    for (uint32_t y = 0; y < l->height; y++)
        memcpy(rows + y * row + row / pixel / 2 * pixel, rows, pixel);
    for (unsigned i = 0; i < png_samples(k->color_type); i++) {
        key[2 * i] = k->depth == 16 ? rows[2 * i] : 0;
        key[2 * i + 1] = k->depth == 16  ? rows[2 * i + 1]
                         : k->depth == 8 ? rows[i]
                                         : (uint8_t)(rows[0] >> (8 - k->depth));
    }
    png_chunk(f, "tRNS", key, 2 * png_samples(k->color_type));
}

static txm_bytes build(const kind *k, uint32_t width, uint32_t height, int filter)
{
    png_layout l = {width, height, k->depth, k->color_type, 0};
    uint64_t seed = width * 77 + height;
    FREED uint8_t *rows = malloc(png_row_bytes(&l) * height);
    txm_bytes f = {0};

    test_noise(&seed, rows, png_row_bytes(&l) * height);
    png_begin(&f, &l);
    add_colors(&f, k, &l, rows);
    png_finish(&f, &l, rows, filter);
    return f;
}

TEST(every_layout_width_and_filter_is_as_oiio_reads_it)
{
    static const uint32_t widths[] = {1, 2, 3, 5, 6, 7, 8, 9, 16, 17, 33, 100};

    for (int k = 0; k < KINDS; k++)
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
            char what[64];
            SCOPED(txm_bytes_free) txm_bytes f = build(&kinds[k], widths[w], 12, -1);
            snprintf(what, sizeof what, "%s %u px wide", kinds[k].name, widths[w]);
            raster_compare(raster_temp("kind.png", &f), "png", what);
        }
}

TEST(every_filter_alone)
{
    for (int k = 0; k < KINDS; k++)
        for (int filter = 0; filter < 5; filter++) {
            char what[64];
            SCOPED(txm_bytes_free) txm_bytes f = build(&kinds[k], 37, 5, filter);
            snprintf(what, sizeof what, "%s filter %d", kinds[k].name, filter);
            raster_compare(raster_temp("filter.png", &f), "png", what);
        }
}

/* More inflated rows than a batch, rows wider than a batch, a single column, and data that does not compress. */
TEST(large_wide_and_narrow)
{
    static const struct {
        int kind;
        uint32_t width, height;
    } cases[] = {{24, 700, 900}, {25, 65536, 3}, {10, 65536, 9}, {6, 1, 65536}, {12, 1, 3000}, {18, 65536, 5}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SCOPED(txm_bytes_free) txm_bytes f = build(&kinds[cases[i].kind], cases[i].width, cases[i].height, -1);
        raster_compare(raster_temp("large.png", &f), "png", kinds[cases[i].kind].name);
    }
}

/* Any number of rows may be requested at a time, into memory with gaps that must stay untouched, and again after a
 * rewind. */
TEST(bands_strides_and_rewind)
{
    static const int some[] = {10, 12, 20, 21, 0};
    txm_error err = {0};

    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        SCOPED(txm_bytes_free) txm_bytes f = build(&kinds[some[i]], 61, 45, -1);
        const char *path = raster_temp("bands.png", &f);
        SCOPED(raster_free) raster whole = raster_read(path, false, 45);
        const txm_source_info *info = txm_source_info_of(whole.source);
        size_t row = whole.bytes / info->height, stride = row + 24;
        FREED uint8_t *band = malloc(45 * stride);
        for (uint32_t step = 1; step < 9; step++) {
            /* Only a part is read before the rewind, and everything after it. */
            memset(band, 0x5a, 45 * stride);
            ck_assert_int_eq(txm_source_rewind(whole.source, &err), TXM_OK);
            ck_assert_int_eq(txm_source_read(whole.source, 0, step, band, stride, &err), TXM_OK);
            ck_assert_int_eq(txm_source_rewind(whole.source, &err), TXM_OK);
            for (uint32_t y = 0; y < 45; y += step) {
                uint32_t n = 45 - y < step ? 45 - y : step;
                ck_assert_int_eq(txm_source_read(whole.source, y, n, band, stride, &err), TXM_OK);
                for (uint32_t r = 0; r < n; r++) {
                    ck_assert_int_eq(memcmp(band + r * stride, whole.pixels + (y + r) * row, row), 0);
                    for (size_t g = row; g < stride; g++)
                        if (band[r * stride + g] != 0x5a)
                            ck_abort_msg("written after row %u", y + r);
                }
                memset(band, 0x5a, 45 * stride); /* drops what the reader might still hold of the file */
            }
        }
    }
}

/* Chunks may end anywhere in the stream or be empty, and data may follow the end of the stream. */
TEST(idat_chunks_of_any_size)
{
    png_layout l = {19, 7, 8, PNG_RGB, 0};
    uint8_t rows[19 * 3 * 7];
    uint64_t seed = 5;
    SCOPED(txm_bytes_free) txm_bytes filtered = {0}, stream = {0};

    test_noise(&seed, rows, sizeof rows);
    memset(rows + 100, 3, 120);
    png_filter(&filtered, &l, rows, -1);
    for (int level = 0; level <= 6; level += 6) {
        stream.size = 0;
        png_deflate(&stream, filtered.data, filtered.size, level);
        for (size_t piece = 1; piece <= stream.size; piece++) {
            SCOPED(txm_bytes_free) txm_bytes f = {0};
            png_begin(&f, &l);
            png_chunk(&f, "IDAT", "", 0);
            png_idats(&f, stream.data, stream.size, piece);
            png_chunk(&f, "IDAT", "", 0);
            if (piece % 2)
                png_chunk(&f, "IDAT", "surplus", 7);
            png_chunk(&f, "IEND", "", 0);
            SCOPED(raster_free) raster r = raster_read(raster_temp("pieces.png", &f), false, 3);
            ck_assert_msg(!r.status, "pieces of %zu: %s", piece, r.error.message);
            ck_assert_int_eq(memcmp(r.pixels, rows, sizeof rows), 0);
        }
    }
}

static txm_bytes with_chunk(const char *type, const void *data, size_t bytes)
{
    static const png_layout l = {4, 2, 8, PNG_RGB, 0};
    static const uint8_t rows[24] = {1, 2, 3, 4, 5, 6};
    txm_bytes f = {0};

    png_begin(&f, &l);
    png_chunk(&f, type, data, bytes);
    png_finish(&f, &l, rows, 0);
    return f;
}

static void compare_chunk(const char *type, const void *data, size_t bytes, const char *what)
{
    SCOPED(txm_bytes_free) txm_bytes f = with_chunk(type, data, bytes);

    raster_compare(raster_temp("chunk.png", &f), "png", what);
}

TEST(colour_chunks_are_told_as_oiio_tells_them)
{
    static const uint32_t gammas[] = {100000, 45455, 45454, 50000, 55556, 10000, 1000, 220000, 1, 0, 99600, 0x7fffffff};
    static const uint8_t intent = 0, odd_intent = 9;

    for (size_t i = 0; i < sizeof gammas / sizeof gammas[0]; i++) {
        uint32_t big = __builtin_bswap32(gammas[i]);
        char what[32];
        if (gammas[i] == 0) /* OpenImageIO takes the image for linear */
            continue;
        snprintf(what, sizeof what, "gamma %u", gammas[i]);
        compare_chunk("gAMA", &big, 4, what);
    }
    compare_chunk("sRGB", &intent, 1, "sRGB");
    compare_chunk("sRGB", &odd_intent, 1, "sRGB with an unknown intent");
    compare_chunk("iCCP", "p\0\0damaged", 10, "damaged profile");
    compare_chunk("cICP", "\x09\x10\x00\x01", 4, "cICP");
    compare_chunk("cICP", "\x09\x10\x00", 3, "short cICP");
    compare_chunk("cHRM", "", 0, "empty cHRM");
}

TEST(texts_become_fields)
{
    static const struct {
        const char *type, *data;
        size_t bytes;
    } texts[] = {
        {"tEXt", "Software\0one", 12},
        {"tEXt", "software\0lower case", 19},
        {"tEXt", "Copyright\0(c) 2020", 18},
        {"tEXt", "Author\0somebody", 15},
        {"tEXt", "Artist\0somebody", 15},
        {"tEXt", "Description\0two\nlines", 21},
        {"tEXt", "Description\0", 12},
        {"tEXt", "Title\0not kept", 14},
        {"tEXt", "Author\0caf\xe9", 11},
        {"iTXt", "Copyright\0\0\0en\0\0caf\xc3\xa9", 21},
        {"zTXt", "Author\0\0damaged", 15},
        {"tEXt", "oiio:ColorSpace\0ACEScg", 22},
        {"tEXt", "\0no key", 7},
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        compare_chunk(texts[i].type, texts[i].data, texts[i].bytes, texts[i].data);
    SCOPED(txm_bytes_free)
    txm_bytes f = with_chunk("tEXt",
                             "Software\0"
                             "a program",
                             18);
    SCOPED(raster_free) raster r = raster_read(raster_temp("text.png", &f), false, 1);
    ck_assert_str_eq(txm_source_info_of(r.source)->software, "a program");
}

/* An Exif directory with `Artist` and a pointer to a second one with a colour space and `Copyright`. */
static size_t exif_block(uint8_t out[128], bool uncalibrated)
{
    static const uint8_t head[] = {
        'I',  'I',  42,  0,   8,   0,   0,   0,   2,   0,                       /* header; two entries */
        0x3b, 0x01, 2,   0,   9,   0,   0,   0,   68,  0,   0,   0,             /* Artist: 9 bytes at 68 */
        0x69, 0x87, 4,   0,   1,   0,   0,   0,   38,  0,   0,   0,             /* second directory at 38 */
        0,    0,    0,   0,   2,   0,                                           /* end; second: two entries */
        0x01, 0xa0, 3,   0,   1,   0,   0,   0,   1,   0,   0,   0,             /* ColorSpace */
        0x98, 0x82, 2,   0,   4,   0,   0,   0,   '(', 'c', ')', 0, 0, 0, 0, 0, /* Copyright inside the entry; end */
        'S',  'o',  'm', 'e', 'b', 'o', 'd', 'y', 0,
    };

    memcpy(out, head, sizeof head);
    if (uncalibrated)
        out[48] = out[49] = 0xff;
    return sizeof head;
}

TEST(exif_is_read_as_oiio_reads_it)
{
    uint8_t block[128], changed[128];
    size_t bytes = exif_block(block, false);
    txm_bytes text = {0};

    compare_chunk("eXIf", block, bytes, "Exif");
    txm_bytes f = with_chunk("eXIf", block, bytes);
    raster r = raster_read(raster_temp("exif.png", &f), false, 1);
    ck_assert_uint_eq(txm_source_info_of(r.source)->attribute_count, 2);
    ck_assert_str_eq(txm_source_info_of(r.source)->attributes[0].value, "Somebody");
    raster_free(&r);
    txm_bytes_free(&f);

    for (size_t i = 0; i <= bytes; i++) {
        char w[40];
        if (i == 64) /* OpenImageIO takes the last entry of a directory that has no end */
            continue;
        snprintf(w, sizeof w, "Exif cut to %zu", i);
        compare_chunk("eXIf", block, i, w);
    }
    ck_assert(txm_bytes_puts(&text, "Raw profile type exif"));
    ck_assert(txm_bytes_add(&text, "", 1));
    ck_assert(txm_bytes_printf(&text, "\nexif\n%8zu\n457869660000", bytes + 6));
    for (size_t i = 0; i < bytes; i++)
        ck_assert(txm_bytes_printf(&text, "%s%02X", i % 32 ? "" : "\n", block[i]));
    compare_chunk("tEXt", text.data, text.size, "Exif as text");
    txm_bytes_free(&text);

    bytes = exif_block(changed, true);
    compare_chunk("eXIf", changed, bytes, "uncalibrated Exif");
}

/* libpng alone, called as OpenImageIO does, agrees on whether a file is valid and, if it is, on the pixels. */
static void compare_outcome(const txm_bytes *f, const char *what)
{
    size_t bytes = 0;
    SCOPED(raster_free) raster direct = raster_read(raster_temp("outcome.png", f), false, 4);
    FREED uint8_t *pixels = raster_by_libpng(f, &bytes);
    bool interlaced = f->size > 28 && f->data[28]; /* only OpenImageIO may read it */

    if (!direct.status != !!pixels && direct.status != TXM_STATUS_TOO_LARGE && !interlaced)
        ck_abort_msg("%s: '%s', libpng %s it", what, direct.error.message, pixels ? "takes" : "refuses");
    if (!direct.status && !interlaced && (bytes != direct.bytes || memcmp(direct.pixels, pixels, bytes) != 0))
        ck_abort_msg("%s: other pixels", what);
    if (direct.status && direct.opened && !strstr(direct.error.message, "row "))
        ck_abort_msg("%s: no row in '%s'", what, direct.error.message);
}

TEST(truncated_anywhere)
{
    static const int some[] = {10, 19, 23};

    for (size_t k = 0; k < sizeof some / sizeof some[0]; k++) {
        SCOPED(txm_bytes_free) txm_bytes f = build(&kinds[some[k]], 9, 6, -1);
        for (size_t cut = f.size - 1; cut > 7; cut--) {
            char what[64];
            f.size = cut;
            snprintf(what, sizeof what, "%s cut to %zu bytes", kinds[some[k]].name, cut);
            compare_outcome(&f, what);
        }
    }
}

TEST(a_truncated_file_names_its_row)
{
    SCOPED(txm_bytes_free) txm_bytes f = build(&kinds[10], 50, 40, 0);

    f.size /= 2;
    SCOPED(raster_free) raster r = raster_read(raster_temp("half.png", &f), false, 1);
    ck_assert_int_eq(r.status, TXM_STATUS_CORRUPT);
    ck_assert_uint_gt(r.rows_read, 15); /* rows that are there are delivered */
    ck_assert_uint_lt(r.rows_read, 21);
    char row[64];
    snprintf(row, sizeof row, "row %u of 40: the file ends inside the pixel data", r.rows_read);
    ck_assert_ptr_nonnull(strstr(r.error.message, row));
}

TEST(every_byte_damaged)
{
    static const uint8_t flips[] = {0x01, 0x80, 0xff};
    static const int some[] = {10, 19};

    for (size_t k = 0; k < sizeof some / sizeof some[0]; k++) {
        SCOPED(txm_bytes_free) txm_bytes f = build(&kinds[some[k]], 7, 4, -1);
        for (size_t at = 8; at < f.size; at++)
            for (size_t i = 0; i < sizeof flips; i++) {
                char what[64];
                f.data[at] = (char)(f.data[at] ^ flips[i]);
                snprintf(what, sizeof what, "%s byte %zu ^ %#x", kinds[some[k]].name, at, flips[i]);
                compare_outcome(&f, what);
                f.data[at] = (char)(f.data[at] ^ flips[i]);
            }
    }
}

TEST(refused_and_left_to_others)
{
    png_layout l = {8, 8, 8, PNG_RGB, 1};
    uint8_t rows[8 * 24 * 2] = {0};
    txm_source *source;
    txm_error err = {0};
    SCOPED(txm_bytes_free) txm_bytes f = {0};

    /* OpenImageIO reads interlaced files. The pixel data, in passes, is wrong here, but it is never used. */
    png_begin(&f, &l);
    png_finish(&f, &l, rows, 0);
    ck_assert_int_eq(txm_source_open(raster_temp("interlaced.png", &f), NULL, &source, &err), TXM_OK);
    ck_assert_str_eq(txm_source_info_of(source)->reader, "oiio");
    txm_source_close(&source);

    l = (png_layout){1048576, 1, 8, PNG_RGB, 0};
    f.size = 0;
    png_begin(&f, &l);
    png_chunk(&f, "IDAT", "", 0);
    ck_assert_int_eq(txm_source_open(raster_temp("wide.png", &f), NULL, &source, &err), TXM_STATUS_TOO_LARGE);
    ck_assert_ptr_null(source);
    ck_assert_ptr_nonnull(strstr(err.message, "1048576 x 1"));
    txm_error_clear(&err);

    l = (png_layout){65536, 65536, 16, PNG_RGBA, 0};
    f.size = 0;
    png_begin(&f, &l);
    png_chunk(&f, "IDAT", "", 0);
    txm_source_options options = {.max_memory_bytes = 1 << 20};
    ck_assert_int_eq(txm_source_open(raster_temp("memory.png", &f), &options, &source, &err), TXM_STATUS_TOO_LARGE);
    /* The largest possible image opens at once, because no memory is allocated for its size. */
    txm_error_clear(&err);
    ck_assert_int_eq(txm_source_open(raster_temp("memory.png", &f), NULL, &source, &err), TXM_OK);
    txm_source_close(&source);
}

static void for_each_file(const char *pattern, void (*check)(const char *path))
{
    const char *root = getenv("TXM_TESTDATA");
    FREED char *full = txm_asprintf("%s/png/%s", root ? root : "testdata", pattern);
    glob_t found;

    ck_assert_int_eq(glob(full, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check(found.gl_pathv[i]);
    globfree(&found);
}

static void check_good(const char *path)
{
    raster_compare(path, "png", path);
}

static void check_bad(const char *path)
{
    size_t bytes;
    SCOPED(raster_free) raster r = raster_read(path, false, 64);
    SCOPED(txm_bytes_free) txm_bytes f = raster_load(path);
    uint8_t *pixels = raster_by_libpng(&f, &bytes);

    ck_assert_msg(r.status == TXM_STATUS_CORRUPT, "%s: status %d", path, r.status);
    ck_assert_msg(strstr(r.error.message, path) != NULL, "'%s' does not name %s", r.error.message, path);
    ck_assert_msg(!pixels, "%s: libpng reads it", path);
}

TEST(files_of_other_programs)
{
    for_each_file("good-*.png", check_good);
    for_each_file("bad-*.png", check_bad);
}

/* ---- the stream in the IDAT chunks, by itself -------------------------------------------------------------------- */

enum { STREAM_BYTES = 70000 };

static uint8_t content[STREAM_BYTES];

/* A zlib stream of noise with few values, which shrinks. */
static txm_bytes zlib_stream(void)
{
    txm_bytes stream = {0};
    uint64_t seed = 9;
    test_noise(&seed, content, sizeof content);
    for (size_t i = 0; i < sizeof content; i++)
        content[i] &= 15;
    png_deflate(&stream, content, sizeof content, 6);
    return stream;
}

typedef struct idat_file {
    txm_source_file file;
    txm_png_idat idat;
} idat_file;

/* The file begins with the chunks. */
static void idat_open(idat_file *f, const txm_bytes *chunks)
{
    uint8_t head[4];
    ck_assert_int_eq(txm_source_file_open(&f->file, raster_temp("idat", chunks), true, NULL), TXM_OK);
    ck_assert(txm_source_file_get(&f->file, head, 4));
    f->idat.file = &f->file;
    f->idat.start = 8;
    f->idat.start_bytes = (uint32_t)(head[0] << 24 | head[1] << 16 | head[2] << 8 | head[3]);
    txm_png_idat_begin(&f->idat);
}

/* Reads all expected bytes and finishes; the file is closed. */
static void idat_fails(const txm_bytes *chunks, size_t at_least, const char *reason)
{
    static uint8_t got[STREAM_BYTES + 300];
    idat_file f;
    idat_open(&f, chunks);
    size_t bytes = txm_png_idat_read(&f.idat, got, STREAM_BYTES);
    ck_assert(!txm_png_idat_finish(&f.idat));
    ck_assert_int_eq(f.idat.status, TXM_STATUS_CORRUPT);
    ck_assert_str_eq(f.idat.reason, reason);
    ck_assert_uint_ge(bytes, at_least);
    ck_assert_mem_eq(got, content, bytes);
    ck_assert(!txm_png_idat_finish(&f.idat)); /* the first failure is kept */
    ck_assert_str_eq(f.idat.reason, reason);
    txm_source_file_close(&f.file);
}

TEST(damage_of_a_stream_has_its_reason)
{
    SCOPED(txm_bytes_free) txm_bytes stream = zlib_stream(), chunks = {0};
    size_t half = stream.size / 2;
    /* The CRC of the second chunk is wrong. */
    png_chunk(&chunks, "IDAT", stream.data, half);
    png_chunk_crc(&chunks, "IDAT", stream.data + half, stream.size - half, 1);
    idat_fails(&chunks, STREAM_BYTES, "CRC error in an IDAT chunk");
    /* Another chunk lies between. */
    chunks.size = 0;
    png_chunk(&chunks, "IDAT", stream.data, half);
    png_chunk(&chunks, "tEXt", "a", 1);
    idat_fails(&chunks, 1000, "not enough image data");
    /* The file ends in the data, before a CRC, or after a chunk. */
    chunks.size = 0;
    png_chunk(&chunks, "IDAT", stream.data, half);
    for (int cut = 0; cut < 3; cut++) {
        txm_bytes shorter = chunks;
        shorter.size -= (size_t)cut * 4;
        idat_fails(&shorter, 1000, "the file ends inside the pixel data");
    }
    /* A chunk claims to be longer than allowed. */
    txm_bytes_add(&chunks, "\x80\0\0\0IDAT", 8);
    idat_fails(&chunks, 1000, "an IDAT chunk of more than 2^31 - 1 bytes");
    /* The stream itself is damaged. */
    chunks.size = 0;
    stream.data[stream.size - 1] ^= 1;
    png_chunk(&chunks, "IDAT", stream.data, stream.size);
    idat_fails(&chunks, STREAM_BYTES, "wrong Adler-32 checksum of the pixel data");
    chunks.size = 0;
    png_chunk(&chunks, "IDAT", "no zlib stream", 14);
    idat_fails(&chunks, 0, "not a zlib stream");
    chunks.size = 0;
    png_chunk(&chunks, "IDAT", "\x78\xbb\0\0\0\1", 6);
    idat_fails(&chunks, 0, "the zlib stream needs a preset dictionary");
    chunks.size = 0;
    png_chunk(&chunks, "IDAT", "\x78\x9c\x07", 3); /* there is no fourth kind of block */
    idat_fails(&chunks, 0, "invalid deflate block");
}

/* libpng only warns of this. */
TEST(what_follows_the_last_pixel_is_tolerated)
{
    SCOPED(txm_bytes_free) txm_bytes stream = zlib_stream(), chunks = {0};
    static uint8_t got[STREAM_BYTES];
    idat_file f;
    txm_bytes_add(&stream, "more", 4);
    png_idats(&chunks, stream.data, stream.size, 9000);
    idat_open(&f, &chunks);
    ck_assert_uint_eq(txm_png_idat_read(&f.idat, got, sizeof got - 10),
                      sizeof got - 10); /* the last rows are not requested either */
    ck_assert_msg(txm_png_idat_finish(&f.idat), "%s", f.idat.reason);
    txm_source_file_close(&f.file);
}

TEST(a_failing_disk_is_no_damage_of_a_stream)
{
    SCOPED(txm_bytes_free) txm_bytes stream = zlib_stream(), chunks = {0};
    uint8_t got[100];
    idat_file f;
    png_idats(&chunks, stream.data, stream.size, 9000);
    idat_open(&f, &chunks);
    close(f.file.fd);
    ck_assert_int_ge(f.file.fd = open("/proc/self/mem", O_RDONLY), 0); /* its first bytes match no format */
    ck_assert_uint_eq(txm_png_idat_read(&f.idat, got, sizeof got), 0);
    ck_assert_int_eq(f.idat.status, TXM_STATUS_IO);
    ck_assert(!txm_png_idat_finish(&f.idat));
    txm_source_file_close(&f.file);
}

int main(void)
{
    return run_tests_in_one_process();
}
