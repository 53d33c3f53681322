/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of point samples, each in a texture of its own. A single one waits four times for memory: for the
 * description of its texture, for the leaf and the entry of the page table, and for the texel. A batch takes these
 * steps one after the other for many samples, and each step sends for what the next one reads. Levels and places are
 * computed as vectors.
 *
 * Samples in UDIM sets or with CLIP, those with other rules than their neighbours, and those that miss where nothing
 * is shown instead are left to texels_element.
 */
#ifndef TXM_SAMPLE_TEXELS_SIMD_H
#define TXM_SAMPLE_TEXELS_SIMD_H
#include "tile/sample/simd/batch_simd.h"
#include "tile/sample/texels.h"

enum { TEXELS_AT_ONCE = 64 };

/* Samples between two steps; `levels` is the number of texels of each, 0: it is left to texels_element. */
typedef struct texels_work {
    const txm_view_texture *texture[TEXELS_AT_ONCE];
    _Alignas(64) float blend[TEXELS_AT_ONCE];
    _Alignas(64) uint32_t random[TEXELS_AT_ONCE];
    _Alignas(64) int32_t number[2][TEXELS_AT_ONCE], offset[2][TEXELS_AT_ONCE]; /* of the tile; of the texel in it */
    _Alignas(64) int32_t low[TEXELS_AT_ONCE];
    _Alignas(64) float u[TEXELS_AT_ONCE], v[TEXELS_AT_ONCE], move_x[TEXELS_AT_ONCE], move_y[TEXELS_AT_ONCE];
    const uint8_t *codes[2][TEXELS_AT_ONCE]; /* NULL: the texel has this colour */
    txm_rgba color[2][TEXELS_AT_ONCE];
    /* The last average that was needed: neighbours often miss in the same texture. */
    const txm_view_texture *averaged;
    int averaged_after;
    txm_rgba average;
    uint8_t levels[TEXELS_AT_ONCE];
    uint8_t bytes[TEXELS_AT_ONCE]; /* the texels are of 3 or 4 bytes: this many; else 0 */
} texels_work;

/* What all samples of a vector must have in common: all of the sampler but `filter`, `on_miss` and `after`. */
TXM_FAST uint64_t texels_rules(const txm_sampler *how)
{
    uint64_t rules = 0;
    uint32_t bias;
    memcpy(&rules, how, sizeof rules);
    memcpy(&bias, &how->mip_bias, sizeof bias);
    return (rules & 0x00FF00FF0000FFFFu) ^ (uint64_t)bias << 16;
}
_Static_assert(offsetof(txm_sampler, rule) == 0 && offsetof(txm_sampler, mode) == 1 &&
                   offsetof(txm_sampler, anisotropy) == 4 && offsetof(txm_sampler, chance) == 6,
               "rules are where the mask expects them");

/* The pixel beside an edge that the extension shows; x is from -1 to `size`. */
TXM_FAST vi texels_wrap_pixel(vi x, vi size, int extension)
{
    if (extension == TXM_EXTENSION_REPEAT) {
        x = vi_select((vi)(x < 0), x + size, x);
        return vi_select((vi)(x >= size), x - size, x);
    }
    x = vi_select((vi)(x < 0), vi_set(0), x);
    return vi_select((vi)(x >= size), size - 1, x);
}

TXM_FAST vi texels_size(vi size, vi level)
{
    const vi at = (vi)((vu)size >> (vu)level);
    return vi_select((vi)(at > 1), at, vi_set(1));
}

/* Levels and places of TXM_LANES samples from `begin` of the batch on, as elements from `to` on. Returns whether all of
 * them can be computed together. */
TXM_FAST int texels_prepare(const txm_view *view, const txm_texels *b, size_t begin, texels_work *w, size_t to)
{
    _Alignas(64) int32_t width[TXM_LANES], height[TXM_LANES], levels[TXM_LANES], moves[TXM_LANES];
    _Alignas(64) int32_t first[TXM_LANES], shifts[TXM_LANES], rows[TXM_LANES], pixels[TXM_LANES], begins[2][TXM_LANES];
    const txm_sampler *how = &b->samplers[b->how[begin]];
    const int cycles = how->rule == TXM_LEVEL_RULE_CYCLES;
    const uint64_t rules = texels_rules(how);
    uint64_t differ = 0;
    uint32_t extension = 0;
    for (int i = 0; i < TXM_LANES; i++) {
        const uint32_t texture = b->texture[begin + (size_t)i];
        const txm_sampler *other = &b->samplers[b->how[begin + (size_t)i]];
        if (TXM_UNLIKELY(texture >= view->texture_count))
            return 0;
        const txm_view_texture *t = view->textures + texture;
        w->texture[to + (size_t)i] = t;
        width[i] = (int32_t)t->width;
        height[i] = (int32_t)t->height;
        levels[i] = cycles ? t->tiled_levels : t->levels;
        first[i] = (int32_t)t->first;
        shifts[i] = t->tile_shift;
        rows[i] = (int32_t)t->row_bytes;
        pixels[i] = (int32_t)t->pixel_bytes;
        moves[i] = other->filter == TXM_FILTER_CLOSEST ? 0 : -1;
        extension = i ? extension : t->extension;
        differ |= (t->extension ^ extension) | t->udim_rows | (texels_rules(other) ^ rules);
        w->bytes[to + (size_t)i] =
            t->type == TXM_TYPE_U8 && t->channels != 1 && t->scale == 1.0f / 255.0f ? t->channels : 0;
    }
    if (TXM_UNLIKELY(differ || txm_extension_rejects((int)extension)))
        return 0;
    const int along_u = (int)TXM_EXTENSION_U(extension), along_v = (int)TXM_EXTENSION_V(extension);
    vi inside = vi_set(-1);
    vf u = TXM_LOAD(vf, b->u + begin), v = TXM_LOAD(vf, b->v + begin);
    u = vf_select((vi)(u - u == 0.0f), u, vf_set(0.0f));
    v = vf_select((vi)(v - v == 0.0f), v, vf_set(0.0f));
    u = group_wrap(u, along_u, &inside);
    v = group_wrap(v, along_v, &inside);
    const vi full_w = TXM_LOAD(vi, width), full_h = TXM_LOAD(vi, height), count = TXM_LOAD(vi, levels);
    vu random = TXM_LOAD(vu, b->random + begin);
    vf level =
        group_level_of(how, vf_from(full_w), vf_from(full_h), TXM_LOAD(vf, b->dudx + begin),
                       TXM_LOAD(vf, b->dvdx + begin), TXM_LOAD(vf, b->dudy + begin), TXM_LOAD(vf, b->dvdy + begin));
    level = group_jitter(how, level, inside, &random);
    const vf last = vf_from(count - 1);
    const vf clamped = vf_select((vi)(level >= last), last, vf_select((vi)(level > 0.0f), level, vf_set(0.0f)));
    const vi low = vi_from(clamped), drawn = TXM_LOAD(vi, moves);
    vf blend = vf_set(0.0f);
    if (how->mode == TXM_LEVEL_MODE_TRILINEAR)
        blend = vf_select((vi)(level > 0.0f) & (vi)(low < count - 1), level - vf_from(low), blend);
    const vu once = random * 1103515245u + 12345u, twice = once * 1103515245u + 12345u;
    const vf move_x = vf_select(drawn, vf_from((vi)(once >> 8)) * 0x1p-24f - 0.5f, vf_set(0.0f));
    const vf move_y = vf_select(drawn, vf_from((vi)(twice >> 8)) * 0x1p-24f - 0.5f, vf_set(0.0f));
    TXM_STORE(vu, w->random + to, (vu)vi_select(drawn, (vi)twice, (vi)random));
    TXM_STORE(vf, w->blend + to, blend);
    TXM_STORE(vi, w->low + to, low);
    TXM_STORE(vf, w->u + to, u);
    TXM_STORE(vf, w->v + to, v);
    TXM_STORE(vf, w->move_x + to, move_x);
    TXM_STORE(vf, w->move_y + to, move_y);
    for (int i = 0; i < TXM_LANES; i++) {
        const txm_view_texture *t = w->texture[to + (size_t)i];
        const int32_t at = w->low[to + (size_t)i];
        begins[0][i] = (int32_t)t->level_first[at];
        begins[1][i] = (int32_t)t->level_first[at + (at + 1 < t->levels)];
    }
    const vi shift = TXM_LOAD(vi, shifts), pixel = TXM_LOAD(vi, pixels), row = TXM_LOAD(vi, rows);
    const vi packed = (vi)(shift == TXM_SHIFT_PACKED), within = (1 << shift) - 1;
    for (int k = 0; k < 2; k++) {
        const vi size_x = texels_size(full_w, low + k), size_y = texels_size(full_h, low + k);
        vi x = vi_from(vf_floor(u * vf_from(size_x) + move_x));
        vi y = vi_from(vf_floor((1.0f - v) * vf_from(size_y) + move_y));
        x = texels_wrap_pixel(x, size_x, along_u);
        y = texels_wrap_pixel(y, size_y, along_v);
        const vi level_begin = TXM_LOAD(vi, begins[k]), across = (size_x + within) >> shift;
        const vi number = level_begin + (y >> shift) * across + (x >> shift);
        const vi offset = ((y & within) + TXM_BORDER_PX) * row + ((x & within) + TXM_BORDER_PX) * pixel;
        TXM_STORE(vi, w->number[k] + to, TXM_LOAD(vi, first) + vi_select(packed, vi_set(0), number));
        TXM_STORE(vi, w->offset[k] + to, vi_select(packed, level_begin + (y * size_x + x) * pixel, offset));
    }
    for (int i = 0; i < TXM_LANES; i++)
        w->levels[to + (size_t)i] = w->blend[to + (size_t)i] > 0.0f ? 2 : 1;
    return 1;
}

/* Sends for the leaves of the tiles. */
TXM_FAST void texels_send_for_leaf(const txm_view *view, const texels_work *w, size_t i)
{
    for (uint32_t k = 0; k < w->levels[i]; k++) {
        const uint32_t number = (uint32_t)w->number[k][i];
        __builtin_prefetch(view->leaves ? (const void *)(view->leaves + (number >> TXM_LEAF_SHIFT))
                                        : (const void *)(view->tiles + number));
    }
}

/* Sends for the entries. */
TXM_FAST void texels_send_for_entry(const txm_view *view, const texels_work *w, size_t i)
{
    for (uint32_t k = 0; view->leaves && k < w->levels[i]; k++) {
        const txm_tile_entry *entry = txm_view_entry(view, (uint32_t)w->number[k][i], NULL);
        if (entry)
            __builtin_prefetch(entry);
    }
}

/* The same for a sample of which a texel is missing. */
TXM_RARE uint32_t texels_send_instead(const txm_view *view, const txm_texels *b, texels_work *w, size_t begin, size_t i,
                                      txm_texel_miss **misses)
{
    const txm_view_texture *t = w->texture[i];
    const texels_place at = {w->u[i], w->v[i], w->move_x[i], w->move_y[i]};
    const int after = b->samplers[b->how[begin + i]].after;
    uint32_t there = 0;
    if (!misses) {
        w->levels[i] = 0;
        return 0;
    }
    for (uint32_t k = 0; k < w->levels[i]; k++) {
        const uint32_t level = (uint32_t)w->low[i] + k, number = (uint32_t)w->number[k][i];
        const txm_tile_at found = txm_find_tile(view, number);
        if (found.slot < TXM_SLOT_STATES) {
            w->codes[k][i] = txm_slot_address(view, t, found.slot) + (uint32_t)w->offset[k][i];
            txm_touch_tile(view, found.word, found.mark, found.index);
            there++;
        } else {
            txm_texel_miss miss = {.sample = (uint32_t)(begin + i),
                                   .texture = (uint32_t)(t - view->textures),
                                   .level = level,
                                   .tile = txm_is_packed(t) ? 0 : number - t->first - t->level_first[level],
                                   .state = found.slot};
            w->codes[k][i] = texels_instead(view, &at, &miss);
            *(*misses)++ = miss;
            if (!miss.failed && !w->codes[k][i] && (w->averaged != t || w->averaged_after != after)) {
                float rgba[4];
                txm_texel_average(t, after, rgba);
                w->average = txm_rgba_make(rgba[0], rgba[1], rgba[2], rgba[3]);
                w->averaged = t;
                w->averaged_after = after;
            }
            w->color[k][i] = miss.failed ? txm_rgba_make(1.0f, 0.0f, 1.0f, 1.0f) : w->average;
        }
        __builtin_prefetch(w->codes[k][i]);
    }
    return there;
}

/* Finds the texels and sends for them. Returns how many are in memory. */
TXM_FAST uint32_t texels_send_for_texel(const txm_view *view, const txm_texels *b, texels_work *w, size_t begin,
                                        size_t i, txm_texel_miss **misses)
{
    txm_tile_at found[2];
    const uint32_t levels = w->levels[i];
    for (uint32_t k = 0; k < levels; k++) {
        found[k] = txm_find_tile(view, (uint32_t)w->number[k][i]);
        if (TXM_UNLIKELY(found[k].slot >= TXM_SLOT_STATES))
            return texels_send_instead(view, b, w, begin, i, misses);
        w->codes[k][i] = txm_slot_address(view, w->texture[i], found[k].slot) + (uint32_t)w->offset[k][i];
        __builtin_prefetch(w->codes[k][i]);
    }
    for (uint32_t k = 0; k < levels; k++)
        txm_touch_tile(view, found[k].word, found[k].mark, found[k].index);
    return levels;
}

/* txm_texel_decoded; most textures have bytes, and need no division. */
TXM_FAST txm_rgba texels_read(const texels_work *w, size_t i, int k, int after, const float *decoded)
{
    uint32_t code;
    if (TXM_UNLIKELY(!w->codes[k][i]))
        return w->color[k][i];
    memcpy(&code, w->codes[k][i], sizeof code);
    code |= w->bytes[i] == 3 ? 0xFF000000u : 0;
    const int divides = (after & TXM_AFTER_UNASSOCIATE) && code >> 24 != 0 && code >> 24 != 255;
    if (TXM_UNLIKELY(!w->bytes[i] || divides)) {
        float rgba[4];
        txm_texel_decoded(w->texture[i], w->codes[k][i], after, decoded, rgba);
        return txm_rgba_make(rgba[0], rgba[1], rgba[2], rgba[3]);
    }
    const float scale = 1.0f / 255.0f, alpha = (float)(int32_t)(code >> 24) * scale;
    if (after & TXM_AFTER_SRGB)
        return txm_rgba_make(decoded[code & 0xFF], decoded[code >> 8 & 0xFF], decoded[code >> 16 & 0xFF], alpha);
    return txm_rgba_make((float)(int32_t)(code & 0xFF), (float)(int32_t)(code >> 8 & 0xFF),
                         (float)(int32_t)(code >> 16 & 0xFF), (float)(int32_t)(code >> 24)) *
           scale;
}

static uint64_t texels_batch(const txm_view *view, const txm_texels *b, txm_texel_miss **misses)
{
    texels_work w;
    uint64_t texels = 0;
    w.averaged = NULL;
    w.average = txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f);
    for (size_t begin = 0; begin < b->count; begin += TEXELS_AT_ONCE) {
        const size_t left = b->count - begin, n = left < TEXELS_AT_ONCE ? left : TEXELS_AT_ONCE;
        for (size_t i = 0; i < n; i++) {
            const uint32_t texture = b->texture[begin + i];
            const char *t = (const char *)(view->textures + (texture < view->texture_count ? texture : 0));
            for (size_t line = 0; line < sizeof(txm_view_texture); line += 64)
                __builtin_prefetch(t + line);
        }
        size_t placed = 0;
        for (; placed + TXM_LANES <= n; placed += TXM_LANES)
            if (!texels_prepare(view, b, begin + placed, &w, placed))
                memset(w.levels + placed, 0, TXM_LANES);
        memset(w.levels + placed, 0, n - placed);
        for (size_t i = 0; i < n; i++)
            texels_send_for_leaf(view, &w, i);
        for (size_t i = 0; i < n; i++)
            texels_send_for_entry(view, &w, i);
        for (size_t i = 0; i < n; i++) { /* misses are in the order of samples */
            texels += texels_send_for_texel(view, b, &w, begin, i, misses);
            if (!w.levels[i])
                texels_element(view, b, begin + i, misses, &texels);
        }
        for (size_t i = 0; i < n; i++) {
            if (!w.levels[i])
                continue;
            const int after = b->samplers[b->how[begin + i]].after;
            txm_rgba color = texels_read(&w, i, 0, after, b->decoded);
            if (w.levels[i] == 2)
                color = color * (1.0f - w.blend[i]) + texels_read(&w, i, 1, after, b->decoded) * w.blend[i];
            txm_color_store(color, b->out[begin + i]);
            b->random[begin + i] = w.random[i];
            b->result[begin + i] = TXM_LOOKUP_HIT;
        }
    }
    return texels;
}
#endif
