/* SPDX-License-Identifier: Apache-2.0
 *
 * A deflate encoder for filtered pixels: raw deflate (RFC 1951) with dynamic Huffman codes, and matches where they pay.
 *
 * What is left of a photograph after the predictor is noise: every byte costs its three to six bits whatever one does,
 * and the short matches that general encoders find in it are accidents, which cost more bits than the literals that
 * they replace, and most of the time. This encoder looks only for matches of eight bytes and more, at pixel positions,
 * takes them only where they are cheaper than the literals, and otherwise leaves it to the Huffman code. On tiles where
 * much repeats, it compares eight candidates: 32 us a tile of rgba4k where libdeflate's levels 4 and 6 take 53 for 0.1
 * % less space, 57 for photographs where they take 79 for 0.4 % less (docs/encoding.md).
 */
#ifndef TXM_ENCODE_SPARSE_H
#define TXM_ENCODE_SPARSE_H
#include <stddef.h>
#include <stdint.h>

#include "txtile/status.h"

typedef struct txm_sparse txm_sparse;

/* Scratch memory for inputs of up to max_bytes. */
txm_sparse *txm_sparse_new(size_t max_bytes); /* NULL when memory is exhausted */
void txm_sparse_free(txm_sparse **sparse);    /* NULL-safe */

/* Room that any encoding of size_bytes bytes in blocks of block_bytes can need. */
size_t txm_sparse_bound(size_t size_bytes, size_t block_bytes);

/* What a look at parts of the input says about it. Bits are estimates for the whole input; savings are those of the
 * most recent match of at least so many bytes, so that they show how much repeats, not what a parse would make of it.
 */
typedef struct txm_survey {
    uint64_t literal_bits; /* all bytes as literals */
    uint64_t saved_by_4;   /* by matches of four bytes and more */
    uint64_t saved_by_8;   /* by matches of eight bytes and more */
} txm_survey;

/* `block_bytes` and `step_bytes` as below; one stripe in `stripes_apart` is looked at. An input of one block is not
 * searched for matches, and nothing counts as saved, where all its literals take fewer than few_bits. */
txm_survey txm_sparse_survey(txm_sparse *sparse, const uint8_t *src, size_t size_bytes, size_t block_bytes,
                             size_t step_bytes, size_t stripes_apart, uint64_t few_bits);

/* In place of block_bytes, for inputs of up to TXM_PARTS_MAX_BYTES: parts that a reader can decode at the same time
 * (inflate_parts.h), with a mark between them and no matches from one to another. */
enum { TXM_IN_PARTS = 0 };

/* FEW: the last candidate at each position. MANY: several, for inputs where much repeats; smaller, and slower. FEWEST:
 * where bytes are cheap, every other position only, which costs half tiles 0.4 % and drawings 2 %. */
typedef enum txm_search { TXM_SEARCH_FEW, TXM_SEARCH_MANY, TXM_SEARCH_FEWEST } txm_search;

/* Encodes src (at least one byte) in blocks of block_bytes bytes, each with codes of its own. `step_bytes` (1 to 8):
 * distance of the positions where matches are looked for; they may begin before. Returns the size written to dst, which
 * holds txm_sparse_bound. The bytes depend on the arguments alone. */
size_t txm_sparse_run(txm_sparse *sparse, const uint8_t *src, size_t size_bytes, size_t block_bytes, size_t step_bytes,
                      txm_search search, uint8_t *dst);

/* The same right after a survey of the same src, whose estimates it takes over instead of making its own: the bytes may
 * differ from those of txm_sparse_run. */
size_t txm_sparse_run_surveyed(txm_sparse *sparse, const uint8_t *src, size_t size_bytes, size_t block_bytes,
                               size_t step_bytes, txm_search search, uint8_t *dst);
#endif
