/* SPDX-License-Identifier: Apache-2.0
 * Parts of the rooms source, sample and inspect: PNG headers and pixels, tx files as a view,
 * the census of tiles. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "mill/source/png/png_header.h"
#include "mill/source/png/png_pixels.h"
#include "tile/ops/ops.h"
#include "tile/sample/view_file.h"
#include "tools/inspect/tile_census.h"
#include "util_check.h"
#include "util_png.h"
#include "util_tx.h"
#include "util_writer.h"

/* ---- PNG --------------------------------------------------------------------------------------------------------- */

START_TEST(png_depths_become_bytes)
{
    static const uint8_t row1[] = {0xB0}, row2[] = {0x1B}, grey16[] = {0x12, 0x34};
    txm_png_header h = {.width = 4, .depth = 1, .file_samples = 1};
    txm_png_convert_fn convert;
    uint8_t out[16];
    ck_assert_uint_eq(txm_png_convert_of(&h, &convert), 1);
    convert(&h, row1, out);
    ck_assert_mem_eq(out, "\xFF\x00\xFF\xFF", 4);
    h.depth = 2;
    txm_png_convert_of(&h, &convert);
    convert(&h, row2, out);
    ck_assert_mem_eq(out, "\x00\x55\xAA\xFF", 4);
    h.depth = 8;
    ck_assert_uint_eq(txm_png_convert_of(&h, &convert), 1);
    ck_assert_ptr_null(convert); /* as it is in the file */
    h.depth = 16;
    h.width = 1;
    txm_png_convert_of(&h, &convert);
    uint16_t wide;
    convert(&h, grey16, &wide);
    ck_assert_uint_eq(wide, 0x1234);
}
END_TEST

START_TEST(png_keys_become_alpha)
{
    static const uint8_t row[] = {1, 2, 3, 1, 2, 4};
    txm_png_header h = {.width = 2, .depth = 8, .file_samples = 3, .keyed = true, .key = {1, 2, 3}};
    txm_png_convert_fn convert;
    uint8_t out[8];
    ck_assert_uint_eq(txm_png_convert_of(&h, &convert), 4);
    convert(&h, row, out);
    ck_assert_mem_eq(out, "\x01\x02\x03\x00\x01\x02\x04\xFF", 8);
    txm_png_header palette = {.width = 2,
                              .depth = 8,
                              .file_samples = 1,
                              .palette = true,
                              .colors = {{9, 8, 7, 255}, {6, 5, 4, 0}},
                              .colors_have_alpha = true};
    ck_assert_uint_eq(txm_png_convert_of(&palette, &convert), 4);
    convert(&palette, (const uint8_t[]){1, 0}, out);
    ck_assert_mem_eq(out, "\x06\x05\x04\x00\x09\x08\x07\xFF", 8);
    palette.colors_have_alpha = false;
    ck_assert_uint_eq(txm_png_convert_of(&palette, &convert), 3);
}
END_TEST

static txm_status read_header(const char *name, const txm_bytes *file, txm_png_header *h, txm_source_info *info)
{
    const char *path = temp_file(name);
    txm_raster_file f = {0};
    txm_error err = {0};
    save_file(path, file->data, file->size);
    ck_assert_int_eq(txm_raster_file_open(&f, path, &err), TXM_OK);
    *info = (txm_source_info){0};
    txm_status status = txm_png_read_header(&f, path, h, info, &err);
    txm_raster_file_close(&f);
    return status;
}

START_TEST(png_headers_are_checked)
{
    const png_layout l = {5, 3, 8, PNG_RGB, 0};
    uint8_t rows[3 * 15] = {0};
    txm_bytes file = {0};
    txm_png_header h;
    txm_source_info info;
    png_begin(&file, &l);
    png_finish(&file, &l, rows, 0);
    ck_assert_int_eq(read_header("good.png", &file, &h, &info), TXM_OK);
    ck_assert_uint_eq(h.width, 5);
    ck_assert_uint_eq(h.height, 3);
    ck_assert_uint_eq(h.file_samples, 3);
    ck_assert_uint_gt(h.data_bytes, 0);
    ck_assert_mem_eq(file.data + h.data_offset - 4, "IDAT", 4);
    file.data[19]++; /* this changes the width, so the CRC is wrong */
    ck_assert_int_ne(read_header("bad.png", &file, &h, &info), TXM_OK);
    file.size = 20;
    ck_assert_int_ne(read_header("short.png", &file, &h, &info), TXM_OK);
    txm_bytes_free(&file);
}
END_TEST

/* ---- tx files ---------------------------------------------------------------------------------------------------- */

static const char *make_tx(const char *name, made_image *image, made_content content)
{
    const char *path = temp_file(name);
    *image = make_image(200, 100, 4, TXM_TYPE_U8, 64, (txm_compression){TXM_CODEC_ZIP, 1}, content);
    write_foreign_tiff(path, image, (foreign_tiff){.compression = 8, .predictor = 1});
    return path;
}

START_TEST(views_describe_tiles_of_each_level)
{
    made_image image;
    txm_view_texture v;
    txm_error err = {0};
    txm_tx *tx = open_tx(make_tx("view.tx", &image, MADE_SMOOTH));
    ck_assert_msg(txm_view_describe(tx, TXM_EXTENSION_REPEAT, 0, false, &v, &err) == TXM_OK, "%s", err.message);
    ck_assert_uint_eq(v.width, 200);
    ck_assert_uint_eq(txm_view_tiles_across(&v, 0), 4);
    ck_assert_uint_eq(txm_view_tiles(&v, 0), 8);
    ck_assert_uint_eq(txm_view_tiles(&v, v.levels - 1), 1);
    /* A tile that is kept is the window that a reader defines. */
    uint8_t *tile = calloc(1, v.tile_bytes), *spare = calloc(1, txm_view_converted_bytes(&v));
    bool opaque = true;
    ck_assert_msg(txm_view_read_tile(tx, &v, 0, 0, 0, tile, spare, &opaque, &err) == TXM_OK, "%s", err.message);
    uint32_t edge = 64 + 2 * TXM_BORDER_PX;
    uint8_t *window = brute_window(&image, 0, 0, 0, 64, 64, TXM_BORDER_PX, TXM_EXTENSION_REPEAT);
    ck_assert_mem_eq(tile, window, (size_t)edge * 4);
    free(window);
    /* If the view starts at level 1, its level 0 is the file's level 1. */
    ck_assert_int_eq(txm_view_describe(tx, TXM_EXTENSION_REPEAT, 1, false, &v, &err), TXM_OK);
    ck_assert_uint_eq(v.width, 100);
    free(tile);
    free(spare);
    txm_tx_close(&tx);
    free_image(&image);
}
END_TEST

static void count_tile(void *user, uint32_t level, const uint8_t *pixels, uint32_t w, uint32_t h)
{
    (void)pixels;
    if (level == 0)
        *(uint64_t *)user += (uint64_t)w * h;
}

START_TEST(the_census_counts_every_tile)
{
    made_image image;
    txm_tile_census census = {0};
    txm_error err = {0};
    uint64_t pixels = 0;
    txm_tx *tx = open_tx(make_tx("census.tx", &image, MADE_CONSTANT));
    ck_assert_int_eq(txm_tile_census_take(tx, NULL, count_tile, &pixels, &census, &err), TXM_OK);
    ck_assert_uint_eq(pixels, 200 * 100);
    ck_assert_uint_eq(census.level[0].tiles, 8);
    ck_assert_uint_eq(census.level[0].constant, 8);
    ck_assert_uint_eq(census.level[0].damaged, 0);
    ck_assert_uint_le(census.level[0].smallest, census.level[0].largest);
    ck_assert_uint_eq(census.entries[0][7].constant, true);
    txm_tile_census_clear(&census);
    volatile int cancel = 1;
    ck_assert_int_eq(txm_tile_census_take(tx, &cancel, NULL, NULL, &census, &err), TXM_STATUS_CANCELLED);
    txm_tile_census_clear(&census);
    txm_tx_close(&tx);
    free_image(&image);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts of source, sample and inspect");
    TCase *t = add_case(suite, "parts");
    add_tests(t, png_depths_become_bytes, png_keys_become_alpha, png_headers_are_checked,
              views_describe_tiles_of_each_level, the_census_counts_every_tile);
    return run_suite(suite);
}
