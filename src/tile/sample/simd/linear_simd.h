/* SPDX-License-Identifier: Apache-2.0
 *
 * The most common lookup, a linear filter on a colour texture, with as few loads as possible. A lookup that waits for
 * memory overlaps with the next one only while both fit in the processor's queues, and the load queue is the shortest:
 * Zen 3 holds 44 loads as soon as one of them waits for an address that another one loads, which is always the case
 * with a page table. (It also holds 250 instructions, 138 floating-point results and 64 stores.) Therefore neighbouring
 * members are loaded in one piece, values that can be computed from a constant are not loaded, each storage type has
 * its own copy of the code, u and v are the two halves of a vector, and no function is called except at the very end.
 * The arithmetic is that of level.h and wrap.h, operation by operation.
 *
 * This path handles a single texture, rules without probes, finite coordinates and resident tiles; it gives up on
 * everything else before it has changed any state. A back-end provides v4_floor, v4_max, v4_min, v4_gather,
 * v4_is_placed, v4_spread, v4i_max, v4i_min and v4i_halves.
 */
#ifndef TXM_SAMPLE_LINEAR_SIMD_H
#define TXM_SAMPLE_LINEAR_SIMD_H
#include <stddef.h>

#include "tile/sample/simd/batch_simd.h"

TXM_FAST txm_rgba v4_floor(txm_rgba v);
/* a > b ? a : b and a < b ? a : b, like txm_max and txm_min. */
TXM_FAST txm_rgba v4_max(txm_rgba a, txm_rgba b);
TXM_FAST txm_rgba v4_min(txm_rgba a, txm_rgba b);
/* (*a, *b, 0, 0) with two loads, because one load could not be forwarded from two recent stores. */
TXM_FAST txm_rgba v4_gather(const float *a, const float *b);
/* Whether elements 0 and 1 of uv are numbers; `tile` holds the tiles computed from them. */
TXM_FAST int v4_is_placed(txm_rgba uv, v4i tile);
/* The lower two elements, repeated, followed by the upper two, repeated. */
TXM_FAST txm_pair v4_spread(txm_rgba v);
/* (low half, high half, 0, 0) */
TXM_FAST v4i v4i_halves(uint64_t both);

/* Loads neighbouring struct members at once: eight bytes, the first in the lowest bits. */
TXM_FAST uint64_t linear_members(const void *first)
{
    uint64_t both;
    memcpy(&both, first, sizeof both);
    __asm__("" : "+r"(both)); /* stops compilers from loading each member again where it is used */
    return both;
}

TXM_FAST txm_pair v4_join(txm_rgba a, txm_rgba b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
}

TXM_FAST txm_rgba v4_set(float v)
{
    return (txm_rgba){v, v, v, v};
}

/* ---- levels ---- */

/* The square of the footprint's extent that determines the level, in element 0; `size` is that of level 0. */
TXM_FAST txm_rgba linear_extent_of(txm_level_rule rule, uint32_t anisotropy, const txm_lookup *at, txm_rgba size)
{
    const txm_sample_constants *k = &txm_sample_k;
    if (rule == TXM_LEVEL_RULE_CYCLES) {
        txm_rgba by_x = v4_gather(&at->dudx, &at->dvdx), by_y = v4_gather(&at->dudy, &at->dvdy);
        txm_rgba along = (by_x * by_x + by_y * by_y) * (size * size);
        txm_rgba other = __builtin_shufflevector(along, along, 1, 1, 1, 1);
        txm_rgba high = v4_max(along, other) * v4_set(k->shares[anisotropy]);
        return v4_max(v4_min(along, other), high);
    }
    txm_ellipse e = txm_ellipse_of(size[0], size[1], (float)anisotropy, at->dudx, at->dvdx, at->dudy, at->dvdy);
    return v4_set(e.short2);
}

/* ---- pixels ---- */

TXM_WRAP_COORDINATES(v4, txm_rgba, v4i)

/* Wraps the coordinates in elements 0 and 1 into 0..1; returns 0 if CLIP rejects one. */
TXM_FAST int single_wrap(txm_rgba *uv, int extension)
{
    const txm_rgba x = *uv;
    return v4_wrap(uv, extension) || (x[0] >= 0.0f && x[0] <= 1.0f && x[1] >= 0.0f && x[1] <= 1.0f);
}

/* Blends two rows of two pixels with the weights g.x and f.x across, g.y and f.y down. */
TXM_FAST txm_rgba linear_blend(txm_pair above, txm_pair below, txm_rgba f, txm_rgba g)
{
    txm_rgba w = __builtin_shufflevector(g, f, 0, 4, 1, 5);
    w = __builtin_shufflevector(w, w, 0, 1, 0, 1) * __builtin_shufflevector(w, w, 2, 2, 3, 3);
    txm_rgba up = __builtin_shufflevector(w, w, 0, 0, 1, 1), down = __builtin_shufflevector(w, w, 2, 2, 3, 3);
    return txm_pair_sum(above * v4_spread(up) + below * v4_spread(down));
}

/* Members of a sampler, of a texture starting at its type, and of a texture starting at its udim_rows, as loaded by
 * linear_members. */
typedef struct linear_words {
    uint64_t how, made, entries;
} linear_words;

TXM_FAST linear_words linear_words_of(const txm_view_texture *t, const txm_sampler *how)
{
    return (linear_words){linear_members(&how->rule), linear_members(&t->type), linear_members(&t->udim_rows)};
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && offsetof(txm_sampler, after) == 5 &&
                   offsetof(txm_view_texture, tile_shift) == offsetof(txm_view_texture, type) + 3 &&
                   offsetof(txm_view_texture, first) == offsetof(txm_view_texture, udim_rows) + 4 &&
                   offsetof(txm_view_texture, tile_bytes) == offsetof(txm_view_texture, row_bytes) + 4,
               "members lie where the words expect them");
#define TXM_LINEAR_RULE(words) ((uint8_t)(words).how)
#define TXM_LINEAR_MODE(words) ((uint8_t)((words).how >> 8))
#define TXM_LINEAR_FILTER(words) ((uint8_t)((words).how >> 16))
#define TXM_LINEAR_ANISOTROPY(words) ((uint8_t)((words).how >> 32))
#define TXM_LINEAR_AFTER(words) ((uint8_t)((words).how >> 40))
/* The kind (taps_simd.h). The bit that distinguishes four channels from three comes from the channel count, and a bit
 * in the tile shift marks packed textures. */
#define TXM_LINEAR_KIND(words)                                                                                         \
    (((words).made & 3) | (((words).made >> 8 & 4) ^ TXM_KIND_RGB) | ((words).made >> 25 & TXM_KIND_PACKED))
#define TXM_LINEAR_EXTENSION(words) ((uint8_t)((words).made >> 16))
#define TXM_LINEAR_SHIFT(words) ((uint8_t)((words).made >> 24))
#define TXM_LINEAR_UDIM_ROWS(words) ((uint32_t)(words).entries)
#define TXM_LINEAR_FIRST(words) ((uint32_t)((words).entries >> 32))

/* linear_find for a packed texture whose only entry is resident. The other pixels can be anywhere: *apart is their
 * distance in bytes from the first, to the right and below, which is always less than 2^15 in these textures. NULL if
 * CLIP leaves some of them out. */
TXM_FAST const uint8_t *linear_find_packed(int kind, const uint8_t *pixels, linear_words words, txm_rgba low, v4i size,
                                           uint32_t *apart)
{
    const int32_t pixel_bytes = (int32_t)txm_kind_bytes(kind), row_bytes = size[0] * pixel_bytes;
    v4i from = __builtin_convertvector(low, v4i), to = from + 1;
    if (!v4i_wrap_neighbours(&from, &to, size, TXM_LINEAR_EXTENSION(words)))
        return NULL;
    const v4i step = to - from;
    *apart = (uint32_t)(step[1] * row_bytes) << 16 | (uint16_t)(step[0] * pixel_bytes);
    return pixels + from[1] * row_bytes + from[0] * pixel_bytes;
}

/* The pixels of a tile; NULL if it is missing. `bytes` are the texture's row_bytes and tile_bytes. */
TXM_FAST const uint8_t *linear_tile(const txm_view *view, uint64_t bytes, uint32_t number)
{
    const txm_tile_at found = txm_find_tile(view, number);
    if (TXM_UNLIKELY(found.slot >= TXM_SLOT_STATES))
        return NULL;
    txm_touch_tile(view, found.word, found.mark, found.index);
    return (const uint8_t *)(uintptr_t)view->slabs[found.slot >> TXM_SLOT_BITS] +
           (found.slot & ((1u << TXM_SLOT_BITS) - 1)) * (bytes >> 32);
}

/* The address of the first of the four pixels at `uv`, which is (u, 1 - v), in a level of `size` pixels. NULL if its
 * tile, *number, is missing, or if uv is not finite, in which case there is no tile. *f is the distance of the place
 * from that pixel. */
#define TXM_LINEAR_NOWHERE 0xFFFFFFFFu
TXM_FAST const uint8_t *linear_find(int kind, const txm_view *view, const txm_view_texture *t, linear_words words,
                                    uint32_t level, txm_rgba uv, v4i size, uint32_t *number, uint32_t *row_bytes,
                                    txm_rgba *f)
{
    *number = TXM_LINEAR_NOWHERE;
    const uint32_t pixel_bytes = txm_kind_bytes(kind);
    const uint32_t shift = TXM_LINEAR_SHIFT(words);
    v4i last = size - 1;
    txm_rgba xy = uv * __builtin_convertvector(size, txm_rgba), middle = xy - txm_sample_k.half, low = v4_floor(middle);
    v4i in = v4i_min(__builtin_convertvector(xy, v4i), last), tile = in >> (int)shift;
    v4i tap = __builtin_convertvector(low, v4i) - (tile << (int)shift);
    if (TXM_UNLIKELY(!v4_is_placed(uv, tile)))
        return NULL;
    uint32_t across = (uint32_t)last[0] >> shift, row = (uint32_t)tile[1]; /* number of tiles across, less one */
    const uint32_t begin = t->level_first[level];
    uint32_t index = TXM_LINEAR_FIRST(words) + begin + (uint32_t)tile[0] + row + row * across;
    if (kind & TXM_KIND_PACKED)
        index = TXM_LINEAR_FIRST(words);
    *number = index;
    uint64_t bytes = linear_members(&t->row_bytes);
    const uint8_t *pixels = linear_tile(view, bytes, index);
    if (TXM_UNLIKELY(!pixels))
        return NULL;
    *row_bytes = (uint32_t)bytes;
    *f = middle - low;
    if (kind & TXM_KIND_PACKED) {
        const uint8_t *p = linear_find_packed(kind, pixels + begin, words, low, size, row_bytes);
        *number = p ? index : TXM_LINEAR_NOWHERE;
        return p;
    }
    return pixels + ((uint32_t)tap[1] + TXM_BORDER_PX) * *row_bytes + ((uint32_t)tap[0] + TXM_BORDER_PX) * pixel_bytes;
}

/* A level whose four pixels were found. */
typedef struct linear_place {
    const uint8_t *taps; /* the first of them; NULL: the tile is missing */
    uint32_t number, row_bytes;
    txm_rgba f;            /* elements 0 and 1, of packed textures */
    txm_pair above, below; /* weights of the rows' pixels, of others */
} linear_place;

/* linear_find for a level and the next coarser one of a texture that is not packed: the first two elements of each
 * vector belong to the finer one, and the others to the coarser one. */
TXM_FAST void linear_find_both(int kind, const txm_view *view, const txm_view_texture *t, linear_words words,
                               uint32_t level, txm_rgba uv, linear_place *fine, linear_place *coarse)
{
    *fine = *coarse = (linear_place){.number = TXM_LINEAR_NOWHERE};
    const int32_t pixel_bytes = (int32_t)txm_kind_bytes(kind), shift = TXM_LINEAR_SHIFT(words);
    const v4i full = v4i_halves(linear_members(&t->width)), begin = v4i_halves(linear_members(&t->level_first[level]));
    const v4u sizes = (v4u)__builtin_shufflevector(full, full, 0, 1, 0, 1) >> (v4u)((v4i){0, 0, 1, 1} + (int32_t)level);
    const v4i size = v4i_max((v4i)sizes, (v4i){1, 1, 1, 1}), last = size - 1;
    const txm_rgba xy = __builtin_shufflevector(uv, uv, 0, 1, 0, 1) * __builtin_convertvector(size, txm_rgba);
    const txm_rgba middle = xy - txm_sample_k.half, low = v4_floor(middle), f = middle - low;
    const v4i tile = v4i_min(__builtin_convertvector(xy, v4i), last) >> shift, across = last >> shift;
    if (TXM_UNLIKELY(!v4_is_placed(uv, tile)))
        return;
    const uint64_t bytes = linear_members(&t->row_bytes);
    const v4i row = __builtin_shufflevector(tile, tile, 1, 1, 3, 3);
    const v4i number = __builtin_shufflevector(begin, begin, 0, 0, 1, 1) + (int32_t)TXM_LINEAR_FIRST(words) + tile +
                       row + row * across;
    const v4i tap = __builtin_convertvector(low, v4i) - (tile << shift) + TXM_BORDER_PX;
    const v4i offset = __builtin_shufflevector(tap, tap, 1, 1, 3, 3) * (int32_t)bytes + tap * pixel_bytes;
    const uint32_t numbers[2] = {(uint32_t)number[0], (uint32_t)number[2]};
    const uint8_t *first = linear_tile(view, bytes, numbers[0]), *second = linear_tile(view, bytes, numbers[1]);
    const txm_rgba g = txm_sample_k.one - f;
    const txm_pair fg = __builtin_shufflevector(g, f, 0, 4, 1, 5, 2, 6, 3, 7);
    const txm_pair w = __builtin_shufflevector(fg, fg, 0, 1, 0, 1, 4, 5, 4, 5) *
                       __builtin_shufflevector(fg, fg, 2, 2, 3, 3, 6, 6, 7, 7);
    *fine = (linear_place){first ? first + (uint32_t)offset[0] : NULL,
                           numbers[0],
                           (uint32_t)bytes,
                           f,
                           __builtin_shufflevector(w, w, 0, 0, 0, 0, 1, 1, 1, 1),
                           __builtin_shufflevector(w, w, 2, 2, 2, 2, 3, 3, 3, 3)};
    *coarse = (linear_place){second ? second + (uint32_t)offset[2] : NULL,
                             numbers[1],
                             (uint32_t)bytes,
                             f,
                             __builtin_shufflevector(w, w, 4, 4, 4, 4, 5, 5, 5, 5),
                             __builtin_shufflevector(w, w, 6, 6, 6, 6, 7, 7, 7, 7)};
}

TXM_FAST txm_rgba linear_read(int kind, const uint8_t *p, uint32_t row_bytes, txm_rgba f)
{
    if (kind & TXM_KIND_PACKED) {
        const int one = kind & ~TXM_KIND_PACKED;
        const uint8_t *right = p + (int16_t)row_bytes, *down = p + ((int32_t)row_bytes >> 16);
        return linear_blend(v4_join(txm_load_one(one, p), txm_load_one(one, right)),
                            v4_join(txm_load_one(one, down), txm_load_one(one, down + (int16_t)row_bytes)), f,
                            txm_sample_k.one - f);
    }
    return linear_blend(txm_load_two(kind, p), txm_load_two(kind, p + row_bytes), f, txm_sample_k.one - f);
}

TXM_FAST txm_rgba linear_read_place(int kind, const linear_place *l)
{
    if (kind & TXM_KIND_PACKED)
        return linear_read(kind, l->taps, l->row_bytes, l->f);
    return txm_pair_sum(txm_load_two(kind, l->taps) * l->above + txm_load_two(kind, l->taps + l->row_bytes) * l->below);
}

/* ---- the whole lookup ---- */

/* The functions exist three times: for lookups of callers with their own state; for lookups under a guard
 * (sample_ops.h), whose view is that of the guard; and for lookups of the first sort that missed and now request tiles.
 * Up to that point only the random state is used, so all of them pass a pointer to it; under a guard it may
 * be NULL. */
typedef enum linear_caller { LINEAR_PLAIN, LINEAR_GUARDED, LINEAR_ASKING } linear_caller;
_Static_assert(offsetof(txm_lookup_state, random) == 0, "a state is found by its random state");

/* The general path, for lookups that a fast path has given up on before it changed any state. */
TXM_RARE txm_lookup_result sample_generally(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                            const txm_lookup *at, txm_lookup_state *state, float out[4])
{
    return sample_one(view, texture, how, at, state, out);
}

typedef txm_lookup_result (*linear_function)(const txm_view *, const txm_view_texture *, const txm_sampler *,
                                             const txm_lookup *, uint32_t *, float *);
/* It is indexed by caller, rule and kind. */
static const linear_function linear_functions[3][2][16];

TXM_FAST txm_lookup_result linear_give_up(linear_caller caller, int kind, const txm_view *view,
                                          const txm_view_texture *t, const txm_sampler *how, const txm_lookup *at,
                                          uint32_t *random, float out[4])
{
    const uint32_t texture = (uint32_t)(t - view->textures);
    if (caller == LINEAR_GUARDED)
        return sample_one_guarded((txm_guard *)view, texture, how, at, random, out);
    if (caller == LINEAR_PLAIN)
        return linear_functions[LINEAR_ASKING][how->rule][kind](view, t, how, at, random, out);
    return sample_generally(view, texture, how, at, (txm_lookup_state *)(void *)random, out);
}

/* Requests the tile of a level and returns its stand-in, like txm_stand_in. Returns 0 if the lookup must take the
 * general path, which may request the tile again. */
TXM_FAST int linear_ask(const txm_view *view, const txm_view_texture *t, const txm_sampler *how, uint32_t level,
                        uint32_t number, uint32_t *random, txm_rgba *color)
{
    const float inverse = 1.0f / t->scale;
    if (number == TXM_LINEAR_NOWHERE || how->on_miss != TXM_ON_MISS_AVERAGE || how->after ||
        txm_tile_missing(view, t, level, number, (txm_lookup_state *)(void *)random) == TXM_LOOKUP_FAILURE)
        return 0;
    *color = (txm_rgba){t->average[0], t->average[1], t->average[2], t->average[3]} * inverse;
    return 1;
}

/* The vector form of txm_color_finish. */
TXM_FAST txm_lookup_result linear_missed(const txm_view_texture *t, txm_rgba color, float out[4])
{
    txm_color_store(txm_rgba_quiet(color * t->scale), out);
    return TXM_LOOKUP_MISS;
}

TXM_FAST txm_lookup_result linear_end(linear_caller caller, const txm_view *view)
{
    return caller == LINEAR_GUARDED ? txm_guard_leave((txm_guard *)view) : TXM_LOOKUP_HIT;
}

TXM_RARE txm_lookup_result linear_after(int after, txm_rgba color, float out[4])
{
    txm_color_store(group_after(after, color), out);
    return TXM_LOOKUP_HIT;
}

TXM_RARE txm_lookup_result linear_guarded_after(int after, txm_rgba color, float out[4], const txm_view *view)
{
    txm_color_store(group_after(after, color), out);
    return linear_end(LINEAR_GUARDED, view);
}

/* Rare cases are tail calls, so that this function needs no stack frame. */
TXM_FAST txm_lookup_result linear_finish(linear_caller caller, int kind, const txm_view *view,
                                         const txm_view_texture *t, uint32_t after, txm_rgba color, float out[4])
{
    color = color * t->scale;
    if ((kind & 3) >= TXM_TYPE_HALF)
        color = txm_rgba_quiet(color);
    if (TXM_UNLIKELY(after))
        return caller == LINEAR_GUARDED ? linear_guarded_after((int)after, color, out, view)
                                        : linear_after((int)after, color, out);
    txm_color_store(color, out);
    return linear_end(caller, view);
}

typedef txm_lookup_result (*linear_one_function)(const txm_view_texture *, const uint8_t *, uint32_t, uint32_t, float *,
                                                 const txm_view *, txm_rgba);
typedef txm_lookup_result (*linear_two_function)(const txm_view *, const txm_view_texture *, const txm_sampler *,
                                                 const txm_lookup *, uint32_t *, float *, txm_rgba, float);

/* Reads two levels and blends them. `level` is neither below 0 nor beyond the last but one. A plain lookup that misses
 * continues in `asking`. */
TXM_FAST txm_lookup_result linear_two(linear_caller caller, int kind, linear_two_function asking, const txm_view *view,
                                      const txm_view_texture *t, const txm_sampler *how, const txm_lookup *at,
                                      uint32_t *random, float out[4], txm_rgba uv, float level)
{
    const linear_words words = linear_words_of(t, how);
    const uint32_t low = (uint32_t)(int32_t)level;
    const float blend = level - (float)(int32_t)low;
    linear_place fine = {0}, coarse = {0};
    if (kind & TXM_KIND_PACKED) {
        const v4i one = {1, 1, 1, 1}, full = v4i_halves(linear_members(&t->width));
        fine.taps = linear_find(kind, view, t, words, low, uv, v4i_max((v4i)((v4u)full >> low), one), &fine.number,
                                &fine.row_bytes, &fine.f);
        coarse.taps = linear_find(kind, view, t, words, low + 1, uv, v4i_max((v4i)((v4u)full >> (low + 1)), one),
                                  &coarse.number, &coarse.row_bytes, &coarse.f);
    } else {
        linear_find_both(kind, view, t, words, low, uv, &fine, &coarse);
    }
    const int missing = !fine.taps || !coarse.taps;
    txm_rgba here = {0}, there = here;
    if (TXM_UNLIKELY(missing) && caller == LINEAR_PLAIN)
        return asking(view, t, how, at, random, out, uv, level);
    if (TXM_UNLIKELY(missing) &&
        (caller == LINEAR_GUARDED || (!fine.taps && !linear_ask(view, t, how, low, fine.number, random, &here)) ||
         (!coarse.taps && !linear_ask(view, t, how, low + 1, coarse.number, random, &there))))
        return linear_give_up(caller, kind, view, t, how, at, random, out);
    if (caller != LINEAR_ASKING || fine.taps)
        here = linear_read_place(kind, &fine);
    if (caller != LINEAR_ASKING || coarse.taps)
        there = linear_read_place(kind, &coarse);
    txm_rgba color = here * (1.0f - blend) + there * blend;
    if (missing)
        return linear_missed(t, color, out);
    return linear_finish(caller, kind, view, t, TXM_LINEAR_AFTER(words), color, out);
}

/* Computes everything up to the address of the first pixel; `one` and `two` do the rest in separate functions, because
 * compilers align the stack where vectors of eight floats are used. A footprint of a pixel or less uses level 0 without
 * computing the logarithm, unless a bias or random offset is added. */
TXM_FAST txm_lookup_result linear_sample(linear_caller caller, int kind, txm_level_rule rule, linear_one_function one,
                                         linear_two_function two, const txm_view *view, const txm_view_texture *t,
                                         const txm_sampler *how, linear_words words, const txm_lookup *at,
                                         uint32_t *random, float out[4])
{
    const int stateless = caller == LINEAR_GUARDED && !random;
    uint32_t next_random = caller == LINEAR_ASKING ? *random : 0, low = 0, entry;
    const txm_sample_constants *k = &txm_sample_k;
    txm_rgba uv = v4_gather(&at->u, &at->v), f;
    if (TXM_UNLIKELY(!single_wrap(&uv, TXM_LINEAR_EXTENSION(words)))) {
        txm_color_store(v4_set(0.0f), out);
        return linear_end(caller, view);
    }
    uv = __builtin_shufflevector(uv, k->one - uv, 0, 5, 2, 3); /* (u, 1 - v) */
    v4i size = v4i_halves(linear_members(&t->width));
    txm_rgba extent = linear_extent_of(rule, TXM_LINEAR_ANISOTROPY(words), at, __builtin_convertvector(size, txm_rgba));
    const uint32_t mode = TXM_LINEAR_MODE(words);
    const uint8_t *p;
    uint32_t row_bytes;
    if (mode > TXM_LEVEL_MODE_STOCHASTIC_FULL && !(how->mip_bias > 0.0f) && !(extent[0] > k->one[0])) {
        p = linear_find(kind, view, t, words, 0, uv, size, &entry, &row_bytes, &f);
    } else {
        uint32_t last = (rule == TXM_LEVEL_RULE_CYCLES ? t->tiled_levels : t->levels) - 1;
        float level = 0.5f * txm_log2(extent[0]);
        next_random = stateless ? 0 : *random;
        if (mode <= TXM_LEVEL_MODE_STOCHASTIC_FULL) {
            const txm_sampler jitter = {
                .mode = (uint8_t)mode, .chance = stateless ? TXM_CHANCE_NONE : how->chance, .mip_bias = how->mip_bias};
            level = txm_level_jitter(&jitter, level, &next_random);
        } else {
            level += how->mip_bias;
        }
        level = txm_max(level, 0.0f);
        low = (uint32_t)(int32_t)level; /* like txm_level_clamp */
        if (mode == TXM_LEVEL_MODE_TRILINEAR && low < last && level > (float)(int32_t)low)
            return two(view, t, how, at, random, out, uv, level);
        low = low < last ? low : last;
        p = linear_find(kind, view, t, words, low, uv, v4i_max((v4i)((v4u)size >> low), (v4i){1, 1, 1, 1}), &entry,
                        &row_bytes, &f);
        if (p && !stateless)
            *random = next_random;
    }
    if (TXM_UNLIKELY(!p)) {
        txm_rgba color;
        if (caller != LINEAR_ASKING || !linear_ask(view, t, how, low, entry, random, &color))
            return linear_give_up(caller, kind, view, t, how, at, random, out);
        *random = next_random;
        return linear_missed(t, color, out);
    }
    return one(t, p, row_bytes, TXM_LINEAR_AFTER(words), out, view, f);
}

#define TXM_LINEAR_ENDS(name, caller, kind, asking)                                                                    \
    TXM_RARE txm_lookup_result name##_one(const txm_view_texture *t, const uint8_t *p, uint32_t row_bytes,             \
                                          uint32_t after, float out[4], const txm_view *view, txm_rgba f)              \
    {                                                                                                                  \
        return linear_finish(caller, kind, view, t, after, linear_read(kind, p, row_bytes, f), out);                   \
    }                                                                                                                  \
    TXM_RARE txm_lookup_result name##_two(const txm_view *view, const txm_view_texture *t, const txm_sampler *how,     \
                                          const txm_lookup *at, uint32_t *random, float out[4], txm_rgba uv,           \
                                          float level)                                                                 \
    {                                                                                                                  \
        return linear_two(caller, kind, asking, view, t, how, at, random, out, uv, level);                             \
    }
#define TXM_LINEAR(name, ends, caller, rule, kind)                                                                     \
    TXM_RARE txm_lookup_result name(const txm_view *view, const txm_view_texture *t, const txm_sampler *how,           \
                                    const txm_lookup *at, uint32_t *random, float out[4])                              \
    {                                                                                                                  \
        return linear_sample(caller, kind, rule, ends##_one, ends##_two, view, t, how, linear_words_of(t, how), at,    \
                             random, out);                                                                             \
    }
#define TXM_LINEAR_ALL(name, kind)                                                                                     \
    TXM_LINEAR_ENDS(name##_asking, LINEAR_ASKING, kind, NULL)                                                          \
    TXM_LINEAR_ENDS(name##_guarded, LINEAR_GUARDED, kind, NULL)                                                        \
    TXM_LINEAR_ENDS(name, LINEAR_PLAIN, kind, name##_asking_two)                                                       \
    TXM_LINEAR(name##_ellipse, name, LINEAR_PLAIN, TXM_LEVEL_RULE_ELLIPSE, kind)                                       \
    TXM_LINEAR(name##_guarded_ellipse, name##_guarded, LINEAR_GUARDED, TXM_LEVEL_RULE_ELLIPSE, kind)                   \
    TXM_LINEAR(name##_asking_ellipse, name##_asking, LINEAR_ASKING, TXM_LEVEL_RULE_ELLIPSE, kind)                      \
    TXM_LINEAR(name##_asking_cycles, name##_asking, LINEAR_ASKING, TXM_LEVEL_RULE_CYCLES, kind)
#define TXM_LINEAR_CYCLES(name, kind)                                                                                  \
    TXM_LINEAR(name##_cycles, name, LINEAR_PLAIN, TXM_LEVEL_RULE_CYCLES, kind)                                         \
    TXM_LINEAR(name##_guarded_cycles, name##_guarded, LINEAR_GUARDED, TXM_LEVEL_RULE_CYCLES, kind)
TXM_LINEAR_ALL(rgba8, TXM_TYPE_U8)
TXM_LINEAR_ALL(rgba16, TXM_TYPE_U16)
TXM_LINEAR_ALL(rgba_half, TXM_TYPE_HALF)
TXM_LINEAR_ALL(rgba_float, TXM_TYPE_FLOAT)
TXM_LINEAR_ALL(rgb8, TXM_TYPE_U8 + TXM_KIND_RGB)
TXM_LINEAR_ALL(packed_rgba8, TXM_TYPE_U8 + TXM_KIND_PACKED)
TXM_LINEAR_ALL(packed_rgb8, TXM_TYPE_U8 + TXM_KIND_PACKED + TXM_KIND_RGB)
TXM_LINEAR_CYCLES(rgba16, TXM_TYPE_U16)
TXM_LINEAR_CYCLES(rgba_half, TXM_TYPE_HALF)
TXM_LINEAR_CYCLES(rgba_float, TXM_TYPE_FLOAT)
TXM_LINEAR_CYCLES(rgb8, TXM_TYPE_U8 + TXM_KIND_RGB)
TXM_LINEAR_CYCLES(packed_rgba8, TXM_TYPE_U8 + TXM_KIND_PACKED)
TXM_LINEAR_CYCLES(packed_rgb8, TXM_TYPE_U8 + TXM_KIND_PACKED + TXM_KIND_RGB)
#undef TXM_LINEAR_CYCLES
#undef TXM_LINEAR_ALL
#undef TXM_LINEAR
#undef TXM_LINEAR_ENDS

/* Most textures are 8-bit and use Cycles' rule, so this case is inlined where the words are known already. */
#define TXM_LINEAR_ROW(first, ends)                                                                                    \
    {                                                                                                                  \
        first, rgba16_##ends, rgba_half_##ends,                                                                        \
            rgba_float_##ends, [TXM_KIND_RGB] = rgb8_##ends, [TXM_KIND_PACKED] = packed_rgba8_##ends,                  \
                               [TXM_KIND_PACKED + TXM_KIND_RGB] = packed_rgb8_##ends                                   \
    }
static const linear_function linear_functions[3][2][16] = {
    [LINEAR_PLAIN] = {TXM_LINEAR_ROW(NULL, cycles), TXM_LINEAR_ROW(rgba8_ellipse, ellipse)},
    [LINEAR_GUARDED] = {TXM_LINEAR_ROW(NULL, guarded_cycles), TXM_LINEAR_ROW(rgba8_guarded_ellipse, guarded_ellipse)},
    [LINEAR_ASKING] = {TXM_LINEAR_ROW(rgba8_asking_cycles, asking_cycles),
                       TXM_LINEAR_ROW(rgba8_asking_ellipse, asking_ellipse)},
};
#undef TXM_LINEAR_ROW
_Static_assert(TXM_LEVEL_RULE_CYCLES == 0 && TXM_LEVEL_RULE_ELLIPSE == 1, "the table is indexed by rules");

/* Whether the fast path handles a texture and a sampler: colours of any type, and packed or opaque textures of 8 bits
 * only, since the other combinations are too rare to justify further copies of this code. */
_Static_assert(TXM_SHIFT_PACKED == 0x10 && TXM_TYPE_U8 == 0, "no tile is that large");
TXM_FAST int linear_serves(linear_words words)
{
    /* the type, the channels, whether the extension is a pair, and the packed bit */
    const uint32_t shape = (uint32_t)words.made & 0x100CFF03u;
    return TXM_LINEAR_FILTER(words) == TXM_FILTER_LINEAR && TXM_LINEAR_RULE(words) <= TXM_LEVEL_RULE_ELLIPSE &&
           ((shape & ~3u) == 0x400 || (shape & ~0x10000000u) == 0x300 || shape == 0x10000400) &&
           !TXM_LINEAR_UDIM_ROWS(words);
}

/* Whether the texture has four channels of 8 bits and the sampler Cycles' rule, as most have. Few instructions, because
 * every lookup begins with this test. */
TXM_FAST int linear_is_usual(linear_words words)
{
    return ((uint32_t)words.made & 0x100CFF03u) == 0x400 &&
           ((uint32_t)words.how & 0xFF00FFu) == (TXM_FILTER_LINEAR << 16 | TXM_LEVEL_RULE_CYCLES) &&
           !TXM_LINEAR_UDIM_ROWS(words);
}

TXM_FAST txm_lookup_result linear_usual(linear_caller caller, const txm_view *view, const txm_view_texture *t,
                                        const txm_sampler *how, linear_words words, const txm_lookup *at,
                                        uint32_t *random, float out[4])
{
    return linear_sample(
        caller, TXM_TYPE_U8, TXM_LEVEL_RULE_CYCLES, caller == LINEAR_GUARDED ? rgba8_guarded_one : rgba8_one,
        caller == LINEAR_GUARDED ? rgba8_guarded_two : rgba8_two, view, t, how, words, at, random, out);
}

TXM_FAST linear_function linear_other(linear_caller caller, linear_words words)
{
    return linear_functions[caller][TXM_LINEAR_RULE(words)][TXM_LINEAR_KIND(words)];
}
#endif
