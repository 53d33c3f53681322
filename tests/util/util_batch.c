/* SPDX-License-Identifier: Apache-2.0
 * A scratch folder for tests of batches. */
#include "util_batch.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/entries.h"
#include "util_png.h"

static char scratch[64];

const char *batch_enter(void)
{
    strcpy(scratch, "/tmp/txm-batch-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(scratch));
    ck_assert_int_eq(chdir(scratch), 0);
    return scratch;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

void batch_leave(void)
{
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

size_t batch_count(void)
{
    txm_entries e = {0};
    ck_assert_int_eq(txm_entries_read(".", &e, NULL), TXM_OK);
    size_t n = e.count;
    txm_entries_free(&e);
    return n;
}

void batch_folder(const char *path)
{
    ck_assert_int_eq(mkdir(path, 0777), 0);
}

void batch_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    ck_assert_int_eq(fclose(f), 0);
}

void batch_png_of(const char *path, unsigned width, unsigned height, int color_type, int depth, const void *rows)
{
    const png_layout layout = {width, height, (uint8_t)depth, (uint8_t)color_type, 0};
    txm_bytes f = {0};
    size_t bytes = png_row_bytes(&layout) * height;
    uint64_t seed = width * 31u + height;
    uint8_t *noise = malloc(bytes);
    test_noise(&seed, noise, bytes);
    png_begin(&f, &layout);
    png_finish(&f, &layout, rows ? rows : noise, 0);
    FILE *out = fopen(path, "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(f.data, 1, f.size, out), f.size);
    ck_assert_int_eq(fclose(out), 0);
    free(noise);
    txm_bytes_free(&f);
}

void batch_png(const char *path, unsigned seed)
{
    batch_png_of(path, 20 + seed % 8, 20 + seed / 8 % 8, PNG_RGB, 8, NULL);
}

/* ---- standard output -------------------------------------------------------------------------------------------- */

static int kept_stdout = -1;

void batch_catch(void)
{
    fflush(stdout);
    kept_stdout = dup(STDOUT_FILENO);
    ck_assert_ptr_nonnull(freopen("caught", "w", stdout));
}

const char *batch_caught(void)
{
    static char text[1 << 20];
    fflush(stdout);
    ck_assert_int_ge(dup2(kept_stdout, STDOUT_FILENO), 0);
    close(kept_stdout);
    FILE *f = fopen("caught", "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    ck_assert_int_eq(unlink("caught"), 0);
    return text;
}
