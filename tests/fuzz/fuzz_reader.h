/* SPDX-License-Identifier: Apache-2.0
 * What the fuzz targets of the reader share: opening bytes as a file and reading from every part of it. */
#ifndef FUZZ_READER_H
#define FUZZ_READER_H
#include <stdlib.h>
#include <string.h>

#include "fuzz_input.h"
#include "txtile/reader.h"

/* Reads the first and last tile of every level, plain and padded, and all metadata. The number of tiles is fixed, so
 * that hostile sizes show as slow inputs. */
static void fuzz_read(txm_tx *tx)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    size_t px = info->channels * txm_type_bytes(info->type), edge_w = info->tile_w + 2 * TXM_MAX_PADDING_PX;
    uint8_t *out = malloc(edge_w * (info->tile_h + 2 * TXM_MAX_PADDING_PX) * px);
    char reason[64];
    const char *name, *value;
    if (!out)
        return;
    txm_tx_cycles_accepts(tx, reason, sizeof reason);
    for (size_t i = 0; txm_tx_metadata_at(tx, i, &name, &value); i++)
        if (strlen(name) > 1000000 || strlen(value) > 1000000)
            abort(); /* more than the documented limit */
    for (uint32_t i = 0; i < info->levels; i++) {
        const txm_tx_level *l = txm_tx_level_of(tx, i);
        for (uint32_t k = 0; k < 2; k++) {
            uint32_t x = k * (l->tiles_x - 1), y = k * (l->tiles_y - 1), padding = k ? 2 : 1 + i % 8, w, h;
            txm_error err = {0};
            txm_tx_read_tile(tx,
                             &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                               .level = i,
                                               .tile_x = x,
                                               .tile_y = y,
                                               .pixels = out,
                                               .pixel_stride_bytes = px,
                                               .row_stride_bytes = edge_w * px,
                                               .width = &w,
                                               .height = &h},
                             &err);
            txm_tx_read_tile(tx,
                             &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                               .level = i,
                                               .tile_x = x,
                                               .tile_y = y,
                                               .padding_px = padding,
                                               .extension = (txm_extension)((i + k) % 4),
                                               .pixels = out,
                                               .pixel_stride_bytes = px,
                                               .row_stride_bytes = edge_w * px,
                                               .width = &w,
                                               .height = &h},
                             &err);
        }
    }
    free(out);
}

static int fuzz_file(const uint8_t *data, size_t bytes)
{
    txm_tx *tx;
    txm_error err = {0};
    if (txm_tx_open(fuzz_input_path(data, bytes), &tx, &err) == TXM_OK)
        fuzz_read(tx);
    else if (!err.message[0])
        abort(); /* every failure has a message */
    txm_tx_close(&tx);
    return 0;
}
#endif
