/* SPDX-License-Identifier: Apache-2.0
 *
 * Deflate with few matches.
 *
 * Most tiles of a photograph hold few matches, and looking for them costs more than they save. A survey estimates at a
 * few places what matches would save; matches are then taken only where they pay on the estimated cost of their
 * literals.
 */
#include "mill/encode/sparse.h"

#include <stdbool.h>
#include <string.h>

#include "mill/encode/deflate_block.h"
#include "tile/decode/inflate_parts.h"
#include "tile/base/endian.h"
#include "tile/base/mem.h"

enum {
    MIN_MATCH = 8, /* one load */
    HASH_BITS = 12,
    COUNTERS = 4,
    COST_ONE = 16,   /* units of a bit in estimated costs */
    PRICE_BITS = 11, /* of a match without its extra bits: about seven for the length, four for the distance */
    STRIPE_BYTES = 512,
    STRIPES_APART = 4 /* a survey looks at one stripe of four */
};

struct txm_sparse {
    txm_sequence *sequences;
    uint16_t last[1 << HASH_BITS];      /* low half of the last position with this hash */
    uint16_t last_long[1 << HASH_BITS]; /* the same for the survey's longer key */
    /* Counts of bytes, spread over four tables by position: equal neighbours would wait for each other's increment. */
    uint32_t bytes[COUNTERS][TXM_LITERALS];
    uint32_t litlen[TXM_LITLEN_SYMBOLS], distance[TXM_DISTANCE_SYMBOLS];
    uint16_t cost[TXM_LITERALS]; /* estimated cost of a literal, in COST_ONE-ths of a bit */
};

/* Room for as many matches as the input could hold. */
txm_sparse *txm_sparse_new(size_t max_bytes)
{
    txm_sparse *s = txm_calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->sequences = txm_alloc_pixels(max_bytes / MIN_MATCH + 1, sizeof *s->sequences);
    if (!s->sequences)
        txm_sparse_free(&s);
    return s;
}

void txm_sparse_free(txm_sparse **sparse)
{
    if (sparse && *sparse) {
        free((*sparse)->sequences);
        free(*sparse);
        *sparse = NULL;
    }
}

/* ---- costs ---- */

/* log2 in COST_ONE-ths, from a table of the mantissa: integers, so that every machine decides alike. */
static unsigned log2_scaled(uint32_t v)
{
    static const uint8_t mantissa[32] = {0, 1,  1,  2,  3,  3,  4,  5,  5,  6,  6,  7,  7,  8,  8,  9,
                                         9, 10, 10, 11, 11, 12, 12, 12, 13, 13, 14, 14, 15, 15, 15, 16};
    unsigned e = txm_log2_floor(v);
    unsigned m = (e >= 5 ? v >> (e - 5) : v << (5 - e)) & 31;
    return e * COST_ONE + mantissa[m];
}

/* In several counters: the same byte again and again would wait for itself. */
static void count_bytes(txm_sparse *s, const uint8_t *src, size_t n)
{
    size_t i = 0;
    for (; i + COUNTERS <= n; i += COUNTERS)
        for (size_t k = 0; k < COUNTERS; k++)
            s->bytes[k][src[i + k]]++;
    for (; i < n; i++)
        s->bytes[i % COUNTERS][src[i]]++;
}

static void add_counters(txm_sparse *s)
{
    for (int b = 0; b < TXM_LITERALS; b++)
        s->litlen[b] = s->bytes[0][b] + s->bytes[1][b] + s->bytes[2][b] + s->bytes[3][b];
}

/* Costs of literals from the counts of n bytes; returns what all of them cost together. */
static uint64_t set_costs(txm_sparse *s, size_t n)
{
    uint64_t sum = 0;
    unsigned all = log2_scaled((uint32_t)n);
    add_counters(s);
    for (int b = 0; b < TXM_LITERALS; b++) {
        uint32_t v = s->litlen[b];
        s->cost[b] = (uint16_t)(v ? all - log2_scaled(v) + 1 : 0);
        sum += (uint64_t)v * s->cost[b];
    }
    return sum;
}

/* By the estimated code of the block. */
static unsigned literals_cost(const txm_sparse *s, const uint8_t *p, size_t n)
{
    unsigned sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += s->cost[p[i]];
    return sum;
}

/* ---- the survey ---- */

/* Matches of one key size on their way through a stripe. */
typedef struct match_survey {
    uint16_t *last;    /* by hash, as txm_sparse.last */
    unsigned distance; /* of the match that the previous position belongs to; 0: none */
    uint64_t saved;
} match_survey;

/* Looks at one position. `literals`: cost of the key's bytes; `more`: of those that a match which goes on adds, a match
 * being paid for once. */
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

/* Matches of four and of eight bytes are looked for at the same time. */
static void survey_stripe(const txm_sparse *s, const uint8_t *base, size_t from, size_t to, size_t step,
                          match_survey *by_4, match_survey *by_8)
{
    by_4->distance = by_8->distance = 0;
    for (size_t p = from; p + MIN_MATCH <= to; p += step) {
        uint64_t key = txm_load_le64(base + p);
        uint16_t *last_4 = &by_4->last[(uint32_t)key * 0x9E3779B1u >> (32 - HASH_BITS)];
        uint16_t *last_8 = &by_8->last[key * 0x9E3779B97F4A7C15u >> (64 - HASH_BITS)];
        unsigned distance_4 = (uint16_t)(p - *last_4), distance_8 = (uint16_t)(p - *last_8);
        *last_4 = *last_8 = (uint16_t)p;
        bool equal_4 = distance_4 && txm_load_le32(base + p - distance_4) == (uint32_t)key;
        bool equal_8 = distance_8 && txm_load_le64(base + p - distance_8) == key;
        if (!equal_4) { /* nor, mostly, the other: noise */
            by_4->distance = by_8->distance = 0;
            continue;
        }
        unsigned literals = literals_cost(s, base + p, 4);
        survey_position(by_4, distance_4, equal_4, literals, literals);
        survey_position(by_8, distance_8, equal_8, literals + literals_cost(s, base + p + 4, 4), literals);
    }
}

/* Looks at stripes only, which are enough to decide. */
txm_survey txm_sparse_survey(txm_sparse *s, const uint8_t *src, size_t size_bytes, size_t block_bytes,
                             size_t step_bytes, uint64_t few_bits)
{
    const size_t period = STRIPES_APART * STRIPE_BYTES;
    match_survey by_4 = {.last = s->last}, by_8 = {.last = s->last_long};
    txm_survey sum = {0};
    for (size_t at = 0; at < size_bytes; at += block_bytes) {
        size_t end = size_bytes - at < block_bytes ? size_bytes : at + block_bytes, seen = 0;
        memset(s->bytes, 0, sizeof s->bytes);
        for (size_t i = at; i < end; i += period) {
            size_t n = end - i < STRIPE_BYTES ? end - i : STRIPE_BYTES;
            count_bytes(s, src + i, n);
            seen += n;
        }
        sum.literal_bits += set_costs(s, seen) * (end - at) / seen / COST_ONE;
        if (size_bytes <= block_bytes && sum.literal_bits < few_bits)
            return sum;
        if (at == 0) {
            memset(s->last, 0, sizeof s->last);
            memset(s->last_long, 0, sizeof s->last_long);
        }
        by_4.saved = by_8.saved = 0;
        for (size_t i = at; i < end; i += period)
            survey_stripe(s, src, i, end - i < STRIPE_BYTES ? end : i + STRIPE_BYTES, step_bytes, &by_4, &by_8);
        sum.saved_by_4 += by_4.saved * (end - at) / seen / COST_ONE;
        sum.saved_by_8 += by_8.saved * (end - at) / seen / COST_ONE;
    }
    return sum;
}

/* ---- matches ---- */

/* Number of equal bytes at a and b, at most `limit`. */
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

/* Whether a match is cheaper than its bytes as literals. Two minimal matches' length always is, near enough. */
static inline bool pays(const txm_sparse *s, const uint8_t *p, size_t length, size_t distance)
{
    unsigned price = COST_ONE * (PRICE_BITS + txm_code_distance((unsigned)distance).extra_bits);
    return length >= 2 * MIN_MATCH || literals_cost(s, p, MIN_MATCH) > price;
}

/* Finds the matches of the block from .. to, greedily, in what lies from `reach` on; returns their number. The
 * counts become those of the symbols that are left to send. Every position below 2^16 is its own low half and above it
 * the distance is below the position: what an empty slot (0) says is a position as good as any, and whether bytes agree
 * is looked at in any case. */
static size_t find_matches(txm_sparse *s, const uint8_t *base, size_t reach, size_t from, size_t to, size_t step)
{
    size_t found = 0, literals = from, p = from;
    while (p + MIN_MATCH <= to) {
        uint64_t key = txm_load_le64(base + p);
        uint16_t *last = &s->last[key * 0x9E3779B97F4A7C15u >> (64 - HASH_BITS)];
        size_t distance = (uint16_t)(p - *last);
        *last = (uint16_t)p;
        if (txm_load_le64(base + p - distance) != key || distance - 1 >= TXM_MAX_DISTANCE || distance > p - reach) {
            p += step;
            continue;
        }
        size_t most = to - p < TXM_MAX_MATCH ? to - p : TXM_MAX_MATCH;
        size_t length = MIN_MATCH + agree(base + p + MIN_MATCH, base + p + MIN_MATCH - distance, most - MIN_MATCH);
        if (!pays(s, base + p, length, distance)) {
            p += step;
            continue;
        }
        s->sequences[found++] = (txm_sequence){(uint32_t)(p - literals), (uint16_t)length, (uint16_t)distance};
        s->litlen[txm_code_length((unsigned)length).symbol]++;
        s->distance[txm_code_distance((unsigned)distance).symbol]++;
        for (size_t i = p - from; i < p - from + length; i++)
            s->bytes[i % COUNTERS][base[from + i]]--;
        literals = p + length;
        p = from + (literals - from + step - 1) / step * step;
    }
    return found;
}

/* ---- encoding ---- */

/* An empty stored block, by which a reader finds a part before it has read those in front (inflate_parts.h). */
static void put_mark(txm_bit_writer *w)
{
    txm_put_bits(w, 0, 3);
    txm_put_bits(w, 0, (8 - w->count) & 7);
    txm_flush_bits(w);
    txm_put_bits(w, 0xffff0000u, 32);
    txm_flush_bits(w);
}

/* Blocks of equal size, or as many parts as a reader inflates at once. */
static size_t block_end(size_t size_bytes, size_t block_bytes, size_t at)
{
    size_t ends[TXM_MAX_PARTS], i = 0;
    if (block_bytes)
        return size_bytes - at < block_bytes ? size_bytes : at + block_bytes;
    txm_parts_of(size_bytes, ends);
    while (ends[i] <= at)
        i++;
    return ends[i];
}

/* Also where every literal takes the longest code. */
size_t txm_sparse_bound(size_t size_bytes, size_t block_bytes)
{
    /* No literal takes more than TXM_LITLEN_BITS; a flush writes eight bytes, of which some do not count. */
    size_t blocks = block_bytes ? size_bytes / block_bytes + 1 : TXM_MAX_PARTS;
    return 2 * size_bytes + blocks * TXM_BLOCK_HEADER_BYTES + sizeof(uint64_t);
}

/* In parts, matches never reach back over a mark. */
size_t txm_sparse_run(txm_sparse *s, const uint8_t *src, size_t size_bytes, size_t block_bytes, size_t step_bytes,
                      uint8_t *dst)
{
    txm_bit_writer w = {0, 0, dst};
    memset(s->last, 0, sizeof s->last);
    for (size_t at = 0, end; at < size_bytes; at = end) {
        end = block_end(size_bytes, block_bytes, at);
        size_t n = end - at, reach = block_bytes == TXM_IN_PARTS ? at : 0;
        if (at && block_bytes == TXM_IN_PARTS)
            put_mark(&w);
        memset(s->bytes, 0, sizeof s->bytes);
        memset(s->litlen, 0, sizeof s->litlen);
        memset(s->distance, 0, sizeof s->distance);
        count_bytes(s, src + at, n);
        set_costs(s, n);
        size_t matches = find_matches(s, src, reach, at, end, step_bytes);
        add_counters(s);
        txm_deflate_block(&w, src + at, n, s->sequences, matches, s->litlen, s->distance, end == size_bytes);
    }
    txm_put_bits(&w, 0, (8 - w.count) & 7);
    txm_flush_bits(&w);
    return (size_t)(w.out - dst);
}
