/* SPDX-License-Identifier: Apache-2.0
 *
 * zstd, with which Blender has compressed files since 3.0: many frames of 1 MiB followed by a skippable frame with the
 * seek table of zstd's "seekable format". A table that does not match the file exactly is ignored: frames are then
 * decompressed one after the other.
 */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/whole.h"
#include "mill/scene/blend/stream.h"
#include "tile/decode/zstd_status.h"

enum {
    INPUT_BYTES = 128 * 1024,
    WINDOW_LOG_MAX = 27,
    FOOTER_BYTES = 9, /* u32 frames, u8 descriptor, u32 magic */
    SKIPPABLE_HEAD_BYTES = 8,
    MAX_FRAMES = 1 << 20 /* 16 MiB of table: a scene of a terabyte */
};
static const uint32_t footer_magic = 0x8F92EAB1, skippable_magic = 0x184D2A5E;

/* The start of a frame. */
typedef struct frame {
    uint64_t compressed, uncompressed;
} frame;

typedef struct zstd_decoder {
    ZSTD_DCtx *context;
    ZSTD_inBuffer in;
    size_t hint;   /* last result of ZSTD_decompressStream: 0 between frames */
    frame *frames; /* frames + 1 entries (the last is the end), NULL without a usable seek table */
    size_t frame_count;
    uint8_t data[INPUT_BYTES];
} zstd_decoder;

/* Converts the table's sizes to positions, and checks that the frames fill the file up to the table. */
static bool sum_up(frame *frames, size_t count, const uint8_t *entries, size_t entry_bytes, uint64_t table_at)
{
    frame at = {0, 0};
    for (size_t i = 0; i < count; i++) {
        frames[i] = at;
        at.compressed += txm_load_le32(entries + i * entry_bytes);
        at.uncompressed += txm_load_le32(entries + i * entry_bytes + 4);
    }
    frames[count] = at;
    return at.compressed == table_at;
}

/* The table is used if it is complete and consistent; otherwise the file is read from start to end. */
static void read_seek_table(zstd_decoder *z, txm_stream_input *input)
{
    uint8_t footer[FOOTER_BYTES], head[SKIPPABLE_HEAD_BYTES];
    if (input->file_bytes < FOOTER_BYTES + SKIPPABLE_HEAD_BYTES ||
        txm_pread_all(input->fd, footer, sizeof footer, input->file_bytes - FOOTER_BYTES) != 0 ||
        txm_load_le32(footer + 5) != footer_magic)
        return;
    size_t count = txm_load_le32(footer), entry_bytes = footer[4] & 0x80 ? 12 : 8; /* bit 7: entries have checksums */
    uint64_t table_bytes = (uint64_t)count * entry_bytes + FOOTER_BYTES;
    if (count == 0 || count > MAX_FRAMES || table_bytes + SKIPPABLE_HEAD_BYTES > input->file_bytes)
        return;
    uint64_t table_at = input->file_bytes - table_bytes - SKIPPABLE_HEAD_BYTES;
    uint8_t *entries = malloc(count * entry_bytes);
    frame *frames = txm_calloc(count + 1, sizeof *frames);
    if (entries && frames && !txm_pread_all(input->fd, head, sizeof head, table_at) &&
        txm_load_le32(head) == skippable_magic && txm_load_le32(head + 4) == table_bytes &&
        !txm_pread_all(input->fd, entries, count * entry_bytes, table_at + sizeof head) &&
        sum_up(frames, count, entries, entry_bytes, table_at)) {
        z->frames = frames;
        z->frame_count = count;
        frames = NULL;
    }
    free(frames);
    free(entries);
}

static void zstd_close(void *self)
{
    zstd_decoder *z = self;
    ZSTD_freeDCtx(z->context);
    free(z->frames);
    free(z);
}

/* Starts decoding at a frame. */
static void enter_frame(zstd_decoder *z, txm_stream_input *input, uint64_t compressed)
{
    ZSTD_DCtx_reset(z->context, ZSTD_reset_session_only);
    z->in = (ZSTD_inBuffer){z->data, 0, 0};
    z->hint = 0;
    input->offset = compressed;
}

/* The window size is bounded, since a frame may request gigabytes. */
static txm_status zstd_open(txm_stream_input *input, void **self, txm_error *err)
{
    zstd_decoder *z = txm_calloc(1, sizeof *z);
    if (!z || !(z->context = ZSTD_createDCtx())) {
        free(z);
        return txm_no_memory(err, input->name);
    }
    ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    read_seek_table(z, input);
    enter_frame(z, input, 0);
    *self = z;
    return TXM_OK;
}

/* Decodes frame after frame; skippable ones give no output. */
static txm_status zstd_pull(void *self, txm_stream_input *input, uint8_t *dst, size_t bytes, size_t *got,
                            txm_error *err)
{
    zstd_decoder *z = self;
    ZSTD_outBuffer out = {dst, bytes, 0};
    while (out.pos == 0) {
        bool ended = false;
        if (z->in.pos == z->in.size) {
            size_t n;
            txm_status status = txm_stream_input_read(input, z->data, sizeof z->data, &n, err);
            if (status != TXM_OK)
                return status;
            z->in = (ZSTD_inBuffer){z->data, n, 0};
            ended = n == 0;
            if (ended && z->hint == 0)
                break;
        }
        /* Without input the decoder may still have output; only if it gives none is the file truncated. */
        z->hint = ZSTD_decompressStream(z->context, &out, &z->in);
        if (ZSTD_isError(z->hint)) {
            if (txm_zstd_status(z->hint, TXM_STATUS_CORRUPT) == TXM_STATUS_NO_MEMORY)
                return txm_no_memory(err, input->name);
            return txm_fail(err, TXM_STATUS_CORRUPT, "%s: damaged zstd data before byte %llu: %s", input->name,
                            (unsigned long long)input->offset, ZSTD_getErrorName(z->hint));
        }
        if (ended && out.pos == 0 && z->hint != 0) {
            return txm_fail(err, TXM_STATUS_CORRUPT, "%s: the zstd data ends at byte %llu: the file is truncated",
                            input->name, (unsigned long long)input->offset);
        }
    }
    *got = out.pos;
    return TXM_OK;
}

/* The last frame that starts at or before `position`. */
static size_t frame_at(const zstd_decoder *z, uint64_t position)
{
    size_t low = 0, high = z->frame_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (z->frames[middle].uncompressed <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Moves to the start of the frame that contains the position; the caller reads on from there. */
static txm_status zstd_jump(void *self, txm_stream_input *input, uint64_t from, uint64_t to, uint64_t *landed,
                            txm_error *err)
{
    zstd_decoder *z = self;
    (void)err;
    *landed = from;
    if (z->frames) {
        const frame *f = &z->frames[frame_at(z, to)];
        if (to < from || f->uncompressed > from) {
            enter_frame(z, input, f->compressed);
            *landed = f->uncompressed;
        }
    } else if (to < from) {
        enter_frame(z, input, 0);
        *landed = 0;
    }
    return TXM_OK;
}

static bool zstd_size(const void *self, const txm_stream_input *input, uint64_t *bytes)
{
    const zstd_decoder *z = self;
    (void)input;
    if (z->frames)
        *bytes = z->frames[z->frame_count].uncompressed;
    return z->frames != NULL;
}

const txm_stream_ops txm_stream_zstd = {"zstd", zstd_open, zstd_pull, zstd_jump, zstd_size, zstd_close};
