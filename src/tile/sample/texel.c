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

/* The average is divided by the scale and multiplied by it as in lookups, which add up codes. */
void txm_texel_average(const txm_view_texture *t, int after, float rgba[4])
{
    const float inverse = 1.0f / t->scale;
    const txm_rgba codes = txm_rgba_make(t->average[0] * inverse, t->average[1] * inverse, t->average[2] * inverse,
                                         t->average[3] * inverse);
    txm_color_store(txm_rgba_quiet(txm_color_scale(t, codes, 1.0f)), rgba);
    if (!after)
        return;
    txm_after(after, rgba, NULL, NULL);
    txm_color_store(txm_rgba_quiet(txm_rgba_make(rgba[0], rgba[1], rgba[2], rgba[3])), rgba);
}
