/* SPDX-License-Identifier: Apache-2.0
 *
 * A deflate encoder for filtered pixels.
 *
 * Most tiles of a photograph have few matches, and searching for them costs more than they save. A survey therefore
 * estimates at a few places how much matches would save, and matches are used only if they are cheaper than the
 * estimated cost of their literals. If they save a lot, several candidates are compared at each place: a hash table
 * holds the last position of each key, and each position links to the previous one with the same hash.
 */
#include "mill/encode/sparse.h"

#include <stdbool.h>
#include <string.h>

#include "base/endian.h"
#include "base/mem.h"
#include "mill/encode/deflate_block.h"
#include "tile/decode/inflate_parts.h"

/* It is inlined, so that it is compiled once for each search setting. */
#define TXM_TEMPLATE static inline __attribute__((always_inline))

enum {
    MIN_MATCH = 8, /* one load */
    HASH_BITS = 12,
    COUNTERS = 8,
    SAMPLE_COUNTERS = 4, /* for a sample, which is shorter than the counters: one for each channel */
    SMALL_COUNTS = 256,
    COST_ONE = 16, /* units per bit in estimated costs */
    LINKS = 32768, /* positions that are remembered: at least as many as a distance can span */
    STRIPE_BYTES = 512,
    RUN_BYTES = 64,    /* runs of literals up to this length are copied whole */
    STRIPES_APART = 4, /* without a survey, costs are estimated from one stripe in four */
    MAX_SURVEYED = 8   /* blocks whose costs are kept */
};

typedef struct block_costs {
    uint16_t literals[TXM_LITERALS]; /* price of each literal, in COST_ONE-ths of a bit */
    unsigned key_bits;               /* average cost of eight bytes, in bits */
} block_costs;

struct txm_sparse {
    txm_literal_writer literal_writer;
    txm_sequence *sequences;
    uint8_t *literals; /* those between the matches of the current block, one run after the other */
    size_t literal_count;
    uint16_t last[1 << HASH_BITS];      /* low half of the number of the last position with this hash */
    uint16_t links[LINKS];              /* distance in positions to the previous one with the same hash */
    uint16_t last_long[1 << HASH_BITS]; /* the same for the survey's longer key */
    /* Counts of bytes, in several tables by position: increments of the same counter wait for each other, and alpha is
     * often the same in every fourth byte. */
    uint32_t bytes[COUNTERS][TXM_LITERALS];
    uint8_t small_logs[SMALL_COUNTS]; /* log2_scaled of these counts, and 0 of 0 */
    uint32_t litlen[TXM_LITLEN_SYMBOLS], distance[TXM_DISTANCE_SYMBOLS];
    block_costs costs[MAX_SURVEYED]; /* prices for each surveyed block, or for the current one */
    size_t surveyed_block;           /* its block size; 0: no survey */
};

/* log2 in COST_ONE-ths, from a table of the mantissa. Integers make every machine decide alike. */
static unsigned log2_scaled(uint32_t v)
{
    static const uint8_t mantissa[32] = {0, 1,  1,  2,  3,  3,  4,  5,  5,  6,  6,  7,  7,  8,  8,  9,
                                         9, 10, 10, 11, 11, 12, 12, 12, 13, 13, 14, 14, 15, 15, 15, 16};
    unsigned e = txm_log2_floor(v);
    unsigned m = (e >= 5 ? v >> (e - 5) : v << (5 - e)) & 31;
    return e * COST_ONE + mantissa[m];
}

txm_sparse *txm_sparse_new(size_t max_bytes)
{
    txm_sparse *s = txm_calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->literal_writer = txm_literal_writer_best();
    for (unsigned v = 1; v < SMALL_COUNTS; v++)
        s->small_logs[v] = (uint8_t)log2_scaled(v);
    s->sequences = txm_alloc_pixels(max_bytes / MIN_MATCH + 1, sizeof *s->sequences);
    s->literals = txm_alloc_pixels(max_bytes + RUN_BYTES, 1);
    if (!s->sequences || !s->literals)
        txm_sparse_free(&s);
    return s;
}

void txm_sparse_free(txm_sparse **sparse)
{
    if (sparse && *sparse) {
        free((*sparse)->sequences);
        free((*sparse)->literals);
        free(*sparse);
        *sparse = NULL;
    }
}

/* ---- costs ---- */

/* Uses `tables` counters, since increments for repeated bytes would wait for each other. */
TXM_TEMPLATE void count_bytes(txm_sparse *s, const uint8_t *src, size_t n, unsigned tables)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t v = txm_load_le64(src + i);
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

TXM_TEMPLATE void add_counters(txm_sparse *s, unsigned tables)
{
    for (int b = 0; b < TXM_LITERALS; b += 4) {
        uint32_t sum[4] = {0};
        for (unsigned t = 0; t < tables; t++)
            for (int i = 0; i < 4; i++)
                sum[i] += s->bytes[t][b + i];
        memcpy(s->litlen + b, sum, sizeof sum);
    }
}

/* Counts the bytes of one stripe in each period; returns how many there were. */
static size_t sample(txm_sparse *s, const uint8_t *src, size_t n, size_t period)
{
    size_t seen = 0;
    memset(s->bytes, 0, SAMPLE_COUNTERS * sizeof s->bytes[0]);
    for (size_t i = 0; i < n; i += period) {
        size_t stripe = n - i < STRIPE_BYTES ? n - i : STRIPE_BYTES;
        count_bytes(s, src + i, stripe, SAMPLE_COUNTERS);
        seen += stripe;
    }
    add_counters(s, SAMPLE_COUNTERS);
    return seen;
}

/* Computes costs of literals from the counts of n bytes; returns the cost of all of them. */
static uint64_t set_costs(const txm_sparse *s, size_t n, block_costs *cost)
{
    uint64_t sum = 0;
    unsigned all = log2_scaled((uint32_t)n) + 1;
    for (int b = 0; b < TXM_LITERALS; b++) {
        uint32_t v = s->litlen[b]; /* bytes missing from the sample are rare */
        unsigned log = v < SMALL_COUNTS ? s->small_logs[v] : log2_scaled(v);
        cost->literals[b] = (uint16_t)(all - log);
        sum += (uint64_t)v * cost->literals[b];
    }
    cost->key_bits = (unsigned)(sum * MIN_MATCH / n / COST_ONE);
    return sum;
}

/* The cost of the lowest four bytes of `key` by the block's estimated code. */
static inline unsigned cost_of_4(const uint16_t *cost, uint64_t key)
{
    return (unsigned)cost[key & 255] + cost[key >> 8 & 255] + cost[key >> 16 & 255] + cost[key >> 24 & 255];
}

/* ---- the survey ---- */

/* The state of a survey of matches with one key size in a stripe. */
typedef struct match_survey {
    uint16_t *last;         /* last position of each hash, like txm_sparse.last */
    uint16_t distances[64]; /* distances of the positions that are being surveyed */
    unsigned distance;      /* distance of the match that the previous position belongs to; 0: none */
    uint64_t saved;
} match_survey;

/* Surveys one position. `literals` is the cost of the key's bytes, and `more` the cost of the bytes by which it extends
 * a match, since a match is paid for only once. */
static inline void survey_position(match_survey *m, unsigned distance, bool equal, unsigned literals, unsigned more)
{
    unsigned price = (9 + txm_log2_floor(distance | 1)) * COST_ONE;
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
static uint64_t find_surveyed(match_survey *by_4, match_survey *by_8, const uint8_t *base, size_t p, size_t step,
                              unsigned count)
{
    uint64_t marks = 0;
    for (unsigned k = 0; k < count; k++, p += step) {
        uint64_t key = txm_load_le64(base + p);
        uint16_t *last_4 = &by_4->last[(uint32_t)key * 0x9E3779B1u >> (32 - HASH_BITS)];
        uint16_t *last_8 = &by_8->last[key * 0x9E3779B97F4A7C15u >> (64 - HASH_BITS)];
        unsigned distance_4 = (uint16_t)(p - *last_4);
        by_4->distances[k] = (uint16_t)distance_4;
        by_8->distances[k] = (uint16_t)(p - *last_8);
        *last_4 = *last_8 = (uint16_t)p;
        uint64_t equal = (distance_4 != 0) & (txm_load_le32(base + p - distance_4) == (uint32_t)key);
        marks = marks >> 1 | equal << 63;
    }
    return marks >> (64 - count);
}

/* Weighs matches at the positions that look promising. Where four bytes differ, eight usually do too: noise. */
static void survey_stripe(const uint16_t *cost, const uint8_t *base, size_t from, size_t to, size_t step,
                          match_survey *by_4, match_survey *by_8)
{
    size_t p = from, next = from; /* the position after the last one that was weighed */
    by_4->distance = by_8->distance = 0;
    for (unsigned count; p + MIN_MATCH <= to; p += count * step) {
        size_t left = (to - p - MIN_MATCH) / step + 1;
        count = left < 64 ? (unsigned)left : 64;
        for (uint64_t marks = find_surveyed(by_4, by_8, base, p, step, count); marks; marks &= marks - 1) {
            unsigned k = (unsigned)__builtin_ctzll(marks), distance_8 = by_8->distances[k];
            size_t at = p + k * step;
            uint64_t key = txm_load_le64(base + at);
            bool equal_8 = distance_8 && txm_load_le64(base + at - distance_8) == key;
            unsigned literals = cost_of_4(cost, key);
            if (at != next)
                by_4->distance = by_8->distance = 0;
            survey_position(by_4, by_4->distances[k], true, literals, literals);
            survey_position(by_8, distance_8, equal_8, literals + cost_of_4(cost, key >> 32), literals);
            next = at + step;
        }
    }
}

/* Surveys stripes only, which is enough to decide. */
txm_survey txm_sparse_survey(txm_sparse *s, const uint8_t *src, size_t size_bytes, size_t block_bytes,
                             size_t step_bytes, size_t stripes_apart, uint64_t few_bits)
{
    const size_t period = STRIPE_BYTES * stripes_apart;
    match_survey by_4 = {.last = s->last}, by_8 = {.last = s->last_long};
    txm_survey sum = {0};
    s->surveyed_block = size_bytes <= MAX_SURVEYED * block_bytes ? block_bytes : 0;
    for (size_t at = 0; at < size_bytes; at += block_bytes) {
        size_t end = size_bytes - at < block_bytes ? size_bytes : at + block_bytes;
        size_t seen = sample(s, src + at, end - at, period);
        block_costs *cost = &s->costs[at / block_bytes % MAX_SURVEYED];
        sum.literal_bits += set_costs(s, seen, cost) * (end - at) / seen / COST_ONE;
        if (size_bytes <= block_bytes && sum.literal_bits < few_bits)
            return sum;
        if (at == 0) {
            memset(s->last, 0, sizeof s->last);
            memset(s->last_long, 0, sizeof s->last_long);
        }
        by_4.saved = by_8.saved = 0;
        for (size_t i = at; i < end; i += period)
            survey_stripe(cost->literals, src, i, end - i < STRIPE_BYTES ? end : i + STRIPE_BYTES, step_bytes, &by_4,
                          &by_8);
        sum.saved_by_4 += by_4.saved * (end - at) / seen / COST_ONE;
        sum.saved_by_8 += by_8.saved * (end - at) / seen / COST_ONE;
    }
    return sum;
}

/* ---- matches ---- */

static inline size_t agree(const uint8_t *a, const uint8_t *b, size_t limit)
{
    size_t n = 0;
    for (; n + 8 <= limit; n += 8) {
        uint64_t x = txm_load_le64(a + n) ^ txm_load_le64(b + n);
        if (x)
            return n + ((unsigned)__builtin_ctzll(x) >> 3);
    }
    while (n < limit && a[n] == b[n])
        n++;
    return n;
}

typedef struct thoroughness {
    unsigned candidates;  /* per position, the most recent ones first */
    unsigned price_bits;  /* price of a match without its extra bits: lower if there are many */
    unsigned agree_bytes; /* 8 to 16: bytes that the most recent candidate must have in common for a position to be
                             examined */
    unsigned
        stride; /* one in this many positions is examined; a match may begin before the position where it is found */
    bool everywhere; /* examines the positions covered by a rejected candidate too; otherwise they are taken to be as
                        cheap as it was */
} thoroughness;

static const thoroughness MANY = {8, 5, 8, 1, true};

/* Few matches. If eight bytes cost less than a match, nearly all matches of eight bytes would be rejected, and each
 * takes as long as encoding twenty bytes, so only longer ones are examined. */
static const thoroughness FEW = {1, 9, 8, 1, false}, FEW_LONGER = {1, 11, 12, 1, false},
                          FEW_LONGEST = {1, 11, 16, 1, false}, FEWEST = {1, 11, 16, 2, false};
enum { LONGER_KEY_BITS = 20, LONGEST_KEY_BITS = 16 }; /* limits on the bits for eight bytes */

/* Bit i is byte i, which is 0 or 1. */
static inline uint64_t mask_of(const uint8_t equal[64], unsigned count)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < 64; i += 8)
        mask |= (txm_load_le64(equal + i) * 0x0102040810204080u >> 56) << i;
    return mask & ~UINT64_C(0) >> (64 - count);
}

/* Finds candidates at the next positions, at most 64. Position i is at byte i * step. Returns a mask of positions whose
 * bytes were seen before, and links each position to the last one with the same hash; some links are longer than the
 * format allows. Noise makes these comparisons unpredictable, so there are no branches here. Below 2^16 a number equals
 * its low half, and above it the link is less than the number: an empty slot (0) gives a valid position too, and the
 * bytes are compared anyway. */
TXM_TEMPLATE uint64_t find_candidates(uint16_t *restrict table, const uint8_t *base, size_t number, size_t step,
                                      unsigned count, thoroughness t, uint16_t *restrict links)
{
    uint8_t equal[64] = {0};
    const uint8_t *p = base + number * step;
    const unsigned more = t.agree_bytes - MIN_MATCH;
#pragma GCC unroll 4
    for (unsigned i = 0, k = 0; i < count; i++, k += t.stride, p += step * t.stride) {
        uint64_t key = txm_load_le64(p);
        uint16_t *last = &table[key * 0x9E3779B97F4A7C15u >> (64 - HASH_BITS)];
        size_t link = (uint16_t)(number + k - *last);
        const uint8_t *from = p - link * step;
        *last = (uint16_t)(number + k);
        links[k] = (uint16_t)link;
        uint64_t differ = txm_load_le64(from) ^ key;
        if (more)
            differ |= txm_load_le64(from + more) ^ txm_load_le64(p + more);
        equal[i] = differ == 0;
    }
    return mask_of(equal, count);
}

/* Unrolls the loop for the steps that are most common in images. */
TXM_TEMPLATE uint64_t find_64_candidates(uint16_t *restrict table, const uint8_t *base, size_t number, size_t step,
                                         thoroughness t, uint16_t *restrict links)
{
    return step == 4   ? find_candidates(table, base, number, 4, 64, t, links)
           : step == 2 ? find_candidates(table, base, number, 2, 64, t, links)
                       : find_candidates(table, base, number, step, 64, t, links);
}

typedef struct match {
    size_t length, distance;
} match;

/* The length of the match at p, at most `most` bytes; 0 if its bytes are cheaper as literals. A match of twice the
 * minimum length is assumed to pay. */
static inline size_t match_length(const uint16_t *cost, const uint8_t *p, size_t distance, size_t most,
                                  unsigned price_bits)
{
    unsigned price = COST_ONE * (price_bits + txm_code_distance((unsigned)distance).extra_bits);
    uint64_t key = txm_load_le64(p);
    if (cost_of_4(cost, key) + cost_of_4(cost, key >> 32) <= price &&
        (most < 2 * MIN_MATCH || txm_load_le64(p + MIN_MATCH) != txm_load_le64(p + MIN_MATCH - distance)))
        return 0;
    return MIN_MATCH + agree(p + MIN_MATCH, p + MIN_MATCH - distance, most - MIN_MATCH);
}

/* Whether the bytes that a longer match adds are worth its greater distance, judged by eight of them. */
static inline bool is_worth(const uint16_t *cost, const uint8_t *p, match longer, match shorter)
{
    unsigned bytes = 0, extra_bits = txm_code_distance((unsigned)longer.distance).extra_bits -
                                     txm_code_distance((unsigned)shorter.distance).extra_bits;
    for (size_t i = shorter.length; i < longer.length && i < shorter.length + 8; i++)
        bytes += cost[p[i]];
    return bytes > COST_ONE * extra_bits;
}

/* The best match at p, whose number is given, at most `limit` bytes back; its length is 0 if none pays. Every link that
 * is followed was written for this input, because skipped positions are in no table, and a number that is 2^16 too
 * large shares its place with the right one. */
TXM_TEMPLATE match find_match(const txm_sparse *s, const uint16_t *cost, const uint8_t *p, size_t number, size_t step,
                              size_t limit, size_t most, thoroughness t)
{
    size_t back = s->links[number % LINKS];
    match best = {0, back * step};
    if (best.distance - 1 >= limit)
        return best;
    best.length = match_length(cost, p, best.distance, most, t.price_bits);
    if (!best.length)
        return best;
    for (unsigned k = 1; k < t.candidates && best.length < most; k++) {
        size_t link = s->links[(number - back) % LINKS];
        back += link;
        match other = {MIN_MATCH, back * step};
        if (!link || other.distance > limit)
            break;
        const uint8_t *from = p - other.distance;
        if (p[best.length] != from[best.length] || txm_load_le64(p) != txm_load_le64(from))
            continue;
        other.length += agree(p + MIN_MATCH, from + MIN_MATCH, most - MIN_MATCH);
        if (other.length > best.length && is_worth(cost, p, other, best))
            best = other;
    }
    return best;
}

/* Returns how far the match at p extends backwards, down to `first` and, at its source, down to `reach`. This is needed
 * because only some positions are examined. */
static inline size_t agree_backwards(const uint8_t *base, size_t p, size_t distance, size_t first, size_t reach,
                                     size_t most)
{
    size_t from = p - distance, n = 0;
    most = p - first < most ? p - first : most;
    most = from - reach < most ? from - reach : most;
    for (; from >= n + 8 && n < most; n += 8) {
        uint64_t x = txm_load_le64(base + p - n - 8) ^ txm_load_le64(base + from - n - 8);
        if (x) {
            n += (unsigned)__builtin_clzll(x) >> 3;
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
static inline txm_sequence take_match(txm_sparse *s, const uint8_t *base, size_t from, size_t at, size_t to,
                                      size_t length, size_t distance)
{
    size_t n = at - from;
    if (n <= RUN_BYTES && to - from >= RUN_BYTES)
        memcpy(s->literals + s->literal_count, base + from, RUN_BYTES);
    else
        memcpy(s->literals + s->literal_count, base + from, n);
    s->literal_count += n;
    s->litlen[txm_code_length((unsigned)length).symbol]++;
    s->distance[txm_code_distance((unsigned)distance).symbol]++;
    return (txm_sequence){(uint32_t)n, (uint16_t)length, (uint16_t)distance};
}

static void count_literals(txm_sparse *s, const uint8_t *rest, size_t n)
{
    memset(s->bytes, 0, sizeof s->bytes);
    count_bytes(s, s->literals, s->literal_count, COUNTERS);
    count_bytes(s, rest, n, COUNTERS);
    add_counters(s, COUNTERS);
}

/* Finds the matches of the block from .. to greedily, in the bytes from `reach` on; returns their number. Also counts
 * the symbols of the block. */
TXM_TEMPLATE size_t find_matches(txm_sparse *s, const uint16_t *cost, const uint8_t *base, size_t reach, size_t from,
                                 size_t to, size_t step, thoroughness t)
{
    const size_t pace = step * t.stride;
    size_t matches = 0, literals = from;
    s->literal_count = 0;
    for (size_t number = (from + pace - 1) / pace * t.stride; number * step + t.agree_bytes <= to;) {
        size_t p = number * step, left = (to - p - t.agree_bytes) / pace + 1, place = number % LINKS;
        size_t room = (LINKS - place + t.stride - 1) / t.stride;
        left = left < room ? left : room;
        unsigned count = left < 64 ? (unsigned)left : 64;
        uint64_t marks = count == 64 ? find_64_candidates(s->last, base, number, step, t, s->links + place)
                                     : find_candidates(s->last, base, number, step, count, t, s->links + place);
        while (marks) {
            unsigned k = (unsigned)__builtin_ctzll(marks);
            size_t at = p + k * pace, most = to - at < TXM_MAX_MATCH ? to - at : TXM_MAX_MATCH;
            size_t limit = at - reach < TXM_MAX_DISTANCE ? at - reach : TXM_MAX_DISTANCE;
            match m = find_match(s, cost, base + at, number + k * t.stride, step, limit, most, t);
            bool allowed = m.distance - 1 < limit;
            size_t next = allowed && !t.everywhere ? at + MIN_MATCH : at + 1;
            if (m.length) {
                size_t early = agree_backwards(base, at, m.distance, literals, reach, TXM_MAX_MATCH - m.length);
                next = at + m.length;
                s->sequences[matches++] = take_match(s, base, literals, at - early, to, m.length + early, m.distance);
                literals = next;
            }
            size_t passed = (next - p + pace - 1) / pace;
            marks = passed < 64 ? marks & ~UINT64_C(0) << passed : 0;
        }
        number += count * t.stride;
        if (number * step < literals) /* inside the last match */
            number = (literals + pace - 1) / pace * t.stride;
    }
    count_literals(s, base + literals, to - literals);
    return matches;
}

static size_t find_block_matches(txm_sparse *s, const block_costs *cost, const uint8_t *base, size_t reach, size_t from,
                                 size_t to, size_t step, txm_search search)
{
    const uint16_t *literals = cost->literals;
    if (search == TXM_SEARCH_MANY)
        return find_matches(s, literals, base, reach, from, to, step, MANY);
    if (cost->key_bits < LONGEST_KEY_BITS && search == TXM_SEARCH_FEWEST)
        return find_matches(s, literals, base, reach, from, to, step, FEWEST);
    if (cost->key_bits < LONGEST_KEY_BITS)
        return find_matches(s, literals, base, reach, from, to, step, FEW_LONGEST);
    if (cost->key_bits < LONGER_KEY_BITS)
        return find_matches(s, literals, base, reach, from, to, step, FEW_LONGER);
    return find_matches(s, literals, base, reach, from, to, step, FEW);
}

/* ---- encoding ---- */

size_t txm_sparse_bound(size_t size_bytes, size_t block_bytes)
{
    /* No literal takes more than TXM_LITLEN_BITS; a flush writes eight bytes, not all of which count. */
    size_t blocks = block_bytes ? size_bytes / block_bytes + 1 : TXM_MAX_PARTS;
    return 2 * size_bytes + blocks * TXM_BLOCK_HEADER_BYTES + sizeof(uint64_t);
}

/* Blocks are of equal size, or as many parts as a reader inflates at once; then matches never reach back across a mark.
 * The costs are from the survey, or from a sample. */
static size_t encode_sparse(txm_sparse *s, const uint8_t *src, size_t size_bytes, size_t block_bytes, size_t step_bytes,
                            txm_search search, uint8_t *dst)
{
    txm_bit_writer w = {0, 0, dst};
    memset(s->last, 0, sizeof s->last);
    for (size_t at = 0, end; at < size_bytes; at = end) {
        size_t ends[TXM_MAX_PARTS], i = 0;
        end = size_bytes - at < block_bytes ? size_bytes : at + block_bytes;
        if (block_bytes == TXM_IN_PARTS) {
            txm_parts_of(size_bytes, ends);
            while (ends[i] <= at)
                i++;
            end = ends[i];
        }
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
        memset(s->litlen, 0, sizeof s->litlen);
        memset(s->distance, 0, sizeof s->distance);
        const block_costs *cost = &s->costs[s->surveyed_block ? at / s->surveyed_block : 0];
        if (!s->surveyed_block)
            set_costs(s, sample(s, src + at, n, STRIPES_APART * STRIPE_BYTES), &s->costs[0]);
        size_t matches = find_block_matches(s, cost, src, reach, at, end, step_bytes, search);
        txm_deflate_block(&w, src + at, n, s->sequences, matches, s->litlen, s->distance, s->literal_writer,
                          end == size_bytes);
    }
    txm_put_bits(&w, 0, (8 - w.count) & 7);
    txm_flush_bits(&w);
    return (size_t)(w.out - dst);
}

size_t txm_sparse_run(txm_sparse *s, const uint8_t *src, size_t size_bytes, size_t block_bytes, size_t step_bytes,
                      txm_search search, uint8_t *dst)
{
    s->surveyed_block = 0;
    return encode_sparse(s, src, size_bytes, block_bytes, step_bytes, search, dst);
}

/* The encoder's blocks may differ from the survey's; the costs are those of the surveyed block in which one begins. */
size_t txm_sparse_run_surveyed(txm_sparse *s, const uint8_t *src, size_t size_bytes, size_t block_bytes,
                               size_t step_bytes, txm_search search, uint8_t *dst)
{
    return encode_sparse(s, src, size_bytes, block_bytes, step_bytes, search, dst);
}
