/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings keys.
 *
 * In: resolved settings. Out: the digest of a short text that names each of them. A change to the arithmetic changes
 * the version in that text, and with it every key.
 */
#include "convert/key.h"

#include <stdio.h>

/* Hex digits of a SHA-1, which is what a key is. */
_Static_assert((int)TXM_KEY_HEX == (int)TXM_SHA1_HEX, "a key is a SHA-1");

void txm_settings_key(const txm_source_info *info, const txm_color_space *space, txm_alpha alpha,
                      const txm_settings *settings, char out[TXM_KEY_HEX])
{
    static const char *const classes[] = {"data", "scene_linear", "scene_linear_srgb", "converted"};
    const txm_conform c = txm_conform_plan(info, space, alpha, NULL);
    char text[512];
    /* A transform's digest takes part alone, not the name of its space: the same transform gives the same pixels. */
    int n = snprintf(text, sizeof text,
                     "pixels:%d class:%s transform:%.300s associate:%d opaque:%d divide:%d latlong:%d "
                     "mono:%d",
                     TXM_PIXELS_VERSION, classes[txm_color_space_class(space)], txm_color_space_transform_id(space),
                     c.associate, c.set_opaque, c.divide, settings->equiangular, settings->mono && c.channels > 1);
    txm_sha1_of(text, (size_t)n, out);
}
