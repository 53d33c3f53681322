/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a deflate block with dynamic codes, and computes the codes.
 *
 * From counts of symbols and a list of sequences it writes one block with its header. Code lengths come from a Huffman
 * tree of limited depth; ties are broken by symbol, so that the result is the same everywhere.
 */
#include "mill/encode/deflate_block.h"

/* ---- Huffman codes --------------------------------------------------------------------------------------------- */

enum { DEPTHS = 48 }; /* a tree over a sum below 2^31 has at most 45 levels (Fibonacci numbers), whatever its limit */
static const uint32_t NONE = UINT32_MAX;

/* Orders the used symbols by frequency, rare ones first and equal ones by symbol, using keys that hold both. Returns
 * their number. One pass of a counting sort orders nearly all of a large alphabet: the frequencies below that of the
 * last bucket. The last bucket is sorted by insertion, and so is a whole small alphabet, for which that is faster. */
static size_t sort_symbols(const uint32_t *frequencies, size_t count, uint64_t *sorted)
{
    enum { MOST_BUCKETS = 256, SMALL = 32 };
    uint64_t keys[TXM_HUFFMAN_MAX_SYMBOLS];
    uint16_t start[MOST_BUCKETS + 2];
    size_t used = 0;
    for (size_t s = 0; s < count; s++) {
        keys[used] = (uint64_t)frequencies[s] << 32 | s;
        used += frequencies[s] != 0;
    }
    const size_t last = used > SMALL ? MOST_BUCKETS : 1;
    memset(start, 0, (last + 2) * sizeof *start);
    for (size_t i = 0; i < used; i++)
        start[(keys[i] >> 32 < last ? keys[i] >> 32 : last) + 1]++;
    unsigned before = 0; /* in a register, since a sum in memory would be waited for at every step */
    for (size_t b = 1; b <= last + 1; b++)
        start[b] = (uint16_t)(before += start[b]);
    size_t first_large = start[last];
    for (size_t i = 0; i < used; i++)
        sorted[start[keys[i] >> 32 < last ? keys[i] >> 32 : last]++] = keys[i];
    for (size_t i = first_large + 1; i < used; i++) {
        uint64_t key = sorted[i];
        size_t k = i;
        for (; k > first_large && sorted[k - 1] > key; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = key;
    }
    return used;
}

/* Counts the leaves at each depth of the Huffman tree over at least two ascending weights; two more words after them
 * must be writable. Returns the greatest depth. Leaves and inner nodes are both produced in ascending order, so the two
 * smallest nodes are at the heads of two queues. Which queue is next is nearly random, so it is computed without a
 * branch. */
static int count_depths(uint64_t *sorted, size_t used, uint32_t *depths)
{
    uint32_t weight[TXM_HUFFMAN_MAX_SYMBOLS +
                    2]; /* weights of inner nodes; NONE, larger than any weight, for nodes that are not made yet */
    uint16_t
        parent[TXM_HUFFMAN_MAX_SYMBOLS + 2]; /* parents of inner nodes; also set too early, and set again in time */
    size_t leaf = 0, inner = 0, made = 0;
    sorted[used] = sorted[used + 1] = (uint64_t)NONE << 32;
    weight[0] = weight[1] = NONE;
    while (made < used - 1) {
        uint32_t leaf_0 = (uint32_t)(sorted[leaf] >> 32), leaf_1 = (uint32_t)(sorted[leaf + 1] >> 32);
        uint32_t inner_0 = weight[inner], inner_1 = weight[inner + 1];
        bool two_leaves = leaf_1 <= inner_0, two_inner = leaf_0 > inner_1;
        parent[inner] = parent[inner + 1] = (uint16_t)made;
        weight[made++] = (two_inner ? inner_1 : leaf_0) + (two_leaves ? leaf_1 : inner_0);
        weight[made + 1] = NONE;
        leaf += 1u + two_leaves - two_inner;
        inner += 1u - two_leaves + two_inner;
    }
    /* Parents are in the order of their children, so the nodes of a depth follow each other, the root last of all. */
    int depth = 1;
    for (size_t level = made - 1, nodes = 1; nodes; depth++) {
        size_t first = level;
        while (first > 0 && parent[first - 1] >= level)
            first--;
        depths[depth] = (uint32_t)(2 * nodes - (level - first));
        nodes = level - first;
        level = first;
    }
    return depth - 1;
}

/* Limits the depths of a code to max_bits. Deeper leaves move up to max_bits, which overfills the code space; each step
 * then frees one unit by moving a shallower leaf one level down and placing a leaf of max_bits beside it. */
static void limit_depths(uint32_t *depths, int deepest, int max_bits)
{
    uint64_t space = 0;
    for (int d = max_bits + 1; d <= deepest; d++) {
        depths[max_bits] += depths[d];
        depths[d] = 0;
    }
    for (int d = 1; d <= max_bits; d++)
        space += (uint64_t)depths[d] << (max_bits - d);
    for (; space > 1ull << max_bits; space--) {
        int d = max_bits - 1;
        while (!depths[d])
            d--;
        depths[d]--;
        depths[d + 1] += 2;
        depths[max_bits]--;
    }
}

/* Lengths beyond the limit are rare, so limit_depths costs almost no compression. */
void txm_huffman_lengths(const uint32_t *frequencies, size_t count, int max_bits, uint8_t *lengths)
{
    uint64_t sorted[TXM_HUFFMAN_MAX_SYMBOLS + 2];
    uint32_t depths[DEPTHS] = {0};
    size_t used = sort_symbols(frequencies, count, sorted);
    memset(lengths, 0, count);
    if (used < 2) {
        size_t only = used ? (size_t)(sorted[0] & 0xffffffff) : 0;
        lengths[only] = 1;
        lengths[only ? 0 : 1] = 1;
        return;
    }
    int deepest = count_depths(sorted, used, depths);
    if (deepest > max_bits)
        limit_depths(depths, deepest, max_bits);
    size_t i = 0;
    for (int d = max_bits; d > 0; d--) /* rare symbols come first and have the longest codes */
        for (uint32_t k = 0; k < depths[d]; k++)
            lengths[sorted[i++] & 0xffffffff] = (uint8_t)d;
}

/* Deflate writes codes in reverse bit order; this table reverses the bits of a byte. */
#define TXM_REVERSED_2(n) n, n + 2 * 64, n + 1 * 64, n + 3 * 64
#define TXM_REVERSED_4(n)                                                                                              \
    TXM_REVERSED_2(n), TXM_REVERSED_2(n + 2 * 16), TXM_REVERSED_2(n + 1 * 16), TXM_REVERSED_2(n + 3 * 16)
#define TXM_REVERSED_6(n)                                                                                              \
    TXM_REVERSED_4(n), TXM_REVERSED_4(n + 2 * 4), TXM_REVERSED_4(n + 1 * 4), TXM_REVERSED_4(n + 3 * 4)
static const uint8_t REVERSED[256] = {TXM_REVERSED_6(0), TXM_REVERSED_6(2), TXM_REVERSED_6(1), TXM_REVERSED_6(3)};

/* Codes of the same length are consecutive, in the order of symbols. Four quarters of the alphabet are numbered at the
 * same time, each from where the one before it ends, since every number waits for the last one of its length. */
void txm_huffman_codes(const uint8_t *lengths, size_t count, uint16_t *codes)
{
    enum { QUARTERS = 4 };
    uint16_t next[QUARTERS][TXM_HUFFMAN_MAX_BITS + 1] = {{0}};
    const size_t quarter = (count + QUARTERS - 1) / QUARTERS;
    for (size_t i = 0; i < quarter; i++)
        for (size_t q = 0; q < QUARTERS && q * quarter + i < count; q++)
            next[q][lengths[q * quarter + i]]++;
    unsigned code = 0;
    for (int d = 1; d <= TXM_HUFFMAN_MAX_BITS; d++) {
        code <<= 1;
        for (int q = 0; q < QUARTERS; q++) {
            unsigned depth = next[q][d];
            next[q][d] = (uint16_t)code;
            code += depth;
        }
    }
    for (size_t i = 0; i < quarter; i++)
        for (size_t q = 0; q < QUARTERS && q * quarter + i < count; q++) {
            size_t s = q * quarter + i;
            unsigned c = next[q][lengths[s]]++;
            codes[s] = (uint16_t)((unsigned)(REVERSED[c & 255] << 8 | REVERSED[c >> 8 & 255]) >> (16 - lengths[s]));
        }
}

/* ---- the block ------------------------------------------------------------------------------------------------- */

enum { END_OF_BLOCK = 256, PRECODE_SYMBOLS = 19, PRECODE_BITS = 7 };

/* Run-length codes the lengths of both codes, with symbols 16 to 18. `items`: symbol | extra << 8. */
static size_t pack_lengths(const uint8_t *lengths, size_t count, uint16_t *items)
{
    size_t n = 0;
    for (size_t i = 0; i < count;) {
        size_t run = 1;
        while (i + run < count && lengths[i + run] == lengths[i])
            run++;
        i += run;
        uint8_t v = lengths[i - 1];
        if (v) {
            items[n++] = v;
            run--;
        }
        while (run >= 3) {
            size_t most = v ? 6 : 138, k = run < most ? run : most;
            items[n++] = (uint16_t)(v ? 16 | (k - 3) << 8 : k <= 10 ? 17 | (k - 3) << 8 : 18 | (k - 11) << 8);
            run -= k;
        }
        while (run--)
            items[n++] = v;
    }
    return n;
}

/* The lengths are run-length coded, and then coded with their own code. */
static void write_code_lengths(txm_bit_writer *w, const uint8_t *litlen, const uint8_t *distance, bool last)
{
    static const uint8_t order[PRECODE_SYMBOLS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    static const uint8_t extra_bits[3] = {2, 3, 7};
    uint8_t lengths[TXM_LITLEN_SYMBOLS + TXM_DISTANCE_SYMBOLS], pre_lengths[PRECODE_SYMBOLS];
    uint16_t items[TXM_LITLEN_SYMBOLS + TXM_DISTANCE_SYMBOLS], pre_codes[PRECODE_SYMBOLS];
    uint32_t counts[PRECODE_SYMBOLS] = {0};
    size_t nl = TXM_LITLEN_SYMBOLS, nd = TXM_DISTANCE_SYMBOLS, np = PRECODE_SYMBOLS;
    while (nl > 257 && !litlen[nl - 1])
        nl--;
    while (nd > 1 && !distance[nd - 1])
        nd--;
    memcpy(lengths, litlen, nl);
    memcpy(lengths + nl, distance, nd);
    size_t n = pack_lengths(lengths, nl + nd, items);
    for (size_t i = 0; i < n; i++)
        counts[items[i] & 255]++;
    txm_huffman_lengths(counts, PRECODE_SYMBOLS, PRECODE_BITS, pre_lengths);
    txm_huffman_codes(pre_lengths, PRECODE_SYMBOLS, pre_codes);
    while (np > 4 && !pre_lengths[order[np - 1]])
        np--;
    txm_put_bits(w, last | 2 << 1, 3);
    txm_put_bits(w, nl - 257, 5);
    txm_put_bits(w, nd - 1, 5);
    txm_put_bits(w, np - 4, 4);
    for (size_t i = 0; i < np; i++) {
        txm_put_bits(w, pre_lengths[order[i]], 3);
        txm_flush_bits(w);
    }
    for (size_t i = 0; i < n; i++) {
        unsigned symbol = items[i] & 255;
        txm_put_bits(w, pre_codes[symbol], pre_lengths[symbol]);
        if (symbol >= 16)
            txm_put_bits(w, items[i] >> 8, extra_bits[symbol - 16]);
        txm_flush_bits(w);
    }
}

/* Writes four codes. They are joined in pairs, so that only one addition and one shift depend on the previous
 * output. */
static inline void put_literals(txm_bit_writer *w, const uint32_t *entries, const uint8_t *p)
{
    uint32_t a = entries[p[0]], b = entries[p[1]], c = entries[p[2]], d = entries[p[3]];
    uint64_t ab = a >> 8 | (uint64_t)(b >> 8) << (a & 255), cd = c >> 8 | (uint64_t)(d >> 8) << (c & 255);
    unsigned two = (a & 255) + (b & 255);
    txm_put_bits(w, ab | cd << two, two + (c & 255) + (d & 255));
}

/* The code and length of a symbol share one word, so a literal needs one load. Four literals fit in the bit buffer
 * between two flushes. */
static void write_literals(txm_bit_writer *w, const txm_literal_codes *codes, const uint8_t *p, size_t n)
{
    const uint32_t *entries = codes->entries;
    txm_bit_writer local =
        *w; /* the output may alias the writer, which would then be stored and loaded again each time */
    for (; n >= 4; n -= 4, p += 4) {
        put_literals(&local, entries, p);
        txm_flush_bits(&local);
    }
    for (; n; n--, p++)
        txm_put_bits(&local, entries[*p] >> 8, entries[*p] & 255);
    txm_flush_bits(&local);
    *w = local;
}

/* The same if four more bytes follow: the last literals, fewer than four, are written without a branch on their
 * number. */
static inline void write_before_match(txm_bit_writer *w, const uint32_t *entries, const uint8_t *p, size_t n)
{
    for (; n >= 4; n -= 4, p += 4) {
        put_literals(w, entries, p);
        txm_flush_bits(w);
    }
    uint32_t a = n > 0 ? entries[p[0]] : 0, b = n > 1 ? entries[p[1]] : 0, c = n > 2 ? entries[p[2]] : 0;
    unsigned two = (a & 255) + (b & 255);
    txm_put_bits(w, a >> 8 | (uint64_t)(b >> 8) << (a & 255) | (uint64_t)(c >> 8) << two, two + (c & 255));
    txm_flush_bits(w);
}

enum { LONG_RUN = 16 }; /* literals from which on vector instructions pay */

void txm_deflate_block(txm_bit_writer *w, const uint8_t *src, size_t n, const txm_sequence *sequences, size_t matches,
                       uint32_t *litlen, const uint32_t *distance_counts, txm_literal_writer vector, bool last)
{
    uint8_t ll[TXM_LITLEN_SYMBOLS], dl[TXM_DISTANCE_SYMBOLS];
    uint16_t lc[TXM_LITLEN_SYMBOLS], dc[TXM_DISTANCE_SYMBOLS];
    txm_literal_codes codes;
    const uint32_t *entries = codes.entries;
    const uint8_t *p = src;
    txm_bit_writer local;
    litlen[END_OF_BLOCK] = 1;
    txm_huffman_lengths(litlen, TXM_LITLEN_SYMBOLS, TXM_LITLEN_BITS, ll);
    txm_huffman_lengths(distance_counts, TXM_DISTANCE_SYMBOLS, TXM_HUFFMAN_MAX_BITS, dl);
    txm_huffman_codes(ll, TXM_LITLEN_SYMBOLS, lc);
    txm_huffman_codes(dl, TXM_DISTANCE_SYMBOLS, dc);
    for (int i = 0; i < TXM_LITERALS; i++)
        codes.entries[i] = (uint32_t)lc[i] << 8 | ll[i];
    for (int i = 0; vector && i < TXM_LITERALS; i++) {
        codes.low[i] = (uint8_t)lc[i];
        codes.rest[i] = (uint8_t)(lc[i] >> 8 << 4 | ll[i]);
    }
    write_code_lengths(w, ll, dl, last);
    local = *w; /* the output may alias the writer, which would then be stored and loaded again each time */
    for (size_t i = 0; i < matches; i++) {
        const txm_sequence *q = &sequences[i];
        if (vector && q->literals >= LONG_RUN) {
            txm_bit_writer passed = local; /* a writer whose address is known would stay in memory */
            vector(&passed, &codes, p, q->literals);
            local = passed;
        } else
            write_before_match(&local, entries, p, q->literals);
        p += q->literals + q->length;
        txm_coded length = txm_code_length(q->length), distance = txm_code_distance(q->distance);
        txm_put_bits(&local, lc[length.symbol], ll[length.symbol]);
        txm_put_bits(&local, length.extra, length.extra_bits);
        txm_put_bits(&local, dc[distance.symbol], dl[distance.symbol]);
        txm_put_bits(&local, distance.extra, distance.extra_bits);
        txm_flush_bits(&local);
    }
    *w = local;
    (vector ? vector : write_literals)(w, &codes, p, n - (size_t)(p - src));
    txm_put_bits(w, lc[END_OF_BLOCK], ll[END_OF_BLOCK]);
    txm_flush_bits(w);
}
