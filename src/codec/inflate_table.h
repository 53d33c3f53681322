/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables that decode any deflate block: entries of literals, and of lengths and distances with their base and extra
 * bits. Small ones: they share the first-level cache with the window, and what misses it costs more than what codes
 * that are too long for them do, or than two literals a look-up would save.
 */
#ifndef TXM_CODEC_INFLATE_TABLE_H
#define TXM_CODEC_INFLATE_TABLE_H
#include <stdbool.h>
#include <stdint.h>

#include "codec/decode_table.h"

enum {
    TXM_LITLEN_BITS = 10, /* of a look-up */
    TXM_DISTANCE_BITS = 9,
    /* An entry: bits 0 to 5, what it takes, extra bits included; 8 to 11, of which code; from 16, the literal, or the
     * base of a length or distance; and between them what it is. */
    TXM_ENTRY_CODE = 8,
    TXM_ENTRY_VALUE = TXM_VALUE_SHIFT, /* txm_length_values and the other go in as they are */
    TXM_ENTRY_LITERAL = 1 << 7,
    TXM_ENTRY_END = 1 << 13, /* of the block */
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
