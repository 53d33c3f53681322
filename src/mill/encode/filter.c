/* SPDX-License-Identifier: Apache-2.0
 *
 * TIFF's horizontal predictor and EXR's zip filter.
 *
 * They transform rows of pixels into data that compresses better: differences from the previous pixel (TIFF), or bytes
 * sorted by significance and differenced (EXR). tiff_decode.c and exr_decode.c have the inverses.
 */
#include "mill/encode/filter.h"

#include <string.h>

/* These loops have no branches inside, so compilers can vectorize them. */
void txm_predict_row_u8(const uint8_t *restrict src, size_t samples, uint32_t channels, uint8_t *restrict dst)
{
    size_t first = channels < samples ? channels : samples;
    memcpy(dst, src, first);
    for (size_t i = first; i < samples; i++)
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

/* EXR stores channel after channel. */
void txm_planes_u32(const uint32_t *restrict src, size_t pixels, uint32_t channels, uint32_t *restrict dst)
{
    for (uint32_t c = 0; c < channels; c++)
        for (size_t i = 0; i < pixels; i++)
            dst[c * pixels + i] = src[i * channels + c];
}
