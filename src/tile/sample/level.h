/* SPDX-License-Identifier: Apache-2.0
 *
 * From derivatives to levels: logarithm, random steps, the rule of Cycles, ellipses and probes. Plain C for every
 * back-end; only + - * / and square roots in float32, in the order written.
 */
#ifndef TXM_SAMPLE_LEVEL_H
#define TXM_SAMPLE_LEVEL_H
#include "tile/ops/arith.h"
#include "txtile/sampler.h"

/* Square root, rounded correctly. GCC and Clang make one instruction of it under -fno-math-errno. */
#ifdef __CUDA_ARCH__
#define TXM_SQRT(x) __fsqrt_rn(x)
#elif defined(__OPENCL_VERSION__)
#define TXM_SQRT(x) sqrt(x)
#else
#define TXM_SQRT(x) __builtin_sqrtf(x)
#endif

/* log2, within 1.2e-7 of the exact one for arguments near 1 and half a unit in the last place elsewhere, exact at
 * powers of two. 0, subnormals and NaN give -126, infinity 128. With x = 2^k m, m in
 * [sqrt(1/2), sqrt(2)) and s = (m - 1) / (m + 1), log2(m) = 2 / ln 2 (s + s^3/3 + s^5/5 + s^7/7). */
TXM_ARITH float txm_log2(float x)
{
    x = txm_max(x, 1.17549435e-38f);
    uint32_t bits = txm_float_bits(x);
    int32_t k = (int32_t)(bits - 0x3F3504F3u) >> 23;
    float m = txm_bits_float(bits - ((uint32_t)k << 23));
    float s = (m - 1.0f) / (m + 1.0f), t = s * s;
    float p = (2.88539008f + t * 0.961796694f) + (t * t) * (0.577078016f + t * 0.412198583f);
    return (float)k + s * p;
}

/* ---- random numbers ---- */

/* Cycles' own generator, a congruential one of 32 bits: equal states must give equal levels there and here. */
TXM_ARITH uint32_t txm_random_step(uint32_t state)
{
    return 1103515245u * state + 12345u;
}

/* 0 to 1, both possible. */
TXM_ARITH float txm_random_float(uint32_t state)
{
    return (float)state * 2.3283064365386963e-10f;
}

/* ---- rules ---- */

/* What is read of a texture for one lookup. */
typedef struct txm_footprint {
    float level;          /* before clamping, without bias */
    uint32_t probes;      /* 1 or more */
    float step_u, step_v; /* from one probe to the next */
    float spread;         /* half the long axis, in steps: the distance at which a probe's weight would be 0 */
} txm_footprint;

/* Cycles (Blender 5.2): squared extents along u and v in pixels; the shorter one counts, but at least the longer one
 * over the anisotropy. */
TXM_ARITH float txm_level_cycles(float w, float h, float anisotropy, float dudx, float dvdx, float dudy, float dvdy)
{
    float along_u = (dudx * dudx + dudy * dudy) * (w * w), along_v = (dvdx * dvdx + dvdy * dvdy) * (h * h);
    float low = txm_min(along_u, along_v), high = txm_max(along_u, along_v);
    return 0.5f * txm_log2(txm_max(low, high * (1.0f / (anisotropy * anisotropy))));
}

/* Clamps a derivative in pixels so that no square overflows; a level is never larger than 65536 px. NaN counts as 0. */
TXM_ARITH float txm_gradient(float derivative, float size)
{
    float g = derivative * size;
    return g > 1e9f ? 1e9f : g < -1e9f ? -1e9f : g == g ? g : 0.0f;
}

/* The footprint of a pixel is the ellipse J (x, y)^T, x^2 + y^2 <= 1/4, with J the derivatives in pixels of level 0.
 * Its long axis is the larger singular value of J; the short one is |det J| over it, which loses nothing to
 * cancellation. */
typedef struct txm_ellipse {
    float long2, short2; /* squared axes, short2 at least (long / anisotropy)^2 */
    float uu, uv, vv;    /* J J^T */
} txm_ellipse;

/* The larger eigenvalue of J J^T in closed form: half the trace plus a root. */
TXM_ARITH txm_ellipse txm_ellipse_of(float w, float h, float anisotropy, float dudx, float dvdx, float dudy, float dvdy)
{
    float ux = txm_gradient(dudx, w), vx = txm_gradient(dvdx, h);
    float uy = txm_gradient(dudy, w), vy = txm_gradient(dvdy, h);
    txm_ellipse e;
    e.uu = ux * ux + uy * uy;
    e.uv = ux * vx + uy * vy;
    e.vv = vx * vx + vy * vy;
    float d = e.uu - e.vv, det = ux * vy - uy * vx;
    e.long2 = 0.5f * ((e.uu + e.vv) + TXM_SQRT(d * d + 4.0f * (e.uv * e.uv)));
    /* A point has no axes: 0/0 is a NaN that the comparison drops. */
    e.short2 = txm_max(det * det / e.long2, e.long2 * (1.0f / (anisotropy * anisotropy)));
    return e;
}

/* Probes along the long axis, a short axis apart. Magnified pixels need none: the short axis counts as one pixel at
 * least. */
TXM_ARITH void txm_probes_of(const txm_ellipse *e, float w, float h, txm_footprint *f)
{
    float length = TXM_SQRT(e->long2), width = TXM_SQRT(txm_max(e->short2, 1.0f));
    float count = 2.0f * (length / width) - 0.5f; /* ratio 1: 1.5, truncated below */
    f->probes = count >= 2.0f ? (uint32_t)count : 1;
    f->step_u = f->step_v = 0.0f;
    f->spread = 1.0f;
    if (f->probes < 2)
        return;
    /* The direction: of the two rows of J J^T - short2 I the longer one. */
    float x = e->uu >= e->vv ? e->long2 - e->vv : e->uv, y = e->uu >= e->vv ? e->uv : e->long2 - e->uu;
    float norm = x * x + y * y;
    if (!(norm > 0.0f)) {
        f->probes = 1;
        return;
    }
    /* From one end to the other it is 2 (length - width): the filter is twice as long as the footprint, as a tent is.
     */
    float step = 2.0f * (length - width) / (float)(f->probes - 1), inverse = step / TXM_SQRT(norm);
    f->step_u = x * inverse / w;
    f->step_v = y * inverse / h;
    f->spread = length / step;
}

/* Weight of probe i, not normalised. */
TXM_ARITH float txm_probe_weight(const txm_footprint *f, uint32_t i)
{
    float d = ((float)i - 0.5f * (float)(f->probes - 1)) / f->spread, w = 1.0f - d * d;
    return w * w;
}

/* w and h are those of level 0, as floats because all that is done with them is done in float. */
TXM_ARITH txm_footprint txm_footprint_of(const txm_sampler *how, float w, float h, float dudx, float dvdx, float dudy,
                                         float dvdy)
{
    txm_footprint f = {0.0f, 1, 0.0f, 0.0f, 1.0f};
    float anisotropy = (float)how->anisotropy;
    if (how->rule == TXM_LEVEL_RULE_CYCLES || how->rule == TXM_LEVEL_RULE_GIVEN) {
        f.level = how->rule == TXM_LEVEL_RULE_GIVEN ? dudx : txm_level_cycles(w, h, anisotropy, dudx, dvdx, dudy, dvdy);
        return f;
    }
    txm_ellipse e = txm_ellipse_of(w, h, anisotropy, dudx, dvdx, dudy, dvdy);
    f.level = 0.5f * txm_log2(e.short2);
    if (how->rule == TXM_LEVEL_RULE_PROBES)
        txm_probes_of(&e, w, h, &f);
    return f;
}

/* The sampler of a lookup that was given no random numbers; `copy` is room for it. */
TXM_ARITH const txm_sampler *txm_sampler_without_chance(const txm_sampler *how, txm_sampler *copy)
{
    *copy = *how;
    copy->chance = TXM_CHANCE_NONE;
    return copy;
}

/* Bias, and chance where the mode wants it: a half, which rounds to the nearer level, where no number is asked for. A
 * state of 0 adds nothing, as in Cycles, and stays 0. The generator steps only in the two modes that ask for it. */
TXM_ARITH float txm_level_jitter(const txm_sampler *how, float level, uint32_t *random)
{
    if (how->mode == TXM_LEVEL_MODE_STOCHASTIC || how->mode == TXM_LEVEL_MODE_STOCHASTIC_FULL) {
        const int adds = *random || how->chance != TXM_CHANCE_STATE;
        if (*random && how->chance == TXM_CHANCE_STATE)
            *random = txm_random_step(*random);
        float r = how->chance == TXM_CHANCE_NONE ? 0.5f : txm_random_float(*random);
        if (adds)
            level += how->mode == TXM_LEVEL_MODE_STOCHASTIC ? 0.5f + (r - 0.5f) * 0.5f : r;
    }
    return level + how->mip_bias;
}

/* The levels that are read, of `levels`: the finer one, and the weight of the next coarser one. */
TXM_ARITH uint32_t txm_level_clamp(float level, uint32_t levels, int blends, float *blend)
{
    uint32_t last = levels - 1, low = level >= (float)last ? last : level > 0.0f ? (uint32_t)level : 0;
    *blend = blends && level > 0.0f && low < last ? level - (float)low : 0.0f;
    return low;
}

/* Levels that a lookup may choose from: Cycles never goes beyond the first that fits a tile. */
TXM_ARITH uint32_t txm_levels_of(TXM_GLOBAL const txm_view_texture *t, const txm_sampler *how)
{
    return how->rule == TXM_LEVEL_RULE_CYCLES ? t->tiled_levels : t->levels;
}
#endif
