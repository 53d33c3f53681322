/* SPDX-License-Identifier: Apache-2.0
 *
 * Exif: a TIFF header and lists of tags, of which the first and the Exif list below it are looked at. What counts of a
 * truncated block, and that the first of several values counts, follows OpenImageIO. */
#include <string.h>

#include "source/meta/raster_meta.h"

enum { TYPE_ASCII = 2, TYPE_SHORT = 3, TYPE_LONG = 4 };
enum {
    TAG_DESCRIPTION = 0x010e,
    TAG_SOFTWARE = 0x0131,
    TAG_ARTIST = 0x013b,
    TAG_COPYRIGHT = 0x8298,
    TAG_EXIF_LIST = 0x8769,
    TAG_COLOR_SPACE = 0xa001
};
enum { ENTRY_BYTES = 12, UNCALIBRATED = 0xffff };

typedef struct block {
    const uint8_t *data;
    size_t bytes;
    bool big_endian;
} block;

static uint32_t read16(const block *b, size_t at)
{
    const uint8_t *p = b->data + at;

    return b->big_endian ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static uint32_t read32(const block *b, size_t at)
{
    uint32_t first = read16(b, at), second = read16(b, at + 2);

    return b->big_endian ? first << 16 | second : second << 16 | first;
}

static int field_of(uint32_t tag)
{
    switch (tag) {
    case TAG_DESCRIPTION:
        return TXM_META_DESCRIPTION;
    case TAG_SOFTWARE:
        return TXM_META_SOFTWARE;
    case TAG_ARTIST:
        return TXM_META_ARTIST;
    case TAG_COPYRIGHT:
        return TXM_META_COPYRIGHT;
    default:
        return -1;
    }
}

static bool add_text(txm_raster_meta *meta, const block *b, size_t entry, int field)
{
    size_t bytes = read32(b, entry + 4);
    size_t at = bytes <= 4 ? entry + 8 : read32(b, entry + 8);

    if (meta->fields[field] || bytes == 0 || at > b->bytes || bytes > b->bytes - at)
        return true;
    return txm_raster_meta_set_bytes(meta, field, b->data + at, bytes);
}

static bool add_entry(txm_raster_meta *meta, const block *b, size_t at)
{
    uint32_t tag = read16(b, at), type = read16(b, at + 2);
    int field = field_of(tag);

    if (tag == TAG_COLOR_SPACE && (type == TYPE_SHORT || type == TYPE_LONG)) {
        uint32_t space = type == TYPE_SHORT ? read16(b, at + 8) : read32(b, at + 8);
        meta->says_srgb = space != UNCALIBRATED;
    }
    return field < 0 || type != TYPE_ASCII || add_text(meta, b, at, field);
}

/* The list below the first one is used entry by entry, up to the first that does not end before the block does. */
static bool add_exif_list(txm_raster_meta *meta, const block *b, size_t at)
{
    if (at + 2 > b->bytes)
        return true;
    size_t count = read16(b, at);
    at += 2;
    for (size_t i = 0; i < count && at + ENTRY_BYTES < b->bytes; i++, at += ENTRY_BYTES)
        if (!add_entry(meta, b, at))
            return false;
    return true;
}

/* The first list is used if it is there as a whole. */
static bool add_first_list(txm_raster_meta *meta, const block *b, size_t at)
{
    if (at + 2 > b->bytes)
        return true;
    size_t count = read16(b, at);
    at += 2;
    if (at + count * ENTRY_BYTES > b->bytes)
        return true;
    for (size_t i = 0; i < count; i++, at += ENTRY_BYTES) {
        bool ok = read16(b, at) == TAG_EXIF_LIST ? add_exif_list(meta, b, read32(b, at + 8)) : add_entry(meta, b, at);
        if (!ok)
            return false;
    }
    return true;
}

bool txm_raster_meta_add_exif(txm_raster_meta *meta, const uint8_t *data, size_t bytes)
{
    block b = {data, bytes, false};

    if (bytes < 8 || (memcmp(data, "II", 2) != 0 && memcmp(data, "MM", 2) != 0))
        return true;
    b.big_endian = data[0] == 'M';
    return add_first_list(meta, &b, read32(&b, 4));
}
