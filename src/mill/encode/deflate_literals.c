/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes runs of literals with AVX-512.
 *
 * A few permutations of tables in registers look up the codes of 64 bytes. Neighbouring codes are then joined
 * repeatedly, until eight or sixteen share a word; only these words go through the bit buffer one after the other. This
 * saves 7 % of the time on tiles of photo4k and 4 % on those of hdr4k; short runs do not gain.
 */
#include "mill/encode/deflate_block.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "tile/ops/ops.h"

#define TXM_WIDE                                                                                                       \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi2"), always_inline)) static inline

enum { MOST_BITS = 56 }; /* room after a flush */

/* The table entry of each byte in v; `upper` marks bytes from 128 on. 0 for bytes that `live` does not include. */
TXM_WIDE __m512i look_up(const __m512i table[4], __m512i v, __mmask64 upper, __mmask64 live)
{
    __m512i lower_half = _mm512_permutex2var_epi8(table[0], v, table[1]);
    __m512i upper_half = _mm512_permutex2var_epi8(table[2], v, table[3]);
    return _mm512_maskz_mov_epi8(live, _mm512_mask_blend_epi8(upper, lower_half, upper_half));
}

/* Codes, single or joined, in lanes of 16, 32 or 64 bits, with their lengths in bits. */
typedef struct codes {
    __m512i bits, lengths;
} codes;

/* The lower or upper half of the lanes, each widened to twice its size. */
TXM_WIDE codes lower_32(codes c)
{
    const __m512i mask = _mm512_set1_epi32(0xffff);
    return (codes){_mm512_and_si512(c.bits, mask), _mm512_and_si512(c.lengths, mask)};
}

TXM_WIDE codes upper_32(codes c)
{
    return (codes){_mm512_srli_epi32(c.bits, 16), _mm512_srli_epi32(c.lengths, 16)};
}

TXM_WIDE codes lower_64(codes c)
{
    const __m512i mask = _mm512_set1_epi64(0xffffffff);
    return (codes){_mm512_and_si512(c.bits, mask), _mm512_and_si512(c.lengths, mask)};
}

TXM_WIDE codes upper_64(codes c)
{
    return (codes){_mm512_srli_epi64(c.bits, 32), _mm512_srli_epi64(c.lengths, 32)};
}

/* Appends `b` to `a` in each lane. */
TXM_WIDE codes join_32(codes a, codes b)
{
    return (codes){_mm512_or_si512(a.bits, _mm512_sllv_epi32(b.bits, a.lengths)),
                   _mm512_add_epi32(a.lengths, b.lengths)};
}

TXM_WIDE codes join_64(codes a, codes b)
{
    return (codes){_mm512_or_si512(a.bits, _mm512_sllv_epi64(b.bits, a.lengths)),
                   _mm512_add_epi64(a.lengths, b.lengths)};
}

/* Whether the codes in the marked lanes fit in the bit buffer after a flush. */
TXM_WIDE bool fits(codes c, __mmask8 lanes)
{
    return !_mm512_mask_cmpgt_epi64_mask(lanes, c.lengths, _mm512_set1_epi64(MOST_BITS));
}

/* Writes every other word, or each. */
TXM_WIDE void put_words(txm_bit_writer *w, codes c, int apart)
{
    uint64_t bits[8], lengths[8];
    _mm512_storeu_si512(bits, c.bits);
    _mm512_storeu_si512(lengths, c.lengths);
    for (int i = 0; i < 8; i += apart) {
        txm_put_bits(w, bits[i], (unsigned)lengths[i]);
        txm_flush_bits(w);
    }
}

/* Writes four literals per word, in order. */
TXM_WIDE void put_quads(txm_bit_writer *w, codes first, codes second)
{
    const __m512i front = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0),
                  back = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
    put_words(w,
              (codes){_mm512_permutex2var_epi64(first.bits, front, second.bits),
                      _mm512_permutex2var_epi64(first.lengths, front, second.lengths)},
              1);
    put_words(w,
              (codes){_mm512_permutex2var_epi64(first.bits, back, second.bits),
                      _mm512_permutex2var_epi64(first.lengths, back, second.lengths)},
              1);
}

/* Writes those of the 64 literals at p that `live` includes. */
TXM_WIDE void put_64(txm_bit_writer *w, const __m512i low_table[4], const __m512i rest_table[4], const uint8_t *p,
                     __mmask64 live)
{
    const __m512i length = _mm512_set1_epi16(15);
    __m512i v = _mm512_maskz_loadu_epi8(live, p);
    __mmask64 upper = _mm512_movepi8_mask(v);
    __m512i low = look_up(low_table, v, upper, live), rest = look_up(rest_table, v, upper, live);
    __m512i even_rest = _mm512_slli_epi16(_mm512_and_si512(rest, _mm512_set1_epi16(0x70)), 4);
    __m512i odd_rest = _mm512_and_si512(_mm512_srli_epi16(rest, 4), _mm512_set1_epi16(0x700));
    codes even = {_mm512_or_si512(_mm512_and_si512(low, _mm512_set1_epi16(0xff)), even_rest),
                  _mm512_and_si512(rest, length)};
    codes odd = {_mm512_or_si512(_mm512_srli_epi16(low, 8), odd_rest),
                 _mm512_and_si512(_mm512_srli_epi16(rest, 8), length)};
    codes first_pair = join_32(lower_32(even), lower_32(odd)), second_pair = join_32(upper_32(even), upper_32(odd));
    codes first_quad = join_64(lower_64(first_pair), lower_64(second_pair));
    codes second_quad = join_64(upper_64(first_pair), upper_64(second_pair));
    codes eight = join_64(first_quad, second_quad);
    if (!fits(eight, 0xff)) {
        put_quads(w, first_quad, second_quad);
        return;
    }
    codes next = {_mm512_unpackhi_epi64(eight.bits, eight.bits), _mm512_unpackhi_epi64(eight.lengths, eight.lengths)};
    codes sixteen = join_64(eight, next);
    if (fits(sixteen, 0x55))
        put_words(w, sixteen, 2);
    else
        put_words(w, eight, 1);
}

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi2"))) static void
write_literals_avx512(txm_bit_writer *writer, const txm_literal_codes *table, const uint8_t *src, size_t n)
{
    txm_bit_writer w =
        *writer; /* the output may alias the writer, which would then be stored and loaded again each time */
    __m512i low[4], rest[4];
    for (int i = 0; i < 4; i++) {
        low[i] = _mm512_loadu_si512(table->low + 64 * i);
        rest[i] = _mm512_loadu_si512(table->rest + 64 * i);
    }
    for (; n > 64; n -= 64, src += 64)
        put_64(&w, low, rest, src, ~UINT64_C(0));
    if (n)
        put_64(&w, low, rest, src, ~UINT64_C(0) >> (64 - n));
    *writer = w;
}

txm_literal_writer txm_literal_writer_best(void)
{
    return !strcmp(txm_ops_best()->isa, "avx512") && __builtin_cpu_supports("avx512vbmi") ? write_literals_avx512
                                                                                          : NULL;
}
#else
txm_literal_writer txm_literal_writer_best(void)
{
    return NULL;
}
#endif
