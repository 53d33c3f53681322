/* SPDX-License-Identifier: Apache-2.0
 *
 * A tree over the objects of a scene, and one over the triangles of each mesh. A ray visits the nearest box first.
 *
 * Triangles are tested as in Woop, Benthin and Wald, "Watertight Ray/Triangle Intersection" (2013): a ray that runs
 * along the edge between two of them hits one. All arithmetic is in float, and in double where an edge cannot be
 * decided. The build forbids contraction, and of two hits at one distance the lower numbers count, so every machine
 * finds the same hits, in whichever order the tree is built and visited.
 */
#include "render/rays.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "render/box_tree.h"

typedef enum shape_kind { INSTANCE, QUAD, SPHERE } shape_kind;

typedef struct shape {
    shape_kind kind;
    uint32_t mesh; /* of an instance */
    union {
        float to_mesh[12]; /* the rays of an instance are transformed to the space of its mesh */
        struct {
            float corner[3], u[3], v[3], normal[3];
        }; /* of a quad */
        struct {
            float center[3], radius;
        }; /* of a sphere */
    };
    stm_box bounds;
} shape;

struct stm_rays {
    stm_box_tree *meshes;
    shape *shapes;
    stm_box_tree top;
    const volatile int *cancel;
    stm_pool *pool;
    size_t mesh_count, mesh_capacity, shape_count, shape_capacity;
};

stm_rays *stm_rays_new(unsigned threads, const volatile int *cancel)
{
    stm_rays *r = stm_calloc(1, sizeof *r);
    if (r) {
        r->cancel = cancel;
        r->top.bounds = stm_box_empty();
        r->pool = threads > 1 ? stm_pool_new(threads) : NULL; /* without one it takes longer */
    }
    return r;
}

void stm_rays_free(stm_rays *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->mesh_count; i++)
        stm_box_tree_free(&r->meshes[i]);
    stm_box_tree_free(&r->top);
    stm_pool_free(r->pool);
    free(r->meshes);
    free(r->shapes);
    free(r);
}

static lanes point_of(const float *p)
{
    return (lanes){p[0], p[1], p[2], 0.0f};
}

int stm_rays_add_mesh(stm_rays *r, const float *positions, const uint32_t *corners, size_t count)
{
    if (count >= UINT32_MAX || !STM_GROW(r->meshes, r->mesh_capacity, r->mesh_count))
        return -1;
    stm_box_tree *t = &r->meshes[r->mesh_count];
    *t = (stm_box_tree){.bounds = stm_box_empty()};
    stm_item *p = stm_calloc(count, sizeof *p);
    const stm_box_tree_job job = {r->pool, r->cancel, positions, corners};
    if (!p)
        return -1;
    for (size_t i = 0; i < count; i++) {
        p[i] = (stm_item){stm_box_empty(), (uint32_t)i};
        for (size_t v = 0; v < 3; v++)
            p[i].bounds = stm_box_with(p[i].bounds, point_of(positions + 3 * (size_t)corners[3 * i + v]));
    }
    const bool built = stm_box_tree_build(t, &job, p, count);
    free(p);
    if (!built)
        stm_box_tree_free(t);
    return built ? (int)r->mesh_count++ : -1;
}

static shape *new_shape(stm_rays *r, shape_kind kind)
{
    if (!STM_GROW(r->shapes, r->shape_capacity, r->shape_count))
        return NULL;
    shape *s = &r->shapes[r->shape_count++];
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->bounds = stm_box_empty();
    return s;
}

/* A few ulp of room: distances of hits are rounded by the largest coordinate, so it decides for all three. */
static void roomy(shape *s)
{
    float size = 0.0f;
    for (int i = 0; i < 3; i++)
        size = fmaxf(size, fmaxf(fabsf(s->bounds.low[i]), fabsf(s->bounds.high[i])));
    const lanes room = lanes_all(size * 1e-6f + 1e-30f);
    s->bounds = (stm_box){s->bounds.low - room, s->bounds.high + room};
}

static lanes transformed(const float *m, lanes p, float move)
{
    lanes out = lanes_all(0.0f);
    for (int i = 0; i < 3; i++)
        out[i] = m[4 * i] * p[0] + m[4 * i + 1] * p[1] + m[4 * i + 2] * p[2] + move * m[4 * i + 3];
    return out;
}

/* The inverse of three rows of four; the scene's reader has made sure that there is one. */
static void inverse(const float *m, float *out)
{
    double c[3][3], volume = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, e = (j + 1) % 3, f = (j + 2) % 3;
            c[j][i] = (double)m[4 * a + e] * (double)m[4 * b + f] - (double)m[4 * a + f] * (double)m[4 * b + e];
        }
    for (int j = 0; j < 3; j++)
        volume += (double)m[j] * c[j][0];
    for (int i = 0; i < 3; i++) {
        double move = 0.0;
        for (int j = 0; j < 3; j++) {
            out[4 * i + j] = (float)(c[i][j] / volume);
            move -= c[i][j] / volume * (double)m[4 * j + 3];
        }
        out[4 * i + 3] = (float)move;
    }
}

bool stm_rays_add_instance(stm_rays *r, int mesh, const float to_world[12])
{
    shape *s = new_shape(r, INSTANCE);
    if (!s)
        return false;
    const stm_box own = r->meshes[mesh].bounds;
    s->mesh = (uint32_t)mesh;
    inverse(to_world, s->to_mesh);
    for (int i = 0; r->meshes[mesh].root && i < 8; i++) {
        const lanes corner = {i & 1 ? own.low[0] : own.high[0], i & 2 ? own.low[1] : own.high[1],
                              i & 4 ? own.low[2] : own.high[2], 0.0f};
        s->bounds = stm_box_with(s->bounds, transformed(to_world, corner, 1.0f));
    }
    roomy(s);
    return true;
}

static void cross(const float *a, const float *b, float *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static float dot(const float *a, const float *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The normal is computed here once; the scene's reader has made sure that it is not 0. */
bool stm_rays_add_quad(stm_rays *r, const float corner[3], const float u[3], const float v[3])
{
    shape *s = new_shape(r, QUAD);
    if (!s)
        return false;
    memcpy(s->corner, corner, sizeof s->corner);
    memcpy(s->u, u, sizeof s->u);
    memcpy(s->v, v, sizeof s->v);
    cross(u, v, s->normal);
    for (int i = 0; i < 4; i++) {
        const float a = (float)(i & 1), b = (float)(i >> 1);
        s->bounds = stm_box_with(s->bounds, point_of(corner) + lanes_all(a) * point_of(u) + lanes_all(b) * point_of(v));
    }
    roomy(s);
    return true;
}

bool stm_rays_add_sphere(stm_rays *r, const float center[3], float radius)
{
    shape *s = new_shape(r, SPHERE);
    if (!s)
        return false;
    memcpy(s->center, center, sizeof s->center);
    s->radius = radius;
    s->bounds = (stm_box){point_of(center) - lanes_all(radius), point_of(center) + lanes_all(radius)};
    roomy(s);
    return true;
}

bool stm_rays_commit(stm_rays *r)
{
    stm_item *p = stm_calloc(r->shape_count, sizeof *p);
    const stm_box_tree_job job = {r->pool, r->cancel, NULL, NULL};
    size_t count = 0;
    if (!p || r->shape_count >= UINT32_MAX) {
        free(p);
        return false;
    }
    for (size_t i = 0; i < r->shape_count; i++)
        if (r->shapes[i].kind != INSTANCE || r->meshes[r->shapes[i].mesh].root)
            p[count++] = (stm_item){r->shapes[i].bounds, (uint32_t)i};
    const bool built = stm_box_tree_build(&r->top, &job, p, count);
    free(p);
    stm_pool_free(r->pool); /* rays are traced in the threads of callers */
    r->pool = NULL;
    return built;
}

/* ---- parallelograms and spheres ---- */

/* The parameters come from areas, by cross products against the normal, which holds for parallelograms of any angle.
 * Both sides are hit. The normal is not of length 1: its square is the area's, by which the parameters are divided. */
static bool hit_quad(const shape *s, const stm_ray *ray, float far_t, stm_ray_hit *hit)
{
    float to[3], p[3], side[3], facing = dot(s->normal, ray->direction), square = dot(s->normal, s->normal);
    for (int i = 0; i < 3; i++)
        to[i] = s->corner[i] - ray->origin[i];
    const float t = dot(s->normal, to) / facing;
    if (facing == 0.0f || !(t > ray->near_t && t <= far_t))
        return false;
    for (int i = 0; i < 3; i++)
        p[i] = t * ray->direction[i] - to[i];
    cross(p, s->v, side);
    const float u = dot(side, s->normal) / square;
    cross(s->u, p, side);
    const float v = dot(side, s->normal) / square;
    *hit = (stm_ray_hit){.t = t, .u = u, .v = v};
    return u >= 0.0f && u <= 1.0f && v >= 0.0f && v <= 1.0f;
}

/* In double: the difference of squares of a large sphere far away has no digits left in float. A ray from inside hits
 * the far side. */
static bool sphere_distance(const shape *s, const stm_ray *ray, float far_t, double *t)
{
    double r = (double)s->radius, a = 0.0, b = 0.0, c = -r * r;
    for (int i = 0; i < 3; i++) {
        const double d = (double)ray->direction[i], o = (double)ray->origin[i] - (double)s->center[i];
        a += d * d;
        b += o * d;
        c += o * o;
    }
    const double root2 = b * b - a * c;
    if (root2 < 0.0)
        return false;
    const double root = sqrt(root2), near_root = (-b - root) / a, far_root = (-b + root) / a;
    *t = near_root > (double)ray->near_t ? near_root : far_root;
    return *t > (double)ray->near_t && *t <= (double)far_t;
}

/* Longitude from -x round to -x and latitude from the south pole, each from 0 to 1; z is up. They are computed once,
 * for the sphere that a ray has hit, since angles take longer than the search for it. */
static void sphere_parameters(const shape *s, const stm_ray *ray, stm_ray_hit *hit)
{
    double t, p[3];
    if (!sphere_distance(s, ray, ray->far_t, &t))
        return;
    for (int i = 0; i < 3; i++)
        p[i] = ((double)ray->origin[i] - (double)s->center[i] + t * (double)ray->direction[i]) / (double)s->radius;
    const double z = p[2] < -1.0 ? -1.0 : p[2] > 1.0 ? 1.0 : p[2];
    hit->u = (float)(0.5 + atan2(p[1], p[0]) / 6.283185307179586);
    hit->v = (float)(0.5 + asin(z) / 3.141592653589793);
}

/* ---- rays ---- */

/* A ray in the space of a tree: what tests of boxes and triangles need of it. */
typedef struct walker {
    float origin[3], direction[3], near_t;
    lanes start[3], slope[3]; /* of boxes: origin, and 1 / direction */
    int near_side[3];         /* 0: boxes are entered at their lower side */
    int axis[3];              /* the last is that of the largest part of the direction */
    float shear[3];
} walker;

static void set_out(walker *w, const float *origin, const float *direction, float near_t)
{
    int z = 0;
    w->near_t = near_t;
    for (int i = 0; i < 3; i++) {
        const float least = 1e-30f, d = direction[i];
        w->origin[i] = origin[i];
        w->direction[i] = d;
        w->start[i] = lanes_all(origin[i]);
        w->slope[i] = lanes_all(1.0f / (fabsf(d) > least ? d : copysignf(least, d)));
        w->near_side[i] = signbit(d) != 0;
        if (fabsf(d) > fabsf(direction[z]))
            z = i;
    }
    w->axis[0] = (z + 1) % 3;
    w->axis[1] = (z + 2) % 3;
    w->axis[2] = z;
    w->shear[0] = direction[w->axis[0]] / direction[z];
    w->shear[1] = direction[w->axis[1]] / direction[z];
    w->shear[2] = 1.0f / direction[z];
}

/* Which of the four boxes the ray meets before `far_t`, as bits; *at: where it enters them. The far sides are moved
 * away by more than rounding takes (Ize, "Robust BVH Ray Traversal", 2013). */
static inline unsigned boxes_met(const stm_node *n, const walker *w, float far_t, lanes *at)
{
    lanes in = lanes_all(w->near_t), out = lanes_all(far_t);
    for (int i = 0; i < 3; i++) {
        const int side = w->near_side[i];
        in = lanes_max(in, (lanes_load(n->side[side][i]) - w->start[i]) * w->slope[i]);
        out = lanes_min(out, (lanes_load(n->side[!side][i]) - w->start[i]) * w->slope[i] * lanes_all(1.0000005f));
    }
    *at = in;
    return lanes_bits(in <= out);
}

typedef struct best {
    float t, u, v;
    uint32_t object, primitive;
    bool any; /* the first hit will do */
} best;

/* Whether a hit counts more than the best one: it is nearer, or has lower numbers. */
static inline bool counts(const best *b, float t, uint32_t object, uint32_t primitive)
{
    return t < b->t || (t == b->t && (object < b->object || (object == b->object && primitive < b->primitive)));
}

/* Corners around the ray, sheared so that it is the z axis: edges are decided by signed areas. Where one is 0, all are
 * computed again in double. */
static inline void hit_triangles(const stm_triangles *n, const walker *w, uint32_t object, best *b)
{
    lanes x[3], y[3], z[3];
    for (int v = 0; v < 3; v++) {
        z[v] = lanes_load(n->at[v][w->axis[2]]) - lanes_all(w->origin[w->axis[2]]);
        x[v] = lanes_load(n->at[v][w->axis[0]]) - lanes_all(w->origin[w->axis[0]]) - lanes_all(w->shear[0]) * z[v];
        y[v] = lanes_load(n->at[v][w->axis[1]]) - lanes_all(w->origin[w->axis[1]]) - lanes_all(w->shear[1]) * z[v];
    }
    lanes e0 = x[2] * y[1] - y[2] * x[1], e1 = x[0] * y[2] - y[0] * x[2], e2 = x[1] * y[0] - y[1] * x[0];
    const lanes zero = lanes_all(0.0f);
    unsigned edge = lanes_bits((e0 == zero) | (e1 == zero) | (e2 == zero));
    for (int i = 0; edge && i < STM_WIDE; i++) {
        if (!(edge >> i & 1))
            continue;
        double px[3], py[3];
        for (int v = 0; v < 3; v++) {
            px[v] = (double)x[v][i];
            py[v] = (double)y[v][i];
        }
        e0[i] = (float)(px[2] * py[1] - py[2] * px[1]);
        e1[i] = (float)(px[0] * py[2] - py[0] * px[2]);
        e2[i] = (float)(px[1] * py[0] - py[1] * px[0]);
    }
    const lanes sum = e0 + e1 + e2, scale = lanes_all(w->shear[2]);
    const lanes t = (e0 * (scale * z[0]) + e1 * (scale * z[1]) + e2 * (scale * z[2])) / sum;
    unsigned good =
        lanes_bits((((e0 >= zero) & (e1 >= zero) & (e2 >= zero)) | ((e0 <= zero) & (e1 <= zero) & (e2 <= zero))) &
                   (sum != zero) & (t > lanes_all(w->near_t)) & (t <= lanes_all(b->t)));
    for (int i = 0; good; good >>= 1, i++)
        if (good & 1 && n->number[i] != UINT32_MAX && counts(b, t[i], object, n->number[i])) {
            b->t = t[i];
            b->u = e1[i] / sum[i];
            b->v = e2[i] / sum[i];
            b->object = object;
            b->primitive = n->number[i];
        }
}

static void hit_object(const stm_rays *r, uint32_t object, const stm_ray *ray, best *b);

/* Visits the leaves of a tree, the nearest first. `mesh`: of triangles of this object; else of the scene's objects. */
static inline void visit(const stm_rays *r, const stm_box_tree *t, const walker *w, bool mesh, uint32_t object,
                         const stm_ray *ray, best *b)
{
    struct {
        uintptr_t child;
        float at;
    } stack[STM_BOX_TREE_STACK];
    unsigned depth = 0;
    uintptr_t child = t->root;
    const uint32_t before = b->object;
    float at = w->near_t;
    for (;;) {
        while ((child & STM_KIND) == STM_INNER && at <= b->t) {
            const stm_node *n = (const stm_node *)(child - STM_INNER);
            lanes entry;
            unsigned met = boxes_met(n, w, b->t, &entry);
            child = 0;
            if (!met)
                break;
            /* The nearest one is visited next; the others wait in order, the nearest on top. */
            const unsigned bottom = depth;
            for (int i = 0; met; met >>= 1, i++) {
                if (!(met & 1))
                    continue;
                unsigned place = depth++;
                for (; place > bottom && stack[place - 1].at < entry[i]; place--)
                    stack[place] = stack[place - 1];
                stack[place].child = n->child[i];
                stack[place].at = entry[i];
            }
            depth--;
            child = stack[depth].child;
            at = stack[depth].at;
        }
        if ((child & STM_KIND) == STM_LEAF && at <= b->t) {
            if (mesh)
                hit_triangles((const stm_triangles *)(child - STM_LEAF), w, object, b);
            else
                hit_object(r, (uint32_t)(child >> 2), ray, b);
            if (b->any && b->object != before)
                return;
        }
        if (!depth)
            return;
        depth--;
        child = stack[depth].child;
        at = stack[depth].at;
    }
}

static void hit_instance(const stm_rays *r, uint32_t object, const stm_ray *ray, best *b)
{
    const shape *s = &r->shapes[object];
    float origin[3], direction[3];
    walker w;
    for (int i = 0; i < 3; i++) {
        const float *m = s->to_mesh + 4 * i;
        origin[i] = m[0] * ray->origin[0] + m[1] * ray->origin[1] + m[2] * ray->origin[2] + m[3];
        direction[i] = m[0] * ray->direction[0] + m[1] * ray->direction[1] + m[2] * ray->direction[2];
    }
    set_out(&w, origin, direction, ray->near_t);
    visit(r, &r->meshes[s->mesh], &w, true, object, NULL, b);
}

static void hit_object(const stm_rays *r, uint32_t object, const stm_ray *ray, best *b)
{
    const shape *s = &r->shapes[object];
    stm_ray_hit hit = {0};
    double t;
    if (s->kind == INSTANCE) {
        hit_instance(r, object, ray, b);
    } else if (s->kind == QUAD ? hit_quad(s, ray, b->t, &hit) : sphere_distance(s, ray, b->t, &t)) {
        if (s->kind == SPHERE)
            hit.t = (float)t;
        if (counts(b, hit.t, object, 0))
            *b = (best){hit.t, hit.u, hit.v, object, 0, b->any};
    }
}

/* Beyond this bound products of coordinates are not finite; NaN counts as beyond it. A camera far outside of all scenes
 * has such rays, and a matrix without an inverse. */
static bool is_valid(const stm_ray *ray)
{
    const float most = 1.844e18f;
    bool moves = false;
    for (int i = 0; i < 3; i++) {
        if (!(fabsf(ray->origin[i]) <= most && fabsf(ray->direction[i]) <= most))
            return false;
        moves = moves || ray->direction[i] != 0.0f;
    }
    return moves && ray->near_t >= 0.0f && ray->far_t >= ray->near_t;
}

void stm_rays_intersect(const stm_rays *r, const stm_ray *ray, stm_ray_hit *hit)
{
    best b = {.t = ray->far_t, .object = UINT32_MAX, .primitive = UINT32_MAX};
    *hit = (stm_ray_hit){.t = ray->far_t, .object = UINT32_MAX};
    if (!is_valid(ray))
        return;
    walker w;
    set_out(&w, ray->origin, ray->direction, ray->near_t);
    visit(r, &r->top, &w, false, 0, ray, &b);
    if (b.object == UINT32_MAX)
        return;
    *hit = (stm_ray_hit){.t = b.t, .u = b.u, .v = b.v, .object = b.object, .primitive = b.primitive};
    if (r->shapes[b.object].kind == SPHERE)
        sphere_parameters(&r->shapes[b.object], ray, hit);
}

bool stm_rays_occluded(const stm_rays *r, const stm_ray *ray)
{
    best b = {.t = ray->far_t, .object = UINT32_MAX, .primitive = UINT32_MAX, .any = true};
    if (!is_valid(ray))
        return true;
    walker w;
    set_out(&w, ray->origin, ray->direction, ray->near_t);
    visit(r, &r->top, &w, false, 0, ray, &b);
    return b.object != UINT32_MAX;
}
