/* SPDX-License-Identifier: Apache-2.0
 *
 * In: the version of OpenColorIO in use. Out: whether it is Blender's, and sentences about it.
 */
#include "tools/output/colors.h"

#include <stdio.h>
#include <string.h>

#include "tile/terms/releases.h"
#include "txmill/color.h"

/* The minor version in the official build of the newest Blender. */
#define BLENDERS TXM_RELEASE(TXM_BLENDER_NEWEST, opencolorio)

bool txm_colors_exact(void)
{
    const size_t n = strlen(BLENDERS);
    return strncmp(txm_color_library_version(), BLENDERS, n) == 0 && txm_color_library_version()[n] == '.';
}

void txm_colors_describe(char *out, size_t out_bytes)
{
    const char *blender = txm_blender_name(TXM_BLENDER_NEWEST);
    if (txm_colors_exact())
        snprintf(out, out_bytes, "%s, as in Blender %s: colours are exactly Blender's", txm_color_library_version(),
                 blender);
    else
        snprintf(
            out, out_bytes,
            "%s, but Blender %s has %s: converted colours may differ by a rounding step; pip install txmill has %s",
            txm_color_library_version(), blender, BLENDERS, BLENDERS);
}

void txm_colors_differ(size_t images, char *out, size_t out_bytes)
{
    snprintf(out, out_bytes,
             "%zu image%s converted by OpenColorIO %s; Blender %s has %s, so colours may differ from Blender's by a "
             "rounding step",
             images, images == 1 ? " was" : "s were", txm_color_library_version(), txm_blender_name(TXM_BLENDER_NEWEST),
             BLENDERS);
}
