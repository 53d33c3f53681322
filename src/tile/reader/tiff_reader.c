/* SPDX-License-Identifier: Apache-2.0
 *
 * The structure of TIFF tx files: a chain of directories (classic or BigTIFF, either byte order), each one a level of
 * half the size of the one before. They are parsed here instead of by libtiff because the code is short, every number
 * can be compared with the map before it is used, and tile tables can stay in the map.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tile/reader/image_part.h"
#include "tile/reader/tiff_reader.h"

/* The properties that must be equal in all levels. */
typedef struct shape {
    uint32_t width, height, bits, format, samples, planar, photometric, fill_order, depth, tile_w, tile_h, tile_depth;
    uint32_t compression, predictor;
} shape;

/* Reads all numbers of a directory, with TIFF's defaults for missing ones. */
static txm_status read_shape(const txm_tiff *t, const txm_tiff_directory *dir, shape *s)
{
    const struct {
        uint16_t tag;
        uint32_t fallback, *out;
    } wanted[] = {
        {TXM_TAG_WIDTH, 0, &s->width},
        {TXM_TAG_HEIGHT, 0, &s->height},
        {TXM_TAG_BITS, 1, &s->bits},
        {TXM_TAG_SAMPLE_FORMAT, 1, &s->format},
        {TXM_TAG_SAMPLES, 1, &s->samples},
        {TXM_TAG_PLANAR, 1, &s->planar},
        {TXM_TAG_PHOTOMETRIC, 1, &s->photometric},
        {TXM_TAG_FILL_ORDER, 1, &s->fill_order},
        {TXM_TAG_IMAGE_DEPTH, 1, &s->depth},
        {TXM_TAG_TILE_WIDTH, 0, &s->tile_w},
        {TXM_TAG_TILE_HEIGHT, 0, &s->tile_h},
        {TXM_TAG_TILE_DEPTH, 1, &s->tile_depth},
        {TXM_TAG_COMPRESSION, 1, &s->compression},
        {TXM_TAG_PREDICTOR, 1, &s->predictor},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        txm_status status = txm_tiff_number(t, dir, wanted[i].tag, wanted[i].fallback, wanted[i].out);
        if (status != TXM_OK)
            return status;
    }
    return TXM_OK;
}

/* Converts bits and format to a sample type; -1 for others. Blender stores level 0 of a source that has fewer than 8 or
 * 16 bits with the bits of its source, and the other levels with 8 or 16. */
static int sample_type(const shape *s)
{
    if (s->format == 1 && s->bits <= 8)
        return s->bits && (s->bits == 1 || s->bits % 2 == 0) ? TXM_TYPE_U8 : -1;
    if (s->format == 1)
        return s->bits <= 16 && s->bits % 2 == 0 ? TXM_TYPE_U16 : -1;
    if (s->format == 3)
        return s->bits == 16 ? TXM_TYPE_HALF : s->bits == 32 ? TXM_TYPE_FLOAT : -1;
    return -1;
}

/* Whether the reader supports this kind of pixels. */
static txm_status check_kind(const txm_tiff *t, const shape *s)
{
    const char *path = t->tx->path;
    if (!s->tile_w && !s->tile_h)
        return txm_fail(t->err, TXM_STATUS_UNSUPPORTED, "%s: a TIFF without tiles, so not a tx file", path);
    if (s->depth != 1 || s->tile_depth != 1)
        return txm_fail(t->err, TXM_STATUS_UNSUPPORTED, "%s: a volume; only flat images are read", path);
    if (t->tx->outline)
        return TXM_OK;
    if (sample_type(s) < 0)
        return txm_fail(
            t->err, TXM_STATUS_UNSUPPORTED,
            "%s: samples of %u bits, format %u; unsigned integers of 1, 2, 4, ... 16 bits, half and float are read",
            path, s->bits, s->format);
    if (!s->samples || s->samples > TXM_MAX_CHANNELS)
        return txm_fail(t->err, TXM_STATUS_UNSUPPORTED, "%s: %u channels; 1 to %d are read", path, s->samples,
                        TXM_MAX_CHANNELS);
    if (s->planar != 1 && s->samples > 1)
        return txm_fail(t->err, TXM_STATUS_UNSUPPORTED,
                        "%s: channels in separate planes; only interleaved ones are read", path);
    if (s->photometric != 1 && s->photometric != 2)
        return txm_fail(t->err, TXM_STATUS_UNSUPPORTED, "%s: photometric interpretation %u; only grey and RGB are read",
                        path, s->photometric);
    if (s->fill_order != 1)
        return txm_fail(t->err, TXM_STATUS_UNSUPPORTED, "%s: bits in reverse order", path);
    return TXM_OK;
}

/* Finds a level's tile tables and compares every entry with the file's size. */
static txm_status read_tables(const txm_tiff *t, const txm_tiff_directory *dir, txm_reader_level *level)
{
    txm_tiff_field offsets, counts;
    bool have_offsets, have_counts;
    txm_status status = txm_tiff_find(t, dir, TXM_TAG_TILE_OFFSETS, &offsets, &have_offsets);
    if (status == TXM_OK)
        status = txm_tiff_find(t, dir, TXM_TAG_TILE_COUNTS, &counts, &have_counts);
    if (status != TXM_OK)
        return status;
    uint64_t tiles = (uint64_t)level->shape.tiles_x * level->shape.tiles_y;
    if (!have_offsets || !have_counts || offsets.count < tiles || counts.count < tiles ||
        !txm_tiff_is_integer(&offsets) || !txm_tiff_is_integer(&counts))
        return txm_tiff_corrupt(t, "a tile table is missing or too short", (uint64_t)(dir->fields - t->tx->map.data));
    level->offsets = offsets.data;
    level->offset_bytes = offsets.width;
    level->counts = counts.data;
    level->count_bytes = counts.width;
    const txm_tiff_pieces pieces = txm_tiff_add_pieces(t, &offsets, &counts, tiles);
    const uint64_t i = pieces.outside;
    level->shape.encoded_bytes += pieces.bytes;
    if (i < tiles)
        return txm_fail(t->err, TXM_STATUS_CORRUPT,
                        "%s: level %u, tile %" PRIu64 ",%" PRIu64 ": its %" PRIu64 " bytes at byte %" PRIu64
                        " lie outside of the file; it may be truncated",
                        t->tx->path, t->tx->info.levels, i % level->shape.tiles_x, i / level->shape.tiles_x,
                        txm_tiff_value(t, &counts, i), txm_tiff_value(t, &offsets, i));
    return TXM_OK;
}

/* Tables of tiles stay in the map; only their location is stored. */
static txm_status add_level(const txm_tiff *t, const txm_tiff_directory *dir, const shape *s)
{
    txm_tx *tx = t->tx;
    /* The file is refused on opening and not when a tile is read, so that a renderer finds out at once. */
    if (!tx->outline) {
        if (!txm_tiff_codec_name(s->compression))
            return txm_fail(t->err, TXM_STATUS_UNSUPPORTED,
                            "%s: compression %u; zip, LZW, PackBits, zstd and none are read", t->tx->path,
                            s->compression);
        /* Only these codecs have predictors; with others the tag is ignored. */
        bool predicts = s->compression != TXM_TIFF_NONE && s->compression != TXM_TIFF_PACKBITS;
        if (predicts && (!s->predictor || s->predictor > 3 || (s->predictor == 3 && s->format != 3) ||
                         (s->predictor == 2 && s->bits % 8 != 0)))
            return txm_fail(t->err, TXM_STATUS_UNSUPPORTED, "%s: predictor %u for %u-bit samples", t->tx->path,
                            s->predictor, s->bits);
    }
    txm_status status = txm_reader_add_level(tx, tx->info.levels, s->width, s->height, t->err);
    if (status != TXM_OK)
        return status;
    txm_reader_level *level = &tx->levels[tx->info.levels];
    level->compression = (uint16_t)s->compression;
    level->predictor = (uint16_t)s->predictor;
    level->bits = (uint8_t)s->bits;
    if (!tx->outline)
        status = read_tables(t, dir, level);
    if (status == TXM_OK)
        tx->info.levels++;
    return status;
}

/* Whether a further directory is the next level: half the size and otherwise the same. */
static bool is_next_level(const txm_tx *tx, const shape *first, const shape *s)
{
    return s->width == txm_level_size(first->width, tx->info.levels) &&
           s->height == txm_level_size(first->height, tx->info.levels) && s->tile_w == first->tile_w &&
           s->tile_h == first->tile_h && sample_type(s) == sample_type(first) && s->format == first->format &&
           s->samples == first->samples && s->planar == first->planar && s->depth == 1 && s->tile_depth == 1 &&
           s->fill_order == 1;
}

/* libtiff ends a chain when it returns to an earlier directory. */
static bool is_among(const uint64_t *offsets, uint32_t count, uint64_t offset)
{
    for (uint32_t i = 0; i < count; i++)
        if (offsets[i] == offset)
            return true;
    return false;
}

/* Reads a chain of directories as long as each has half the size of the one before. Further directories (thumbnails,
 * other images) are not levels. */
static txm_status read_levels(const txm_tiff *t, uint64_t offset, txm_tiff_directory *first_dir)
{
    txm_tx *tx = t->tx;
    uint64_t seen[TXM_MAX_LEVELS];
    shape first, s;
    txm_status status = txm_tiff_open_directory(t, offset, first_dir);
    if (status == TXM_OK)
        status = read_shape(t, first_dir, &first);
    if (status == TXM_OK)
        status = check_kind(t, &first);
    if (status != TXM_OK)
        return status;
    seen[0] = offset;
    tx->info.tile_w = first.tile_w;
    tx->info.tile_h = first.tile_h;
    tx->info.type = sample_type(&first) < 0 ? TXM_TYPE_U8 : (txm_type)sample_type(&first);
    tx->info.channels = first.samples;
    /* The codecs that every libtiff has: CCITT and JPEG, old and new, in addition to those that are read here. The
     * official Blender's libtiff has no others. */
    tx->foreign = (first.compression < 1 || first.compression > 8) && first.compression != TXM_TIFF_PACKBITS &&
                  first.compression != TXM_TIFF_ZIP_OLD;
    snprintf(tx->info.compression, sizeof tx->info.compression, "%s",
             txm_tiff_codec_name(first.compression) ? txm_tiff_codec_name(first.compression) : "");
    status = add_level(t, first_dir, &first);
    /* The chain ends at 1x1 at the latest, so a cyclic chain does no harm. */
    uint32_t most = status == TXM_OK ? txm_level_count(first.width, first.height) : 0;
    for (offset = first_dir->next; status == TXM_OK && offset && tx->info.levels < most;) {
        txm_tiff_directory dir;
        status = txm_tiff_open_directory(t, offset, &dir);
        if (status == TXM_OK)
            status = read_shape(t, &dir, &s);
        if (status == TXM_OK && !is_next_level(tx, &first, &s)) {
            if (!is_among(seen, tx->info.levels, offset) && s.tile_w == first.tile_w && s.tile_h == first.tile_h &&
                sample_type(&s) == sample_type(&first) && s.samples == first.samples) {
                tx->odd_width = s.width;
                tx->odd_height = s.height;
            }
            break;
        }
        if (status == TXM_OK)
            seen[tx->info.levels] = offset;
        if (status == TXM_OK)
            status = add_level(t, &dir, &s);
        offset = dir.next;
    }
    return status;
}

/* *is is set if the file is a TIFF. */
static txm_status tiff_open(txm_tx *tx, bool *is, txm_error *err)
{
    txm_tiff t = {.tx = tx, .err = err};
    uint64_t first;
    *is = txm_tiff_header(&t, &first);
    if (!*is)
        return TXM_OK;
    atomic_store(&tx->sized, true);
    tx->hidden_levels = "it lacks the texture format tag (33302), without which its levels are not seen";
    txm_tiff_directory dir;
    txm_status status = read_levels(&t, first, &dir);
    for (uint64_t i = 0; status == TXM_OK && i < dir.count; i++) {
        txm_tiff_field f;
        if (!txm_tiff_field_at(&t, &dir, i, &f))
            continue; /* tags on which pixels depend were checked before */
        if (f.tag == TXM_TAG_BITS && tx->levels[0].bits % 8 == 0)
            continue; /* the type says it */
        if (f.tag == TXM_TAG_TEXTURE_FORMAT)
            tx->hidden_levels = NULL;
        if (!txm_tiff_keep(&t, &f))
            status = txm_no_memory(err, tx->path);
    }
    return status;
}

/* ---- identity ---- */

typedef struct tiff_shape {
    bool big_endian;
    int word;                       /* bytes of offsets and counts: 4, or 8 in BigTIFF */
    int entries_bytes, entry_bytes; /* bytes of a directory's entry count, and of an entry */
} tiff_shape;

/* Reads a number in the file's byte order. */
static uint64_t part_number(const txm_image_part *i, const tiff_shape *t, uint64_t offset, int bytes)
{
    return txm_load_uint(i->p + offset, (size_t)bytes, t->big_endian);
}

enum { MAX_DIRECTORIES = 64 };

/* Hashes the value of the entry at `at` if it is stored elsewhere. `budget` is the number of bytes still allowed. */
static void add_value(const txm_image_part *i, const tiff_shape *t, uint64_t at, uint64_t *budget)
{
    uint64_t size, count = part_number(i, t, at + 4, t->word),
                   offset = part_number(i, t, at + 4 + (uint64_t)t->word, t->word);
    if (__builtin_mul_overflow(count, txm_tiff_type_bytes((uint16_t)part_number(i, t, at + 2, 2)), &size) ||
        size <= (uint64_t)t->word)
        return;
    if (size > *budget || !txm_part_has(i, offset, size))
        return;
    *budget -= size;
    txm_part_add(i, offset, size);
}

/* Hashes the directories in order. A cyclic chain ends when as many bytes have been hashed as the image has. */
static bool tiff_identify(const txm_image_part *i)
{
    if (memcmp(i->p, "II*\0", 4) && memcmp(i->p, "MM\0*", 4) && memcmp(i->p, "II+\0", 4) && memcmp(i->p, "MM\0+", 4))
        return false;
    tiff_shape t = {.big_endian = i->p[0] == 'M'};
    bool big = part_number(i, &t, 2, 2) == 43;
    t.word = big ? 8 : 4;
    t.entries_bytes = big ? 8 : 2;
    t.entry_bytes = big ? 20 : 12;
    uint64_t header = big ? 16 : 8, budget = i->bytes;
    if (!txm_part_has(i, 0, header))
        return false;
    txm_part_add(i, 0, header);
    uint64_t at = part_number(i, &t, header - (uint64_t)t.word, t.word);
    for (int n = 0; n < MAX_DIRECTORIES && at && txm_part_has(i, at, (uint64_t)t.entries_bytes); n++) {
        uint64_t entries = part_number(i, &t, at, t.entries_bytes), first = at + (uint64_t)t.entries_bytes;
        if (entries > i->bytes / (uint64_t)t.entry_bytes)
            break;
        uint64_t size = (uint64_t)t.entries_bytes + entries * (uint64_t)t.entry_bytes + (uint64_t)t.word;
        if (size > budget || !txm_part_has(i, at, size))
            break;
        budget -= size;
        txm_part_add(i, at, size);
        for (uint64_t e = 0; e < entries; e++)
            add_value(i, &t, first + e * (uint64_t)t.entry_bytes, &budget);
        at = part_number(i, &t, at + size - (uint64_t)t.word, t.word);
    }
    return true;
}

const txm_container_reader txm_tx_tiff_reader = {
    .open = tiff_open,
    .find = txm_tiff_find_tile,
    .decode = txm_tiff_decode_tile,
    .image_end = txm_tiff_image_end,
    .identify = tiff_identify,
    .has_lost_values = txm_tiff_has_lost_values,
    .opening = TXM_OPENING_WHOLE,
};
