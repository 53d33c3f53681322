/* SPDX-License-Identifier: Apache-2.0
 *
 * Scattering: GGX after Walter and others 2007, with visible normals after Heitz 2018, dielectric Fresnel, and diffuse
 * surfaces. From a material, the frame of the surface and random numbers follow a direction, its weight and the
 * roughness by which ray differentials are widened. Energy lost between microfacets, thin walls and dispersion are
 * left out, since they do not change which tiles a picture uses.
 */
#include "render/bsdf.h"

#include <math.h>

static const float pi = 3.14159265f;

void stm_frame_of(txm_vec3 n, txm_vec3 *x, txm_vec3 *y)
{
    *x = txm_vec_tangent(n);
    *y = txm_vec_cross(n, *x);
}

/* Returns a x + b y + c n. */
static txm_vec3 from_frame(txm_vec3 x, txm_vec3 y, txm_vec3 n, float a, float b, float c)
{
    return txm_vec_add(txm_vec_add(txm_vec_scale(x, a), b, y), c, n);
}

/* Vectors that reach this are known to have a length. */
static txm_vec3 unit(txm_vec3 v)
{
    return txm_vec_scale(v, 1.0f / txm_vec_length(v));
}

/* ---- GGX, isotropic ---- */

/* Smith's masking for one direction with cosine c. */
static float masking(float c, float alpha)
{
    float c2 = c * c, tan2 = c2 < 1.0f ? (1.0f - c2) / c2 : 0.0f;
    return 2.0f / (1.0f + sqrtf(1.0f + alpha * alpha * tan2));
}

/* The distribution of normals, by the cosine of a normal. */
static float ggx_normals(float alpha, float c)
{
    float a2 = alpha * alpha, d = c * c * (a2 - 1.0f) + 1.0f;
    return a2 / (pi * d * d);
}

/* The distribution of normals times masking over 4 cos(out); the cosine of `in` cancels against that of the rendering
 * equation. Both directions must be above the surface, or the fraction is not valid. */
static float ggx_eval(float alpha, txm_vec3 normal, txm_vec3 out, txm_vec3 in)
{
    float cos_out = txm_vec_dot(normal, out), cos_in = txm_vec_dot(normal, in);
    txm_vec3 half = txm_vec_add(out, 1.0f, in);
    if (!(cos_out > 0.0f && cos_in > 0.0f && txm_vec_length(half) > 0.0f))
        return 0.0f;
    float normals = ggx_normals(alpha, txm_vec_dot(unit(half), normal));
    return normals * masking(cos_out, alpha) * masking(cos_in, alpha) / (4.0f * cos_out);
}

/* The probability with which ggx_sample draws: all factors except the masking of `in`, which is the weight. */
static float ggx_probability(float alpha, txm_vec3 normal, txm_vec3 out, txm_vec3 in)
{
    float cos_out = txm_vec_dot(normal, out);
    txm_vec3 half = txm_vec_add(out, 1.0f, in);
    if (!(cos_out > 0.0f && txm_vec_dot(normal, in) > 0.0f && txm_vec_length(half) > 0.0f))
        return 0.0f;
    return ggx_normals(alpha, txm_vec_dot(unit(half), normal)) * masking(cos_out, alpha) / (4.0f * cos_out);
}

/* Draws one of the normals that are visible from `out`, so that the weight is only the masking of the other direction:
 * it never exceeds 1, and rough surfaces at a grazing angle cause no fireflies. */
static txm_vec3 ggx_normal(float alpha, txm_vec3 normal, txm_vec3 out, const float random[4])
{
    txm_vec3 x, y;
    stm_frame_of(normal, &x, &y);
    /* The view direction in the frame, stretched to a hemisphere. */
    txm_vec3 v = unit(
        txm_vec_make(alpha * txm_vec_dot(out, x), alpha * txm_vec_dot(out, y), fmaxf(txm_vec_dot(out, normal), 1e-6f)));
    float across = sqrtf(v.x * v.x + v.y * v.y);
    txm_vec3 t1 = across > 0.0f ? txm_vec_make(-v.y / across, v.x / across, 0.0f) : txm_vec_make(1.0f, 0.0f, 0.0f);
    txm_vec3 t2 = txm_vec_cross(v, t1);
    float r = sqrtf(random[0]), phi = 2.0f * pi * random[1], a = r * cosf(phi), b = r * sinf(phi);
    float s = 0.5f * (1.0f + v.z);
    b = (1.0f - s) * sqrtf(fmaxf(0.0f, 1.0f - a * a)) + s * b;
    txm_vec3 h = txm_vec_add(txm_vec_add(txm_vec_scale(t1, a), b, t2), sqrtf(fmaxf(0.0f, 1.0f - a * a - b * b)), v);
    h = unit(txm_vec_make(alpha * h.x, alpha * h.y, fmaxf(h.z, 1e-6f)));
    return from_frame(x, y, normal, h.x, h.y, h.z);
}

static bool ggx_sample(float alpha, txm_vec3 normal, txm_vec3 out, const float random[4], stm_scatter *result)
{
    const txm_vec3 half = ggx_normal(alpha, normal, out, random);
    result->direction = unit(txm_vec_add(txm_vec_scale(out, -1.0f), 2.0f * txm_vec_dot(out, half), half));
    float cosine = txm_vec_dot(result->direction, normal);
    if (!(cosine > 0.0f))
        return false;
    result->weight = masking(cosine, alpha);
    return true;
}

/* ---- glass ---- */

/* The fraction that is reflected; `eta` is the index before the surface divided by that after it. */
static float fresnel(float cosine, float eta)
{
    float sine2 = eta * eta * (1.0f - cosine * cosine);
    if (sine2 >= 1.0f)
        return 1.0f;
    float after = sqrtf(1.0f - sine2);
    float s = (eta * cosine - after) / (eta * cosine + after), p = (cosine - eta * after) / (cosine + eta * after);
    return 0.5f * (s * s + p * p);
}

/* Chooses one of the two directions with the Fresnel fraction as probability. It cancels in the weight, which is
 * therefore 1: glass neither gains nor loses light. */
static bool glass_sample(float ior, txm_vec3 normal, txm_vec3 out, bool inside, const float random[4],
                         stm_scatter *result)
{
    float eta = inside ? ior : 1.0f / ior, cosine = txm_vec_dot(normal, out);
    if (random[2] < fresnel(cosine, eta)) {
        result->direction = unit(txm_vec_add(txm_vec_scale(out, -1.0f), 2.0f * cosine, normal));
        return true;
    }
    float after = sqrtf(fmaxf(0.0f, 1.0f - eta * eta * (1.0f - cosine * cosine)));
    result->direction = unit(txm_vec_add(txm_vec_scale(out, -eta), eta * cosine - after, normal));
    result->transmitted = true;
    result->eta = eta;
    return true;
}

/* Clear glass with a normal drawn from GGX. */
static bool rough_glass_sample(const stm_scene_material *m, txm_vec3 normal, txm_vec3 out, bool inside,
                               const float random[4], stm_scatter *result)
{
    const txm_vec3 half = ggx_normal(m->roughness, normal, out, random);
    if (!(txm_vec_dot(half, out) > 0.0f) || !glass_sample(m->ior, half, out, inside, random, result))
        return false;
    const float cosine = txm_vec_dot(result->direction, normal) * (result->transmitted ? -1.0f : 1.0f);
    result->weight = masking(fabsf(cosine), m->roughness);
    return cosine > 0.0f;
}

/* ---- all surfaces ---- */

/* 0 for mirrors, glass and light sources, which do not scatter into directions of light sampling. */
float stm_bsdf_eval(const stm_scene_material *m, txm_vec3 normal, txm_vec3 out, txm_vec3 in)
{
    if (m->kind == STM_SURFACE_GLOSSY)
        return ggx_eval(m->roughness, normal, out, in);
    return m->kind == STM_SURFACE_DIFFUSE ? fmaxf(0.0f, txm_vec_dot(normal, in)) / pi : 0.0f;
}

/* Diffuse directions are drawn by their cosine, so their BSDF and their probability are the same. */
float stm_bsdf_probability(const stm_scene_material *m, txm_vec3 normal, txm_vec3 out, txm_vec3 in)
{
    return m->kind == STM_SURFACE_GLOSSY ? ggx_probability(m->roughness, normal, out, in)
                                         : stm_bsdf_eval(m, normal, out, in);
}

/* Diffuse directions are drawn by their cosine (a disc lifted to the hemisphere), which leaves a weight of 1. */
bool stm_bsdf_sample(const stm_scene_material *m, txm_vec3 normal, txm_vec3 out, bool inside, const float random[4],
                     stm_scatter *result)
{
    *result = (stm_scatter){.weight = 1.0f, .eta = 1.0f, .roughness2 = stm_bsdf_roughness2(m)};
    switch (m->kind) {
    case STM_SURFACE_GLOSSY:
        return ggx_sample(m->roughness, normal, out, random, result);
    case STM_SURFACE_MIRROR:
        result->direction = unit(txm_vec_add(txm_vec_scale(out, -1.0f), 2.0f * txm_vec_dot(out, normal), normal));
        return true;
    case STM_SURFACE_GLASS:
        return m->roughness > 0.0f ? rough_glass_sample(m, normal, out, inside, random, result)
                                   : glass_sample(m->ior, normal, out, inside, random, result);
    case STM_SURFACE_DIFFUSE: {
        txm_vec3 x, y;
        float r = sqrtf(random[0]), phi = 2.0f * pi * random[1], up = sqrtf(fmaxf(0.0f, 1.0f - random[0]));
        stm_frame_of(normal, &x, &y);
        result->direction = from_frame(x, y, normal, r * cosf(phi), r * sinf(phi), up);
        return up > 0.0f;
    }
    default:
        return false;
    }
}
