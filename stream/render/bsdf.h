/* SPDX-License-Identifier: Apache-2.0
 *
 * How surfaces scatter: diffuse, GGX, mirror, glass. Directions are unit vectors that point away from the surface;
 * `normal` is on the side of `out`. The weight of a scattering event does not include the colour, because that comes
 * from a texture lookup, which can miss.
 */
#ifndef STM_STREAM_BSDF_H
#define STM_STREAM_BSDF_H
#include "render/scene.h"

typedef struct stm_scatter {
    txm_vec3 direction;
    float weight;     /* BSDF times cosine over probability, without colour */
    float roughness2; /* mean squared roughness, as in Cycles, by which differentials are widened */
    bool transmitted;
    float eta; /* index before the surface divided by that after it, if transmitted */
} stm_scatter;

/* Whether light sampling is useless, as for mirrors and glass. */
static inline bool stm_bsdf_is_singular(stm_surface_kind kind)
{
    return kind == STM_SURFACE_MIRROR || kind == STM_SURFACE_GLASS;
}

/* BSDF times cosine, without colour. */
float stm_bsdf_eval(const stm_scene_material *m, txm_vec3 normal, txm_vec3 out, txm_vec3 in);

/* The probability per solid angle with which stm_bsdf_sample draws a direction; 0 for mirrors and glass, which have
 * only one. */
float stm_bsdf_probability(const stm_scene_material *m, txm_vec3 normal, txm_vec3 out, txm_vec3 in);

/* The squared roughness by which differentials are widened, however a direction was found. */
static inline float stm_bsdf_roughness2(const stm_scene_material *m)
{
    switch (m->kind) {
    case STM_SURFACE_DIFFUSE:
        return 1.0f;
    case STM_SURFACE_MIRROR: /* it reflects sharply, whatever roughness it was given */
        return 0.0f;
    default:
        return m->roughness * m->roughness;
    }
}

/* Draws a direction. false if nothing is scattered. `inside`: the ray is inside the glass. */
bool stm_bsdf_sample(const stm_scene_material *m, txm_vec3 normal, txm_vec3 out, bool inside, const float random[4],
                     stm_scatter *result);

/* Two vectors that form a right-handed frame with the unit vector n. */
void stm_frame_of(txm_vec3 n, txm_vec3 *x, txm_vec3 *y);
#endif
