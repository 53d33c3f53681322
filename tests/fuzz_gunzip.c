/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes the reader of gzip files, its threads and guesses included: what zlib takes it must take, and give the same;
 * and fail where zlib fails. Half of the inputs are files as they come; the other half is compressed first, many times
 * over, so that mutations need not find out how, and damaged then.
 * Seeds: testdata/blend/lint.json testdata/golden/[a-z]*8.png */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "codec/gunzip.h"
#include "util_deflate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CONTROL_BYTES = 8, MOST_BYTES = 1 << 20, COPIES = 8 };

static void must(bool good)
{
    if (!good)
        abort();
}

typedef struct file {
    uint8_t *data;
    size_t bytes;
} file;

static bool read_file(void *context, uint64_t offset, uint8_t *dst, size_t bytes, size_t *got)
{
    const file *f = context;
    size_t left = offset < f->bytes ? f->bytes - (size_t)offset : 0;
    *got = left < bytes ? left : bytes;
    memcpy(dst, f->data + offset, *got);
    return true;
}

/* The bytes over and over, each time changed a little, so that there is something to guess. */
static file compress_and_damage(const uint8_t *control, const uint8_t *data, size_t bytes)
{
    static const int flushes[] = {Z_NO_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_PARTIAL_FLUSH};
    deflate_kind kind = {control[1] % 10, control[2] % 5, 1 + control[3] % 9, flushes[control[1] >> 6],
                         control[2] & 0x80 ? 500 : 0};
    uint8_t *many = malloc(COPIES * bytes);
    must(many);
    for (size_t i = 0; i < COPIES * bytes; i++)
        many[i] = (uint8_t)(data[i % bytes] ^ (i % 61 == 0 ? i / bytes * 37 : 0));
    file f = {0};
    f.data = deflate_member(many, COPIES * bytes, kind, &f.bytes);
    free(many);
    f.data[(control[4] | (size_t)control[5] << 8) * f.bytes >> 16] ^= control[6]; /* 0: undamaged */
    return f;
}

static void check(file *f, txm_gunzip_settings settings)
{
    static uint8_t dst[MOST_BYTES + 1];
    uint8_t *expected;
    size_t expected_bytes, total = 0, got = 1;
    bool good = zlib_gunzip(f->data, f->bytes, MOST_BYTES, &expected, &expected_bytes);
    txm_gunzip *g = txm_gunzip_new(&settings, f->bytes, read_file, read_file, f);
    must(g);
    txm_gunzipped status = TXM_GUNZIP_OK;
    for (; status == TXM_GUNZIP_OK && got; total += got)
        status = txm_gunzip_pull(g, dst + total, sizeof dst - total, &got);
    must(total <= expected_bytes && memcmp(dst, expected, total) == 0);
    if (expected_bytes <= MOST_BYTES) /* else what follows is not known */
        must((status == TXM_GUNZIP_OK) == good && (!good || total == expected_bytes));
    txm_gunzip_free(&g);
    free(expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= CONTROL_BYTES)
        return 0;
    file f;
    if (data[0] & 1) {
        f = compress_and_damage(data, data + CONTROL_BYTES, size - CONTROL_BYTES);
    } else {
        f = (file){malloc(size - CONTROL_BYTES), size - CONTROL_BYTES};
        must(f.data);
        memcpy(f.data, data + CONTROL_BYTES, f.bytes);
    }
    size_t chunk = 64 + 16 * (size_t)data[7];
    check(&f, (txm_gunzip_settings){{1 + data[0] / 2 % 3, chunk, data[0] & 0x80 ? 20 * chunk : 1 << 18}, 0});
    free(f.data);
    return 0;
}
