/* SPDX-License-Identifier: Apache-2.0
 *
 * Small calculations with given inputs: the difference of two levels (level_diff), the meaning of findings for a render
 * (verdict), valid densities of an image, and TIFF's PackBits and horizontal predictor.
 */
#include <math.h>

#include "mill/inspect/level_diff.h"
#include "tile/decode/tiff_decode.h"
#include "tile/name/verdict.h"
#include "tile/terms/density.h"
#include "tile/terms/use_table.h"
#include "util_check.h"

/* ---- level_diff ------------------------------------------------------------------------------------------------- */

/* Returns the difference of two rows of samples, as one tile at (x, y). */
static txm_level_diff diff_at(txm_type type, const void *expected, const void *found, uint32_t samples, uint32_t x,
                              uint32_t y)
{
    txm_level_diff d = {0};
    txm_level_diff_tile(&d, type, 1, expected, 0, found, 0, samples, 1, x, y);
    return d;
}

TEST(equal_tiles_have_no_difference)
{
    const uint8_t a[] = {1, 2, 3};
    txm_level_diff d = diff_at(TXM_TYPE_U8, a, a, 3, 0, 0);
    ck_assert_uint_eq(d.samples, 3);
    ck_assert_uint_eq(d.different, 0);
    ck_assert_uint_eq(d.tiles, 0);
    ck_assert(txm_level_diff_is_parity(&d, TXM_TYPE_U8));
}

TEST(integers_are_apart_by_codes)
{
    const uint16_t a[] = {100, 200, 300, 65535}, b[] = {100, 201, 290, 65535};
    txm_level_diff d = diff_at(TXM_TYPE_U16, a, b, 4, 5, 6);
    ck_assert_uint_eq(d.different, 2);
    ck_assert_uint_eq(d.tiles, 1);
    ck_assert_double_eq(d.worst, 10);
    ck_assert(d.tile_x == 5 && d.tile_y == 6);
}

TEST(halves_are_apart_by_places)
{
    const uint16_t zero = 0, minus_zero = 0x8000, least = 1, minus_least = 0x8001, one = 0x3C00, next = 0x3C01;
    ck_assert_double_eq(diff_at(TXM_TYPE_HALF, &one, &next, 1, 0, 0).worst, 1);
    ck_assert_double_eq(diff_at(TXM_TYPE_HALF, &least, &minus_least, 1, 0, 0).worst, 2);
    ck_assert_double_eq(diff_at(TXM_TYPE_HALF, &zero, &minus_zero, 1, 0, 0).worst, 0);
}

TEST(floats_are_apart_by_value_and_nan_by_everything)
{
    const float a[] = {8, -16, 1}, b[] = {8.5f, -16, 1}, nan = NAN;
    txm_level_diff d = diff_at(TXM_TYPE_FLOAT, a, b, 3, 0, 0);
    ck_assert_double_eq(d.worst, 0.5);
    ck_assert_double_eq(d.maximum, 16);
    ck_assert(isinf(diff_at(TXM_TYPE_FLOAT, a, &nan, 1, 0, 0).worst));
}

TEST(merging_does_not_depend_on_order)
{
    const uint8_t a[] = {10, 10}, near[] = {11, 10}, far[] = {14, 10};
    const txm_level_diff parts[] = {diff_at(TXM_TYPE_U8, a, near, 2, 0, 0), diff_at(TXM_TYPE_U8, a, far, 2, 3, 1),
                                    diff_at(TXM_TYPE_U8, a, far, 2, 2, 1), diff_at(TXM_TYPE_U8, a, a, 2, 0, 1)};
    static const int orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}};
    for (int o = 0; o < 3; o++) {
        txm_level_diff sum = {0};
        for (int i = 0; i < 4; i++)
            txm_level_diff_merge(&sum, &parts[orders[o][i]]);
        ck_assert_uint_eq(sum.samples, 8);
        ck_assert_uint_eq(sum.different, 3);
        ck_assert_uint_eq(sum.tiles, 3);
        ck_assert_double_eq(sum.worst, 4);
        ck_assert(sum.tile_x == 2 && sum.tile_y == 1); /* the first of equally bad ones */
    }
}

TEST(parity_is_rare_rounding)
{
    txm_level_diff d = {.samples = 1000, .different = 1, .worst = 1};
    ck_assert(txm_level_diff_is_parity(&d, TXM_TYPE_U8)); /* even a single sample in a small level */
    d.different = 2;
    ck_assert(!txm_level_diff_is_parity(&d, TXM_TYPE_U8));
    d.samples = 1000000;
    d.different = 10;
    ck_assert(txm_level_diff_is_parity(&d, TXM_TYPE_HALF));
    d.different = 11;
    ck_assert(!txm_level_diff_is_parity(&d, TXM_TYPE_HALF));
    d.different = 1;
    d.worst = 2;
    ck_assert(!txm_level_diff_is_parity(&d, TXM_TYPE_HALF));
    d = (txm_level_diff){.samples = 10, .different = 10, .worst = 1e-5, .maximum = 16};
    ck_assert(txm_level_diff_is_parity(&d, TXM_TYPE_FLOAT));
    d.maximum = 1;
    ck_assert(!txm_level_diff_is_parity(&d, TXM_TYPE_FLOAT));
}

/* ---- verdict ---------------------------------------------------------------------------------------------------- */

/* These verdicts depend on a name and times, before any file is opened; tests/tools/cli_verdicts.sh tests the rest. */
TEST(cycles_compares_times_before_it_opens_a_file)
{
    txm_evidence e = {.path = "/nowhere", .has_image = true, .image_time = 1000, .tx_time = 4600, .refusal = "torn"};
    txm_verdict v;
    txm_decide(&e, &v);
    ck_assert_int_eq(v.use, TXM_USE_OUTDATED);
    ck_assert(!v.used);
    ck_assert_str_eq(v.reason, "the image is older than the tx file by 1 hour");
    e.tx_time = e.image_time;
    txm_decide(&e, &v);
    ck_assert_int_eq(v.use, TXM_USE_UNREADABLE);
    ck_assert_str_eq(v.reason, "torn");
    ck_assert_ptr_nonnull(strstr(v.shows, "source image"));
    e.no_file = true;
    txm_decide(&e, &v);
    ck_assert_str_eq(v.reason, "not a regular file");
    e.missing = true;
    txm_decide(&e, &v);
    ck_assert_int_eq(v.use, TXM_USE_MISSING);
    ck_assert_str_eq(v.reason, "");
}

/* A file that scenes name directly is not compared with an image. */
TEST(files_of_other_names_have_no_image)
{
    const txm_evidence e = {.path = "/nowhere", .direct = true, .has_image = true, .tx_time = 1, .refusal = "torn"};
    txm_verdict v;
    txm_decide(&e, &v);
    ck_assert_int_eq(v.use, TXM_USE_UNREADABLE);
}

TEST(every_use_is_a_state)
{
    for (int use = TXM_USE_MISSING; use <= TXM_USE_LOADED; use++) {
        const bool used = use == TXM_USE_LOADED || use == TXM_USE_DIRECT;
        ck_assert_int_eq(txm_use_row_of((txm_use)use)->state == TXM_TX_STATE_FRESH, used);
        ck_assert_str_ne(txm_use_name((txm_use)use), "unknown");
    }
    ck_assert_int_eq(txm_use_row_of(TXM_USE_MISSING)->state, TXM_TX_STATE_MISSING);
    ck_assert_int_eq(txm_use_row_of(TXM_USE_OUTDATED)->state, TXM_TX_STATE_OUTDATED);
}

/* ---- density ---------------------------------------------------------------------------------------------------- */

TEST(impossible_densities_are_dropped)
{
    static const float nonsense[] = {0, -1, NAN, INFINITY, -INFINITY, 0x1p32f};
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        txm_density d = {.aspect = nonsense[i], .x = 72, .y = nonsense[i]};
        txm_density_drop_nonsense(&d);
        ck_assert(d.aspect == 0 && d.y == 0);
        ck_assert_float_eq(d.x, 72);
    }
}

/* ---- TIFF ------------------------------------------------------------------------------------------------------- */

TEST(packbits)
{
    /* This is the example in Apple's Technical Note 1023. */
    static const uint8_t packed[] = {0xFE, 0xAA, 0x02, 0x80, 0x00, 0x2A, 0xFD, 0xAA,
                                     0x03, 0x80, 0x00, 0x2A, 0x22, 0xF7, 0xAA};
    static const uint8_t plain[] = {0xAA, 0xAA, 0xAA, 0x80, 0x00, 0x2A, 0xAA, 0xAA, 0xAA, 0xAA, 0x80, 0x00,
                                    0x2A, 0x22, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA, 0xAA};
    uint8_t got[sizeof plain + 1];
    ck_assert(txm_packbits_decode(packed, sizeof packed, got, sizeof plain));
    ck_assert_mem_eq(got, plain, sizeof plain);
    for (size_t cut = 0; cut < sizeof packed; cut++)
        ck_assert(!txm_packbits_decode(packed, cut, got, sizeof plain));
    ck_assert(!txm_packbits_decode(packed, sizeof packed, got, sizeof plain + 1));
}

/* Tests widths around those of vectors, in every layout: each sample is the sum of the differences before it in its
 * channel. */
TESTS(horizontal_prediction, 12)
{
    enum { MOST = 67, ROWS = 3 };
    static const uint32_t channels[] = {1, 2, 3, 4};
    static const unsigned sizes[] = {1, 2, 4};
    uint8_t pixels[ROWS * MOST * 4 * 4], plain[sizeof pixels];
    uint32_t c = channels[_i % 4];
    unsigned size = sizes[_i / 4];
    for (uint32_t w = 1; w <= MOST; w++) {
        size_t row = (size_t)w * c * size, bytes = ROWS * row;
        for (size_t i = 0; i < bytes; i++)
            pixels[i] = (uint8_t)(i * 89 + (i >> 3) * 7 + w);
        memcpy(plain, pixels, bytes);
        for (size_t y = 0; y < ROWS; y++)
            for (size_t x = c; x < (size_t)w * c; x++) {
                uint32_t now = 0, before = 0;
                memcpy(&now, plain + y * row + x * size, size);
                memcpy(&before, plain + y * row + (x - c) * size, size);
                now += before;
                memcpy(plain + y * row + x * size, &now, size);
            }
        txm_unpredict_horizontal(pixels, w, ROWS, c, size);
        ck_assert_mem_eq(pixels, plain, bytes);
    }
}
