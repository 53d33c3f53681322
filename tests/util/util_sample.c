/* SPDX-License-Identifier: Apache-2.0
 * Random lookups, and comparing those of an ISA with scalar C. */
#include "util_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile/ops/arith.h"
#include "tile/sample/wrap.h"

uint32_t sample_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 32);
}

static float random_unit(uint64_t *state)
{
    return (float)(sample_random(state) >> 8) / 16777216.0f;
}

/* Around an edge of a pixel or tile, at 0 or 1, inside, outside, far outside, not finite. */
static float random_coordinate(uint64_t *state, uint32_t size, int wild)
{
    static const float special[] = {0.0f,  1.0f,   -0.0f,       -1.0f,      2.0f,   0.5f,
                                    1e-9f, -1e-9f, 0.99999994f, 1.0000001f, -1e-45f};
    uint32_t kind = sample_random(state) % 16, n = sample_random(state);
    float s = (float)size;
    if (kind < 6)
        return random_unit(state);
    if (kind < 9)
        return random_unit(state) * 6.0f - 3.0f;
    if (kind < 12) { /* a few units in the last place around k/2 pixels */
        float u = (float)(n % (2 * size + 5)) * 0.5f / s;
        return txm_bits_float(txm_float_bits(u) + (u > 0.0f ? n % 7 - 3 : 0));
    }
    if (kind < 13)
        return (float)(n % 64) * 64.0f / s;
    if (kind < 15)
        return special[n % (sizeof special / sizeof *special)];
    if (wild && n % 4 == 0)
        return txm_bits_float(n & 8 ? 0x7F800000u | (n & 0x80000000u) : 0x7FC00000u | (n & 0x80000000u));
    return (random_unit(state) - 0.5f) * 1e7f * (float)(n % 100);
}

txm_lookup sample_random_lookup(uint64_t *state, uint32_t width, uint32_t height, int wild)
{
    txm_lookup at = {random_coordinate(state, width, wild), random_coordinate(state, height, wild), 0, 0, 0, 0};
    uint32_t kind = sample_random(state) % 16;
    if (kind == 0)
        return at;
    /* An exponent for each axis of the footprint, and a rotation by any angle: x^2 + y^2 need not be 1. */
    float a = txm_bits_float((127 - 18 + sample_random(state) % 22) << 23), x = random_unit(state) * 2.0f - 1.0f;
    float b = kind < 8 ? a : txm_bits_float((127 - 20 + sample_random(state) % 24) << 23),
          y = random_unit(state) * 2.0f - 1.0f;
    if (kind == 1) /* powers of two: levels without a fraction */
        x = 1.0f, y = 0.0f;
    at.dudx = a * x;
    at.dvdx = a * y;
    at.dudy = -b * y;
    at.dvdy = b * x;
    if (wild && kind == 15) {
        static const float huge[] = {1e38f, -3e38f, 1e-40f, 1e20f};
        float *d = &at.dudx + sample_random(state) % 4;
        uint32_t n = sample_random(state);
        *d = n % 3 ? huge[n % 4] : txm_bits_float(n & 8 ? 0x7F800000u : 0x7FC00000u);
    }
    return at;
}

txm_sampler sample_random_sampler(uint64_t *state)
{
    static const float biases[] = {0.0f, 0.0f, 0.0f, 0.5f, -1.0f, 2.0f};
    txm_sampler how;
    uint32_t n = sample_random(state);
    txm_sampler_init(&how);
    how.rule = (uint8_t)(n % 4);
    how.mode = (uint8_t)((n >> 4) % 4);
    how.filter = (uint8_t)((n >> 8) % 3 ? (n >> 16) % 4 : (n >> 16) % 10);
    if (how.rule == TXM_LEVEL_RULE_GIVEN && how.filter == TXM_FILTER_STOCHASTIC_EWA)
        how.filter = TXM_FILTER_LINEAR;
    how.on_miss = (uint8_t)((n >> 10) % 4);
    how.anisotropy = (uint8_t)(n & 1 << 24 ? 16 : 1 + (n >> 25) % 16);
    how.after = (uint8_t)((n >> 29) ? 0 : sample_random(state) % 4);
    how.mip_bias = biases[sample_random(state) % 6];
    const uint32_t chance = sample_random(state) % 8;
    how.chance = (uint8_t)(chance < 2 ? 1 + chance : 0);
    return how;
}

void sample_give_level(uint64_t *state, const txm_sampler *how, txm_lookup *at)
{
    static const float special[] = {-3.0f, -0.0f, 0.25f, 1.0f, 2.5f, 40.0f, 1e20f, 3.4e38f};
    const uint32_t n = sample_random(state);
    if (how->rule != TXM_LEVEL_RULE_GIVEN)
        return;
    at->dudx = n % 4 ? 12.0f * random_unit(state) - 1.0f : special[(n >> 4) % 8];
    if (n % 64 == 1)
        at->dudx = txm_bits_float(n & 256 ? 0x7FC00000u : 0x7F800000u | (n & 512) << 22);
}

/* ---- a view of its own ---- */

/* Random samples; floats of any size, seldom NaN or infinite. */
static void fill(uint64_t *state, txm_type type, uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 4) {
        uint32_t n = sample_random(state);
        float f = random_unit(state) * 4.0f - 1.0f;
        uint16_t h[2] = {txm_float_to_half(f), txm_float_to_half(1.0f - f)};
        if (type == TXM_TYPE_HALF && n % 256)
            memcpy(&n, h, sizeof n);
        else if (type == TXM_TYPE_FLOAT && n % 256)
            memcpy(&n, &f, sizeof n);
        else if (type == TXM_TYPE_FLOAT)
            n = n & 256 ? 0x7F800000u : 0xFFC00123u;
        memcpy(p + i, &n, bytes - i < 4 ? bytes - i : 4);
    }
}

/* Puts all levels into one tile. */
static void pack(sample_view *v)
{
    txm_view_texture *t = &v->texture;
    t->tile_bytes = 0;
    for (uint32_t l = 0; l < t->levels; l++) {
        t->level_first[l] = t->tile_bytes;
        t->tile_bytes += txm_level_size(t->width, l) * txm_level_size(t->height, l) * t->pixel_bytes;
    }
    t->tile_shift = TXM_SHIFT_PACKED;
    t->row_bytes = 0;
    v->tiles = 1;
}

void sample_view_make(sample_view *v, uint64_t *state, txm_type type, uint32_t channels, txm_extension extension,
                      uint32_t width, uint32_t height, int holes)
{
    txm_view_texture *t = &v->texture;
    *t = (txm_view_texture){.width = width,
                            .height = height,
                            .type = (uint8_t)type,
                            .channels = (uint8_t)channels,
                            .extension = (uint8_t)extension,
                            .tile_shift = 4,
                            .pixel_bytes = channels * (uint32_t)txm_type_bytes(type),
                            .scale = type == TXM_TYPE_U8    ? 1.0f / 255.0f
                                     : type == TXM_TYPE_U16 ? 1.0f / 65535.0f
                                                            : 1.0f,
                            .average = {0.25f, 0.5f, 0.75f, 1.0f}};
    t->row_bytes = 20 * t->pixel_bytes;
    t->tile_bytes = 20 * t->row_bytes;
    v->tiles = 0;
    for (uint32_t l = 0;; l++) {
        uint32_t w = txm_level_size(width, l), h = txm_level_size(height, l);
        t->level_first[l] = v->tiles;
        v->tiles += ((w + 15) >> 4) * ((h + 15) >> 4);
        t->levels = (uint16_t)(l + 1);
        if (!t->tiled_levels && w <= 16 && h <= 16)
            t->tiled_levels = (uint16_t)(l + 1);
        if (w == 1 && h == 1)
            break;
    }
    if (width <= 32 && height <= 32 && sample_random(state) % 2)
        pack(v);
    size_t bytes = (size_t)v->tiles * t->tile_bytes + TXM_SLAB_SLACK;
    uint32_t slabs = (v->tiles >> TXM_SLOT_BITS) + 1;
    uint8_t *pixels = malloc(bytes);
    uint64_t *slab = calloc(slabs, sizeof *slab);
    txm_tile_entry *tiles = calloc(v->tiles, sizeof *tiles);
    if (!pixels || !slab || !tiles)
        abort();
    fill(state, type, pixels, bytes);
    for (uint32_t i = 0; i < slabs; i++)
        slab[i] = (uint64_t)(uintptr_t)pixels + ((uint64_t)i << TXM_SLOT_BITS) * t->tile_bytes;
    for (uint32_t i = 0; i < v->tiles; i++) {
        uint32_t n = sample_random(state) % 64;
        tiles[i].slot = !holes || n > 12 ? i : n ? TXM_SLOT_NONE : TXM_SLOT_FAILED;
    }
    v->slab = slab[0];
    v->view = (txm_view){.textures = t, .tiles = tiles, .slabs = slab, .texture_count = 1, .epoch = 7};
    /* Makes a UDIM set of the texture: one tile in three is missing, or none. */
    v->set = (txm_view_texture){.udim_rows = SAMPLE_UDIM_ROWS};
    for (uint32_t i = 0; i < 10 * SAMPLE_UDIM_ROWS; i++) {
        uint32_t n = sample_random(state) % 12;
        v->udims[i] = n > 3 ? 0 : n ? TXM_NO_TEXTURE : 2;
    }
}

void sample_view_free(sample_view *v)
{
    free((void *)(uintptr_t)v->slab);
    free((void *)(uintptr_t)v->view.slabs);
    free(v->view.tiles);
}

/* ---- comparing ---- */

enum { BATCH = 61 };

typedef struct results {
    float out[4][BATCH];
    uint32_t random[BATCH];
    uint8_t result[BATCH];
    txm_lookup_result worst;
    uint32_t count, requests[4096];
    txm_tile_entry *tiles;
} results;

static char difference[512];

/* A view of the texture and the set, valid as long as `both`. */
static txm_view view_of(const sample_view *v, txm_view_texture both[2])
{
    txm_view view = v->view;
    both[0] = v->texture;
    both[1] = v->set;
    view.textures = both;
    view.udims = v->udims;
    view.texture_count = 2;
    return view;
}

/* Moves coordinates into a set: often into one of its tiles, else beyond its edges. */
static void into_set(uint64_t *state, float *u, float *v)
{
    uint32_t n = sample_random(state);
    *u += (float)(n % 12) - 1.0f;
    *v += (float)((n >> 8) % (SAMPLE_UDIM_ROWS + 2)) - 1.0f;
}

static void run_batch(const txm_sample_ops *ops, const sample_view *v, uint32_t texture, const txm_sampler *how,
                      txm_lookups batch, const uint32_t *random, results *r)
{
    txm_view_texture both[2];
    txm_view view = view_of(v, both);
    r->tiles = malloc(v->tiles * sizeof *r->tiles);
    if (!r->tiles)
        abort();
    memcpy(r->tiles, v->view.tiles, v->tiles * sizeof *r->tiles);
    view.tiles = r->tiles;
    memset(r->out, 0x55, sizeof r->out);
    memset(r->result, 0x55, sizeof r->result);
    memcpy(r->random, random, sizeof r->random);
    for (int c = 0; c < 4; c++)
        batch.out[c] = r->out[c];
    batch.result = r->result;
    if (batch.random)
        batch.random = r->random;
    txm_lookup_state lookup_state = {.capacity = 4096, .requests = r->requests};
    memset(r->requests, 0, sizeof r->requests);
    r->worst = ops->sample_n(&view, texture, how, &batch, &lookup_state);
    r->count = lookup_state.count;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Which lookup requests first may differ; what is requested and marked may not. */
static int same_results(results *a, results *b, uint32_t tiles)
{
    qsort(a->requests, a->count, sizeof *a->requests, by_number);
    qsort(b->requests, b->count, sizeof *b->requests, by_number);
    return a->worst == b->worst && a->count == b->count && memcmp(a->out, b->out, sizeof a->out) == 0 &&
           memcmp(a->random, b->random, sizeof a->random) == 0 && memcmp(a->result, b->result, sizeof a->result) == 0 &&
           memcmp(a->requests, b->requests, a->count * sizeof *a->requests) == 0 &&
           memcmp(a->tiles, b->tiles, tiles * sizeof *a->tiles) == 0;
}

static void report(const char *what, const sample_view *v, const txm_sampler *how, const txm_lookup *at, const float *a,
                   const float *b)
{
    snprintf(
        difference, sizeof difference,
        "%s: %s, %u channels, %ux%u, extension %u, rule %u, mode %u, filter %u, anisotropy %u, after %u at %a %a %a "
        "%a %a %a: %a %a %a %a for %a %a %a %a",
        what, txm_type_name((txm_type)v->texture.type), v->texture.channels, v->texture.width, v->texture.height,
        v->texture.extension, how->rule, how->mode, how->filter, how->anisotropy, how->after, (double)at->u,
        (double)at->v, (double)at->dudx, (double)at->dvdx, (double)at->dudy, (double)at->dvdy, (double)a[0],
        (double)a[1], (double)a[2], (double)a[3], (double)b[0], (double)b[1], (double)b[2], (double)b[3]);
}

static int compare_batch(const txm_sample_ops *ops, const sample_view *v, const txm_sampler *how, uint64_t *state)
{
    static results a, b;
    float in[6][BATCH];
    uint32_t random[BATCH];
    uint8_t mask[BATCH];
    uint32_t texture = sample_random(state) % 4 == 0, together = texture && sample_random(state) % 2,
             column = sample_random(state);
    for (int i = 0; i < BATCH; i++) {
        txm_lookup at = sample_random_lookup(state, v->texture.width, v->texture.height, !together);
        if (together) { /* in one tile, like neighbouring pixels */
            at.u = (float)(column % 10) + (at.u - txm_floor(at.u)) * 0.999f;
            at.v = (float)(column / 16 % SAMPLE_UDIM_ROWS) + (at.v - txm_floor(at.v)) * 0.999f;
        } else if (texture) {
            into_set(state, &at.u, &at.v);
        }
        in[0][i] = at.u, in[1][i] = at.v, in[2][i] = at.dudx, in[3][i] = at.dvdx, in[4][i] = at.dudy,
        in[5][i] = at.dvdy;
        sample_give_level(state, how, &at);
        in[2][i] = at.dudx;
        random[i] = sample_random(state) % 4 ? sample_random(state) : 0;
        mask[i] = sample_random(state) % 4 != 0;
    }
    uint32_t n = sample_random(state);
    txm_lookups batch = {.count = n % (BATCH + 1),
                         .u = in[0],
                         .v = in[1],
                         .dudx = in[2],
                         .dvdx = in[3],
                         .dudy = in[4],
                         .dvdy = in[5],
                         .random = n & 256 ? random : NULL,
                         .mask = n & 512 ? mask : NULL};
    run_batch(&txm_sample_scalar, v, texture, how, batch, random, &a);
    run_batch(ops, v, texture, how, batch, random, &b);
    int same = same_results(&a, &b, v->tiles), at = 0;
    for (int i = 0; i < BATCH; i++)
        for (int c = 0; c < 4; c++)
            at = memcmp(&a.out[c][i], &b.out[c][i], 4) ? i : at;
    if (!same)
        report("batch", v, how, &(txm_lookup){in[0][at], in[1][at], in[2][at], in[3][at], in[4][at], in[5][at]},
               (float[4]){b.out[0][at], b.out[1][at], b.out[2][at], b.out[3][at]},
               (float[4]){a.out[0][at], a.out[1][at], a.out[2][at], a.out[3][at]});
    free(a.tiles);
    free(b.tiles);
    return same;
}

/* A guard whose owner records its arguments. */
typedef struct watch {
    txm_guard guard;
    uint32_t misses, texture;
    const void *how, *at;
    uint32_t *random;
    float *out;
    unsigned active;
} watch;

static txm_lookup_result watch_missed(txm_guard *g, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                                      uint32_t *random, float out[4])
{
    watch *w = (watch *)g;
    *w = (watch){w->guard, w->misses + 1, texture, how, at, random, out, atomic_load(&g->active)};
    return TXM_LOOKUP_MISS;
}

/* Resident lookups give the same as the plain entry and are counted; all others go to the owner, once, with their
 * arguments unchanged and the guard left. */
static int guarded_as_plain(const txm_sample_ops *ops, const txm_view *view, uint32_t texture, const txm_sampler *how,
                            const txm_lookup *at, uint32_t random)
{
    for (int stateless = 0; stateless < 2; stateless++) {
        txm_lookup_state lookup_state = {.random = stateless ? 0 : random};
        float plain[4], out[4] = {0};
        uint32_t state = random;
        watch w = {.guard = {.view = *view, .missed = watch_missed, .active = 1, .lookups = 7}};
        txm_sampler certain = *how;
        certain.chance = stateless ? TXM_CHANCE_NONE : how->chance;
        txm_lookup_result result = txm_sample_scalar.sample(view, texture, &certain, at, &lookup_state, plain);
        txm_lookup_result guarded = ops->sample_guarded(&w.guard, texture, how, at, stateless ? NULL : &state, out);
        uint64_t counted = atomic_load(&w.guard.lookups) - 7;
        if (atomic_load(&w.guard.active) || counted + w.misses != 1 || counted != (result == TXM_LOOKUP_HIT))
            return 0;
        if (w.misses && (guarded != TXM_LOOKUP_MISS || w.active || w.texture != texture || w.how != how || w.at != at ||
                         w.out != out || w.random != (stateless ? NULL : &state) || state != random))
            return 0;
        if (counted && (guarded != result || memcmp(plain, out, sizeof out) ||
                        state != (stateless ? random : lookup_state.random)))
            return 0;
    }
    return 1;
}

static int compare_one(const txm_sample_ops *ops, const sample_view *v, const txm_sampler *how, uint64_t *state)
{
    txm_view_texture textures[2];
    txm_view view = view_of(v, textures);
    float out[2][3][4];
    txm_lookup at = sample_random_lookup(state, v->texture.width, v->texture.height, 1);
    uint32_t texture = sample_random(state) % 4 == 0;
    if (texture)
        into_set(state, &at.u, &at.v);
    sample_give_level(state, how, &at);
    uint32_t random = sample_random(state) % 4 ? sample_random(state) : 0;
    const txm_sample_ops *both[2] = {&txm_sample_scalar, ops};
    txm_lookup_result result[2][2];
    for (int i = 0; i < 2; i++) {
        txm_lookup_state lookup_state = {.random = random}, again = lookup_state;
        result[i][0] = both[i]->sample(&view, texture, how, &at, &lookup_state, out[i][0]);
        if (i)
            report("one", v, how, &at, out[1][0], out[0][0]);
        int same = i == 0 || memcmp(out[0][0], out[1][0], sizeof out[0][0]) == 0;
        result[i][1] = both[i]->sample_d(&view, texture, how, &at, &again, out[i][0], out[i][1], out[i][2]);
        if (!same || lookup_state.random != again.random)
            return 0;
    }
    if (memcmp(result[0], result[1], sizeof result[0]) || memcmp(out[0], out[1], sizeof out[0])) {
        report("derivatives", v, how, &at, out[1][1], out[0][1]);
        return 0;
    }
    if (!guarded_as_plain(&txm_sample_scalar, &view, texture, how, &at, random) ||
        !guarded_as_plain(ops, &view, texture, how, &at, random)) {
        report("guarded", v, how, &at, out[1][0], out[0][0]);
        return 0;
    }
    *difference = 0;
    return 1;
}

/* The texel of a level that a renderer finds by itself, from functions that all headers have. False: CLIP shows none.
 */
static bool find_texel(const txm_view *view, const txm_view_texture *t, uint32_t level, const float place[4],
                       txm_texel_place *out, uint32_t *tile)
{
    const uint32_t w = txm_level_size(t->width, level), h = txm_level_size(t->height, level);
    const int32_t x = txm_extension_pixel(TXM_EXTENSION_U(t->extension),
                                          (int32_t)txm_floor(place[0] * (float)w + place[2]), (int32_t)w);
    const int32_t y = txm_extension_pixel(TXM_EXTENSION_V(t->extension),
                                          (int32_t)txm_floor((1.0f - place[1]) * (float)h + place[3]), (int32_t)h);
    const uint32_t across = (w + (1u << t->tile_shift) - 1) >> t->tile_shift;
    if (x < 0 || y < 0)
        return false;
    const bool packed = t->tile_shift == TXM_SHIFT_PACKED;
    *tile = packed ? 0 : ((uint32_t)y >> t->tile_shift) * across + ((uint32_t)x >> t->tile_shift);
    const uint32_t number = t->first + (packed ? 0 : t->level_first[level]) + *tile;
    *out = (txm_texel_place){t, level, (uint32_t)x, (uint32_t)y, number, txm_view_slot(view, number)};
    return true;
}

/* A point sample as a renderer takes it by itself. `next`: where the next miss is written; NULL: it is not replaced. */
static txm_lookup_result texels_one_by_one(const txm_view *view, const txm_sampler *how, uint32_t texture,
                                           txm_lookup at, const float decoded[256], uint32_t *random, float out[4],
                                           uint64_t *texels, uint32_t sample, txm_texel_miss **next)
{
    const float magenta[4] = {1.0f, 0.0f, 1.0f, 1.0f};
    if (texture < view->texture_count && view->textures[texture].udim_rows) {
        const txm_view_texture *set = &view->textures[texture];
        const uint32_t number = txm_udim_of(&at.u, &at.v);
        texture = number && number - 1001 < 10 * set->udim_rows ? view->udims[set->first + number - 1001] : 99;
    }
    if (texture >= view->texture_count) {
        memcpy(out, magenta, next ? sizeof magenta : 0);
        return TXM_LOOKUP_FAILURE;
    }
    const txm_view_texture *t = &view->textures[texture];
    float place[4] = {at.u - at.u == 0.0f ? at.u : 0.0f, at.v - at.v == 0.0f ? at.v : 0.0f};
    const bool in_u = txm_extension_wrap(TXM_EXTENSION_U(t->extension), &place[0]);
    const bool in_v = txm_extension_wrap(TXM_EXTENSION_V(t->extension), &place[1]);
    if (!in_u || !in_v) {
        memset(out, 0, 4 * sizeof *out);
        return TXM_LOOKUP_HIT;
    }
    uint32_t after = *random;
    const uint32_t last = (how->rule == TXM_LEVEL_RULE_CYCLES ? t->tiled_levels : t->levels) - 1u;
    const float level = txm_level_of(t->width, t->height, how, &at, &after);
    const uint32_t low = level >= (float)last ? last : level > 0.0f ? (uint32_t)level : 0;
    const float blend = how->mode == TXM_LEVEL_MODE_TRILINEAR && level > 0.0f && low < last ? level - (float)low : 0.0f;
    for (int i = 0; how->filter != TXM_FILTER_CLOSEST && i < 2; i++) {
        after = 1103515245u * after + 12345u;
        place[2 + i] = (float)(after >> 8) / 16777216.0f - 0.5f;
    }
    float colors[2][4] = {{0.0f}};
    txm_texel_place found[2];
    uint32_t tiles[2];
    bool shows[2];
    const uint32_t levels = blend > 0.0f ? 2 : 1;
    for (uint32_t k = 0; k < levels; k++) {
        shows[k] = find_texel(view, t, low + k, place, &found[k], &tiles[k]);
        if (shows[k] && found[k].slot >= TXM_SLOT_STATES && !next)
            return TXM_LOOKUP_MISS;
    }
    for (uint32_t k = 0; k < levels; k++) {
        if (!shows[k])
            continue;
        if (found[k].slot < TXM_SLOT_STATES) {
            txm_texel_color(view, &found[k], how->after, decoded, colors[k]);
            ++*texels;
            continue;
        }
        txm_texel_miss miss = {sample, texture, low + k, tiles[k], found[k].slot, 0, 0};
        if (miss.state == TXM_SLOT_UNREGISTERED)
            miss.state = txm_view_slot(view, t->first + miss.level);
        miss.failed = miss.state == TXM_SLOT_FAILED || miss.state == TXM_SLOT_UNREADABLE + view->round;
        txm_texel_place coarser = {.slot = TXM_SLOT_NONE};
        uint32_t none;
        for (miss.shown = miss.failed ? 0 : miss.level + 1; !miss.failed && miss.shown < t->levels; miss.shown++)
            if (find_texel(view, t, miss.shown, place, &coarser, &none) && coarser.slot < TXM_SLOT_STATES)
                break;
        if (miss.failed)
            memcpy(colors[k], magenta, sizeof magenta);
        else if (miss.shown < t->levels)
            txm_texel_color(view, &coarser, how->after, decoded, colors[k]);
        else
            txm_texel_average(t, how->after, colors[k]);
        *(*next)++ = miss;
    }
    for (int c = 0; c < 4; c++)
        out[c] = blend > 0.0f ? colors[0][c] * (1.0f - blend) + colors[1][c] * blend : colors[0][c];
    *random = after;
    return TXM_LOOKUP_HIT;
}

/* Point samples in batches of any length, of textures and samplers of all kinds, and of one kind as in most scenes. */
static int compare_texels(const txm_sample_ops *ops, const sample_view *v, uint64_t *state)
{
    enum { ALL = 150, WAYS = 3 };
    static float in[6][ALL], out[WAYS][ALL][4];
    static uint32_t random[WAYS][ALL], how[ALL], texture[ALL];
    static uint8_t result[WAYS][ALL];
    static txm_texel_miss misses[WAYS][2 * ALL];
    txm_texel_miss *next[WAYS];
    txm_sampler samplers[3];
    const bool coarser = sample_random(state) % 2;
    txm_tile_entry *tiles[WAYS];
    uint64_t texels[WAYS] = {0};
    float decoded[256];
    const int after = (int)(sample_random(state) % 4);
    const uint32_t mixed = sample_random(state) % 4, count = mixed ? 1 + sample_random(state) % ALL : ALL;
    for (int i = 0; i < 3; i++) {
        samplers[i] = i && mixed < 3 ? samplers[0] : sample_random_sampler(state);
        samplers[i].after = (uint8_t)(sample_random(state) % 4);
        samplers[i].filter = sample_random(state) % 3 ? TXM_FILTER_LINEAR : TXM_FILTER_CLOSEST;
    }
    txm_texel_decode(decoded);
    for (uint32_t i = 0; i < count; i++) {
        txm_lookup at = sample_random_lookup(state, v->texture.width, v->texture.height, 1);
        how[i] = sample_random(state) % 3;
        texture[i] = mixed < 2 || sample_random(state) % 8 ? 0 : 1 + sample_random(state) % 2;
        if (texture[i] == 1)
            into_set(state, &at.u, &at.v);
        sample_give_level(state, &samplers[how[i]], &at);
        in[0][i] = at.u, in[1][i] = at.v, in[2][i] = at.dudx, in[3][i] = at.dvdx, in[4][i] = at.dudy,
        in[5][i] = at.dvdy;
        random[0][i] = sample_random(state) % 8 ? sample_random(state) : 0;
    }
    memset(out, 0x55, sizeof out);
    for (int way = 0; way < WAYS; way++) {
        txm_view_texture both[2];
        txm_view view = view_of(v, both);
        view.epoch = 9;
        tiles[way] = view.tiles = malloc(v->tiles * sizeof *view.tiles);
        if (!view.tiles)
            abort();
        memcpy(view.tiles, v->view.tiles, v->tiles * sizeof *view.tiles);
        memcpy(random[way], random[0], way ? sizeof random[0] : 0);
        const txm_texels b = {.count = count,
                              .samplers = samplers,
                              .how = how,
                              .texture = texture,
                              .u = in[0],
                              .v = in[1],
                              .dudx = in[2],
                              .dvdx = in[3],
                              .dudy = in[4],
                              .dvdy = in[5],
                              .decoded = decoded,
                              .random = random[way],
                              .out = out[way],
                              .result = result[way]};
        next[way] = misses[way];
        if (way)
            texels[way] = (way == 1 ? &txm_sample_scalar : ops)->texels_n(&view, &b, coarser ? &next[way] : NULL);
    }
    /* The first way is done last, since it changes the states that the others begin with. */
    txm_view_texture both[2];
    txm_view view = view_of(v, both);
    view.epoch = 9;
    view.tiles = tiles[0];
    for (uint32_t i = 0; i < count; i++) {
        const txm_lookup at = {in[0][i], in[1][i], in[2][i], in[3][i], in[4][i], in[5][i]};
        result[0][i] = (uint8_t)texels_one_by_one(&view, &samplers[how[i]], texture[i], at, decoded, &random[0][i],
                                                  out[0][i], &texels[0], i, coarser ? &next[0] : NULL);
    }
    /* The average is what a lookup in an empty page table gives. */
    float average[2][4];
    txm_sampler alone = samplers[0];
    txm_lookup_state nobody = {0};
    const txm_lookup middle = {0.5f, 0.5f, 0.0f, 0.0f, 0.0f, 0.0f};
    alone.rule = TXM_LEVEL_RULE_CYCLES;
    alone.on_miss = TXM_ON_MISS_AVERAGE;
    alone.after = (uint8_t)after;
    txm_tile_entry *empty = calloc(v->tiles, sizeof *empty);
    if (!empty)
        abort();
    for (uint32_t i = 0; i < v->tiles; i++)
        empty[i].slot = TXM_SLOT_NONE;
    view.tiles = empty;
    ops->sample(&view, 0, &alone, &middle, &nobody, average[0]);
    txm_texel_average(&both[0], after, average[1]);
    free(empty);
    int same = memcmp(average[0], average[1], sizeof average[0]) == 0;
    if (!same)
        report("average", v, &alone, &middle, average[1], average[0]);
    for (int way = 1; way < WAYS; way++) {
        for (uint32_t i = 0; i < count && same; i++) {
            const txm_lookup at = {in[0][i], in[1][i], in[2][i], in[3][i], in[4][i], in[5][i]};
            same = result[0][i] == result[way][i] && random[0][i] == random[way][i] &&
                   !memcmp(out[0][i], out[way][i], sizeof out[0][i]);
            if (!same)
                report(way == 1 ? "texels, scalar" : "texels", v, &samplers[how[i]], &at, out[way][i], out[0][i]);
        }
        const size_t missed = (size_t)(next[0] - misses[0]);
        same = same && (size_t)(next[way] - misses[way]) == missed &&
               !memcmp(misses[0], misses[way], missed * sizeof *misses[0]);
        same = same && texels[0] == texels[way] && !memcmp(tiles[0], tiles[way], v->tiles * sizeof *tiles[0]);
    }
    for (int way = 0; way < WAYS; way++)
        free(tiles[way]);
    return same;
}

const char *sample_compare(const txm_sample_ops *ops, int rounds, uint64_t seed)
{
    static const uint32_t sizes[][2] = {{1, 1},   {16, 16}, {17, 33}, {64, 64}, {100, 30}, {257, 129},
                                        {3, 200}, {512, 7}, {32, 32}, {5, 19},  {2, 32}};
    uint64_t state = seed | 1;
    *difference = 0;
    for (int i = 0; i < rounds; i++) {
        sample_view v;
        uint32_t n = sample_random(&state), s = (n >> 8) % (sizeof sizes / sizeof *sizes);
        sample_view_make(&v, &state, (txm_type)(n % 4), n & 16 ? 3 + (n >> 24) % 2 : 1,
                         (txm_extension)((n >> 5) % (n & 1 ? 4 : 16)), sizes[s][0], sizes[s][1], n >> 30 == 0);
        v.view.textures = &v.texture;
        int same = 1;
        for (int k = 0; k < 40 && same; k++) {
            txm_sampler how = sample_random_sampler(&state);
            same = compare_batch(ops, &v, &how, &state) && compare_one(ops, &v, &how, &state) &&
                   compare_one(ops, &v, &how, &state) && (k % 8 || compare_texels(ops, &v, &state));
        }
        sample_view_free(&v);
        if (!same)
            return *difference ? difference : "results, requests or marks differ";
    }
    return NULL;
}
