/* SPDX-License-Identifier: Apache-2.0
 *
 * The deflate encoder for filtered pixels: one source for the processor (deflate.c) and for devices
 * (src/mill/gpu/pack.h).
 *
 * Most tiles of a photograph have few matches, and searching for them costs more than they save. A survey therefore
 * estimates at a few places how much matches would save, and matches are used only if they are cheaper than the
 * estimated cost of their literals. If they save a lot, several candidates are compared at each place: a hash table
 * holds the last position of each key, and each position links to the previous one with the same hash.
 */
#ifndef TXM_ENCODE_SPARSE_BODY_H
#define TXM_ENCODE_SPARSE_BODY_H
#include "mill/encode/deflate_body.h"
#include "mill/encode/sparse.h"
#include "tile/decode/inflate_parts.h"

/* It is inlined, so that it is compiled once for each search setting. */
#ifdef TXM_PLAIN_C
#define TXM_TEMPLATE static inline __attribute__((always_inline))
#define TXM_SEARCH TXM_TEMPLATE
#else
#define TXM_TEMPLATE TXM_ARITH
#define TXM_SEARCH TXM_ARITH TXM_CALLED
#endif

enum {
    TXM_MIN_MATCH = 8, /* one load */
    TXM_HASH_BITS = 12,
    TXM_COUNTERS = 8,
    TXM_SAMPLE_COUNTERS = 4, /* for a sample, which is shorter than the counters: one for each channel */
    TXM_SMALL_COUNTS = 256,
    TXM_COST_ONE = 16, /* units per bit in estimated costs */
    TXM_LINKS = 32768, /* positions that are remembered: at least as many as a distance can span */
    TXM_STRIPE_BYTES = 512,
    TXM_RUN_BYTES = 64,    /* runs of literals up to this length are copied whole */
    TXM_STRIPES_APART = 4, /* without a survey, costs are estimated from one stripe in four */
    TXM_MAX_SURVEYED = 8   /* blocks whose costs are kept */
};

typedef struct txm_block_costs {
    uint16_t literals[TXM_LITERALS]; /* price of each literal, in TXM_COST_ONE-ths of a bit */
    unsigned key_bits;               /* average cost of eight bytes, in bits */
} txm_block_costs;

struct txm_sparse {
    txm_block_scratch block;
    TXM_GLOBAL txm_sequence *sequences;
    TXM_GLOBAL uint8_t *literals; /* those between the matches of the current block, one run after the other */
    size_t literal_count;
    txm_literal_writer literal_writer; /* 0: none */
    uint16_t surveyed[2][64]; /* distances of the positions that are being surveyed, for keys of 4 and 8 bytes */
    uint16_t last[1 << TXM_HASH_BITS];      /* low half of the number of the last position with this hash */
    uint16_t links[TXM_LINKS];              /* distance in positions to the previous one with the same hash */
    uint16_t last_long[1 << TXM_HASH_BITS]; /* the same for the survey's longer key */
    /* Counts of bytes, in several tables by position: increments of the same counter wait for each other, and alpha is
     * often the same in every fourth byte. */
    uint32_t bytes[TXM_COUNTERS][TXM_LITERALS];
    uint8_t small_logs[TXM_SMALL_COUNTS]; /* log2_scaled of these counts, and 0 of 0 */
    uint32_t litlen[TXM_LITLEN_SYMBOLS], distance[TXM_DISTANCE_SYMBOLS];
    txm_block_costs costs[TXM_MAX_SURVEYED]; /* prices for each surveyed block, or for the current one */
    size_t surveyed_block;                   /* its block size; 0: no survey */
};

/* log2 in TXM_COST_ONE-ths, from a table of the mantissa. Integers make every machine decide alike. */
#define TXM_MANTISSAS                                                                                                  \
    TXM_CONSTANT uint8_t txm_mantissas[32] = {0, 1,  1,  2,  3,  3,  4,  5,  5,  6,  6,  7,  7,  8,  8,  9,            \
                                              9, 10, 10, 11, 11, 12, 12, 12, 13, 13, 14, 14, 15, 15, 15, 16};
TXM_TABLES_OUTSIDE(TXM_MANTISSAS)
TXM_ARITH unsigned txm_log2_scaled(uint32_t v)
{
    TXM_TABLES_INSIDE(TXM_MANTISSAS)
    unsigned e = txm_log2_floor(v);
    unsigned m = (e >= 5 ? v >> (e - 5) : v << (5 - e)) & 31;
    return e * TXM_COST_ONE + txm_mantissas[m];
}

/* Words at any address. */
TXM_ARITH uint64_t txm_code_64(TXM_GLOBAL const uint8_t *p)
{
#if defined(__OPENCL_VERSION__)
    return as_ulong(vload8(0, p));
#elif defined(__CUDA_ARCH__)
    /* Memory of devices is read in aligned words, of which the blocks are made. */
    const uint32_t *words = (const uint32_t *)((uintptr_t)p & ~(uintptr_t)3);
    const uint32_t shift = 8 * ((uintptr_t)p & 3), high = shift ? words[2] : 0;
    return (uint64_t)__funnelshift_r(words[1], high, shift) << 32 | __funnelshift_r(words[0], words[1], shift);
#else
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
#endif
}

TXM_ARITH uint32_t txm_code_32(TXM_GLOBAL const uint8_t *p)
{
#if defined(__OPENCL_VERSION__)
    return as_uint(vload4(0, p));
#else
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
#endif
}

/* Prepares scratch memory, given the rest of it. */
TXM_ARITH void txm_sparse_begin(TXM_GLOBAL txm_sparse *s, TXM_GLOBAL txm_sequence *sequences,
                                TXM_GLOBAL uint8_t *literals)
{
    s->sequences = sequences;
    s->literals = literals;
    s->literal_writer = 0;
    s->surveyed_block = 0;
    s->small_logs[0] = 0;
    for (unsigned v = 1; v < TXM_SMALL_COUNTS; v++)
        s->small_logs[v] = (uint8_t)txm_log2_scaled(v);
}

TXM_ARITH void txm_clear_counters(TXM_GLOBAL txm_sparse *s, unsigned tables)
{
    for (unsigned t = 0; t < tables; t++)
        for (int b = 0; b < TXM_LITERALS; b++)
            s->bytes[t][b] = 0;
}

TXM_ARITH void txm_clear_table(TXM_GLOBAL uint16_t *last)
{
    for (int i = 0; i < 1 << TXM_HASH_BITS; i++)
        last[i] = 0;
}

/* ---- costs ---- */

/* Uses `tables` counters, since increments for repeated bytes would wait for each other. */
TXM_TEMPLATE void txm_count_bytes(TXM_GLOBAL txm_sparse *s, TXM_GLOBAL const uint8_t *src, size_t n, unsigned tables)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t v = txm_code_64(src + i);
        s->bytes[0][v & 255]++;
        s->bytes[1 % tables][v >> 8 & 255]++;
        s->bytes[2 % tables][v >> 16 & 255]++;
        s->bytes[3 % tables][v >> 24 & 255]++;
        s->bytes[4 % tables][v >> 32 & 255]++;
        s->bytes[5 % tables][v >> 40 & 255]++;
        s->bytes[6 % tables][v >> 48 & 255]++;
        s->bytes[7 % tables][v >> 56]++;
    }
    for (; i < n; i++)
        s->bytes[i % tables][src[i]]++;
}

TXM_TEMPLATE void txm_add_counters(TXM_GLOBAL txm_sparse *s, unsigned tables)
{
    for (int b = 0; b < TXM_LITERALS; b += 4) {
        uint32_t sum[4] = {0, 0, 0, 0};
        for (unsigned t = 0; t < tables; t++)
            for (int i = 0; i < 4; i++)
                sum[i] += s->bytes[t][b + i];
        for (int i = 0; i < 4; i++)
            s->litlen[b + i] = sum[i];
    }
}

/* Counts the bytes of one stripe in each period; returns how many there were. */
TXM_ARITH size_t txm_sample_bytes(TXM_GLOBAL txm_sparse *s, TXM_GLOBAL const uint8_t *src, size_t n, size_t period)
{
    size_t seen = 0;
    txm_clear_counters(s, TXM_SAMPLE_COUNTERS);
    for (size_t i = 0; i < n; i += period) {
        size_t stripe = n - i < TXM_STRIPE_BYTES ? n - i : TXM_STRIPE_BYTES;
        txm_count_bytes(s, src + i, stripe, TXM_SAMPLE_COUNTERS);
        seen += stripe;
    }
    txm_add_counters(s, TXM_SAMPLE_COUNTERS);
    return seen;
}

/* Computes costs of literals from the counts of n bytes; returns the cost of all of them. */
TXM_ARITH uint64_t txm_set_costs(TXM_GLOBAL const txm_sparse *s, size_t n, TXM_GLOBAL txm_block_costs *cost)
{
    uint64_t sum = 0;
    unsigned all = txm_log2_scaled((uint32_t)n) + 1;
    for (int b = 0; b < TXM_LITERALS; b++) {
        uint32_t v = s->litlen[b]; /* bytes missing from the sample are rare */
        unsigned log = v < TXM_SMALL_COUNTS ? s->small_logs[v] : txm_log2_scaled(v);
        cost->literals[b] = (uint16_t)(all - log);
        sum += (uint64_t)v * cost->literals[b];
    }
    cost->key_bits = (unsigned)(sum * TXM_MIN_MATCH / n / TXM_COST_ONE);
    return sum;
}

/* The cost of the lowest four bytes of `key` by the block's estimated code. */
TXM_ARITH unsigned txm_cost_of_4(TXM_GLOBAL const uint16_t *cost, uint64_t key)
{
    return (unsigned)cost[key & 255] + cost[key >> 8 & 255] + cost[key >> 16 & 255] + cost[key >> 24 & 255];
}

/* ---- the survey ---- */

/* The state of a survey of matches with one key size in a stripe. */
typedef struct txm_match_survey {
    TXM_GLOBAL uint16_t *last;      /* last position of each hash, like txm_sparse.last */
    TXM_GLOBAL uint16_t *distances; /* of the positions that are being surveyed */
    unsigned distance;              /* distance of the match that the previous position belongs to; 0: none */
    uint64_t saved;
} txm_match_survey;

/* Surveys one position. `literals` is the cost of the key's bytes, and `more` the cost of the bytes by which it extends
 * a match, since a match is paid for only once. */
TXM_ARITH void txm_survey_position(txm_match_survey *m, unsigned distance, bool equal, unsigned literals, unsigned more)
{
    unsigned price = (9 + txm_log2_floor(distance | 1)) * TXM_COST_ONE;
    if (equal && distance == m->distance) {
        m->saved += more;
        return;
    }
    bool worth = equal && literals > price;
    m->distance = worth ? distance : 0;
    m->saved += worth ? literals - price : 0;
}

/* Looks up matches of four and of eight bytes at the same time, at the next positions, at most 64. Returns a mask of
 * the positions whose first four bytes were seen before. In noise that is unpredictable, so there are no branches here.
 */
TXM_ARITH uint64_t txm_find_surveyed(txm_match_survey *by_4, txm_match_survey *by_8, TXM_GLOBAL const uint8_t *base,
                                     size_t p, size_t step, unsigned count)
{
    uint64_t marks = 0;
    for (unsigned k = 0; k < count; k++, p += step) {
        uint64_t key = txm_code_64(base + p);
        TXM_GLOBAL uint16_t *last_4 = &by_4->last[(uint32_t)key * 0x9E3779B1u >> (32 - TXM_HASH_BITS)];
        TXM_GLOBAL uint16_t *last_8 = &by_8->last[key * 0x9E3779B97F4A7C15u >> (64 - TXM_HASH_BITS)];
        unsigned distance_4 = (uint16_t)(p - *last_4);
        by_4->distances[k] = (uint16_t)distance_4;
        by_8->distances[k] = (uint16_t)(p - *last_8);
        *last_4 = *last_8 = (uint16_t)p;
        uint64_t equal = (distance_4 != 0) & (txm_code_32(base + p - distance_4) == (uint32_t)key);
        marks = marks >> 1 | equal << 63;
    }
    return marks >> (64 - count);
}

/* Weighs matches at the positions that look promising. Where four bytes differ, eight usually do too: noise. */
TXM_ARITH void txm_survey_stripe(TXM_GLOBAL const uint16_t *cost, TXM_GLOBAL const uint8_t *base, size_t from,
                                 size_t to, size_t step, txm_match_survey *by_4, txm_match_survey *by_8)
{
    size_t p = from, next = from; /* the position after the last one that was weighed */
    by_4->distance = by_8->distance = 0;
    for (unsigned count; p + TXM_MIN_MATCH <= to; p += count * step) {
        size_t left = (to - p - TXM_MIN_MATCH) / step + 1;
        count = left < 64 ? (unsigned)left : 64;
        for (uint64_t marks = txm_find_surveyed(by_4, by_8, base, p, step, count); marks; marks &= marks - 1) {
            unsigned k = txm_trailing_zeros(marks), distance_8 = by_8->distances[k];
            size_t at = p + k * step;
            uint64_t key = txm_code_64(base + at);
            bool equal_8 = distance_8 && txm_code_64(base + at - distance_8) == key;
            unsigned literals = txm_cost_of_4(cost, key);
            if (at != next)
                by_4->distance = by_8->distance = 0;
            txm_survey_position(by_4, by_4->distances[k], true, literals, literals);
            txm_survey_position(by_8, distance_8, equal_8, literals + txm_cost_of_4(cost, key >> 32), literals);
            next = at + step;
        }
    }
}

/* Surveys stripes only, which is enough to decide: one in `stripes_apart`, in blocks of block_bytes. An input of one
 * block whose literals take fewer than few_bits in total is not searched for matches, and nothing counts as saved. */
TXM_CODE_STEP txm_survey txm_survey_of(TXM_GLOBAL txm_sparse *s, TXM_GLOBAL const uint8_t *src, size_t size_bytes,
                                       size_t block_bytes, size_t step_bytes, size_t stripes_apart, uint64_t few_bits)
{
    const size_t period = TXM_STRIPE_BYTES * stripes_apart;
    txm_match_survey by_4 = {s->last, s->surveyed[0], 0, 0}, by_8 = {s->last_long, s->surveyed[1], 0, 0};
    txm_survey sum = {0, 0, 0};
    s->surveyed_block = size_bytes <= TXM_MAX_SURVEYED * block_bytes ? block_bytes : 0;
    for (size_t at = 0; at < size_bytes; at += block_bytes) {
        size_t end = size_bytes - at < block_bytes ? size_bytes : at + block_bytes;
        size_t seen = txm_sample_bytes(s, src + at, end - at, period);
        TXM_GLOBAL txm_block_costs *cost = &s->costs[at / block_bytes % TXM_MAX_SURVEYED];
        sum.literal_bits += txm_set_costs(s, seen, cost) * (end - at) / seen / TXM_COST_ONE;
        if (size_bytes <= block_bytes && sum.literal_bits < few_bits)
            return sum;
        if (at == 0) {
            txm_clear_table(s->last);
            txm_clear_table(s->last_long);
        }
        by_4.saved = by_8.saved = 0;
        for (size_t i = at; i < end; i += period)
            txm_survey_stripe(cost->literals, src, i, end - i < TXM_STRIPE_BYTES ? end : i + TXM_STRIPE_BYTES,
                              step_bytes, &by_4, &by_8);
        sum.saved_by_4 += by_4.saved * (end - at) / seen / TXM_COST_ONE;
        sum.saved_by_8 += by_8.saved * (end - at) / seen / TXM_COST_ONE;
    }
    return sum;
}

/* ---- matches ---- */

TXM_ARITH size_t txm_agree(TXM_GLOBAL const uint8_t *a, TXM_GLOBAL const uint8_t *b, size_t limit)
{
    size_t n = 0;
    for (; n + 8 <= limit; n += 8) {
        uint64_t x = txm_code_64(a + n) ^ txm_code_64(b + n);
        if (x)
            return n + (txm_trailing_zeros(x) >> 3);
    }
    while (n < limit && a[n] == b[n])
        n++;
    return n;
}

typedef struct txm_thoroughness {
    unsigned candidates;  /* per position, the most recent ones first */
    unsigned price_bits;  /* price of a match without its extra bits: lower if there are many */
    unsigned agree_bytes; /* 8 to 16: bytes that the most recent candidate must have in common for a position to be
                             examined */
    unsigned
        stride; /* one in this many positions is examined; a match may begin before the position where it is found */
    bool everywhere; /* examines the positions covered by a rejected candidate too; otherwise they are taken to be as
                        cheap as it was */
} txm_thoroughness;

enum { TXM_LONGER_KEY_BITS = 20, TXM_LONGEST_KEY_BITS = 16 }; /* limits on the bits for eight bytes */

#ifdef TXM_PLAIN_C
/* Bit i is byte i, which is 0 or 1. */
TXM_ARITH uint64_t txm_mask_of(const uint8_t equal[64], unsigned count)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < 64; i += 8)
        mask |= (txm_code_64(equal + i) * 0x0102040810204080u >> 56) << i;
    return mask & ~(uint64_t)0 >> (64 - count);
}
#endif

/* Finds candidates at the next positions, at most 64. Position i is at byte i * step. Returns a mask of positions whose
 * bytes were seen before, and links each position to the last one with the same hash; some links are longer than the
 * format allows. Noise makes these comparisons unpredictable, so there are no branches here. Below 2^16 a number equals
 * its low half, and above it the link is less than the number: an empty slot (0) gives a valid position too, and the
 * bytes are compared anyway. */
TXM_TEMPLATE uint64_t txm_find_candidates(TXM_GLOBAL uint16_t *__restrict__ table, TXM_GLOBAL const uint8_t *base,
                                          size_t number, size_t step, unsigned count, txm_thoroughness t,
                                          TXM_GLOBAL uint16_t *__restrict__ links)
{
#ifdef TXM_PLAIN_C
    uint8_t equal[64] = {0};
#else
    uint64_t mask = 0;
#endif
    TXM_GLOBAL const uint8_t *p = base + number * step;
    const unsigned more = t.agree_bytes - TXM_MIN_MATCH;
#ifdef TXM_PLAIN_C
#pragma GCC unroll 4
#endif
    for (unsigned i = 0, k = 0; i < count; i++, k += t.stride, p += step * t.stride) {
        uint64_t key = txm_code_64(p);
        TXM_GLOBAL uint16_t *last = &table[key * 0x9E3779B97F4A7C15u >> (64 - TXM_HASH_BITS)];
        size_t link = (uint16_t)(number + k - *last);
        TXM_GLOBAL const uint8_t *from = p - link * step;
        *last = (uint16_t)(number + k);
        links[k] = (uint16_t)link;
        uint64_t differ = txm_code_64(from) ^ key;
        if (more)
            differ |= txm_code_64(from + more) ^ txm_code_64(p + more);
#ifdef TXM_PLAIN_C
        equal[i] = differ == 0;
    }
    return txm_mask_of(equal, count);
#else
        mask |= (uint64_t)(differ == 0) << i;
    }
    return mask;
#endif
}

/* Unrolls the loop for the steps that are most common in images. */
TXM_TEMPLATE uint64_t txm_find_64_candidates(TXM_GLOBAL uint16_t *__restrict__ table, TXM_GLOBAL const uint8_t *base,
                                             size_t number, size_t step, txm_thoroughness t,
                                             TXM_GLOBAL uint16_t *__restrict__ links)
{
    return step == 4   ? txm_find_candidates(table, base, number, 4, 64, t, links)
           : step == 2 ? txm_find_candidates(table, base, number, 2, 64, t, links)
                       : txm_find_candidates(table, base, number, step, 64, t, links);
}

typedef struct txm_match {
    size_t length, distance;
} txm_match;

/* The length of the match at p, at most `most` bytes; 0 if its bytes are cheaper as literals. A match of twice the
 * minimum length is assumed to pay. */
TXM_ARITH size_t txm_match_length(TXM_GLOBAL const uint16_t *cost, TXM_GLOBAL const uint8_t *p, size_t distance,
                                  size_t most, unsigned price_bits)
{
    unsigned price = TXM_COST_ONE * (price_bits + txm_code_distance((unsigned)distance).extra_bits);
    uint64_t key = txm_code_64(p);
    if (txm_cost_of_4(cost, key) + txm_cost_of_4(cost, key >> 32) <= price &&
        (most < 2 * TXM_MIN_MATCH || txm_code_64(p + TXM_MIN_MATCH) != txm_code_64(p + TXM_MIN_MATCH - distance)))
        return 0;
    return TXM_MIN_MATCH + txm_agree(p + TXM_MIN_MATCH, p + TXM_MIN_MATCH - distance, most - TXM_MIN_MATCH);
}

/* Whether the bytes that a longer match adds are worth its greater distance, judged by eight of them. */
TXM_ARITH bool txm_is_worth(TXM_GLOBAL const uint16_t *cost, TXM_GLOBAL const uint8_t *p, txm_match longer,
                            txm_match shorter)
{
    unsigned bytes = 0, extra_bits = txm_code_distance((unsigned)longer.distance).extra_bits -
                                     txm_code_distance((unsigned)shorter.distance).extra_bits;
    for (size_t i = shorter.length; i < longer.length && i < shorter.length + 8; i++)
        bytes += cost[p[i]];
    return bytes > TXM_COST_ONE * extra_bits;
}

/* The best match at p, whose number is given, at most `limit` bytes back; its length is 0 if none pays. Every link that
 * is followed was written for this input, because skipped positions are in no table, and a number that is 2^16 too
 * large shares its place with the right one. */
TXM_TEMPLATE txm_match txm_find_match(TXM_GLOBAL const txm_sparse *s, TXM_GLOBAL const uint16_t *cost,
                                      TXM_GLOBAL const uint8_t *p, size_t number, size_t step, size_t limit,
                                      size_t most, txm_thoroughness t)
{
    size_t back = s->links[number % TXM_LINKS];
    txm_match best = {0, back * step};
    if (best.distance - 1 >= limit)
        return best;
    best.length = txm_match_length(cost, p, best.distance, most, t.price_bits);
    if (!best.length)
        return best;
    for (unsigned k = 1; k < t.candidates && best.length < most; k++) {
        size_t link = s->links[(number - back) % TXM_LINKS];
        back += link;
        txm_match other = {TXM_MIN_MATCH, back * step};
        if (!link || other.distance > limit)
            break;
        TXM_GLOBAL const uint8_t *from = p - other.distance;
        if (p[best.length] != from[best.length] || txm_code_64(p) != txm_code_64(from))
            continue;
        other.length += txm_agree(p + TXM_MIN_MATCH, from + TXM_MIN_MATCH, most - TXM_MIN_MATCH);
        if (other.length > best.length && txm_is_worth(cost, p, other, best))
            best = other;
    }
    return best;
}

/* Returns how far the match at p extends backwards, down to `first` and, at its source, down to `reach`. This is needed
 * because only some positions are examined. */
TXM_ARITH size_t txm_agree_backwards(TXM_GLOBAL const uint8_t *base, size_t p, size_t distance, size_t first,
                                     size_t reach, size_t most)
{
    size_t from = p - distance, n = 0;
    most = p - first < most ? p - first : most;
    most = from - reach < most ? from - reach : most;
    for (; from >= n + 8 && n < most; n += 8) {
        uint64_t x = txm_code_64(base + p - n - 8) ^ txm_code_64(base + from - n - 8);
        if (x) {
            n += txm_leading_zeros(x) >> 3;
            return n < most ? n : most;
        }
    }
    if (n > most)
        return most;
    while (n < most && base[p - n - 1] == base[from - n - 1])
        n++;
    return n;
}

/* Keeps the literals from .. at, which are counted later, and counts the match that follows them. Short runs are copied
 * whole, without a branch on their length. */
TXM_ARITH txm_sequence txm_take_match(TXM_GLOBAL txm_sparse *s, TXM_GLOBAL const uint8_t *base, size_t from, size_t at,
                                      size_t to, size_t length, size_t distance)
{
    size_t n = at - from;
#ifdef TXM_PLAIN_C
    if (n <= TXM_RUN_BYTES && to - from >= TXM_RUN_BYTES)
        memcpy(s->literals + s->literal_count, base + from, TXM_RUN_BYTES);
    else
        memcpy(s->literals + s->literal_count, base + from, n);
#else
    for (size_t i = 0; i < n; i++)
        s->literals[s->literal_count + i] = base[from + i];
#endif
    s->literal_count += n;
    s->litlen[txm_code_length((unsigned)length).symbol]++;
    s->distance[txm_code_distance((unsigned)distance).symbol]++;
    const txm_sequence sequence = {(uint32_t)n, (uint16_t)length, (uint16_t)distance};
    return sequence;
}

TXM_ARITH void txm_count_literals(TXM_GLOBAL txm_sparse *s, TXM_GLOBAL const uint8_t *rest, size_t n)
{
    txm_clear_counters(s, TXM_COUNTERS);
    txm_count_bytes(s, s->literals, s->literal_count, TXM_COUNTERS);
    txm_count_bytes(s, rest, n, TXM_COUNTERS);
    txm_add_counters(s, TXM_COUNTERS);
}

/* Finds the matches of the block from .. to greedily, in the bytes from `reach` on; returns their number. Also counts
 * the symbols of the block. */
TXM_SEARCH size_t txm_find_matches(TXM_GLOBAL txm_sparse *s, TXM_GLOBAL const uint16_t *cost,
                                   TXM_GLOBAL const uint8_t *base, size_t reach, size_t from, size_t to, size_t step,
                                   txm_thoroughness t)
{
    const size_t pace = step * t.stride;
    size_t matches = 0, literals = from;
    s->literal_count = 0;
    for (size_t number = (from + pace - 1) / pace * t.stride; number * step + t.agree_bytes <= to;) {
        size_t p = number * step, left = (to - p - t.agree_bytes) / pace + 1, place = number % TXM_LINKS;
        size_t room = (TXM_LINKS - place + t.stride - 1) / t.stride;
        left = left < room ? left : room;
        unsigned count = left < 64 ? (unsigned)left : 64;
        uint64_t marks = count == 64 ? txm_find_64_candidates(s->last, base, number, step, t, s->links + place)
                                     : txm_find_candidates(s->last, base, number, step, count, t, s->links + place);
        while (marks) {
            unsigned k = txm_trailing_zeros(marks);
            size_t at = p + k * pace, most = to - at < TXM_MAX_MATCH ? to - at : TXM_MAX_MATCH;
            size_t limit = at - reach < TXM_MAX_DISTANCE ? at - reach : TXM_MAX_DISTANCE;
            txm_match m = txm_find_match(s, cost, base + at, number + k * t.stride, step, limit, most, t);
            bool allowed = m.distance - 1 < limit;
            size_t next = allowed && !t.everywhere ? at + TXM_MIN_MATCH : at + 1;
            if (m.length) {
                size_t early = txm_agree_backwards(base, at, m.distance, literals, reach, TXM_MAX_MATCH - m.length);
                next = at + m.length;
                s->sequences[matches++] =
                    txm_take_match(s, base, literals, at - early, to, m.length + early, m.distance);
                literals = next;
            }
            size_t passed = (next - p + pace - 1) / pace;
            marks = passed < 64 ? marks & ~(uint64_t)0 << passed : 0;
        }
        number += count * t.stride;
        if (number * step < literals) /* inside the last match */
            number = (literals + pace - 1) / pace * t.stride;
    }
    txm_count_literals(s, base + literals, to - literals);
    return matches;
}

TXM_ARITH size_t txm_find_block_matches(TXM_GLOBAL txm_sparse *s, TXM_GLOBAL const txm_block_costs *cost,
                                        TXM_GLOBAL const uint8_t *base, size_t reach, size_t from, size_t to,
                                        size_t step, txm_search search)
{
    TXM_GLOBAL const uint16_t *literals = cost->literals;
    /* Few matches: if eight bytes cost less than a match, nearly all matches of eight bytes would be rejected, and each
     * takes as long as encoding twenty bytes, so only longer ones are examined. */
    const txm_thoroughness many = {8, 5, 8, 1, true}, few = {1, 9, 8, 1, false}, longer = {1, 11, 12, 1, false},
                           longest = {1, 11, 16, 1, false}, fewest = {1, 11, 16, 2, false};
    if (search == TXM_SEARCH_MANY)
        return txm_find_matches(s, literals, base, reach, from, to, step, many);
    if (cost->key_bits < TXM_LONGEST_KEY_BITS && search == TXM_SEARCH_FEWEST)
        return txm_find_matches(s, literals, base, reach, from, to, step, fewest);
    if (cost->key_bits < TXM_LONGEST_KEY_BITS)
        return txm_find_matches(s, literals, base, reach, from, to, step, longest);
    if (cost->key_bits < TXM_LONGER_KEY_BITS)
        return txm_find_matches(s, literals, base, reach, from, to, step, longer);
    return txm_find_matches(s, literals, base, reach, from, to, step, few);
}

/* ---- encoding ---- */

/* The largest size of any encoding in blocks of block_bytes, each with its own codes. No literal takes more than
 * TXM_LITLEN_BITS; a flush writes eight bytes, not all of which count. */
TXM_ARITH size_t txm_sparse_bound(size_t size_bytes, size_t block_bytes)
{
    const size_t blocks = block_bytes != TXM_IN_PARTS ? size_bytes / block_bytes + 1 : TXM_MAX_PARTS;
    return 2 * size_bytes + blocks * TXM_BLOCK_HEADER_BYTES + sizeof(uint64_t);
}

/* Encodes src, at least one byte, and returns the size written to dst, which has room for txm_sparse_bound. Blocks are
 * of equal size, or as many parts as a reader inflates at once; then matches never reach back across a mark.
 * `step_bytes` (1 to 8) is the distance between the positions where matches are searched for; they may begin before.
 * The costs are from a survey just before of the same src, which may have had other blocks, or from a sample. */
TXM_CODE_STEP size_t txm_encode_sparse(TXM_GLOBAL txm_sparse *s, TXM_GLOBAL const uint8_t *src, size_t size_bytes,
                                       size_t block_bytes, size_t step_bytes, txm_search search,
                                       TXM_GLOBAL uint8_t *dst)
{
    txm_bit_writer w = {0, 0, dst};
    txm_clear_table(s->last);
    for (size_t at = 0, end; at < size_bytes; at = end) {
        end = block_bytes == TXM_IN_PARTS     ? txm_part_end(size_bytes, at)
              : size_bytes - at < block_bytes ? size_bytes
                                              : at + block_bytes;
        size_t n = end - at, reach = block_bytes == TXM_IN_PARTS ? at : 0;
        if (at && block_bytes == TXM_IN_PARTS) {
            /* An empty stored block, by which a reader finds a part before it has decoded the previous ones
             * (inflate_parts.h). */
            txm_put_bits(&w, 0, 3);
            txm_put_bits(&w, 0, (8 - w.count) & 7);
            txm_flush_bits(&w);
            txm_put_bits(&w, 0xffff0000u, 32);
            txm_flush_bits(&w);
        }
        for (int i = 0; i < TXM_LITLEN_SYMBOLS; i++)
            s->litlen[i] = 0;
        for (int i = 0; i < TXM_DISTANCE_SYMBOLS; i++)
            s->distance[i] = 0;
        TXM_GLOBAL const txm_block_costs *cost = &s->costs[s->surveyed_block ? at / s->surveyed_block : 0];
        if (!s->surveyed_block)
            txm_set_costs(s, txm_sample_bytes(s, src + at, n, TXM_STRIPES_APART * TXM_STRIPE_BYTES), &s->costs[0]);
        size_t matches = txm_find_block_matches(s, cost, src, reach, at, end, step_bytes, search);
        txm_write_block(&s->block, &w, src + at, n, s->sequences, matches, s->litlen, s->distance, s->literal_writer,
                        end == size_bytes);
    }
    txm_put_bits(&w, 0, (8 - w.count) & 7);
    txm_flush_bits(&w);
    return (size_t)(w.out - dst);
}
#endif
