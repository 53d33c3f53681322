/* SPDX-License-Identifier: Apache-2.0
 *
 * From derivatives to levels: the logarithm, random steps, the rule of Cycles, ellipses and probes. This is plain C for
 * every back-end. It uses only + - * / and square roots in float32, evaluated in the order written.
 */
#ifndef TXM_SAMPLE_LEVEL_H
#define TXM_SAMPLE_LEVEL_H
#include "tile/ops/arith.h"
#include "txtile/sampler.h"

/* Square root, correctly rounded. GCC and Clang compile it to one instruction under -fno-math-errno. */
#ifdef __CUDA_ARCH__
#define TXM_SQRT(x) __fsqrt_rn(x)
#elif defined(__OPENCL_VERSION__)
#define TXM_SQRT(x) sqrt(x)
#else
#define TXM_SQRT(x) __builtin_sqrtf(x)
#endif

/* Base-2 logarithm. The error is at most 1.2e-7 for arguments near 1 and half a unit in the last place elsewhere;
 * powers of two are exact. 0, subnormals and NaN give -126, infinity gives 128. With x = 2^k m, m in [sqrt(1/2),
 * sqrt(2)) and s = (m - 1) / (m + 1), log2(m) = 2 / ln 2 (s + s^3/3 + s^5/5 + s^7/7). */
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

/* The 32-bit congruential generator of Cycles, because equal states must give equal levels in both programs. */
TXM_ARITH uint32_t txm_random_step(uint32_t state)
{
    return 1103515245u * state + 12345u;
}

/* The number is from 0 to 1, both included. */
TXM_ARITH float txm_random_float(uint32_t state)
{
    return (float)state * 2.3283064365386963e-10f;
}

/* ---- rules ---- */

/* The part of a texture that a lookup reads. */
typedef struct txm_footprint {
    float level;          /* the level before clamping, without bias */
    uint32_t probes;      /* 1 or more */
    float step_u, step_v; /* step from one probe to the next */
    float spread;         /* half the long axis, in steps: the distance at which a probe's weight would reach 0 */
} txm_footprint;

/* The rule of Cycles (Blender 5.2). It compares the squared extents along u and v in pixels and takes the shorter one,
 * but at least the longer one divided by the anisotropy. */
TXM_ARITH float txm_level_cycles(float w, float h, float anisotropy, float dudx, float dvdx, float dudy, float dvdy)
{
    float along_u = (dudx * dudx + dudy * dudy) * (w * w), along_v = (dvdx * dvdx + dvdy * dvdy) * (h * h);
    float low = txm_min(along_u, along_v), high = txm_max(along_u, along_v);
    return 0.5f * txm_log2(txm_max(low, high * (1.0f / (anisotropy * anisotropy))));
}

/* Converts a derivative to pixels and clamps it, so that its square cannot overflow; a level is never larger than
 * 131071 px. NaN becomes 0. */
TXM_ARITH float txm_gradient(float derivative, float size)
{
    float g = derivative * size;
    return g > 1e9f ? 1e9f : g < -1e9f ? -1e9f : g == g ? g : 0.0f;
}

/* The footprint of a pixel is the ellipse J (x, y)^T, x^2 + y^2 <= 1/4, with J the derivatives in pixels of level 0.
 * Its long axis is the larger singular value of J. The short axis is |det J| divided by the long one, which avoids
 * cancellation. */
typedef struct txm_ellipse {
    float long2, short2; /* squared axes; short2 is at least (long / anisotropy)^2 */
    float uu, uv, vv;    /* J J^T */
} txm_ellipse;

/* Computes the larger eigenvalue of J J^T in closed form: half the trace plus a root. */
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
    /* If the footprint is a point, 0/0 gives a NaN, which the comparison drops. */
    e.short2 = txm_max(det * det / e.long2, e.long2 * (1.0f / (anisotropy * anisotropy)));
    return e;
}

/* Places probes along the long axis, one short axis apart. The short axis counts as at least one pixel, so magnified
 * pixels get one probe. */
TXM_ARITH void txm_probes_of(const txm_ellipse *e, float w, float h, txm_footprint *f)
{
    float length = TXM_SQRT(e->long2), width = TXM_SQRT(txm_max(e->short2, 1.0f));
    float count = 2.0f * (length / width) - 0.5f; /* a ratio of 1 gives 1.5, which is truncated below */
    f->probes = count >= 2.0f ? (uint32_t)count : 1;
    f->step_u = f->step_v = 0.0f;
    f->spread = 1.0f;
    if (f->probes < 2)
        return;
    /* The direction is the longer of the two rows of J J^T - short2 I. */
    float x = e->uu >= e->vv ? e->long2 - e->vv : e->uv, y = e->uu >= e->vv ? e->uv : e->long2 - e->uu;
    float norm = x * x + y * y;
    if (!(norm > 0.0f)) {
        f->probes = 1;
        return;
    }
    /* The probes span 2 (length - width), because the filter is twice as long as the footprint, like a tent. */
    float step = 2.0f * (length - width) / (float)(f->probes - 1), inverse = step / TXM_SQRT(norm);
    f->step_u = x * inverse / w;
    f->step_v = y * inverse / h;
    f->spread = length / step;
}

/* Weight of probe i, not normalized. */
TXM_ARITH float txm_probe_weight(const txm_footprint *f, uint32_t i)
{
    float d = ((float)i - 0.5f * (float)(f->probes - 1)) / f->spread, w = 1.0f - d * d;
    return w * w;
}

/* w and h are those of level 0. They are floats because every use of them is in float. */
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

/* The sampler for a lookup without random numbers; `copy` is storage for it. */
TXM_ARITH const txm_sampler *txm_sampler_without_chance(const txm_sampler *how, txm_sampler *copy)
{
    *copy = *how;
    copy->chance = TXM_CHANCE_NONE;
    return copy;
}

/* Adds the bias and, in the two stochastic modes, a random offset. If no number is provided, a half is used, which
 * rounds to the nearer level. As in Cycles, a state of 0 adds nothing and stays 0. The generator steps only in the two
 * stochastic modes. */
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

/* Returns the finer level that is read, of `levels`, and in *blend the weight of the next coarser one. */
TXM_ARITH uint32_t txm_level_clamp(float level, uint32_t levels, int blends, float *blend)
{
    uint32_t last = levels - 1, low = level >= (float)last ? last : level > 0.0f ? (uint32_t)level : 0;
    *blend = blends && level > 0.0f && low < last ? level - (float)low : 0.0f;
    return low;
}

/* The number of levels that a lookup may choose from: Cycles stops at the first level that fits in one tile. */
TXM_ARITH uint32_t txm_levels_of(TXM_GLOBAL const txm_view_texture *t, const txm_sampler *how)
{
    return how->rule == TXM_LEVEL_RULE_CYCLES ? t->tiled_levels : t->levels;
}
#endif
