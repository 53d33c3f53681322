/* SPDX-License-Identifier: Apache-2.0
 *
 * The byte transformations around EXR's codecs, with vector code for x86-64 where it pays; plain loops handle the rest,
 * and all of it on other processors.
 *
 * Bytes after RLE or zip decoding become the chunk as it is in the file's planes: differences are summed, and the two
 * halves of the bytes are interleaved.
 */
#include "tile/decode/exr_decode.h"

#include <string.h>

#ifdef __SSE2__
#include <immintrin.h>
#endif

/* False unless the output has exactly the expected size. */
bool txm_exr_rle_decode(const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes)
{
    size_t in = 0, out = 0;
    while (in < src_bytes) {
        int n = (int8_t)src[in++];
        size_t count = n < 0 ? (size_t)-n : (size_t)n + 1;
        if (count > dst_bytes - out || (n < 0 ? count : 1) > src_bytes - in)
            return false;
        if (n < 0)
            memcpy(dst + out, src + in, count);
        else
            memset(dst + out, src[in], count);
        in += n < 0 ? count : 1;
        out += count;
    }
    return out == dst_bytes;
}

#ifdef __SSE2__
/* Applies sum_differences to whole vectors from the start; returns the number of bytes done. */
static size_t sum_differences_sse2(uint8_t *p, size_t bytes)
{
    const __m128i odd = _mm_set1_epi16((short)0x8000);
    __m128i carry = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 16 <= bytes; i += 16) {
        __m128i v = _mm_loadu_si128((const void *)(p + i));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 1));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 2));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 4));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 8));
        _mm_storeu_si128((void *)(p + i), _mm_xor_si128(_mm_add_epi8(v, carry), odd));
        /* The sum of these sixteen, in all lanes. It is computed before the carry is added, so that the next vector
         * waits for one addition only. */
        v = _mm_unpackhi_epi8(v, v);
        v = _mm_shufflehi_epi16(v, 0xff);
        carry = _mm_add_epi8(carry, _mm_unpackhi_epi64(v, v));
    }
    return i;
}

/* The same, twice as wide: the total of the lower lane is added to the upper one. */
__attribute__((target("avx2"))) static size_t sum_differences_avx2(uint8_t *p, size_t bytes)
{
    const __m256i odd = _mm256_set1_epi16((short)0x8000), last = _mm256_set1_epi8(15);
    __m256i carry = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 32 <= bytes; i += 32) {
        __m256i v = _mm256_loadu_si256((const void *)(p + i));
        v = _mm256_add_epi8(v, _mm256_slli_si256(v, 1));
        v = _mm256_add_epi8(v, _mm256_slli_si256(v, 2));
        v = _mm256_add_epi8(v, _mm256_slli_si256(v, 4));
        v = _mm256_add_epi8(v, _mm256_slli_si256(v, 8));
        v = _mm256_add_epi8(v, _mm256_shuffle_epi8(_mm256_permute2x128_si256(v, v, 0x08), last));
        _mm256_storeu_si256((void *)(p + i), _mm256_xor_si256(_mm256_add_epi8(v, carry), odd));
        carry = _mm256_add_epi8(carry, _mm256_shuffle_epi8(_mm256_permute2x128_si256(v, v, 0x11), last));
    }
    return i;
}
#endif

/* Each byte is the previous one plus the stored difference less 128: a running sum modulo 256 in which the top bit of
 * every other byte is flipped. */
static void sum_differences(uint8_t *p, size_t bytes)
{
    size_t i = 0;
#ifdef __SSE2__
    i = __builtin_cpu_supports("avx2") ? sum_differences_avx2(p, bytes) : sum_differences_sse2(p, bytes);
#endif
    if (!i)
        i = 1;
    for (; i < bytes; i++)
        p[i] = (uint8_t)(p[i - 1] + p[i] - 128);
}

/* `src` is overwritten; it is the caller's scratch memory. */
void txm_exr_unsplit(uint8_t *src, uint8_t *dst, size_t bytes)
{
    sum_differences(src, bytes);
    const uint8_t *even = src, *odd = src + (bytes + 1) / 2;
    size_t pairs = bytes / 2, i = 0;
#ifdef __SSE2__
    for (; i + 16 <= pairs; i += 16) {
        __m128i a = _mm_loadu_si128((const void *)(even + i)), b = _mm_loadu_si128((const void *)(odd + i));
        _mm_storeu_si128((void *)(dst + 2 * i), _mm_unpacklo_epi8(a, b));
        _mm_storeu_si128((void *)(dst + 2 * i + 16), _mm_unpackhi_epi8(a, b));
    }
#endif
    for (; i < pairs; i++) {
        dst[2 * i] = even[i];
        dst[2 * i + 1] = odd[i];
    }
    if (bytes & 1)
        dst[bytes - 1] = even[pairs];
}
