/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompression on a thread of its own, a few pieces ahead of the reader: for streams that can only be decompressed
 * from their start, which takes longer than all that is done with the bytes.
 */
#ifndef TXM_BLEND_STREAM_AHEAD_H
#define TXM_BLEND_STREAM_AHEAD_H
#include "blend/stream.h"

typedef struct txm_ahead txm_ahead;

/* As txm_stream_ops.pull. */
typedef txm_status (*txm_pull_fn)(void *decoder, txm_stream_input *input, uint8_t *dst, size_t bytes, size_t *got,
                                  txm_error *err);

/* `decoder` is lent until txm_ahead_close; the first pull starts the thread that calls `pull` with it. NULL when memory
 * is exhausted: decompress in place then. */
txm_ahead *txm_ahead_new(txm_pull_fn pull, void *decoder);

/* As the decoder's pull, with a thread where one can be had; input->offset and input->consumed say how far the decoder
 * was when it had delivered these bytes. */
txm_status txm_ahead_pull(txm_ahead *ahead, txm_stream_input *input, uint8_t *dst, size_t bytes, size_t *got,
                          txm_error *err);

/* Stops the thread and forgets what it was ahead: the decoder is the caller's, to take back to its start. */
void txm_ahead_stop(txm_ahead *ahead);
void txm_ahead_close(txm_ahead **ahead); /* NULL-safe */
#endif
