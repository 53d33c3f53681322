/* SPDX-License-Identifier: Apache-2.0
 * The reader on real files: those of testdata/tx (made by other programs, damaged, unsupported), and the golden ones,
 * which Blender's own writer made. The pixels of every level have the recorded SHA-256. */
#include <dirent.h>
#include <openssl/evp.h>

#include "txtile/reader.h"
#include "util_check.h"
#include "util_tx.h"

static const char *golden;
static const char tx_folder[] = "testdata/tx";

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
            txm_status status =
                txm_tx_read_tile(tx, REQUEST(dst, pixel, row, .level = level, .tile_x = x, .tile_y = y), &err);
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

/* Compares every level that a table lists and returns how many there were. */
static unsigned compare_levels(const char *table, const char *folder)
{
    char line[1024], path[2048];
    FILE *f = fopen(table, "r");
    ck_assert_ptr_nonnull(f);
    unsigned seen = 0;
    while (fgets(line, sizeof line, f)) {
        char name[256], type[16], sha[65], got[65];
        unsigned level, w, h, channels;
        if (*line == '#' ||
            sscanf(line, "%255[^\t]\t%u\t%ux%u\t%u\t%15s\t%64s", name, &level, &w, &h, &channels, type, sha) != 7)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, name);
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
    return seen;
}

TEST(levels_of_test_files)
{
    /* The values were recorded with OpenImageIO, which uses libtiff's and OpenEXR's decoders. */
    ck_assert_uint_gt(compare_levels("testdata/tx/levels.tsv", tx_folder), 100);
}

TESTS(levels_of_golden_files, golden != NULL)
{
    ck_assert_uint_gt(compare_levels("testdata/golden/levels.tsv", golden), 500);
}

typedef void (*file_fn)(const char *path);

static unsigned each_file(const char *prefix, file_fn fn)
{
    char path[2048];
    unsigned seen = 0;
    DIR *dir = opendir(tx_folder);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e; (e = readdir(dir));)
        if (strncmp(e->d_name, prefix, strlen(prefix)) == 0) {
            snprintf(path, sizeof path, "%s/%s", tx_folder, e->d_name);
            fn(path);
            seen++;
        }
    closedir(dir);
    return seen;
}

/* Opens the file, reads all its tiles with borders, and returns the first failure. */
static txm_status first_failure(const char *path, txm_error *err)
{
    SCOPED(txm_tx_close) txm_tx *tx = NULL;
    txm_status status = txm_tx_open(path, &tx, err);
    if (status != TXM_OK)
        return status;
    const txm_tx_info *info = txm_tx_info_of(tx);
    size_t px = info->channels * txm_type_bytes(info->type), row = (info->tile_w + 4) * px;
    FREED uint8_t *out = malloc(row * (info->tile_h + 4));
    for (uint32_t i = 0; i < info->levels; i++) {
        const txm_tx_level *l = txm_tx_level_of(tx, i);
        for (uint64_t t = 0; status == TXM_OK && t < (uint64_t)l->tiles_x * l->tiles_y; t++)
            status = txm_tx_read_tile(tx,
                                      REQUEST(out, px, row, .level = i, .tile_x = (uint32_t)(t % l->tiles_x),
                                              .tile_y = (uint32_t)(t / l->tiles_x), .padding_px = 2,
                                              .extension = TXM_EXTENSION_MIRROR),
                                      err);
    }
    return status;
}

static void is_good(const char *path)
{
    txm_error err = {0};
    ck_assert_msg(first_failure(path, &err) == TXM_OK, "%s", err.message);
}

static void is_bad(const char *path)
{
    txm_error err = {0};
    txm_status status = first_failure(path, &err);
    ck_assert_msg(status == TXM_STATUS_CORRUPT || status == TXM_STATUS_TOO_LARGE, "%s: %s, %s", path,
                  txm_status_name(status), err.message);
    ck_assert_msg(strstr(err.message, path) != NULL, "%s does not name the file", err.message);
}

static void is_unsupported(const char *path)
{
    txm_error err = {0};
    txm_status status = first_failure(path, &err);
    if (status == TXM_OK && strstr(path, "-dwaa-")) /* only OpenEXRCore 3.3 and later reads it */
        return;
    ck_assert_msg(status == TXM_STATUS_UNSUPPORTED, "%s: %s, %s", path, txm_status_name(status), err.message);
    ck_assert_msg(strstr(err.message, path) != NULL, "%s does not name the file", err.message);
}

TEST(good_bad_and_unsupported_files)
{
    ck_assert_uint_ge(each_file("good-", is_good), 17);
    ck_assert_uint_ge(each_file("bad-", is_bad), 19);
    ck_assert_uint_ge(each_file("unsupported-", is_unsupported), 9);
}

TEST(sections_that_txmill_made_are_valid)
{
    static const char *const names[] = {"testdata/tx/good-txmill-rgba8-zip-borders-16.tx",
                                        "testdata/tx/good-txmill-gray8-zstd-borders-32.tx",
                                        "testdata/tx/good-txmill-rgbahalf-zip-borders-16.exr.tx"};
    for (int i = 0; i < 3; i++) {
        SCOPED(txm_tx_close) txm_tx *tx = NULL;
        txm_error err = {0};
        ck_assert_msg(txm_tx_open(names[i], &tx, &err) == TXM_OK, "%s", err.message);
        ck_assert_int_eq(txm_tx_info_of(tx)->section, TXM_SECTION_STATE_VALID);
        for (uint32_t k = 0; k < txm_tx_info_of(tx)->levels; k++) {
            const txm_tx_level *l = txm_tx_level_of(tx, k);
            for (uint32_t t = 0; t < l->tiles_x * l->tiles_y; t++)
                ck_assert_msg(txm_tx_check_border(tx, k, t % l->tiles_x, t / l->tiles_x, &err) == TXM_OK, "%s",
                              err.message);
        }
    }
}

TESTS(every_file_is_accepted, golden != NULL)
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
        ck_assert_int_eq(txm_tx_info_of(tx)->section, TXM_SECTION_STATE_NONE);
        txm_tx_close(&tx);
        seen++;
    }
    closedir(dir);
    ck_assert_uint_ge(seen, 95);
}

int main(void)
{
    golden = getenv("TXM_GOLDEN_TX");
    if (!golden)
        puts("skip reader_golden (TXM_GOLDEN_TX does not name a folder of golden tx files)");
    return run_tests();
}
