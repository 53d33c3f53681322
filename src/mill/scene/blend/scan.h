/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the blocks of a .blend file once and keeps what matters in a model, by way of runs and digests (digest.h).
 * Later stages do not read the file again, so everything that they need is kept now.
 */
#ifndef TXM_BLEND_SCAN_H
#define TXM_BLEND_SCAN_H
#include "mill/scene/blend/model.h"

typedef struct txm_scan_options {
    bool graph; /* keep every data-block and its pointers (libraries: only what is linked counts) */
    bool links; /* keep node links, for lint */
} txm_scan_options;

/* Fills a zero model from a stream. CORRUPT for damaged files, TOO_LARGE if more would have to be kept than the store
 * may have; the model is then zero. In addition to the store this takes the struct definitions (at most 36 MiB), one
 * run (at most 64 MiB, usually below 1), a tape for files that can only be read from their start (at most 32 MiB), and
 * the memory of the stream. */
txm_status txm_scan(txm_stream *stream, const txm_scan_options *options, txm_store *store, txm_model *model,
                    txm_error *err);
#endif
