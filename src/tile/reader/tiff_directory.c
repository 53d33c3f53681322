/* SPDX-License-Identifier: Apache-2.0
 *
 * TIFF directories in the map (classic or BigTIFF, either byte order): fields and numbers, fields that are kept as
 * metadata, and the end of the last structure that any directory points to. Data after that end does not belong to the
 * image; it is a border section, or the remains of one.
 */
#include "base/fail.h"
#include "base/text.h"
#include "tile/reader/tiff_reader.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAX_FIELDS = 4096 /* limit of a directory; real ones have about twenty */ };

uint8_t txm_tiff_type_bytes(uint16_t type)
{
    static const uint8_t width[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return type < sizeof width ? width[type] : 0;
}

/* Returns false, without a message, if the file is not a TIFF. */
bool txm_tiff_header(txm_tiff *t, uint64_t *first)
{
    txm_tx *tx = t->tx;
    const uint8_t *head = tx->map.data;
    if (memcmp(head, "II", 2) != 0 && memcmp(head, "MM", 2) != 0)
        return false;
    tx->swap = head[0] == 'M';
    unsigned version = (unsigned)txm_load_uint(head + 2, 2, tx->swap);
    t->big = version == 43;
    if (version != 42 && (!t->big || tx->map.bytes < 16 || txm_load_uint(head + 4, 2, tx->swap) != 8))
        return false;
    *first = txm_load_uint(head + (t->big ? 8 : 4), t->big ? 8 : 4, tx->swap);
    return true;
}

txm_status txm_tiff_corrupt(const txm_tiff *t, const char *what, uint64_t where)
{
    return txm_fail(t->err, TXM_STATUS_CORRUPT, "%s: damaged TIFF: %s (byte %" PRIu64 "); the file may be truncated",
                    t->tx->path, what, where);
}

/* The number of fields is limited to MAX_FIELDS before it is used. */
txm_status txm_tiff_open_directory(const txm_tiff *t, uint64_t offset, txm_tiff_directory *out)
{
    const txm_map *map = &t->tx->map;
    unsigned head = t->big ? 8 : 2, entry = t->big ? 20 : 12, tail = t->big ? 8 : 4;
    if (!txm_map_needs(map, offset, head))
        return txm_tiff_corrupt(t, "a directory lies outside of the file", offset);
    out->count = txm_load_uint(map->data + offset, head, t->tx->swap);
    if (!out->count || out->count > MAX_FIELDS || !txm_map_needs(map, offset + head, out->count * entry + tail))
        return txm_tiff_corrupt(t, "a directory is cut off", offset);
    out->fields = map->data + offset + head;
    out->next = txm_load_uint(out->fields + out->count * entry, tail, t->tx->swap);
    return TXM_OK;
}

/* False for unknown types and for values outside the file. */
bool txm_tiff_field_at(const txm_tiff *t, const txm_tiff_directory *dir, uint64_t index, txm_tiff_field *out)
{
    bool swap = t->tx->swap;
    const uint8_t *e = dir->fields + index * (t->big ? 20 : 12);
    unsigned word = t->big ? 8 : 4; /* width of count and offset; shorter values are stored in place of the offset */
    out->tag = (uint16_t)txm_load_uint(e, 2, swap);
    out->type = (uint16_t)txm_load_uint(e + 2, 2, swap);
    out->width = txm_tiff_type_bytes(out->type);
    out->count = txm_load_uint(e + 4, word, swap);
    out->data = e + 4 + word;
    if (!out->width || out->count > t->tx->map.bytes / out->width)
        return false;
    uint64_t bytes = out->count * out->width;
    if (bytes > word) {
        uint64_t offset = txm_load_uint(out->data, word, swap);
        if (!txm_map_needs(&t->tx->map, offset, bytes))
            return false;
        out->data = t->tx->map.data + offset;
    }
    return true;
}

/* A missing tag is not an error; one that cannot be used is CORRUPT. */
txm_status txm_tiff_find(const txm_tiff *t, const txm_tiff_directory *dir, uint16_t tag, txm_tiff_field *out,
                         bool *found)
{
    *found = false;
    for (uint64_t i = 0; i < dir->count && !*found; i++) {
        bool usable = txm_tiff_field_at(t, dir, i, out);
        if (out->tag != tag)
            continue;
        if (!usable || !out->count) {
            char what[64];
            snprintf(what, sizeof what, "the values of tag %u lie outside of the file", tag);
            return txm_tiff_corrupt(t, what, (uint64_t)(out->data - t->tx->map.data));
        }
        *found = true;
    }
    return TXM_OK;
}

bool txm_tiff_is_integer(const txm_tiff_field *f)
{
    return f->type == 1 || f->type == 3 || f->type == 4 || f->type == 13 || f->type >= 16;
}

uint64_t txm_tiff_value(const txm_tiff *t, const txm_tiff_field *field, uint64_t index)
{
    return txm_load_uint(field->data + index * field->width, field->width, t->tx->swap);
}

/* Large images have tens of thousands of tiles: with widths and byte order that are known, a tile takes a nanosecond.
 */
static inline __attribute__((always_inline)) txm_tiff_pieces
add_pieces(const txm_map *map, const txm_tiff_field *offsets, const txm_tiff_field *counts, uint64_t count,
           unsigned offset_bytes, unsigned count_bytes, bool swap)
{
    const uint8_t *const at = offsets->data, *const sizes = counts->data;
    const uint64_t file = map->bytes;
    txm_tiff_pieces p = {.outside = count};
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t offset = txm_load_uint(at + i * offset_bytes, offset_bytes, swap);
        const uint64_t bytes = txm_load_uint(sizes + i * count_bytes, count_bytes, swap);
        if (offset > file || bytes > file - offset) {
            p.outside = p.outside < i ? p.outside : i;
            continue;
        }
        p.bytes += bytes;
        if (bytes && offset + bytes > p.end)
            p.end = offset + bytes;
    }
    return p;
}

txm_tiff_pieces txm_tiff_add_pieces(const txm_tiff *t, const txm_tiff_field *offsets, const txm_tiff_field *counts,
                                    uint64_t count)
{
    const txm_map *map = &t->tx->map;
    if (!t->tx->swap && offsets->width == 4 && counts->width == 4)
        return add_pieces(map, offsets, counts, count, 4, 4, false);
    if (!t->tx->swap && offsets->width == 8 && counts->width == 8)
        return add_pieces(map, offsets, counts, count, 8, 8, false);
    return add_pieces(map, offsets, counts, count, offsets->width, counts->width, t->tx->swap);
}

/* A field with one value per channel must have equal values; other files are not supported. */
txm_status txm_tiff_number(const txm_tiff *t, const txm_tiff_directory *dir, uint16_t tag, uint32_t fallback,
                           uint32_t *out)
{
    txm_tiff_field f;
    bool found;
    *out = fallback;
    txm_status status = txm_tiff_find(t, dir, tag, &f, &found);
    if (status != TXM_OK || !found)
        return status;
    uint64_t first = txm_load_uint(f.data, f.width, t->tx->swap);
    if (!txm_tiff_is_integer(&f) || first > UINT32_MAX)
        return txm_tiff_corrupt(t, "a tag holds an impossible number", (uint64_t)(f.data - t->tx->map.data));
    for (uint64_t i = 1; i < f.count && i < TXM_MAX_CHANNELS; i++)
        if (txm_load_uint(f.data + i * f.width, f.width, t->tx->swap) != first)
            return txm_fail(t->err, TXM_STATUS_UNSUPPORTED, "%s: its channels differ in type (tag %u)", t->tx->path,
                            tag);
    *out = (uint32_t)first;
    return TXM_OK;
}

/* ---- metadata: the tags of the first directory that mean something to people ------------------------------------- */

/* libtiff's names of the tags in tx files. */
static const char *tag_name(uint16_t tag)
{
    static const struct {
        uint16_t tag;
        const char *name;
    } names[] = {
        {258, "BitsPerSample"},
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

/* Prints one value of a field; "" for types that are not readable text or numbers. */
static void print_value(const txm_tiff_field *f, uint64_t index, bool swap, char *out, size_t out_bytes)
{
    const uint8_t *at = f->data + index * f->width;
    uint64_t bits = txm_load_uint(at, f->width == 8 && f->type == 5 ? 4 : f->width, swap);
    uint32_t low = (uint32_t)bits;
    float single;
    double value;
    if (f->type == 5) { /* a ratio of two 32-bit numbers */
        uint32_t below = (uint32_t)txm_load_uint(at + 4, 4, swap);
        txm_format(out, out_bytes, "%.9g", below ? (double)low / below : 0.0);
    } else if (f->type == 11) {
        memcpy(&single, &low, sizeof single);
        txm_format(out, out_bytes, "%.9g", (double)single);
    } else if (f->type == 12) {
        memcpy(&value, &bits, sizeof value);
        txm_format(out, out_bytes, "%.17g", value);
    } else if (txm_tiff_is_integer(f)) {
        snprintf(out, out_bytes, "%" PRIu64, bits);
    } else {
        *out = 0;
    }
}

/* Converts numbers to text; arrays longer than a matrix are cut. */
bool txm_tiff_keep(const txm_tiff *t, const txm_tiff_field *f)
{
    txm_metadata *m = &t->tx->metadata;
    const char *name = tag_name(f->tag), *text = (const char *)f->data;
    if (!name)
        return true;
    if (f->type == TXM_TIFF_ASCII)
        return txm_metadata_add(m, name, text, f->count) &&
               (f->tag != TXM_TAG_IMAGE_DESCRIPTION || txm_metadata_add_words(m, text, f->count));
    char line[16 * 32] = ""; /* a matrix has 16 numbers */
    for (uint64_t i = 0; i < f->count && i < 16; i++) {
        size_t used = strlen(line);
        if (i)
            line[used++] = ',';
        print_value(f, i, t->tx->swap, line + used, 31);
    }
    return txm_metadata_add(m, name, line, sizeof line);
}

/* ---- the end of the image ---------------------------------------------------------------------------------------- */

/* Limits on directories in total and in one field; pyramids have at most 17. */
enum { MAX_DIRECTORIES = 64, MAX_SUB_DIRECTORIES = 16 };

typedef struct extent {
    const txm_tiff *t;
    uint64_t end;
    unsigned directories; /* number still allowed */
    bool lost;            /* a value is outside the file */
} extent;

/* The image ends at the furthest byte that any directory points to. */
static void reach(extent *e, uint64_t offset, uint64_t bytes)
{
    if (txm_map_holds(&e->t->tx->map, offset, bytes) && bytes && offset + bytes > e->end)
        e->end = offset + bytes;
}

/* Tiles or strips: a table of offsets and one of sizes. */
static void reach_pieces(extent *e, const txm_tiff_directory *dir, uint16_t offsets_tag, uint16_t counts_tag)
{
    txm_tiff quiet = *e->t;
    txm_tiff_field offsets, counts;
    bool have_offsets, have_counts;
    quiet.err = NULL;
    if (txm_tiff_find(&quiet, dir, offsets_tag, &offsets, &have_offsets) != TXM_OK || !have_offsets ||
        txm_tiff_find(&quiet, dir, counts_tag, &counts, &have_counts) != TXM_OK || !have_counts)
        return;
    const txm_tiff_pieces pieces =
        txm_tiff_add_pieces(e->t, &offsets, &counts, offsets.count < counts.count ? offsets.count : counts.count);
    e->end = pieces.end > e->end ? pieces.end : e->end;
}

/* Exif and GPS have their own directories, which point to values as well. */
static bool is_sub_directory(const txm_tiff_field *f)
{
    return (f->tag == TXM_TAG_EXIF || f->tag == TXM_TAG_GPS || f->tag == TXM_TAG_SUB_DIRECTORIES) &&
           txm_tiff_is_integer(f);
}

/* Follows a chain of directories. Their total number is limited, so cycles end. */
static void reach_chain(extent *e, uint64_t offset)
{
    txm_tiff quiet = *e->t;
    txm_tiff_directory dir;
    quiet.err = NULL;
    while (offset && e->directories && txm_tiff_open_directory(&quiet, offset, &dir) == TXM_OK) {
        e->directories--;
        /* Values outside the file count as lost, because copying the file would drop them. */
        const uint8_t *data = e->t->tx->map.data;
        unsigned entry = e->t->big ? 20 : 12, tail = e->t->big ? 8 : 4;
        reach(e, (uint64_t)(dir.fields - data), dir.count * entry + tail);
        for (uint64_t i = 0; i < dir.count; i++) {
            txm_tiff_field f;
            if (!txm_tiff_field_at(e->t, &dir, i, &f)) {
                e->lost |= f.width != 0; /* otherwise only the type is unknown */
                continue;
            }
            reach(e, (uint64_t)(f.data - data), f.count * f.width);
            for (uint64_t k = 0; is_sub_directory(&f) && k < f.count && k < MAX_SUB_DIRECTORIES; k++)
                reach_chain(e, txm_tiff_value(e->t, &f, k));
        }
        reach_pieces(e, &dir, TXM_TAG_TILE_OFFSETS, TXM_TAG_TILE_COUNTS);
        reach_pieces(e, &dir, TXM_TAG_STRIP_OFFSETS, TXM_TAG_STRIP_COUNTS);
        offset = dir.next;
    }
}

/* The number of directories is limited because chains can be cyclic. */
static extent measure_directories(const txm_tx *tx)
{
    txm_tiff t = {.tx = (txm_tx *)tx};
    extent e = {.t = &t, .directories = MAX_DIRECTORIES};
    uint64_t first;
    if (txm_tiff_header(&t, &first))
        reach_chain(&e, first);
    e.t = NULL;
    return e;
}

uint64_t txm_tiff_image_end(const txm_tx *tx)
{
    return measure_directories(tx).end;
}

bool txm_tiff_has_lost_values(const txm_tx *tx)
{
    return measure_directories(tx).lost;
}
