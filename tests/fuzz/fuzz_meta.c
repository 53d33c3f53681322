/* SPDX-License-Identifier: Apache-2.0
 * Reads hostile bytes as the metadata of sources: Exif, IPTC with and without a resource around it, XMP.
 * Seeds: testdata/sources/exif.tif testdata/sources/gray4.tif testdata/meta/[a-z]* */
#include <stdlib.h>
#include <string.h>

#include "mill/source/meta/raster_meta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks what a parser kept: texts must not exceed the input. */
static void judge(txm_raster_meta *meta, bool enough_memory, size_t size)
{
    if (!enough_memory)
        abort(); /* there is always memory for a few texts */
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
