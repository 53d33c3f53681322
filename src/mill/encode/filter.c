/* SPDX-License-Identifier: Apache-2.0
 *
 * TIFF's horizontal predictor and EXR's zip filter.
 *
 * They transform rows of pixels into data that compresses better: differences from the previous pixel (TIFF), or bytes
 * sorted by significance and differenced (EXR). tiff_decode.c and exr_decode.c have the inverses.
 */
#include "mill/encode/filter.h"

#include <string.h>

typedef uint8_t bytes16 __attribute__((vector_size(16), aligned(1), may_alias));

static inline void differences(const uint8_t *src, size_t back, uint8_t *dst)
{
    *(bytes16 *)dst = *(const bytes16 *)src - *(const bytes16 *)(src - back);
}

/* The last sixteen bytes of a row overlap those before them, since a loop over the rest would take as long as the
 * others. */
void txm_predict_row_u8(const uint8_t *restrict src, size_t samples, uint32_t channels, uint8_t *restrict dst)
{
    size_t first = channels < samples ? channels : samples;
    memcpy(dst, src, first);
    size_t i = first;
    for (; i + 16 <= samples; i += 16)
        differences(src + i, channels, dst + i);
    if (i < samples && samples >= first + 16) {
        differences(src + samples - 16, channels, dst + samples - 16);
        return;
    }
    for (; i < samples; i++)
        dst[i] = (uint8_t)(src[i] - src[i - channels]);
}

void txm_predict_row_u16(const uint16_t *restrict src, size_t samples, uint32_t channels, uint16_t *restrict dst)
{
    size_t first = channels < samples ? channels : samples;
    memcpy(dst, src, first * sizeof *dst);
    for (size_t i = first; i < samples; i++)
        dst[i] = (uint16_t)(src[i] - src[i - channels]);
}

/* Moves even bytes to the front half and odd ones to the back, then takes differences. */
void txm_zip_filter(const uint8_t *restrict src, size_t size_bytes, uint8_t *restrict dst)
{
    if (!size_bytes)
        return;
    size_t even = (size_bytes + 1) / 2, odd = size_bytes / 2;
    uint8_t *high = dst + even;
    /* The difference of a split byte is taken from the byte two places before it in src; only the seams differ. */
    dst[0] = src[0];
    for (size_t i = 1; i < even; i++)
        dst[i] = (uint8_t)(src[2 * i] - src[2 * i - 2] + 128);
    if (!odd)
        return;
    high[0] = (uint8_t)(src[1] - src[2 * (even - 1)] + 128);
    for (size_t i = 1; i < odd; i++)
        high[i] = (uint8_t)(src[2 * i + 1] - src[2 * i - 1] + 128);
}

/* The common case of four channels is written out so that compilers vectorize it. */
void txm_planes_u16(const uint16_t *restrict src, size_t pixels, uint32_t channels, uint16_t *restrict dst)
{
    if (channels == 4) {
        for (size_t i = 0; i < pixels; i++) {
            dst[i] = src[4 * i];
            dst[pixels + i] = src[4 * i + 1];
            dst[2 * pixels + i] = src[4 * i + 2];
            dst[3 * pixels + i] = src[4 * i + 3];
        }
        return;
    }
    for (uint32_t c = 0; c < channels; c++)
        for (size_t i = 0; i < pixels; i++)
            dst[c * pixels + i] = src[i * channels + c];
}

void txm_planes_u32(const uint32_t *restrict src, size_t pixels, uint32_t channels, uint32_t *restrict dst)
{
    for (uint32_t c = 0; c < channels; c++)
        for (size_t i = 0; i < pixels; i++)
            dst[c * pixels + i] = src[i * channels + c];
}
