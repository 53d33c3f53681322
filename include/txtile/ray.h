/* SPDX-License-Identifier: Apache-2.0
 *
 * Ray differentials: how large a pixel's footprint is where a ray hits a surface, from which lookups choose their
 * level. There are three kinds, from the least to the most exact:
 *
 *   compact  one radius and one spread, as Cycles carries them (Blender 5.2): no curvature, no cosine
 *   cone     a width and an angle of one cone, with the curvature of mirrors and lenses (ray cones, Akenine-Moeller and
 *            others 2019)
 *   full     derivatives of origin and direction by the pixel's x and y (Igehy 1999)
 *
 * All of it is plain C in float32 that any compiler accepts, CUDA's included, without state or allocation. Directions
 * are unit vectors. A surface is given by its unit normal and the derivatives of its position by u and v, which
 * txm_triangle_tangents and txm_sphere_tangents compute.
 *
 * Normals: `geometric` is the normal of the surface itself, such as a triangle's plane, at right angles to dPdu and
 * dPdv; it may point to either side. `normal` is the shading normal, with which the renderer reflects and refracts the
 * ray; it may be interpolated or bumped.
 *
 * Degenerate input (no area, a length of 0, numbers that are not finite) never traps; each function says what it
 * returns. Derivatives of 0 select the finest level. NULL: no pointer may be NULL.
 */
#ifndef TXTILE_RAY_H
#define TXTILE_RAY_H

#include <math.h>
#include <stdbool.h>

/* Declares a function of this header, for device code too. */
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

/* Derivatives of the texture coordinates by the pixel's x and y, as txm_lookup takes them. */
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

/* A unit vector at right angles to the unit vector n. */
TXM_RAY txm_vec3 txm_vec_tangent(txm_vec3 n)
{
    txm_vec3 t = n.x != n.y || n.x != n.z ? txm_vec_make(n.z - n.y, n.x - n.z, n.y - n.x)
                                          : txm_vec_make(n.z - n.y, n.x + n.z, -n.y - n.x);
    return txm_vec_scale(t, 1.0f / txm_vec_length(t));
}

/* ---- surfaces ---- */

/* Texture coordinates of a corner of a triangle. */
typedef struct txm_uv {
    float u, v;
} txm_uv;

/* Derivatives of the position on a surface by its texture coordinates. */
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

/* The tangents of a triangle from its corners and their texture coordinates; they are the same all over it. Returns
 * false and sets both to 0 if the texture coordinates span no area in float32 (all of them are on a line) or numbers
 * are not finite. */
TXM_RAY bool txm_triangle_tangents(const txm_vec3 corner[3], const txm_uv uv[3], txm_tangents *out)
{
    float u1 = uv[1].u - uv[0].u, v1 = uv[1].v - uv[0].v;
    float u2 = uv[2].u - uv[0].u, v2 = uv[2].v - uv[0].v;
    float det = u1 * v2 - u2 * v1, inverse = det != 0.0f ? 1.0f / det : INFINITY;
    out->dPdu = txm_edges(corner[0], corner[1], v2 * inverse, corner[2], v1 * inverse);
    out->dPdv = txm_edges(corner[0], corner[2], u1 * inverse, corner[1], u2 * inverse);
    return txm_tangents_finite(out);
}

/* The tangents of a sphere with longitude and latitude as texture coordinates: u rises from 0 to 1 around its z axis,
 * from x towards y (atan2(y, x) / 2 pi), v from 0 at -z to 1 at +z. `from_centre` is the point minus the centre, in the
 * sphere's own axes, so that its length is the radius; rotate the tangents with the sphere. Negate dPdu if the image
 * runs the other way round, as Blender's environment textures do (0.5 - u). At the poles u has no direction: closer to
 * them than a millionth of the radius, the tangents are those at that distance. Returns false and sets both to 0 for a
 * radius that is 0 or not finite. */
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

/* The place of a direction, which need not have length 1, in a latlong image whose upper edge is `up`: u = 0.5 +
 * atan2(y, x) / 2 pi and v = 0.5 + atan2(z, |(x, y)|) / pi with z up, as OpenImageIO's environment(). u is not limited
 * to 0 to 1 by later rotations, so add textures that repeat along u. */
TXM_RAY txm_uv txm_latlong_uv(txm_vec3 direction)
{
    const float pi = 3.14159265f;
    txm_uv at;
    at.u = 0.5f + atan2f(direction.y, direction.x) / (2.0f * pi);
    at.v = 0.5f + atan2f(direction.z, sqrtf(direction.x * direction.x + direction.y * direction.y)) / pi;
    return at;
}

/* The derivatives of that place, from those of the direction. Around the poles u turns ever faster, so the derivatives
 * of u stop growing at a distance of 1 / anisotropy of a radian, that of the sampler: then the level follows from the
 * angle that the pixel covers, as in OpenImageIO. All are 0 for a direction of 0. */
TXM_RAY txm_uv_differential txm_latlong_differential(txm_vec3 direction, txm_vec3 dDdx, txm_vec3 dDdy, float anisotropy)
{
    const float pi = 3.14159265f;
    float length2 = txm_vec_dot(direction, direction),
          ring = sqrtf(direction.x * direction.x + direction.y * direction.y);
    float least = sqrtf(length2) / anisotropy, x = ring > 0.0f ? direction.x / ring : 1.0f;
    float y = ring > 0.0f ? direction.y / ring : 0.0f, wide = ring > least ? ring : least;
    float along_u = wide > 0.0f ? 1.0f / (2.0f * pi * wide) : 0.0f,
          along_v = length2 > 0.0f ? 1.0f / (pi * length2) : 0.0f;
    txm_uv_differential d;
    d.dudx = (x * dDdx.y - y * dDdx.x) * along_u;
    d.dudy = (x * dDdy.y - y * dDdy.x) * along_u;
    d.dvdx = (ring * dDdx.z - direction.z * (x * dDdx.x + y * dDdx.y)) * along_v;
    d.dvdy = (ring * dDdy.z - direction.z * (x * dDdy.x + y * dDdy.y)) * along_v;
    return d;
}

/* The derivatives of u and v for which the surface's point moves by dPdx and dPdy, which lie in its plane. The system
 * is solved in the two axes in which the surface's projection is largest. All are 0 if dPdu and dPdv span no plane. */
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
    float dD; /* growth of the radius per unit of length */
} txm_compact;

/* Half the mean length of two derivatives, one by the pixel's x and one by its y, as Cycles makes them compact. */
TXM_RAY float txm_compact_of(txm_vec3 by_x, txm_vec3 by_y)
{
    return 0.5f * (txm_vec_length(by_x) + txm_vec_length(by_y));
}

/* The differential of a perspective camera's ray, from the derivatives of its direction by the pixel. `scale` is the
 * fraction of the final resolution that is being rendered, so that progressive passes use the levels of the final
 * picture. */
TXM_RAY txm_compact txm_compact_camera(txm_vec3 dDdx, txm_vec3 dDdy, float scale)
{
    txm_compact c;
    c.dP = 0.0f;
    c.dD = txm_compact_of(dDdx, dDdy) * scale;
    return c;
}

/* The differential after t units of length, where the ray hits. */
TXM_RAY txm_compact txm_compact_transfer(txm_compact c, float t)
{
    c.dP = c.dP + t * c.dD;
    return c;
}

/* The footprint on the surface, a disc of radius dP at right angles to its geometric normal. Reflection and refraction
 * keep the differential of the hit. */
TXM_RAY txm_uv_differential txm_compact_uv(txm_compact at_hit, txm_vec3 geometric, txm_vec3 dPdu, txm_vec3 dPdv)
{
    txm_vec3 a = txm_vec_tangent(geometric), b = txm_vec_cross(geometric, a);
    return txm_uv_of(geometric, dPdu, dPdv, txm_vec_scale(a, at_hit.dP), txm_vec_scale(b, at_hit.dP));
}

/* Widens the differential at a bounce. `roughness2` is the squared roughness of the surface's lobes, averaged by their
 * probability (0 for mirrors, alpha_x alpha_y for microfacets, 1 for all else); it is the same for sampled directions
 * and for light sampling. */
TXM_RAY txm_compact txm_compact_widen(txm_compact c, float roughness2)
{
    if (roughness2 > 0.0f) {
        float wide = sqrtf(roughness2);
        c.dD = c.dD > wide ? c.dD : wide;
    }
    return c;
}

/* ---- cones ---- */

/* A ray cone. `angle` is small and is used for its tangent, as in Akenine-Moeller and others 2019. */
typedef struct txm_cone {
    float width; /* width of the footprint across the ray; negative beyond the focus of a converging cone */
    float angle; /* growth of the width per unit of length */
} txm_cone;

/* The cone of a pinhole camera's ray, from the angle that a pixel covers. */
TXM_RAY txm_cone txm_cone_camera(float pixel_angle)
{
    txm_cone c;
    c.width = 0.0f;
    c.angle = pixel_angle;
    return c;
}

/* The cone after t units of length, where the ray hits. */
TXM_RAY txm_cone txm_cone_transfer(txm_cone c, float t)
{
    c.width = c.width + c.angle * t;
    return c;
}

/* The cone after reflection at a surface of this mean curvature (1/radius, positive if it is convex towards the ray).
 */
TXM_RAY txm_cone txm_cone_reflect(txm_cone c, float curvature)
{
    c.angle = c.angle + 2.0f * curvature * fabsf(c.width);
    return c;
}

/* The cone after refraction. `eta` is the index of refraction before the surface divided by that after it. */
TXM_RAY txm_cone txm_cone_refract(txm_cone c, float curvature, float eta)
{
    float turn = curvature * c.width;
    c.angle = eta * (c.angle + turn) - turn;
    return c;
}

/* Widens the cone at a bounce: its angle becomes at least the roughness of the lobe (1 if diffuse), whose square is
 * `roughness2`. */
TXM_RAY txm_cone txm_cone_widen(txm_cone c, float roughness2)
{
    if (roughness2 > 0.0f) {
        float wide = sqrtf(roughness2);
        c.angle = c.angle > wide ? c.angle : wide;
    }
    return c;
}

/* The footprint on the surface: an ellipse, longer along the ray by 1/cosine, at most by 16. */
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
    txm_vec3 dPdx, dPdy; /* derivatives of the ray's origin */
    txm_vec3 dDdx, dDdy; /* derivatives of its direction */
} txm_full;

/* The derivative of the hit point by one of the pixel's directions: carried along the ray, then projected onto the
 * plane of the surface. */
TXM_RAY txm_vec3 txm_full_project(txm_vec3 dP, txm_vec3 dD, txm_vec3 direction, float t, txm_vec3 geometric)
{
    txm_vec3 moved = txm_vec_add(dP, t, dD);
    float cosine = txm_vec_dot(direction, geometric);
    return cosine != 0.0f ? txm_vec_add(moved, -(txm_vec_dot(moved, geometric) / cosine), direction) : moved;
}

/* The differential after t units along `direction`, on a surface with this geometric normal. If the ray is parallel to
 * the surface (a cosine of 0), the derivatives are not projected. */
TXM_RAY txm_full txm_full_transfer(txm_full f, txm_vec3 direction, float t, txm_vec3 geometric)
{
    f.dPdx = txm_full_project(f.dPdx, f.dDdx, direction, t, geometric);
    f.dPdy = txm_full_project(f.dPdy, f.dDdy, direction, t, geometric);
    return f;
}

/* The footprint on the surface: the derivatives of the hit point, from txm_full_transfer, in u and v. */
TXM_RAY txm_uv_differential txm_full_uv(txm_full at_hit, txm_vec3 geometric, txm_vec3 dPdu, txm_vec3 dPdv)
{
    return txm_uv_of(geometric, dPdu, dPdv, at_hit.dPdx, at_hit.dPdy);
}

/* The derivative of the reflected direction d - 2 (d.n) n. `dn` is the derivative of the normal along the same
 * direction of the pixel, dNdu dudx + dNdv dvdx: 0 on a plane. */
TXM_RAY txm_vec3 txm_full_reflect_one(txm_vec3 direction, txm_vec3 dD, txm_vec3 normal, txm_vec3 dn)
{
    float cosine = txm_vec_dot(direction, normal), change = txm_vec_dot(dD, normal) + txm_vec_dot(direction, dn);
    return txm_vec_add(txm_vec_add(dD, -2.0f * cosine, dn), -2.0f * change, normal);
}

/* The differential after reflection at a hit (Igehy 1999). `direction` is that of the incoming ray; dNdx and dNdy are
 * the derivatives of the normal by the pixel's x and y. */
TXM_RAY txm_full txm_full_reflect(txm_full at_hit, txm_vec3 direction, txm_vec3 normal, txm_vec3 dNdx, txm_vec3 dNdy)
{
    at_hit.dDdx = txm_full_reflect_one(direction, at_hit.dDdx, normal, dNdx);
    at_hit.dDdy = txm_full_reflect_one(direction, at_hit.dDdy, normal, dNdy);
    return at_hit;
}

/* The derivative of the refracted direction d' = eta d - mu n, with mu = eta d.n - d'.n. */
TXM_RAY txm_vec3 txm_full_refract_one(txm_vec3 direction, txm_vec3 dD, txm_vec3 normal, txm_vec3 dn, float eta,
                                      float cosine_out)
{
    float cosine = txm_vec_dot(direction, normal), change = txm_vec_dot(dD, normal) + txm_vec_dot(direction, dn);
    float mu = eta * cosine - cosine_out, dmu = (eta - eta * eta * cosine / cosine_out) * change;
    return txm_vec_add(txm_vec_add(txm_vec_scale(dD, eta), -mu, dn), -dmu, normal);
}

/* The differential after refraction at a hit (Igehy 1999). `normal` points against `direction`; `eta` is the index of
 * refraction before the surface divided by that after it. Returns false on total internal reflection and leaves *at_hit
 * unchanged. */
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
