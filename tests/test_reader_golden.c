/* SPDX-License-Identifier: Apache-2.0
 * The reader on tx files that Blender's own writer made: every level's pixels have the recorded SHA-256. */
#include <check.h>
#include <dirent.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "txmill/reader.h"

static const char *golden;

/* Reads a level tile by tile into one tight image. */
static uint8_t *read_level(txm_tx *tx, uint32_t level, size_t *bytes)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    const txm_tx_level *l = txm_tx_level_of(tx, level);
    txm_error err = {0};
    size_t pixel = info->channels * txm_type_bytes(info->type), row = l->width * pixel;
    uint8_t *image = malloc(row * l->height);
    for (uint32_t y = 0; y < l->tiles_y; y++)
        for (uint32_t x = 0; x < l->tiles_x; x++) {
            uint8_t *dst = image + (size_t)y * info->tile_h * row + x * info->tile_w * pixel;
            txm_status status = txm_tx_read_tile(tx, level, x, y, dst, pixel, row, NULL, NULL, &err);
            ck_assert_msg(status == TXM_OK, "%s", err.message);
        }
    *bytes = row * l->height;
    return image;
}

static void sha256_hex(const void *data, size_t bytes, char out[65])
{
    unsigned char digest[32];
    ck_assert_int_eq(EVP_Digest(data, bytes, digest, NULL, EVP_sha256(), NULL), 1);
    for (int i = 0; i < 32; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

START_TEST(levels_have_the_recorded_pixels)
{
    char line[1024], path[2048];
    FILE *f = fopen("testdata/golden/levels.tsv", "r");
    ck_assert_ptr_nonnull(f);
    unsigned seen = 0;
    while (fgets(line, sizeof line, f)) {
        char name[256], type[16], sha[65], got[65];
        unsigned level, w, h, channels;
        if (*line == '#' ||
            sscanf(line, "%255[^\t]\t%u\t%ux%u\t%u\t%15s\t%64s", name, &level, &w, &h, &channels, type, sha) != 7)
            continue;
        snprintf(path, sizeof path, "%s/%s", golden, name);
        txm_tx *tx;
        txm_error err = {0};
        ck_assert_msg(txm_tx_open(path, &tx, &err) == TXM_OK, "%s", err.message);
        const txm_tx_info *info = txm_tx_info_of(tx);
        const txm_tx_level *l = txm_tx_level_of(tx, level);
        ck_assert_ptr_nonnull(l);
        ck_assert_uint_eq(l->width, w);
        ck_assert_uint_eq(l->height, h);
        ck_assert_uint_eq(info->channels, channels);
        ck_assert_str_eq(txm_type_name(info->type), type);
        size_t bytes;
        uint8_t *image = read_level(tx, level, &bytes);
        sha256_hex(image, bytes, got);
        ck_assert_msg(strcmp(got, sha) == 0, "%s level %u: pixels differ", name, level);
        free(image);
        txm_tx_close(&tx);
        seen++;
    }
    fclose(f);
    ck_assert_uint_gt(seen, 500);
}
END_TEST

START_TEST(every_file_is_accepted)
{
    char path[2048], reason[256];
    DIR *dir = opendir(golden);
    ck_assert_ptr_nonnull(dir);
    unsigned seen = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        if (*e->d_name == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", golden, e->d_name);
        txm_tx *tx;
        txm_error err = {0};
        ck_assert_msg(txm_tx_open(path, &tx, &err) == TXM_OK, "%s", err.message);
        ck_assert_msg(txm_tx_cycles_accepts(tx, reason, sizeof reason), "%s: %s", path, reason);
        ck_assert_str_eq(txm_tx_metadata_of(tx, "Software"), "Blender maketx v0");
        ck_assert_uint_eq(strlen(txm_tx_metadata_of(tx, "oiio:SHA-1")), 40);
        ck_assert_ptr_nonnull(txm_tx_metadata_of(tx, "oiio:AverageColor"));
        ck_assert_int_eq(txm_tx_info_of(tx)->section, TXM_SECTION_NONE);
        txm_tx_close(&tx);
        seen++;
    }
    closedir(dir);
    ck_assert_uint_ge(seen, 95);
}
END_TEST

int main(void)
{
    golden = getenv("TXM_GOLDEN_TX");
    if (!golden) {
        puts("skip reader_golden (TXM_GOLDEN_TX does not name a folder of golden tx files)");
        return 0;
    }
    Suite *suite = suite_create("reader_golden");
    TCase *tc = tcase_create("reader_golden");
    suite_add_tcase(suite, tc);
    tcase_add_test(tc, levels_have_the_recorded_pixels);
    tcase_add_test(tc, every_file_is_accepted);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
