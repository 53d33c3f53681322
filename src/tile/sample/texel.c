/* SPDX-License-Identifier: Apache-2.0
 *
 * Single texels for frames. A lookup by coordinates would have to find the texel again.
 */
#include "tile/sample/texels.h"
#include "tile/terms/extension.h"
#include "txtile/sampler.h"

int32_t txm_extension_pixel(txm_extension extension, int32_t x, int32_t size_px)
{
    return txm_wrap_pixel(x, size_px, (int)extension);
}

bool txm_extension_wrap(txm_extension extension, float *u)
{
    return txm_wrap(u, (int)extension) != 0;
}

void txm_texel_decode(float decoded[256])
{
    for (int i = 0; i < 256; i++)
        decoded[i] = txm_srgb_decode_rgba((float)i * (1.0f / 255.0f));
}

void txm_texel_color(const txm_view *view, const txm_texel_place *at, int after, const float decoded[256],
                     float rgba[4])
{
    const txm_view_texture *t = at->texture;
    const txm_tile_at found = txm_find_tile(view, at->number);
    txm_touch_tile(view, found.word, found.mark, found.index);
    txm_texel_decoded(t, txm_texel_codes(t, txm_slot_address(view, t, at->slot), at->level, at->x, at->y), after,
                      decoded, rgba);
}
