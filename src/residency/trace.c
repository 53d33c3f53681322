/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces: which tiles look-ups use, in their order. A thread gathers a block of its own; blocks are written under the
 * cache's lock, which is slow beside a look-up that is not watched.
 *
 * The file is little-endian: "TXMTRACE", version 1 and flags 0 as 32 bits each, then blocks. A block begins with kind,
 * thread, stored and raw bytes in 32 bits each and the xxh64 (seed 0) of the stored bytes, which are a zstd frame.
 *
 *   1 textures  for each: number, width, height, levels, tile_px, tile_bytes, path_bytes in 32 bits, then the path. Width
 *               0: a UDIM set. One that comes again was replaced.
 *   2 tiles     LEB128 numbers: the zigzag difference of each txm_tile_key (udim 0, tile by rows) from the one before,
 *               which is 0 at a block's start. 0 ends an epoch: a thread's repetitions are left out.
 *   3 end       empty; `thread` is how many there were. A file without it is incomplete.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "container/output.h"
#include "core/bytes.h"
#include "core/checksum.h"
#include "core/endian.h"
#include "core/mem.h"
#include "residency/residency_impl.h"

enum { VERSION = 1, HEADER_BYTES = 16, BLOCK_HEADER_BYTES = 24, BLOCK_BYTES = 64 << 10, NUMBER_BYTES = 10 };
enum { BLOCK_TEXTURES = 1, BLOCK_TILES, BLOCK_END };

/* A thread's block. */
struct txm_trace_lane {
    uint8_t raw[BLOCK_BYTES];
    size_t used;
    uint64_t previous, last; /* the key that deltas are counted from; the last one of all */
    txm_explanation explanation;
    txm_tile_key keys[TXM_MAX_TAPS];
};

struct txm_trace {
    int fd;
    char *path, *part; /* its name, and that while it is not complete */
    uint64_t bytes;
    txm_error error; /* the first failure */
};

/* ---- blocks ---- */

static void write_bytes(struct txm_trace *w, const void *data, size_t bytes)
{
    int rc = w->error.status == TXM_OK ? txm_pwrite_all(w->fd, data, bytes, w->bytes) : 0;
    if (rc)
        txm_fail_errno(&w->error, rc, "%s: cannot write the trace", w->path);
    w->bytes += bytes;
}

static void write_block(struct txm_trace *w, uint32_t kind, uint32_t thread, const void *raw, size_t raw_bytes)
{
    uint8_t header[BLOCK_HEADER_BYTES];
    size_t bound = raw_bytes ? ZSTD_compressBound(raw_bytes) : 0, stored = 0;
    uint8_t *packed = malloc(bound + 1);
    if (packed && raw_bytes)
        stored = ZSTD_compress(packed, bound, raw, raw_bytes, 1);
    if (!packed || ZSTD_isError(stored)) {
        txm_fail(&w->error, TXM_STATUS_NO_MEMORY, "%s: no memory for the trace", w->path);
    } else {
        txm_store_le32(header, kind);
        txm_store_le32(header + 4, thread);
        txm_store_le32(header + 8, (uint32_t)stored);
        txm_store_le32(header + 12, (uint32_t)raw_bytes);
        txm_store_le64(header + 16, txm_xxh64(packed, stored, 0));
        write_bytes(w, header, sizeof header);
        write_bytes(w, packed, stored);
    }
    free(packed);
}

static void flush_lane(struct txm_trace *w, uint32_t thread, struct txm_trace_lane *lane)
{
    if (lane->used)
        write_block(w, BLOCK_TILES, thread, lane->raw, lane->used);
    lane->used = 0;
    lane->previous = 0;
}

static void flush_all(txm_cache *c)
{
    for (txm_cache_thread *t = c->threads; t; t = t->next)
        if (t->trace)
            flush_lane(c->trace, t->number, t->trace);
}

/* ---- records ---- */

static void add_number(struct txm_trace_lane *lane, uint64_t n)
{
    for (; n > 0x7F; n >>= 7)
        lane->raw[lane->used++] = (uint8_t)(n | 0x80);
    lane->raw[lane->used++] = (uint8_t)n;
}

static void add_tile(txm_cache *c, uint32_t thread, struct txm_trace_lane *lane, txm_tile_key key)
{
    if (key == lane->last && lane->used)
        return;
    if (lane->used + NUMBER_BYTES > BLOCK_BYTES)
        flush_lane(c->trace, thread, lane);
    uint64_t delta = key - lane->previous;
    add_number(lane, delta << 1 ^ (delta >> 63 ? UINT64_MAX : 0));
    lane->previous = lane->last = key;
}

/* What a texture is, before the first of its tiles. */
static void describe_texture(txm_cache *c, uint32_t texture)
{
    enum { FIXED_BYTES = 28 };
    txm_texture *t = &c->textures[texture];
    const txm_view_texture *v = &c->view_textures[texture];
    if (t->traced)
        return;
    t->traced = true;
    size_t path_bytes = strlen(t->file->path);
    uint8_t *raw = malloc(FIXED_BYTES + path_bytes);
    if (!raw) {
        txm_fail(&c->trace->error, TXM_STATUS_NO_MEMORY, "%s: no memory for the trace", c->trace->path);
        return;
    }
    const uint32_t numbers[] = {
        texture, v->width, v->height, v->levels, 1u << v->tile_shift, v->tile_bytes, (uint32_t)path_bytes};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        txm_store_le32(raw + 4 * i, numbers[i]);
    memcpy(raw + FIXED_BYTES, t->file->path, path_bytes);
    write_block(c->trace, BLOCK_TEXTURES, 0, raw, FIXED_BYTES + path_bytes);
    free(raw);
}

static struct txm_trace_lane *lane_of(txm_cache_thread *t)
{
    if (!t->trace && (t->trace = txm_cache_allocate(t->cache, sizeof *t->trace, 64)))
        memset(t->trace, 0, sizeof *t->trace);
    return t->trace;
}

/* The tiles that a look-up reads, each once, in its order. */
static uint32_t list_keys(const txm_view *view, const txm_explanation *e, uint32_t texture, txm_tile_key *keys)
{
    const txm_view_texture *v = &view->textures[e->texture];
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->tap_count; i++) {
        const txm_tap *tap = &e->taps[i];
        uint32_t tile = tap->tile_y * txm_view_tiles_across(v, tap->level) + tap->tile_x;
        txm_tile_key key = txm_tile_key_pack((txm_tile_name){texture, 0, tap->level, tile});
        uint32_t k = 0;
        while (k < count && keys[k] != key)
            k++;
        if (k == count)
            keys[count++] = key;
    }
    return count;
}

void txm_trace_lookup(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                      uint32_t random)
{
    txm_cache *c = t->cache;
    pthread_mutex_lock(&c->lock);
    struct txm_trace_lane *lane = c->trace ? lane_of(t) : NULL;
    txm_lookup there = *at;
    uint32_t shown = lane ? txm_cache_resolve(c, texture, how, &there) : TXM_NO_TEXTURE;
    if (shown != TXM_NO_TEXTURE && c->textures[shown].source) {
        txm_lane nobody = {.random = random};
        float out[4];
        txm_view view = c->view; /* nothing moves under the lock */
        txm_sample_explain(&view, shown, how, &there, &nobody, out, &lane->explanation);
        uint32_t first = c->textures[shown].source->first_texture;
        uint32_t count = list_keys(&view, &lane->explanation, first, lane->keys);
        describe_texture(c, first);
        for (uint32_t i = 0; i < count; i++)
            add_tile(c, t->number, lane, lane->keys[i]);
    }
    pthread_mutex_unlock(&c->lock);
}

void txm_trace_epoch(txm_cache *c)
{
    static const uint8_t end = 0;
    if (!c->trace)
        return;
    flush_all(c);
    write_block(c->trace, BLOCK_TILES, 0, &end, sizeof end);
}

void txm_trace_lane_free(txm_cache_thread *t)
{
    txm_cache *c = t->cache;
    pthread_mutex_lock(&c->lock);
    if (t->trace && c->trace)
        flush_lane(c->trace, t->number, t->trace);
    txm_cache_release(c, t->trace, sizeof *t->trace);
    t->trace = NULL;
    pthread_mutex_unlock(&c->lock);
}

/* ---- beginning and end ---- */

static void free_trace(struct txm_trace *w)
{
    free(w->path);
    free(w->part);
    free(w);
}

static txm_status open_trace(const char *path, struct txm_trace **out, txm_error *err)
{
    struct txm_trace *w = txm_calloc(1, sizeof *w);
    if (!w || !(w->path = txm_strdup(path)) || !(w->part = txm_asprintf("%s.%ld.part", path, (long)getpid()))) {
        if (w)
            free_trace(w);
        return txm_no_memory(err, path);
    }
    w->fd = open(w->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (w->fd < 0) {
        txm_status status = txm_fail_errno(err, errno, "%s: cannot write the trace", path);
        free_trace(w);
        return status;
    }
    uint8_t header[HEADER_BYTES] = "TXMTRACE";
    txm_store_le32(header + 8, VERSION);
    txm_store_le32(header + 12, 0);
    write_bytes(w, header, sizeof header);
    *out = w;
    return TXM_OK;
}

txm_status txm_cache_trace_start(txm_cache *c, const char *path, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    txm_status status = c->trace
                            ? txm_fail(err, TXM_STATUS_USAGE, "%s: the cache writes %s already", path, c->trace->path)
                            : open_trace(path, &c->trace, err);
    if (status == TXM_OK) {
        for (uint32_t i = 0; i < c->stats.textures; i++)
            c->textures[i].traced = false;
        for (txm_cache_thread *t = c->threads; t; t = t->next)
            if (t->trace)
                t->trace->used = 0;
        atomic_store(&c->watched, true);
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}

txm_status txm_cache_trace_stop(txm_cache *c, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    struct txm_trace *w = c->trace;
    if (w) {
        flush_all(c);
        write_block(w, BLOCK_END, c->thread_count, NULL, 0);
        c->trace = NULL;
        atomic_store(&c->watched, c->options.spurious > 0.0f);
    }
    pthread_mutex_unlock(&c->lock);
    if (!w)
        return TXM_OK;
    if (close(w->fd) != 0 && w->error.status == TXM_OK)
        txm_fail_errno(&w->error, errno, "%s: cannot write the trace", w->path);
    if (w->error.status == TXM_OK && rename(w->part, w->path) != 0)
        txm_fail_errno(&w->error, errno, "%s: cannot write the trace", w->path);
    if (w->error.status != TXM_OK)
        unlink(w->part);
    txm_status status = w->error.status == TXM_OK ? TXM_OK : txm_fail_as(err, &w->error);
    free_trace(w);
    return status;
}
