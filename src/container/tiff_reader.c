/* SPDX-License-Identifier: Apache-2.0
 *
 * The structure of TIFF tx files: a chain of directories (classic or BigTIFF, either byte order), each a level of half
 * the size of the one before. Parsed here and not by libtiff because it is little, because every number is compared
 * with the map before it is used, and because tile tables can then stay where they are.
 */
#include <inttypes.h>
#include <stdio.h>

#include "container/reader_impl.h"
#include "container/tiff_reader.h"

enum {
    TAG_WIDTH = 256,
    TAG_HEIGHT = 257,
    TAG_BITS = 258,
    TAG_COMPRESSION = 259,
    TAG_PHOTOMETRIC = 262,
    TAG_FILL_ORDER = 266,
    TAG_IMAGE_DESCRIPTION = 270,
    TAG_SAMPLES = 277,
    TAG_PLANAR = 284,
    TAG_PREDICTOR = 317,
    TAG_TILE_WIDTH = 322,
    TAG_TILE_HEIGHT = 323,
    TAG_TILE_OFFSETS = 324,
    TAG_TILE_COUNTS = 325,
    TAG_SAMPLE_FORMAT = 339,
    TAG_IMAGE_DEPTH = 32997,
    TAG_TILE_DEPTH = 32998,
    TAG_TEXTURE_FORMAT = 33302,
    TYPE_ASCII = 2,
    MAX_FIELDS = 4096 /* of a directory; what exists has some twenty */
};

/* A directory, wholly inside the map. */
typedef struct directory {
    const uint8_t *fields;
    uint64_t count, next;
} directory;

typedef struct field {
    const uint8_t *data; /* count values, wholly inside the map */
    uint64_t count;
    uint16_t tag, type;
    uint8_t width; /* bytes of a value */
} field;

/* Bytes of a value by TIFF type number; 0: no such type. */
static uint8_t type_width(uint16_t type)
{
    static const uint8_t width[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return type < sizeof width ? width[type] : 0;
}

uint64_t txm_tiff_uint(const uint8_t *p, unsigned width, bool swap)
{
    switch (width) {
    case 1:
        return *p;
    case 2:
        return swap ? __builtin_bswap16(txm_le16(p)) : txm_le16(p);
    case 4:
        return swap ? __builtin_bswap32(txm_le32(p)) : txm_le32(p);
    default:
        return swap ? __builtin_bswap64(txm_le64(p)) : txm_le64(p);
    }
}

typedef struct parser {
    txm_tx *tx;
    bool big; /* BigTIFF */
    txm_error *err;
} parser;

static txm_status corrupt(parser *p, const char *what, uint64_t where)
{
    return txm_fail(p->err, TXM_CORRUPT, "%s: damaged TIFF: %s (byte %" PRIu64 "); the file may be truncated",
                    p->tx->path, what, where);
}

static txm_status open_directory(parser *p, uint64_t offset, directory *out)
{
    const txm_map *map = &p->tx->map;
    unsigned head = p->big ? 8 : 2, entry = p->big ? 20 : 12, tail = p->big ? 8 : 4;
    if (!txm_map_holds(map, offset, head))
        return corrupt(p, "a directory lies outside of the file", offset);
    out->count = txm_tiff_uint(map->data + offset, head, p->tx->swap);
    if (!out->count || out->count > MAX_FIELDS || !txm_map_holds(map, offset + head, out->count * entry + tail))
        return corrupt(p, "a directory is cut off", offset);
    out->fields = map->data + offset + head;
    out->next = txm_tiff_uint(out->fields + out->count * entry, tail, p->tx->swap);
    return TXM_OK;
}

/* The field at `index`; false if its type is unknown or its values lie outside of the file. */
static bool field_at(const parser *p, const directory *dir, uint64_t index, field *out)
{
    bool swap = p->tx->swap;
    const uint8_t *e = dir->fields + index * (p->big ? 20 : 12);
    unsigned word = p->big ? 8 : 4; /* width of count and offset; shorter values stand in place of the offset */
    out->tag = (uint16_t)txm_tiff_uint(e, 2, swap);
    out->type = (uint16_t)txm_tiff_uint(e + 2, 2, swap);
    out->width = type_width(out->type);
    out->count = txm_tiff_uint(e + 4, word, swap);
    out->data = e + 4 + word;
    if (!out->width || out->count > p->tx->map.bytes / out->width)
        return false;
    uint64_t bytes = out->count * out->width;
    if (bytes > word) {
        uint64_t offset = txm_tiff_uint(out->data, word, swap);
        if (!txm_map_holds(&p->tx->map, offset, bytes))
            return false;
        out->data = p->tx->map.data + offset;
    }
    return true;
}

/* Finds a tag; *found is false when it is absent. CORRUPT when it is there without values. */
static txm_status find(parser *p, const directory *dir, uint16_t tag, field *out, bool *found)
{
    *found = false;
    for (uint64_t i = 0; i < dir->count && !*found; i++) {
        bool usable = field_at(p, dir, i, out);
        if (out->tag != tag)
            continue;
        if (!usable || !out->count) {
            char what[64];
            snprintf(what, sizeof what, "the values of tag %u lie outside of the file", tag);
            return corrupt(p, what, (uint64_t)(out->data - p->tx->map.data));
        }
        *found = true;
    }
    return TXM_OK;
}

static bool is_integer(const field *f)
{
    return f->type == 1 || f->type == 3 || f->type == 4 || f->type == 13 || f->type >= 16;
}

/* The number in a tag; `fallback` when it is absent. All values of the tag must be the same (BitsPerSample has one a
 * channel). */
static txm_status number(parser *p, const directory *dir, uint16_t tag, uint32_t fallback, uint32_t *out)
{
    field f;
    bool found;
    *out = fallback;
    txm_status status = find(p, dir, tag, &f, &found);
    if (status != TXM_OK || !found)
        return status;
    uint64_t first = txm_tiff_uint(f.data, f.width, p->tx->swap);
    if (!is_integer(&f) || first > UINT32_MAX)
        return corrupt(p, "a tag holds no sensible number", (uint64_t)(f.data - p->tx->map.data));
    for (uint64_t i = 1; i < f.count && i < TXM_MAX_CHANNELS; i++)
        if (txm_tiff_uint(f.data + i * f.width, f.width, p->tx->swap) != first)
            return txm_fail(p->err, TXM_UNSUPPORTED, "%s: its channels differ in type (tag %u)", p->tx->path, tag);
    *out = (uint32_t)first;
    return TXM_OK;
}

/* What must be alike in all levels. */
typedef struct shape {
    uint32_t width, height, bits, format, samples, planar, photometric, fill_order, depth, tile_w, tile_h, tile_depth;
    uint32_t compression, predictor;
} shape;

static txm_status read_shape(parser *p, const directory *dir, shape *s)
{
    const struct {
        uint16_t tag;
        uint32_t fallback, *out;
    } wanted[] = {
        {TAG_WIDTH, 0, &s->width},
        {TAG_HEIGHT, 0, &s->height},
        {TAG_BITS, 1, &s->bits},
        {TAG_SAMPLE_FORMAT, 1, &s->format},
        {TAG_SAMPLES, 1, &s->samples},
        {TAG_PLANAR, 1, &s->planar},
        {TAG_PHOTOMETRIC, 1, &s->photometric},
        {TAG_FILL_ORDER, 1, &s->fill_order},
        {TAG_IMAGE_DEPTH, 1, &s->depth},
        {TAG_TILE_WIDTH, 0, &s->tile_w},
        {TAG_TILE_HEIGHT, 0, &s->tile_h},
        {TAG_TILE_DEPTH, 1, &s->tile_depth},
        {TAG_COMPRESSION, 1, &s->compression},
        {TAG_PREDICTOR, 1, &s->predictor},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        txm_status status = number(p, dir, wanted[i].tag, wanted[i].fallback, wanted[i].out);
        if (status != TXM_OK)
            return status;
    }
    return TXM_OK;
}

/* Bits and format as a sample type, -1 for others. */
static int sample_type(const shape *s)
{
    if (s->format == 1)
        return s->bits == 8 ? TXM_U8 : s->bits == 16 ? TXM_U16 : -1;
    if (s->format == 3)
        return s->bits == 16 ? TXM_HALF : s->bits == 32 ? TXM_FLOAT : -1;
    return -1;
}

/* Whether the reader can make sense of this kind of pixels. */
static txm_status check_kind(parser *p, const shape *s)
{
    const char *path = p->tx->path;
    if (!s->tile_w && !s->tile_h)
        return txm_fail(p->err, TXM_UNSUPPORTED, "%s: a TIFF without tiles, so not a tx file", path);
    if (s->depth != 1 || s->tile_depth != 1)
        return txm_fail(p->err, TXM_UNSUPPORTED, "%s: a volume; only flat images are read", path);
    if (sample_type(s) < 0)
        return txm_fail(p->err, TXM_UNSUPPORTED,
                        "%s: samples of %u bits, format %u; uint8, uint16, half and float are read", path, s->bits,
                        s->format);
    if (!s->samples || s->samples > TXM_MAX_CHANNELS)
        return txm_fail(p->err, TXM_UNSUPPORTED, "%s: %u channels; 1 to %d are read", path, s->samples,
                        TXM_MAX_CHANNELS);
    if (s->planar != 1 && s->samples > 1)
        return txm_fail(p->err, TXM_UNSUPPORTED, "%s: channels in separate planes; only interleaved ones are read",
                        path);
    if (s->photometric != 1 && s->photometric != 2)
        return txm_fail(p->err, TXM_UNSUPPORTED, "%s: photometric interpretation %u; only grey and RGB are read", path,
                        s->photometric);
    if (s->fill_order != 1)
        return txm_fail(p->err, TXM_UNSUPPORTED, "%s: bits in reverse order", path);
    return TXM_OK;
}

static txm_status check_codec(parser *p, const shape *s)
{
    if (!txm_tiff_codec_name(s->compression))
        return txm_fail(p->err, TXM_UNSUPPORTED, "%s: compression %u; zip, LZW, PackBits, zstd and none are read",
                        p->tx->path, s->compression);
    /* Only these codecs know predictors; elsewhere the tag means nothing. */
    bool predicts = s->compression != TXM_TIFF_NONE && s->compression != TXM_TIFF_PACKBITS;
    if (predicts && (!s->predictor || s->predictor > 3 || (s->predictor == 3 && s->format != 3)))
        return txm_fail(p->err, TXM_UNSUPPORTED, "%s: predictor %u for %u-bit samples", p->tx->path, s->predictor,
                        s->bits);
    return TXM_OK;
}

/* Finds a level's tile tables and compares every entry with the size of the file. */
static txm_status read_tables(parser *p, const directory *dir, txm_reader_level *level)
{
    field offsets, counts;
    bool have_offsets, have_counts;
    txm_status status = find(p, dir, TAG_TILE_OFFSETS, &offsets, &have_offsets);
    if (status == TXM_OK)
        status = find(p, dir, TAG_TILE_COUNTS, &counts, &have_counts);
    if (status != TXM_OK)
        return status;
    uint64_t tiles = (uint64_t)level->shape.tiles_x * level->shape.tiles_y;
    if (!have_offsets || !have_counts || offsets.count < tiles || counts.count < tiles || !is_integer(&offsets) ||
        !is_integer(&counts))
        return corrupt(p, "a tile table is missing or too short", (uint64_t)(dir->fields - p->tx->map.data));
    level->offsets = offsets.data;
    level->offset_bytes = offsets.width;
    level->counts = counts.data;
    level->count_bytes = counts.width;
    for (uint64_t i = 0; i < tiles; i++) {
        uint64_t at = txm_tiff_uint(offsets.data + i * offsets.width, offsets.width, p->tx->swap);
        uint64_t bytes = txm_tiff_uint(counts.data + i * counts.width, counts.width, p->tx->swap);
        if (!txm_map_holds(&p->tx->map, at, bytes))
            return txm_fail(p->err, TXM_CORRUPT,
                            "%s: level %u, tile %" PRIu64 ",%" PRIu64 ": its %" PRIu64 " bytes at byte %" PRIu64
                            " lie outside of the file; it may be truncated",
                            p->tx->path, p->tx->info.levels, i % level->shape.tiles_x, i / level->shape.tiles_x, bytes,
                            at);
        level->shape.encoded_bytes += bytes;
    }
    return TXM_OK;
}

static txm_status add_level(parser *p, const directory *dir, const shape *s)
{
    txm_tx *tx = p->tx;
    txm_status status = check_codec(p, s);
    if (status == TXM_OK)
        status = txm_reader_add_level(tx, tx->info.levels, s->width, s->height, p->err);
    if (status != TXM_OK)
        return status;
    txm_reader_level *level = &tx->levels[tx->info.levels];
    level->compression = (uint16_t)s->compression;
    level->predictor = (uint16_t)s->predictor;
    status = read_tables(p, dir, level);
    if (status == TXM_OK)
        tx->info.levels++;
    return status;
}

/* Whether a further directory is the next level: half the size, all else the same. */
static bool is_next_level(const txm_tx *tx, const shape *first, const shape *s)
{
    return s->width == txm_level_size(first->width, tx->info.levels) &&
           s->height == txm_level_size(first->height, tx->info.levels) && s->tile_w == first->tile_w &&
           s->tile_h == first->tile_h && s->bits == first->bits && s->format == first->format &&
           s->samples == first->samples && s->planar == first->planar && s->depth == 1 && s->tile_depth == 1 &&
           s->fill_order == 1;
}

static txm_status read_levels(parser *p, uint64_t offset, directory *first_dir)
{
    txm_tx *tx = p->tx;
    shape first, s;
    txm_status status = open_directory(p, offset, first_dir);
    if (status == TXM_OK)
        status = read_shape(p, first_dir, &first);
    if (status == TXM_OK)
        status = check_kind(p, &first);
    if (status != TXM_OK)
        return status;
    tx->info.tile_w = first.tile_w;
    tx->info.tile_h = first.tile_h;
    tx->info.type = (txm_type)sample_type(&first);
    tx->info.channels = first.samples;
    snprintf(tx->info.compression, sizeof tx->info.compression, "%s",
             txm_tiff_codec_name(first.compression) ? txm_tiff_codec_name(first.compression) : "");
    status = add_level(p, first_dir, &first);
    /* The chain ends after 1x1 at the latest, so a chain that bites its own tail does no harm. */
    uint32_t most = status == TXM_OK ? txm_level_count(first.width, first.height) : 0;
    for (offset = first_dir->next; status == TXM_OK && offset && tx->info.levels < most;) {
        directory dir;
        status = open_directory(p, offset, &dir);
        if (status == TXM_OK)
            status = read_shape(p, &dir, &s);
        if (status == TXM_OK && !is_next_level(tx, &first, &s))
            break;
        if (status == TXM_OK)
            status = add_level(p, &dir, &s);
        offset = dir.next;
    }
    return status;
}

/* libtiff's names of the tags that tx files hold. */
static const char *tag_name(uint16_t tag)
{
    static const struct {
        uint16_t tag;
        const char *name;
    } names[] = {
        {262, "PhotometricInterpretation"},
        {269, "DocumentName"},
        {270, "ImageDescription"},
        {271, "Make"},
        {272, "Model"},
        {274, "Orientation"},
        {282, "XResolution"},
        {283, "YResolution"},
        {285, "PageName"},
        {296, "ResolutionUnit"},
        {305, "Software"},
        {306, "DateTime"},
        {315, "Artist"},
        {316, "HostComputer"},
        {317, "Predictor"},
        {338, "ExtraSamples"},
        {33300, "PixarImageFullWidth"},
        {33301, "PixarImageFullLength"},
        {33302, "PixarTextureFormat"},
        {33303, "PixarWrapModes"},
        {33304, "PixarFOVCot"},
        {33305, "PixarMatrixWorldToScreen"},
        {33306, "PixarMatrixWorldToCamera"},
        {33432, "Copyright"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].tag == tag)
            return names[i].name;
    return NULL;
}

/* One value of a field as text; "" for types that mean nothing to people. */
static void print_value(const field *f, uint64_t index, bool swap, char *out, size_t out_bytes)
{
    const uint8_t *at = f->data + index * f->width;
    uint64_t bits = txm_tiff_uint(at, f->width == 8 && f->type == 5 ? 4 : f->width, swap);
    uint32_t low = (uint32_t)bits;
    float single;
    double value;
    if (f->type == 5) { /* a ratio of two 32-bit numbers */
        uint32_t below = (uint32_t)txm_tiff_uint(at + 4, 4, swap);
        snprintf(out, out_bytes, "%.9g", below ? (double)low / below : 0.0);
    } else if (f->type == 11) {
        memcpy(&single, &low, sizeof single);
        snprintf(out, out_bytes, "%.9g", (double)single);
    } else if (f->type == 12) {
        memcpy(&value, &bits, sizeof value);
        snprintf(out, out_bytes, "%.17g", value);
    } else {
        snprintf(out, out_bytes, is_integer(f) ? "%" PRIu64 : "", bits);
    }
}

static bool add_field(parser *p, const field *f)
{
    txm_metadata *m = &p->tx->metadata;
    const char *name = tag_name(f->tag), *text = (const char *)f->data;
    if (!name)
        return true;
    if (f->type == TYPE_ASCII)
        return txm_metadata_add(m, name, text, f->count) &&
               (f->tag != TAG_IMAGE_DESCRIPTION || txm_metadata_add_words(m, text, f->count));
    char line[16 * 32] = ""; /* a matrix has 16 numbers */
    for (uint64_t i = 0; i < f->count && i < 16; i++) {
        size_t used = strlen(line);
        if (i)
            line[used++] = ',';
        print_value(f, i, p->tx->swap, line + used, 31);
    }
    return txm_metadata_add(m, name, line, sizeof line);
}

txm_status txm_tiff_reader_open(txm_tx *tx, bool *is, txm_error *err)
{
    const uint8_t *head = tx->map.data;
    parser p = {.tx = tx, .err = err};
    *is = false;
    if (memcmp(head, "II", 2) != 0 && memcmp(head, "MM", 2) != 0)
        return TXM_OK;
    tx->swap = head[0] == 'M';
    unsigned version = (unsigned)txm_tiff_uint(head + 2, 2, tx->swap);
    if (version != 42 && version != 43)
        return TXM_OK;
    *is = true;
    p.big = version == 43;
    if (p.big && (tx->map.bytes < 16 || txm_tiff_uint(head + 4, 2, tx->swap) != 8))
        return corrupt(&p, "no BigTIFF header", 4);
    tx->info.container = TXM_CONTAINER_TIFF;
    tx->ops = &txm_tiff_reader_ops;
    atomic_store(&tx->sized, true);
    directory dir;
    txm_status status = read_levels(&p, txm_tiff_uint(head + (p.big ? 8 : 4), p.big ? 8 : 4, tx->swap), &dir);
    for (uint64_t i = 0; status == TXM_OK && i < dir.count; i++) {
        field f;
        if (!field_at(&p, &dir, i, &f))
            continue; /* not a tag that pixels need: those were checked */
        tx->texture_format |= f.tag == TAG_TEXTURE_FORMAT;
        if (!add_field(&p, &f))
            status = txm_fail(err, TXM_NO_MEMORY, "%s: memory is exhausted", tx->path);
    }
    return status;
}
