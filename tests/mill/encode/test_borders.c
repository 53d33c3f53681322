/* SPDX-License-Identifier: Apache-2.0
 * Sections for finished files: the same bytes as a section made from the pixels in memory, for every size, with and
 * without threads; and what is refused. */
#include <openexr.h>
#include <tiffio.h>

#include "tile/reader/section_format.h"
#include "txmill/borders.h"
#include "util_check.h"
#include "util_tx.h"

static const uint32_t sizes[][2] = {{1, 1},     {2, 2},     {1, 500},  {500, 3},  {65, 64},  {63, 129},
                                    {300, 200}, {777, 333}, {66, 130}, {33, 257}, {129, 65}, {17, 1}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void write_tx(const char *path, const made_image *m)
{
    if (txm_type_is_float(m->layout.type))
        write_foreign_exr(path, m, EXR_COMPRESSION_NONE);
    else
        write_foreign_tiff(path, m, (foreign_tiff){COMPRESSION_ADOBE_DEFLATE, 2, false, false});
}

static void same_file(const char *path, const uint8_t *want, size_t want_bytes)
{
    size_t bytes;
    FREED uint8_t *data = load_file(path, &bytes);
    ck_assert_uint_eq(bytes, want_bytes);
    ck_assert(memcmp(data, want, bytes) == 0);
}

static txm_context *threads(unsigned count)
{
    const txm_context_options options = {.struct_size = sizeof(txm_context_options), .threads = count, .device = "cpu"};
    txm_context *context;
    ck_assert_int_eq(txm_context_new(&options, &context, NULL), TXM_OK);
    return context;
}

static void add_check_strip(const made_image *m, txm_context *context)
{
    char path[512];
    size_t plain_bytes, want_bytes;
    txm_borders_result result;
    txm_error err = {0};
    snprintf(path, sizeof path, "%s", temp_file("b.tx"));
    write_tx(path, m);
    FREED uint8_t *plain = load_file(path, &plain_bytes);
    append_section(path, m);
    FREED uint8_t *want = load_file(path, &want_bytes);
    save_file(path, plain, plain_bytes);

    ck_assert_msg(txm_borders_add(context, path, &result, &err) == TXM_OK, "%s", err.message);
    ck_assert(result.changed && result.before == TXM_SECTION_STATE_NONE);
    ck_assert_uint_eq(result.file_bytes, want_bytes);
    ck_assert_uint_eq(result.section_bytes, want_bytes - plain_bytes);
    same_file(path, want, want_bytes);
    ck_assert_msg(txm_borders_check(context, path, &result, &err) == TXM_OK, "%s", err.message);
    ck_assert_str_eq(result.finding, "");
    ck_assert_uint_gt(result.tiles, 0);
    ck_assert_uint_eq(result.bad_tiles, 0);
    ck_assert_msg(txm_borders_strip(NULL, path, &result, &err) == TXM_OK, "%s", err.message);
    ck_assert(result.changed && result.section_bytes == 0);
    same_file(path, plain, plain_bytes);
}

TESTS(every_size, SIZES)
{
    SCOPED(txm_context_free) txm_context *context = threads(3);
    for (int type = TXM_TYPE_U8; type <= TXM_TYPE_FLOAT; type++) {
        uint32_t tile = type == TXM_TYPE_U16 ? 64u : 16u << (type & 1), channels = (uint32_t)(1 + (_i + type) % 4);
        made_image m =
            make_image(sizes[_i][0], sizes[_i][1], channels, (txm_type)type, tile, (txm_compression){0}, MADE_SMOOTH);
        add_check_strip(&m, NULL);
        add_check_strip(&m, context);
        free_image(&m);
    }
}

/* ---- one image, and a file of it without a section -------------------------------------------------------------- */

static made_image image;
static char path[512];

static void make_file(void)
{
    image = make_image(100, 70, 4, TXM_TYPE_U8, 32, (txm_compression){0}, MADE_SMOOTH);
    snprintf(path, sizeof path, "%s", temp_file("b.tx"));
    write_tx(path, &image);
}

static void drop_file(void)
{
    free_image(&image);
}
FIXTURE(make_file, drop_file)

/* The border is wrong and its checksum is right: only a comparison with the neighbours shows it. */
TEST(wrong_pixels_are_found)
{
    SCOPED(free_image) made_image other = make_image(100, 70, 4, TXM_TYPE_U8, 32, (txm_compression){0}, MADE_SMOOTH);
    txm_borders_result result;
    other.levels[0][0] ^= 255; /* a corner pixel, which is in three borders and in the tiles beside its own */
    append_section(path, &other);
    ck_assert_int_eq(txm_borders_check(NULL, path, &result, NULL), TXM_OK);
    ck_assert_uint_gt(result.bad_tiles, 0);
    ck_assert_uint_lt(result.bad_tiles, result.tiles);
    ck_assert_msg(strstr(result.finding, "level 0") != NULL, "%s", result.finding);
}

TEST(refusals)
{
    txm_borders_result result;
    txm_error err = {0};
    size_t bytes;
    append_section(path, &image);
    uint8_t *file = load_file(path, &bytes);
    file[bytes - TXM_SECTION_FOOTER_BYTES + 44] = 2; /* the version */
    save_file(path, file, bytes);
    ck_assert_int_eq(txm_borders_add(NULL, path, &result, &err), TXM_STATUS_NEWER);
    ck_assert_ptr_nonnull(strstr(err.message, "strip"));
    same_file(path, file, bytes);
    ck_assert_int_eq(txm_borders_strip(NULL, path, &result, NULL), TXM_OK);
    ck_assert_int_eq(result.before, TXM_SECTION_STATE_NEWER);
    free(file);

    /* Tiles are twice as wide as high. */
    TIFF *tif = TIFFOpen(path, "w");
    TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, 32);
    TIFFSetField(tif, TIFFTAG_IMAGELENGTH, 16);
    TIFFSetField(tif, TIFFTAG_TILEWIDTH, 32);
    TIFFSetField(tif, TIFFTAG_TILELENGTH, 16);
    TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, 1);
    uint8_t tile[32 * 16] = {0};
    ck_assert_int_ne(TIFFWriteTile(tif, tile, 0, 0, 0, 0), -1);
    TIFFClose(tif);
    file = load_file(path, &bytes);
    txm_error_clear(&err);
    ck_assert_int_eq(txm_borders_add(NULL, path, &result, &err), TXM_STATUS_UNSUPPORTED);
    same_file(path, file, bytes);
    free(file);

    ck_assert_int_eq(txm_borders_add(NULL, "/nonexistent/a.tx", &result, NULL), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(txm_borders_strip(NULL, "/tmp", &result, NULL), TXM_STATUS_NOT_A_FILE);
}

/* With a damaged tile no section can be made, and the file stays as it is. */
TEST(damaged_tiles_stop_it)
{
    txm_borders_result result;
    txm_error err = {0};
    size_t bytes;
    FREED uint8_t *file = load_file(path, &bytes);
    memset(file + 600, 0xff, 50);
    save_file(path, file, bytes);
    SCOPED(txm_context_free) txm_context *context = threads(2);
    ck_assert_int_eq(txm_borders_add(context, path, &result, &err), TXM_STATUS_CORRUPT);
    ck_assert_msg(strstr(err.message, "level 0, tile") != NULL, "%s", err.message);
    same_file(path, file, bytes);
}

/* If the context was cancelled, nothing is changed, and a check reports nothing. */
TEST(cancelled)
{
    static volatile int stop;
    const txm_context_options options = {
        .struct_size = sizeof(txm_context_options), .threads = 2, .device = "cpu", .cancel = &stop};
    SCOPED(txm_context_free) txm_context *context = NULL;
    txm_borders_result result;
    txm_error err;
    size_t bytes;
    ck_assert_int_eq(txm_context_new(&options, &context, &err), TXM_OK);
    FREED uint8_t *file = load_file(path, &bytes);
    txm_cancel_request(&stop);
    ck_assert_int_eq(txm_borders_add(context, path, &result, &err), TXM_STATUS_CANCELLED);
    ck_assert(!result.changed);
    same_file(path, file, bytes);
    append_section(path, &image);
    ck_assert_int_eq(txm_borders_check(context, path, &result, &err), TXM_STATUS_CANCELLED);
    ck_assert_str_eq(result.finding, "");
}
