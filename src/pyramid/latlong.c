/* SPDX-License-Identifier: Apache-2.0
 * Latitude-longitude images. */
#include "pyramid/latlong.h"

#include <math.h>

static double area(uint32_t y, uint32_t height)
{
    return sin(3.14159265358979323846 * ((double)y + 0.5) / (double)height);
}

float txm_latlong_weight(uint32_t first, uint32_t second, uint32_t height, float g)
{
    double w0 = (1.0 - (double)g) * area(first, height), w1 = (double)g * area(second, height);
    return (float)(w1 / (w0 + w1));
}

static void make_solid(float *row, uint32_t channels, uint32_t width)
{
    for (uint32_t c = 0; c < channels; c++) {
        double sum = 0;
        for (uint32_t x = 0; x < width; x++)
            sum += (double)row[(size_t)x * channels + c];
        for (uint32_t x = 0; x < width; x++)
            row[(size_t)x * channels + c] = (float)(sum / width);
    }
}

void txm_latlong_edges(float *row, uint32_t channels, uint32_t width, uint32_t y, uint32_t height)
{
    if (y == 0 || y + 1 == height) {
        make_solid(row, channels, width);
        return;
    }
    float *last = row + (size_t)(width - 1) * channels;
    for (uint32_t c = 0; c < channels; c++)
        row[c] = last[c] = 0.5f * (row[c] + last[c]);
}
