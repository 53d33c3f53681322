/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables that decode any deflate block: two literals a look-up where their codes are short, lengths and distances with
 * their base and extra bits. They take longer to make than those of codec/decode_table.h, and pay for blocks of some
 * thousand symbols.
 */
#ifndef TXM_CODEC_INFLATE_TABLE_H
#define TXM_CODEC_INFLATE_TABLE_H
#include <stdbool.h>
#include <stdint.h>

#include "codec/decode_table.h"

enum {
    TXM_LITLEN_BITS = 12, /* of a look-up */
    TXM_DISTANCE_BITS = 10,
    /* An entry: bits 0 to 5, what it takes, extra bits included; 8 to 11, of which code; from 16, the literals, or the
     * base of a length or distance; and between them what it is. */
    TXM_ENTRY_CODE = 8,
    TXM_ENTRY_VALUE = 16,
    TXM_ENTRY_LITERAL = 1 << 7,
    TXM_ENTRY_PAIR_SHIFT = 12,
    TXM_ENTRY_PAIR = 1 << TXM_ENTRY_PAIR_SHIFT, /* a literal, and another */
    TXM_ENTRY_END = 1 << 13,                    /* of the block */
    TXM_ENTRY_LONG = 1 << 14 /* the code is longer than the index, or there is none: txm_decode_slowly will tell */
};

typedef struct txm_inflate_table {
    uint32_t litlens[1 << TXM_LITLEN_BITS];
    uint32_t distances[1 << TXM_DISTANCE_BITS];
    txm_decode_code litlen, distance;
} txm_inflate_table;

/* False for codes that no inflater takes: too many, or incomplete ones of more than one symbol. */
bool txm_inflate_table_make(txm_inflate_table *table, const txm_code_lengths *lengths);
void txm_inflate_table_make_fixed(txm_inflate_table *table);

/* The entry of a symbol whose code has been taken (a code length of 0): LONG if there is no such symbol. */
uint32_t txm_litlen_entry(unsigned symbol);
uint32_t txm_distance_entry(unsigned symbol);
#endif
