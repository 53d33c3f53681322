/* SPDX-License-Identifier: Apache-2.0
 *
 * The descriptive fields of PNG and JPEG files. */
#include "source/meta/raster_meta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "source/readers.h"

static const char *const names[TXM_META_FIELDS] = {
    [TXM_META_ARTIST] = "Artist",
    [TXM_META_COPYRIGHT] = "Copyright",
    [TXM_META_DESCRIPTION] = "ImageDescription",
    [TXM_META_SOFTWARE] = "Software",
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
        if (txm_casecmp(name, names[i]) == 0)
            return txm_raster_meta_set_bytes(meta, i, value, strlen(value));
    return true;
}

bool txm_raster_meta_store(const txm_raster_meta *meta, txm_source_info *info)
{
    const char *software = meta->fields[TXM_META_SOFTWARE];

    if (software)
        snprintf(info->software, sizeof info->software, "%s", software);
    for (int i = 0; i < TXM_META_SOFTWARE; i++)
        if (!txm_source_keep(info, names[i], meta->fields[i]))
            return false;
    return true;
}

void txm_raster_meta_clear(txm_raster_meta *meta)
{
    for (int i = 0; i < TXM_META_FIELDS; i++)
        free(meta->fields[i]);
    *meta = (txm_raster_meta){0};
}
