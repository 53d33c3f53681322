/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of pixels as floats, from a level of a tx file or from a plain image. `diff` compares two files of either kind
 * through this interface, so that it does not depend on containers and types.
 */
#ifndef TXM_INSPECT_ROWS_H
#define TXM_INSPECT_ROWS_H
#include "mill/convert/context.h"
#include "mill/source/source.h"
#include "txtile/reader.h"

/* One side of a comparison: either a tx file or a source. Zero-initialise. */
typedef struct txm_rows {
    txm_tx *tx;
    txm_source *source;
    uint32_t levels, channels, tile_h;
    txm_type type;
} txm_rows;

/* Opens a tx file, or else a plain image. */
txm_status txm_rows_open(const txm_context *context, const char *path, txm_rows *out, txm_error *err);
void txm_rows_close(txm_rows *rows); /* accepts zeroed and partly opened ones */

/* Size of a level; 0x0 beyond the last. */
void txm_rows_size(const txm_rows *rows, uint32_t level, uint32_t *width, uint32_t *height);

/* Memory for some rows of any level, for one thread. Zero-initialise. */
typedef struct txm_row_buffer {
    float *values; /* the rows: `channels` floats per pixel, tight */
    uint8_t *raw;  /* the same as stored */
} txm_row_buffer;

/* Allocates memory for up to `count` rows; false if it is exhausted. */
bool txm_row_buffer_init(txm_row_buffer *buffer, const txm_rows *rows, uint32_t count);
void txm_row_buffer_free(txm_row_buffer *buffer); /* NULL-safe; zeroes */

/* Reads rows y .. y+count-1 of a level. A tx file may be read in any order and from any thread; a plain image in order,
 * each row once, from one thread at a time. */
txm_status txm_rows_read(const txm_rows *rows, const txm_ops *ops, uint32_t level, uint32_t y, uint32_t count,
                         txm_row_buffer *buffer, txm_error *err);
#endif
