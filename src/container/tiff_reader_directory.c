/* SPDX-License-Identifier: Apache-2.0
 *
 * TIFF directories in the map (classic or BigTIFF, either byte order).
 */
#include "container/tiff_reader_directory.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAX_FIELDS = 4096 /* of a directory; what exists has some twenty */ };

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

bool txm_tiff_header(txm_tiff *t, uint64_t *first)
{
    txm_tx *tx = t->tx;
    const uint8_t *head = tx->map.data;
    if (memcmp(head, "II", 2) != 0 && memcmp(head, "MM", 2) != 0)
        return false;
    tx->swap = head[0] == 'M';
    unsigned version = (unsigned)txm_tiff_uint(head + 2, 2, tx->swap);
    t->big = version == 43;
    if (version != 42 && (!t->big || tx->map.bytes < 16 || txm_tiff_uint(head + 4, 2, tx->swap) != 8))
        return false;
    *first = txm_tiff_uint(head + (t->big ? 8 : 4), t->big ? 8 : 4, tx->swap);
    return true;
}

txm_status txm_tiff_corrupt(const txm_tiff *t, const char *what, uint64_t where)
{
    return txm_fail(t->err, TXM_CORRUPT, "%s: damaged TIFF: %s (byte %" PRIu64 "); the file may be truncated",
                    t->tx->path, what, where);
}

txm_status txm_tiff_open_directory(const txm_tiff *t, uint64_t offset, txm_tiff_directory *out)
{
    const txm_map *map = &t->tx->map;
    unsigned head = t->big ? 8 : 2, entry = t->big ? 20 : 12, tail = t->big ? 8 : 4;
    if (!txm_map_holds(map, offset, head))
        return txm_tiff_corrupt(t, "a directory lies outside of the file", offset);
    out->count = txm_tiff_uint(map->data + offset, head, t->tx->swap);
    if (!out->count || out->count > MAX_FIELDS || !txm_map_holds(map, offset + head, out->count * entry + tail))
        return txm_tiff_corrupt(t, "a directory is cut off", offset);
    out->fields = map->data + offset + head;
    out->next = txm_tiff_uint(out->fields + out->count * entry, tail, t->tx->swap);
    return TXM_OK;
}

bool txm_tiff_field_at(const txm_tiff *t, const txm_tiff_directory *dir, uint64_t index, txm_tiff_field *out)
{
    bool swap = t->tx->swap;
    const uint8_t *e = dir->fields + index * (t->big ? 20 : 12);
    unsigned word = t->big ? 8 : 4; /* width of count and offset; shorter values stand in place of the offset */
    out->tag = (uint16_t)txm_tiff_uint(e, 2, swap);
    out->type = (uint16_t)txm_tiff_uint(e + 2, 2, swap);
    out->width = type_width(out->type);
    out->count = txm_tiff_uint(e + 4, word, swap);
    out->data = e + 4 + word;
    if (!out->width || out->count > t->tx->map.bytes / out->width)
        return false;
    uint64_t bytes = out->count * out->width;
    if (bytes > word) {
        uint64_t offset = txm_tiff_uint(out->data, word, swap);
        if (!txm_map_holds(&t->tx->map, offset, bytes))
            return false;
        out->data = t->tx->map.data + offset;
    }
    return true;
}

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
    return txm_tiff_uint(field->data + index * field->width, field->width, t->tx->swap);
}

txm_status txm_tiff_number(const txm_tiff *t, const txm_tiff_directory *dir, uint16_t tag, uint32_t fallback,
                           uint32_t *out)
{
    txm_tiff_field f;
    bool found;
    *out = fallback;
    txm_status status = txm_tiff_find(t, dir, tag, &f, &found);
    if (status != TXM_OK || !found)
        return status;
    uint64_t first = txm_tiff_uint(f.data, f.width, t->tx->swap);
    if (!txm_tiff_is_integer(&f) || first > UINT32_MAX)
        return txm_tiff_corrupt(t, "a tag holds no sensible number", (uint64_t)(f.data - t->tx->map.data));
    for (uint64_t i = 1; i < f.count && i < TXM_MAX_CHANNELS; i++)
        if (txm_tiff_uint(f.data + i * f.width, f.width, t->tx->swap) != first)
            return txm_fail(t->err, TXM_UNSUPPORTED, "%s: its channels differ in type (tag %u)", t->tx->path, tag);
    *out = (uint32_t)first;
    return TXM_OK;
}
