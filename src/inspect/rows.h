/* SPDX-License-Identifier: Apache-2.0
 * Rows of pixels as floats, from a level of a tx file or from a plain image. */
#ifndef TXM_INSPECT_ROWS_H
#define TXM_INSPECT_ROWS_H
#include "convert/context.h"
#include "source/source.h"
#include "txmill/reader.h"

/* One side of a comparison: either a tx file or a source. Zero-initialise. */
typedef struct txm_rows {
    txm_tx *tx;
    txm_source *source;
    uint32_t levels, channels, tile_h;
    txm_type type;
    uint8_t *raw; /* scratch: a row of tiles, or rows of the source */
    size_t raw_bytes;
} txm_rows;

/* Opens a tx file, or else an image. */
txm_status txm_rows_open(const txm_context *context, const char *path, txm_rows *out, txm_error *err);
void txm_rows_close(txm_rows *rows); /* NULL-safe; accepts half-open ones */

/* Size of a level; 0x0 beyond the last. */
void txm_rows_size(const txm_rows *rows, uint32_t level, uint32_t *width, uint32_t *height);

/* Rows y .. y+count-1 of a level, `channels` floats a pixel, tight. Of a plain image rows come in order, once. */
txm_status txm_rows_read(txm_rows *rows, const txm_ops *ops, uint32_t level, uint32_t y, uint32_t count, float *dst,
                         txm_error *err);
#endif
