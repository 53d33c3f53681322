/* SPDX-License-Identifier: Apache-2.0
 *
 * How a deflate block with dynamic codes is written, and the codes computed: one source for the processor
 * (deflate.c) and for devices (src/mill/gpu/pack.h).
 *
 * From counts of symbols and a list of sequences it writes one block with its header. Code lengths come from a Huffman
 * tree of limited depth; ties are broken by symbol, so that the result is the same everywhere. All arrays are in
 * txm_block_scratch, because a device's own memory for a thread is small or slow.
 */
#ifndef TXM_ENCODE_DEFLATE_BODY_H
#define TXM_ENCODE_DEFLATE_BODY_H
#include "mill/encode/deflate_block.h"

enum {
    TXM_END_OF_BLOCK = 256,
    TXM_PRECODE_SYMBOLS = 19,
    TXM_PRECODE_BITS = 7,
    TXM_QUARTERS = 4,
    TXM_LONG_RUN = 16 /* literals from which on vector instructions pay */
};
enum {
    TXM_DEPTHS = 48,
    TXM_MOST_BUCKETS = 256,
    TXM_SMALL_ALPHABET = 32
}; /* a tree over a sum below 2^31 has at most 45 levels (Fibonacci numbers), whatever its limit */
#define TXM_NO_NODE 0xffffffffu

typedef struct txm_block_scratch {
    txm_literal_codes codes;
    uint64_t keys[TXM_HUFFMAN_MAX_SYMBOLS], sorted[TXM_HUFFMAN_MAX_SYMBOLS + 2];
    uint32_t
        weight[TXM_HUFFMAN_MAX_SYMBOLS + 2]; /* of inner nodes; TXM_NO_NODE, larger than any, for those not made yet */
    uint32_t depths[TXM_DEPTHS], counts[TXM_PRECODE_SYMBOLS];
    uint16_t start[TXM_MOST_BUCKETS + 2];
    uint16_t parent[TXM_HUFFMAN_MAX_SYMBOLS + 2]; /* of inner nodes; also set too early, and set again in time */
    uint16_t next[TXM_QUARTERS][TXM_HUFFMAN_MAX_BITS + 1];
    uint16_t items[TXM_LITLEN_SYMBOLS + TXM_DISTANCE_SYMBOLS], pre_codes[TXM_PRECODE_SYMBOLS];
    uint16_t lc[TXM_LITLEN_SYMBOLS], dc[TXM_DISTANCE_SYMBOLS];
    uint8_t ll[TXM_LITLEN_SYMBOLS], dl[TXM_DISTANCE_SYMBOLS];
    uint8_t lengths[TXM_LITLEN_SYMBOLS + TXM_DISTANCE_SYMBOLS], pre_lengths[TXM_PRECODE_SYMBOLS];
} txm_block_scratch;

#define TXM_CODE_ORDER                                                                                                 \
    TXM_CONSTANT uint8_t txm_code_order[TXM_PRECODE_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,                    \
                                                                11, 4,  12, 3, 13, 2, 14, 1, 15};
TXM_TABLES_OUTSIDE(TXM_CODE_ORDER)

/* Deflate writes codes in reverse bit order. */
TXM_ARITH unsigned txm_reversed_16(unsigned v)
{
    v = (v >> 1 & 0x5555u) | (v & 0x5555u) << 1;
    v = (v >> 2 & 0x3333u) | (v & 0x3333u) << 2;
    v = (v >> 4 & 0x0f0fu) | (v & 0x0f0fu) << 4;
    return (v >> 8 & 0xffu) | (v & 0xffu) << 8;
}

/* ---- Huffman codes --------------------------------------------------------------------------------------------- */

/* Orders the used symbols by frequency, rare ones first and equal ones by symbol, using keys that hold both. Returns
 * their number. One pass of a counting sort orders nearly all of a large alphabet: the frequencies below that of the
 * last bucket. The last bucket is sorted by insertion, and so is a whole small alphabet, for which that is faster. */
TXM_ARITH size_t txm_sort_symbols(TXM_GLOBAL txm_block_scratch *x, TXM_GLOBAL const uint32_t *frequencies, size_t count)
{
    TXM_GLOBAL uint64_t *keys = x->keys, *sorted = x->sorted;
    TXM_GLOBAL uint16_t *start = x->start;
    size_t used = 0;
    for (size_t s = 0; s < count; s++) {
        keys[used] = (uint64_t)frequencies[s] << 32 | s;
        used += frequencies[s] != 0;
    }
    const size_t last = used > TXM_SMALL_ALPHABET ? TXM_MOST_BUCKETS : 1;
    for (size_t b = 0; b < last + 2; b++)
        start[b] = 0;
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
TXM_ARITH int txm_count_depths(TXM_GLOBAL txm_block_scratch *x, size_t used)
{
    TXM_GLOBAL uint64_t *sorted = x->sorted;
    TXM_GLOBAL uint32_t *weight = x->weight, *depths = x->depths;
    TXM_GLOBAL uint16_t *parent = x->parent;
    size_t leaf = 0, inner = 0, made = 0;
    sorted[used] = sorted[used + 1] = (uint64_t)TXM_NO_NODE << 32;
    weight[0] = weight[1] = TXM_NO_NODE;
    while (made < used - 1) {
        uint32_t leaf_0 = (uint32_t)(sorted[leaf] >> 32), leaf_1 = (uint32_t)(sorted[leaf + 1] >> 32);
        uint32_t inner_0 = weight[inner], inner_1 = weight[inner + 1];
        bool two_leaves = leaf_1 <= inner_0, two_inner = leaf_0 > inner_1;
        parent[inner] = parent[inner + 1] = (uint16_t)made;
        weight[made++] = (two_inner ? inner_1 : leaf_0) + (two_leaves ? leaf_1 : inner_0);
        weight[made + 1] = TXM_NO_NODE;
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
TXM_ARITH void txm_limit_depths(TXM_GLOBAL uint32_t *depths, int deepest, int max_bits)
{
    uint64_t space = 0;
    for (int d = max_bits + 1; d <= deepest; d++) {
        depths[max_bits] += depths[d];
        depths[d] = 0;
    }
    for (int d = 1; d <= max_bits; d++)
        space += (uint64_t)depths[d] << (max_bits - d);
    for (; space > (uint64_t)1 << max_bits; space--) {
        int d = max_bits - 1;
        while (!depths[d])
            d--;
        depths[d]--;
        depths[d + 1] += 2;
        depths[max_bits]--;
    }
}

/* Computes code lengths for `count` symbols (at most TXM_HUFFMAN_MAX_SYMBOLS) from their frequencies, whose sum is
 * below 2^31. No length exceeds max_bits, and 2^max_bits >= count; lengths beyond it are rare, so that limit costs
 * almost no compression. Unused symbols get 0. The code is always complete: if fewer than two symbols are used, the
 * first unused ones get codes too, since decoders refuse incomplete codes. */
TXM_CODE_PART void txm_make_lengths(TXM_GLOBAL txm_block_scratch *x, TXM_GLOBAL const uint32_t *frequencies,
                                    size_t count, int max_bits, TXM_GLOBAL uint8_t *lengths)
{
    TXM_GLOBAL uint64_t *sorted = x->sorted;
    TXM_GLOBAL uint32_t *depths = x->depths;
    size_t used = txm_sort_symbols(x, frequencies, count);
    for (size_t i = 0; i < count; i++)
        lengths[i] = 0;
    for (int i = 0; i < TXM_DEPTHS; i++)
        depths[i] = 0;
    if (used < 2) {
        size_t only = used ? (size_t)(sorted[0] & 0xffffffff) : 0;
        lengths[only] = 1;
        lengths[only ? 0 : 1] = 1;
        return;
    }
    int deepest = txm_count_depths(x, used);
    if (deepest > max_bits)
        txm_limit_depths(depths, deepest, max_bits);
    size_t i = 0;
    for (int d = max_bits; d > 0; d--) /* rare symbols come first and have the longest codes */
        for (uint32_t k = 0; k < depths[d]; k++)
            lengths[sorted[i++] & 0xffffffff] = (uint8_t)d;
}

/* Canonical codes, with their bits reversed as deflate requires: those of the same length are consecutive, in the order
 * of symbols. Four quarters of the alphabet are numbered at the same time, each from where the one before it ends,
 * since every number waits for the last one of its length. */
TXM_CODE_PART void txm_make_codes(TXM_GLOBAL txm_block_scratch *x, TXM_GLOBAL const uint8_t *lengths, size_t count,
                                  TXM_GLOBAL uint16_t *codes)
{
    TXM_GLOBAL uint16_t(*next)[TXM_HUFFMAN_MAX_BITS + 1] = x->next;
    for (int i = 0; i < TXM_QUARTERS * (TXM_HUFFMAN_MAX_BITS + 1); i++)
        next[i / (TXM_HUFFMAN_MAX_BITS + 1)][i % (TXM_HUFFMAN_MAX_BITS + 1)] = 0;
    const size_t quarter = (count + TXM_QUARTERS - 1) / TXM_QUARTERS;
    for (size_t i = 0; i < quarter; i++)
        for (size_t q = 0; q < TXM_QUARTERS && q * quarter + i < count; q++)
            next[q][lengths[q * quarter + i]]++;
    unsigned code = 0;
    for (int d = 1; d <= TXM_HUFFMAN_MAX_BITS; d++) {
        code <<= 1;
        for (int q = 0; q < TXM_QUARTERS; q++) {
            unsigned depth = next[q][d];
            next[q][d] = (uint16_t)code;
            code += depth;
        }
    }
    for (size_t i = 0; i < quarter; i++)
        for (size_t q = 0; q < TXM_QUARTERS && q * quarter + i < count; q++) {
            size_t s = q * quarter + i;
            unsigned c = next[q][lengths[s]]++;
            codes[s] = (uint16_t)(txm_reversed_16(c) >> (16 - lengths[s]));
        }
}

/* ---- the block ------------------------------------------------------------------------------------------------- */

/* Run-length codes the lengths of both codes, with symbols 16 to 18. `items`: symbol | extra << 8. */
TXM_ARITH size_t txm_pack_lengths(TXM_GLOBAL const uint8_t *lengths, size_t count, TXM_GLOBAL uint16_t *items)
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
TXM_ARITH void txm_write_code_lengths(TXM_GLOBAL txm_block_scratch *x, txm_bit_writer *w, bool last)
{
    TXM_TABLES_INSIDE(TXM_CODE_ORDER)
    TXM_GLOBAL const uint8_t *litlen = x->ll, *distance = x->dl;
    TXM_GLOBAL uint8_t *lengths = x->lengths, *pre_lengths = x->pre_lengths;
    TXM_GLOBAL uint16_t *items = x->items, *pre_codes = x->pre_codes;
    TXM_GLOBAL uint32_t *counts = x->counts;
    size_t nl = TXM_LITLEN_SYMBOLS, nd = TXM_DISTANCE_SYMBOLS, np = TXM_PRECODE_SYMBOLS;
    for (int i = 0; i < TXM_PRECODE_SYMBOLS; i++)
        counts[i] = 0;
    while (nl > 257 && !litlen[nl - 1])
        nl--;
    while (nd > 1 && !distance[nd - 1])
        nd--;
    for (size_t i = 0; i < nl + nd; i++)
        lengths[i] = i < nl ? litlen[i] : distance[i - nl];
    size_t n = txm_pack_lengths(lengths, nl + nd, items);
    for (size_t i = 0; i < n; i++)
        counts[items[i] & 255]++;
    txm_make_lengths(x, counts, TXM_PRECODE_SYMBOLS, TXM_PRECODE_BITS, pre_lengths);
    txm_make_codes(x, pre_lengths, TXM_PRECODE_SYMBOLS, pre_codes);
    while (np > 4 && !pre_lengths[txm_code_order[np - 1]])
        np--;
    txm_put_bits(w, last | 2 << 1, 3);
    txm_put_bits(w, nl - 257, 5);
    txm_put_bits(w, nd - 1, 5);
    txm_put_bits(w, np - 4, 4);
    for (size_t i = 0; i < np; i++) {
        txm_put_bits(w, pre_lengths[txm_code_order[i]], 3);
        txm_flush_bits(w);
    }
    for (size_t i = 0; i < n; i++) {
        unsigned symbol = items[i] & 255;
        txm_put_bits(w, pre_codes[symbol], pre_lengths[symbol]);
        if (symbol >= 16)
            txm_put_bits(w, items[i] >> 8, (symbol == 16 ? 2u : symbol == 17 ? 3u : 7u));
        txm_flush_bits(w);
    }
}

/* Writes four codes. They are joined in pairs, so that only one addition and one shift depend on the previous
 * output. */
TXM_ARITH void txm_put_literals(txm_bit_writer *w, TXM_GLOBAL const uint32_t *entries, TXM_GLOBAL const uint8_t *p)
{
    uint32_t a = entries[p[0]], b = entries[p[1]], c = entries[p[2]], d = entries[p[3]];
    uint64_t ab = a >> 8 | (uint64_t)(b >> 8) << (a & 255), cd = c >> 8 | (uint64_t)(d >> 8) << (c & 255);
    unsigned two = (a & 255) + (b & 255);
    txm_put_bits(w, ab | cd << two, two + (c & 255) + (d & 255));
}

/* The code and length of a symbol share one word, so a literal needs one load. Four literals fit in the bit buffer
 * between two flushes. */
TXM_ARITH void txm_write_literals(txm_bit_writer *w, TXM_GLOBAL const txm_literal_codes *codes,
                                  TXM_GLOBAL const uint8_t *p, size_t n)
{
    TXM_GLOBAL const uint32_t *entries = codes->entries;
    txm_bit_writer own =
        *w; /* the output may alias the writer, which would then be stored and loaded again each time */
    for (; n >= 4; n -= 4, p += 4) {
        txm_put_literals(&own, entries, p);
        txm_flush_bits(&own);
    }
    for (; n; n--, p++)
        txm_put_bits(&own, entries[*p] >> 8, entries[*p] & 255);
    txm_flush_bits(&own);
    *w = own;
}

/* The same if four more bytes follow: the last literals, fewer than four, are written without a branch on their
 * number. */
TXM_ARITH void txm_write_before_match(txm_bit_writer *w, TXM_GLOBAL const uint32_t *entries,
                                      TXM_GLOBAL const uint8_t *p, size_t n)
{
    for (; n >= 4; n -= 4, p += 4) {
        txm_put_literals(w, entries, p);
        txm_flush_bits(w);
    }
    uint32_t a = n > 0 ? entries[p[0]] : 0, b = n > 1 ? entries[p[1]] : 0, c = n > 2 ? entries[p[2]] : 0;
    unsigned two = (a & 255) + (b & 255);
    txm_put_bits(w, a >> 8 | (uint64_t)(b >> 8) << (a & 255) | (uint64_t)(c >> 8) << two, two + (c & 255));
    txm_flush_bits(w);
}

/* Writes a block of n bytes. `litlen` and `distance` are the counts of the symbols in the `matches` sequences and in
 * the literals between and after them; the end of the block is counted here. A literal takes at most TXM_LITLEN_BITS;
 * flushes write eight bytes, not all of which count. Long runs of literals are passed to `vector` unless it is NULL;
 * the bits are the same. */
TXM_CODE_STEP void txm_write_block(TXM_GLOBAL txm_block_scratch *x, txm_bit_writer *w, TXM_GLOBAL const uint8_t *src,
                                   size_t n, TXM_GLOBAL const txm_sequence *sequences, size_t matches,
                                   TXM_GLOBAL uint32_t *litlen, TXM_GLOBAL const uint32_t *distance_counts,
                                   txm_literal_writer vector, bool last)
{
    TXM_GLOBAL uint8_t *ll = x->ll, *dl = x->dl;
    TXM_GLOBAL uint16_t *lc = x->lc, *dc = x->dc;
    TXM_GLOBAL txm_literal_codes *codes = &x->codes;
    TXM_GLOBAL const uint32_t *entries = codes->entries;
    TXM_GLOBAL const uint8_t *p = src;
    txm_bit_writer own;
    litlen[TXM_END_OF_BLOCK] = 1;
    txm_make_lengths(x, litlen, TXM_LITLEN_SYMBOLS, TXM_LITLEN_BITS, ll);
    txm_make_lengths(x, distance_counts, TXM_DISTANCE_SYMBOLS, TXM_HUFFMAN_MAX_BITS, dl);
    txm_make_codes(x, ll, TXM_LITLEN_SYMBOLS, lc);
    txm_make_codes(x, dl, TXM_DISTANCE_SYMBOLS, dc);
    for (int i = 0; i < TXM_LITERALS; i++)
        codes->entries[i] = (uint32_t)lc[i] << 8 | ll[i];
    for (int i = 0; vector && i < TXM_LITERALS; i++) {
        codes->low[i] = (uint8_t)lc[i];
        codes->rest[i] = (uint8_t)(lc[i] >> 8 << 4 | ll[i]);
    }
    txm_write_code_lengths(x, w, last);
    own = *w; /* the output may alias the writer, which would then be stored and loaded again each time */
    for (size_t i = 0; i < matches; i++) {
        TXM_GLOBAL const txm_sequence *q = &sequences[i];
#ifdef TXM_PLAIN_C
        if (vector && q->literals >= TXM_LONG_RUN) {
            txm_bit_writer passed = own; /* a writer whose address is known would stay in memory */
            vector(&passed, codes, p, q->literals);
            own = passed;
        } else
#endif
            txm_write_before_match(&own, entries, p, q->literals);
        p += q->literals + q->length;
        txm_coded length = txm_code_length(q->length), distance = txm_code_distance(q->distance);
        txm_put_bits(&own, lc[length.symbol], ll[length.symbol]);
        txm_put_bits(&own, length.extra, length.extra_bits);
        txm_put_bits(&own, dc[distance.symbol], dl[distance.symbol]);
        txm_put_bits(&own, distance.extra, distance.extra_bits);
        txm_flush_bits(&own);
    }
    *w = own;
#ifdef TXM_PLAIN_C
    if (vector)
        vector(w, codes, p, n - (size_t)(p - src));
    else
#endif
        txm_write_literals(w, codes, p, n - (size_t)(p - src));
    txm_put_bits(w, lc[TXM_END_OF_BLOCK], ll[TXM_END_OF_BLOCK]);
    txm_flush_bits(w);
}
#endif
