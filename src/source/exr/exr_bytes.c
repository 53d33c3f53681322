/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of ZIP and RLE chunks of EXR files, which are made of differences and sorted into even and odd before they
 * are compressed. 16 at a time where the machine can.
 */
#include "source/exr/exr_bytes.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Every byte but the first is a difference plus 128 to the byte before: a running sum. */
static void sum_up(uint8_t *b, size_t n)
{
    size_t i = 0;
    uint8_t last = 0x80; /* undone by the first byte's own -128 */
#ifdef __SSE2__
    const __m128i bias = _mm_set1_epi8((char)0x80);
    __m128i carry = bias;
    for (; i + 16 <= n; i += 16) {
        __m128i v = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(b + i)), bias);
        /* Sums over 2, 4, 8, 16 neighbours, then what came before. */
        v = _mm_add_epi8(v, _mm_slli_si128(v, 1));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 2));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 4));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 8));
        v = _mm_add_epi8(v, carry);
        _mm_storeu_si128((__m128i *)(b + i), v);
        carry = _mm_set1_epi8((char)(_mm_extract_epi16(v, 7) >> 8));
    }
    if (i)
        last = b[i - 1];
#endif
    for (; i < n; i++)
        b[i] = last = (uint8_t)(last + b[i] - 128);
}

void txm_exr_unpredict(uint8_t *in, uint8_t *out, size_t n)
{
    size_t half = (n + 1) / 2, i = 0;
    const uint8_t *even = in, *odd = in + half;
    sum_up(in, n);
#ifdef __SSE2__
    for (; i + 16 <= n / 2; i += 16) {
        __m128i e = _mm_loadu_si128((const __m128i *)(even + i)), o = _mm_loadu_si128((const __m128i *)(odd + i));
        _mm_storeu_si128((__m128i *)(out + 2 * i), _mm_unpacklo_epi8(e, o));
        _mm_storeu_si128((__m128i *)(out + 2 * i + 16), _mm_unpackhi_epi8(e, o));
    }
#endif
    for (; i < n / 2; i++) {
        out[2 * i] = even[i];
        out[2 * i + 1] = odd[i];
    }
    if (n & 1)
        out[n - 1] = even[half - 1];
}

bool txm_exr_unrle(const uint8_t *in, size_t bytes, uint8_t *out, size_t size_bytes)
{
    const uint8_t *end = in + bytes;
    while (in < end) {
        int head = (int8_t)*in++;
        size_t n = head < 0 ? (size_t)-head : (size_t)head + 1, need = head < 0 ? n : 1;
        if (n > size_bytes || need > (size_t)(end - in))
            return false;
        if (head < 0)
            memcpy(out, in, n); /* as they are */
        else
            memset(out, *in, n); /* one of them, repeated */
        in += need;
        out += n;
        size_bytes -= n;
    }
    return size_bytes == 0;
}
