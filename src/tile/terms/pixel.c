/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of sample types and numbers of levels: functions that public headers declare and all folders need.
 */
#include "txtile/pixel.h"

#include <stddef.h>

#include "base/words.h"

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
