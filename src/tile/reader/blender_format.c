/* SPDX-License-Identifier: Apache-2.0
 * The versions of Blender's texture cache format. */
#include "tile/reader/blender_format.h"

#include <stddef.h>

#include "tile/terms/releases.h"

/* The newest release of Blender says which of them is written. */
static const txm_blender_format formats[] = {
    {0, TXM_BLENDER_SOFTWARE "0"},
};

enum { FORMATS = sizeof formats / sizeof *formats };

/* The first one is the default. */
static const txm_blender_space spaces[] = {
    {"Linear Rec.709", "lin_rec709_scene", "3.241_-1.537_-0.4986_0_-0.9692_1.876_0.04155_0_0.05563_-0.204_1.057_0"},
    {"Linear Rec.2020", "lin_rec2020_scene",
     "1.717_-0.3557_-0.2534_0_-0.6667_1.616_0.01577_0_0.01764_-0.04277_0.9421_0"},
    {"ACEScg", "lin_ap1_scene", "1.661_-0.3153_-0.2415_0_-0.6599_1.608_0.0173_0_0.009002_-0.003567_0.9136_0"},
};

const txm_blender_space *txm_blender_space_at(unsigned index)
{
    return index < sizeof spaces / sizeof *spaces ? &spaces[index] : NULL;
}

const txm_blender_format *txm_blender_format_now(void)
{
    return txm_blender_format_of(TXM_RELEASE(0, tx_format));
}

const txm_blender_format *txm_blender_format_of(unsigned version)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].version == version)
            return &formats[i];
    return NULL;
}
