/* SPDX-License-Identifier: Apache-2.0
 *
 * How surfaces scatter: diffuse, GGX, mirror, glass. Directions are unit vectors that point away from the surface;
 * `normal` is on the side of `out`.
 *
 * A scatter's weight leaves the colour out, because the colour comes from a texture: the caller may not have it
 * yet, and asking for it is what a step can miss.
 */
#ifndef TXM_STREAM_BSDF_H
#define TXM_STREAM_BSDF_H
#include "stream/scene.h"

typedef struct txm_scatter {
    txm_vec3 direction;
    float weight;     /* BSDF times cosine over probability; the colour is the caller's */
    float roughness2; /* what differentials are widened by: Cycles' mean squared roughness */
    bool transmitted;
    float eta; /* before over after, where transmitted */
} txm_scatter;

/* Whether light sampling makes sense: not for mirrors and glass. */
static inline bool txm_bsdf_is_singular(txm_surface_kind kind)
{
    return kind == TXM_SURFACE_MIRROR || kind == TXM_SURFACE_GLASS;
}

/* BSDF times cosine, without colour. */
float txm_bsdf_eval(const txm_scene_material *m, txm_vec3 normal, txm_vec3 out, txm_vec3 in);

/* The probability by solid angle with which txm_bsdf_sample draws a direction; 0 of mirrors and glass, which have but
 * one. */
float txm_bsdf_probability(const txm_scene_material *m, txm_vec3 normal, txm_vec3 out, txm_vec3 in);

/* What differentials are widened by, whichever way a direction was found. */
static inline float txm_bsdf_roughness2(const txm_scene_material *m)
{
    return m->kind == TXM_SURFACE_DIFFUSE ? 1.0f : m->roughness * m->roughness;
}

/* Draws a direction. False where nothing is scattered. `inside`: the ray runs in the glass. */
bool txm_bsdf_sample(const txm_scene_material *m, txm_vec3 normal, txm_vec3 out, bool inside, const float random[4],
                     txm_scatter *result);

/* Two vectors that make a right-handed frame with the unit vector n. */
void txm_frame_of(txm_vec3 n, txm_vec3 *x, txm_vec3 *y);
#endif
