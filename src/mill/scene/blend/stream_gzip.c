/* SPDX-License-Identifier: Apache-2.0
 *
 * gzip (RFC 1952), with which Blender compressed files before 3.0. ISA-L inflates, and verifies headers, checksums and
 * sizes. A file may have several members; data after the last one that are not a member are ignored, as by gzip
 * itself.
 */
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/scene/blend/stream.h"

enum {
    INPUT_BYTES = 128 * 1024,
    HEAD_BYTES = 4,        /* a member's head: magic, method, flags */
    RESERVED_FLAGS = 0xE0, /* the format of a header with these flags is not defined */
};

typedef struct gzip_decoder {
    struct inflate_state state; /* the unread part of `in` is its input */
    bool in_member, finished;
    uint8_t in[INPUT_BYTES];
} gzip_decoder;

static txm_status cut(const txm_stream_input *input, txm_error *err)
{
    return txm_fail(err, TXM_STATUS_CORRUPT, "%s: the gzip data ends at byte %llu: the file is truncated", input->name,
                    (unsigned long long)input->offset);
}

/* The position is that of the decoder, as far as it is known. */
static txm_status damaged(const gzip_decoder *g, const txm_stream_input *input, txm_error *err)
{
    return txm_fail(err, TXM_STATUS_CORRUPT, "%s: damaged gzip data before byte %llu", input->name,
                    (unsigned long long)(input->offset - g->state.avail_in));
}

/* Seeking backwards uses it too, since there is no index. */
static void start_gzip(gzip_decoder *g)
{
    isal_inflate_init(&g->state);
    g->state.crc_flag = ISAL_GZIP;
    g->in_member = g->finished = false;
}

static txm_status gzip_open(txm_stream_input *input, void **self, txm_error *err)
{
    gzip_decoder *g = txm_calloc(1, sizeof *g);
    if (!g)
        return txm_no_memory(err, input->name);
    start_gzip(g);
    *self = g;
    return TXM_OK;
}

/* Appends more of the file to the rest of the input, which is less than the buffer. */
static txm_status refill(gzip_decoder *g, txm_stream_input *input, size_t *got, txm_error *err)
{
    size_t left = g->state.avail_in;
    memmove(g->in, g->state.next_in ? g->state.next_in : g->in, left);
    txm_status status = txm_stream_input_read(input, g->in + left, sizeof g->in - left, got, err);
    g->state.next_in = g->in;
    g->state.avail_in = (uint32_t)(left + (status == TXM_OK ? *got : 0));
    return status;
}

static txm_status next_member(gzip_decoder *g, txm_stream_input *input, txm_error *err)
{
    size_t got = 1;
    while (g->state.avail_in < HEAD_BYTES && got) {
        txm_status status = refill(g, input, &got, err);
        if (status != TXM_OK)
            return status;
    }
    const uint8_t *head = g->state.next_in;
    if (g->state.avail_in < 2 || head[0] != 0x1F || head[1] != 0x8B) {
        g->finished = true;
        return TXM_OK;
    }
    if (g->state.avail_in < HEAD_BYTES)
        return cut(input, err);
    if (head[3] & RESERVED_FLAGS)
        return damaged(g, input, err);
    isal_inflate_reset(&g->state); /* does not change the buffers */
    g->in_member = true;
    return TXM_OK;
}

/* Runs one step of the decoder, with new input if it has none. */
static txm_status inflate_some(gzip_decoder *g, txm_stream_input *input, txm_error *err)
{
    uint32_t room = g->state.avail_out;
    size_t got = 1;
    if (g->state.avail_in == 0) {
        txm_status status = refill(g, input, &got, err);
        if (status != TXM_OK)
            return status;
    }
    if (isal_inflate(&g->state) < 0)
        return damaged(g, input, err);
    if (g->state.block_state == ISAL_BLOCK_FINISH)
        g->in_member = false;
    else if (!got && g->state.avail_out == room) /* without input the decoder may still have output */
        return cut(input, err);
    return TXM_OK;
}

/* Delivers at least one byte, unless the data have ended. */
static txm_status gzip_pull(void *self, txm_stream_input *input, uint8_t *dst, size_t bytes, size_t *got,
                            txm_error *err)
{
    gzip_decoder *g = self;
    uint32_t want = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
    g->state.next_out = dst;
    g->state.avail_out = want;
    while (!g->finished && g->state.avail_out == want) {
        txm_status status = g->in_member ? inflate_some(g, input, err) : next_member(g, input, err);
        if (status != TXM_OK)
            return status;
    }
    *got = want - g->state.avail_out;
    return TXM_OK;
}

/* Forwards, the caller reads and discards; backwards, decoding starts again. */
static txm_status gzip_jump(void *self, txm_stream_input *input, uint64_t from, uint64_t to, uint64_t *landed,
                            txm_error *err)
{
    (void)err;
    *landed = from;
    if (to < from) {
        start_gzip(self);
        input->offset = 0;
        *landed = 0;
    }
    return TXM_OK;
}

/* The size in the trailer is modulo 2^32 and that of the last member only, so it cannot be relied on. */
const txm_stream_ops txm_stream_gzip = {"gzip", gzip_open, gzip_pull, gzip_jump, NULL, free};
