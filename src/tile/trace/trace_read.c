/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens traces. The file is read once to list its blocks and to load textures, samplers and tiles of one colour. The
 * lookups, which may be far larger than memory, are left to cursors (trace_cursor.c).
 *
 * Nothing in the file is trusted: every block is checked against its checksum, every size against the file, every tile
 * against its texture's shape. The memory for unpacked blocks is bounded by a multiple of the file's size, so a small
 * file cannot cause an allocation of gigabytes.
 */
#include "tile/trace/trace_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/checksum.h"
#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/whole.h"
#include "tile/record/blank.h"
#include "tile/sample/view_file.h"
#include "tile/terms/extension.h"
#include "tile/trace/trace_impl.h"

/* ---- blocks ---- */

txm_status txm_trace_corrupt(const txm_trace *t, txm_error *err, const char *why)
{
    return txm_fail(err, TXM_STATUS_CORRUPT, "%s: the trace is damaged: %s", t->path, why);
}

/* The message differs from that for damage because the remedy differs: the trace must be written again. */
static txm_status incomplete(const txm_trace *t, txm_error *err)
{
    return txm_fail(err, TXM_STATUS_CORRUPT,
                    "%s: the trace is incomplete: the program that wrote it was stopped, or the file was cut short",
                    t->path);
}

static txm_status read_at(const txm_trace *t, uint64_t offset, void *to, size_t bytes, txm_error *err)
{
    int rc = txm_pread_all(t->fd, to, bytes, offset);
    return rc ? txm_fail_errno(err, rc, "%s: cannot read the trace", t->path) : TXM_OK;
}

/* Unpacks a block to *raw, which has TXM_TRACE_BLOCK_MAX bytes; *stored is a buffer for its stored bytes. */
txm_status txm_trace_unpack(const txm_trace *t, const txm_trace_stored *b, ZSTD_DCtx *zstd, uint8_t *stored,
                            uint8_t *raw, txm_error *err)
{
    txm_status status = read_at(t, b->offset, stored, b->stored, err);
    if (status != TXM_OK)
        return status;
    if (txm_xxh64(stored, b->stored, 0) != b->check)
        return txm_trace_corrupt(t, err, "a checksum is wrong");
    size_t got = ZSTD_decompressDCtx(zstd, raw, TXM_TRACE_BLOCK_MAX, stored, b->stored);
    return ZSTD_isError(got) || got != b->raw ? txm_trace_corrupt(t, err, "a block does not unpack to its size")
                                              : TXM_OK;
}

/* The bound of zstd: the size of the largest block if it cannot be compressed at all. */
size_t txm_trace_stored_max(void)
{
    return ZSTD_compressBound(TXM_TRACE_BLOCK_MAX);
}

/* Lists the blocks from their headers. The end block must be at the end of the file. Contents are not read here, so
 * listing takes one small read per block. */
static txm_status list_blocks(txm_trace *t, txm_error *err)
{
    uint8_t h[TXM_TRACE_BLOCK_HEADER_BYTES];
    uint64_t at = TXM_TRACE_HEADER_BYTES;
    uint32_t kind = 0;
    while (kind != TXM_TRACE_BLOCK_END) {
        if (t->bytes - at < sizeof h)
            return incomplete(t, err);
        txm_status status = read_at(t, at, h, sizeof h, err);
        if (status != TXM_OK)
            return status;
        at += sizeof h;
        kind = txm_load_le32(h);
        const txm_trace_stored b = {
            at, txm_load_le64(h + 16), kind, txm_load_le32(h + 4), txm_load_le32(h + 8), txm_load_le32(h + 12)};
        if (b.raw > TXM_TRACE_BLOCK_MAX || b.stored > txm_trace_stored_max())
            return txm_trace_corrupt(t, err, "a block is too large");
        if (!kind || kind > TXM_TRACE_BLOCK_PARTIAL)
            return txm_trace_corrupt(t, err, "a block is of an unknown kind");
        if (b.stored > t->bytes - at)
            return incomplete(t, err);
        if (!TXM_GROW(t->blocks, t->block_capacity, t->block_count))
            return txm_no_memory(err, t->path);
        t->blocks[t->block_count++] = b;
        at += b.stored;
    }
    return at == t->bytes ? TXM_OK : txm_trace_corrupt(t, err, "there is data after its end");
}

/* ---- textures ---- */

/* If files were replaced, a number means several textures in turn: the latest one that was described up to this block
 * counts. */
uint32_t txm_trace_find_naming(const txm_trace *t, uint32_t number, size_t at_block)
{
    size_t low = 0, high = t->naming_count; /* finds the last naming up to the block */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const txm_trace_naming *n = &t->namings[middle];
        if (n->number < number || (n->number == number && n->block <= at_block))
            low = middle + 1;
        else
            high = middle;
    }
    return low && t->namings[low - 1].number == number ? t->namings[low - 1].texture : TXM_NO_TEXTURE;
}

/* Textures are numbered in the order of their blocks, so their index orders the namings of one number in time. */
static int by_number(const void *a, const void *b)
{
    const txm_trace_naming *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->texture < y->texture ? -1 : x->texture > y->texture;
}

/* Fills in the members that the sampler needs to find tiles; `first` and `level_first` are set by the code that lays
 * out the page table. Tiled levels end with the first one that fits into a tile. */
void txm_trace_shape(const txm_trace *t, uint32_t texture, txm_view_texture *v)
{
    const txm_trace_texture *x = &t->textures[texture];
    uint32_t shift = 0;
    while (x->tile_px >> shift > 1)
        shift++;
    *v = (txm_view_texture){.width = x->width,
                            .height = x->height,
                            .levels = (uint16_t)x->levels,
                            .type = (uint8_t)x->type,
                            .channels = (uint8_t)x->channels,
                            .extension = (uint8_t)x->extension,
                            .tile_shift = (uint8_t)shift,
                            .pixel_bytes = x->channels * (uint32_t)txm_type_bytes(x->type),
                            .tile_bytes = x->tile_bytes,
                            .scale = 1.0f};
    v->row_bytes = (x->tile_px + 2 * TXM_BORDER_PX) * v->pixel_bytes;
    if (shift == TXM_SHIFT_PACKED)
        txm_view_pack(v);
    for (v->tiled_levels = 1; v->tiled_levels < x->levels; v->tiled_levels++)
        if (txm_level_size(x->width, v->tiled_levels - 1) <= x->tile_px &&
            txm_level_size(x->height, v->tiled_levels - 1) <= x->tile_px)
            break;
}

/* Whether the cache could have written this description. Numbers have 23 bits, as in keys. The size of a tile must be
 * that of its padded pixels, because replays allocate it. */
static bool is_shape(const txm_trace_texture *x)
{
    uint64_t edge = x->tile_px;
    if (!x->width || !x->height || x->width > TXM_MAX_LOOKUP_PX || x->height > TXM_MAX_LOOKUP_PX || !x->levels ||
        x->levels > txm_level_count(x->width, x->height) || x->levels > TXM_MAX_LOOKUP_LEVELS || !edge ||
        edge & (edge - 1) || (uint32_t)x->type > TXM_TYPE_FLOAT ||
        (x->channels != 1 && x->channels != 3 && x->channels != 4) || !txm_extension_exists(x->extension) ||
        x->number >> 23)
        return false;
    if (edge == 1u << TXM_SHIFT_PACKED) {
        txm_view_texture v = {.width = x->width,
                              .height = x->height,
                              .levels = (uint16_t)x->levels,
                              .pixel_bytes = x->channels * (uint32_t)txm_type_bytes(x->type)};
        txm_view_pack(&v);
        return txm_view_is_packed(&v) && x->tile_bytes == v.tile_bytes;
    }
    if (edge > TXM_MAX_TILE_PX)
        return false;
    uint64_t padded = edge + 2 * TXM_BORDER_PX, tiles = (x->width + edge - 1) / edge * ((x->height + edge - 1) / edge);
    return x->tile_bytes == padded * padded * x->channels * txm_type_bytes(x->type) && tiles <= TXM_BLANK_LEVEL_TILES;
}

/* A path with a zero byte is refused, because functions of C would read only the part before it. */
static txm_status read_textures(txm_trace *t, size_t at_block, const uint8_t *raw, size_t bytes, txm_error *err)
{
    while (bytes) {
        if (bytes < TXM_TRACE_TEXTURE_BYTES || txm_load_le32(raw + 28) > bytes - TXM_TRACE_TEXTURE_BYTES)
            return txm_trace_corrupt(t, err, "a texture is cut short");
        const size_t path_bytes = txm_load_le32(raw + 28);
        txm_trace_texture x = {.number = txm_load_le32(raw),
                               .width = txm_load_le32(raw + 4),
                               .height = txm_load_le32(raw + 8),
                               .levels = txm_load_le32(raw + 12),
                               .tile_px = txm_load_le32(raw + 16),
                               .tile_bytes = txm_load_le32(raw + 20),
                               .type = (txm_type)raw[24],
                               .channels = raw[25],
                               .extension = (txm_extension)raw[26],
                               .widened = raw[27] & TXM_TRACE_WIDENED};
        if (!is_shape(&x) || memchr(raw + TXM_TRACE_TEXTURE_BYTES, 0, path_bytes))
            return txm_trace_corrupt(t, err, "a texture's description is impossible");
        if (!TXM_GROW(t->textures, t->texture_capacity, t->texture_count) ||
            !TXM_GROW(t->namings, t->naming_capacity, t->naming_count) ||
            !(x.path = txm_strndup((const char *)raw + TXM_TRACE_TEXTURE_BYTES, path_bytes)))
            return txm_no_memory(err, t->path);
        t->namings[t->naming_count++] = (txm_trace_naming){x.number, (uint32_t)t->texture_count, at_block};
        t->textures[t->texture_count++] = x;
        raw += TXM_TRACE_TEXTURE_BYTES + path_bytes;
        bytes -= TXM_TRACE_TEXTURE_BYTES + path_bytes;
    }
    return TXM_OK;
}

/* ---- samplers, tiles of one colour, the end ---- */

/* Samplers must be numbered in their order in the file, and must pass the check that applies to callers. */
static txm_status read_samplers(txm_trace *t, const uint8_t *raw, size_t bytes, txm_error *err)
{
    for (; bytes; raw += TXM_TRACE_SAMPLER_BYTES, bytes -= TXM_TRACE_SAMPLER_BYTES) {
        if (bytes < TXM_TRACE_SAMPLER_BYTES)
            return txm_trace_corrupt(t, err, "a sampler is cut short");
        txm_sampler how = {raw[4], raw[5], raw[6], raw[7], raw[8], raw[9], raw[10], raw[11], 0.0f};
        memcpy(&how.mip_bias, raw + 12, sizeof how.mip_bias);
        if (txm_load_le32(raw) != t->sampler_count || txm_sampler_check(&how, NULL) != TXM_OK)
            return txm_trace_corrupt(t, err, "a lookup's settings are impossible");
        if (!TXM_GROW(t->samplers, t->sampler_capacity, t->sampler_count))
            return txm_no_memory(err, t->path);
        t->samplers[t->sampler_count++] = how;
    }
    return TXM_OK;
}

uint32_t txm_trace_level_tiles(const txm_trace *t, uint32_t texture, uint32_t level)
{
    if (texture == TXM_NO_TEXTURE || level >= t->textures[texture].levels)
        return 0;
    const txm_trace_texture *x = &t->textures[texture];
    uint32_t across = (txm_level_size(x->width, level) + x->tile_px - 1) / x->tile_px;
    uint32_t down = (txm_level_size(x->height, level) + x->tile_px - 1) / x->tile_px;
    return across * down;
}

/* Called when all textures are known. */
static txm_status read_constants(txm_trace *t, size_t at_block, const uint8_t *raw, size_t bytes, txm_error *err)
{
    for (; bytes; raw += TXM_TRACE_CONSTANT_BYTES, bytes -= TXM_TRACE_CONSTANT_BYTES) {
        txm_trace_constant_tile c;
        if (bytes < TXM_TRACE_CONSTANT_BYTES)
            return txm_trace_corrupt(t, err, "a tile of one colour is cut short");
        c.tile = txm_tile_key_unpack(txm_load_le64(raw));
        c.tile.texture = txm_trace_find_naming(t, c.tile.texture, at_block);
        if (c.tile.udim || c.tile.tile >= txm_trace_level_tiles(t, c.tile.texture, c.tile.level))
            return txm_trace_corrupt(t, err, "a tile of one colour belongs to no texture");
        memcpy(c.pixel, raw + sizeof(txm_tile_key), sizeof c.pixel);
        if (!TXM_GROW(t->constants, t->constant_capacity, t->constant_count))
            return txm_no_memory(err, t->path);
        t->constants[t->constant_count++] = c;
    }
    return TXM_OK;
}

/* Combines texture, level and tile to a sort key. */
static uint64_t order_of(txm_tile_name n)
{
    return (uint64_t)n.texture << 32 | n.level << 20 | n.tile; /* the key without the valid flag */
}

static int by_tile(const void *a, const void *b)
{
    uint64_t x = order_of(((const txm_trace_constant_tile *)a)->tile),
             y = order_of(((const txm_trace_constant_tile *)b)->tile);
    return x < y ? -1 : x > y;
}

const uint8_t *txm_trace_pixel(const txm_trace *t, txm_tile_name tile)
{
    txm_trace_constant_tile wanted = {.tile = tile};
    const txm_trace_constant_tile *c =
        t->constant_count ? bsearch(&wanted, t->constants, t->constant_count, sizeof wanted, by_tile) : NULL;
    return c ? c->pixel : NULL;
}

/* In the header of the end block, the field for the thread holds the number of lanes. */
static txm_status read_end(txm_trace *t, const txm_trace_stored *b, const uint8_t *raw, txm_error *err)
{
    uint64_t n[TXM_TRACE_END_BYTES / 8];
    if (b->raw != TXM_TRACE_END_BYTES)
        return txm_trace_corrupt(t, err, "its end has the wrong size");
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        n[i] = txm_load_le64(raw + 8 * i);
    if (n[0] > UINT32_MAX || !txm_cache_policy_words_of((txm_cache_policy)n[0]))
        return txm_trace_corrupt(t, err, "its policy is unknown");
    t->info.lanes = b->thread;
    t->info.policy = (txm_cache_policy)n[0];
    t->info.keep_epochs = n[1] == 2 ? 2 : 1;
    t->info.max_bytes = n[2];
    t->info.tiles_loaded = n[3];
    t->info.loaded_bytes = n[4];
    t->info.tiles_reloaded = n[5];
    t->info.load_seconds = 1e-9 * (double)n[6];
    t->info.lookups = n[7];
    return TXM_OK;
}

/* The reason is shown to users, so only one short text is accepted. */
static txm_status read_partial(txm_trace *t, const uint8_t *raw, size_t bytes, txm_error *err)
{
    if (t->info.partial || !bytes || bytes > TXM_TRACE_PARTIAL_MAX || memchr(raw, 0, bytes))
        return txm_trace_corrupt(t, err, "the reason why it is partial is not text, or too long");
    t->info.partial = txm_strndup((const char *)raw, bytes);
    return t->info.partial ? TXM_OK : txm_no_memory(err, t->path);
}

/* ---- opening ---- */

/* Reads all blocks of one kind, except lookups and tiles. The kinds are read one after the other, because tiles of one
 * colour can be resolved only when all textures are known. *left is the number of bytes that may still be unpacked. */
static txm_status read_kind(txm_trace *t, txm_trace_block kind, ZSTD_DCtx *zstd, uint8_t *stored, uint8_t *raw,
                            uint64_t *left, txm_error *err)
{
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < t->block_count; i++) {
        const txm_trace_stored *b = &t->blocks[i];
        if (b->kind != kind)
            continue;
        if (b->raw > *left)
            return txm_trace_corrupt(t, err, "it unpacks to too much data for its size");
        *left -= b->raw;
        status = txm_trace_unpack(t, b, zstd, stored, raw, err);
        if (status != TXM_OK)
            return status;
        status = kind == TXM_TRACE_BLOCK_TEXTURES    ? read_textures(t, i, raw, b->raw, err)
                 : kind == TXM_TRACE_BLOCK_SAMPLERS  ? read_samplers(t, raw, b->raw, err)
                 : kind == TXM_TRACE_BLOCK_CONSTANTS ? read_constants(t, i, raw, b->raw, err)
                 : kind == TXM_TRACE_BLOCK_PARTIAL   ? read_partial(t, raw, b->raw, err)
                                                     : read_end(t, b, raw, err);
    }
    return status;
}

static txm_status read_trace_bytes(txm_trace *t, txm_error *err)
{
    /* Unpacked bytes are limited to MORE plus TIMES the file's size; in memory, records take up to seven times that. */
    enum { MORE = 2 << 20, TIMES = 8 };
    static const txm_trace_block kinds[] = {TXM_TRACE_BLOCK_TEXTURES, TXM_TRACE_BLOCK_SAMPLERS,
                                            TXM_TRACE_BLOCK_CONSTANTS, TXM_TRACE_BLOCK_PARTIAL, TXM_TRACE_BLOCK_END};
    uint8_t h[TXM_TRACE_HEADER_BYTES];
    if (t->bytes < sizeof h)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: not a trace of a texture cache", t->path);
    txm_status status = read_at(t, 0, h, sizeof h, err);
    if (status != TXM_OK)
        return status;
    if (memcmp(h, TXM_TRACE_MAGIC, 8) != 0)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: not a trace of a texture cache", t->path);
    /* A newer version is reported as NEWER instead of as damage, because the remedy is a newer txmill. */
    if (txm_load_le32(h + 8) != TXM_TRACE_VERSION)
        return txm_fail(err, TXM_STATUS_NEWER, "%s: is a trace of version %u; this txmill reads version %d", t->path,
                        txm_load_le32(h + 8), TXM_TRACE_VERSION);
    t->info.records = txm_load_le32(h + 12);
    if (!t->info.records || t->info.records & ~(uint32_t)(TXM_TRACE_TILES | TXM_TRACE_LOOKUPS))
        return txm_trace_corrupt(t, err, "it holds neither tiles nor lookups");
    if ((status = list_blocks(t, err)) != TXM_OK)
        return status;
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    uint8_t *stored = malloc(txm_trace_stored_max()), *raw = malloc(TXM_TRACE_BLOCK_MAX);
    uint64_t left = t->bytes * TIMES + MORE;
    if (!zstd || !stored || !raw)
        status = txm_no_memory(err, t->path);
    for (size_t i = 0; status == TXM_OK && i < sizeof kinds / sizeof *kinds; i++) {
        status = read_kind(t, kinds[i], zstd, stored, raw, &left, err);
        if (kinds[i] == TXM_TRACE_BLOCK_TEXTURES && t->naming_count)
            qsort(t->namings, t->naming_count, sizeof *t->namings, by_number);
    }
    if (t->constant_count)
        qsort(t->constants, t->constant_count, sizeof *t->constants, by_tile);
    t->info.textures = (uint32_t)t->texture_count;
    t->info.constants = t->constant_count;
    ZSTD_freeDCtx(zstd);
    free(stored);
    free(raw);
    return status;
}

/* O_NONBLOCK prevents open from blocking on a pipe of that name, which is refused afterwards. */
txm_status txm_trace_open(const char *path, txm_trace **out, txm_error *err)
{
    struct stat st;
    txm_error_clear(err);
    *out = NULL;
    if (!path)
        return txm_fail(err, TXM_STATUS_USAGE, "no trace given: its path is NULL");
    txm_trace *t = txm_calloc(1, sizeof *t);
    if (!t || !(t->path = txm_strdup(path))) {
        free(t);
        return txm_no_memory(err, path);
    }
    txm_status status = TXM_OK;
    t->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (t->fd < 0 || fstat(t->fd, &st) != 0)
        status = txm_fail_errno(err, errno, "%s: cannot open", path);
    else if (!S_ISREG(st.st_mode))
        status = txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not a regular file", path);
    if (status == TXM_OK) {
        t->bytes = (uint64_t)st.st_size;
        status = read_trace_bytes(t, err);
    }
    if (status != TXM_OK)
        txm_trace_free(&t);
    *out = t;
    return status;
}

void txm_trace_free(txm_trace **trace)
{
    txm_trace *t = trace ? *trace : NULL;
    if (!t)
        return;
    if (t->fd >= 0)
        close(t->fd);
    for (size_t i = 0; i < t->texture_count; i++)
        free((char *)t->textures[i].path);
    free(t->textures);
    free(t->namings);
    free(t->samplers);
    free(t->constants);
    free(t->blocks);
    free((char *)t->info.partial);
    free(t->path);
    free(t);
    *trace = NULL;
}

const txm_trace_info *txm_trace_info_of(const txm_trace *t)
{
    return &t->info;
}

const txm_trace_texture *txm_trace_texture_at(const txm_trace *t, uint32_t index)
{
    return index < t->texture_count ? &t->textures[index] : NULL;
}
