/* SPDX-License-Identifier: Apache-2.0
 *
 * Inflates two or three deflate blocks at a time.
 *
 * The input is a zlib stream that our encoder wrote in parts: independent blocks with a mark between them. One thread
 * inflates all parts in turns. Each symbol depends on the previous one, so a single stream leaves most of a processor
 * idle; two or three at once keep it busy. Any other stream is refused and inflated in the usual way.
 */
#include "tile/decode/inflate_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tile/decode/decode_table.h"

enum {
    END_OF_BLOCK = 256,
    FIRST_LENGTH = 257,
    DYNAMIC = 2,
    STORED = 0,
    MARK_BYTES = 4,
    LOOKUPS = 5, /* lookups of TXM_DECODE_BITS bits each, from one fill of at least 56 */
    COPY_STEP = 16,
    /* Bytes of slack for the fast steps, which read and write without checking for the end. */
    OUT_ROOM = LOOKUPS,
    IN_ROOM = 8
};

/* The state of a part. */
typedef struct part {
    txm_bit_reader reader;
    uint8_t *begin, *out, *end; /* its output */
    const txm_decode_table *table;
    bool done, bad;
} part;

struct txm_parts {
    txm_decode_table tables[TXM_MAX_PARTS];
};

txm_parts *txm_parts_new(void)
{
    return txm_calloc(1, sizeof(txm_parts));
}

void txm_parts_free(txm_parts **parts)
{
    if (parts) {
        free(*parts);
        *parts = NULL;
    }
}

/* ---- matches ---- */

typedef struct match {
    size_t length, distance;
} match;

/* The value of a length or distance whose code was consumed, from the extra bits that follow. */
static size_t take_value(txm_bit_reader *r, uint32_t value)
{
    return (value >> TXM_VALUE_SHIFT) + txm_take_bits(r, value & 15);
}

/* Decodes the rest of a match whose first symbol was consumed: up to 33 bits. Length 0 if it is invalid or reaches
 * outside its part. */
static match take_match(part *p, unsigned symbol)
{
    match m = {0, 0};
    txm_bit_reader *r = &p->reader;
    if (symbol - FIRST_LENGTH >= TXM_DECODE_LENGTHS)
        return m;
    size_t length = take_value(r, txm_length_values[symbol - FIRST_LENGTH]);
    unsigned entry = p->table->distances[r->bits & ((1 << TXM_DECODE_DISTANCE_BITS) - 1)];
    unsigned d = txm_entry_symbol(entry);
    if (d == TXM_DECODE_LONG)
        d = txm_decode_slowly(&p->table->distance, r);
    else
        txm_take_bits(r, txm_entry_bits(entry));
    if (d >= TXM_DECODE_DISTANCES)
        return m;
    m.distance = take_value(r, txm_distance_values[d]);
    if (m.distance <= (size_t)(p->out - p->begin) && length <= (size_t)(p->end - p->out))
        m.length = length;
    return m;
}

/* Copies byte by byte, at the end of the output or if source and destination overlap closely. */
static void copy_carefully(part *p, match m)
{
    for (; m.length; m.length--, p->out++)
        *p->out = *(p->out - m.distance);
}

/* Copies in whole steps if there is room for them. */
static inline void copy_fast(part *p, match m)
{
    uint8_t *out = p->out, *end = out + m.length;
    const uint8_t *from = out - m.distance;
    if (p->end - end < COPY_STEP || (m.distance > 2 && m.distance < COPY_STEP)) {
        copy_carefully(p, m);
        return;
    }
    p->out = end;
    if (m.distance <= 2) { /* a run of equal bytes, which the encoder finds from its second position or pixel on */
        uint64_t eight = ((uint64_t)out[-1] << 8 | from[0]) * 0x0001000100010001u;
        for (; out < end; out += sizeof eight)
            memcpy(out, &eight, sizeof eight);
        return;
    }
    for (; out < end; out += COPY_STEP, from += COPY_STEP)
        memcpy(out, from, COPY_STEP);
}

/* ---- symbols ---- */

/* The symbol of an entry: a literal, a length, or the end. */
static inline unsigned take_symbol(part *p, unsigned entry)
{
    unsigned symbol = txm_entry_symbol(entry);
    if (symbol == TXM_DECODE_LONG) {
        txm_fill_bits(&p->reader); /* longer than the bits that a lookup leaves */
        return txm_decode_slowly(&p->table->litlen, &p->reader);
    }
    txm_take_bits(&p->reader, txm_entry_bits(entry));
    return symbol;
}

/* Handles everything except a literal from the table: a match, the end, or a code too long for the table. False if
 * there may not be enough bits for another lookup. */
static bool step_rare(part *p, unsigned entry)
{
    unsigned symbol = take_symbol(p, entry);
    if (symbol < END_OF_BLOCK) {
        *p->out++ = (uint8_t)symbol;
        return true;
    }
    if (symbol == END_OF_BLOCK) {
        p->done = true;
        return false;
    }
    txm_fill_bits(&p->reader);
    match m = take_match(p, symbol);
    if (m.length)
        copy_fast(p, m);
    else
        p->bad = true;
    return false;
}

/* Whether both ends are far enough away for unchecked steps. */
static inline bool can_run(const part *p)
{
    return !p->done && !p->bad && p->end - p->out >= OUT_ROOM && p->reader.end - p->reader.in >= IN_ROOM;
}

/* The values that each lookup depends on, held in registers; the rest stays in the part. */
typedef struct lane {
    uint64_t bits;
    const uint8_t *in;
    uint8_t *out;
    unsigned count; /* modulo 64, because whole entries are subtracted from it */
    const uint16_t *table;
    const uint8_t *last_in, *last_out; /* the last places with enough room */
} lane;

/* Copies the reader's state to local variables, which compilers can keep in registers. */
static inline lane load_lane(const part *p)
{
    const txm_bit_reader *r = &p->reader;
    return (lane){r->bits, r->in, p->out, r->count, p->table->litlens, r->end - IN_ROOM, p->end - OUT_ROOM};
}

static inline void store_lane(part *p, const lane *l)
{
    p->reader.bits = l->bits;
    p->reader.count = l->count & 63;
    p->reader.in = l->in;
    p->out = l->out;
}

/* Fills up to at least 56 bits in one load. Bits above `count` are loaded too; the next fill, fast or not, loads the
 * same bits again. */
static inline void fill_fast(lane *l)
{
    uint64_t more;
    memcpy(&more, l->in, sizeof more);
    l->count &= 63;
    l->bits |= more << l->count;
    l->in += (63 - l->count) >> 3;
    l->count |= 56;
}

/* One lookup; false if a fill is needed before the next one. */
static inline bool step_fast(lane *l, part *p)
{
    unsigned entry = l->table[l->bits & ((1 << TXM_DECODE_BITS) - 1)];
    if (__builtin_expect(entry & TXM_DECODE_RARE, 0)) {
        store_lane(p, l);
        bool more = step_rare(p, entry);
        l->bits = p->reader.bits;
        l->in = p->reader.in;
        l->out = p->out;
        l->count = p->reader.count;
        return more;
    }
    *l->out++ = (uint8_t)(entry >> 8);
    l->bits >>= txm_entry_bits(entry);
    l->count -= entry;
    return true;
}

/* Runs all n parts for as long as all of them can, which covers most of each. Inlined for each n, so that the lanes are
 * in registers. */
static inline __attribute__((always_inline)) void run_lanes(part *const *parts, size_t n)
{
    lane l[TXM_MAX_PARTS];
    ptrdiff_t room;
    for (size_t i = 0; i < n; i++)
        l[i] = load_lane(parts[i]);
    do {
        for (size_t i = 0; i < n; i++)
            fill_fast(&l[i]);
#pragma GCC unroll 5
        for (int k = 0; k < LOOKUPS; k++)
            for (size_t i = 0; i < n; i++)
                if (!step_fast(&l[i], parts[i])) {
                    if (parts[i]->done || parts[i]->bad)
                        goto leave_lanes;
                    goto next_fill;
                }
    next_fill:
        room = 0; /* negative if a part has no room left */
        for (size_t i = 0; i < n; i++)
            room |= (l[i].last_in - l[i].in) | (l[i].last_out - l[i].out);
    } while (room >= 0);
leave_lanes:
    for (size_t i = 0; i < n; i++)
        store_lane(parts[i], &l[i]);
}

/* Runs the parts, fewer at a time as they finish. */
static void run_fast(part *parts, size_t n)
{
    part *running[TXM_MAX_PARTS];
    do {
        size_t left = 0;
        for (size_t i = 0; i < n; i++)
            if (can_run(&parts[i]))
                running[left++] = &parts[i];
        if (left == 3)
            run_lanes(running, 3);
        else if (left == 2)
            run_lanes(running, 2);
        else if (left == 1)
            run_lanes(running, 1);
        else
            return;
    } while (true);
}

/* Decodes the last bytes with exact bounds checks. */
static void run_carefully(part *p)
{
    while (!p->done && !p->bad) {
        txm_bit_reader *r = &p->reader;
        txm_fill_bits(r);
        unsigned symbol = take_symbol(p, p->table->litlens[r->bits & ((1 << TXM_DECODE_BITS) - 1)]);
        if (symbol == END_OF_BLOCK) {
            p->done = true;
        } else if (symbol < END_OF_BLOCK && p->out < p->end) {
            *p->out++ = (uint8_t)symbol;
        } else {
            match m = take_match(p, symbol);
            p->bad = !m.length;
            copy_carefully(p, m);
        }
        p->bad |= r->past > sizeof r->bits;
    }
}

/* ---- blocks ---- */

/* Initialises a part between two marks, or between a mark and the end. */
static bool begin_parts(part *p, txm_decode_table *table, const uint8_t *src, const uint8_t *src_end, bool last)
{
    txm_bit_reader *r = &p->reader;
    *r = (txm_bit_reader){.in = src, .end = src_end};
    p->table = table;
    txm_fill_bits(r);
    return txm_take_bits(r, 3) == (DYNAMIC << 1 | (unsigned)last) && txm_decode_table_read(table, r);
}

/* The reader's position, rounded up to a whole byte. */
static const uint8_t *position(const txm_bit_reader *r)
{
    return r->in + r->past - r->count / 8;
}

/* Whether these are the two lengths of an empty stored block. */
static bool is_mark(const uint8_t *p)
{
    static const uint8_t mark[MARK_BYTES] = {0, 0, 0xff, 0xff};
    return !memcmp(p, mark, sizeof mark);
}

/* The bytes after the next empty stored block; NULL if there is none. One of the 16-bit words at even offsets is the
 * first half of its mark, 0x0000, or its middle, 0xff00. Spans with neither, which are nearly everything, are
 * skipped. */
static const uint8_t *find_mark(const uint8_t *src, const uint8_t *end)
{
    enum { WORDS = 64 };
    const uint8_t *p = src;
    for (uint16_t words[WORDS]; (size_t)(end - p) >= sizeof words + MARK_BYTES; p += sizeof words) {
        uint16_t suspect = 0;
        memcpy(words, p, sizeof words);
        for (int i = 0; i < WORDS; i++)
            suspect |= (words[i] == 0) | (words[i] == 0xff00);
        for (int i = 0; suspect && i < WORDS; i++) {
            if (is_mark(p + 2 * i))
                return p + 2 * i + MARK_BYTES;
            if (p + 2 * i > src && is_mark(p + 2 * i - 1))
                return p + 2 * i - 1 + MARK_BYTES;
        }
    }
    for (p -= p > src; end - p >= MARK_BYTES; p++)
        if (is_mark(p))
            return p + MARK_BYTES;
    return NULL;
}

/* Whether a part produced all its output and ends at the next one: three bits of a stored block, then its mark. */
static bool ended_at(part *p, const uint8_t *next)
{
    if (p->bad || p->out != p->end)
        return false;
    txm_fill_bits(&p->reader);
    return txm_take_bits(&p->reader, 3) == STORED && position(&p->reader) + MARK_BYTES == next;
}

/* 0: the stream is not in parts, or is damaged. */
size_t txm_parts_inflate(txm_parts *parts, const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes)
{
    part p[TXM_MAX_PARTS] = {0};
    const uint8_t *from[TXM_MAX_PARTS] = {src}, *src_end = src + src_bytes;
    size_t ends[TXM_MAX_PARTS], n = txm_parts_of(dst_bytes, ends);
    if (dst_bytes > TXM_PARTS_MAX_BYTES)
        return 0;
    for (size_t i = 0; i < n; i++) {
        p[i].begin = p[i].out = dst + (i ? ends[i - 1] : 0);
        p[i].end = dst + ends[i];
        if (i && !(from[i] = find_mark(from[i - 1], src_end)))
            return 0;
    }
    for (size_t i = 0; i < n; i++)
        if (!begin_parts(&p[i], &parts->tables[i], from[i], src_end, i == n - 1))
            return 0;
    run_fast(p, n);
    for (size_t i = 0; i < n; i++)
        run_carefully(&p[i]);
    for (size_t i = 0; i + 1 < n; i++)
        if (!ended_at(&p[i], from[i + 1]))
            return 0;
    part *last = &p[n - 1];
    bool good = !last->bad && last->out == last->end && last->reader.past <= last->reader.count / 8;
    return good ? (size_t)(position(&last->reader) - src) : 0;
}
