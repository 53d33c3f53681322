/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads descriptive fields: named texts, Exif, IPTC (raster_xmp.c reads XMP). It does not use libexif, libiptcdata or
 * expat, because what enters a tx file must be what OpenImageIO would have found, and its readers have peculiarities:
 * of a truncated Exif block everything counts whose bytes exist; of several values of a tag the first; any Exif colour
 * space means sRGB; an IPTC block counts only if it begins with its records; an XMP packet that is not well-formed
 * counts up to the error, and a later value replaces an earlier one. test_source_same.c compares with OpenImageIO,
 * fuzz_meta.c tests hostile input.
 */
#include "mill/source/meta/raster_meta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/mem.h"
#include "base/text.h"
#include "mill/source/readers.h"

/* How the fields are called, their tags in Exif, and their numbers in IPTC's application record. */
static const struct {
    const char *name;
    uint32_t exif;
    uint8_t iptc;
} fields[TXM_META_FIELDS] = {
    [TXM_META_ARTIST] = {"Artist", 0x013b, 80},
    [TXM_META_COPYRIGHT] = {"Copyright", 0x8298, 116},
    [TXM_META_DESCRIPTION] = {"ImageDescription", 0x010e, 120},
    [TXM_META_SOFTWARE] = {"Software", 0x0131, 65},
};

bool txm_raster_meta_set_bytes(txm_raster_meta *meta, int field, const void *text, size_t bytes)
{
    char *copy = txm_strndup(text, bytes);
    if (!copy)
        return false;
    free(meta->fields[field]);
    meta->fields[field] = copy;
    return true;
}

bool txm_raster_meta_set(txm_raster_meta *meta, const char *name, const char *value)
{
    for (int i = 0; i < TXM_META_FIELDS; i++)
        if (txm_casecmp(name, fields[i].name) == 0)
            return txm_raster_meta_set_bytes(meta, i, value, strlen(value));
    return true;
}

/* Software is separate, because it decides nothing and is only shown. */
bool txm_raster_meta_store(const txm_raster_meta *meta, txm_source_info *info)
{
    const char *software = meta->fields[TXM_META_SOFTWARE];
    if (software)
        snprintf(info->software, sizeof info->software, "%s", software);
    for (int i = 0; i < TXM_META_SOFTWARE; i++)
        if (!txm_source_keep(info, fields[i].name, meta->fields[i]))
            return false;
    return true;
}

void txm_raster_meta_clear(txm_raster_meta *meta)
{
    for (int i = 0; i < TXM_META_FIELDS; i++)
        free(meta->fields[i]);
    *meta = (txm_raster_meta){0};
}

enum { TYPE_ASCII = 2, TYPE_SHORT = 3, TYPE_LONG = 4, TYPE_RATIONAL = 5 };
enum { TAG_X_RESOLUTION = 0x011a, TAG_Y_RESOLUTION = 0x011b, TAG_EXIF_LIST = 0x8769, TAG_COLOR_SPACE = 0xa001 };
enum { ENTRY_BYTES = 12, UNCALIBRATED = 0xffff };

typedef struct block {
    const uint8_t *data;
    size_t bytes;
    bool big_endian;
} block;

static uint32_t read16(const block *b, size_t at)
{
    return (uint32_t)txm_load_uint(b->data + at, 2, b->big_endian);
}

static uint32_t read32(const block *b, size_t at)
{
    return (uint32_t)txm_load_uint(b->data + at, 4, b->big_endian);
}

/* The first ratio counts; a division by 0 gives infinity, as in OpenImageIO. */
static void add_ratio(float *ratio, const block *b, size_t entry)
{
    size_t at = read32(b, entry + 8);
    if (*ratio == 0 && read32(b, entry + 4) == 1 && at <= b->bytes && b->bytes - at >= 8)
        *ratio = (float)((double)read32(b, at) / read32(b, at + 4));
}

/* The first list is used only if it is complete; the list below it up to the first entry that is not complete. The
 * first value of a field counts, and only if all its bytes exist. */
static bool add_exif_list(txm_raster_meta *meta, const block *b, size_t at, bool first)
{
    if (at + 2 > b->bytes)
        return true;
    size_t count = read16(b, at);
    at += 2;
    if (first && at + count * ENTRY_BYTES > b->bytes)
        return true;
    for (; count && (first || at + ENTRY_BYTES < b->bytes); count--, at += ENTRY_BYTES) {
        const uint32_t tag = read16(b, at), type = read16(b, at + 2);
        const size_t bytes = read32(b, at + 4), from = bytes <= 4 ? at + 8 : read32(b, at + 8);
        bool ok = true;
        if (first && tag == TAG_EXIF_LIST)
            ok = add_exif_list(meta, b, read32(b, at + 8), false);
        else if (tag == TAG_COLOR_SPACE && (type == TYPE_SHORT || type == TYPE_LONG))
            meta->says_srgb = (type == TYPE_SHORT ? read16(b, at + 8) : read32(b, at + 8)) != UNCALIBRATED;
        else if (type == TYPE_RATIONAL && tag == TAG_X_RESOLUTION)
            add_ratio(&meta->x_resolution, b, at);
        else if (type == TYPE_RATIONAL && tag == TAG_Y_RESOLUTION)
            add_ratio(&meta->y_resolution, b, at);
        for (int i = 0; ok && type == TYPE_ASCII && i < TXM_META_FIELDS; i++)
            if (fields[i].exif == tag && !meta->fields[i] && bytes && from <= b->bytes && bytes <= b->bytes - from)
                ok = txm_raster_meta_set_bytes(meta, i, b->data + from, bytes);
        if (!ok)
            return false;
    }
    return true;
}

/* If a block is damaged, fields that were found before it are kept; only lack of memory is a failure. */
bool txm_raster_meta_add_exif(txm_raster_meta *meta, const uint8_t *data, size_t bytes)
{
    block b = {data, bytes, false};
    if (bytes < 8 || (memcmp(data, "II", 2) != 0 && memcmp(data, "MM", 2) != 0))
        return true;
    b.big_endian = data[0] == 'M';
    return add_exif_list(meta, &b, read32(&b, 4), true);
}

enum { RECORD_HEAD = 5, RECORD_TAG = 0x1c, APPLICATION = 2 };

bool txm_raster_meta_add_iim(txm_raster_meta *meta, const uint8_t *data, size_t bytes)
{
    while (bytes >= RECORD_HEAD && data[0] == RECORD_TAG) {
        size_t size = txm_load_be16(data + 3);
        int field = data[1] == APPLICATION ? 0 : TXM_META_FIELDS;
        while (field < TXM_META_FIELDS && fields[field].iptc != data[2])
            field++;
        data += RECORD_HEAD;
        bytes -= RECORD_HEAD;
        if (size > bytes)
            size = bytes;
        if (field < TXM_META_FIELDS && !meta->fields[field] && !txm_raster_meta_set_bytes(meta, field, data, size))
            return false;
        data += size;
        bytes -= size;
    }
    return true;
}

bool txm_raster_meta_add_iptc(txm_raster_meta *meta, const uint8_t *data, size_t bytes)
{
    /* The signature, the number of the resource, an empty name, and the upper half of the length. */
    static const uint8_t head[] = {'8', 'B', 'I', 'M', 4, 4, 0, 0, 0, 0};
    if (bytes < sizeof head + 2 || memcmp(data, head, sizeof head) != 0)
        return true;
    size_t length = txm_load_be16(data + sizeof head);
    data += sizeof head + 2;
    bytes -= sizeof head + 2;
    return txm_raster_meta_add_iim(meta, data, bytes < length ? bytes : length);
}
