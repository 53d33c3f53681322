/* SPDX-License-Identifier: Apache-2.0
 * Parts of the rooms sample and inspect: tx files as a view, the census of tiles. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "tile/ops/ops.h"
#include "tile/sample/view_file.h"
#include "tools/inspect/tile_census.h"
#include "util_check.h"
#include "util_tx.h"
#include "util_writer.h"

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
    add_tests(t, views_describe_tiles_of_each_level, the_census_counts_every_tile);
    return run_suite(suite);
}
