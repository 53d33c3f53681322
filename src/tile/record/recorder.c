/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes traces in the format of trace_format.h and txmill-trace(5): they record what lookups use, in the order of each
 * thread, or of each lane of a batch. Each lane collects its own blocks. They are written under the cache's lock, which
 * makes traced lookups much slower. Their memory is not part of the cache's budget, so a traced cache keeps the same
 * tiles.
 *
 * The tiles and the rows (lookups) of a lane are collected in separate buffers, because a trace may hold either or
 * both. Errors are kept in the writer and returned when the trace is stopped: a full disk should not interrupt a
 * render. An incomplete file never gets its final name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "tile/base/bytes.h"
#include "tile/base/checksum.h"
#include "tile/base/endian.h"
#include "tile/base/mem.h"
#include "tile/base/owner.h"
#include "tile/base/path.h"
#include "tile/cache/blank.h"
#include "tile/cache/cache_impl.h"
#include "tile/cache/trace_format.h"

enum { BLOCK_BYTES = 64 << 10, ROW_BYTES = 4 * TXM_TRACE_COLUMNS };
#define PREPARED_LANE 0x80000000u /* added to the numbers of lanes that do not belong to threads */

/* The uses of a thread or lane since its last blocks were written. */
struct txm_trace_lane {
    uint32_t number;
    uint64_t previous; /* the key that the next difference is relative to */
    txm_tile_key last[TXM_BLANK_TILES];
    uint32_t last_count; /* number of tiles of its last lookup */
    txm_bytes tiles, rows;
};

struct txm_trace_writer {
    int fd;
    char *path, *part; /* the final name, and the name until then; part is NULL for a device or pipe, which is written
                          to directly */
    uint32_t records, launch, epoch;
    bool in_launch; /* a lookup was recorded in the current launch */
    txm_blank blank;
    txm_sampler *samplers;
    size_t sampler_count, sampler_capacity;
    struct txm_trace_lane **lanes; /* sorted by number */
    size_t lane_count, lane_capacity;
    txm_cache_stats before;
    txm_error error; /* the first failure */
};

static void no_memory(struct txm_trace_writer *w)
{
    txm_fail(&w->error, TXM_STATUS_NO_MEMORY, "%s: no memory for the trace", w->path);
}

/* ---- blocks ---- */

/* Does nothing after a failure. */
static void write_bytes(struct txm_trace_writer *w, const void *data, size_t bytes)
{
    const uint8_t *from = data;
    while (bytes && w->error.status == TXM_OK) {
        ssize_t n = write(w->fd, from, bytes);
        if (n < 0 && errno != EINTR)
            txm_fail_errno(&w->error, errno, "%s: cannot write the trace", w->path);
        from += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
}

/* Each block is a separate zstd frame, so readers can skip it. Level 1 is enough, because the data already consist of
 * columns and differences, and the lock is held meanwhile. The checksum covers the stored bytes, so damage is found
 * before anything is unpacked. */
static void write_block(struct txm_trace_writer *w, txm_trace_block kind, uint32_t thread, const void *raw,
                        size_t raw_bytes)
{
    uint8_t header[TXM_TRACE_BLOCK_HEADER_BYTES];
    size_t bound = ZSTD_compressBound(raw_bytes), stored = 0;
    uint8_t *packed = malloc(bound);
    if (packed)
        stored = ZSTD_compress(packed, bound, raw, raw_bytes, 1);
    if (!packed || ZSTD_isError(stored)) {
        no_memory(w);
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

/* Converts rows of lookups to columns of differences, in planes of bytes, lowest first. Neighbouring lookups have the
 * same texture, sampler and exponents, so most planes are zero and compress well. */
static void write_rows(struct txm_trace_writer *w, const struct txm_trace_lane *lane)
{
    size_t rows = lane->rows.size / ROW_BYTES;
    uint8_t *raw = malloc(TXM_TRACE_LOOKUPS_HEAD_BYTES + lane->rows.size), *to = raw;
    if (!raw) {
        no_memory(w);
        return;
    }
    txm_store_le32(to, (uint32_t)rows);
    txm_store_le32(to + 4, w->launch);
    txm_store_le32(to + 8, w->epoch);
    to += TXM_TRACE_LOOKUPS_HEAD_BYTES;
    for (size_t column = 0; column < TXM_TRACE_COLUMNS; column++, to += 4 * rows) {
        uint32_t before = 0;
        for (size_t i = 0; i < rows; i++) {
            uint32_t value = txm_load_le32(lane->rows.data + i * ROW_BYTES + 4 * column), change = value ^ before;
            for (size_t plane = 0; plane < 4; plane++)
                to[plane * rows + i] = (uint8_t)(change >> 8 * plane);
            before = value;
        }
    }
    write_block(w, TXM_TRACE_BLOCK_LOOKUPS, lane->number, raw, (size_t)(to - raw));
    free(raw);
}

/* Differences begin at 0 again, so each block can be read separately. */
static void flush_tiles(struct txm_trace_writer *w, struct txm_trace_lane *lane)
{
    if (lane->tiles.size)
        write_block(w, TXM_TRACE_BLOCK_TILES, lane->number, lane->tiles.data, lane->tiles.size);
    lane->tiles.size = 0;
    lane->previous = 0;
}

static void flush_rows(struct txm_trace_writer *w, struct txm_trace_lane *lane)
{
    if (lane->rows.size)
        write_rows(w, lane);
    lane->rows.size = 0;
}

/* Writes the blocks of all lanes before another launch or epoch begins. They are in the order of the lanes' numbers, so
 * a trace of one thread is reproducible. */
static void flush_all(struct txm_trace_writer *w)
{
    for (size_t i = 0; i < w->lane_count; i++) {
        flush_rows(w, w->lanes[i]);
        flush_tiles(w, w->lanes[i]);
        w->lanes[i]->last_count = 0;
    }
}

/* A 0 announces a mark, because no difference is 0. Rows have launch and epoch in the head of their block and need no
 * mark. */
static void write_mark(struct txm_trace_writer *w, txm_trace_mark mark)
{
    const uint8_t raw[] = {0, (uint8_t)mark};
    flush_all(w);
    if (w->records & TXM_TRACE_TILES)
        write_block(w, TXM_TRACE_BLOCK_TILES, 0, raw, sizeof raw);
}

/* ---- records ---- */

/* LEB128: seven bits per byte, lowest first. */
static size_t put_number(uint8_t *to, uint64_t n)
{
    size_t bytes = 0;
    for (; n > 0x7F; n >>= 7)
        to[bytes++] = (uint8_t)(n | 0x80);
    to[bytes++] = (uint8_t)n;
    return bytes;
}

/* Zigzag makes small negative steps as short as positive ones. A single tile is never followed by itself (add_tiles),
 * so 0 is available for marks. */
static size_t put_key(struct txm_trace_lane *lane, uint8_t *to, txm_tile_key key)
{
    uint64_t delta = key - lane->previous;
    lane->previous = key;
    return put_number(to, delta << 1 ^ (delta >> 63 ? UINT64_MAX : 0));
}

/* Records the tiles of a lookup, unless they are those of the previous one. A tile that a lane has just used is hardly
 * ever evicted, so repetitions contain little information about a cache and would make up most of the trace. */
static void add_tiles(struct txm_trace_writer *w, struct txm_trace_lane *lane, const txm_tile_key *keys, uint32_t count)
{
    uint8_t raw[(TXM_BLANK_TILES + 2) * TXM_TRACE_NUMBER_BYTES];
    size_t bytes = 0;
    bool again = count == lane->last_count && memcmp(keys, lane->last, count * sizeof *keys) == 0;
    bool newest = count == 1 && lane->last_count && keys[0] == lane->last[lane->last_count - 1];
    if (!count || again || newest)
        return;
    if (lane->tiles.size + sizeof raw > BLOCK_BYTES)
        flush_tiles(w, lane);
    if (count > 1) {
        bytes += put_number(raw, 0);
        bytes += put_number(raw + bytes, count);
    }
    for (uint32_t i = 0; i < count; i++)
        bytes += put_key(lane, raw + bytes, keys[i]);
    memcpy(lane->last, keys, count * sizeof *keys);
    lane->last_count = count;
    if (!txm_bytes_add(&lane->tiles, raw, bytes))
        no_memory(w);
}

/* Returns the number of a sampler, and writes it if it is new. Samplers are compared byte by byte; a renderer has few
 * of them, so a list is enough. */
static uint32_t sampler_of(struct txm_trace_writer *w, const txm_sampler *how)
{
    uint8_t raw[TXM_TRACE_SAMPLER_BYTES] = {0};
    size_t i = 0;
    while (i < w->sampler_count && memcmp(&w->samplers[i], how, sizeof *how) != 0)
        i++;
    if (i < w->sampler_count)
        return (uint32_t)i;
    if (!TXM_GROW(w->samplers, w->sampler_capacity, w->sampler_count)) {
        no_memory(w);
        return 0;
    }
    w->samplers[w->sampler_count++] = *how;
    uint32_t bias;
    memcpy(&bias, &how->mip_bias, sizeof bias);
    const uint8_t members[] = {how->rule,       how->mode,  how->filter, how->on_miss,
                               how->anisotropy, how->after, how->chance};
    txm_store_le32(raw, (uint32_t)i);
    memcpy(raw + 4, members, sizeof members);
    txm_store_le32(raw + 12, bias);
    write_block(w, TXM_TRACE_BLOCK_SAMPLERS, 0, raw, sizeof raw);
    return (uint32_t)i;
}

/* Floats are stored as their bits, so a replay looks up at exactly the same place. */
static void add_row(struct txm_trace_writer *w, struct txm_trace_lane *lane, uint32_t texture, const txm_sampler *how,
                    const txm_lookup *at, uint32_t random)
{
    const uint32_t first[] = {texture, sampler_of(w, how), random};
    const float place[] = {at->u, at->v, at->dudx, at->dvdx, at->dudy, at->dvdy};
    uint8_t row[ROW_BYTES];
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        txm_store_le32(row + 4 * i, first[i]);
    memcpy(row + sizeof first, place, sizeof place);
    if (!txm_bytes_add(&lane->rows, row, sizeof row))
        no_memory(w);
    if (lane->rows.size == (size_t)ROW_BYTES * TXM_TRACE_LOOKUPS_MAX)
        flush_rows(w, lane);
}

/* Writes the description of a texture before its first lookup, once per file: replacing the file clears `traced`, and
 * from there on the number means the new file. */
static void describe_texture(txm_cache *c, uint32_t texture)
{
    txm_texture *t = &c->textures[texture];
    const txm_view_texture *v = &c->view_textures[texture];
    if (t->traced)
        return;
    t->traced = true;
    size_t path_bytes = strlen(t->file->path);
    uint8_t *raw = malloc(TXM_TRACE_TEXTURE_BYTES + path_bytes);
    if (!raw) {
        no_memory(c->trace);
        return;
    }
    const uint32_t numbers[] = {texture, v->width, v->height, v->levels, 1u << v->tile_shift, v->tile_bytes};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        txm_store_le32(raw + 4 * i, numbers[i]);
    raw[24] = v->type;
    raw[25] = v->channels;
    raw[26] = v->extension;
    raw[27] = t->source->converts ? TXM_TRACE_WIDENED : 0;
    txm_store_le32(raw + 28, (uint32_t)path_bytes);
    memcpy(raw + TXM_TRACE_TEXTURE_BYTES, t->file->path, path_bytes);
    write_block(c->trace, TXM_TRACE_BLOCK_TEXTURES, 0, raw, TXM_TRACE_TEXTURE_BYTES + path_bytes);
    free(raw);
}

/* Tiles that share memory affect what fits into it, so replays need them. Called when the tile is loaded, before it is
 * shared. */
void txm_trace_constant(txm_cache *c, const txm_source *s, uint32_t level, uint32_t tile, const uint8_t *pixel)
{
    uint8_t raw[TXM_TRACE_CONSTANT_BYTES] = {0};
    if (!c->trace)
        return;
    describe_texture(c, s->first_texture);
    txm_store_le64(raw, txm_tile_key_pack((txm_tile_name){s->first_texture, 0, level, tile}));
    memcpy(raw + sizeof(txm_tile_key), pixel, s->view->pixel_bytes);
    write_block(c->trace, TXM_TRACE_BLOCK_CONSTANTS, 0, raw, sizeof raw);
}

/* Describes the shared tiles that exist when the trace begins. */
static void describe_constants(txm_cache *c)
{
    for (uint32_t i = 0; i < c->block_count; i++) {
        const txm_block *b = &c->blocks[i];
        const bool levels = b->source && !b->retired && !txm_view_is_packed(b->source->view);
        for (uint32_t k = levels ? b->source->view->levels : b->count; k < b->count; k++) {
            uint32_t level, tile, slot = __atomic_load_n(&c->tiles[b->first + k].slot, __ATOMIC_RELAXED);
            if (slot >= TXM_SLOT_STATES || txm_slot_at(c, slot)->state != TXM_SLOT_STATE_SHARED)
                continue;
            txm_block_locate(b, b->first + k, &level, &tile);
            txm_trace_constant(c, b->source, level, tile, txm_slot_pixels(c, slot));
        }
    }
}

/* ---- lookups ---- */

/* Finds or adds the lane of a number; NULL: out of memory. The list is sorted and searched by bisection, because a
 * wavefront may have thousands of lanes. */
static struct txm_trace_lane *lane_of(struct txm_trace_writer *w, uint32_t number)
{
    size_t low = 0, high = w->lane_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->lanes[middle]->number == number)
            return w->lanes[middle];
        *(w->lanes[middle]->number < number ? &low : &high) = w->lanes[middle]->number < number ? middle + 1 : middle;
    }
    struct txm_trace_lane *lane =
        TXM_GROW(w->lanes, w->lane_capacity, w->lane_count) ? txm_calloc(1, sizeof *lane) : NULL;
    if (!lane) {
        no_memory(w);
        return NULL;
    }
    lane->number = number;
    memmove(w->lanes + low + 1, w->lanes + low, (w->lane_count - low) * sizeof *w->lanes);
    w->lanes[low] = lane;
    w->lane_count++;
    return lane;
}

/* Whether reading a tile has failed, so that the lookup did not use it. Such tiles are left out, because a replay would
 * count them as reads that succeeded. That also holds for failures that will be tried again: if a later attempt
 * succeeds, the lookup that uses its tile records it. */
static bool has_failed(const txm_cache *c, const txm_source *s, const txm_tile_name *n)
{
    uint32_t entry = n->level < s->registered && !txm_view_is_packed(s->view) ? s->first + n->level
                                                                              : txm_entry_index(s, n->level, n->tile);
    const uint32_t slot = __atomic_load_n(&c->tiles[entry].slot, __ATOMIC_RELAXED);
    return slot == TXM_SLOT_FAILED || slot - TXM_SLOT_UNREADABLE <= UINT16_MAX;
}

/* Called with the lock held, so nothing moves. A source is recorded under its first texture, so duplicates share their
 * tiles in a replay as they do in the cache. A texture that could not be opened is not recorded. */
static void add_lookup(txm_cache *c, uint32_t number, uint32_t texture, const txm_sampler *how, const txm_lookup *given,
                       uint32_t random)
{
    struct txm_trace_writer *w = c->trace;
    txm_tile_name tiles[TXM_BLANK_TILES];
    txm_tile_key keys[TXM_BLANK_TILES];
    txm_lookup at = *given;
    uint32_t shown = txm_shown_texture(c, texture, how, &at), count = 0, kept = 0;
    const txm_source *s = shown < c->stats.textures ? c->textures[shown].source : NULL;
    struct txm_trace_lane *lane = s ? lane_of(w, number) : NULL;
    if (!lane)
        return;
    uint32_t first = s->first_texture;
    describe_texture(c, first);
    w->in_launch = true;
    if (w->records & TXM_TRACE_LOOKUPS)
        add_row(w, lane, first, how, &at, random);
    if (!(w->records & TXM_TRACE_TILES))
        return;
    if (!txm_blank_look(&w->blank, s->view, how, &at, random, tiles, &count)) {
        if (txm_view_tiles(s->view, 0) > TXM_BLANK_LEVEL_TILES)
            txm_fail(&w->error, TXM_STATUS_TOO_LARGE, "%s: %s is too large for a trace", w->path, s->file->path);
        else
            no_memory(w);
    }
    for (uint32_t i = 0; i < count; i++) {
        tiles[i].texture = first;
        if (!has_failed(c, s, &tiles[i]))
            keys[kept++] = txm_tile_key_pack(tiles[i]);
    }
    add_tiles(w, lane, keys, kept);
}

/* Looks up again, only to find out which tiles are read, so tracing is slow. The trace may have stopped between the
 * caller's check and the lock. */
void txm_trace_lookup(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                      uint32_t random)
{
    pthread_mutex_lock(&t->cache->lock);
    if (t->cache->trace)
        add_lookup(t->cache, t->number, texture, how, at, random);
    pthread_mutex_unlock(&t->cache->lock);
}

/* For renderers that sample a prepared view themselves, on a device or in their own loop: they report their lookups
 * here. The top bit distinguishes their lanes from threads of the cache. */
void txm_cache_trace_look(txm_cache *c, uint32_t lane, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                          uint32_t random)
{
    if (!atomic_load_explicit(&c->watched, memory_order_relaxed))
        return;
    pthread_mutex_lock(&c->lock);
    if (c->trace)
        add_lookup(c, lane | PREPARED_LANE, texture, how, at, random);
    pthread_mutex_unlock(&c->lock);
}

/* write_mark writes the blocks of all lanes first, because what follows belongs to the next launch. */
void txm_trace_launch(txm_cache *c)
{
    if (!c->trace || !c->trace->in_launch)
        return;
    write_mark(c->trace, TXM_TRACE_MARK_LAUNCH);
    c->trace->launch++;
    c->trace->in_launch = false;
}

void txm_trace_replace(txm_cache *c, uint32_t texture)
{
    c->textures[texture].traced = false;
    if (c->trace)
        flush_all(c->trace); /* the blocks of lanes belong to the previous file */
}

void txm_trace_epoch(txm_cache *c)
{
    if (!c->trace)
        return;
    write_mark(c->trace, TXM_TRACE_MARK_EPOCH);
    c->trace->epoch++;
}

/* ---- beginning and end ---- */

static void free_writer(struct txm_trace_writer *w)
{
    for (size_t i = 0; i < w->lane_count; i++) {
        txm_bytes_free(&w->lanes[i]->tiles);
        txm_bytes_free(&w->lanes[i]->rows);
        free(w->lanes[i]);
    }
    free(w->lanes);
    free(w->samplers);
    txm_blank_free(&w->blank);
    free(w->path);
    free(w->part);
    free(w);
}

/* Opens a temporary file beside the final one, with a name that is recognised and cleaned up later if the process is
 * killed. A pipe or device is opened directly; its reader must recognise by itself that the end is missing. */
static txm_status open_writer(const char *path, uint32_t records, struct txm_trace_writer **out, txm_error *err)
{
    struct txm_trace_writer *w = txm_calloc(1, sizeof *w);
    struct stat st;
    bool beside = stat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
    char *folder = beside ? txm_path_dir(path) : NULL;
    if (w) {
        w->path = txm_strdup(path);
        w->part = folder ? txm_owned_path(folder, txm_path_base(path), ".txm-tmp") : NULL;
    }
    free(folder);
    if (!w || !w->path || (beside && !w->part)) {
        if (w)
            free_writer(w);
        return txm_no_memory(err, path);
    }
    w->fd = open(beside ? w->part : path, O_WRONLY | (beside ? O_CREAT | O_TRUNC : 0) | O_CLOEXEC, 0666);
    if (w->fd < 0) {
        txm_status status = txm_fail_errno(err, errno, "%s: cannot write the trace", path);
        free_writer(w);
        return status;
    }
    uint8_t header[TXM_TRACE_HEADER_BYTES] = TXM_TRACE_MAGIC;
    w->records = records;
    txm_store_le32(header + 8, TXM_TRACE_VERSION);
    txm_store_le32(header + 12, records);
    write_bytes(w, header, sizeof header);
    *out = w;
    return TXM_OK;
}

/* Statistics at the start are kept, because the end block covers only the traced part. */
txm_status txm_cache_trace_start(txm_cache *c, const char *path, uint32_t records, txm_error *err)
{
    txm_error_clear(err);
    if (!path)
        return txm_fail(err, TXM_STATUS_USAGE, "no file given for a trace: its path is NULL");
    if (!records || records & ~(uint32_t)(TXM_TRACE_TILES | TXM_TRACE_LOOKUPS))
        return txm_fail(err, TXM_STATUS_USAGE, "%s: a trace holds tiles, lookups or both", path);
    pthread_mutex_lock(&c->lock);
    txm_status status = c->trace
                            ? txm_fail(err, TXM_STATUS_USAGE, "%s: the cache writes %s already", path, c->trace->path)
                            : open_writer(path, records, &c->trace, err);
    if (status == TXM_OK) {
        for (uint32_t i = 0; i < c->stats.textures; i++)
            c->textures[i].traced = false;
        c->trace->before = c->stats;
        c->trace->before.lookups = txm_lookups_of(c);
        describe_constants(c);
        atomic_store(&c->watched, true);
        txm_slow_down(c);
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* Writes the statistics of the traced part; a replay with the same policy can be compared with them. The end block also
 * completes a trace: readers refuse a file without it. */
static void write_end(txm_cache *c)
{
    struct txm_trace_writer *w = c->trace;
    const txm_cache_stats *now = &c->stats, *before = &w->before;
    const uint64_t numbers[] = {c->options.policy,
                                c->options.keep_epochs,
                                c->options.max_bytes,
                                now->tiles_loaded - before->tiles_loaded,
                                now->loaded_bytes - before->loaded_bytes,
                                now->tiles_reloaded - before->tiles_reloaded,
                                (uint64_t)((now->load_seconds - before->load_seconds) * 1e9),
                                txm_lookups_of(c) - before->lookups};
    uint8_t raw[TXM_TRACE_END_BYTES];
    _Static_assert(sizeof numbers == sizeof raw, "as the format has it");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        txm_store_le64(raw + 8 * i, numbers[i]);
    flush_all(w);
    write_block(w, TXM_TRACE_BLOCK_END, (uint32_t)w->lane_count, raw, sizeof raw);
}

/* The reason is a block of its own, which older readers refuse; otherwise they would take the trace for a complete one.
 */
static void write_partial(struct txm_trace_writer *w, const char *why)
{
    const size_t length = strnlen(why, TXM_TRACE_PARTIAL_MAX);
    write_block(w, TXM_TRACE_BLOCK_PARTIAL, 0, why, length);
}

/* Lookups stop being recorded under the lock; closing and renaming need no lock. The file is renamed after everything
 * was written. The result is the first error of the whole trace. `partial`: the reason why the work was not finished;
 * NULL: it was finished. */
static txm_status end_trace(txm_cache *c, bool publish, const char *partial, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    struct txm_trace_writer *w = c->trace;
    if (w) {
        if (publish && partial)
            write_partial(w, partial);
        if (publish)
            write_end(c);
        c->trace = NULL;
        atomic_store(&c->watched, c->options.spurious > 0.0f);
        txm_slow_down(c);
    }
    pthread_mutex_unlock(&c->lock);
    if (!w)
        return TXM_OK;
    if (close(w->fd) != 0 && w->error.status == TXM_OK)
        txm_fail_errno(&w->error, errno, "%s: cannot write the trace", w->path);
    if (publish && w->error.status == TXM_OK && w->part && rename(w->part, w->path) != 0)
        txm_fail_errno(&w->error, errno, "%s: cannot write the trace", w->path);
    if (w->part && (!publish || w->error.status != TXM_OK))
        unlink(w->part);
    txm_status status = w->error.status == TXM_OK ? TXM_OK : txm_fail_as(err, &w->error);
    free_writer(w);
    return status;
}

txm_status txm_cache_trace_stop(txm_cache *c, txm_error *err)
{
    txm_error_clear(err);
    return end_trace(c, true, NULL, err);
}

txm_status txm_cache_trace_stop_partial(txm_cache *c, const char *why, txm_error *err)
{
    txm_error_clear(err);
    return end_trace(c, true, why && *why ? why : "the work was not finished", err);
}

void txm_cache_trace_drop(txm_cache *c)
{
    end_trace(c, false, NULL, NULL);
}
