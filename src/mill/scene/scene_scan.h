/* SPDX-License-Identifier: Apache-2.0
 *
 * Going through the blocks of a .blend file once and keeping what matters of it.
 *
 * In: the stream and the struct definitions. Out: a model, by way of runs (scene_run.h) and digests (digest.h).
 * A file is walked once from its start to its end, however large: whatever later stages need is kept now.
 */
#ifndef TXM_SCENE_SCENE_SCAN_H
#define TXM_SCENE_SCENE_SCAN_H
#include "mill/scene/model.h"

typedef struct txm_scan_options {
    bool graph; /* keep every data-block and what it points at (libraries: only what is linked counts) */
    bool links; /* keep node links, for lint */
} txm_scan_options;

/* Fills a zero model from a stream. CORRUPT for damaged files, TOO_LARGE when more would have to be kept than the store
 * may hold; the model is then zero. Besides the store this takes the struct definitions (at most 36 MiB), one run (64
 * MiB at most, usually below 1), for files that can only be read from their start a tape (at most 32 MiB), and what the
 * stream takes. */
txm_status txm_scan(txm_stream *stream, const txm_scan_options *options, txm_store *store, txm_model *model,
                    txm_error *err);
#endif
