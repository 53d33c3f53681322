/* SPDX-License-Identifier: Apache-2.0
 * Tables for any deflate block. */
#include "codec/inflate_table.h"

#include <string.h>

enum { END_OF_BLOCK = 256, FIRST_LENGTH = 257, LENGTHS = 29, FIXED_LITLENS = 288, FIXED_DISTANCES = 32 };

/* Base and number of extra bits by symbol (RFC 1951, 3.2.5). */
#define VALUE(base, extra) ((uint32_t)(base) << TXM_ENTRY_VALUE | (extra))
static const uint32_t lengths[LENGTHS] = {
    VALUE(3, 0),   VALUE(4, 0),   VALUE(5, 0),   VALUE(6, 0),   VALUE(7, 0),  VALUE(8, 0),  VALUE(9, 0),  VALUE(10, 0),
    VALUE(11, 1),  VALUE(13, 1),  VALUE(15, 1),  VALUE(17, 1),  VALUE(19, 2), VALUE(23, 2), VALUE(27, 2), VALUE(31, 2),
    VALUE(35, 3),  VALUE(43, 3),  VALUE(51, 3),  VALUE(59, 3),  VALUE(67, 4), VALUE(83, 4), VALUE(99, 4), VALUE(115, 4),
    VALUE(131, 5), VALUE(163, 5), VALUE(195, 5), VALUE(227, 5), VALUE(258, 0)};
static const uint32_t distances[TXM_DECODE_DISTANCES] = {
    VALUE(1, 0),     VALUE(2, 0),     VALUE(3, 0),     VALUE(4, 0),      VALUE(5, 1),      VALUE(7, 1),
    VALUE(9, 2),     VALUE(13, 2),    VALUE(17, 3),    VALUE(25, 3),     VALUE(33, 4),     VALUE(49, 4),
    VALUE(65, 5),    VALUE(97, 5),    VALUE(129, 6),   VALUE(193, 6),    VALUE(257, 7),    VALUE(385, 7),
    VALUE(513, 8),   VALUE(769, 8),   VALUE(1025, 9),  VALUE(1537, 9),   VALUE(2049, 10),  VALUE(3073, 10),
    VALUE(4097, 11), VALUE(6145, 11), VALUE(8193, 12), VALUE(12289, 12), VALUE(16385, 13), VALUE(24577, 13)};
#undef VALUE

uint32_t txm_litlen_entry(unsigned symbol)
{
    if (symbol < END_OF_BLOCK)
        return TXM_ENTRY_LITERAL | symbol << TXM_ENTRY_VALUE;
    if (symbol == END_OF_BLOCK)
        return TXM_ENTRY_END;
    return symbol - FIRST_LENGTH < LENGTHS ? lengths[symbol - FIRST_LENGTH] : TXM_ENTRY_LONG;
}

uint32_t txm_distance_entry(unsigned symbol)
{
    return symbol < TXM_DECODE_DISTANCES ? distances[symbol] : TXM_ENTRY_LONG;
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
