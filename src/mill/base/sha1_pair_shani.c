/* SPDX-License-Identifier: Apache-2.0
 *
 * The compression function of SHA-1 on two messages, with x86's SHA instructions. The instructions of one message
 * mostly wait for each other; two interleaved messages take hardly longer than one. With this, hashing is as fast as
 * the other stages.
 */
#include "mill/base/sha1_pair_blocks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

bool txm_cpu_has_sha(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 29)) && __builtin_cpu_supports("sse4.1");
}

/* One message's working variables: a, b, c, d in one register (a at the top), the value from which the next e comes,
 * and the last sixteen words of the schedule. */
typedef struct lane {
    __m128i abcd, e0, w[4];
} lane;

#define TXM_SHA __attribute__((target("sha,sse4.1"), always_inline)) static inline

/* SHA-1 is big-endian. */
TXM_SHA void load_words(lane *l, const uint8_t *block)
{
    const __m128i swap = _mm_set_epi64x(0x0001020304050607ll, 0x08090a0b0c0d0e0fll);
    for (int i = 0; i < 4; i++)
        l->w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const void *)(block + 16 * i)), swap);
}

/* Rounds 4g to 4g+3. `e` enters with the words added; the other register gets a, from which the next e comes. */
#define TXM_FOUR_ROUNDS(l, g, function)                                                                                \
    do {                                                                                                               \
        __m128i before = (l).abcd;                                                                                     \
        __m128i e = (g) == 0 ? _mm_add_epi32((l).e0, (l).w[0]) : _mm_sha1nexte_epu32((l).e0, (l).w[(g)&3]);            \
        (l).abcd = _mm_sha1rnds4_epu32((l).abcd, e, function);                                                         \
        (l).e0 = before;                                                                                               \
        /* The words for later rounds replace those that were just used. */                                            \
        if ((g) < 16)                                                                                                  \
            (l).w[(g)&3] = _mm_sha1msg2_epu32(                                                                         \
                _mm_xor_si128(_mm_sha1msg1_epu32((l).w[(g)&3], (l).w[((g) + 1) & 3]), (l).w[((g) + 2) & 3]),           \
                (l).w[((g) + 3) & 3]);                                                                                 \
    } while (0)

#define TXM_FOUR_ROUNDS_PAIR(g, function)                                                                              \
    TXM_FOUR_ROUNDS(x, g, function);                                                                                   \
    TXM_FOUR_ROUNDS(y, g, function)

__attribute__((target("sha,sse4.1"))) static void compress(lane *px, lane *py)
{
    lane x = *px, y = *py;
    const __m128i x_abcd = x.abcd, x_e = x.e0, y_abcd = y.abcd, y_e = y.e0;
    TXM_FOUR_ROUNDS_PAIR(0, 0);
    TXM_FOUR_ROUNDS_PAIR(1, 0);
    TXM_FOUR_ROUNDS_PAIR(2, 0);
    TXM_FOUR_ROUNDS_PAIR(3, 0);
    TXM_FOUR_ROUNDS_PAIR(4, 0);
    TXM_FOUR_ROUNDS_PAIR(5, 1);
    TXM_FOUR_ROUNDS_PAIR(6, 1);
    TXM_FOUR_ROUNDS_PAIR(7, 1);
    TXM_FOUR_ROUNDS_PAIR(8, 1);
    TXM_FOUR_ROUNDS_PAIR(9, 1);
    TXM_FOUR_ROUNDS_PAIR(10, 2);
    TXM_FOUR_ROUNDS_PAIR(11, 2);
    TXM_FOUR_ROUNDS_PAIR(12, 2);
    TXM_FOUR_ROUNDS_PAIR(13, 2);
    TXM_FOUR_ROUNDS_PAIR(14, 2);
    TXM_FOUR_ROUNDS_PAIR(15, 3);
    TXM_FOUR_ROUNDS_PAIR(16, 3);
    TXM_FOUR_ROUNDS_PAIR(17, 3);
    TXM_FOUR_ROUNDS_PAIR(18, 3);
    TXM_FOUR_ROUNDS_PAIR(19, 3);
    px->abcd = _mm_add_epi32(x.abcd, x_abcd);
    px->e0 = _mm_sha1nexte_epu32(x.e0, x_e);
    py->abcd = _mm_add_epi32(y.abcd, y_abcd);
    py->e0 = _mm_sha1nexte_epu32(y.e0, y_e);
}

__attribute__((target("sha,sse4.1"))) void txm_sha1_pair_blocks_shani(uint32_t state[2][5], const uint8_t *a,
                                                                      const uint8_t *b, size_t count)
{
    lane l[2];
    for (int i = 0; i < 2; i++) {
        l[i].abcd = _mm_shuffle_epi32(_mm_loadu_si128((const void *)state[i]), 0x1B);
        l[i].e0 = _mm_set_epi32((int)state[i][4], 0, 0, 0);
    }
    for (; count; count--, a += 64, b += 64) {
        load_words(&l[0], a);
        load_words(&l[1], b);
        compress(&l[0], &l[1]);
    }
    for (int i = 0; i < 2; i++) {
        _mm_storeu_si128((void *)state[i], _mm_shuffle_epi32(l[i].abcd, 0x1B));
        state[i][4] = (uint32_t)_mm_extract_epi32(l[i].e0, 3);
    }
}
#else
/* ISO C requires a declaration in every file. */
typedef int txm_no_shani;
#endif
