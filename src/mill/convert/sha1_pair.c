/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-1 of two messages at once (FIPS 180-4): the compression function with x86's SHA instructions, buffering, padding.
 * The instructions of one message mostly wait for each other; two interleaved messages take hardly longer than one.
 * With AVX-512 only the rounds use the SHA unit, which otherwise limits two messages: 2.6 GB/s instead of 1.5 at 2.7
 * GHz.
 */
#include "mill/convert/sha1_pair.h"

#include <stdio.h>
#include <string.h>

#include "tile/ops/ops.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

bool txm_cpu_has_sha(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 29)) && __builtin_cpu_supports("sse4.1");
}

/* One message's working variables: a, b, c, d in one register (a at the top), the value from which the next e comes,
 * and the last 32 words of the schedule, four in a register. */
typedef struct message {
    __m128i abcd, e0, w[8];
} message;

#define TXM_SHA __attribute__((target("sha,sse4.1"), always_inline)) static inline
#define TXM_SHA_AVX512 __attribute__((target("sha,sse4.1,avx512f,avx512vl"), always_inline)) static inline

/* SHA-1 is big-endian. */
TXM_SHA __m128i load_words(const uint8_t *p)
{
    const __m128i swap = _mm_set_epi64x(0x0001020304050607ll, 0x08090a0b0c0d0e0fll);
    return _mm_shuffle_epi8(_mm_loadu_si128((const void *)p), swap);
}

/* The words of four rounds, with the e of the first one added. */
TXM_SHA __m128i add_e(__m128i e0, __m128i words)
{
    return _mm_sha1nexte_epu32(e0, words);
}

/* Words 4g+16 to 4g+19 of the schedule, from the sixteen before them. */
TXM_SHA __m128i next_words(const __m128i w[8], int g)
{
    __m128i older = _mm_sha1msg1_epu32(w[g & 7], w[(g + 1) & 7]);
    return _mm_sha1msg2_epu32(_mm_xor_si128(older, w[(g + 2) & 7]), w[(g + 3) & 7]);
}

/* The same in ordinary instructions, which run beside Intel's SHA unit: four rounds alone keep it busy for three
 * cycles. */
TXM_SHA_AVX512 __m128i add_e_avx512(__m128i e0, __m128i words)
{
    return _mm_mask_add_epi32(words, 8, words, _mm_rol_epi32(e0, 30));
}

/* The upper half of `high` above the lower half of `low`, which has earlier words. */
TXM_SHA_AVX512 __m128i halves(__m128i low, __m128i high)
{
    return _mm_castpd_si128(_mm_shuffle_pd(_mm_castsi128_pd(high), _mm_castsi128_pd(low), 1));
}

/* Each word comes from those 3, 8, 14 and 16 before it. So the last of four depends on the first and is completed at
 * the end. Where 32 words are known, this applied twice gives each word from those 6, 16, 28 and 32 before it. */
TXM_SHA_AVX512 __m128i next_words_avx512(const __m128i w[8], int g)
{
    __m128i w0 = w[g & 7], w1 = w[(g + 1) & 7], w2 = w[(g + 2) & 7], w3 = w[(g + 3) & 7];
    if (g >= 4)
        return _mm_rol_epi32(
            _mm_xor_si128(_mm_ternarylogic_epi32(w[(g + 4) & 7], w[(g + 5) & 7], w0, 0x96), halves(w2, w3)), 2);
    __m128i sum = _mm_xor_si128(_mm_ternarylogic_epi32(w0, halves(w0, w1), w2, 0x96), _mm_slli_si128(w3, 4));
    return _mm_xor_si128(_mm_rol_epi32(sum, 1), _mm_rol_epi32(_mm_srli_si128(sum, 12), 2));
}

/* Rounds 4g to 4g+3. The other register gets a, from which the next e comes. */
#define TXM_FOUR_ROUNDS(l, g, function, suffix)                                                                        \
    do {                                                                                                               \
        __m128i before = (l).abcd, words = (l).w[(g)&7];                                                               \
        __m128i e = (g) == 0 ? _mm_add_epi32((l).e0, words) : add_e##suffix((l).e0, words);                            \
        (l).abcd = _mm_sha1rnds4_epu32((l).abcd, e, function);                                                         \
        (l).e0 = before;                                                                                               \
        if ((g) < 16)                                                                                                  \
            (l).w[((g) + 4) & 7] = next_words##suffix((l).w, (g));                                                     \
    } while (0)

/* Twenty rounds of both messages from round 4g on, all of which use the same function. */
#define TXM_TWENTY_ROUNDS(g, function, suffix)                                                                         \
    TXM_FOUR_ROUNDS(x, (g), function, suffix);                                                                         \
    TXM_FOUR_ROUNDS(y, (g), function, suffix);                                                                         \
    TXM_FOUR_ROUNDS(x, (g) + 1, function, suffix);                                                                     \
    TXM_FOUR_ROUNDS(y, (g) + 1, function, suffix);                                                                     \
    TXM_FOUR_ROUNDS(x, (g) + 2, function, suffix);                                                                     \
    TXM_FOUR_ROUNDS(y, (g) + 2, function, suffix);                                                                     \
    TXM_FOUR_ROUNDS(x, (g) + 3, function, suffix);                                                                     \
    TXM_FOUR_ROUNDS(y, (g) + 3, function, suffix);                                                                     \
    TXM_FOUR_ROUNDS(x, (g) + 4, function, suffix);                                                                     \
    TXM_FOUR_ROUNDS(y, (g) + 4, function, suffix)

/* Compresses `count` blocks of each message in one of the ways above. The state is never copied as a whole, because
 * that would use wide registers, and SHA instructions wait for hundreds of cycles if the upper half of one is in use.
 */
#define TXM_PAIR_BLOCKS(name, instructions, suffix)                                                                    \
    __attribute__((target(instructions))) void name(uint32_t state[2][5], const uint8_t *a, const uint8_t *b,          \
                                                    size_t count)                                                      \
    {                                                                                                                  \
        message x, y;                                                                                                  \
        x.abcd = _mm_shuffle_epi32(_mm_loadu_si128((const void *)state[0]), 0x1B);                                     \
        y.abcd = _mm_shuffle_epi32(_mm_loadu_si128((const void *)state[1]), 0x1B);                                     \
        x.e0 = _mm_set_epi32((int)state[0][4], 0, 0, 0);                                                               \
        y.e0 = _mm_set_epi32((int)state[1][4], 0, 0, 0);                                                               \
        for (; count; count--, a += 64, b += 64) {                                                                     \
            const __m128i x_abcd = x.abcd, x_e = x.e0, y_abcd = y.abcd, y_e = y.e0;                                    \
            for (int i = 0; i < 4; i++) {                                                                              \
                x.w[i] = load_words(a + 16 * i);                                                                       \
                y.w[i] = load_words(b + 16 * i);                                                                       \
            }                                                                                                          \
            TXM_TWENTY_ROUNDS(0, 0, suffix);                                                                           \
            TXM_TWENTY_ROUNDS(5, 1, suffix);                                                                           \
            TXM_TWENTY_ROUNDS(10, 2, suffix);                                                                          \
            TXM_TWENTY_ROUNDS(15, 3, suffix);                                                                          \
            x.abcd = _mm_add_epi32(x.abcd, x_abcd);                                                                    \
            x.e0 = _mm_sha1nexte_epu32(x.e0, x_e);                                                                     \
            y.abcd = _mm_add_epi32(y.abcd, y_abcd);                                                                    \
            y.e0 = _mm_sha1nexte_epu32(y.e0, y_e);                                                                     \
        }                                                                                                              \
        _mm_storeu_si128((void *)state[0], _mm_shuffle_epi32(x.abcd, 0x1B));                                           \
        _mm_storeu_si128((void *)state[1], _mm_shuffle_epi32(y.abcd, 0x1B));                                           \
        state[0][4] = (uint32_t)_mm_extract_epi32(x.e0, 3);                                                            \
        state[1][4] = (uint32_t)_mm_extract_epi32(y.e0, 3);                                                            \
    }

TXM_PAIR_BLOCKS(txm_sha1_pair_blocks_shani, "sha,sse4.1", )
TXM_PAIR_BLOCKS(txm_sha1_pair_blocks_avx512, "sha,sse4.1,avx512f,avx512vl", _avx512)
#endif

bool txm_sha1_pair_available(void)
{
#if defined(__x86_64__)
    return txm_cpu_has_sha();
#else
    return false;
#endif
}

void txm_sha1_pair_begin(txm_sha1_pair *p)
{
    static const uint32_t initial[5] = {0x67452301u, 0xEFCDAB89u, 0x98BADCFEu, 0x10325476u, 0xC3D2E1F0u};
    memset(p, 0, sizeof *p);
#if defined(__x86_64__)
    p->blocks = strcmp(txm_ops_best()->isa, "avx512") == 0 ? txm_sha1_pair_blocks_avx512 : txm_sha1_pair_blocks_shani;
#endif
    memcpy(p->state[0], initial, sizeof initial);
    memcpy(p->state[1], initial, sizeof initial);
}

void txm_sha1_pair_add(txm_sha1_pair *p, const void *a, const void *b, size_t size_bytes)
{
    const uint8_t *pa = a, *pb = b;
    p->total_bytes += size_bytes;
    if (p->rest_bytes) {
        size_t take = 64 - p->rest_bytes < size_bytes ? 64 - p->rest_bytes : size_bytes;
        memcpy(p->rest[0] + p->rest_bytes, pa, take);
        memcpy(p->rest[1] + p->rest_bytes, pb, take);
        p->rest_bytes += take;
        pa += take;
        pb += take;
        size_bytes -= take;
        if (p->rest_bytes < 64)
            return;
        p->blocks(p->state, p->rest[0], p->rest[1], 1);
    }
    p->blocks(p->state, pa, pb, size_bytes / 64);
    p->rest_bytes = size_bytes % 64;
    memcpy(p->rest[0], pa + size_bytes - p->rest_bytes, p->rest_bytes);
    memcpy(p->rest[1], pb + size_bytes - p->rest_bytes, p->rest_bytes);
}

void txm_sha1_pair_finish(txm_sha1_pair *p, char a[TXM_SHA1_HEX], char b[TXM_SHA1_HEX])
{
    /* Padding: 0x80, zeros up to 8 bytes before a block's end, the length in bits, big-endian. */
    uint8_t tail[128] = {0x80};
    uint64_t bits = p->total_bytes * 8;
    size_t size = (p->rest_bytes < 56 ? 56 : 120) - p->rest_bytes;
    for (int i = 0; i < 8; i++)
        tail[size + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    txm_sha1_pair_add(p, tail, tail, size + 8);
    for (int i = 0; i < 5; i++) {
        snprintf(a + 8 * i, 9, "%08X", p->state[0][i]);
        snprintf(b + 8 * i, 9, "%08X", p->state[1][i]);
    }
}
