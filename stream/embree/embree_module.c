/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements the table of geometry_module.h with Embree. Triangles are Embree's, robust; parallelograms and spheres are
 * user geometry with the arithmetic below, so that hits do not depend on how Embree subdivides them.
 *
 * It is a module of its own because Embree brings its thread library and tens of megabytes with it: programs that only
 * convert or look up never load it. It does not deal with textures, materials or paths: a hit consists of the numbers
 * of an object and of a triangle, and two parameters.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<embree4/rtcore.h>)
#include <embree4/rtcore.h>
#else
#include <embree3/rtcore.h>
#endif

#include "render/geometry_module.h"

#define EXPORT __attribute__((visibility("default")))

typedef enum shape_kind { INSTANCE, QUAD, SPHERE } shape_kind;

/* An object, by its number, in world space. Instances need only the number. */
typedef struct shape {
    shape_kind kind;
    float corner[3], u[3], v[3], normal[3]; /* a quad's place */
    float center[3], radius;                /* a sphere's place */
} shape;

struct txm_geometry {
    RTCDevice device;
    RTCScene scene;
    RTCScene *meshes;
    size_t mesh_count, mesh_capacity;
    /* Quads and spheres keep their address: Embree points to them. */
    shape **shapes;
    const volatile int *cancel;
    size_t shape_count, shape_capacity;
    char message[256];
};

/* Embree reports errors to a callback, from any thread. The first one is kept, because later ones follow from it: a
 * geometry for which there was no memory is an invalid argument later. */
static void remember(void *user, enum RTCError code, const char *text)
{
    txm_geometry *g = user;
    (void)code;
    if (!*g->message)
        snprintf(g->message, sizeof g->message, "Embree: %s", text ? text : "failed");
}

/* Embree reports in two ways: the callback's message, and the device's error code, which reading clears. */
static bool ok(txm_geometry *g)
{
    enum RTCError code = rtcGetDeviceError(g->device);
    if (code != RTC_ERROR_NONE && !*g->message)
        snprintf(g->message, sizeof g->message, "Embree: error %d", (int)code);
    return !*g->message;
}

/* Embree calls this repeatedly while it builds a tree, from several threads; returning false makes it fail. */
static bool goes_on(void *user, double share)
{
    const txm_geometry *g = user;
    (void)share;
    return !__atomic_load_n(g->cancel, __ATOMIC_ACQUIRE);
}

static void commit(const txm_geometry *g, RTCScene scene)
{
    if (g->cancel)
        rtcSetSceneProgressMonitorFunction(scene, goes_on, (void *)(uintptr_t)g);
    rtcCommitScene(scene);
}

/* Robust scenes: rays that run along the edge between two triangles must hit one of them, or single pixels
 * would differ from machine to machine. `threads` bounds Embree's own pool, which builds the tree; rays are
 * traced in the caller's threads. NULL: no memory, or no device. */
static txm_geometry *geometry_new(unsigned threads, const volatile int *cancel)
{
    char config[64];
    txm_geometry *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->cancel = cancel;
    snprintf(config, sizeof config, "threads=%u,set_affinity=0", threads);
    g->device = rtcNewDevice(config);
    if (g->device) {
        rtcSetDeviceErrorFunction(g->device, remember, g);
        g->scene = rtcNewScene(g->device);
    }
    if (!g->scene) {
        if (g->device)
            rtcReleaseDevice(g->device);
        free(g);
        return NULL;
    }
    rtcSetSceneFlags(g->scene, RTC_SCENE_FLAG_ROBUST);
    return g;
}

/* The scene is freed before the meshes that its instances refer to. */
static void geometry_free(txm_geometry *g)
{
    if (!g)
        return;
    rtcReleaseScene(g->scene);
    for (size_t i = 0; i < g->mesh_count; i++)
        rtcReleaseScene(g->meshes[i]);
    rtcReleaseDevice(g->device);
    for (size_t i = 0; i < g->shape_count; i++)
        free(g->shapes[i]);
    free(g->shapes);
    free(g->meshes);
    free(g);
}

/* It is called only after a failure. The text is valid as long as the geometry. */
static const char *geometry_message(const txm_geometry *g)
{
    return *g->message ? g->message : "out of memory";
}

/* Makes room for one more item. libtxtile's function for that is not linked here. */
static bool grow(void **items, size_t *capacity, size_t count, size_t bytes)
{
    if (count < *capacity)
        return true;
    size_t more = *capacity ? *capacity * 2 : 64;
    void *p = realloc(*items, more * bytes);
    if (!p)
        return false;
    *items = p;
    *capacity = more;
    return true;
}

/* ---- triangles ---- */

/* Every mesh is a scene of its own, to be instanced any number of times. A mesh without triangles stays empty, and is
 * instanced like the others, because the numbers of objects must not shift. Indices were checked when the mesh was
 * read; Embree does not check them. */
static int geometry_add_mesh(txm_geometry *g, const float *positions, size_t vertices, const uint32_t *corners,
                             size_t triangles)
{
    if (!grow((void **)&g->meshes, &g->mesh_capacity, g->mesh_count, sizeof *g->meshes))
        return -1;
    RTCScene scene = rtcNewScene(g->device);
    RTCGeometry mesh = rtcNewGeometry(g->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    if (triangles) {
        /* The vertices are copied: Embree reads 16 bytes at the last one, which may have only 12. */
        float *p = rtcSetNewGeometryBuffer(mesh, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, vertices);
        uint32_t *c = rtcSetNewGeometryBuffer(mesh, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, triangles);
        if (p && c) {
            memcpy(p, positions, vertices * 12);
            memcpy(c, corners, triangles * 12);
        }
        rtcCommitGeometry(mesh);
        rtcAttachGeometryByID(scene, mesh, 0);
    }
    rtcReleaseGeometry(mesh);
    rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST);
    commit(g, scene);
    g->meshes[g->mesh_count] = scene;
    return ok(g) ? (int)g->mesh_count++ : (rtcReleaseScene(scene), -1);
}

/* ---- parallelograms and spheres ---- */

/* The arithmetic is in float and in this order: the build forbids contraction, so that every machine finds the same
 * hits. */
static float dot(const float *a, const float *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* `out` may be neither of the two. */
static void cross(const float *a, const float *b, float *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The parameters come from areas, by cross products against the normal, which holds for parallelograms of
 * any angle. Both sides are hit. The normal is not of length 1: its square is the area's, by which the
 * parameters are divided. */
static bool hit_quad(const shape *s, const struct RTCRay *ray, float *t, float *u, float *v)
{
    const float d[3] = {ray->dir_x, ray->dir_y, ray->dir_z};
    const float to[3] = {s->corner[0] - ray->org_x, s->corner[1] - ray->org_y, s->corner[2] - ray->org_z};
    float facing = dot(s->normal, d), area = dot(s->normal, s->normal), p[3], side[3];
    if (facing == 0.0f)
        return false;
    *t = dot(s->normal, to) / facing;
    if (!(*t > ray->tnear && *t <= ray->tfar))
        return false;
    for (int i = 0; i < 3; i++)
        p[i] = *t * d[i] - to[i];
    cross(p, s->v, side);
    *u = dot(side, s->normal) / area;
    cross(s->u, p, side);
    *v = dot(side, s->normal) / area;
    return *u >= 0.0f && *u <= 1.0f && *v >= 0.0f && *v <= 1.0f;
}

/* In double: the difference of squares of a large sphere far away has no digits left in float. A ray from inside hits
 * the far side. */
static inline bool sphere_distance(const shape *s, const struct RTCRay *ray, double *t)
{
    const double d[3] = {(double)ray->dir_x, (double)ray->dir_y, (double)ray->dir_z};
    const double o[3] = {(double)ray->org_x - (double)s->center[0], (double)ray->org_y - (double)s->center[1],
                         (double)ray->org_z - (double)s->center[2]};
    double r = (double)s->radius, a = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    double b = o[0] * d[0] + o[1] * d[1] + o[2] * d[2], c = o[0] * o[0] + o[1] * o[1] + o[2] * o[2] - r * r;
    double root2 = b * b - a * c;
    if (root2 < 0.0)
        return false;
    double root = sqrt(root2), near_root = (-b - root) / a, far_root = (-b + root) / a;
    *t = near_root > (double)ray->tnear ? near_root : far_root;
    return *t > (double)ray->tnear && *t <= (double)ray->tfar;
}

/* Nearest hits and shadows use the same test, so that they cannot disagree. */
static bool hit_shape(const shape *s, const struct RTCRay *ray, float *t, float *u, float *v)
{
    double at;
    if (s->kind == QUAD)
        return hit_quad(s, ray, t, u, v);
    if (!sphere_distance(s, ray, &at))
        return false;
    *t = (float)at;
    *u = *v = 0.0f;
    return true;
}

/* In the arrays of a packet, or of a single ray, numbers of all rays follow each other. */
enum {
    ORIGIN = 0,
    NEAR = 3,
    DIRECTION = 4,
    FAR = 8,
    HIT_U = 15,
    HIT_V = 16,
    HIT_PRIMITIVE = 17,
    HIT_GEOMETRY = 18,
    HIT_INSTANCE = 19
};

static struct RTCRay ray_of(const float *rays, unsigned n, unsigned i)
{
    return (struct RTCRay){.org_x = rays[ORIGIN * n + i],
                           .org_y = rays[(ORIGIN + 1) * n + i],
                           .org_z = rays[(ORIGIN + 2) * n + i],
                           .tnear = rays[NEAR * n + i],
                           .dir_x = rays[DIRECTION * n + i],
                           .dir_y = rays[(DIRECTION + 1) * n + i],
                           .dir_z = rays[(DIRECTION + 2) * n + i],
                           .tfar = rays[FAR * n + i]};
}

/* Embree calls this with one ray or a packet; `valid` says which rays are still active. The far end moves to the hit,
 * which is how Embree knows that nothing beyond matters. Of two shapes at the same distance the first one counts,
 * whichever Embree finds first: that differs between rays and packets. */
static void intersect_shape(const struct RTCIntersectFunctionNArguments *args)
{
    const unsigned n = args->N;
    float *rays = (float *)args->rayhit;
    unsigned *hits = (unsigned *)args->rayhit;
    for (unsigned i = 0; i < n; i++) {
        float t, u, v;
        if (!args->valid[i])
            continue;
        const struct RTCRay ray = ray_of(rays, n, i);
        if (!hit_shape(args->geometryUserPtr, &ray, &t, &u, &v) ||
            (t == ray.tfar && args->geomID > hits[HIT_GEOMETRY * n + i]))
            continue;
        rays[FAR * n + i] = t;
        rays[HIT_U * n + i] = u;
        rays[HIT_V * n + i] = v;
        hits[HIT_PRIMITIVE * n + i] = args->primID;
        hits[HIT_GEOMETRY * n + i] = args->geomID;
        hits[HIT_INSTANCE * n + i] = args->context->instID[0];
    }
}

/* A far end below 0 is how Embree marks a ray as blocked. Shadows are not traced in packets. */
static void occlude_shape(const struct RTCOccludedFunctionNArguments *args)
{
    struct RTCRay *ray = (struct RTCRay *)args->ray;
    float t, u, v;
    if (args->valid[0] && hit_shape(args->geometryUserPtr, ray, &t, &u, &v) && t < ray->tfar)
        ray->tfar = -INFINITY;
}

/* The box is in world space. One that is too small loses hits silently; one that is too large only costs time. */
static void bound_shape(const struct RTCBoundsFunctionArguments *args)
{
    const shape *s = args->geometryUserPtr;
    float low[3], high[3], size = 0.0f;
    for (int i = 0; i < 3; i++) {
        if (s->kind == SPHERE) {
            low[i] = s->center[i] - s->radius;
            high[i] = s->center[i] + s->radius;
        } else {
            float c = s->corner[i], u = s->u[i], v = s->v[i];
            low[i] = c + (u < 0.0f ? u : 0.0f) + (v < 0.0f ? v : 0.0f);
            high[i] = c + (u > 0.0f ? u : 0.0f) + (v > 0.0f ? v : 0.0f);
        }
        size = fmaxf(size, fmaxf(fabsf(low[i]), fabsf(high[i])));
    }
    /* A few ulp of room: flat boxes are hit at their faces. Distances of hits are rounded by the largest coordinate, so
     * it decides for all three. */
    size = size * 1e-6f + 1e-30f;
    for (int i = 0; i < 3; i++) {
        low[i] -= size;
        high[i] += size;
    }
    *args->bounds_o = (struct RTCBounds){.lower_x = low[0],
                                         .lower_y = low[1],
                                         .lower_z = low[2],
                                         .upper_x = high[0],
                                         .upper_y = high[1],
                                         .upper_z = high[2]};
}

/* ---- objects ---- */

/* It is counted at once, so that it is freed with the geometry whatever happens next. NULL: no memory. */
static shape *new_shape(txm_geometry *g, shape_kind kind)
{
    shape *s =
        grow((void **)&g->shapes, &g->shape_capacity, g->shape_count, sizeof *g->shapes) ? calloc(1, sizeof *s) : NULL;
    if (s) {
        s->kind = kind;
        g->shapes[g->shape_count++] = s;
    }
    return s;
}

/* The object's number in the scene is Embree's number of the geometry, so a hit needs no table to find it. */
static bool attach(txm_geometry *g, RTCGeometry geometry)
{
    rtcCommitGeometry(geometry);
    rtcAttachGeometryByID(g->scene, geometry, (unsigned)(g->shape_count - 1));
    rtcReleaseGeometry(geometry);
    return ok(g);
}

/* Rows of a matrix for column vectors, the translation last in each, as Embree's row-major format has them. */
static bool geometry_add_instance(txm_geometry *g, int mesh, const float to_world[12])
{
    if (!new_shape(g, INSTANCE))
        return false;
    RTCGeometry instance = rtcNewGeometry(g->device, RTC_GEOMETRY_TYPE_INSTANCE);
    rtcSetGeometryInstancedScene(instance, g->meshes[mesh]);
    rtcSetGeometryTransform(instance, 0, RTC_FORMAT_FLOAT3X4_ROW_MAJOR, to_world);
    return attach(g, instance);
}

/* One primitive each: there are few of them, and each has its own material. Embree keeps the shape's
 * address, which therefore must not move. */
static bool add_user(txm_geometry *g, shape *s)
{
    RTCGeometry user = rtcNewGeometry(g->device, RTC_GEOMETRY_TYPE_USER);
    rtcSetGeometryUserPrimitiveCount(user, 1);
    rtcSetGeometryUserData(user, s);
    rtcSetGeometryBoundsFunction(user, bound_shape, NULL);
    rtcSetGeometryIntersectFunction(user, intersect_shape);
    rtcSetGeometryOccludedFunction(user, occlude_shape);
    return attach(g, user);
}

/* The normal is computed here once; the scene's reader has made sure that it is not 0. */
static bool geometry_add_quad(txm_geometry *g, const float corner[3], const float u[3], const float v[3])
{
    shape *s = new_shape(g, QUAD);
    if (!s)
        return false;
    memcpy(s->corner, corner, sizeof s->corner);
    memcpy(s->u, u, sizeof s->u);
    memcpy(s->v, v, sizeof s->v);
    cross(u, v, s->normal);
    return add_user(g, s);
}

static bool geometry_add_sphere(txm_geometry *g, const float center[3], float radius)
{
    shape *s = new_shape(g, SPHERE);
    if (!s)
        return false;
    memcpy(s->center, center, sizeof s->center);
    s->radius = radius;
    return add_user(g, s);
}

/* Builds the tree over all objects. From here on the scene is only read, from any thread. */
static bool geometry_commit(txm_geometry *g)
{
    commit(g, g->scene);
    return ok(g);
}

/* ---- rays ---- */

/* Time and flags stay 0; the mask lets every object be hit. The direction need not be of length 1: t counts
 * in its lengths. */
static void fill_ray(struct RTCRay *out, const txm_ray *ray)
{
    *out = (struct RTCRay){.org_x = ray->origin[0],
                           .org_y = ray->origin[1],
                           .org_z = ray->origin[2],
                           .tnear = ray->near_t,
                           .dir_x = ray->direction[0],
                           .dir_y = ray->direction[1],
                           .dir_z = ray->direction[2],
                           .tfar = ray->far_t,
                           .mask = ~0u};
}

/* Longitude from -x round to -x and latitude from the south pole, each from 0 to 1; z is up. They are computed once,
 * for the sphere that a ray has hit, since angles take longer than the search for it. */
static void sphere_parameters(const shape *s, const txm_ray *ray, float *u, float *v)
{
    struct RTCRay same;
    double t, p[3];
    fill_ray(&same, ray);
    if (!sphere_distance(s, &same, &t))
        return;
    for (int i = 0; i < 3; i++)
        p[i] = ((double)ray->origin[i] - (double)s->center[i] + t * (double)ray->direction[i]) / (double)s->radius;
    const double z = p[2] < -1.0 ? -1.0 : p[2] > 1.0 ? 1.0 : p[2];
    *u = (float)(0.5 + atan2(p[1], p[0]) / 6.283185307179586);
    *v = (float)(0.5 + asin(z) / 3.141592653589793);
}

/* Embree's own bound, beyond which it ends the program; NaN counts as beyond it. A camera far outside of all scenes has
 * such rays, and a matrix without an inverse. */
static bool is_valid(const txm_ray *ray)
{
    const float most = 1.844e18f;
    for (int i = 0; i < 3; i++)
        if (!(fabsf(ray->origin[i]) <= most && fabsf(ray->direction[i]) <= most))
            return false;
    return ray->near_t >= 0.0f && ray->far_t >= ray->near_t;
}

/* The number of the instance where there is one, else that of the geometry: objects are numbered through all
 * kinds. */
static void geometry_intersect(const txm_geometry *g, const txm_ray *ray, txm_ray_hit *hit)
{
    struct RTCRayHit r;
    *hit = (txm_ray_hit){.t = ray->far_t, .object = UINT32_MAX};
    if (!is_valid(ray))
        return;
    fill_ray(&r.ray, ray);
    r.hit.geomID = r.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
#if RTC_VERSION_MAJOR >= 4
    rtcIntersect1(g->scene, &r, NULL);
#else
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcIntersect1(g->scene, &context, &r);
#endif
    if (r.hit.geomID == RTC_INVALID_GEOMETRY_ID)
        return;
    bool instance = r.hit.instID[0] != RTC_INVALID_GEOMETRY_ID;
    *hit = (txm_ray_hit){.t = r.ray.tfar,
                         .u = r.hit.u,
                         .v = r.hit.v,
                         .object = instance ? r.hit.instID[0] : r.hit.geomID,
                         .primitive = r.hit.primID};
    if (g->shapes[hit->object]->kind == SPHERE)
        sphere_parameters(g->shapes[hit->object], ray, &hit->u, &hit->v);
}

/* At most 8 rays. The lanes that are left over are idle. */
static void intersect_packet(const txm_geometry *g, const txm_ray *const *rays, txm_ray_hit *const *hits,
                             unsigned count)
{
    struct RTCRayHit8 r;
    int valid[8] __attribute__((aligned(32)));
    for (unsigned i = 0; i < 8; i++) {
        const txm_ray *ray = rays[i < count ? i : 0];
        valid[i] = i < count && is_valid(ray) ? -1 : 0;
        r.ray.org_x[i] = ray->origin[0];
        r.ray.org_y[i] = ray->origin[1];
        r.ray.org_z[i] = ray->origin[2];
        r.ray.tnear[i] = ray->near_t;
        r.ray.dir_x[i] = ray->direction[0];
        r.ray.dir_y[i] = ray->direction[1];
        r.ray.dir_z[i] = ray->direction[2];
        r.ray.tfar[i] = ray->far_t;
        r.ray.time[i] = 0.0f;
        r.ray.mask[i] = ~0u;
        r.ray.id[i] = r.ray.flags[i] = 0;
        r.hit.geomID[i] = r.hit.instID[0][i] = RTC_INVALID_GEOMETRY_ID;
    }
#if RTC_VERSION_MAJOR >= 4
    rtcIntersect8(valid, g->scene, &r, NULL);
#else
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
    rtcIntersect8(valid, g->scene, &context, &r);
#endif
    for (unsigned i = 0; i < count; i++) {
        const unsigned object = r.hit.geomID[i];
        *hits[i] = (txm_ray_hit){.t = rays[i]->far_t, .object = UINT32_MAX};
        if (object == RTC_INVALID_GEOMETRY_ID)
            continue;
        *hits[i] = (txm_ray_hit){.t = r.ray.tfar[i], .u = r.hit.u[i], .v = r.hit.v[i], .object = object};
        if (g->shapes[object]->kind == SPHERE)
            sphere_parameters(g->shapes[object], rays[i], &hits[i]->u, &hits[i]->v);
    }
}

/* Packets find the same hits on quads and spheres, whose arithmetic is in this file, in less time. On triangles Embree
 * computes other bits for packets, so scenes with meshes are traced ray by ray. */
static void geometry_intersect_all(const txm_geometry *g, const txm_ray *const *rays, txm_ray_hit *const *hits,
                                   unsigned count)
{
    enum { PACKET = 8, WORTH_IT = 4 };
    while (count) {
        const unsigned some = g->mesh_count || count < WORTH_IT ? 1 : count < PACKET ? count : PACKET;
        if (some == 1)
            geometry_intersect(g, *rays, *hits);
        else
            intersect_packet(g, rays, hits, some);
        rays += some;
        hits += some;
        count -= some;
    }
}

/* Finds any hit between the ends and not the nearest one, which makes shadow rays cheaper. */
static bool geometry_occluded(const txm_geometry *g, const txm_ray *ray)
{
    struct RTCRay r;
    if (!is_valid(ray))
        return true;
    fill_ray(&r, ray);
#if RTC_VERSION_MAJOR >= 4
    rtcOccluded1(g->scene, &r, NULL);
#else
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcOccluded1(g->scene, &context, &r);
#endif
    return r.tfar < 0.0f;
}

/* The only exported symbol; the loader looks it up by this name. */
EXPORT extern const txm_geometry_table txm_geometry_table_of_embree __asm__(TXM_GEOMETRY_SYMBOL);
const txm_geometry_table txm_geometry_table_of_embree = {
    .abi = TXM_GEOMETRY_ABI,
    .hit_bytes = sizeof(txm_ray_hit),
    .ray_bytes = sizeof(txm_ray),
    .new = geometry_new,
    .add_mesh = geometry_add_mesh,
    .add_instance = geometry_add_instance,
    .add_quad = geometry_add_quad,
    .add_sphere = geometry_add_sphere,
    .commit = geometry_commit,
    .message = geometry_message,
    .intersect = geometry_intersect,
    .intersect_all = geometry_intersect_all,
    .occluded = geometry_occluded,
    .free = geometry_free,
};
