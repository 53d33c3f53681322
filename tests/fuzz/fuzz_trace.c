/* SPDX-License-Identifier: Apache-2.0
 * Reads any bytes as a trace. Checksums would reject nearly every change, so this target corrects them, and compresses
 * blocks that are not zstd frames: the code behind the checksums must be safe by itself. Short traces are replayed as
 * well.
 *
 * Seeds: testdata/fuzz/trace/threads.trace testdata/fuzz/trace/waves.trace */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/checksum.h"
#include "base/endian.h"
#include "fuzz_input.h"
#include "tile/record/trace_format.h"
#include "txtile/trace.h"

/* Returns the trace with blocks that are accepted: each is unpacked if that is possible, and packed again. */
static uint8_t *mend(const uint8_t *data, size_t size, size_t *bytes)
{
    enum { MOST = 256 << 10 };
    uint8_t *out = malloc(MOST), *raw = malloc(TXM_TRACE_BLOCK_MAX);
    if (!out || !raw)
        abort();
    memcpy(out, data, TXM_TRACE_HEADER_BYTES);
    *bytes = TXM_TRACE_HEADER_BYTES;
    for (size_t at = TXM_TRACE_HEADER_BYTES; at + TXM_TRACE_BLOCK_HEADER_BYTES <= size;) {
        const uint8_t *h = data + at;
        size_t left = size - at - TXM_TRACE_BLOCK_HEADER_BYTES, stored = txm_load_le32(h + 8);
        stored = stored < left ? stored : left;
        size_t got = ZSTD_decompress(raw, TXM_TRACE_BLOCK_MAX, h + TXM_TRACE_BLOCK_HEADER_BYTES, stored);
        if (ZSTD_isError(got)) {
            got = stored;
            memcpy(raw, h + TXM_TRACE_BLOCK_HEADER_BYTES, stored);
        }
        if (*bytes + TXM_TRACE_BLOCK_HEADER_BYTES + ZSTD_compressBound(got) > MOST)
            break;
        uint8_t *to = out + *bytes;
        size_t packed = ZSTD_compress(to + TXM_TRACE_BLOCK_HEADER_BYTES, ZSTD_compressBound(got), raw, got, 1);
        memcpy(to, h, 8);
        txm_store_le32(to + 8, (uint32_t)packed);
        txm_store_le32(to + 12, (uint32_t)got);
        txm_store_le64(to + 16, txm_xxh64(to + TXM_TRACE_BLOCK_HEADER_BYTES, packed, 0));
        *bytes += TXM_TRACE_BLOCK_HEADER_BYTES + packed;
        at += TXM_TRACE_BLOCK_HEADER_BYTES + stored;
    }
    free(raw);
    return out;
}

/* Counts the tiles of a trace, if it can be read and is short. */
static uint64_t walk(const txm_trace *trace)
{
    enum { MOST = 100000 };
    txm_trace_cursor *cursor;
    txm_trace_event e;
    txm_error err = {0};
    uint64_t tiles = 0;
    if (txm_trace_cursor_new(trace, &cursor, &err) != TXM_OK)
        return MOST;
    while (tiles < MOST) {
        if (txm_trace_next(cursor, &e, &err) != TXM_OK) {
            if (!err.message[0])
                abort(); /* every failure has a message */
            tiles = MOST;
        }
        if (e.kind == TXM_TRACE_EVENT_END)
            break;
        tiles += 1 + e.tile_count;
        for (uint32_t i = 0; i < e.tile_count; i++)
            if (!txm_trace_texture_at(trace, e.tiles[i].texture))
                abort();
    }
    txm_trace_cursor_free(&cursor);
    return tiles < MOST ? tiles : 0;
}

static void play(const txm_trace *trace)
{
    txm_replay_counts least, counts;
    txm_replay_options o;
    txm_replay_options_init(&o);
    o.max_bytes = 4 << 20;
    o.policy = TXM_REPLAY_OPT;
    if (txm_replay(trace, &o, &least, NULL) != TXM_OK)
        return;
    for (o.policy = 0; o.policy <= TXM_CACHE_POLICY_NONE; o.policy++)
        if (o.policy != TXM_CACHE_POLICY_NONE && txm_replay(trace, &o, &counts, NULL) == TXM_OK &&
            counts.peak_bytes <= o.max_bytes && counts.read_bytes < least.read_bytes)
            abort(); /* no policy reads less than the optimum */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    txm_trace *trace;
    txm_error err = {0};
    size_t bytes;
    if (size < TXM_TRACE_HEADER_BYTES)
        return -1;
    uint8_t *file = mend(data, size, &bytes);
    if (txm_trace_open(fuzz_input_path(file, bytes), &trace, &err) == TXM_OK) {
        uint64_t tiles = walk(trace);
        uint64_t largest = 0;
        const txm_trace_texture *t;
        for (uint32_t i = 0; (t = txm_trace_texture_at(trace, i)); i++)
            largest = t->tile_bytes > largest ? t->tile_bytes : largest;
        if (tiles && largest < 1 << 20 && txm_trace_info_of(trace)->textures < 64)
            play(trace);
    } else if (!err.message[0]) {
        abort();
    }
    txm_trace_free(&trace);
    free(file);
    return 0;
}
