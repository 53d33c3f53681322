/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether Cycles would load a file as a native tx file: the rules of its loader, applied to what the reader found.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "container/reader_impl.h"
#include "core/text.h"

/* Cycles refuses files that a newer format of its writer made. */
static const char version_prefix[] = "Blender maketx v";

static int refuse(char *reason, size_t reason_bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int refuse(char *reason, size_t reason_bytes, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (reason_bytes)
        txm_vformat(reason, reason_bytes, format, args);
    va_end(args);
    return 0;
}

int txm_tx_cycles_accepts(const txm_tx *tx, char *reason, size_t reason_bytes)
{
    const txm_tx_info *info = &tx->info;
    const char *software = txm_tx_metadata_of(tx, "Software");
    if (reason_bytes)
        *reason = 0;
    if (software && strncmp(software, version_prefix, sizeof version_prefix - 1) == 0) {
        long version = strtol(software + sizeof version_prefix - 1, NULL, 10);
        if (version > 0)
            return refuse(reason, reason_bytes, "made by a newer format of Blender's writer (version %ld)", version);
    }
    if (info->width == 1 && info->height == 1)
        return 1;
    if (info->tile_w != info->tile_h)
        return refuse(reason, reason_bytes, "its tiles are %ux%u pixels, not square", info->tile_w, info->tile_h);
    if (info->tile_w < 8 || info->tile_w & (info->tile_w - 1))
        return refuse(reason, reason_bytes, "its tiles are %u pixels wide, not a power of two of at least 8",
                      info->tile_w);
    if (info->width < info->tile_w && info->height < info->tile_h)
        return 1;
    /* All levels down to the first that fits into one tile. */
    uint32_t need = 1;
    while (txm_level_size(info->width, need - 1) > info->tile_w ||
           txm_level_size(info->height, need - 1) > info->tile_h)
        need++;
    if (info->levels < need)
        return refuse(reason, reason_bytes, "it has %u level%s; %u are needed down to the first that fits into a tile",
                      info->levels, info->levels == 1 ? "" : "s", need);
    if (need > 1 && info->container == TXM_CONTAINER_TIFF && !tx->texture_format)
        return refuse(reason, reason_bytes,
                      "it lacks the texture format tag (33302), without which its levels are not seen");
    return 1;
}
