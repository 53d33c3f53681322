/* SPDX-License-Identifier: Apache-2.0
 * Sources are read as the OpenImageIO of Blender reads them, whichever reader and whichever version of OpenImageIO
 * reads them here. testdata/oiio/pixels.tsv has what version 3.1 gives. */
#include <openssl/evp.h>

#include "base/mem.h"
#include "mill/source/source.h"
#include "util_check.h"

enum { MAX_ROWS = 400 };

typedef struct expected {
    char file[80], layout[40], pixels[65], half[65];
} expected;

static expected rows[MAX_ROWS];
static int row_count;

static void load(void)
{
    char line[400], *path = txm_asprintf("%s/oiio/pixels.tsv", getenv("TXM_TESTDATA"));
    FILE *f = fopen(path, "r");
    while (f && row_count < MAX_ROWS && fgets(line, sizeof line, f)) {
        expected *r = &rows[row_count];
        if (*line != '#' && sscanf(line, "%79[^\t]\t%39[^\t]\t%64s\t%64s", r->file, r->layout, r->pixels, r->half) == 4)
            row_count++;
    }
    if (f)
        fclose(f);
    free(path);
}

/* Expects the table's layout and digest of all rows. */
static void read_pixels(const char *path, bool half, char layout[40], char digest[65])
{
    static const char *const types[] = {"uint8", "uint16", "half", "float"};
    SCOPED(txm_source_close) txm_source *s = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_source_open(path, NULL, &s, &err) == TXM_OK, "%s", err.message);
    const txm_source_info *i = txm_source_info_of(s);
    snprintf(layout, 40, "%ux%u %u/%u %s", i->width, i->height, i->channels, i->file_channels, types[i->type]);
    ck_assert_int_eq(half, half && i->narrowed);
    if (half) {
        ck_assert_msg(txm_source_as_half(s, &err) == TXM_OK, "%s", err.message);
        ck_assert_int_eq(i->type, TXM_TYPE_HALF);
    }
    size_t stride = (size_t)i->width * i->channels * txm_type_bytes(i->type);
    FREED uint8_t *pixels = malloc(stride * i->height);
    for (uint32_t y = 0, n; y < i->height; y += n) {
        n = i->height - y < 13 ? i->height - y : 13; /* does not match the blocks of any file */
        ck_assert_msg(txm_source_read(s, y, n, pixels + y * stride, stride, &err) == TXM_OK, "%s", err.message);
    }
    uint8_t sha[32];
    ck_assert_int_eq(EVP_Digest(pixels, stride * i->height, sha, NULL, EVP_sha256(), NULL), 1);
    for (int k = 0; k < 32; k++)
        sprintf(digest + 2 * k, "%02x", sha[k]);
}

TESTS(pixels, row_count)
{
    const expected *r = &rows[_i];
    char layout[40], digest[65], *path = txm_asprintf("%s/%s", getenv("TXM_TESTDATA"), r->file);
    read_pixels(path, false, layout, digest);
    ck_assert_msg(strcmp(layout, r->layout) == 0, "%s: %s, OpenImageIO: %s", r->file, layout, r->layout);
    ck_assert_msg(strcmp(digest, r->pixels) == 0, "%s: other pixels than OpenImageIO's", r->file);
    if (strcmp(r->half, "-") != 0) {
        read_pixels(path, true, layout, digest);
        ck_assert_msg(strcmp(digest, r->half) == 0, "%s: other pixels than OpenImageIO's as half", r->file);
    }
    free(path);
}

/* Only samples that were narrowed are read as half, and only from the start. */
TESTS(half_is_for_what_was_narrowed, 3)
{
    static const struct {
        const char *file;
        uint32_t rows;
    } refused[] = {{"oiio/uint16.ppm", 0}, {"sources/rgb.bmp", 0}, {"oiio/int16.tif", 1}};
    char *path = txm_asprintf("%s/%s", getenv("TXM_TESTDATA"), refused[_i].file), row[1024];
    SCOPED(txm_source_close) txm_source *s = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_source_open(path, NULL, &s, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_eq(txm_source_read(s, 0, refused[_i].rows, row, sizeof row, NULL), TXM_OK);
    ck_assert_int_eq(txm_source_as_half(s, &err), TXM_STATUS_USAGE);
    free(path);
}

int main(void)
{
    load();
    if (row_count < 200) {
        fprintf(stderr, "testdata/oiio/pixels.tsv is missing or damaged\n");
        return EXIT_FAILURE;
    }
    return run_tests_in_one_process();
}
