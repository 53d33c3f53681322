/* SPDX-License-Identifier: Apache-2.0
 * Reads all tiles of a tx file with two pixels of padding, as a renderer keeps them, and prints what it read:
 *
 *     cc read_tiles.c $(pkg-config --cflags --libs txtile) -o read_tiles
 *     ./read_tiles blender_tx/wood.png.*.tx */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <txtile/reader.h>

/* Reads one level, and adds the memory of its padded tiles to *bytes. */
static txm_status read_level(txm_tx *tx, uint32_t level, void *pixels, uint64_t *bytes, txm_error *err)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    const txm_tx_level *l = txm_tx_level_of(tx, level);
    for (uint32_t y = 0; y < l->tiles_y; y++) {
        for (uint32_t x = 0; x < l->tiles_x; x++) {
            uint32_t width, height;
            const txm_tx_request request = {.struct_size = sizeof(txm_tx_request),
                                            .level = level,
                                            .tile_x = x,
                                            .tile_y = y,
                                            .padding_px = 2,
                                            .extension = TXM_EXTENSION_REPEAT,
                                            .pixels = pixels,
                                            .width = &width,
                                            .height = &height};
            txm_status status = txm_tx_read_tile(tx, &request, err);
            if (status != TXM_OK)
                return status;
            *bytes += (uint64_t)(width + 4) * (height + 4) * info->channels * txm_type_bytes(info->type);
        }
    }
    return TXM_OK;
}

int main(int argc, char **argv)
{
    txm_error err;
    txm_tx *tx = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE.tx\n", argv[0]);
        return 2;
    }
    txm_status status = txm_tx_open(argv[1], &tx, &err);
    if (status == TXM_OK) {
        const txm_tx_info *info = txm_tx_info_of(tx);
        size_t pixel = info->channels * txm_type_bytes(info->type);
        void *pixels = malloc((info->tile_w + 4) * (info->tile_h + 4) * pixel);
        for (uint32_t level = 0; pixels && status == TXM_OK && level < info->levels; level++) {
            uint64_t bytes = 0;
            status = read_level(tx, level, pixels, &bytes, &err);
            if (status == TXM_OK)
                printf("level %" PRIu32 ": %" PRIu64 " bytes of padded tiles\n", level, bytes);
        }
        free(pixels);
    }
    if (status != TXM_OK)
        fprintf(stderr, "%s\n", err.message);
    txm_tx_close(&tx);
    return status == TXM_OK ? 0 : 1;
}
