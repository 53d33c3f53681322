/* SPDX-License-Identifier: Apache-2.0
 *
 * Undoing PNG's filters: vector code against the scalar specification. */
#include "mill/source/png/png_unfilter.h"
#include "util_check.h"
#include "util_png.h"

static const size_t pixel_sizes[] = {1, 2, 3, 4, 6, 8};
enum { PIXEL_SIZES = 6, MAX_ROW = 400, GUARD = 32 };

/* Rows end exactly where their memory ends, so that AddressSanitizer sees accesses beyond. After `out` come guard bytes
 * instead, which must not change. */
static void compare_row(const txm_unfilter_ops *ops, int filter, size_t bpp, size_t bytes, uint64_t *seed)
{
    uint8_t *raw = malloc(bytes), *prior = malloc(bytes), *want = malloc(bytes), got[MAX_ROW + GUARD];

    test_noise(seed, raw, bytes);
    test_noise(seed, prior, bytes);
    memset(got, 0xa5, sizeof got);
    txm_unfilter_scalar.undo[filter][bpp](raw, prior, want, bytes);
    ops->undo[filter][bpp](raw, prior, got, bytes);
    ck_assert_msg(memcmp(got, want, bytes) == 0, "%s filter %d, %zu bytes a pixel, %zu a row", ops->name, filter, bpp,
                  bytes);
    for (size_t i = bytes; i < bytes + GUARD; i++)
        if (got[i] != 0xa5)
            ck_abort_msg("%s filter %d writes past the row", ops->name, filter);
    free(raw);
    free(prior);
    free(want);
}

TEST(vector_filters_agree_with_scalar)
{
    const txm_unfilter_ops *list[3];
    size_t count = txm_unfilter_all(list);
    uint64_t seed = 1;

    for (size_t o = 0; o < count; o++)
        for (int filter = 0; filter < TXM_PNG_FILTERS; filter++)
            for (int b = 0; b < PIXEL_SIZES; b++)
                for (size_t w = 1; w * pixel_sizes[b] <= MAX_ROW; w += w < 50 ? 1 : 13)
                    compare_row(list[o], filter, pixel_sizes[b], w * pixel_sizes[b], &seed);
}

/* Two or four Paeth rows at once, in memory with a gap after each row, must equal one after the other. */
static void compare_rows(const txm_unfilter_ops *ops, int rows, size_t bpp, size_t bytes, uint64_t *seed)
{
    size_t stride = bytes + 1, gap = bytes + GUARD;
    FREED uint8_t *raw = malloc(4 * stride), *prior = malloc(bytes), *got = malloc(4 * gap), *want = malloc(bytes);
    uint8_t *out[4];
    const uint8_t *above = prior;

    test_noise(seed, raw, 4 * stride);
    test_noise(seed, prior, bytes);
    memset(got, 0xa5, 4 * gap);
    for (int k = 0; k < 4; k++)
        out[k] = got + (size_t)k * gap;
    (rows == 4 ? ops->paeth_4 : ops->paeth_2)[bpp](raw, stride, prior, out, bytes);
    for (int k = 0; k < 4; k++) {
        for (size_t i = k < rows ? bytes : 0; i < gap; i++)
            if (out[k][i] != 0xa5)
                ck_abort_msg("%s: %d rows write outside row %d", ops->name, rows, k);
        if (k >= rows)
            continue;
        txm_unfilter_scalar.undo[TXM_PNG_PAETH][bpp](raw + (size_t)k * stride, above, want, bytes);
        if (memcmp(out[k], want, bytes) != 0)
            ck_abort_msg("%s: row %d of %d, %zu bytes a pixel, %zu a row", ops->name, k, rows, bpp, bytes);
        above = out[k];
    }
}

TEST(several_rows_agree_with_one_by_one)
{
    const txm_unfilter_ops *list[3];
    size_t count = txm_unfilter_all(list);
    uint64_t seed = 2;

    ck_assert_str_eq(list[count - 1]->name, "scalar");
    for (size_t o = 0; o + 1 < count; o++)
        for (int rows = 2; rows <= 4; rows += 2)
            for (int b = 0; b < PIXEL_SIZES; b++)
                for (size_t w = 1; w < 40; w++)
                    compare_rows(list[o], rows, pixel_sizes[b], w * pixel_sizes[b], &seed);
}

/* Two pixels of 8 bytes hold eight cases: the first pixel provides a and c, and the second one is predicted. */
TEST(paeth_of_every_a_b_c)
{
    const txm_unfilter_ops *list[3];
    size_t count = txm_unfilter_all(list);
    uint8_t raw[16] = {0}, prior[16], want[16], got[16];

    for (unsigned c = 0; c < 256; c++)
        for (unsigned b = 0; b < 256; b++)
            for (unsigned a = 0; a < 256; a += 8) {
                memset(prior, (int)c, 8);
                memset(prior + 8, (int)b, 8);
                for (unsigned i = 0; i < 8; i++)
                    raw[i] = (uint8_t)(a + i - c);
                txm_unfilter_scalar.undo[TXM_PNG_PAETH][8](raw, prior, want, sizeof raw);
                for (size_t o = 0; o + 1 < count; o++) {
                    list[o]->undo[TXM_PNG_PAETH][8](raw, prior, got, sizeof raw);
                    if (memcmp(got, want, sizeof got) != 0)
                        ck_abort_msg("%s: Paeth of %u.., %u, %u", list[o]->name, a, b, c);
                }
            }
}
