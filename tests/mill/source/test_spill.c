/* SPDX-License-Identifier: Apache-2.0
 * Bytes that are kept in memory and in an unnamed file. */
#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mill/write/spill.h"
#include "util_check.h"

/* Makes a copy of these bytes. */
static void read_back(txm_spill *s, uint64_t offset, size_t size_bytes, uint8_t *dst)
{
    const uint8_t *bytes = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_spill_view(s, offset, size_bytes, &bytes, &err) == TXM_OK, "%s", err.message);
    memcpy(dst, bytes, size_bytes);
}

/* Memory for none of the bytes, for a part, and for more than all of them. */
START_TEST(round_trip)
{
    static const size_t budgets[] = {0, 1, 70000, 300000, 64 << 20};
    size_t total = 0, at = 0;
    uint8_t *all = malloc(1 << 20), *back = malloc(1 << 20);
    txm_spill *s = txm_spill_new("/tmp", budgets[_i]);
    const uint8_t *bytes = NULL;
    txm_error err = {0};
    ck_assert_ptr_nonnull(s);
    for (size_t i = 0; i < 1 << 20; i++)
        all[i] = (uint8_t)(i * 31 + (i >> 8));
    for (size_t n = 0; total + n < 900000; total += n, n = (n * 5 + 7) % 40000)
        ck_assert_int_eq(txm_spill_add(s, all + total, n, &err), TXM_OK);
    ck_assert_uint_eq(txm_spill_size(s), total);
    for (size_t n = 1; at + n < total; at += n, n = (n * 7 + 3) % 100000)
        read_back(s, at, n, back + at);
    ck_assert_mem_eq(all, back, at);
    ck_assert_int_eq(txm_spill_view(s, total - 1, 2, &bytes, NULL), TXM_STATUS_INTERNAL);
    ck_assert_int_eq(txm_spill_view(s, total + 1, 0, &bytes, NULL), TXM_STATUS_INTERNAL);
    ck_assert_int_eq(txm_spill_view(s, total, 0, &bytes, NULL), TXM_OK);
    txm_spill_free(&s);
    txm_spill_free(&s);
    free(all), free(back);
}
END_TEST

/* Reads back and forth, further than the read-ahead, and across bytes that were added since. */
START_TEST(in_any_order)
{
    enum { PIECE = 9973, PIECES = 200 };
    uint8_t piece[PIECE], *back = malloc(PIECE * PIECES);
    txm_spill *s = txm_spill_new("/tmp", 50000);
    txm_error err = {0};
    uint32_t random = 1;
    ck_assert(s && back);
    for (size_t i = 0; i < PIECES; i++) {
        memset(piece, (int)i + 1, PIECE);
        ck_assert_int_eq(txm_spill_add(s, piece, PIECE, &err), TXM_OK);
        for (int k = 0; k < 10; k++) {
            random = random * 1664525u + 1013904223u;
            size_t first = (random >> 8) % (i + 1), count = 1 + (random >> 20) % (i + 1 - first);
            read_back(s, first * PIECE, count * PIECE, back);
            for (size_t j = 0; j < count; j++) {
                ck_assert_uint_eq(back[j * PIECE], (first + j + 1) & 255);
                ck_assert_uint_eq(back[(j + 1) * PIECE - 1], (first + j + 1) & 255);
            }
        }
    }
    txm_spill_free(&s);
    free(back);
}
END_TEST

START_TEST(no_file_is_left)
{
    char dir[] = "/tmp/txm-spill-XXXXXX";
    static uint8_t block[100000];
    int entries = 0;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    txm_spill *s = txm_spill_new(dir, 10);
    ck_assert_int_eq(txm_spill_add(s, block, sizeof block, NULL), TXM_OK);
    DIR *d = opendir(dir);
    while (readdir(d))
        entries++;
    closedir(d);
    ck_assert_int_eq(entries, 2); /* "." and ".." */
    txm_spill_free(&s);
    ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(failures)
{
    txm_error err = {0};
    uint8_t b[20] = {0};
    txm_spill *s = txm_spill_new("/nonexistent/folder", 10);
    const uint8_t *bytes = NULL;
    ck_assert_int_eq(txm_spill_view(s, 0, 0, &bytes, &err), TXM_OK); /* before anything was written */
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(txm_spill_add(s, b, 10, &err), TXM_OK); /* memory needs no folder */
    ck_assert_int_eq(txm_spill_add(s, b, 1, &err), TXM_STATUS_NOT_FOUND);
    ck_assert(strstr(err.message, "/nonexistent/folder"));
    ck_assert_uint_eq(txm_spill_size(s), 10);
    txm_spill_free(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("spill");
    TCase *t = add_case(s, "spill");
    tcase_add_loop_test(t, round_trip, 0, 5);
    add_tests(t, in_any_order, no_file_is_left, failures);
    return run_suite(s);
}
