/* SPDX-License-Identifier: Apache-2.0
 * Tables for any deflate block. */
#include "codec/inflate_table.h"

#include <string.h>

enum { END_OF_BLOCK = 256, FIRST_LENGTH = 257, FIXED_LITLENS = 288, FIXED_DISTANCES = 32 };

uint32_t txm_litlen_entry(unsigned symbol)
{
    if (symbol < END_OF_BLOCK)
        return TXM_ENTRY_LITERAL | symbol << TXM_ENTRY_VALUE;
    if (symbol == END_OF_BLOCK)
        return TXM_ENTRY_END;
    return symbol - FIRST_LENGTH < TXM_DECODE_LENGTHS ? txm_length_values[symbol - FIRST_LENGTH] : TXM_ENTRY_LONG;
}

uint32_t txm_distance_entry(unsigned symbol)
{
    return symbol < TXM_DECODE_DISTANCES ? txm_distance_values[symbol] : TXM_ENTRY_LONG;
}

/* As in codec/decode_table.c: every code is written once, at the size of the table that it has the length for, and the
 * rest is copying. */
static void fill(const txm_decode_code *c, uint32_t *table, unsigned table_bits, uint32_t (*entry_of)(unsigned))
{
    size_t size = 1;
    unsigned code = 0, n = 0;
    table[0] = TXM_ENTRY_LONG;
    for (unsigned length = 1; length <= table_bits; length++) {
        memcpy(table + size, table, size * sizeof *table);
        size *= 2;
        for (unsigned i = 0; i < c->count[length]; i++, n++) {
            uint32_t entry = entry_of(c->symbols[n]);
            /* Symbols that must not occur stay what they are: not to be taken. */
            table[code] = entry == TXM_ENTRY_LONG ? entry : entry + length + (length << TXM_ENTRY_CODE);
            code = txm_next_reversed(code, length);
        }
    }
}

/* As zlib has it: a code may be incomplete where it is that of a single symbol, or of none. */
static bool order(txm_decode_code *c, const uint8_t *of, size_t symbols)
{
    int left = txm_decode_code_order(c, of, symbols);
    bool single = true;
    for (int l = 2; l <= TXM_DECODE_CODE_BITS; l++)
        single &= c->count[l] == 0;
    return left == 0 || (left > 0 && single);
}

static void fill_both(txm_inflate_table *t)
{
    fill(&t->litlen, t->litlens, TXM_LITLEN_BITS, txm_litlen_entry);
    fill(&t->distance, t->distances, TXM_DISTANCE_BITS, txm_distance_entry);
}

bool txm_inflate_table_make(txm_inflate_table *t, const txm_code_lengths *l)
{
    if (!order(&t->litlen, l->of, l->litlens) || !order(&t->distance, l->of + l->litlens, l->distances))
        return false;
    fill_both(t);
    return true;
}

void txm_inflate_table_make_fixed(txm_inflate_table *t)
{
    uint8_t of[FIXED_LITLENS];
    memset(of, 8, 144);
    memset(of + 144, 9, 256 - 144);
    memset(of + 256, 7, 280 - 256);
    memset(of + 280, 8, FIXED_LITLENS - 280);
    txm_decode_code_order(&t->litlen, of, FIXED_LITLENS);
    memset(of, 5, FIXED_DISTANCES);
    txm_decode_code_order(&t->distance, of, FIXED_DISTANCES);
    fill_both(t);
}
