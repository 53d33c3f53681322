/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables that decode one deflate block with dynamic codes (RFC 1951).
 *
 * They serve inflate_parts.h, which decodes the streams of our own encoder (sparse.h). Its codes have at most eleven
 * bits, so a single lookup gives symbol and length; longer codes are legal, and decoded slowly by the canonical code.
 * An entry has 16 bits, so that both tables stay in the first-level cache.
 */
#ifndef TXM_DECODE_DECODE_TABLE_H
#define TXM_DECODE_DECODE_TABLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    TXM_DECODE_BITS = 11,         /* bits of a lookup: the longest code that our encoder writes */
    TXM_DECODE_DISTANCE_BITS = 8, /* small, because matches are few */
    TXM_DECODE_CODE_BITS = 15,    /* bits of the longest code */
    TXM_DECODE_SYMBOLS = 288,
    TXM_DECODE_LITLENS = 286, /* the maximum in a dynamic block */
    TXM_DECODE_LENGTHS = 29,
    TXM_DECODE_DISTANCES = 30,
    TXM_VALUE_SHIFT = 16,
    TXM_DECODE_LONG = 511, /* replaces a symbol if the code is longer than the index */
    TXM_DECODE_RARE = 0x80 /* marks an entry that is not a literal: add 256 to the symbol */
};

/* A canonical code, from which a table is filled and longer codes are decoded. */
typedef struct txm_decode_code {
    uint16_t count[TXM_DECODE_CODE_BITS + 1]; /* number of codes of each length */
    uint16_t symbols[TXM_DECODE_SYMBOLS];     /* symbols in the order of their codes */
} txm_decode_code;

/* Entries, indexed by the next bits of the stream: length of the code, TXM_DECODE_RARE, low eight bits of the symbol <<
 * 8. */
typedef struct txm_decode_table {
    uint16_t litlens[1 << TXM_DECODE_BITS];
    uint16_t distances[1 << TXM_DECODE_DISTANCE_BITS];
    txm_decode_code litlen, distance;
} txm_decode_table;

static inline unsigned txm_entry_bits(unsigned entry)
{
    return entry & 63;
}

static inline unsigned txm_entry_symbol(unsigned entry)
{
    return entry >> 8 | (entry & TXM_DECODE_RARE) << 1;
}

/* Reads bits from a stream, lowest first. Beyond the end they are zero, and counted in `past`. */
typedef struct txm_bit_reader {
    uint64_t bits;
    unsigned count; /* number of valid bits */
    unsigned past;  /* bytes read beyond the end */
    const uint8_t *in, *end;
} txm_bit_reader;

/* Fills up to at least 56 bits. A whole load also leaves bits above the count, which the next fill loads again. */
static inline void txm_fill_bits(txm_bit_reader *r)
{
    if (r->end - r->in >= (ptrdiff_t)sizeof r->bits) {
        uint64_t more;
        memcpy(&more, r->in, sizeof more);
        r->bits |= more << r->count;
        r->in += (63 - r->count) >> 3;
        r->count |= 56;
        return;
    }
    for (; r->count < 56; r->count += 8) {
        if (r->in < r->end)
            r->bits |= (uint64_t)*r->in++ << r->count;
        else
            r->past++;
    }
}

static inline unsigned txm_take_bits(txm_bit_reader *r, unsigned count)
{
    unsigned v = (unsigned)(r->bits & ((1ull << count) - 1));
    r->bits >>= count;
    r->count -= count;
    return v;
}

/* Lengths and distances by symbol (RFC 1951, 3.2.5): base << TXM_VALUE_SHIFT | number of extra bits. */
extern const uint32_t txm_length_values[TXM_DECODE_LENGTHS];
extern const uint32_t txm_distance_values[TXM_DECODE_DISTANCES];

/* Reads the codes that follow the first three bits of a block and fills the tables. False if they are malformed (counts
 * out of range, an incomplete code of lengths, runs that are too long, no end-of-block symbol) or if either code is
 * incomplete, which encoders never write. */
bool txm_decode_table_read(txm_decode_table *table, txm_bit_reader *reader);

/* Decodes a symbol bit by bit; 0xffff if no code matches. Uses up to 15 bits, which the reader must hold. */
unsigned txm_decode_slowly(const txm_decode_code *code, txm_bit_reader *reader);
#endif
