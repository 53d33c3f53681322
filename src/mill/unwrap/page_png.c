/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages as PNG. Rows are stored as differences from the row above and compressed with ISA-L, which is about as fast as
 * most disks.
 */
#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/whole.h"
#include "mill/unwrap/page.h"

enum { IDAT_BYTES = 256 << 10, CHUNK_HEAD_BYTES = 8, UP = 2 };

typedef struct png_writer {
    page_shape shape;
    struct isal_zstream stream;
    uint8_t *level, *row, *above, *filtered;
    uint8_t *chunk; /* length, type, data and CRC */
    size_t row_bytes;
} png_writer;

static txm_status write_bytes(const page_shape *shape, const void *data, size_t bytes, txm_error *err)
{
    const int rc = txm_write_all(shape->fd, data, bytes);
    return rc == 0 ? TXM_OK : txm_fail_errno(err, rc, "%s: cannot write", shape->name);
}

static void store_be32(uint8_t *at, uint32_t value)
{
    value = __builtin_bswap32(value);
    memcpy(at, &value, sizeof value);
}

/* Writes a chunk whose data follow eight bytes of room in `chunk`, and have four more bytes of room after them. */
static txm_status write_chunk(const page_shape *shape, uint8_t *chunk, const char type[4], size_t bytes, txm_error *err)
{
    store_be32(chunk, (uint32_t)bytes);
    memcpy(chunk + 4, type, 4);
    store_be32(chunk + CHUNK_HEAD_BYTES + bytes, libdeflate_crc32(0, chunk + 4, 4 + bytes));
    return write_bytes(shape, chunk, CHUNK_HEAD_BYTES + bytes + 4, err);
}

static txm_status write_png_head(const png_writer *w, txm_error *err)
{
    static const uint8_t magic[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'}, colours[] = {0, 0, 0, 2, 6};
    const page_shape *s = &w->shape;
    uint8_t head[CHUNK_HEAD_BYTES + 13 + 4] = {0}, text[CHUNK_HEAD_BYTES + 256] = {0};
    store_be32(head + 8, s->width);
    store_be32(head + 12, s->height);
    head[16] = (uint8_t)(8 * txm_type_bytes(s->type));
    head[17] = colours[s->channels];
    const int n = snprintf((char *)text + CHUNK_HEAD_BYTES, 240, "Software%c%s", 0, s->mark);
    txm_status status = write_bytes(s, magic, sizeof magic, err);
    if (status == TXM_OK)
        status = write_chunk(s, head, "IHDR", 13, err);
    return status == TXM_OK ? write_chunk(s, text, "tEXt", (size_t)(n < 239 ? n : 239), err) : status;
}

static void close_png(void *writer)
{
    png_writer *w = writer;
    if (!w)
        return;
    free(w->level);
    free(w->row);
    free(w->above);
    free(w->filtered);
    free(w->chunk);
    free(w);
}

static txm_status begin_png(const page_shape *shape, void **writer, txm_error *err)
{
    png_writer *w = *writer = txm_calloc(1, sizeof *w);
    if (!w)
        return txm_no_memory(err, shape->name);
    w->shape = *shape;
    w->row_bytes = (size_t)shape->width * shape->channels * txm_type_bytes(shape->type);
    w->level = malloc(ISAL_DEF_LVL1_DEFAULT);
    w->row = txm_calloc(1, w->row_bytes);
    w->above = txm_calloc(1, w->row_bytes);
    w->filtered = txm_calloc(1, w->row_bytes + 1);
    w->chunk = txm_calloc(1, IDAT_BYTES + CHUNK_HEAD_BYTES + 4);
    if (!w->level || !w->row || !w->above || !w->filtered || !w->chunk)
        return txm_no_memory(err, shape->name);
    isal_deflate_init(&w->stream);
    w->stream.level = 1;
    w->stream.level_buf = w->level;
    w->stream.level_buf_size = ISAL_DEF_LVL1_DEFAULT;
    w->stream.gzip_flag = IGZIP_ZLIB;
    w->stream.next_out = w->chunk + CHUNK_HEAD_BYTES;
    w->stream.avail_out = IDAT_BYTES;
    return write_png_head(w, err);
}

static txm_status flush_idat(png_writer *w, txm_error *err)
{
    const size_t bytes = IDAT_BYTES - w->stream.avail_out;
    w->stream.next_out = w->chunk + CHUNK_HEAD_BYTES;
    w->stream.avail_out = IDAT_BYTES;
    return bytes ? write_chunk(&w->shape, w->chunk, "IDAT", bytes, err) : TXM_OK;
}

static txm_status deflate_all(png_writer *w, const uint8_t *data, size_t bytes, bool last, txm_error *err)
{
    txm_status status = TXM_OK;
    w->stream.next_in = (uint8_t *)(uintptr_t)data;
    w->stream.avail_in = (uint32_t)bytes;
    w->stream.end_of_stream = last;
    do {
        if (isal_deflate(&w->stream) != COMP_OK)
            return txm_fail(err, TXM_STATUS_INTERNAL, "%s: ISA-L cannot compress it", w->shape.name);
        if (!w->stream.avail_out)
            status = flush_idat(w, err);
    } while (status == TXM_OK && (w->stream.avail_in || (last && w->stream.internal_state.state != ZSTATE_END)));
    return status;
}

static txm_status write_png_rows(void *writer, const void *rows, size_t row_bytes, uint32_t count, txm_error *err)
{
    png_writer *w = writer;
    txm_status status = TXM_OK;
    for (uint32_t y = 0; y < count && status == TXM_OK; y++) {
        const uint8_t *row = (const uint8_t *)rows + y * row_bytes;
        if (w->shape.type == TXM_TYPE_U16) /* PNG is big-endian */
            for (size_t i = 0; i < w->row_bytes; i += 2) {
                w->row[i] = row[i + 1];
                w->row[i + 1] = row[i];
            }
        else
            memcpy(w->row, row, w->row_bytes);
        w->filtered[0] = UP;
        for (size_t i = 0; i < w->row_bytes; i++)
            w->filtered[i + 1] = (uint8_t)(w->row[i] - w->above[i]);
        uint8_t *above = w->above;
        w->above = w->row;
        w->row = above;
        status = deflate_all(w, w->filtered, w->row_bytes + 1, false, err);
    }
    return status;
}

static txm_status end_png(void *writer, txm_error *err)
{
    png_writer *w = writer;
    uint8_t end[CHUNK_HEAD_BYTES + 4];
    txm_status status = deflate_all(w, NULL, 0, true, err);
    if (status == TXM_OK)
        status = flush_idat(w, err);
    return status == TXM_OK ? write_chunk(&w->shape, end, "IEND", 0, err) : status;
}

const page_format txm_page_png = {"png", begin_png, write_png_rows, end_png, close_png};
