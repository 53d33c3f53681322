/* SPDX-License-Identifier: Apache-2.0
 *
 * Inflating any deflate stream (RFC 1951) from any of its blocks on, also where the 32 KiB before it, the window, are
 * not known: the output then is samples of 16 bits, a byte each or a mark, 256 + i, for the byte i of the window. It
 * stops at block boundaries, which a decoder that comes from the stream's begin must meet as well if they are real.
 */
#ifndef TXM_CODEC_INFLATE_H
#define TXM_CODEC_INFLATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/bit_source.h"
#include "codec/inflate_table.h"

enum {
    TXM_WINDOW = 32768,
    TXM_FIRST_MARK = 256,
    TXM_INFLATE_OVERSHOOT = 320 /* samples that may be written beyond a limit */
};

typedef enum txm_inflated {
    TXM_INFLATED_BLOCK, /* a block has ended; `final` says whether it was the stream's last */
    TXM_INFLATED_FULL,  /* the limit is reached, in the middle of a block: go on with more room */
    TXM_INFLATED_BAD,   /* no deflate data. This and what follows are the end; what has been put out is of no use */
    TXM_INFLATED_CUT,   /* the file ends here */
    TXM_INFLATED_UNREAD /* reading the file failed */
} txm_inflated;

/* Where output goes. Counted in bytes, also where samples have two. Between `lowest` and `at` stands what matches may
 * refer to; behind `limit` there is room for TXM_INFLATE_OVERSHOOT samples, into which `at` may have moved. */
typedef struct txm_inflate_out {
    uint8_t *lowest, *at, *limit;
} txm_inflate_out;

typedef struct txm_inflate {
    txm_bit_source source;
    txm_inflate_table table;
    enum { TXM_BETWEEN_BLOCKS, TXM_IN_STORED, TXM_IN_CODES, TXM_AT_END, TXM_IN_NONSENSE } in;
    size_t stored; /* bytes left of a stored block */
    bool final;    /* this block, or the last one, is the stream's last */
} txm_inflate;     /* 160 KiB */

/* Starts with a block at the source's position. */
void txm_inflate_begin(txm_inflate *inflate);
/* Whether the next block is the stream's last; between blocks only. */
bool txm_inflate_final_next(txm_inflate *inflate);

/* Goes on up to the end of the block, or the limit. Bytes, the window known (as far as `lowest`). */
txm_inflated txm_inflate_bytes(txm_inflate *inflate, txm_inflate_out *out);
/* Samples of 16 bits. */
txm_inflated txm_inflate_samples(txm_inflate *inflate, txm_inflate_out *out);
#endif
