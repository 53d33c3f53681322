/* SPDX-License-Identifier: Apache-2.0
 * Compression of scenes for tests. */
#include <check.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/bytes.h"
#include "util_blend.h"
#include "util_scene_file.h"

uint8_t *scene_load(const char *path, size_t *bytes)
{
    size_t packed_bytes;
    uint8_t *packed = slurp(path, &packed_bytes);
    if (memcmp(packed, "BLENDER", 7) == 0) {
        *bytes = packed_bytes;
        return packed;
    }
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer in = {packed, packed_bytes, 0};
    txm_bytes out = {0};
    char chunk[65536];
    while (in.pos < in.size) {
        ZSTD_outBuffer o = {chunk, sizeof chunk, 0};
        ck_assert(!ZSTD_isError(ZSTD_decompressStream(context, &o, &in)));
        ck_assert(txm_bytes_add(&out, chunk, o.pos));
    }
    ZSTD_freeDCtx(context);
    free(packed);
    *bytes = out.size;
    return (uint8_t *)out.data;
}

static void put_le32(txm_bytes *b, uint32_t v)
{
    uint8_t p[4] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};
    ck_assert(txm_bytes_add(b, p, 4));
}

uint8_t *scene_zstd(const uint8_t *data, size_t bytes, size_t frame_bytes, bool seek_table, size_t *out_bytes)
{
    txm_bytes out = {0}, table = {0};
    uint32_t frames = 0;
    for (size_t at = 0; at < bytes; at += frame_bytes, frames++) {
        size_t n = bytes - at < frame_bytes ? bytes - at : frame_bytes;
        ck_assert(txm_bytes_reserve(&out, ZSTD_compressBound(n)));
        size_t packed = ZSTD_compress(out.data + out.size, ZSTD_compressBound(n), data + at, n, 3);
        ck_assert(!ZSTD_isError(packed));
        out.size += packed;
        put_le32(&table, (uint32_t)packed);
        put_le32(&table, (uint32_t)n);
    }
    if (seek_table) {
        put_le32(&out, 0x184D2A5E);
        put_le32(&out, (uint32_t)table.size + 9);
        txm_bytes_add(&out, table.data, table.size);
        put_le32(&out, frames);
        txm_bytes_add(&out, "\0", 1);
        put_le32(&out, 0x8F92EAB1);
    }
    txm_bytes_free(&table);
    *out_bytes = out.size;
    return (uint8_t *)out.data;
}

uint8_t *scene_gzip(const uint8_t *data, size_t bytes, size_t *out_bytes)
{
    struct isal_zstream s;
    size_t room = bytes + bytes / 8 + 1024;
    uint8_t *out = malloc(room);
    ck_assert_ptr_nonnull(out);
    isal_deflate_stateless_init(&s);
    s.gzip_flag = IGZIP_GZIP;
    s.end_of_stream = 1;
    s.next_in = (uint8_t *)data;
    s.avail_in = (uint32_t)bytes;
    s.next_out = out;
    s.avail_out = (uint32_t)room;
    ck_assert_int_eq(isal_deflate_stateless(&s), COMP_OK);
    *out_bytes = s.total_out;
    return out;
}
