/* SPDX-License-Identifier: Apache-2.0
 *
 * What writer.c asks of the two containers. Calls come in order: open, add for every tile of level 0 row by row,
 * end_level, add for level 1 ..., finish, close. Failures of the descriptor are recorded in `out` and looked up by
 * writer.c.
 */
#ifndef TXM_WRITE_WRITER_IMPL_H
#define TXM_WRITE_WRITER_IMPL_H
#include "mill/write/writer.h"
#include "tile/reader/output.h"

typedef struct txm_tile_place {
    uint32_t level, x, y; /* tile coordinates */
    uint32_t tiles_x;     /* grid of the level */
} txm_tile_place;

typedef struct txm_container_ops {
    /* layout, metadata and out outlive the container. */
    txm_status (*open)(const txm_tx_layout *layout, const txm_tx_metadata *metadata, txm_output *out, void **self,
                       txm_error *err);
    txm_status (*add)(void *self, const txm_tile_place *place, const void *encoded, size_t size_bytes, txm_error *err);
    txm_status (*end_level)(void *self, uint32_t level, txm_error *err);
    txm_status (*finish)(void *self, const txm_tx_summary *summary, txm_error *err);
    void (*close)(void *self); /* NULL-safe */
} txm_container_ops;

extern const txm_container_ops txm_tiff_writer_ops, txm_exr_writer_ops;
#endif
