/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of sample types, number of levels.
 *
 * The few facts about types and levels that every room needs and that public headers declare.
 */
#include "txmill/pixel.h"

const char *txm_type_name(txm_type type)
{
    static const char *const names[] = {"uint8", "uint16", "half", "float"};
    return names[(unsigned)type <= TXM_TYPE_FLOAT ? type : TXM_TYPE_FLOAT];
}

uint32_t txm_level_count(uint32_t width_px, uint32_t height_px)
{
    uint32_t longest = width_px > height_px ? width_px : height_px, levels = 1;
    while (longest >>= 1)
        levels++;
    return levels;
}
