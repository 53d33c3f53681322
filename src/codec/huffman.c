/* SPDX-License-Identifier: Apache-2.0
 * Length-limited Huffman codes. */
#include "codec/huffman.h"

#include <string.h>

enum { DEPTHS = 48 }; /* a tree over a sum below 2^31 has at most 45 levels (Fibonacci numbers), whatever its limit */

/* Orders the used symbols by frequency, rare ones first, equal ones by symbol: one key holds both. Two passes of a
 * counting sort over bytes do for frequencies below 65536, and blocks with larger ones take four. */
static size_t sort_symbols(const uint32_t *frequencies, size_t count, uint64_t *sorted)
{
    uint64_t other[TXM_HUFFMAN_MAX_SYMBOLS], *from = sorted, *to = other;
    uint32_t all = 0;
    size_t used = 0;
    for (size_t s = 0; s < count; s++)
        if (frequencies[s]) {
            from[used++] = (uint64_t)frequencies[s] << 32 | s;
            all |= frequencies[s];
        }
    for (int shift = 32; shift < 64 && all >> (shift - 32); shift += 8) {
        size_t start[257] = {0};
        for (size_t i = 0; i < used; i++)
            start[(from[i] >> shift & 255) + 1]++;
        for (int b = 0; b < 256; b++)
            start[b + 1] += start[b];
        for (size_t i = 0; i < used; i++)
            to[start[from[i] >> shift & 255]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != sorted)
        memcpy(sorted, from, used * sizeof *from);
    return used;
}

/* Counts the leaves at each depth of the Huffman tree over ascending weights. Leaves and inner nodes each come in
 * ascending order, so the two smallest nodes are always at the head of one of two queues. */
static void count_depths(const uint64_t *sorted, size_t used, uint32_t *depths)
{
    uint32_t weight[TXM_HUFFMAN_MAX_SYMBOLS];     /* of inner nodes */
    uint16_t parent[2 * TXM_HUFFMAN_MAX_SYMBOLS]; /* of leaves 0 .. used-1, then inner nodes */
    uint8_t depth[TXM_HUFFMAN_MAX_SYMBOLS];       /* of inner nodes */
    size_t leaf = 0, inner = 0, made = 0;
    while (made < used - 1) {
        uint32_t sum = 0;
        for (int child = 0; child < 2; child++) {
            if (leaf < used && (inner >= made || sorted[leaf] >> 32 <= weight[inner])) {
                sum += (uint32_t)(sorted[leaf] >> 32);
                parent[leaf++] = (uint16_t)made;
            } else {
                sum += weight[inner];
                parent[used + inner++] = (uint16_t)made;
            }
        }
        weight[made++] = sum;
    }
    depth[made - 1] = 0; /* the root is made last; every parent comes behind its children */
    for (size_t i = made - 1; i-- > 0;)
        depth[i] = (uint8_t)(depth[parent[used + i]] + 1);
    for (size_t i = 0; i < used; i++)
        depths[depth[parent[i]] + 1]++;
}

/* Makes a code with leaves deeper than max_bits fit: they move up to max_bits, which overfills the code space; each
 * step then takes one unit back by hanging a leaf of max_bits beside a shallower one, which goes one deeper. */
static void limit_depths(uint32_t *depths, int max_bits)
{
    uint64_t space = 0;
    for (int d = max_bits + 1; d < DEPTHS; d++) {
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

void txm_huffman_lengths(const uint32_t *frequencies, size_t count, int max_bits, uint8_t *lengths)
{
    uint64_t sorted[TXM_HUFFMAN_MAX_SYMBOLS];
    uint32_t depths[DEPTHS] = {0};
    size_t used = sort_symbols(frequencies, count, sorted);
    memset(lengths, 0, count);
    if (used < 2) {
        size_t only = used ? (size_t)(sorted[0] & 0xffffffff) : 0;
        lengths[only] = 1;
        lengths[only ? 0 : 1] = 1;
        return;
    }
    count_depths(sorted, used, depths);
    limit_depths(depths, max_bits);
    size_t i = 0;
    for (int d = max_bits; d > 0; d--) /* rare symbols first: the longest codes */
        for (uint32_t k = 0; k < depths[d]; k++)
            lengths[sorted[i++] & 0xffffffff] = (uint8_t)d;
}

static uint16_t reverse(unsigned code, int bits)
{
    code = (code & 0x5555) << 1 | (code >> 1 & 0x5555);
    code = (code & 0x3333) << 2 | (code >> 2 & 0x3333);
    code = (code & 0x0f0f) << 4 | (code >> 4 & 0x0f0f);
    code = (code & 0x00ff) << 8 | (code >> 8 & 0x00ff);
    return (uint16_t)(code >> (16 - bits));
}

void txm_huffman_codes(const uint8_t *lengths, size_t count, uint16_t *codes)
{
    unsigned depths[TXM_HUFFMAN_MAX_BITS + 1] = {0}, next[TXM_HUFFMAN_MAX_BITS + 2] = {0};
    for (size_t s = 0; s < count; s++)
        depths[lengths[s]]++;
    depths[0] = 0;
    for (int d = 1; d <= TXM_HUFFMAN_MAX_BITS; d++)
        next[d + 1] = (next[d] + depths[d]) << 1;
    for (size_t s = 0; s < count; s++)
        codes[s] = lengths[s] ? reverse(next[lengths[s]]++, lengths[s]) : 0;
}
