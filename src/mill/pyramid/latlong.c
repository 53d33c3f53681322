/* SPDX-License-Identifier: Apache-2.0
 *
 * Latitude-longitude images. A pole is a single point on a sphere, so its row gets one colour, and rows are weighted
 * by the area that they cover. Order and precision of both computations are those of Cycles.
 */
#include "mill/pyramid/pyramid.h"

#include <math.h>
#include <string.h>

/* The area of a row on the sphere, up to a constant factor. */
static float area(uint32_t y, uint32_t height)
{
    return sinf(3.14159265f * ((float)y + 0.5f) / (float)height);
}

/* The weight of the second row, which on a plane is its weight by position alone. */
float txm_latlong_weight(uint32_t first, uint32_t second, uint32_t height, float g)
{
    float w0 = (1.0f - g) * area(first, height), w1 = g * area(second, height);
    return w1 / (w0 + w1);
}

static bool is_pole(uint32_t y, uint32_t height)
{
    return y == 0 || y + 1 == height;
}

/* The first and last column are the same meridian. */
void txm_latlong_edges(float *row, uint32_t channels, uint32_t width, uint32_t y, uint32_t height)
{
    /* The mean is summed from left to right, as in Cycles. */
    for (uint32_t c = 0; is_pole(y, height) && c < channels; c++) {
        float sum = 0.0f;
        for (uint32_t x = 0; x < width; x++)
            sum += row[(size_t)x * channels + c];
        for (uint32_t x = 0; x < width; x++)
            row[(size_t)x * channels + c] = sum * (1.0f / (float)width);
    }
    float *last = row + (size_t)(width - 1) * channels;
    for (uint32_t c = 0; c < channels; c++)
        row[c] = last[c] = 0.5f * row[c] + 0.5f * last[c];
}

/* For level 0, in storage type: only pixels that change are converted. */
void txm_latlong_stored_edges(const txm_ops *ops, txm_type type, uint32_t channels, void *row, uint32_t width,
                              uint32_t y, uint32_t height, float *scratch)
{
    if (is_pole(y, height)) {
        ops->to_float(type, row, scratch, (size_t)width * channels);
        txm_latlong_edges(scratch, channels, width, y, height);
        ops->from_float(type, scratch, row, (size_t)width * channels);
        return;
    }
    /* The first and the last pixel are treated as a row of two. */
    uint8_t *first = row, *last = first + (size_t)(width - 1) * channels * txm_type_bytes(type);
    ops->to_float(type, first, scratch, channels);
    ops->to_float(type, last, scratch + channels, channels);
    txm_latlong_edges(scratch, channels, 2, y, height);
    ops->from_float(type, scratch, first, channels);
    ops->from_float(type, scratch, last, channels);
}
