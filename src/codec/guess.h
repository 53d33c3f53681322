/* SPDX-License-Identifier: Apache-2.0
 *
 * A stretch of a deflate stream, inflated without what stands before it: from a place that looks like the begin of a
 * block (codec/find_block.h), with marks in place of the bytes of the unknown window (codec/inflate.h). Whether the
 * place was a begin is for the decoder to say that comes from the stream's begin: if that meets a block boundary there,
 * all of it is right.
 */
#ifndef TXM_CODEC_GUESS_H
#define TXM_CODEC_GUESS_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/inflate.h"

typedef struct txm_guess {
    txm_inflate inflate;
    size_t room;       /* samples at most */
    uint16_t *samples; /* TXM_WINDOW marks, then what was inflated */
    /* The result: whole blocks, from bit `begin` of the file to bit `end`. */
    uint64_t begin, end;
    size_t count; /* samples inflated */
} txm_guess;

/* Bytes as samples, and those of a window as marks: marks are resolved by looking up. */
enum { TXM_MARK_MAP = TXM_FIRST_MARK + TXM_WINDOW };

/* Two bytes for each of `room`, touched as far as they are used. False when memory is exhausted; free in any case. */
bool txm_guess_init(txm_guess *guess, size_t room, txm_source_read read, void *context);
void txm_guess_free(txm_guess *guess);

/* Looks for a place to begin among the bits [from, to), where at least one whole block can be inflated. False if there
 * is none. */
bool txm_guess_begin(txm_guess *guess, uint64_t from, uint64_t to);
/* Goes on to the first block boundary at or behind bit `to`; less far where the room ends, in front of the stream's
 * last block or of what cannot be inflated, and once *unwanted is set. */
void txm_guess_finish(txm_guess *guess, uint64_t to, const atomic_bool *unwanted);

/* The bytes that n samples stand for; map: the bytes 0 to 255, and the window. */
void txm_resolve_marks(uint8_t *dst, const uint16_t *samples, size_t n, const uint8_t map[TXM_MARK_MAP]);
/* The last TXM_WINDOW bytes of a guess, or of the window before it as far as it is shorter. */
void txm_guess_window(const txm_guess *guess, uint8_t dst[TXM_WINDOW], const uint8_t map[TXM_MARK_MAP]);
#endif
