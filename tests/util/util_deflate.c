/* SPDX-License-Identifier: Apache-2.0
 * zlib as the source of streams, and as the reference for their content. */
#include "util_deflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { GZIP = 16 + 15 };

static void must(bool good)
{
    if (!good)
        abort();
}

uint8_t *deflate_member(const uint8_t *data, size_t bytes, deflate_kind kind, size_t *packed_bytes)
{
    z_stream z = {0};
    size_t pieces = kind.flush_bytes ? bytes / kind.flush_bytes + 1 : 1, room = 2 * bytes + 64 * pieces + 1024;
    uint8_t *packed = malloc(room);
    must(packed && deflateInit2(&z, kind.level, Z_DEFLATED, GZIP, kind.memory, kind.strategy) == Z_OK);
    z.next_in = (Bytef *)data;
    z.next_out = packed;
    z.avail_out = (uInt)room;
    for (size_t left = bytes; kind.flush_bytes && left > kind.flush_bytes; left -= kind.flush_bytes) {
        z.avail_in = (uInt)kind.flush_bytes;
        must(deflate(&z, kind.flush) == Z_OK && z.avail_in == 0);
    }
    z.avail_in = (uInt)(bytes - (size_t)(z.next_in - data));
    must(deflate(&z, Z_FINISH) == Z_STREAM_END);
    *packed_bytes = z.total_out;
    must(deflateEnd(&z) == Z_OK);
    return packed;
}

/* Inflates one member, as far as there is room. */
static int inflate_member(z_stream *z)
{
    must(inflateReset(z) == Z_OK);
    int rc;
    do {
        rc = inflate(z, Z_NO_FLUSH);
    } while (rc == Z_OK && z->avail_out);
    return rc;
}

bool zlib_gunzip(const uint8_t *file, size_t bytes, size_t most, uint8_t **dst, size_t *got)
{
    z_stream z = {0};
    *dst = malloc(most + 1);
    must(*dst && inflateInit2(&z, GZIP) == Z_OK);
    z.next_in = (Bytef *)file;
    z.avail_in = (uInt)bytes;
    z.next_out = *dst;
    z.avail_out = (uInt)most + 1;
    int rc;
    do {
        rc = inflate_member(&z);
    } while (rc == Z_STREAM_END && z.avail_in >= 2 && z.next_in[0] == 0x1F && z.next_in[1] == 0x8B);
    *got = (size_t)(z.next_out - *dst);
    must(inflateEnd(&z) == Z_OK);
    return rc == Z_STREAM_END && *got <= most;
}
