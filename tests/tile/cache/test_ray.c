/* SPDX-License-Identifier: Apache-2.0
 *
 * Ray differentials are compared with rays traced in double precision: the places where rays of neighbouring places of
 * the film arrive, after reflection and refraction at spheres, are differentiated numerically, and ray.h must give the
 * same in float, step by step. Cones are compared with the same rays where they are exact, near the axis.
 */
#include <math.h>

#include "txtile/ray.h"
#include "util_check.h"

/* ---- rays in double precision ---- */

typedef struct vec {
    double x, y, z;
} vec;

static vec add(vec a, double s, vec b)
{
    return (vec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static double dot(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vec unit(vec a)
{
    return add((vec){0, 0, 0}, 1 / sqrt(dot(a, a)), a);
}

static txm_vec3 narrow(vec a)
{
    return txm_vec_make((float)a.x, (float)a.y, (float)a.z);
}

typedef struct ray {
    vec p, d;
} ray;

typedef struct sphere {
    vec center;
    double radius;
} sphere;

/* Moves the ray to the nearer or the farther of its two points on the sphere. */
static double hit_sphere(const ray *r, const sphere *s, bool far)
{
    vec o = add(r->p, -1, s->center);
    double b = dot(o, r->d), root = b * b - dot(o, o) + s->radius * s->radius;
    return root < 0 ? -1 : -b + (far ? sqrt(root) : -sqrt(root));
}

static double hit_plane(const ray *r, vec point, vec normal)
{
    return dot(add(point, -1, r->p), normal) / dot(r->d, normal);
}

/* Returns the unit normal that faces the ray. */
static vec normal_at(const ray *r, const sphere *s)
{
    vec n = unit(add(r->p, -1, s->center));
    return dot(n, r->d) < 0 ? n : add((vec){0, 0, 0}, -1, n);
}

static vec reflected(vec d, vec n)
{
    return add(d, -2 * dot(d, n), n);
}

static vec refracted(vec d, vec n, double eta)
{
    double c = -dot(d, n), out = sqrt(1 - eta * eta * (1 - c * c));
    return unit(add(add((vec){0, 0, 0}, eta, d), eta * c - out, n));
}

/* ---- scenes ---- */

typedef enum event { REFLECT, REFRACT } event;

typedef struct stage {
    event what;
    bool far; /* the sphere is hit from the inside */
    double eta;
} stage;

/* The camera is at the origin and looks along z. The ray meets the sphere at each stage and ends on the plane. */
typedef struct scene {
    sphere ball;
    stage stages[2];
    int count;
    vec point, normal; /* of the plane */
} scene;

static ray camera(double x, double y)
{
    return (ray){{0, 0, 0}, unit((vec){x, y, 1})};
}

/* Returns the point of the plane that is seen at place x, y of the film. */
static vec arrive(const scene *s, double x, double y)
{
    ray r = camera(x, y);
    for (int i = 0; i < s->count; i++) {
        const stage *g = &s->stages[i];
        r.p = add(r.p, hit_sphere(&r, &s->ball, g->far), r.d);
        vec n = normal_at(&r, &s->ball);
        r.d = g->what == REFLECT ? reflected(r.d, n) : refracted(r.d, n, g->eta);
    }
    return add(r.p, hit_plane(&r, s->point, s->normal), r.d);
}

/* Computes derivatives of that point by x and y with ray.h. */
static txm_full carried(const scene *s, double x, double y)
{
    const double h = 1e-6;
    ray r = camera(x, y);
    vec dx = add(camera(x + h, y).d, -1, camera(x - h, y).d), dy = add(camera(x, y + h).d, -1, camera(x, y - h).d);
    txm_full f = {txm_vec_make(0, 0, 0), txm_vec_make(0, 0, 0), txm_vec_scale(narrow(dx), (float)(0.5 / h)),
                  txm_vec_scale(narrow(dy), (float)(0.5 / h))};
    for (int i = 0; i < s->count; i++) {
        const stage *g = &s->stages[i];
        double t = hit_sphere(&r, &s->ball, g->far);
        vec d = r.d;
        r.p = add(r.p, t, r.d);
        vec n = normal_at(&r, &s->ball);
        f = txm_full_transfer(f, narrow(d), (float)t, narrow(n));
        /* The sphere's outward normal turns by the distance that the point moves, divided by the radius. */
        float turn = (float)((dot(n, add(r.p, -1, s->ball.center)) > 0 ? 1 : -1) / s->ball.radius);
        txm_vec3 nx = txm_vec_scale(f.dPdx, turn), ny = txm_vec_scale(f.dPdy, turn);
        if (g->what == REFLECT) {
            f = txm_full_reflect(f, narrow(d), narrow(n), nx, ny);
            r.d = reflected(d, n);
        } else {
            ck_assert_int_eq(txm_full_refract(&f, narrow(d), narrow(n), nx, ny, (float)g->eta), 1);
            r.d = refracted(d, n, g->eta);
        }
    }
    return txm_full_transfer(f, narrow(r.d), (float)hit_plane(&r, s->point, s->normal), narrow(s->normal));
}

static void check_near(txm_vec3 got, vec want, double scale, const char *what, int i)
{
    double error =
        sqrt(pow((double)got.x - want.x, 2) + pow((double)got.y - want.y, 2) + pow((double)got.z - want.z, 2));
    ck_assert_msg(error <= 2e-4 * scale, "%s %d: %g %g %g for %g %g %g", what, i, (double)got.x, (double)got.y,
                  (double)got.z, want.x, want.y, want.z);
}

static double random_between(double low, double high)
{
    return low + (high - low) * (double)rand() / RAND_MAX;
}

/* At these places of the film, rays meet the sphere well inside its outline. */
static void check_scene(scene s, const char *what)
{
    int checked = 0;
    srand(7);
    for (int i = 0; i < 500; i++) {
        double reach = 0.6 * s.ball.radius / s.ball.center.z, h = 1e-5;
        double x = random_between(-reach, reach), y = random_between(-reach, reach);
        txm_full f = carried(&s, x, y);
        vec dx = add(arrive(&s, x + h, y), -1, arrive(&s, x - h, y)),
            dy = add(arrive(&s, x, y + h), -1, arrive(&s, x, y - h));
        dx = add((vec){0, 0, 0}, 0.5 / h, dx);
        dy = add((vec){0, 0, 0}, 0.5 / h, dy);
        double scale = sqrt(dot(dx, dx)) + sqrt(dot(dy, dy));
        if (scale > 1000)
            continue; /* rays nearly parallel to the plane: differences are meaningless there */
        checked++;
        check_near(f.dPdx, dx, scale, what, i);
        check_near(f.dPdy, dy, scale, what, i);
        /* The plane has u along one axis and v along another that is not perpendicular to it. */
        vec across = unit((vec){s.normal.z, 0, -s.normal.x}), slant = add((vec){0, 1, 0}, -s.normal.y, s.normal);
        slant = add(slant, 0.3, across);
        txm_uv_differential uv = txm_full_uv(f, narrow(s.normal), narrow(across), narrow(slant));
        vec back = add(add((vec){0, 0, 0}, (double)uv.dudx, across), (double)uv.dvdx, slant);
        check_near(narrow(back), dx, scale, what, i);
        back = add(add((vec){0, 0, 0}, (double)uv.dudy, across), (double)uv.dvdy, slant);
        check_near(narrow(back), dy, scale, what, i);
    }
    ck_assert_int_ge(checked, 300);
}

static const sphere ball = {{0.1, -0.05, 5}, 1.2};

TEST(a_plane_alone)
{
    check_scene((scene){.ball = ball, .point = {0, 0, 8}, .normal = {0.48, 0.6, -0.64}}, "plane");
}

TEST(mirror_balls)
{
    scene s = {.ball = ball, .stages = {{REFLECT, false, 0}}, .count = 1, .point = {0, 0, -3}, .normal = {0, 0.6, 0.8}};
    check_scene(s, "mirror ball");
}

/* Rays meet the far side of the sphere from the inside, which focuses them. */
TEST(hollow_mirrors)
{
    scene s = {.ball = ball, .stages = {{REFLECT, true, 0}}, .count = 1, .point = {0, 0, -3}, .normal = {0.6, 0, 0.8}};
    check_scene(s, "hollow mirror");
}

TEST(glass_balls)
{
    scene s = {.ball = ball,
               .stages = {{REFRACT, false, 1 / 1.5}, {REFRACT, true, 1.5}},
               .count = 2,
               .point = {0, 0, 12},
               .normal = {0, 0.28, -0.96}};
    check_scene(s, "glass ball");
}

TEST(mirrors_behind_glass)
{
    scene s = {.ball = ball,
               .stages = {{REFRACT, false, 1 / 1.3}, {REFLECT, true, 0}},
               .count = 2,
               .point = {0, 0, 4.5},
               .normal = {0, 0, -1}};
    check_scene(s, "mirror behind glass");
}

TEST(total_reflection)
{
    txm_full f = {txm_vec_make(1, 2, 3), txm_vec_make(4, 5, 6), txm_vec_make(7, 8, 9), txm_vec_make(1, 1, 1)}, kept = f;
    txm_vec3 n = txm_vec_make(0, 0, 1), none = txm_vec_make(0, 0, 0);
    ck_assert_int_eq(txm_full_refract(&f, txm_vec_make(0.8f, 0, -0.6f), n, none, none, 1.5f), 0);
    ck_assert_mem_eq(&f, &kept, sizeof f);
    ck_assert_int_eq(txm_full_refract(&f, txm_vec_make(0.6f, 0, -0.8f), n, none, none, 1.5f), 1);
}

/* ---- cones ---- */

/* Returns how far apart two rays that leave the camera 1e-4 apart arrive on a plane perpendicular to the axis. */
static double spread(const scene *s)
{
    const double a = 1e-4;
    vec apart = add(arrive(s, a / 2, 0), -1, arrive(s, -a / 2, 0));
    return apart.x / a;
}

TEST(cones_near_the_axis)
{
    const double distance = 4, radius = 1.5, walls[] = {3.5, 2, -1, -6};
    const sphere straight = {{0, 0, distance + radius}, radius}, hollow = {{0, 0, distance - radius}, radius};
    for (int i = 0; i < 4; i++) {
        float t = (float)(distance - walls[i]);
        scene s = {.ball = straight,
                   .stages = {{REFLECT, false, 0}},
                   .count = 1,
                   .point = {0, 0, walls[i]},
                   .normal = {0, 0, 1}};
        txm_cone start = txm_cone_transfer(txm_cone_camera(1), (float)distance);
        txm_cone c = txm_cone_transfer(txm_cone_reflect(start, (float)(1 / radius)), t);
        ck_assert_msg(fabs((double)c.width - spread(&s)) <= 1e-4 * fabs(spread(&s)), "mirror ball: %g for %g",
                      (double)c.width, spread(&s));
        s.ball = hollow;
        s.stages[0].far = true;
        c = txm_cone_transfer(txm_cone_reflect(start, (float)(-1 / radius)), t);
        ck_assert_msg(fabs((double)c.width - spread(&s)) <= 1e-3 * (1 + fabs(spread(&s))), "hollow mirror: %g for %g",
                      (double)c.width, spread(&s));
        /* Beyond the focus the cone widens again, with the opposite sign. */
        ck_assert(walls[i] > -1 || c.width < 0);
    }
    for (int i = 0; i < 4; i++) { /* into glass, up to the wall beyond */
        double depth = 0.5 * (i + 1);
        scene s = {.ball = straight,
                   .stages = {{REFRACT, false, 1 / 1.5}},
                   .count = 1,
                   .point = {0, 0, distance + depth},
                   .normal = {0, 0, 1}};
        txm_cone c = txm_cone_transfer(txm_cone_camera(1), (float)distance);
        c = txm_cone_transfer(txm_cone_refract(c, (float)(1 / radius), 1 / 1.5f), (float)depth);
        ck_assert_msg(fabs((double)c.width - spread(&s)) <= 1e-4 * (1 + fabs(spread(&s))), "glass: %g for %g",
                      (double)c.width, spread(&s));
    }
}

/* Computes the axes of the ellipse that the footprint is in a texture without distortion. */
static void axes(txm_uv_differential d, double *longer, double *shorter)
{
    double a = (double)d.dudx, b = (double)d.dudy, c = (double)d.dvdx, e = (double)d.dvdy;
    double sum = a * a + b * b + c * c + e * e, det = fabs(a * e - b * c),
           root = sqrt(fmax(0, sum * sum - 4 * det * det));
    *longer = sqrt((sum + root) / 2);
    *shorter = sqrt(fmax(0, (sum - root) / 2));
}

TEST(cones_on_slanted_surfaces)
{
    for (int i = 0; i < 89; i++) {
        double angle = i * M_PI / 180, longer, shorter, stretch = fmin(16, 1 / cos(angle));
        txm_vec3 n = narrow((vec){sin(angle), 0, -cos(angle)}), u = narrow((vec){cos(angle), 0, sin(angle)});
        txm_cone c = {-0.25f, 0}; /* beyond a focus it is as wide as before it */
        axes(txm_cone_uv(c, txm_vec_make(0, 0, 1), n, u, txm_vec_make(0, 1, 0)), &longer, &shorter);
        ck_assert_msg(fabs(longer - 0.25 * stretch) < 1e-3 * stretch && fabs(shorter - 0.25) < 1e-3, "%d: %g %g", i,
                      longer, shorter);
        /* Compact footprints stay discs. */
        txm_compact disc = {0.25f, 0};
        axes(txm_compact_uv(disc, n, u, txm_vec_make(0, 1, 0)), &longer, &shorter);
        ck_assert(fabs(longer - 0.25) < 1e-5 && fabs(shorter - 0.25) < 1e-5);
    }
}

TEST(widening)
{
    const float roughness[] = {0, 0.01f, 0.09f, 0.5f, 1}, angles[] = {-0.5f, 0, 0.05f, 0.3f, 2};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 5; k++) {
            float wide = sqrtf(roughness[i]), want = roughness[i] > 0 && wide > angles[k] ? wide : angles[k];
            txm_cone c = txm_cone_widen((txm_cone){3, angles[k]}, roughness[i]);
            txm_compact p = txm_compact_widen((txm_compact){3, angles[k]}, roughness[i]);
            ck_assert(c.angle == want && c.width == 3);
            ck_assert(p.dD == want && p.dP == 3);
        }
    /* A roughness below 0 or NaN changes nothing. */
    ck_assert(txm_cone_widen((txm_cone){1, 0.5f}, -1).angle == 0.5f &&
              txm_cone_widen((txm_cone){1, 0.5f}, NAN).angle == 0.5f);
}

TEST(cameras)
{
    /* The width is half the mean length, scaled with the share of the resolution. */
    txm_compact c = txm_compact_camera(txm_vec_make(0, 3, 4), txm_vec_make(1, 0, 0), 0.5f);
    ck_assert(c.dP == 0 && c.dD == 1.5f);
    ck_assert(txm_compact_transfer(c, 2).dP == 3 && txm_compact_transfer(c, 2).dD == 1.5f);
}

/* ---- tangents ---- */

static double random_from(double low, double high)
{
    return low + (high - low) * rand() / RAND_MAX;
}

static vec random_point(double size)
{
    return (vec){random_from(-size, size), random_from(-size, size), random_from(-size, size)};
}

static vec widen(txm_vec3 a)
{
    return (vec){a.x, a.y, a.z};
}

static void expect_near(txm_vec3 got, vec want, double tolerance, const char *what)
{
    vec d = add(widen(got), -1, want);
    ck_assert_msg(sqrt(dot(d, d)) <= tolerance * (1e-3 + sqrt(dot(want, want))), "%s: %g %g %g, not %g %g %g", what,
                  (double)got.x, (double)got.y, (double)got.z, want.x, want.y, want.z);
}

/* Returns the point of the triangle that has texture coordinates (u, v), from its weights at the corners. */
static vec point_of(const vec p[3], const double uv[3][2], double u, double v)
{
    double a = uv[1][0] - uv[0][0], b = uv[2][0] - uv[0][0], c = uv[1][1] - uv[0][1], d = uv[2][1] - uv[0][1];
    double x = u - uv[0][0], y = v - uv[0][1], det = a * d - b * c;
    double second = (x * d - y * b) / det, third = (a * y - c * x) / det;
    return add(add(add((vec){0, 0, 0}, 1 - second - third, p[0]), second, p[1]), third, p[2]);
}

/* Compares with differences; and a step on the surface is found again in u and v. */
TEST(triangles)
{
    srand(7);
    for (int i = 0; i < 2000; i++) {
        const double size = pow(10, random_from(-3, 3)), h = 1e-4;
        double uv[3][2];
        txm_uv narrow_uv[3];
        vec p[3];
        txm_vec3 corner[3];
        txm_tangents t;
        for (int k = 0; k < 3; k++) {
            corner[k] = narrow(random_point(size));
            p[k] = widen(corner[k]);
            narrow_uv[k] = (txm_uv){(float)random_from(-2, 2), (float)random_from(-2, 2)};
            uv[k][0] = (double)narrow_uv[k].u;
            uv[k][1] = (double)narrow_uv[k].v;
        }
        double det = (uv[1][0] - uv[0][0]) * (uv[2][1] - uv[0][1]) - (uv[2][0] - uv[0][0]) * (uv[1][1] - uv[0][1]);
        if (fabs(det) < 0.05)
            continue;
        ck_assert(txm_triangle_tangents(corner, narrow_uv, &t));
        vec at = point_of(p, (const double(*)[2])uv, 0.1, 0.2), u = point_of(p, (const double(*)[2])uv, 0.1 + h, 0.2),
            v = point_of(p, (const double(*)[2])uv, 0.1, 0.2 + h);
        expect_near(t.dPdu, add((vec){0, 0, 0}, 1 / h, add(u, -1, at)), 1e-4, "dPdu");
        expect_near(t.dPdv, add((vec){0, 0, 0}, 1 / h, add(v, -1, at)), 1e-4, "dPdv");
        txm_vec3 normal = txm_vec_cross(t.dPdu, t.dPdv);
        float length = txm_vec_length(normal), flat = length / (txm_vec_length(t.dPdu) * txm_vec_length(t.dPdv));
        if (flat < 0.05f)
            continue;
        txm_vec3 step = txm_vec_add(txm_vec_scale(t.dPdu, 0.25f), -0.5f, t.dPdv);
        txm_uv_differential d = txm_uv_of(txm_vec_scale(normal, 1 / length), t.dPdu, t.dPdv, step, t.dPdv);
        ck_assert_msg(fabsf(d.dudx - 0.25f) < 1e-3f && fabsf(d.dvdx + 0.5f) < 1e-3f && fabsf(d.dudy) < 1e-3f &&
                          fabsf(d.dvdy - 1) < 1e-3f,
                      "%g %g %g %g", (double)d.dudx, (double)d.dvdx, (double)d.dudy, (double)d.dvdy);
    }
}

static bool is_zero(const txm_tangents *t)
{
    return txm_vec_length(t->dPdu) == 0 && txm_vec_length(t->dPdv) == 0;
}

/* A triangle without area in the texture, or with infinite or NaN corners, has no tangents, and its footprint is a
 * point. */
TEST(degenerate_triangles)
{
    const txm_vec3 corner[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, point[3] = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
    const txm_vec3 lost[3] = {{0, 0, 0}, {INFINITY, 0, 0}, {0, 1, 0}},
                   far[3] = {{0, 0, 0}, {3e38f, 0, 0}, {0, 3e38f, 0}};
    const txm_uv uv[3] = {{0, 0}, {1, 0}, {0, 1}}, equal[3] = {{.5f, .5f}, {.5f, .5f}, {.5f, .5f}};
    const txm_uv line[3] = {{0, 0}, {1, 1}, {2, 2}}, none[3] = {{0, 0}, {NAN, 0}, {0, 1}};
    const txm_uv close[3] = {{0, 0}, {1e-30f, 0}, {0, 1e-30f}}, half[3] = {{0, 0}, {.01f, 0}, {0, .01f}};
    txm_tangents t;
    ck_assert(!txm_triangle_tangents(corner, equal, &t) && is_zero(&t));
    ck_assert(!txm_triangle_tangents(corner, line, &t) && is_zero(&t));
    ck_assert(!txm_triangle_tangents(corner, none, &t) && is_zero(&t));
    ck_assert(!txm_triangle_tangents(corner, close, &t) && is_zero(&t));
    ck_assert(!txm_triangle_tangents(lost, uv, &t) && is_zero(&t));
    ck_assert(!txm_triangle_tangents(far, half, &t) && is_zero(&t));
    ck_assert(txm_triangle_tangents(point, uv, &t) && is_zero(&t)); /* nothing hits it */
    txm_uv_differential d =
        txm_cone_uv((txm_cone){1, 0}, txm_vec_make(0, 0, -1), txm_vec_make(0, 0, 1), t.dPdu, t.dPdv);
    ck_assert(d.dudx == 0 && d.dudy == 0 && d.dvdx == 0 && d.dvdy == 0);
}

static vec globe(double radius, double u, double v)
{
    double longitude = 2 * M_PI * u, latitude = M_PI * (v - 0.5);
    return (vec){radius * cos(latitude) * cos(longitude), radius * cos(latitude) * sin(longitude),
                 radius * sin(latitude)};
}

TEST(globes)
{
    for (int i = 0; i < 2000; i++) {
        const double radius = pow(10, random_from(-3, 3)), u = random_from(0, 1), v = random_from(0.001, 0.999),
                     h = 1e-5;
        txm_tangents t;
        ck_assert(txm_sphere_tangents(narrow(globe(radius, u, v)), &t));
        vec by_u = add(globe(radius, u + h, v), -1, globe(radius, u - h, v));
        vec by_v = add(globe(radius, u, v + h), -1, globe(radius, u, v - h));
        expect_near(t.dPdu, add((vec){0, 0, 0}, 0.5 / h, by_u), 1e-3, "dPdu");
        expect_near(t.dPdv, add((vec){0, 0, 0}, 0.5 / h, by_v), 1e-3, "dPdv");
    }
}

/* At a pole, the footprint is like that beside it: exact in v, and in u as wide as can be determined. */
TEST(poles)
{
    for (int i = 0; i < 2; i++) {
        const txm_vec3 pole = txm_vec_make(0, 0, i ? 3.0f : -3.0f), up = txm_vec_make(0, 0, 1);
        const txm_vec3 beside = txm_vec_make(3e-6f, 0, pole.z);
        txm_tangents t, near;
        ck_assert(txm_sphere_tangents(pole, &t) && txm_sphere_tangents(beside, &near));
        expect_near(t.dPdu, widen(near.dPdu), 1e-3, "dPdu");
        expect_near(t.dPdv, widen(near.dPdv), 1e-3, "dPdv");
        txm_uv_differential d = txm_compact_uv((txm_compact){0.01f, 0}, up, t.dPdu, t.dPdv);
        double in_v = hypot((double)d.dvdx, (double)d.dvdy), in_u = hypot((double)d.dudx, (double)d.dudy);
        ck_assert_msg(fabs(in_v - 0.01 / (3 * M_PI)) < 1e-6 && in_u > 100 && in_u < INFINITY, "%g %g", in_u, in_v);
    }
    const txm_vec3 bad[] = {{0, 0, 0}, {1e-30f, 0, 0}, {NAN, 0, 1}, {INFINITY, 0, 0}, {1e30f, 0, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        txm_tangents t;
        ck_assert_msg(!txm_sphere_tangents(bad[i], &t) && is_zero(&t), "%zu", i);
    }
}
