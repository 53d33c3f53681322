/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that inflate a deflate stream ahead of the decoder that comes from its begin, a chunk each, as guesses
 * (codec/guess.h). What that decoder takes from them is right; what it does not take cost time only.
 */
#ifndef TXM_CODEC_INFLATE_AHEAD_H
#define TXM_CODEC_INFLATE_AHEAD_H
#include <stdint.h>

#include "codec/guess.h"

typedef struct txm_inflate_ahead txm_inflate_ahead;

typedef struct txm_ahead_settings {
    unsigned threads;   /* at least 1; two chunks more than that are in memory */
    size_t chunk_bytes; /* compressed; smaller where they inflate to more than there is room for */
    size_t room;        /* samples of 2 bytes that a chunk may inflate to */
} txm_ahead_settings;

/* Starts the threads, on chunks behind bit `from`. `read` is called by them, at once. Signals are blocked in them. NULL
 * when memory or threads are exhausted: go on without. */
txm_inflate_ahead *txm_inflate_ahead_start(const txm_ahead_settings *settings, uint64_t from, uint64_t file_bytes,
                                           txm_source_read read, void *context);
/* Stops the threads, which may take a block's time; NULL-safe. */
void txm_inflate_ahead_stop(txm_inflate_ahead **ahead);

/* For the decoder at the block boundary `bit`, which only moves forwards: the guess that begins there, waited for if it
 * is under way; NULL if there is none. It is lent until given back, which must happen before the next call. */
const txm_guess *txm_inflate_ahead_take(txm_inflate_ahead *ahead, uint64_t bit);
void txm_inflate_ahead_give_back(txm_inflate_ahead *ahead);
#endif
