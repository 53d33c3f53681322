/* SPDX-License-Identifier: Apache-2.0
 *
 * Ray differentials: how large a pixel is where a ray hits, which is what lookups take their level from. Three kinds,
 * in rising order of what they know:
 *
 *   compact  one radius and one spread, as Cycles carries them (Blender 5.2): no curvature, no cosine
 *   cone     a width and an angle of one cone, with the curvature of mirrors and lenses (ray cones, Akenine-Moeller and
 *            others 2019)
 *   full     derivatives of origin and direction by the pixel's x and y (Igehy 1999)
 *
 * All of it is plain C in float32 that any compiler takes, CUDA's included; no state, no allocation. Directions are
 * unit vectors. A surface is given by its unit normal and the derivatives of its position by u and v, which
 * txm_triangle_tangents and txm_sphere_tangents make.
 *
 * Normals: `geometric` is that of the surface itself, of a triangle's plane, at right angles to dPdu and dPdv; either
 * side will do. `normal` is the one that the renderer bends the ray with, which may be interpolated or bumped.
 *
 * What is degenerate (no area, a length of 0, numbers that are not finite) gives what the functions say, never a trap.
 * Derivatives of 0 mean the finest level. NULL: no pointer may be NULL.
 */
#ifndef TXTILE_RAY_H
#define TXTILE_RAY_H

#include <math.h>
#include <stdbool.h>

/* A function of this header, in device code too. */
#ifdef __CUDACC__
#define TXM_RAY static __host__ __device__ inline
#else
#define TXM_RAY static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A point, direction or derivative in space, in the scene's units. */
typedef struct txm_vec3 {
    float x, y, z;
} txm_vec3;

/* Derivatives of the texture coordinates by the pixel's x and y: what txm_lookup takes. */
typedef struct txm_uv_differential {
    float dudx, dudy, dvdx, dvdy;
} txm_uv_differential;

/* (x, y, z) */
TXM_RAY txm_vec3 txm_vec_make(float x, float y, float z)
{
    txm_vec3 v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}

/* a + s b */
TXM_RAY txm_vec3 txm_vec_add(txm_vec3 a, float s, txm_vec3 b)
{
    return txm_vec_make(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

/* s a */
TXM_RAY txm_vec3 txm_vec_scale(txm_vec3 a, float s)
{
    return txm_vec_make(a.x * s, a.y * s, a.z * s);
}

/* a . b */
TXM_RAY float txm_vec_dot(txm_vec3 a, txm_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* a x b */
TXM_RAY txm_vec3 txm_vec_cross(txm_vec3 a, txm_vec3 b)
{
    return txm_vec_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

/* |a| */
TXM_RAY float txm_vec_length(txm_vec3 a)
{
    return sqrtf(txm_vec_dot(a, a));
}

/* A vector that is at right angles to the unit vector n, of length 1. */
TXM_RAY txm_vec3 txm_vec_tangent(txm_vec3 n)
{
    txm_vec3 t = n.x != n.y || n.x != n.z ? txm_vec_make(n.z - n.y, n.x - n.z, n.y - n.x)
                                          : txm_vec_make(n.z - n.y, n.x + n.z, -n.y - n.x);
    return txm_vec_scale(t, 1.0f / txm_vec_length(t));
}

/* ---- surfaces ---- */

/* Texture coordinates of a corner. */
typedef struct txm_uv {
    float u, v;
} txm_uv;

/* How the position on a surface changes with its texture coordinates. */
typedef struct txm_tangents {
    txm_vec3 dPdu, dPdv;
} txm_tangents;

/* (p - origin) times s, minus (q - origin) times t: a combination of two edges of a triangle. */
TXM_RAY txm_vec3 txm_edges(txm_vec3 origin, txm_vec3 p, float s, txm_vec3 q, float t)
{
    return txm_vec_add(txm_vec_scale(txm_vec_add(p, -1.0f, origin), s), -t, txm_vec_add(q, -1.0f, origin));
}

/* Whether all numbers are finite; if not, both vectors become 0. */
TXM_RAY bool txm_tangents_finite(txm_tangents *t)
{
    float sum =
        fabsf(t->dPdu.x) + fabsf(t->dPdu.y) + fabsf(t->dPdu.z) + fabsf(t->dPdv.x) + fabsf(t->dPdv.y) + fabsf(t->dPdv.z);
    if (sum < INFINITY)
        return true;
    t->dPdu = t->dPdv = txm_vec_make(0.0f, 0.0f, 0.0f);
    return false;
}

/* A triangle of these corners with these texture coordinates: the same tangents all over it. false,
 * and both 0, where the texture coordinates span no area in float32 (two corners alike, or all on a line: the triangle
 * shows a line of the texture at most) or numbers are not finite. */
TXM_RAY bool txm_triangle_tangents(const txm_vec3 corner[3], const txm_uv uv[3], txm_tangents *out)
{
    float u1 = uv[1].u - uv[0].u, v1 = uv[1].v - uv[0].v;
    float u2 = uv[2].u - uv[0].u, v2 = uv[2].v - uv[0].v;
    float det = u1 * v2 - u2 * v1, inverse = det != 0.0f ? 1.0f / det : INFINITY;
    out->dPdu = txm_edges(corner[0], corner[1], v2 * inverse, corner[2], v1 * inverse);
    out->dPdv = txm_edges(corner[0], corner[2], u1 * inverse, corner[1], u2 * inverse);
    return txm_tangents_finite(out);
}

/* A sphere with longitude and latitude: u rises from 0 to 1 around its z axis, from x over y (atan2(y, x) / 2 pi), v
 * from 0 at -z to 1 at +z. `from_centre` is the point less the centre, in the sphere's own axes: its length is the
 * radius, and the tangents turn with the sphere as vectors do. Where an image runs the other way round, as Blender's
 * environment does (0.5 - u), dPdu points the other way. At the poles u has no direction: there, and a millionth of the
 * radius around them, the tangents are those a millionth of the radius beside the pole. false, and both 0, for a radius
 * that is 0 or not finite. */
TXM_RAY bool txm_sphere_tangents(txm_vec3 from_centre, txm_tangents *out)
{
    const float pi = 3.14159265f;
    float radius = txm_vec_length(from_centre), x = from_centre.x, y = from_centre.y, z = from_centre.z;
    float ring = sqrtf(x * x + y * y), least = 1e-6f * radius;
    if (!(ring > least)) {
        x = ring = least;
        y = 0.0f;
    }
    out->dPdu = txm_vec_make(-2.0f * pi * y, 2.0f * pi * x, 0.0f);
    out->dPdv = txm_vec_make(-pi * z * (x / ring), -pi * z * (y / ring), pi * ring);
    return txm_tangents_finite(out);
}

/* The derivatives of u and v that move the surface's point by dPdx and dPdy, which lie in its plane: solved in the two
 * axes in which the surface looks largest. All 0 where dPdu and dPdv span no plane. */
TXM_RAY txm_uv_differential txm_uv_of(txm_vec3 geometric, txm_vec3 dPdu, txm_vec3 dPdv, txm_vec3 dPdx, txm_vec3 dPdy)
{
    float x = fabsf(geometric.x), y = fabsf(geometric.y), z = fabsf(geometric.z);
    float u0 = dPdu.x, v0 = dPdv.x, x0 = dPdx.x, y0 = dPdy.x;
    float u1 = dPdu.y, v1 = dPdv.y, x1 = dPdx.y, y1 = dPdy.y;
    if (z < x || z < y) {
        if (y < x || y < z) {
            u0 = u1, v0 = v1, x0 = x1, y0 = y1;
        }
        u1 = dPdu.z, v1 = dPdv.z, x1 = dPdx.z, y1 = dPdy.z;
    }
    float det = u0 * v1 - v0 * u1, inverse = det != 0.0f ? 1.0f / det : 0.0f;
    txm_uv_differential d;
    d.dudx = (x0 * v1 - x1 * v0) * inverse;
    d.dudy = (y0 * v1 - y1 * v0) * inverse;
    d.dvdx = (x1 * u0 - x0 * u1) * inverse;
    d.dvdy = (y1 * u0 - y0 * u1) * inverse;
    return d;
}

/* ---- compact ---- */

/* A compact differential: a disc that grows linearly along the ray. */
typedef struct txm_compact {
    float dP; /* radius of the footprint at the ray's origin */
    float dD; /* what it grows by per unit of length */
} txm_compact;

/* Half the mean length of two derivatives, one for each direction of the pixel. */
TXM_RAY float txm_compact_of(txm_vec3 by_x, txm_vec3 by_y)
{
    return 0.5f * (txm_vec_length(by_x) + txm_vec_length(by_y));
}

/* A ray of a perspective camera: the derivatives of its direction by the pixel. `scale` is the share of the final
 * resolution that is rendered now: progressive passes use the levels of the final picture. */
TXM_RAY txm_compact txm_compact_camera(txm_vec3 dDdx, txm_vec3 dDdy, float scale)
{
    txm_compact c;
    c.dP = 0.0f;
    c.dD = txm_compact_of(dDdx, dDdy) * scale;
    return c;
}

/* After t units of length: the radius at the hit. */
TXM_RAY txm_compact txm_compact_transfer(txm_compact c, float t)
{
    c.dP = c.dP + t * c.dD;
    return c;
}

/* The footprint on the surface, a disc of radius dP round its geometric normal. Reflection and refraction keep dD; dP
 * is that of the hit. */
TXM_RAY txm_uv_differential txm_compact_uv(txm_compact at_hit, txm_vec3 geometric, txm_vec3 dPdu, txm_vec3 dPdv)
{
    txm_vec3 a = txm_vec_tangent(geometric), b = txm_vec_cross(geometric, a);
    return txm_uv_of(geometric, dPdu, dPdv, txm_vec_scale(a, at_hit.dP), txm_vec_scale(b, at_hit.dP));
}

/* Widening at a bounce: `roughness2` is the mean squared roughness of the surface's lobes by their probability (mirror
 * 0, microfacets alpha_x alpha_y, everything else 1), the same for sampled directions and for light sampling. */
TXM_RAY txm_compact txm_compact_widen(txm_compact c, float roughness2)
{
    if (roughness2 > 0.0f) {
        float wide = sqrtf(roughness2);
        c.dD = c.dD > wide ? c.dD : wide;
    }
    return c;
}

/* ---- cones ---- */

/* A ray cone; `angle` is small and stands for its tangent, as in Akenine-Moeller and others 2019. */
typedef struct txm_cone {
    float width; /* of the footprint across the ray; negative behind the focus of a converging cone */
    float angle; /* what it grows by per unit of length */
} txm_cone;

/* A pinhole camera: the pixel's angle. */
TXM_RAY txm_cone txm_cone_camera(float pixel_angle)
{
    txm_cone c;
    c.width = 0.0f;
    c.angle = pixel_angle;
    return c;
}

/* After t units of length: the width at the hit. */
TXM_RAY txm_cone txm_cone_transfer(txm_cone c, float t)
{
    c.width = c.width + c.angle * t;
    return c;
}

/* Reflection at a surface of this mean curvature (1/radius, positive where it bulges towards the ray). */
TXM_RAY txm_cone txm_cone_reflect(txm_cone c, float curvature)
{
    c.angle = c.angle + 2.0f * curvature * fabsf(c.width);
    return c;
}

/* Refraction; `eta` is the index of refraction before the surface over that after it. */
TXM_RAY txm_cone txm_cone_refract(txm_cone c, float curvature, float eta)
{
    float turn = curvature * c.width;
    c.angle = eta * (c.angle + turn) - turn;
    return c;
}

/* Widening at a bounce: a lobe of this roughness sends the cone out at least that wide (diffuse: 1). */
TXM_RAY txm_cone txm_cone_widen(txm_cone c, float roughness2)
{
    if (roughness2 > 0.0f) {
        float wide = sqrtf(roughness2);
        c.angle = c.angle > wide ? c.angle : wide;
    }
    return c;
}

/* The footprint on the surface, whose geometric normal is given: an ellipse, longer along the ray by 1/cosine, at most
 * 16 times. */
TXM_RAY txm_uv_differential txm_cone_uv(txm_cone at_hit, txm_vec3 direction, txm_vec3 geometric, txm_vec3 dPdu,
                                        txm_vec3 dPdv)
{
    float cosine = txm_vec_dot(direction, geometric), width = fabsf(at_hit.width);
    txm_vec3 along = txm_vec_add(direction, -cosine, geometric);
    float sine = txm_vec_length(along), inverse = fabsf(cosine) > 0.0625f ? 1.0f / fabsf(cosine) : 16.0f;
    along = sine > 1e-6f ? txm_vec_scale(along, 1.0f / sine) : txm_vec_tangent(geometric);
    txm_vec3 across = txm_vec_cross(geometric, along);
    return txm_uv_of(geometric, dPdu, dPdv, txm_vec_scale(along, width * inverse), txm_vec_scale(across, width));
}

/* ---- full ---- */

/* A full differential: derivatives of the ray by the pixel's x and y (Igehy 1999). */
typedef struct txm_full {
    txm_vec3 dPdx, dPdy; /* of the origin by the pixel */
    txm_vec3 dDdx, dDdy; /* of the direction */
} txm_full;

/* One of the two directions, carried to the plane of the surface. */
TXM_RAY txm_vec3 txm_full_project(txm_vec3 dP, txm_vec3 dD, txm_vec3 direction, float t, txm_vec3 geometric)
{
    txm_vec3 moved = txm_vec_add(dP, t, dD);
    float cosine = txm_vec_dot(direction, geometric);
    return cosine != 0.0f ? txm_vec_add(moved, -(txm_vec_dot(moved, geometric) / cosine), direction) : moved;
}

/* After t units along `direction`, on a surface with this geometric normal; where the ray only grazes it (a cosine of
 * 0) the derivatives are not projected. */
TXM_RAY txm_full txm_full_transfer(txm_full f, txm_vec3 direction, float t, txm_vec3 geometric)
{
    f.dPdx = txm_full_project(f.dPdx, f.dDdx, direction, t, geometric);
    f.dPdy = txm_full_project(f.dPdy, f.dDdy, direction, t, geometric);
    return f;
}

/* The footprint on the surface: the derivatives of the hit point, which txm_full_transfer gave, in u and v. */
TXM_RAY txm_uv_differential txm_full_uv(txm_full at_hit, txm_vec3 geometric, txm_vec3 dPdu, txm_vec3 dPdv)
{
    return txm_uv_of(geometric, dPdu, dPdv, at_hit.dPdx, at_hit.dPdy);
}

/* Derivative of a reflected direction: d - 2 (d.n) n. `dn` is how the normal changes along this direction of the pixel
 * (dNdu dudx + dNdv dvdx): 0 on a plane. */
TXM_RAY txm_vec3 txm_full_reflect_one(txm_vec3 direction, txm_vec3 dD, txm_vec3 normal, txm_vec3 dn)
{
    float cosine = txm_vec_dot(direction, normal), change = txm_vec_dot(dD, normal) + txm_vec_dot(direction, dn);
    return txm_vec_add(txm_vec_add(dD, -2.0f * cosine, dn), -2.0f * change, normal);
}

/* Reflection at a hit (Igehy 1999). `direction` is the ray's before it; dNdx and dNdy are how the normal changes by the
 * pixel's x and y. */
TXM_RAY txm_full txm_full_reflect(txm_full at_hit, txm_vec3 direction, txm_vec3 normal, txm_vec3 dNdx, txm_vec3 dNdy)
{
    at_hit.dDdx = txm_full_reflect_one(direction, at_hit.dDdx, normal, dNdx);
    at_hit.dDdy = txm_full_reflect_one(direction, at_hit.dDdy, normal, dNdy);
    return at_hit;
}

/* Derivative of a refracted direction eta d - mu n, mu = eta d.n - d'.n. */
TXM_RAY txm_vec3 txm_full_refract_one(txm_vec3 direction, txm_vec3 dD, txm_vec3 normal, txm_vec3 dn, float eta,
                                      float cosine_out)
{
    float cosine = txm_vec_dot(direction, normal), change = txm_vec_dot(dD, normal) + txm_vec_dot(direction, dn);
    float mu = eta * cosine - cosine_out, dmu = (eta - eta * eta * cosine / cosine_out) * change;
    return txm_vec_add(txm_vec_add(txm_vec_scale(dD, eta), -mu, dn), -dmu, normal);
}

/* `normal` points against `direction`; `eta` is the index of refraction before the surface over that after it. false
 * on total reflection: at_hit is as it was. */
TXM_RAY bool txm_full_refract(txm_full *at_hit, txm_vec3 direction, txm_vec3 normal, txm_vec3 dNdx, txm_vec3 dNdy,
                              float eta)
{
    float cosine = txm_vec_dot(direction, normal), out2 = 1.0f - eta * eta * (1.0f - cosine * cosine);
    if (!(out2 > 0.0f))
        return false;
    at_hit->dDdx = txm_full_refract_one(direction, at_hit->dDdx, normal, dNdx, eta, -sqrtf(out2));
    at_hit->dDdy = txm_full_refract_one(direction, at_hit->dDdy, normal, dNdy, eta, -sqrtf(out2));
    return true;
}

#ifdef __cplusplus
}
#endif
#endif
