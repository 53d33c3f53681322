/* SPDX-License-Identifier: Apache-2.0
 *
 * The tiler: bands of level 0 go in, every level's bands come together behind the pyramid, and complete bands are
 * handed to the encode queue: their tiles at once, their rings as soon as the rows around them are known. This is where
 * border rings are made from the pixels in flight.
 */
#ifndef TXM_CONVERT_TILER_H
#define TXM_CONVERT_TILER_H
#include "convert/encode_queue.h"
#include "pyramid/pyramid.h"

typedef struct txm_tiler txm_tiler;

/* `rings`: whether rings are made. */
txm_status txm_tiler_new(txm_job *job, const txm_pyramid_spec *spec, const txm_tx_layout *layout, const txm_ops *ops,
                         txm_encode_queue *queue, bool rings, txm_tiler **out, txm_error *err);

/* Takes the next complete band of level 0 (tile_px rows, fewer at the end). One thread at a time, in order. Failures go
 * to the job. */
void txm_tiler_push(txm_tiler *tiler, txm_band *band);
void txm_tiler_free(txm_tiler **tiler); /* NULL-safe */
#endif
