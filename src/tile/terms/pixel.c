/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of sample types, number of levels, density of pixels: functions that public headers declare and all folders
 * need.
 */
#include "txtile/pixel.h"

#include <stddef.h>

#include "base/words.h"
#include "tile/terms/density.h"

const char *txm_type_name(txm_type type)
{
    static const char *const names[] = {"uint8", "uint16", "half", "float"};
    return TXM_WORD_OF(names, type);
}

/* The size is halved, rounded down, until the longer side is 1. */
uint32_t txm_level_count(uint32_t width_px, uint32_t height_px)
{
    uint32_t longest = width_px > height_px ? width_px : height_px, levels = 1;
    while (longest >>= 1)
        levels++;
    return levels;
}

/* 0 means 'unknown'. */
void txm_density_drop_nonsense(txm_density *density)
{
    float *numbers[] = {&density->aspect, &density->x, &density->y};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(*numbers[i] > 0 && *numbers[i] < 0x1p32f)) /* also true for NaN */
            *numbers[i] = 0;
}
