/* SPDX-License-Identifier: Apache-2.0
 *
 * Decoding one ring: the inverse of ring_encode.c, see section_format.h for the order of lines, the prediction and the
 * planes. Four-channel rings of 8 and 16 bits, which is what tx files hold, go a pixel at a time in vector registers:
 * the prediction needs the pixel before, so that the four channels are all there is to do at once.
 */
#include <zstd.h>

#include "container/section_format.h"
#include "container/section_reader.h"
#include "pyramid/ring.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { MASK_BYTES = 2, SLACK_BYTES = 64 };

static size_t padded_size(size_t bytes)
{
    return (bytes + SLACK_BYTES + 63) & ~(size_t)63;
}

/* Scratch: the planes (with the zero ones filled in), the residuals, the reference of a line. */
size_t txm_ring_scratch_bytes(uint32_t tile_w, uint32_t tile_h, size_t pixel_bytes)
{
    size_t longest = (tile_w > tile_h ? tile_w : tile_h) + 2 * (size_t)TXM_RING_PX;
    return 2 * padded_size(txm_ring_pixels(tile_w, tile_h) * pixel_bytes) + padded_size(longest * pixel_bytes);
}

/* ---- planes to residuals -------------------------------------------------------------------------------------- */

#ifdef __SSE2__
static __m128i unzigzag8(__m128i v)
{
    __m128i half = _mm_and_si128(_mm_srli_epi16(v, 1), _mm_set1_epi8(0x7f));
    return _mm_xor_si128(half, _mm_sub_epi8(_mm_setzero_si128(), _mm_and_si128(v, _mm_set1_epi8(1))));
}

static __m128i unzigzag16(__m128i v)
{
    return _mm_xor_si128(_mm_srli_epi16(v, 1), _mm_sub_epi16(_mm_setzero_si128(), _mm_and_si128(v, _mm_set1_epi16(1))));
}

static __m128i load(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

/* Four channels of 8 bits, sixteen pixels a turn; returns how many it did. */
static size_t weave_u8x4(const uint8_t *planes, size_t pixels, uint8_t *out)
{
    size_t i = 0;
    for (; i + 16 <= pixels; i += 16, out += 64) {
        __m128i g = unzigzag8(load(planes + pixels + i));
        __m128i r = _mm_add_epi8(unzigzag8(load(planes + i)), g);
        __m128i b = _mm_add_epi8(unzigzag8(load(planes + 2 * pixels + i)), g);
        __m128i a = unzigzag8(load(planes + 3 * pixels + i));
        __m128i rg = _mm_unpacklo_epi8(r, g), ba = _mm_unpacklo_epi8(b, a);
        _mm_storeu_si128((__m128i *)out, _mm_unpacklo_epi16(rg, ba));
        _mm_storeu_si128((__m128i *)(out + 16), _mm_unpackhi_epi16(rg, ba));
        rg = _mm_unpackhi_epi8(r, g);
        ba = _mm_unpackhi_epi8(b, a);
        _mm_storeu_si128((__m128i *)(out + 32), _mm_unpacklo_epi16(rg, ba));
        _mm_storeu_si128((__m128i *)(out + 48), _mm_unpackhi_epi16(rg, ba));
    }
    return i;
}

/* Eight samples of channel c of 16 bits: two planes, the upper bytes first. */
static __m128i samples16(const uint8_t *planes, size_t pixels, unsigned c, size_t i)
{
    __m128i high = _mm_loadl_epi64((const __m128i *)(planes + 2 * c * pixels + i));
    __m128i low = _mm_loadl_epi64((const __m128i *)(planes + (2 * c + 1) * pixels + i));
    return unzigzag16(_mm_unpacklo_epi8(low, high));
}

static size_t weave_u16x4(const uint8_t *planes, size_t pixels, uint8_t *out)
{
    size_t i = 0;
    for (; i + 8 <= pixels; i += 8, out += 64) {
        __m128i g = samples16(planes, pixels, 1, i);
        __m128i r = _mm_add_epi16(samples16(planes, pixels, 0, i), g);
        __m128i b = _mm_add_epi16(samples16(planes, pixels, 2, i), g);
        __m128i a = samples16(planes, pixels, 3, i);
        __m128i rg = _mm_unpacklo_epi16(r, g), ba = _mm_unpacklo_epi16(b, a);
        _mm_storeu_si128((__m128i *)out, _mm_unpacklo_epi32(rg, ba));
        _mm_storeu_si128((__m128i *)(out + 16), _mm_unpackhi_epi32(rg, ba));
        rg = _mm_unpackhi_epi16(r, g);
        ba = _mm_unpackhi_epi16(b, a);
        _mm_storeu_si128((__m128i *)(out + 32), _mm_unpacklo_epi32(rg, ba));
        _mm_storeu_si128((__m128i *)(out + 48), _mm_unpackhi_epi32(rg, ba));
    }
    return i;
}
#endif

/* A sample of sample_bytes bytes in the machine's order. */
static uint32_t get_sample(const uint8_t *p, unsigned sample_bytes)
{
    return sample_bytes == 1 ? *p : sample_bytes == 2 ? txm_le16(p) : txm_le32(p);
}

static void set_sample(uint8_t *p, unsigned sample_bytes, uint32_t v)
{
    memcpy(p, &v, sample_bytes); /* little-endian: the low bytes come first */
}

/* Residuals with channels interleaved from planes. */
static void weave(const txm_ring_tile *tile, const uint8_t *planes, size_t pixels, uint8_t *residuals)
{
    uint32_t channels = tile->channels;
    unsigned n = tile->sample_bytes;
    size_t i = 0;
#ifdef __SSE2__
    if (channels == 4 && n == 1)
        i = weave_u8x4(planes, pixels, residuals);
    else if (channels == 4 && n == 2)
        i = weave_u16x4(planes, pixels, residuals);
#endif
    for (; i < pixels; i++) {
        uint32_t v[TXM_MAX_CHANNELS];
        for (uint32_t c = 0; c < channels; c++) {
            uint32_t z = 0;
            for (unsigned b = 0; b < n; b++)
                z = z << 8 | planes[((size_t)c * n + b) * pixels + i];
            v[c] = z >> 1 ^ (0 - (z & 1));
        }
        if (channels == 4) {
            v[0] += v[1];
            v[2] += v[1];
        }
        for (uint32_t c = 0; c < channels; c++)
            set_sample(residuals + (i * channels + c) * n, n, v[c]);
    }
}

/* ---- residuals to pixels -------------------------------------------------------------------------------------- */

/* Each restores one line in place: `line` holds residuals, then pixels; the first pixel is there already. */
#ifdef __SSE2__
static __m128i load_u8x4(const uint8_t *p)
{
    return _mm_unpacklo_epi8(_mm_cvtsi32_si128((int)txm_le32(p)), _mm_setzero_si128());
}

static void restore_u8x4(uint8_t *line, const uint8_t *reference, size_t pixels)
{
    __m128i l = load_u8x4(line), k = load_u8x4(reference);
    const __m128i byte = _mm_set1_epi16(255);
    for (size_t i = 1; i < pixels; i++) {
        __m128i u = load_u8x4(reference + 4 * i), r = load_u8x4(line + 4 * i);
        /* In 16 bits nothing wraps: the median is l + u - k held between l and u. */
        __m128i p = _mm_add_epi16(l, _mm_sub_epi16(u, k));
        p = _mm_max_epi16(_mm_min_epi16(l, u), _mm_min_epi16(_mm_max_epi16(l, u), p));
        l = _mm_and_si128(_mm_add_epi16(p, r), byte);
        k = u;
        uint32_t pixel = (uint32_t)_mm_cvtsi128_si32(_mm_packus_epi16(l, l));
        memcpy(line + 4 * i, &pixel, sizeof pixel);
    }
}

static void restore_u16x4(uint8_t *line, const uint8_t *reference, size_t pixels)
{
    /* With the top bit flipped, signed comparison orders unsigned samples; sums are the same but for that bit. */
    const __m128i flip = _mm_set1_epi16((short)0x8000);
    __m128i l = _mm_xor_si128(_mm_loadl_epi64((const __m128i *)line), flip);
    __m128i k = _mm_xor_si128(_mm_loadl_epi64((const __m128i *)reference), flip);
    for (size_t i = 1; i < pixels; i++) {
        __m128i u = _mm_xor_si128(_mm_loadl_epi64((const __m128i *)(reference + 8 * i)), flip);
        __m128i r = _mm_loadl_epi64((const __m128i *)(line + 8 * i));
        __m128i high = _mm_max_epi16(l, u), low = _mm_min_epi16(l, u);
        __m128i below = _mm_cmpgt_epi16(high, k), above = _mm_cmpgt_epi16(k, low); /* k < high, k > low */
        __m128i p = _mm_add_epi16(l, _mm_sub_epi16(u, k));
        p = _mm_or_si128(_mm_and_si128(above, p), _mm_andnot_si128(above, high));
        p = _mm_or_si128(_mm_and_si128(below, p), _mm_andnot_si128(below, low));
        l = _mm_add_epi16(p, r);
        k = u;
        _mm_storel_epi64((__m128i *)(line + 8 * i), _mm_xor_si128(l, flip));
    }
}
#endif

static void restore_any(uint8_t *line, const uint8_t *reference, size_t samples, uint32_t channels, unsigned n)
{
    uint32_t mask = n == 4 ? UINT32_MAX : (1u << 8 * n) - 1;
    size_t back = (size_t)channels * n;
    for (size_t i = back; i < samples * n; i += n) {
        uint32_t l = get_sample(line + i - back, n), u = get_sample(reference + i, n);
        uint32_t k = get_sample(reference + i - back, n);
        uint32_t high = l > u ? l : u, low = l > u ? u : l;
        uint32_t p = k >= high ? low : k <= low ? high : l + u - k;
        set_sample(line + i, n, (p + get_sample(line + i, n)) & mask);
    }
}

static void restore(const txm_ring_tile *tile, uint8_t *line, const uint8_t *reference, size_t pixels)
{
    unsigned n = tile->sample_bytes;
    for (uint32_t c = 0; c < tile->channels; c++)
        set_sample(line + c * n, n, get_sample(line + c * n, n) + get_sample(reference + c * n, n));
#ifdef __SSE2__
    if (tile->channels == 4 && n == 1) {
        restore_u8x4(line, reference, pixels);
        return;
    }
    if (tile->channels == 4 && n == 2) {
        restore_u16x4(line, reference, pixels);
        return;
    }
#endif
    restore_any(line, reference, pixels * tile->channels, tile->channels, n);
}

/* Copies `count` pixels between places whose pixels stand further apart. */
static void copy_column(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step, size_t count,
                        size_t pixel_bytes)
{
    for (size_t i = 0; i < count; i++, dst += dst_step, src += src_step)
        memcpy(dst, src, pixel_bytes);
}

/* All eight lines, residuals in visiting order, into the ring. */
static void restore_lines(const txm_ring_tile *t, uint8_t *residuals, uint8_t *reference, uint8_t *ring)
{
    size_t px = (size_t)t->channels * t->sample_bytes, row = (t->w + 2 * TXM_RING_PX) * px, side = 2 * TXM_RING_PX * px;
    uint8_t *sides = ring + TXM_RING_PX * row, *below = sides + side * t->h, *line = residuals;
    for (unsigned right = 0; right < 2; right++) {
        uint8_t *near = line, *far = near + t->h * px;
        copy_column(reference, px, t->pixels + (right ? t->w - 1 : 0) * px, t->stride, t->h, px);
        restore(t, near, reference, t->h);
        restore(t, far, near, t->h);
        copy_column(sides + (right ? 2 : 1) * px, side, near, px, t->h, px);
        copy_column(sides + (right ? 3 : 0) * px, side, far, px, t->h, px);
        line = far + t->h * px;
    }
    for (unsigned bottom = 0; bottom < 2; bottom++) {
        /* The tile's outermost row with the ring's pixels on both sides of it. */
        uint32_t y = bottom ? t->h - 1 : 0;
        const uint8_t *beside = sides + y * side;
        uint8_t *near = line, *far = line + row;
        memcpy(reference, beside, side / 2);
        memcpy(reference + side / 2, t->pixels + y * t->stride, t->w * px);
        memcpy(reference + side / 2 + t->w * px, beside + side / 2, side / 2);
        restore(t, near, reference, t->w + 2 * TXM_RING_PX);
        restore(t, far, near, t->w + 2 * TXM_RING_PX);
        memcpy(bottom ? below : ring + row, near, row);
        memcpy(bottom ? below + row : ring, far, row);
        line = far + row;
    }
}

/* ---- payload -------------------------------------------------------------------------------------------------- */

/* Decompresses the planes of `mask` to the front of `planes`, then moves each to its place, the last first, and clears
 * the others. */
static bool expand_planes(uint32_t mask, unsigned count, size_t plane_bytes, const uint8_t *frame, size_t frame_bytes,
                          ZSTD_DCtx *zstd, uint8_t *planes)
{
    unsigned kept = (unsigned)__builtin_popcount(mask);
    if (mask >> count)
        return false;
    if (mask) {
        size_t n = ZSTD_decompressDCtx(zstd, planes, kept * plane_bytes, frame, frame_bytes);
        if (ZSTD_isError(n) || n != kept * plane_bytes)
            return false;
    }
    for (unsigned p = count; p-- > 0;) {
        uint8_t *place = planes + p * plane_bytes;
        if (!(mask >> p & 1))
            memset(place, 0, plane_bytes);
        else if (--kept != p)
            memcpy(place, planes + kept * plane_bytes, plane_bytes);
    }
    return true;
}

bool txm_ring_decode(const txm_ring_tile *tile, const uint8_t *payload, size_t payload_bytes, ZSTD_DCtx *zstd,
                     uint8_t *scratch, uint8_t *ring)
{
    size_t pixels = txm_ring_pixels(tile->w, tile->h), px = (size_t)tile->channels * tile->sample_bytes;
    uint32_t mask = 0;
    if (payload_bytes) {
        if (payload_bytes < MASK_BYTES)
            return false;
        mask = txm_le16(payload);
        payload += MASK_BYTES;
        payload_bytes -= MASK_BYTES;
        if (!mask) {
            if (payload_bytes != px)
                return false;
            copy_column(ring, px, payload, 0, pixels, px);
            return true;
        }
    }
    uint8_t *planes = scratch, *residuals = planes + padded_size(pixels * px);
    uint8_t *reference = residuals + padded_size(pixels * px);
    if (!expand_planes(mask, (unsigned)px, pixels, payload, payload_bytes, zstd, planes))
        return false;
    weave(tile, planes, pixels, residuals);
    restore_lines(tile, residuals, reference, ring);
    return true;
}
