/* SPDX-License-Identifier: Apache-2.0
 *
 * IPTC: the descriptive records in a Photoshop block. Only a block that begins with them is used, and what is there
 * already stays: as OpenImageIO has it. */
#include <string.h>

#include "source/meta/raster_meta.h"

enum { RECORD_HEAD = 5, RECORD_TAG = 0x1c, APPLICATION = 2 };

static int field_of(uint8_t data_set)
{
    switch (data_set) {
    case 65: /* originating program */
        return TXM_META_SOFTWARE;
    case 80: /* creator, "by-line" */
        return TXM_META_ARTIST;
    case 116:
        return TXM_META_COPYRIGHT;
    case 120: /* caption */
        return TXM_META_DESCRIPTION;
    default:
        return -1;
    }
}

bool txm_raster_meta_add_iim(txm_raster_meta *meta, const uint8_t *data, size_t bytes)
{
    while (bytes >= RECORD_HEAD && data[0] == RECORD_TAG) {
        size_t size = (size_t)data[3] << 8 | data[4];
        int field = data[1] == APPLICATION ? field_of(data[2]) : -1;
        data += RECORD_HEAD;
        bytes -= RECORD_HEAD;
        if (size > bytes)
            size = bytes;
        if (field >= 0 && !meta->fields[field] && !txm_raster_meta_set_bytes(meta, field, data, size))
            return false;
        data += size;
        bytes -= size;
    }
    return true;
}

bool txm_raster_meta_add_iptc(txm_raster_meta *meta, const uint8_t *data, size_t bytes)
{
    /* The signature, the number of the resource, an empty name, the upper half of the length. */
    static const uint8_t head[] = {'8', 'B', 'I', 'M', 4, 4, 0, 0, 0, 0};

    if (bytes < sizeof head + 2 || memcmp(data, head, sizeof head) != 0)
        return true;
    size_t length = (size_t)data[sizeof head] << 8 | data[sizeof head + 1];
    data += sizeof head + 2;
    bytes -= sizeof head + 2;
    return txm_raster_meta_add_iim(meta, data, bytes < length ? bytes : length);
}
