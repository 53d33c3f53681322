/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds the decoding tables of a deflate block from the code lengths at the start of a dynamic block.
 *
 * The tables are indexed by the next bits of the stream and give symbol and length at once; longer codes take a slow
 * path. Sets of lengths that do not form a code are refused.
 */
#include "tile/decode/decode_table.h"

#include <string.h>

enum {
    PRECODE_SYMBOLS = 19,
    PRECODE_BITS = 7,
    MIN_LITLEN = 257,
    END_OF_BLOCK = 256,
    REPEAT = 16,
    ZEROS = 17,
    MANY_ZEROS = 18,
    NO_SYMBOL = 0xffff
};

#define VALUE(base, extra) ((uint32_t)(base) << TXM_VALUE_SHIFT | (extra))
const uint32_t txm_length_values[TXM_DECODE_LENGTHS] = {
    VALUE(3, 0),   VALUE(4, 0),   VALUE(5, 0),   VALUE(6, 0),   VALUE(7, 0),  VALUE(8, 0),  VALUE(9, 0),  VALUE(10, 0),
    VALUE(11, 1),  VALUE(13, 1),  VALUE(15, 1),  VALUE(17, 1),  VALUE(19, 2), VALUE(23, 2), VALUE(27, 2), VALUE(31, 2),
    VALUE(35, 3),  VALUE(43, 3),  VALUE(51, 3),  VALUE(59, 3),  VALUE(67, 4), VALUE(83, 4), VALUE(99, 4), VALUE(115, 4),
    VALUE(131, 5), VALUE(163, 5), VALUE(195, 5), VALUE(227, 5), VALUE(258, 0)};
const uint32_t txm_distance_values[TXM_DECODE_DISTANCES] = {
    VALUE(1, 0),     VALUE(2, 0),     VALUE(3, 0),     VALUE(4, 0),      VALUE(5, 1),      VALUE(7, 1),
    VALUE(9, 2),     VALUE(13, 2),    VALUE(17, 3),    VALUE(25, 3),     VALUE(33, 4),     VALUE(49, 4),
    VALUE(65, 5),    VALUE(97, 5),    VALUE(129, 6),   VALUE(193, 6),    VALUE(257, 7),    VALUE(385, 7),
    VALUE(513, 8),   VALUE(769, 8),   VALUE(1025, 9),  VALUE(1537, 9),   VALUE(2049, 10),  VALUE(3073, 10),
    VALUE(4097, 11), VALUE(6145, 11), VALUE(8193, 12), VALUE(12289, 12), VALUE(16385, 13), VALUE(24577, 13)};
#undef VALUE

/* Vectors count all symbols once per length, which is faster than incrementing a counter per symbol: neighbouring
 * symbols often have the same length, and each increment would wait for the previous one. */
static uint16_t count_of(const uint8_t *lengths, size_t symbols, uint8_t length)
{
    uint16_t n = 0;
    for (size_t i = 0; i < symbols; i++)
        n = (uint16_t)(n + (lengths[i] == length));
    return n;
}

/* Orders the symbols by code. Returns 0 if every sequence of bits begins with exactly one code, a positive number if
 * some begin with none, and a negative one if the lengths overfill the code space. */
static int order_symbols(txm_decode_code *c, const uint8_t *lengths, size_t symbols)
{
    uint16_t first[TXM_DECODE_CODE_BITS + 1] = {0};
    int left = 1;
    c->count[0] = 0;
    for (int l = 1; l <= TXM_DECODE_CODE_BITS; l++) {
        c->count[l] = count_of(lengths, symbols, (uint8_t)l);
        first[l] = (uint16_t)(first[l - 1] + c->count[l - 1]);
        left = 2 * left - c->count[l];
        if (left < 0)
            return left;
    }
    for (size_t i = 0; i < symbols; i++)
        if (lengths[i])
            c->symbols[first[lengths[i]]++] = (uint16_t)i;
    return left;
}

/* Packs the symbol, the length and a mark for everything but literals into 16 bits. */
static uint16_t entry_of(unsigned symbol, unsigned length)
{
    return (uint16_t)(symbol << 8 | (symbol > 255 ? TXM_DECODE_RARE : 0) | length);
}

/* The code of the same length that follows `code`, both bit-reversed: adds one at the upper end. */
static unsigned next_reversed(unsigned code, unsigned length)
{
    unsigned bit = 1u << (length - 1);
    while (code & bit) {
        code ^= bit;
        bit >>= 1;
    }
    return code | bit;
}

/* Fills one entry per index. The table of all codes up to some length, repeated once, is the table for the next length,
 * so each code is written once and the rest is copied. Indices that no code reaches are marked LONG. */
static void fill_decode_table(const txm_decode_code *c, uint16_t *table, unsigned table_bits)
{
    size_t size = 1;
    unsigned code = 0, n = 0;
    table[0] = entry_of(TXM_DECODE_LONG, 0);
    for (unsigned length = 1; length <= table_bits; length++) {
        memcpy(table + size, table, size * sizeof *table);
        size *= 2;
        for (unsigned i = 0; i < c->count[length]; i++, n++) {
            table[code] = entry_of(c->symbols[n], length);
            code = next_reversed(code, length);
        }
    }
}

/* Decodes bit by bit, in the canonical order of codes. */
unsigned txm_decode_slowly(const txm_decode_code *c, txm_bit_reader *r)
{
    unsigned code = 0, first = 0, n = 0;
    for (int length = 1; length <= TXM_DECODE_CODE_BITS; length++) {
        code |= txm_take_bits(r, 1);
        if (code < first + c->count[length])
            return c->symbols[n + code - first];
        n += c->count[length];
        first = (first + c->count[length]) << 1;
        code <<= 1;
    }
    return NO_SYMBOL;
}

/* Reads the lengths of both codes, which are themselves coded. */
static bool read_lengths(txm_bit_reader *r, const txm_decode_code *precode, uint8_t *lengths, size_t count)
{
    uint16_t table[1 << PRECODE_BITS];
    fill_decode_table(precode, table, PRECODE_BITS);
    for (size_t i = 0; i < count;) {
        txm_fill_bits(r);
        unsigned entry = table[r->bits & ((1 << PRECODE_BITS) - 1)];
        unsigned symbol = txm_entry_symbol(entry);
        txm_take_bits(r, txm_entry_bits(entry));
        if (symbol < REPEAT) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        size_t run = symbol == REPEAT  ? 3 + txm_take_bits(r, 2)
                     : symbol == ZEROS ? 3 + txm_take_bits(r, 3)
                                       : 11 + txm_take_bits(r, 7);
        if (run > count - i || (symbol == REPEAT && !i))
            return false;
        memset(lengths + i, symbol == REPEAT ? lengths[i - 1] : 0, run);
        i += run;
    }
    return true;
}

/* The code lengths of a dynamic block: those of literals and lengths, followed by those of distances. */
typedef struct code_lengths {
    size_t litlens, distances;
    uint8_t of[TXM_DECODE_LITLENS + TXM_DECODE_DISTANCES];
} code_lengths;

/* Reads the code of the code lengths. */
static bool read_code_lengths(code_lengths *l, txm_bit_reader *r)
{
    static const uint8_t order[PRECODE_SYMBOLS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t pre[PRECODE_SYMBOLS] = {0};
    txm_decode_code precode;
    txm_fill_bits(r);
    l->litlens = MIN_LITLEN + txm_take_bits(r, 5);
    l->distances = 1 + txm_take_bits(r, 5);
    size_t pres = 4 + txm_take_bits(r, 4);
    if (l->litlens > TXM_DECODE_LITLENS || l->distances > TXM_DECODE_DISTANCES)
        return false;
    for (size_t i = 0; i < pres; i++) {
        txm_fill_bits(r);
        pre[order[i]] = (uint8_t)txm_take_bits(r, 3);
    }
    return order_symbols(&precode, pre, PRECODE_SYMBOLS) == 0 &&
           read_lengths(r, &precode, l->of, l->litlens + l->distances) && l->of[END_OF_BLOCK];
}

/* False for incomplete or overfull codes, which encoders never write. */
bool txm_decode_table_read(txm_decode_table *t, txm_bit_reader *r)
{
    code_lengths l;
    if (!read_code_lengths(&l, r) || order_symbols(&t->litlen, l.of, l.litlens) != 0 ||
        order_symbols(&t->distance, l.of + l.litlens, l.distances) != 0)
        return false;
    fill_decode_table(&t->litlen, t->litlens, TXM_DECODE_BITS);
    fill_decode_table(&t->distance, t->distances, TXM_DECODE_DISTANCE_BITS);
    return true;
}
