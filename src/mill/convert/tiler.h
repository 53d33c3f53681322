/* SPDX-License-Identifier: Apache-2.0
 *
 * The tiler: bands of level 0 go in, every level's bands come together after the pyramid, and complete bands are
 * handed on: for their tiles at once, for their borders as soon as the rows around them are known. A conversion encodes
 * them, a verification compares them with a file.
 */
#ifndef TXM_CONVERT_TILER_H
#define TXM_CONVERT_TILER_H
#include "mill/convert/band.h"
#include "mill/convert/job.h"
#include "mill/pyramid/pyramid.h"
#include "mill/write/writer.h"

typedef struct txm_tiler txm_tiler;

/* Where complete bands go; both keep references of their own and return false when memory is exhausted. */
typedef struct txm_tiler_sink {
    void *context;
    bool (*tiles)(void *context, txm_band *band);
    /* The rows around a band, wrapped round the level, are in `around` (NULL allowed). NULL: no borders are wanted. */
    bool (*borders)(void *context, txm_band *band, txm_band *const around[4]);
} txm_tiler_sink;

txm_status txm_tiler_new(txm_job *job, const txm_pyramid_spec *spec, const txm_tx_layout *layout, const txm_ops *ops,
                         const txm_tiler_sink *sink, txm_tiler **out, txm_error *err);

/* Takes the next complete band of level 0 (tile_px rows, fewer at the end). Of latitude-longitude images that are not
 * closed yet its poles and edges are changed: nobody else may read it meanwhile. One thread at a time, in order.
 * Failures go to the job. */
void txm_tiler_push(txm_tiler *tiler, txm_band *band);
void txm_tiler_free(txm_tiler **tiler); /* NULL-safe */
#endif
