/* SPDX-License-Identifier: Apache-2.0
 *
 * The tiler takes bands of level 0, assembles the bands of all other levels from the rows of the pyramid, and passes
 * complete bands on: at once for their tiles, and once the rows around them are known for their borders. A conversion
 * encodes them, a verification compares them with a file.
 */
#ifndef TXM_CONVERT_TILER_H
#define TXM_CONVERT_TILER_H
#include "mill/convert/band.h"
#include "mill/convert/job.h"
#include "mill/pyramid/pyramid.h"
#include "mill/write/writer.h"

typedef struct txm_tiler txm_tiler;

/* The receiver of complete bands. Both functions keep references of their own and return false if memory is exhausted.
 */
typedef struct txm_tiler_sink {
    void *context;
    bool (*tiles)(void *context, txm_band *band);
    /* `around` has the rows around a band, wrapped around the level (NULL allowed). NULL: borders are not needed. */
    bool (*borders)(void *context, txm_band *band, txm_band *const around[4]);
} txm_tiler_sink;

txm_status txm_tiler_new(txm_job *job, const txm_pyramid_spec *spec, const txm_tx_layout *layout, const txm_ops *ops,
                         const txm_tiler_sink *sink, txm_tiler **out, txm_error *err);

/* Takes the next complete band of level 0 (tile_px rows, fewer at the end). For latitude-longitude images that are not
 * closed yet, its poles and edges are changed, so no other thread may read it meanwhile. Bands come in order, from one
 * thread at a time. Failures are recorded in the job. */
void txm_tiler_push(txm_tiler *tiler, txm_band *band);
void txm_tiler_free(txm_tiler **tiler); /* NULL-safe; all jobs must have ended */
#endif
