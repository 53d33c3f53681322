/* SPDX-License-Identifier: Apache-2.0
 * Deflate blocks to bytes, or to samples with marks: the same code, compiled for both widths. */
#include "codec/inflate.h"

#include <string.h>

enum {
    STORED = 0,
    FIXED = 1,
    DYNAMIC = 2,
    STORED_HEAD = 4,
    HEADER_BYTES = 1024, /* more than a block's code lengths can take */
    IN_ROOM = 16,        /* what a step of the fast loop loads at most, in two words */
    LITERALS = 4,        /* look-ups from one fill, and bits left for another */
    STORED_PIECE = 4096
};
_Static_assert(TXM_SOURCE_PAD >= 2 * IN_ROOM, "the loop ends behind the file's end, not before");

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* ---- bits in registers ---------------------------------------------------------------------------------------- */

/* What decoding needs in registers, out of the structs that other functions know. */
typedef struct lane {
    uint64_t bits;
    const uint8_t *in;
    unsigned count; /* modulo 64: entries are subtracted whole */
    const txm_inflate_table *table;
    const uint8_t *last_in, *lowest, *limit;
    uint8_t *out;
} lane;

/* At least 56 bits, in one load; as txm_fill_bits. */
ALWAYS_INLINE void fill(lane *l)
{
    uint64_t more;
    memcpy(&more, l->in, sizeof more);
    l->count &= 63;
    l->bits |= more << l->count;
    l->in += (63 - l->count) >> 3;
    l->count |= 56;
}

ALWAYS_INLINE void take(lane *l, uint32_t entry)
{
    l->bits >>= entry & 63;
    l->count -= entry;
}

/* The base of a length or distance, and its extra bits, which are the upper ones of what the entry takes. */
ALWAYS_INLINE size_t take_value(lane *l, uint32_t entry)
{
    uint64_t bits = l->bits & ((UINT64_C(1) << (entry & 63)) - 1);
    take(l, entry);
    return (entry >> TXM_ENTRY_VALUE) + (size_t)(bits >> (entry >> TXM_ENTRY_CODE & 15));
}

/* A symbol that the table does not have: its code is taken here, and the entry takes the extra bits. */
static uint32_t long_entry(lane *l, const txm_decode_code *code, uint32_t (*entry_of)(unsigned))
{
    txm_bit_reader r = {.bits = l->bits, .count = l->count & 63};
    unsigned symbol = txm_decode_slowly(code, &r);
    l->bits = r.bits;
    l->count = r.count;
    return entry_of(symbol);
}

/* ---- output --------------------------------------------------------------------------------------------------- */

ALWAYS_INLINE void put_literal(lane *l, uint32_t entry, size_t width)
{
    uint16_t sample = (uint8_t)(entry >> TXM_ENTRY_VALUE);
    if (width == 1)
        *l->out = (uint8_t)sample;
    else
        memcpy(l->out, &sample, sizeof sample);
    l->out += width;
}

/* In whole words, beyond the end. */
ALWAYS_INLINE uint8_t *copy_match(uint8_t *out, size_t length, size_t distance, size_t width)
{
    enum { SMALL = 8 };
    uint8_t *end = out + length * width;
    size_t apart = distance * width, word = SMALL * width;
    const uint8_t *from = out - apart;
    if (__builtin_expect(apart >= word, 1)) {
        do {
            memcpy(out, from, word);
            out += word, from += word;
        } while (out < end);
    } else if (apart & (apart - 1)) {
        /* Of each step what stands in front of `out` by then is right. */
        size_t step = apart < SMALL ? apart : SMALL;
        for (uint64_t bytes; out < end; out += step, from += step) {
            memcpy(&bytes, from, sizeof bytes);
            memcpy(out, &bytes, sizeof bytes);
        }
    } else { /* 1, 2, 4 or 8 */
        uint64_t bytes;
        memcpy(&bytes, from, sizeof bytes);
        bytes = apart == 1   ? (bytes & 0xff) * 0x0101010101010101u
                : apart == 2 ? (bytes & 0xffff) * 0x0001000100010001u
                : apart == 4 ? (bytes & 0xffffffff) * 0x0000000100000001u
                             : bytes;
        do {
            memcpy(out, &bytes, sizeof bytes);
            out += SMALL;
        } while (out < end);
    }
    return end;
}

/* ---- blocks with codes ---------------------------------------------------------------------------------------- */

typedef enum step { MORE, END, BAD } step;

static inline uint32_t look_up(const lane *l)
{
    return l->table->litlens[l->bits & ((1 << TXM_LITLEN_BITS) - 1)];
}

/* What begins with an entry that is no literal of the table. */
ALWAYS_INLINE step take_match(lane *l, uint32_t entry, size_t width)
{
    fill(l);
    if (__builtin_expect(entry & (TXM_ENTRY_LONG | TXM_ENTRY_END), 0)) {
        if (entry & TXM_ENTRY_LONG)
            entry = long_entry(l, &l->table->litlen, txm_litlen_entry);
        if (entry & TXM_ENTRY_LITERAL) {
            put_literal(l, entry, width);
            return MORE;
        }
        if (entry & (TXM_ENTRY_LONG | TXM_ENTRY_END)) {
            take(l, entry);
            return entry & TXM_ENTRY_END ? END : BAD;
        }
    }
    size_t length = take_value(l, entry);
    entry = l->table->distances[l->bits & ((1 << TXM_DISTANCE_BITS) - 1)];
    if (__builtin_expect(entry & TXM_ENTRY_LONG, 0)) {
        entry = long_entry(l, &l->table->distance, txm_distance_entry);
        if (entry & TXM_ENTRY_LONG)
            return BAD;
    }
    size_t distance = take_value(l, entry);
    if (__builtin_expect(distance * width > (size_t)(l->out - l->lowest), 0))
        return BAD;
    l->out = copy_match(l->out, length, distance, width);
    return MORE;
}

/* Some literals, and what ends them. */
ALWAYS_INLINE step take_some(lane *l, size_t width)
{
    fill(l);
    uint32_t entry = look_up(l);
    for (int i = 0; i < LITERALS && entry & TXM_ENTRY_LITERAL; i++) {
        take(l, entry);
        put_literal(l, entry, width);
        entry = look_up(l);
    }
    return entry & TXM_ENTRY_LITERAL ? MORE : take_match(l, entry, width);
}

ALWAYS_INLINE bool has_room(const lane *l)
{
    return l->in <= l->last_in && l->out < l->limit;
}

ALWAYS_INLINE lane enter(const txm_inflate *s, const txm_inflate_out *o)
{
    const txm_bit_reader *r = &s->source.reader;
    return (lane){r->bits, r->in, r->count, &s->table, r->end - IN_ROOM, o->lowest, o->limit, o->at};
}

ALWAYS_INLINE void leave(const lane *l, step last, txm_inflate *s, txm_inflate_out *o)
{
    txm_bit_reader *r = &s->source.reader;
    *r = (txm_bit_reader){.bits = l->bits, .count = l->count & 63, .in = l->in, .end = r->end};
    o->at = l->out;
    if (last != MORE)
        s->in = last == END ? TXM_AT_END : TXM_IN_NONSENSE;
}

/* Up to the block's end, the limit, or where input runs short. */
ALWAYS_INLINE void run_one(txm_inflate *s, txm_inflate_out *o, size_t width)
{
    lane l = enter(s, o);
    step next = MORE;
    while (next == MORE && has_room(&l))
        next = take_some(&l, width);
    leave(&l, next, s, o);
}

ALWAYS_INLINE txm_inflated inflate_codes(txm_inflate *s, txm_inflate_out *o, size_t width)
{
    while (s->in == TXM_IN_CODES && o->at < o->limit) {
        if (!txm_source_have(&s->source, IN_ROOM))
            return TXM_INFLATED_UNREAD;
        if (s->source.reader.end - s->source.reader.in < IN_ROOM)
            return TXM_INFLATED_CUT;
        run_one(s, o, width);
    }
    if (txm_source_cut(&s->source))
        return TXM_INFLATED_CUT;
    if (s->in == TXM_IN_CODES)
        return TXM_INFLATED_FULL;
    if (s->in == TXM_IN_NONSENSE)
        return TXM_INFLATED_BAD;
    s->in = TXM_BETWEEN_BLOCKS;
    return TXM_INFLATED_BLOCK;
}

/* ---- stored blocks -------------------------------------------------------------------------------------------- */

static txm_inflated short_of(const txm_inflate *s)
{
    return s->source.failed ? TXM_INFLATED_UNREAD : TXM_INFLATED_CUT;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static txm_inflated inflate_stored(txm_inflate *s, txm_inflate_out *o, size_t width)
{
    uint8_t piece[STORED_PIECE];
    while (s->stored && o->at < o->limit) {
        size_t n = min_size(s->stored, (size_t)(o->limit - o->at + (ptrdiff_t)width - 1) / width);
        if (width > 1)
            n = min_size(n, sizeof piece);
        uint8_t *dst = width > 1 ? piece : o->at;
        if (txm_source_take(&s->source, dst, n) != n)
            return short_of(s);
        for (size_t i = 0; width > 1 && i < n; i++) {
            uint16_t sample = piece[i];
            memcpy(o->at + i * sizeof sample, &sample, sizeof sample);
        }
        s->stored -= n;
        o->at += n * width;
    }
    if (s->stored)
        return TXM_INFLATED_FULL;
    s->in = TXM_BETWEEN_BLOCKS;
    return TXM_INFLATED_BLOCK;
}

static txm_inflated begin_stored(txm_inflate *s)
{
    uint8_t head[STORED_HEAD];
    txm_source_align(&s->source);
    if (txm_source_take(&s->source, head, sizeof head) != sizeof head)
        return short_of(s);
    unsigned length = head[0] | (unsigned)head[1] << 8, inverted = head[2] | (unsigned)head[3] << 8;
    if ((length ^ inverted) != 0xffff)
        return TXM_INFLATED_BAD;
    s->in = TXM_IN_STORED;
    s->stored = length;
    return TXM_INFLATED_BLOCK;
}

/* ---- blocks --------------------------------------------------------------------------------------------------- */

void txm_inflate_begin(txm_inflate *s)
{
    s->in = TXM_BETWEEN_BLOCKS;
    s->final = false;
}

bool txm_inflate_final_next(txm_inflate *s)
{
    txm_source_have(&s->source, sizeof s->source.reader.bits);
    txm_fill_bits(&s->source.reader);
    return s->source.reader.bits & 1;
}

/* BLOCK: the block can be entered. */
static txm_inflated begin_block(txm_inflate *s)
{
    txm_code_lengths lengths;
    txm_bit_reader *r = &s->source.reader;
    if (!txm_source_have(&s->source, HEADER_BYTES))
        return TXM_INFLATED_UNREAD;
    txm_fill_bits(r);
    s->final = txm_take_bits(r, 1);
    unsigned type = txm_take_bits(r, 2);
    if (type == STORED)
        return begin_stored(s);
    bool good = type != 3;
    if (type == FIXED)
        txm_inflate_table_make_fixed(&s->table);
    else if (type == DYNAMIC)
        good = txm_code_lengths_read(&lengths, r) && txm_inflate_table_make(&s->table, &lengths);
    if (txm_source_cut(&s->source))
        return TXM_INFLATED_CUT;
    s->in = TXM_IN_CODES;
    return good ? TXM_INFLATED_BLOCK : TXM_INFLATED_BAD;
}

ALWAYS_INLINE txm_inflated run(txm_inflate *s, txm_inflate_out *o, size_t width)
{
    if (s->in == TXM_BETWEEN_BLOCKS) {
        txm_inflated begun = begin_block(s);
        if (begun != TXM_INFLATED_BLOCK)
            return begun;
    }
    return s->in == TXM_IN_STORED ? inflate_stored(s, o, width) : inflate_codes(s, o, width);
}

txm_inflated txm_inflate_bytes(txm_inflate *s, txm_inflate_out *o)
{
    return run(s, o, sizeof(uint8_t));
}

txm_inflated txm_inflate_samples(txm_inflate *s, txm_inflate_out *o)
{
    return run(s, o, sizeof(uint16_t));
}
