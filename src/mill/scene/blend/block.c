/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes the file header and the block heads. Both layouts of the header (BLENDER-v405, BLENDER17-01v0500) and all
 * layouts of block heads give the same struct. Sizes and addresses are checked here only for being possible; code that
 * reads blocks checks whether they make sense.
 */
#include "mill/scene/blend/block.h"

#include <ctype.h>
#include <string.h>

#include "base/endian.h"
#include "base/fail.h"

enum { LEGACY_HEADER_BYTES = 12, HEADER_BYTES = 17, MAX_HEAD_BYTES = 32 };

/* A decimal number of exactly `digits` digits; -1 if it is malformed. */
static int number(const char *p, int digits)
{
    int value = 0;
    for (int i = 0; i < digits; i++) {
        if (!isdigit((unsigned char)p[i]))
            return -1;
        value = value * 10 + (p[i] - '0');
    }
    return value;
}

/* A file that is too short to have a header is reported as not being a Blender file. */
txm_status txm_blend_read_header(txm_stream *stream, txm_blend_layout *out, txm_error *err)
{
    const char *name = txm_stream_name(stream);
    char header[HEADER_BYTES];
    txm_blend_layout format = {0};
    txm_error cause = {0};
    bool ok;
    txm_status status = txm_stream_seek(stream, 0, &cause);
    if (status == TXM_OK)
        status = txm_stream_read(stream, header, LEGACY_HEADER_BYTES, &cause);
    if (status != TXM_OK && status != TXM_STATUS_CORRUPT)
        return txm_fail_as(err, &cause);
    if (status != TXM_OK || memcmp(header, "BLENDER", 7) != 0) {
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: not a .blend file: it does not start with BLENDER%s", name,
                        status == TXM_OK ? "" : " (it is too short or damaged)");
    }
    if (header[7] == '-' || header[7] == '_') {
        /* "BLENDER-v405": pointer size, byte order, version. */
        const bool small = header[7] == '_';
        format = (txm_blend_layout){.layout = small ? TXM_BLOCK_HEAD4 : TXM_BLOCK_SMALL_HEAD8,
                                    .header_bytes = LEGACY_HEADER_BYTES,
                                    .head_bytes = small ? 20 : 24,
                                    .pointer_bytes = small ? 4 : 8,
                                    .big_endian = header[8] == 'V',
                                    .version = number(header + 9, 3)};
        ok = format.version >= 0 && (header[8] == 'v' || header[8] == 'V');
    } else {
        status = txm_stream_read(stream, header + LEGACY_HEADER_BYTES, HEADER_BYTES - LEGACY_HEADER_BYTES, err);
        if (status != TXM_OK)
            return status;
        if (number(header + 7, 2) > HEADER_BYTES || number(header + 10, 2) > 1) {
            return txm_fail(err, TXM_STATUS_NEWER, "%s: .blend file format %.2s is newer than this program reads (01)",
                            name, header + 10);
        }
        /* "BLENDER17-01v0502": header size, 8-byte pointers, file format, little endian, version. */
        format = (txm_blend_layout){.layout = TXM_BLOCK_LARGE_HEAD8,
                                    .header_bytes = HEADER_BYTES,
                                    .head_bytes = 32,
                                    .pointer_bytes = 8,
                                    .version = number(header + 13, 4)};
        ok = number(header + 7, 2) == HEADER_BYTES && number(header + 10, 2) == 1 && format.version >= 0 &&
             header[9] == '-' && header[12] == 'v';
    }
    if (!ok)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: damaged .blend header", name);
    *out = format;
    return TXM_OK;
}

/* Takes bytes and not a stream, so that it can decode blocks of the file and of the tape. */
bool txm_block_decode(const txm_blend_layout *format, const uint8_t *head, uint64_t position, txm_block *out)
{
    bool be = format->big_endian;
    txm_block b = {.position = position + format->head_bytes};
    memcpy(b.code, head, 4);
    /* Two-letter codes were written as an integer: on big-endian machines the letters come last. */
    if (!b.code[0] && !b.code[1]) {
        memmove(b.code, b.code + 2, 2);
        b.code[2] = b.code[3] = 0;
    }
    if (format->layout == TXM_BLOCK_LARGE_HEAD8) {
        b.sdna = (uint32_t)txm_load_uint(head + 4, 4, be);
        b.address = txm_load_uint(head + 8, 8, be);
        b.bytes = txm_load_uint(head + 16, 8, be);
    } else {
        unsigned p = format->pointer_bytes;
        b.bytes = txm_load_uint(head + 4, 4, be);
        b.address = txm_load_uint(head + 8, p, be);
        b.sdna = (uint32_t)txm_load_uint(head + 8 + p, 4, be);
        if (b.bytes > INT32_MAX && !txm_block_is(&b, "ENDB"))
            return false;
    }
    if (txm_block_is(&b, "ENDB"))
        b.bytes = 0; /* only the code counts: Blender ignores the rest too */
    *out = b;
    return b.bytes <= INT64_MAX - b.position && isupper((unsigned char)b.code[0]);
}

/* A block that would end beyond the data is refused here, where its position in the file is known. */
txm_status txm_block_read(txm_stream *stream, const txm_blend_layout *format, uint64_t position, txm_block *out,
                          txm_error *err)
{
    uint8_t head[MAX_HEAD_BYTES];
    uint64_t size;
    txm_status status = txm_stream_seek(stream, position, err);
    if (status == TXM_OK)
        status = txm_stream_read(stream, head, format->head_bytes, err);
    if (status != TXM_OK)
        return status;
    if (!txm_block_decode(format, head, position, out)) {
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: impossible block head at byte %llu: the file is damaged",
                        txm_stream_name(stream), (unsigned long long)position);
    }
    if (txm_stream_size(stream, &size) && out->bytes > size - (out->position < size ? out->position : size)) {
        return txm_fail(err, TXM_STATUS_CORRUPT,
                        "%s: the %s block at byte %llu claims %llu bytes, the file ends at byte %llu",
                        txm_stream_name(stream), out->code, (unsigned long long)position,
                        (unsigned long long)out->bytes, (unsigned long long)size);
    }
    return TXM_OK;
}
