/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes one deflate block (RFC 1951) with dynamic Huffman codes from a list of matches and the counts of its symbols,
 * and computes length-limited codes. Only integer arithmetic is used, so the same counts give the same code on every
 * machine.
 */
#ifndef TXM_ENCODE_DEFLATE_BLOCK_H
#define TXM_ENCODE_DEFLATE_BLOCK_H
#include "tile/terms/dialect.h"

/* Code that has a part for the processor alone; functions that a device calls rather than inlines; those that the
 * processor does. */
#if !defined(__OPENCL_VERSION__) && !defined(__CUDACC__)
#define TXM_PLAIN_C 1
#define TXM_CODE_PART static inline
#define TXM_CODE_STEP static __attribute__((noinline, unused))
#else
#define TXM_CODE_PART TXM_ARITH TXM_CALLED
#define TXM_CODE_STEP TXM_ARITH
#endif

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
    TXM_GLOBAL uint8_t *out;
} txm_bit_writer;

TXM_ARITH void txm_put_bits(txm_bit_writer *w, uint64_t bits, unsigned count)
{
    w->bits |= bits << w->count;
    w->count += count;
}

/* May write eight bytes, of which only complete ones count, so dst must have that much slack. */
TXM_ARITH void txm_flush_bits(txm_bit_writer *w)
{
#ifdef TXM_PLAIN_C
    memcpy(w->out, &w->bits, 8);
    w->out += w->count >> 3;
    w->bits >>= w->count & ~7u;
    w->count &= 7;
#else
    for (; w->count >= 8; w->count -= 8, w->bits >>= 8)
        *w->out++ = (uint8_t)w->bits;
#endif
}

TXM_ARITH unsigned txm_leading_zeros(uint64_t v)
{
#if defined(__OPENCL_VERSION__)
    return (unsigned)clz(v);
#elif defined(__CUDA_ARCH__)
    return (unsigned)__clzll((long long)v);
#else
    return (unsigned)__builtin_clzll(v);
#endif
}

TXM_ARITH unsigned txm_trailing_zeros(uint64_t v)
{
    return 63u - txm_leading_zeros(v & (0 - v));
}

TXM_ARITH unsigned txm_log2_floor(uint32_t v)
{
    return 63u - txm_leading_zeros(v);
}

/* A symbol with the number and value of its extra bits. From 9 on (distances: 5), four (two) symbols share each power
 * of two. */
typedef struct txm_coded {
    unsigned symbol, extra_bits, extra;
} txm_coded;

TXM_ARITH txm_coded txm_code_length(unsigned length)
{
    unsigned v = length - 3, e = v < 8 ? 0 : txm_log2_floor(v) - 2;
    const txm_coded longest = {285, 0, 0}, other = {TXM_FIRST_LENGTH + 4 * e + (v >> e), e, v & ((1u << e) - 1)};
    return length == TXM_MAX_MATCH ? longest : other;
}

TXM_ARITH txm_coded txm_code_distance(unsigned distance)
{
    unsigned v = distance - 1, e = v < 4 ? 0 : txm_log2_floor(v) - 1;
    const txm_coded coded = {2 * e + (v >> e), e, v & ((1u << e) - 1)};
    return coded;
}

enum { TXM_HUFFMAN_MAX_SYMBOLS = 288, TXM_HUFFMAN_MAX_BITS = 15 };

typedef struct txm_literal_codes {
    uint8_t low[TXM_LITERALS];      /* the lowest eight bits of each code */
    uint8_t rest[TXM_LITERALS];     /* the other three bits, above its length */
    uint32_t entries[TXM_LITERALS]; /* length | code << 8 */
} txm_literal_codes;

#ifdef TXM_PLAIN_C
/* Writes n literals; flushes write eight bytes, not all of which count. */
typedef void (*txm_literal_writer)(txm_bit_writer *writer, const txm_literal_codes *codes, const uint8_t *src,
                                   size_t n);

/* The fastest writer for this machine that $TXMILL_ISA allows; NULL if there is none. */
txm_literal_writer txm_literal_writer_best(void);
#else
typedef uint64_t txm_literal_writer; /* 0: there is none */
#endif
#endif
