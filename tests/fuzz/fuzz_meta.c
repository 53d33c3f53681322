/* SPDX-License-Identifier: Apache-2.0
 * Descriptive metadata of sources on hostile bytes: Exif, IPTC in both of its wrappings, XMP.
 * Seeds: testdata/sources/exif.tif testdata/sources/gray4.tif testdata/meta/[a-z]* */
#include <stdlib.h>
#include <string.h>

#include "mill/source/meta/raster_meta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a parser kept: texts that fit what it was given. */
static void judge(txm_raster_meta *meta, bool enough_memory, size_t size)
{
    if (!enough_memory)
        abort(); /* memory for a few texts is always there */
    for (int i = 0; i < TXM_META_FIELDS; i++)
        if (meta->fields[i] && strlen(meta->fields[i]) > 2 * size + 16)
            abort();
    txm_raster_meta_clear(meta);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    txm_raster_meta meta = {0};
    judge(&meta, txm_raster_meta_add_exif(&meta, data, size), size);
    judge(&meta, txm_raster_meta_add_iptc(&meta, data, size), size);
    judge(&meta, txm_raster_meta_add_iim(&meta, data, size), size);
    judge(&meta, txm_raster_meta_add_xmp(&meta, (const char *)data, size), size);
    return 0;
}
