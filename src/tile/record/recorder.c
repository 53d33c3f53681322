/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes traces in the format of trace_format.h and txmill-trace(5): they record what lookups use, in the order of each
 * thread, or of each lane of a batch. Each lane collects its own blocks. The tiles and the rows (lookups) of a lane are
 * collected in separate buffers, because a trace may hold either or both.
 *
 * Errors are kept until the trace is closed: a full disk should not interrupt a render. An incomplete file never gets
 * its final name.
 */
#include "tile/record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/os/owner.h"
#include "base/path.h"
#include "base/whole.h"
#include "tile/record/blank.h"
#include "tile/record/trace_format.h"
#include "tile/sample/view_file.h"

enum { BLOCK_BYTES = 64 << 10, ROW_BYTES = 4 * TXM_TRACE_COLUMNS };

/* What a thread or lane has used since its last blocks were written. */
typedef struct recorder_lane {
    uint32_t number;
    uint64_t previous; /* the key that the next difference is relative to */
    txm_tile_key last[TXM_BLANK_TILES];
    uint32_t last_count; /* number of tiles of its last lookup */
    txm_bytes tiles, rows;
} recorder_lane;

struct txm_recorder {
    int fd;
    char *path, *part; /* the final name, and the name until then; part is NULL for a device or pipe, which is written
                          to directly */
    uint32_t records, launch, epoch;
    bool in_launch; /* a lookup was recorded in the current launch */
    txm_blank blank;
    txm_sampler *samplers;
    size_t sampler_count, sampler_capacity;
    recorder_lane **lanes; /* sorted by number */
    size_t lane_count, lane_capacity;
    txm_error error; /* the first failure */
};

static void no_memory(txm_recorder *r)
{
    txm_fail(&r->error, TXM_STATUS_NO_MEMORY, "%s: no memory for the trace", r->path);
}

/* ---- blocks ---- */

/* Does nothing after a failure. */
static void write_bytes(txm_recorder *r, const void *data, size_t bytes)
{
    const int rc = r->error.status == TXM_OK ? txm_write_all(r->fd, data, bytes) : 0;
    if (rc)
        txm_fail_errno(&r->error, rc, "%s: cannot write the trace", r->path);
}

/* Each block is a separate zstd frame, so readers can skip it. Level 1 is enough, because the data already consist of
 * columns and differences, and the lock is held meanwhile. The checksum covers the stored bytes, so damage is found
 * before anything is unpacked. */
static void write_block(txm_recorder *r, txm_trace_block kind, uint32_t thread, const void *raw, size_t raw_bytes)
{
    uint8_t header[TXM_TRACE_BLOCK_HEADER_BYTES];
    size_t bound = ZSTD_compressBound(raw_bytes), stored = 0;
    uint8_t *packed = malloc(bound);
    if (packed)
        stored = ZSTD_compress(packed, bound, raw, raw_bytes, 1);
    if (!packed || ZSTD_isError(stored)) {
        no_memory(r);
    } else {
        txm_store_le32(header, kind);
        txm_store_le32(header + 4, thread);
        txm_store_le32(header + 8, (uint32_t)stored);
        txm_store_le32(header + 12, (uint32_t)raw_bytes);
        txm_store_le64(header + 16, txm_xxh64(packed, stored, 0));
        write_bytes(r, header, sizeof header);
        write_bytes(r, packed, stored);
    }
    free(packed);
}

/* Converts rows of lookups to columns of differences, in planes of bytes, lowest first. Neighbouring lookups have the
 * same texture, sampler and exponents, so most planes are zero and compress well. */
static void write_rows(txm_recorder *r, const recorder_lane *lane)
{
    size_t rows = lane->rows.size / ROW_BYTES;
    uint8_t *raw = malloc(TXM_TRACE_LOOKUPS_HEAD_BYTES + lane->rows.size), *to = raw;
    if (!raw) {
        no_memory(r);
        return;
    }
    txm_store_le32(to, (uint32_t)rows);
    txm_store_le32(to + 4, r->launch);
    txm_store_le32(to + 8, r->epoch);
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
    write_block(r, TXM_TRACE_BLOCK_LOOKUPS, lane->number, raw, (size_t)(to - raw));
    free(raw);
}

/* Differences begin at 0 again, so each block can be read separately. */
static void flush_tiles(txm_recorder *r, recorder_lane *lane)
{
    if (lane->tiles.size)
        write_block(r, TXM_TRACE_BLOCK_TILES, lane->number, lane->tiles.data, lane->tiles.size);
    lane->tiles.size = 0;
    lane->previous = 0;
}

static void flush_rows(txm_recorder *r, recorder_lane *lane)
{
    if (lane->rows.size)
        write_rows(r, lane);
    lane->rows.size = 0;
}

/* Writes the blocks of all lanes before another launch or epoch begins. They are in the order of the lanes' numbers, so
 * a trace of one thread is reproducible. */
void txm_recorder_flush(txm_recorder *r)
{
    for (size_t i = 0; i < r->lane_count; i++) {
        flush_rows(r, r->lanes[i]);
        flush_tiles(r, r->lanes[i]);
        r->lanes[i]->last_count = 0;
    }
}

/* A 0 announces a mark, because no difference is 0. Rows have launch and epoch in the head of their block and need no
 * mark. */
static void write_mark(txm_recorder *r, txm_trace_mark mark)
{
    const uint8_t raw[] = {0, (uint8_t)mark};
    txm_recorder_flush(r);
    if (r->records & TXM_TRACE_HAS_TILES)
        write_block(r, TXM_TRACE_BLOCK_TILES, 0, raw, sizeof raw);
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

/* Records the tiles of a lookup, unless they are those of the previous one. A tile that a lane has just used is hardly
 * ever evicted, so repetitions contain little information about a cache and would make up most of the trace. */
static void add_tiles(txm_recorder *r, recorder_lane *lane, const txm_tile_key *keys, uint32_t count)
{
    uint8_t raw[(TXM_BLANK_TILES + 2) * TXM_TRACE_NUMBER_BYTES];
    size_t bytes = 0;
    bool again = count == lane->last_count && memcmp(keys, lane->last, count * sizeof *keys) == 0;
    bool newest = count == 1 && lane->last_count && keys[0] == lane->last[lane->last_count - 1];
    if (!count || again || newest)
        return;
    if (lane->tiles.size + sizeof raw > BLOCK_BYTES)
        flush_tiles(r, lane);
    if (count > 1) {
        bytes += put_number(raw, 0);
        bytes += put_number(raw + bytes, count);
    }
    /* Zigzag makes small negative steps as short as positive ones. A single tile is never followed by itself, so 0 is
     * available for marks. */
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t delta = keys[i] - lane->previous;
        lane->previous = keys[i];
        bytes += put_number(raw + bytes, delta << 1 ^ (delta >> 63 ? UINT64_MAX : 0));
    }
    memcpy(lane->last, keys, count * sizeof *keys);
    lane->last_count = count;
    if (!txm_bytes_add(&lane->tiles, raw, bytes))
        no_memory(r);
}

/* Returns the number of a sampler, and writes it if it is new. Samplers are compared byte by byte; a renderer has few
 * of them, so a list is enough. */
static uint32_t sampler_of(txm_recorder *r, const txm_sampler *how)
{
    uint8_t raw[TXM_TRACE_SAMPLER_BYTES] = {0};
    size_t i = 0;
    while (i < r->sampler_count && memcmp(&r->samplers[i], how, sizeof *how) != 0)
        i++;
    if (i < r->sampler_count)
        return (uint32_t)i;
    if (!TXM_GROW(r->samplers, r->sampler_capacity, r->sampler_count)) {
        no_memory(r);
        return 0;
    }
    r->samplers[r->sampler_count++] = *how;
    uint32_t bias;
    memcpy(&bias, &how->mip_bias, sizeof bias);
    const uint8_t members[] = {how->rule,       how->mode,  how->filter, how->on_miss,
                               how->anisotropy, how->after, how->chance};
    txm_store_le32(raw, (uint32_t)i);
    memcpy(raw + 4, members, sizeof members);
    txm_store_le32(raw + 12, bias);
    write_block(r, TXM_TRACE_BLOCK_SAMPLERS, 0, raw, sizeof raw);
    return (uint32_t)i;
}

void txm_recorder_texture(txm_recorder *r, uint32_t texture, const txm_view_texture *shape, bool widened,
                          const char *path)
{
    const size_t path_bytes = strlen(path);
    uint8_t *raw = malloc(TXM_TRACE_TEXTURE_BYTES + path_bytes);
    if (!raw) {
        no_memory(r);
        return;
    }
    const uint32_t numbers[] = {texture,          shape->width, shape->height, shape->levels, 1u << shape->tile_shift,
                                shape->tile_bytes};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        txm_store_le32(raw + 4 * i, numbers[i]);
    raw[24] = shape->type;
    raw[25] = shape->channels;
    raw[26] = shape->extension;
    raw[27] = widened ? TXM_TRACE_WIDENED : 0;
    txm_store_le32(raw + 28, (uint32_t)path_bytes);
    memcpy(raw + TXM_TRACE_TEXTURE_BYTES, path, path_bytes);
    write_block(r, TXM_TRACE_BLOCK_TEXTURES, 0, raw, TXM_TRACE_TEXTURE_BYTES + path_bytes);
    free(raw);
}

void txm_recorder_constant(txm_recorder *r, txm_tile_name tile, const uint8_t *pixel, size_t pixel_bytes)
{
    uint8_t raw[TXM_TRACE_CONSTANT_BYTES] = {0};
    txm_store_le64(raw, txm_tile_key_pack(tile));
    memcpy(raw + sizeof(txm_tile_key), pixel, pixel_bytes);
    write_block(r, TXM_TRACE_BLOCK_CONSTANTS, 0, raw, sizeof raw);
}

/* ---- lookups ---- */

/* Finds or adds the lane of a number; NULL: out of memory. The list is sorted and searched by bisection, because a
 * wavefront may have thousands of lanes. */
static recorder_lane *lane_of(txm_recorder *r, uint32_t number)
{
    size_t low = 0, high = r->lane_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->lanes[middle]->number == number)
            return r->lanes[middle];
        *(r->lanes[middle]->number < number ? &low : &high) = r->lanes[middle]->number < number ? middle + 1 : middle;
    }
    recorder_lane *lane = TXM_GROW(r->lanes, r->lane_capacity, r->lane_count) ? txm_calloc(1, sizeof *lane) : NULL;
    if (!lane) {
        no_memory(r);
        return NULL;
    }
    lane->number = number;
    memmove(r->lanes + low + 1, r->lanes + low, (r->lane_count - low) * sizeof *r->lanes);
    r->lanes[low] = lane;
    r->lane_count++;
    return lane;
}

/* Looks up again, only to find out which tiles are read, so tracing is slow. Tiles that have failed are left out,
 * because a replay would count them as reads that succeeded. That also holds for failures that will be tried again: if
 * a later attempt succeeds, the lookup that uses its tile records it. */
void txm_recorder_lookup(txm_recorder *r, const txm_recorded *look)
{
    txm_tile_name tiles[TXM_BLANK_TILES];
    txm_tile_key keys[TXM_BLANK_TILES];
    uint32_t count = 0, kept = 0;
    recorder_lane *lane = lane_of(r, look->lane);
    if (!lane)
        return;
    r->in_launch = true;
    if (r->records & TXM_TRACE_HAS_LOOKUPS) {
        /* Floats are stored as their bits, so a replay looks up at exactly the same place. */
        const txm_lookup *at = look->at;
        const uint32_t first[] = {look->texture, sampler_of(r, look->how), look->random};
        const float place[] = {at->u, at->v, at->dudx, at->dvdx, at->dudy, at->dvdy};
        uint8_t row[ROW_BYTES];
        for (size_t i = 0; i < sizeof first / sizeof *first; i++)
            txm_store_le32(row + 4 * i, first[i]);
        memcpy(row + sizeof first, place, sizeof place);
        if (!txm_bytes_add(&lane->rows, row, sizeof row))
            no_memory(r);
        if (lane->rows.size == (size_t)ROW_BYTES * TXM_TRACE_LOOKUPS_MAX)
            flush_rows(r, lane);
    }
    if (!(r->records & TXM_TRACE_HAS_TILES))
        return;
    if (!txm_blank_lookup(&r->blank, look->shape, look->how, look->at, look->random, tiles, &count)) {
        if (txm_view_tiles(look->shape, 0) > TXM_BLANK_LEVEL_TILES)
            txm_fail(&r->error, TXM_STATUS_TOO_LARGE, "%s: %s is too large for a trace", r->path, look->path);
        else
            no_memory(r);
    }
    for (uint32_t i = 0; i < count; i++) {
        tiles[i].texture = look->texture;
        if (!look->failed(look->user, &tiles[i]))
            keys[kept++] = txm_tile_key_pack(tiles[i]);
    }
    add_tiles(r, lane, keys, kept);
}

void txm_recorder_launch(txm_recorder *r)
{
    if (!r->in_launch)
        return;
    write_mark(r, TXM_TRACE_MARK_LAUNCH);
    r->launch++;
    r->in_launch = false;
}

void txm_recorder_epoch(txm_recorder *r)
{
    write_mark(r, TXM_TRACE_MARK_EPOCH);
    r->epoch++;
}

/* ---- beginning and end ---- */

static void free_recorder(txm_recorder *r)
{
    for (size_t i = 0; i < r->lane_count; i++) {
        txm_bytes_free(&r->lanes[i]->tiles);
        txm_bytes_free(&r->lanes[i]->rows);
        free(r->lanes[i]);
    }
    free(r->lanes);
    free(r->samplers);
    txm_blank_free(&r->blank);
    free(r->path);
    free(r->part);
    free(r);
}

/* Opens a temporary file beside the final one, with a name that is recognised and cleaned up later if the process is
 * killed. A pipe or device is opened directly; its reader must recognise by itself that the end is missing. */
txm_status txm_recorder_new(const char *path, uint32_t records, txm_recorder **out, txm_error *err)
{
    txm_recorder *r = txm_calloc(1, sizeof *r);
    struct stat st;
    bool beside = stat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
    char *folder = beside ? txm_path_dir(path) : NULL;
    if (r) {
        r->path = txm_strdup(path);
        r->part = folder ? txm_owned_path(folder, txm_path_base(path), ".txm-tmp") : NULL;
    }
    free(folder);
    if (!r || !r->path || (beside && !r->part)) {
        if (r)
            free_recorder(r);
        return txm_no_memory(err, path);
    }
    r->fd = open(beside ? r->part : path, O_WRONLY | (beside ? O_CREAT | O_TRUNC : 0) | O_CLOEXEC, 0666);
    if (r->fd < 0) {
        txm_status status = txm_fail_errno(err, errno, "%s: cannot write the trace", path);
        free_recorder(r);
        return status;
    }
    uint8_t header[TXM_TRACE_HEADER_BYTES] = TXM_TRACE_MAGIC;
    r->records = records;
    txm_store_le32(header + 8, TXM_TRACE_VERSION);
    txm_store_le32(header + 12, records);
    write_bytes(r, header, sizeof header);
    *out = r;
    return TXM_OK;
}

const char *txm_recorder_path(const txm_recorder *r)
{
    return r->path;
}

/* The end block also completes a trace: readers refuse a file without it. The reason of a partial one is a block of its
 * own, which older readers refuse; otherwise they would take the trace for a complete one. */
void txm_recorder_end(txm_recorder *r, const uint64_t numbers[TXM_TRACE_END_NUMBERS], const char *partial)
{
    uint8_t raw[8 * TXM_TRACE_END_NUMBERS];
    for (size_t i = 0; i < TXM_TRACE_END_NUMBERS; i++)
        txm_store_le64(raw + 8 * i, numbers[i]);
    if (partial)
        write_block(r, TXM_TRACE_BLOCK_PARTIAL, 0, partial, strnlen(partial, TXM_TRACE_PARTIAL_MAX));
    txm_recorder_flush(r);
    write_block(r, TXM_TRACE_BLOCK_END, (uint32_t)r->lane_count, raw, sizeof raw);
}

/* The file is renamed after everything was written. */
txm_status txm_recorder_close(txm_recorder *r, bool keep, txm_error *err)
{
    if (close(r->fd) != 0 && r->error.status == TXM_OK)
        txm_fail_errno(&r->error, errno, "%s: cannot write the trace", r->path);
    if (keep && r->error.status == TXM_OK && r->part && rename(r->part, r->path) != 0)
        txm_fail_errno(&r->error, errno, "%s: cannot write the trace", r->path);
    if (r->part && (!keep || r->error.status != TXM_OK))
        unlink(r->part);
    txm_status status = r->error.status == TXM_OK ? TXM_OK : txm_fail_as(err, &r->error);
    free_recorder(r);
    return status;
}
