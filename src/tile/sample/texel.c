/* SPDX-License-Identifier: Apache-2.0
 *
 * Single texels for frames. A lookup by coordinates would have to find the texel again, and would spend most of its
 * time on decoding sRGB, for which 8-bit codes have a table.
 */
#include "tile/sample/lookup.h"
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
    const uint8_t *codes = txm_slot_address(view, t, at->slot);
    if (txm_is_packed(t)) {
        codes += t->level_first[at->level] + (at->y * txm_level_size(t->width, at->level) + at->x) * t->pixel_bytes;
    } else {
        const uint32_t inside = (1u << t->tile_shift) - 1;
        codes +=
            ((at->y & inside) + TXM_BORDER_PX) * t->row_bytes + ((at->x & inside) + TXM_BORDER_PX) * t->pixel_bytes;
    }
    const txm_tile_at found = txm_find_tile(view, at->number);
    txm_touch_tile(view, found.word, found.mark, found.index);
    txm_color_store(txm_rgba_quiet(txm_color_scale(t, txm_texel(t->type, t->channels, codes), 1.0f)), rgba);
    const bool divides = (after & TXM_AFTER_UNASSOCIATE) && rgba[3] != 1.0f && rgba[3] != 0.0f;
    if ((after & TXM_AFTER_SRGB) && !divides && t->type == TXM_TYPE_U8 && t->scale == 1.0f / 255.0f) {
        for (int c = 0; c < 3; c++)
            rgba[c] = decoded[codes[t->channels == 1 ? 0 : c]];
        return;
    }
    if (!after)
        return;
    txm_after(after, rgba, NULL, NULL);
    txm_color_store(txm_rgba_quiet(txm_rgba_make(rgba[0], rgba[1], rgba[2], rgba[3])), rgba);
}
