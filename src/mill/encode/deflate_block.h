/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes one deflate block (RFC 1951) with dynamic Huffman codes from a list of matches and the counts of its symbols,
 * and computes length-limited codes. Only integer arithmetic is used, so the same counts give the same code on every
 * machine.
 */
#ifndef TXM_ENCODE_DEFLATE_BLOCK_H
#define TXM_ENCODE_DEFLATE_BLOCK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    TXM_LITERALS = 256,
    TXM_LITLEN_SYMBOLS = 286,
    TXM_DISTANCE_SYMBOLS = 30,
    TXM_FIRST_LENGTH = 257, /* symbol */
    TXM_MAX_MATCH = 258,
    TXM_MAX_DISTANCE = 32768,
    TXM_LITLEN_BITS = 11,        /* not 15: four literals then fit into 64 bits, in addition to seven pending bits */
    TXM_BLOCK_HEADER_BYTES = 600 /* at most: 17 + 19 * 3 bits, 316 lengths of at most 14 bits */
};

typedef struct txm_sequence {
    uint32_t literals;
    uint16_t length, distance; /* 3 to 258, 1 to 32768 */
} txm_sequence;

typedef struct txm_bit_writer {
    uint64_t bits;
    unsigned count; /* below 8 after a flush */
    uint8_t *out;
} txm_bit_writer;

static inline void txm_put_bits(txm_bit_writer *w, uint64_t bits, unsigned count)
{
    w->bits |= bits << w->count;
    w->count += count;
}

/* Writes eight bytes, of which only complete ones count, so dst must have that much slack. */
static inline void txm_flush_bits(txm_bit_writer *w)
{
    memcpy(w->out, &w->bits, 8);
    w->out += w->count >> 3;
    w->bits >>= w->count & ~7u;
    w->count &= 7;
}

static inline unsigned txm_log2_floor(uint32_t v)
{
    return 31u - (unsigned)__builtin_clz(v);
}

/* A symbol with the number and value of its extra bits. From 9 on (distances: 5), four (two) symbols share each power
 * of two. */
typedef struct txm_coded {
    unsigned symbol, extra_bits, extra;
} txm_coded;

static inline txm_coded txm_code_length(unsigned length)
{
    if (length == TXM_MAX_MATCH)
        return (txm_coded){285, 0, 0};
    unsigned v = length - 3;
    if (v < 8)
        return (txm_coded){TXM_FIRST_LENGTH + v, 0, 0};
    unsigned e = txm_log2_floor(v) - 2;
    return (txm_coded){TXM_FIRST_LENGTH + 4 * e + (v >> e), e, v & ((1u << e) - 1)};
}

static inline txm_coded txm_code_distance(unsigned distance)
{
    unsigned v = distance - 1;
    if (v < 4)
        return (txm_coded){v, 0, 0};
    unsigned e = txm_log2_floor(v) - 1;
    return (txm_coded){2 * e + (v >> e), e, v & ((1u << e) - 1)};
}

enum { TXM_HUFFMAN_MAX_SYMBOLS = 288, TXM_HUFFMAN_MAX_BITS = 15 };

/* Computes code lengths for `count` symbols (at most TXM_HUFFMAN_MAX_SYMBOLS) from their frequencies, whose sum is
 * below 2^31. No length exceeds max_bits, and 2^max_bits >= count. Unused symbols get 0. The code is always complete:
 * if fewer than two symbols are used, the first unused ones get codes too, since decoders refuse incomplete codes. */
void txm_huffman_lengths(const uint32_t *frequencies, size_t count, int max_bits, uint8_t *lengths);

/* Canonical codes for the lengths, with their bits reversed as deflate requires. */
void txm_huffman_codes(const uint8_t *lengths, size_t count, uint16_t *codes);

typedef struct txm_literal_codes txm_literal_codes;
/* Writes n literals; flushes write eight bytes, not all of which count. */
typedef void (*txm_literal_writer)(txm_bit_writer *writer, const txm_literal_codes *codes, const uint8_t *src,
                                   size_t n);

/* Writes a block of n bytes. `litlen` and `distance` are the counts of the symbols in the `matches` sequences and in
 * the literals between and after them; the end of the block is counted here. A literal takes at most TXM_LITLEN_BITS;
 * flushes write eight bytes, not all of which count. Long runs of literals are passed to `vector` unless it is NULL;
 * the bits are the same. */
void txm_deflate_block(txm_bit_writer *writer, const uint8_t *src, size_t n, const txm_sequence *sequences,
                       size_t matches, uint32_t *litlen, const uint32_t *distance, txm_literal_writer vector,
                       bool last);

struct txm_literal_codes {
    _Alignas(64) uint8_t low[TXM_LITERALS]; /* the lowest eight bits of each code */
    uint8_t rest[TXM_LITERALS];             /* the other three bits, above its length */
    uint32_t entries[TXM_LITERALS];         /* length | code << 8 */
};

/* The fastest writer for this machine that $TXMILL_ISA allows; NULL if there is none. */
txm_literal_writer txm_literal_writer_best(void);
#endif
