/* SPDX-License-Identifier: Apache-2.0
 *
 * The structure of EXR tx files: a header of attributes and a table with the offset of every tile. It is parsed in the
 * map: every number is compared with the file's size before it is used, and only metadata is copied. OpenEXRCore is
 * needed for the rarer codecs only (exr_tile.c).
 */
#include "tile/reader/exr_reader.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "tile/reader/exr_channels.h"
#include "tile/reader/image_part.h"

enum {
    MAGIC = 20000630,
    FLAG_TILED = 0x200,
    FLAG_LONG_NAMES = 0x400,
    FLAG_DEEP = 0x800,
    FLAG_MULTIPART = 0x1000,
    KNOWN_FLAGS = FLAG_TILED | FLAG_LONG_NAMES | FLAG_DEEP | FLAG_MULTIPART,
    MAX_ATTRIBUTES = 4096,
    MAX_NAME = 255,
    PIXEL_HALF = 1,
    PIXEL_FLOAT = 2,
    LEVEL_ONE = 0,
    LEVEL_MIPMAP = 1,
    ROUND_DOWN = 0
};

typedef struct parser {
    txm_tx *tx;
    txm_error *err;
    size_t at;
    bool have_channels, have_codec, have_window, have_tiles;
    uint32_t width, height;
    unsigned level_mode;
} parser;

typedef struct attribute {
    const char *name, *type;
    const uint8_t *data; /* entirely inside the map */
    uint32_t bytes;
} attribute;

/* The message names the offset in the file, which helps in a hex editor. */
static txm_status corrupt(parser *p, const char *what)
{
    return txm_fail(p->err, TXM_STATUS_CORRUPT, "%s: damaged EXR header: %s (byte %zu); the file may be truncated",
                    p->tx->path, what, p->at);
}

/* Reads a NUL-terminated name at the current place; NULL if it is too long or cut off. */
static const char *take_name(parser *p)
{
    const char *s = (const char *)p->tx->map.data + p->at;
    size_t left = p->tx->map.bytes - p->at, most = left < MAX_NAME + 1 ? left : MAX_NAME + 1;
    size_t n = txm_map_needs(&p->tx->map, p->at, most) ? strnlen(s, most) : most;
    if (n == most)
        return NULL;
    p->at += n + 1;
    return s;
}

/* Reads the channel list, in which all channels must have the same type and full resolution, and keeps their names as
 * metadata. */
static txm_status take_channels(parser *p, const attribute *a)
{
    txm_tx *tx = p->tx;
    const char *channels[TXM_MAX_CHANNELS];
    uint32_t order[TXM_MAX_CHANNELS];
    char names[TXM_MAX_CHANNELS * (MAX_NAME + 2)] = "";
    uint32_t count = 0, at = 0;
    if (tx->outline) {
        p->have_channels = true;
        tx->info.channels = 1;
        return TXM_OK;
    }
    for (; at < a->bytes && a->data[at]; at += 16, count++) {
        const char *name = (const char *)a->data + at;
        size_t n = strnlen(name, a->bytes - at);
        if (n > MAX_NAME || a->bytes - at < n + 1 + 16)
            return corrupt(p, "the channel list is cut off");
        at += (uint32_t)n + 1;
        if (count == TXM_MAX_CHANNELS)
            return txm_fail(p->err, TXM_STATUS_UNSUPPORTED, "%s: more than %d channels", tx->path, TXM_MAX_CHANNELS);
        uint32_t type = txm_load_le32(a->data + at);
        if (type != PIXEL_HALF && type != PIXEL_FLOAT)
            return txm_fail(p->err, TXM_STATUS_UNSUPPORTED, "%s: channel %s is neither half nor float", tx->path, name);
        if (txm_load_le32(a->data + at + 8) != 1 || txm_load_le32(a->data + at + 12) != 1)
            return txm_fail(p->err, TXM_STATUS_UNSUPPORTED, "%s: channel %s is subsampled", tx->path, name);
        txm_type now = type == PIXEL_HALF ? TXM_TYPE_HALF : TXM_TYPE_FLOAT;
        if (count && now != tx->info.type)
            return txm_fail(p->err, TXM_STATUS_UNSUPPORTED, "%s: its channels differ in type", tx->path);
        tx->info.type = now;
        channels[count] = name;
        strcat(strcat(names, count ? "," : ""), name);
    }
    if (!count || at >= a->bytes)
        return corrupt(p, "no channels");
    txm_exr_channel_order(channels, count, order);
    for (uint32_t i = 0; i < count; i++)
        tx->exr_slot[order[i]] = (uint8_t)i;
    tx->info.channels = count;
    p->have_channels = true;
    return txm_metadata_add(&tx->metadata, "channels", names, sizeof names) ? TXM_OK : txm_no_memory(p->err, tx->path);
}

/* The sizes have 64 bits, because the corners of a hostile window span more than 32. */
static txm_status take_window(parser *p, const attribute *a)
{
    if (a->bytes != 16)
        return corrupt(p, "the data window has a wrong size");
    int32_t box[4];
    memcpy(box, a->data, sizeof box);
    int64_t w = (int64_t)box[2] - box[0] + 1, h = (int64_t)box[3] - box[1] + 1;
    if (w < 1 || h < 1)
        return corrupt(p, "the data window is empty");
    p->width =
        w > UINT32_MAX ? UINT32_MAX : (uint32_t)w; /* far beyond the limit, which is checked when the level is added */
    p->height = h > UINT32_MAX ? UINT32_MAX : (uint32_t)h;
    p->have_window = true;
    return TXM_OK;
}

/* Tiles are not read from rip-maps, whose levels have other shapes, nor from levels whose sizes are rounded up; for an
 * outline both are accepted. */
static txm_status take_tiles(parser *p, const attribute *a)
{
    if (a->bytes != 9)
        return corrupt(p, "the tile description has a wrong size");
    p->tx->info.tile_w = txm_load_le32(a->data);
    p->tx->info.tile_h = txm_load_le32(a->data + 4);
    p->level_mode = a->data[8] & 15;
    p->have_tiles = true;
    if (p->tx->outline)
        return TXM_OK;
    if (p->level_mode != LEVEL_ONE && p->level_mode != LEVEL_MIPMAP)
        return txm_fail(p->err, TXM_STATUS_UNSUPPORTED, "%s: rip-map levels; only mip-map levels are read",
                        p->tx->path);
    if (p->level_mode == LEVEL_MIPMAP && a->data[8] >> 4 != ROUND_DOWN)
        return txm_fail(p->err, TXM_STATUS_UNSUPPORTED, "%s: level sizes rounded up; only those rounded down are read",
                        p->tx->path);
    return TXM_OK;
}

/* Whether the codec can be decoded is only determined when a tile is read. */
static txm_status take_codec(parser *p, const attribute *a)
{
    static const char *const names[TXM_EXR_CODECS] = {"none",  "rle", "zips", "zip",  "piz",
                                                      "pxr24", "b44", "b44a", "dwaa", "dwab"};
    if (a->bytes != 1)
        return corrupt(p, "the compression has a wrong size");
    if (a->data[0] >= TXM_EXR_CODECS)
        return txm_fail(p->err, TXM_STATUS_UNSUPPORTED, "%s: compression number %u is unknown", p->tx->path,
                        a->data[0]);
    p->tx->exr_compression = a->data[0];
    snprintf(p->tx->info.compression, sizeof p->tx->info.compression, "%s", names[a->data[0]]);
    p->have_codec = true;
    return TXM_OK;
}

/* Keeps text and numbers as metadata and drops everything else, such as previews and chromaticities. */
static bool keep_attribute(parser *p, const attribute *a)
{
    static const struct {
        const char *type;
        uint32_t count;
        bool real;
    } numbers[] = {{"int", 1, false}, {"float", 1, true}, {"v2i", 2, false},          {"v2f", 2, true},
                   {"v3i", 3, false}, {"v3f", 3, true},   {"box2i", 4, false},        {"box2f", 4, true},
                   {"m33f", 9, true}, {"m44f", 16, true}, {"chromaticities", 8, true}};
    static const char *const envmaps[] = {"latlong", "cube"};
    txm_metadata *m = &p->tx->metadata;
    if (strcmp(a->type, "string") == 0)
        return txm_metadata_add(m, a->name, (const char *)a->data, a->bytes);
    if (strcmp(a->type, "envmap") == 0 && a->bytes == 1 && a->data[0] < sizeof envmaps / sizeof *envmaps)
        return txm_metadata_add(m, a->name, envmaps[a->data[0]], strlen(envmaps[a->data[0]]));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(a->type, numbers[i].type) != 0 || a->bytes != 4 * numbers[i].count)
            continue;
        char line[16 * 32] = "";
        for (uint32_t k = 0; k < numbers[i].count; k++) {
            uint32_t bits = txm_load_le32(a->data + 4 * k);
            float real;
            memcpy(&real, &bits, sizeof real);
            size_t used = strlen(line);
            if (numbers[i].real)
                txm_format(line + used, 32, "%s%.9g", k ? "," : "", (double)real);
            else
                snprintf(line + used, 32, "%s%" PRId32, k ? "," : "", (int32_t)bits);
        }
        return txm_metadata_add(m, a->name, line, sizeof line);
    }
    return true;
}

/* Reads up to the empty name that ends the header. Unknown attributes are kept as metadata or skipped by their size. */
static txm_status take_header(parser *p)
{
    for (unsigned i = 0; i < MAX_ATTRIBUTES; i++) {
        attribute a;
        a.name = take_name(p);
        if (!a.name)
            return corrupt(p, "an attribute's name does not end");
        if (!*a.name)
            return TXM_OK;
        a.type = take_name(p);
        if (!a.type || !txm_map_needs(&p->tx->map, p->at, 4))
            return corrupt(p, "an attribute is cut off");
        a.bytes = txm_load_le32(p->tx->map.data + p->at);
        a.data = p->tx->map.data + p->at + 4;
        if (!txm_map_needs(&p->tx->map, p->at + 4, a.bytes))
            return corrupt(p, "an attribute is longer than the file");
        p->at += 4 + (size_t)a.bytes;
        txm_status status = TXM_OK;
        if (strcmp(a.name, "channels") == 0)
            status = p->have_channels ? corrupt(p, "two channel lists") : take_channels(p, &a);
        else if (strcmp(a.name, "compression") == 0)
            status = take_codec(p, &a);
        else if (strcmp(a.name, "tiles") == 0)
            status = take_tiles(p, &a);
        else if (strcmp(a.name, "dataWindow") == 0)
            status = take_window(p, &a);
        if (status == TXM_OK && !keep_attribute(p, &a))
            status = txm_no_memory(p->err, p->tx->path);
        if (status != TXM_OK)
            return status;
    }
    return corrupt(p, "more attributes than any file has");
}

/* Locates the table of tile offsets, which follows the header level by level. */
static txm_status take_table(parser *p)
{
    txm_tx *tx = p->tx;
    uint32_t levels = p->level_mode == LEVEL_MIPMAP ? txm_level_count(p->width, p->height) : 1;
    for (uint32_t i = 0; i < levels; i++) {
        txm_status status =
            txm_reader_add_level(tx, i, txm_level_size(p->width, i), txm_level_size(p->height, i), p->err);
        if (status != TXM_OK)
            return status;
        txm_reader_level *l = &tx->levels[i];
        uint64_t tiles = (uint64_t)l->shape.tiles_x * l->shape.tiles_y;
        if (!txm_map_needs(&tx->map, p->at, tiles * 8))
            return corrupt(p, "the tile table is cut off");
        l->offsets = tx->map.data + p->at;
        l->offset_bytes = 8;
        for (uint64_t t = 0; t < tiles; t++) {
            uint64_t at = txm_load_le64(l->offsets + 8 * t);
            if (at < p->at || !txm_map_holds(&tx->map, at, TXM_EXR_CHUNK_HEADER_BYTES))
                return txm_fail(p->err, TXM_STATUS_CORRUPT,
                                "%s: level %u, tile %" PRIu64 ",%" PRIu64 " lies at byte %" PRIu64
                                ", outside of the file; it may be truncated or unfinished",
                                tx->path, i, t % l->shape.tiles_x, t / l->shape.tiles_x, at);
        }
        p->at += (size_t)tiles * 8;
        tx->info.levels = i + 1;
    }
    return TXM_OK;
}

/* *is is set if the file is an EXR file; errors are reported only then. */
static txm_status exr_open(txm_tx *tx, bool *is, txm_error *err)
{
    parser p = {.tx = tx, .err = err, .at = 8};
    *is = txm_load_le32(tx->map.data) == MAGIC;
    if (!*is)
        return TXM_OK;
    uint32_t version = txm_load_le32(tx->map.data + 4);
    if ((version & 255) > 2 || version & ~(255u | KNOWN_FLAGS))
        return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: EXR version %u, flags %#x; version 2 is read", tx->path,
                        version & 255, version & ~255u);
    bool deep = version & FLAG_DEEP, parts = version & FLAG_MULTIPART, tiled = version & FLAG_TILED;
    if (deep || (!tx->outline && (parts || !tiled)))
        return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: %s EXR, so not a tx file", tx->path,
                        deep    ? "a deep"
                        : parts ? "a multi-part"
                                : "a scan-line");
    txm_status status = take_header(&p);
    if (status == TXM_OK && !(p.have_channels && p.have_codec && p.have_window && p.have_tiles))
        status = corrupt(&p, "a required attribute is missing");
    tx->header_bytes = (uint32_t)p.at;
    if (status != TXM_OK || !tx->outline)
        return status == TXM_OK ? take_table(&p) : status;
    status = txm_reader_add_level(tx, 0, p.width, p.height, err);
    /* For rip-maps OpenImageIO counts the levels along the diagonal. */
    tx->info.levels = p.level_mode == LEVEL_ONE ? 1 : txm_level_count(p.width, p.height);
    return status;
}

/* The sizes of chunks are stored in the chunks themselves. If the file is damaged or has become shorter, sizes stay
 * 0. */
static void exr_measure(txm_tx *tx)
{
    uint64_t sums[TXM_MAX_LEVELS] = {0};
    if (txm_tx_check(tx, NULL) != TXM_OK)
        return;
    for (uint32_t i = 0; i < tx->info.levels; i++) {
        const txm_tx_level *shape = &tx->levels[i].shape;
        for (uint32_t y = 0; y < shape->tiles_y; y++)
            for (uint32_t x = 0; x < shape->tiles_x; x++) {
                txm_tile_id tile;
                txm_span span;
                if (txm_tile_at(tx, i, x, y, &tile, NULL) == TXM_OK && tx->ops->find(tx, &tile, &span, NULL) == TXM_OK)
                    sums[i] += span.bytes;
            }
    }
    pthread_mutex_lock(&tx->lock);
    if (!atomic_load(&tx->sized))
        for (uint32_t i = 0; i < tx->info.levels; i++)
            tx->levels[i].shape.encoded_bytes = sums[i];
    atomic_store_explicit(&tx->sized, true, memory_order_release);
    pthread_mutex_unlock(&tx->lock);
}

/* ---- identity ---- */

/* Skips a NUL-terminated string; 0 if it does not end. */
static uint64_t skip_string(const txm_image_part *i, uint64_t at)
{
    const uint8_t *end = at < i->bytes ? memchr(i->p + at, 0, i->bytes - at) : NULL;
    return end ? (uint64_t)(end - i->p) + 1 : 0;
}

/* Hashes the attributes and the offset table, which distinguish a rewritten image from the one that the section was
 * made for. */
static bool exr_identify(const txm_image_part *i)
{
    if (txm_load_le32(i->p) != MAGIC)
        return false;
    uint64_t at = 8; /* the position after magic, version and flags */
    while (txm_part_has(i, at, 1) && i->p[at]) {
        at = skip_string(i, at);          /* its name */
        at = at ? skip_string(i, at) : 0; /* its type */
        if (!at || !txm_part_has(i, at, 4))
            return false;
        uint64_t size = txm_load_le32(i->p + at);
        at += 4;
        if (!txm_part_has(i, at, size))
            return false;
        at += size;
    }
    at += 1 + 8; /* the closing zero, and the first entry of the chunk table */
    if (!txm_part_has(i, 0, at))
        return false;
    uint64_t first_chunk = txm_load_le64(i->p + at - 8);
    const uint64_t end = first_chunk > at && first_chunk <= i->bytes ? first_chunk : at;
    if (!txm_part_has(i, 0, end))
        return false;
    txm_part_add(i, 0, end);
    return true;
}

const txm_container_reader txm_tx_exr_reader = {
    .open = exr_open,
    .find = txm_exr_find_tile,
    .decode = txm_exr_decode_tile,
    .image_end = txm_exr_image_end,
    .identify = exr_identify,
    .measure = exr_measure,
    .release = txm_exr_core_free,
    .own_bytes = txm_exr_core_bytes,
    .opening = TXM_OPENING_PARTS,
};
