/* SPDX-License-Identifier: Apache-2.0
 *
 * Light paths: camera rays, scattering, light sampling, and the width of the ray everywhere. A step advances a path or
 * leaves it unchanged. Random numbers are a function of seed, pixel, sample and their purpose (the DIMENSION_ numbers
 * below), and never of a state that is passed on, so that paths may be stepped in any order, and repeatedly.
 */
#include "render/path.h"

#include <math.h>
#include <string.h>

#include "render/bsdf.h"
#include "render/light.h"
#include "render/random.h"

/* Dimensions of random numbers: those of the camera, then some for each bounce. */
enum { DIMENSION_CAMERA = 0, DIMENSION_BOUNCE = 8, PER_BOUNCE = 8, BSDF = 0, LIGHT = 1, LOOK = 2, PART = 3 };

static const float pi = 3.14159265f;

/* Has length 1 for every ray of a path. */
static txm_vec3 direction_of(const stm_ray *ray)
{
    return txm_vec_make(ray->direction[0], ray->direction[1], ray->direction[2]);
}

/* `leave` moves the origin of rays off the surface, so that they may begin at 0. */
static void set_ray(stm_ray *ray, txm_vec3 from, txm_vec3 direction, float near_t, float far_t)
{
    *ray = (stm_ray){{from.x, from.y, from.z}, {direction.x, direction.y, direction.z}, near_t, far_t};
}

/* The factor of Filter Glossy, at most 1, as in Blender. */
static float widening_of(const stm_render_scene *scene, const stm_render_options *options)
{
    const float said = options->filter_glossy > 0.0f ? options->filter_glossy : scene->filter_glossy;
    if (!options->widen)
        return 0.0f;
    return said >= 0.0f && said < 1.0f ? said : 1.0f;
}

void stm_path_aim(stm_path_world *w, const stm_scene_camera *c, uint32_t width, uint32_t height)
{
    w->camera = c;
    w->width = width;
    w->height = height;
    w->by_x = stm_matrix_vector(&c->to_world, txm_vec_make(2.0f * c->half[0] / (float)width, 0.0f, 0.0f));
    w->by_y = stm_matrix_vector(&c->to_world, txm_vec_make(0.0f, 2.0f * c->half[1] / (float)height, 0.0f));
    w->axis = txm_vec_length(stm_matrix_vector(&c->to_world, txm_vec_make(0.0f, 0.0f, 1.0f)));
}

/* Borrows the scene and the geometry. */
stm_path_world stm_path_world_of(const stm_render_scene *scene, const stm_scene_geometry *geometry,
                                 const stm_render_options *options, uint32_t width, uint32_t height)
{
    stm_path_world w = {.scene = scene,
                        .geometry = geometry,
                        .bounces = options->bounces,
                        .seed = options->seed,
                        .notes_levels = options->heat,
                        .differentials = (stm_render_differentials)options->differentials,
                        .widen = widening_of(scene, options)};
    stm_path_aim(&w, &scene->camera, width, height);
    return w;
}

/* ---- the camera ---- */

/* The integral is summed in 8192 steps of double, then inverted by one walk along it. It is a table because each sample
 * draws from the filter twice. */
void stm_path_filter(float width, float table[STM_FILTER_TABLE])
{
    enum { STEPS = 8192 };
    double sum[STEPS + 1];
    sum[0] = 0.0;
    for (int i = 0; i < STEPS; i++) {
        double x = 2.0 * M_PI * (i + 0.5) / STEPS;
        sum[i + 1] = sum[i] + 0.35875 - 0.48829 * cos(x) + 0.14128 * cos(2.0 * x) - 0.01168 * cos(3.0 * x);
    }
    for (int i = 0, at = 0; i < STM_FILTER_TABLE; i++) {
        double wanted = (i + 0.5) / STM_FILTER_TABLE * sum[STEPS];
        while (at < STEPS - 1 && sum[at + 1] < wanted)
            at++;
        double place = (at + (wanted - sum[at]) / (sum[at + 1] - sum[at])) / STEPS;
        table[i] = (float)((place - 0.5) * (double)width);
    }
}

/* The camera's ray through a place of the picture, in camera space. */
static void camera_ray(const stm_scene_camera *c, float x, float y, txm_vec3 *from, txm_vec3 *to)
{
    float a = (x + c->shift[0]) * c->half[0], b = (y + c->shift[1]) * c->half[1];
    bool perspective = c->kind == STM_CAMERA_PERSPECTIVE;
    *from = perspective ? txm_vec_make(0.0f, 0.0f, 0.0f) : txm_vec_make(a, b, 0.0f);
    *to = perspective ? txm_vec_make(a, b, -1.0f) : txm_vec_make(0.0f, 0.0f, -1.0f);
}

/* Derivatives of the ray by the pixel's x and y: an orthographic camera moves the origin, a perspective one turns the
 * direction. The compact and cone forms are made from the same two vectors, so that the three kinds can be compared. */
static void start_differential(const stm_path_world *w, txm_vec3 direction, float length, stm_path *path)
{
    const txm_vec3 zero = txm_vec_make(0.0f, 0.0f, 0.0f);
    txm_full full = {w->by_x, w->by_y, zero, zero};
    if (w->camera->kind == STM_CAMERA_PERSPECTIVE) {
        full = (txm_full){zero, zero, stm_unit_derivative(direction, length, w->by_x),
                          stm_unit_derivative(direction, length, w->by_y)};
    }
    float dP = txm_compact_of(full.dPdx, full.dPdy), dD = txm_compact_of(full.dDdx, full.dDdy);
    switch (w->differentials) {
    case STM_RENDER_DIFFERENTIALS_COMPACT:
        path->differential.compact = (txm_compact){dP, dD};
        break;
    case STM_RENDER_DIFFERENTIALS_CONE:
        path->differential.cone = (txm_cone){dP, dD};
        break;
    default:
        path->differential.full = full;
    }
}

/* Draws a place in the pixel by the filter and one on the lens. Wherever the ray starts on the lens, it passes through
 * the same point in focus. */
void stm_path_start(const stm_path_world *w, uint32_t pixel, uint32_t sample, stm_path *path)
{
    const stm_scene_camera *c = w->camera;
    float random[4];
    stm_random_four(w->seed, pixel, sample, DIMENSION_CAMERA, random);
    *path = (stm_path){.pixel = pixel, .sample = sample, .throughput = {1.0f, 1.0f, 1.0f}, .level = -1.0f};
    float px = (float)(pixel % w->width) + 0.5f + w->filter[(int)(random[0] * STM_FILTER_TABLE)];
    float py = (float)(pixel / w->width) + 0.5f + w->filter[(int)(random[1] * STM_FILTER_TABLE)];
    txm_vec3 from, to;
    camera_ray(c, 2.0f * px / (float)w->width - 1.0f, 1.0f - 2.0f * py / (float)w->height, &from, &to);
    if (c->lens_radius > 0.0f && c->kind == STM_CAMERA_PERSPECTIVE) {
        float r = c->lens_radius * sqrtf(random[2]), phi = 2.0f * pi * random[3];
        txm_vec3 focus = txm_vec_scale(to, c->focus);
        from = txm_vec_make(r * cosf(phi), r * sinf(phi), 0.0f);
        to = txm_vec_scale(txm_vec_add(focus, -1.0f, from), 1.0f / c->focus);
    }
    txm_vec3 direction = stm_matrix_vector(&c->to_world, to);
    float length = txm_vec_length(direction);
    direction = txm_vec_scale(direction, 1.0f / length);
    /* Clip distances are along the camera's axis. */
    float stretch = length / w->axis;
    set_ray(&path->ray, stm_matrix_point(&c->to_world, from), direction, c->clip[0] * stretch, c->clip[1] * stretch);
    start_differential(w, direction, length, path);
}

/* Changes only the hit, so it too may be repeated. */
void stm_path_intersect(const stm_path_world *w, stm_path *path)
{
    stm_rays_intersect(w->geometry->rays, &path->ray, &path->hit);
}

/* ---- how wide the ray is ---- */

/* Carries the ray's width to the surface. */
static stm_path_differential transfer(const stm_path_world *w, const stm_path *path, const stm_surface *s)
{
    stm_path_differential d = path->differential;
    switch (w->differentials) {
    case STM_RENDER_DIFFERENTIALS_COMPACT:
        d.compact = txm_compact_transfer(d.compact, path->hit.t);
        break;
    case STM_RENDER_DIFFERENTIALS_CONE:
        d.cone = txm_cone_transfer(d.cone, path->hit.t);
        break;
    default:
        d.full = txm_full_transfer(d.full, direction_of(&path->ray), path->hit.t, s->normal);
    }
    return d;
}

/* The derivatives of the surface's two parameters by the pixel. */
static txm_uv_differential on_surface(const stm_path_world *w, const stm_path_differential *d, txm_vec3 direction,
                                      const stm_surface *s)
{
    switch (w->differentials) {
    case STM_RENDER_DIFFERENTIALS_COMPACT:
        return txm_compact_uv(d->compact, s->normal, s->dPds, s->dPdt);
    case STM_RENDER_DIFFERENTIALS_CONE:
        return txm_cone_uv(d->cone, direction, s->normal, s->dPds, s->dPdt);
    default:
        return txm_full_uv(d->full, s->normal, s->dPds, s->dPdt);
    }
}

/* The change of the shading normal if the surface's parameters change by ds and dt. */
static txm_vec3 normal_change(const stm_surface *s, float ds, float dt)
{
    return txm_vec_add(txm_vec_scale(s->dNds, ds), dt, s->dNdt);
}

/* Widens full differentials by a lobe of this roughness: the spread is at least as wide in both directions. */
static void widen_full(txm_full *f, txm_vec3 direction, float roughness2)
{
    float wide = sqrtf(roughness2);
    txm_vec3 x, y;
    stm_frame_of(direction, &x, &y);
    if (txm_vec_length(f->dDdx) < wide)
        f->dDdx = txm_vec_scale(x, wide);
    if (txm_vec_length(f->dDdy) < wide)
        f->dDdy = txm_vec_scale(y, wide);
}

/* Applies scattering to the width: curvature bends it (cone and full), roughness widens it (if the option is set).
 * Transmission that rounding has turned into total reflection keeps its differential. */
static stm_path_differential bounce(const stm_path_world *w, stm_path_differential d, txm_uv_differential uv,
                                    txm_vec3 direction, const stm_surface *s, const stm_scatter *scatter)
{
    float roughness2 = w->widen * w->widen * scatter->roughness2;
    txm_vec3 dNdx = normal_change(s, uv.dudx, uv.dvdx), dNdy = normal_change(s, uv.dudy, uv.dvdy);
    switch (w->differentials) {
    case STM_RENDER_DIFFERENTIALS_COMPACT:
        d.compact = txm_compact_widen(d.compact, roughness2);
        break;
    case STM_RENDER_DIFFERENTIALS_CONE:
        d.cone = scatter->transmitted ? txm_cone_refract(d.cone, s->curvature, scatter->eta)
                                      : txm_cone_reflect(d.cone, s->curvature);
        d.cone = txm_cone_widen(d.cone, roughness2);
        break;
    default:
        if (!scatter->transmitted || !txm_full_refract(&d.full, direction, s->shading, dNdx, dNdy, scatter->eta))
            d.full = txm_full_reflect(d.full, direction, s->shading, dNdx, dNdy);
        if (roughness2 > 0.0f)
            widen_full(&d.full, scatter->direction, roughness2);
    }
    return d;
}

static txm_vec3 at_most(txm_vec3 v, float most)
{
    float length = txm_vec_length(v);
    return length > most ? txm_vec_scale(v, most / length) : v;
}

/* How much the direction changes from one pixel to the next. The compact and the cone form have only the amount, so any
 * two directions across the ray will do. The spread is at most a cell of the world's map, as in Cycles: a wider lookup
 * would blur the bright spots that were chosen for their brightness. */
static void spread_of(const stm_path_world *w, const stm_path_differential *d, txm_vec3 direction, txm_vec3 *by_x,
                      txm_vec3 *by_y)
{
    txm_vec3 x, y;
    stm_frame_of(direction, &x, &y);
    float wide = w->differentials == STM_RENDER_DIFFERENTIALS_COMPACT ? d->compact.dD : d->cone.angle;
    *by_x = w->differentials == STM_RENDER_DIFFERENTIALS_FULL ? d->full.dDdx : txm_vec_scale(x, wide);
    *by_y = w->differentials == STM_RENDER_DIFFERENTIALS_FULL ? d->full.dDdy : txm_vec_scale(y, wide);
    if (w->map) {
        *by_x = at_most(*by_x, stm_world_map_angle(w->map));
        *by_y = at_most(*by_y, stm_world_map_angle(w->map));
    }
}

/* ---- lookups ---- */

/* Records a lookup if it is known how many random numbers it takes. After one that is not recorded, the random state of
 * the others is not known. */
static void record(stm_lookup_source *source, const stm_bound_image *bound, uint32_t image, const txm_lookup *at,
                   bool plain)
{
    stm_lookup_batch *b = source->batch;
    const uint32_t i = b->count;
    source->ends |= !plain || !bound->is_certain || i == STM_BATCH_LOOKUPS;
    if (source->ends)
        return;
    const txm_sampler *how = &b->samplers[image];
    uint32_t random = source->state.random;
    uint32_t steps = random && (how->mode == TXM_LEVEL_MODE_STOCHASTIC || how->mode == TXM_LEVEL_MODE_STOCHASTIC_FULL);
    steps += b->moves && how->filter != TXM_FILTER_CLOSEST ? 2 : 0;
    b->count++;
    b->u[i] = at->u;
    b->v[i] = at->v;
    b->dudx[i] = at->dudx;
    b->dvdx[i] = at->dvdx;
    b->dudy[i] = at->dudy;
    b->dvdy[i] = at->dvdy;
    b->image[i] = image;
    b->texture[i] = bound->texture;
    b->path[i] = source->path;
    b->before[i] = b->random[i] = random;
    while (steps--)
        random = 1103515245u * random + 12345u;
    source->state.random = random;
}

/* The next lookup's result, if it was recorded. */
static bool take_recorded(stm_lookup_source *source, stm_found_color *out, txm_lookup_result *worst, bool *found)
{
    const stm_lookup_batch *b = source->batch;
    const uint32_t i = source->next;
    if (source->is_recording || i == source->end)
        return false;
    source->next++;
    memcpy(out->rgba, b->rgba[i], sizeof out->rgba);
    source->state.random = b->random[i];
    *found = b->result[i] != TXM_LOOKUP_MISS;
    *worst = *found ? *worst : TXM_LOOKUP_MISS;
    return true;
}

/* Makes one lookup; *worst keeps the worst result of those in a step. `seen` is the path of a camera ray; NULL: another
 * ray. Returns whether the colour is the texture's: it is not while lookups are only recorded. */
static bool look_up(const stm_path_world *w, stm_lookup_source *source, uint32_t image, txm_lookup at, stm_path *seen,
                    stm_found_color *out, txm_lookup_result *worst)
{
    const stm_bound_image *bound = &w->images[image];
    uint32_t none = 0;
    if (w->notes_levels && seen && seen->bounce == 0 && seen->level < 0.0f)
        seen->level = fmaxf(0.0f, txm_level_of(bound->width, bound->height, &bound->how, &at, &none));
    if (source->is_recording) {
        record(source, bound, image, &at, !out->with_derivatives);
        *worst = TXM_LOOKUP_MISS;
        return false;
    }
    const txm_lookup_result look = source->lookup(source, bound, at, out);
    *worst = look == TXM_LOOKUP_MISS ? look : *worst;
    return look != TXM_LOOKUP_MISS;
}

/* The surface that scatters at this hit: for a mix, one of its parts, drawn by their shares. */
static const stm_scene_material *chosen_part(const stm_path_world *w, const stm_path *path, uint32_t material)
{
    const stm_scene_material *all = w->scene->materials, *m = &all[material];
    float random[4];
    if (m->kind != STM_SURFACE_MIX)
        return m;
    stm_random_four(w->seed, path->pixel, path->sample, DIMENSION_BOUNCE + PER_BOUNCE * path->bounce + PART, random);
    float r = random[0];
    while (m->kind == STM_SURFACE_MIX) {
        const bool second = r < m->share;
        /* The remainder of the random number decides the next mix. */
        r = second ? r / m->share : (r - m->share) / (1.0f - m->share);
        m = &all[second ? m->second : m->first];
    }
    return m;
}

/* The place of a texture that depends only on the surface. */
static txm_lookup place_of(const stm_surface *s, txm_uv_differential d, const stm_scene_texture *t)
{
    const stm_surface_uv uv = stm_surface_uv_of(s, t);
    return (txm_lookup){uv.u,
                        uv.v,
                        uv.duds * d.dudx + uv.dudt * d.dvdx,
                        uv.dvds * d.dudx + uv.dvdt * d.dvdx,
                        uv.duds * d.dudy + uv.dudt * d.dvdy,
                        uv.dvds * d.dudy + uv.dvdt * d.dvdy};
}

/* Moves a place by the red and green that were found at `from`; its derivatives follow from the chain rule. */
static txm_lookup warped(txm_lookup at, float warp, const txm_lookup *from, const stm_found_color *found)
{
    at.u += warp * (found->rgba[0] - 0.5f);
    at.v += warp * (found->rgba[1] - 0.5f);
    at.dudx += warp * (found->du[0] * from->dudx + found->dv[0] * from->dvdx);
    at.dvdx += warp * (found->du[1] * from->dudx + found->dv[1] * from->dvdx);
    at.dudy += warp * (found->du[0] * from->dudy + found->dv[0] * from->dvdy);
    at.dvdy += warp * (found->du[1] * from->dudy + found->dv[1] * from->dvdy);
    return at;
}

/* A direction whose reflection of `out` is just above the surface, if that of `normal` is below it: a mirror with a
 * normal map does not reflect into itself, as in Cycles. */
static txm_vec3 reflecting(const stm_surface *s, txm_vec3 out, txm_vec3 normal)
{
    const float least = fminf(0.9f * txm_vec_dot(out, s->normal), 0.01f);
    const txm_vec3 mirrored = txm_vec_add(txm_vec_scale(out, -1.0f), 2.0f * txm_vec_dot(out, normal), normal);
    const float above = txm_vec_dot(mirrored, s->normal);
    if (above >= least)
        return normal;
    const txm_vec3 half = txm_vec_add(txm_vec_add(mirrored, least - above, s->normal), 1.0f, out);
    const float length = txm_vec_length(half);
    return length > 1e-6f ? txm_vec_scale(half, 1.0f / length) : s->normal;
}

/* The shading normal after a normal map in tangent space, whose colour is given. */
static txm_vec3 turned_normal(const stm_surface *s, const stm_scene_texture *t, const float color[4], txm_vec3 out)
{
    const stm_scene_texture plain = {.uv = t->uv, .transform = {1.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f}};
    const stm_surface_uv uv = stm_surface_uv_of(s, &plain);
    const float det = uv.duds * uv.dvdt - uv.dudt * uv.dvds, side = s->inside ? -1.0f : 1.0f;
    const float depth = 1.0f + fminf(t->normal, 1.0f) * (2.0f * color[2] - 2.0f);
    const txm_vec3 n = txm_vec_scale(s->shading, side); /* outwards, as for the map */
    const txm_vec3 by_u = txm_vec_scale(txm_vec_add(txm_vec_scale(s->dPds, uv.dvdt), -uv.dvds, s->dPdt), 1.0f / det);
    const txm_vec3 by_v = txm_vec_scale(txm_vec_add(txm_vec_scale(s->dPdt, uv.duds), -uv.dudt, s->dPds), 1.0f / det);
    const txm_vec3 along = txm_vec_add(by_u, -txm_vec_dot(by_u, n), n);
    const float length = txm_vec_length(along);
    if (!(length > 0.0f && isfinite(length)))
        return s->shading;
    const txm_vec3 x = txm_vec_scale(along, 1.0f / length);
    txm_vec3 y = txm_vec_cross(n, x);
    y = txm_vec_dot(y, by_v) < 0.0f ? txm_vec_scale(y, -1.0f) : y;
    txm_vec3 r =
        txm_vec_add(txm_vec_scale(x, t->normal * (2.0f * color[0] - 1.0f)), t->normal * (2.0f * color[1] - 1.0f), y);
    r = txm_vec_add(r, depth, n);
    const float size = txm_vec_length(r);
    if (!(size > 1e-6f && isfinite(size)))
        return s->shading;
    r = txm_vec_scale(r, side / size);
    return txm_vec_dot(r, out) > 0.0f ? reflecting(s, out, r) : s->shading;
}

/* Looks up the normal maps of a material. *normal is that of the mix which contains it, and is turned by them. */
static txm_lookup_result turn_normal(const stm_path_world *w, stm_lookup_source *source, const stm_surface *s,
                                     const stm_scene_material *m, txm_uv_differential d, stm_path *path,
                                     txm_vec3 *normal)
{
    txm_lookup_result worst = TXM_LOOKUP_HIT;
    for (size_t i = 0; i < m->texture_count; i++) {
        const stm_scene_texture *t = &m->textures[i];
        stm_found_color found = {.decides = true};
        bool known;
        if (t->normal == 0.0f)
            continue;
        if (!take_recorded(source, &found, &worst, &known))
            known = look_up(w, source, t->image, place_of(s, d, t), path, &found, &worst);
        if (known && !found.blank)
            *normal = turned_normal(s, t, found.rgba, txm_vec_scale(direction_of(&path->ray), -1.0f));
    }
    return worst;
}

/* Finds a material's colour at the hit, which is that of its last colour texture, and its normal, if it or the mix that
 * contains it has normal maps. Every texture is looked up, as in shaders, including those of all parts of a mix,
 * whichever was chosen. But a texture whose place depends on one that missed is left for the next launch, with the
 * random state as if it had been looked up: Cycles continues with the average colour of the missed texture, and loads
 * tiles that are not needed. */
static txm_lookup_result surface_color(const stm_path_world *w, stm_lookup_source *source, const stm_surface *s,
                                       const stm_scene_material *m, const stm_scene_material *chosen,
                                       txm_uv_differential d, stm_path *path, txm_vec3 normal, float color[3],
                                       txm_vec3 *shading)
{
    txm_lookup_result worst = turn_normal(w, source, s, m, d, path, &normal);
    txm_lookup before = {0};
    stm_found_color found = {0};
    bool known = true;
    if (m == chosen) {
        memcpy(color, m->color, 3 * sizeof *color);
        *shading = normal;
    }
    for (uint32_t part = 0; m->kind == STM_SURFACE_MIX && part < 2; part++) {
        const stm_scene_material *of = &w->scene->materials[part ? m->second : m->first];
        if (surface_color(w, source, s, of, chosen, d, path, normal, color, shading) == TXM_LOOKUP_MISS)
            worst = TXM_LOOKUP_MISS;
    }
    for (size_t i = 0; i < m->texture_count; i++) {
        const stm_scene_texture *t = &m->textures[i];
        const stm_bound_image *bound = &w->images[t->image];
        stm_found_color next = {.with_derivatives = i + 1 < m->texture_count && m->textures[i + 1].warp != 0.0f};
        if (t->normal != 0.0f)
            continue;
        known = known || t->warp == 0.0f;
        if (!known || !take_recorded(source, &next, &worst, &known)) {
            txm_lookup at = place_of(s, d, t);
            if (!known) {
                txm_level_of(bound->width, bound->height, &bound->how, &at, &source->state.random);
                source->ends = true;
                continue;
            }
            if (t->warp != 0.0f)
                at = warped(at, t->warp, &before, &found);
            known = look_up(w, source, t->image, at, path, &next, &worst);
            before = at;
        }
        found = next;
        if (t->is_color && m == chosen)
            for (int c = 0; c < 3; c++)
                color[c] = m->kind == STM_SURFACE_EMISSION ? m->color[c] * found.rgba[c] : found.rgba[c];
    }
    return worst;
}

/* The light of the world from a direction, for a ray of that width. */
static txm_lookup_result world_color(const stm_path_world *w, stm_lookup_source *source, txm_vec3 d,
                                     const stm_path_differential *width, stm_path *seen, float color[3])
{
    const stm_scene_world *world = &w->scene->world;
    txm_lookup_result worst = TXM_LOOKUP_HIT;
    memcpy(color, world->color, 3 * sizeof *color);
    if (world->image == STM_SCENE_NONE)
        return worst;
    txm_vec3 by_x, by_y;
    stm_found_color found = {0};
    bool known;
    if (!take_recorded(source, &found, &worst, &known)) {
        spread_of(w, width, d, &by_x, &by_y);
        look_up(w, source, world->image, stm_world_lookup(world, d, by_x, by_y), seen, &found, &worst);
    }
    for (int c = 0; c < 3; c++)
        color[c] *= found.rgba[c];
    return worst;
}

/* ---- lights ---- */

/* Light that can be found in two ways is shared between them by Veach's power heuristic. */
static float power_share(float mine, float other)
{
    return mine * mine / (mine * mine + other * other);
}

/* A point slightly above the surface. The distance is relative to the coordinates: a fixed one would be too small far
 * from the origin and too large near it. */
static txm_vec3 leave(const stm_surface *s, float side)
{
    float size = fmaxf(fmaxf(fabsf(s->at.x), fabsf(s->at.y)), fmaxf(fabsf(s->at.z), 1e-3f));
    return txm_vec_add(s->at, side * size * 2e-5f, s->normal);
}

/* Whether no ray goes on from this surface. */
static bool ends_here(const stm_path_world *w, const stm_scene_material *m, const stm_path *path)
{
    return path->bounce >= w->bounces || (w->direct && m->kind == STM_SURFACE_DIFFUSE);
}

/* Chooses a lamp or the world, all with the same probability, and weights the light by their number. Only the surface
 * decides, so that the choice is the same when a step is run again. false: no light comes from there. */
static bool choose_light(const stm_path_world *w, const stm_surface *s, txm_vec3 shading, const stm_scene_material *m,
                         const stm_path *path, stm_light_choice *out)
{
    float random[4];
    stm_light_sample lamp = {.distance = INFINITY};
    const size_t lamps = w->scene->light_count, count = lamps + (w->map != NULL);
    if (!count || stm_bsdf_is_singular(m->kind) || m->kind == STM_SURFACE_EMISSION)
        return false;
    stm_random_four(w->seed, path->pixel, path->sample, DIMENSION_BOUNCE + PER_BOUNCE * path->bounce + LIGHT, random);
    size_t chosen = (size_t)(random[0] * (float)count);
    chosen = chosen < count ? chosen : count - 1;
    *out = (stm_light_choice){.lamp = chosen < lamps ? &w->scene->lights[chosen] : NULL};
    float probability = 1.0f;
    if (!out->lamp)
        lamp.direction = stm_world_map_draw(w->map, random + 1, &probability);
    else if (!stm_light_draw(out->lamp, s->at, random, &lamp))
        return false;
    txm_vec3 back = txm_vec_scale(direction_of(&path->ray), -1.0f);
    float f = txm_vec_dot(lamp.direction, s->normal) > 0.0f ? stm_bsdf_eval(m, shading, back, lamp.direction) : 0.0f;
    out->direction = lamp.direction;
    out->distance = lamp.distance;
    out->share = f * (float)count * (out->lamp ? lamp.irradiance : 1.0f / probability);
    /* Where a path ends, no ray can find the world in another way. */
    if (!out->lamp && !ends_here(w, m, path))
        out->share *= power_share(probability / (float)count, stm_bsdf_probability(m, shading, back, lamp.direction));
    return out->share > 0.0f && isfinite(out->share);
}

/* Adds the light that was chosen, unless it is blocked. Rays cannot hit lamps, so no light of lamps is counted twice.
 */
static void add_light(const stm_path_world *w, const stm_surface *s, const stm_light_choice *light,
                      const float color[3], stm_path *path)
{
    stm_ray shadow;
    set_ray(&shadow, leave(s, 1.0f), light->direction, 0.0f, light->distance * 0.9999f);
    if (stm_rays_occluded(w->geometry->rays, &shadow))
        return;
    const float *power = light->lamp ? light->lamp->power : light->color;
    for (int c = 0; c < 3; c++)
        path->radiance[c] += path->throughput[c] * color[c] * power[c] * light->share;
}

/* ---- a step ---- */

/* Adds the roughness of a direction to the sums: of all parts of a mix, each weighted by the probability that it
 * scatters into that direction, as in Cycles. Mirrors and glass, which scatter into no other direction, count with
 * their own roughness. */
static void add_roughness(const stm_scene_material *all, const stm_scene_material *m, float share, txm_vec3 normal,
                          txm_vec3 out, txm_vec3 in, float *probability, float *weighted)
{
    if (m->kind == STM_SURFACE_MIX) {
        add_roughness(all, &all[m->first], share * (1.0f - m->share), normal, out, in, probability, weighted);
        add_roughness(all, &all[m->second], share * m->share, normal, out, in, probability, weighted);
        return;
    }
    const float p = share * stm_bsdf_probability(m, normal, out, in);
    *probability += p;
    *weighted += p * stm_bsdf_roughness2(m);
}

static float roughness2_of(const stm_path_world *w, const stm_path_step *l, txm_vec3 out, txm_vec3 in)
{
    const stm_scene_material *all = w->scene->materials, *m = &all[l->s->material];
    float probability = 0.0f, weighted = 0.0f;
    if (m->kind != STM_SURFACE_MIX || stm_bsdf_is_singular(l->part->kind))
        return stm_bsdf_roughness2(l->part);
    add_roughness(all, m, 1.0f, l->shading, out, in, &probability, &weighted);
    return probability > 0.0f ? weighted / probability : stm_bsdf_roughness2(l->part);
}

/* Whether the normal depends on a lookup. */
static bool has_normal_map(const stm_scene_material *all, const stm_scene_material *m)
{
    for (size_t i = 0; i < m->texture_count; i++)
        if (m->textures[i].normal != 0.0f)
            return true;
    return m->kind == STM_SURFACE_MIX && (has_normal_map(all, &all[m->first]) || has_normal_map(all, &all[m->second]));
}

/* The same for a material whose only texture is a plain one, as most are. */
static txm_lookup_result one_texture_color(const stm_path_world *w, stm_lookup_source *source,
                                           const stm_scene_material *m, stm_path *path, stm_path_step *l)
{
    const stm_scene_texture *t = m->textures;
    txm_lookup_result worst = TXM_LOOKUP_HIT;
    stm_found_color found = {0};
    bool known;
    memcpy(l->color, m->color, sizeof l->color);
    if (!take_recorded(source, &found, &worst, &known))
        look_up(w, source, t->image, place_of(l->s, l->uv, t), path, &found, &worst);
    for (int c = 0; t->is_color && c < 3; c++)
        l->color[c] = m->kind == STM_SURFACE_EMISSION ? m->color[c] * found.rgba[c] : found.rgba[c];
    return worst;
}

/* Makes all lookups even if one misses, so that one launch collects what the step needs. As in Cycles, the world is
 * looked up before it is known whether it is visible, with the width of a ray that was scattered there: otherwise the
 * two ways of finding it would see different skies. */
static txm_lookup_result look_around(const stm_path_world *w, stm_lookup_source *source, stm_path *path,
                                     stm_path_step *l)
{
    const txm_vec3 direction = direction_of(&path->ray);
    if (!l->s)
        return world_color(w, source, direction, &path->differential, path, l->color);
    const stm_scene_material *m = &w->scene->materials[l->s->material];
    const bool is_plain =
        m->kind != STM_SURFACE_MIX && m->texture_count == 1 && m->textures->normal == 0.0f && m->textures->warp == 0.0f;
    txm_lookup_result look, worst = is_plain ? one_texture_color(w, source, m, path, l)
                                             : surface_color(w, source, l->s, m, l->part, l->uv, path, l->s->shading,
                                                             l->color, &l->shading);
    if (source->is_recording && (!w->map || has_normal_map(w->scene->materials, m)))
        return worst;
    if (!l->chose)
        l->is_lit = choose_light(w, l->s, l->shading, l->part, path, &l->light);
    l->chose = source->is_recording;
    if (!l->is_lit || l->light.lamp)
        return worst;
    const stm_scatter there = {.direction = l->light.direction,
                               .roughness2 = roughness2_of(w, l, txm_vec_scale(direction, -1.0f), l->light.direction)};
    const stm_path_differential width = bounce(w, l->at_hit, l->uv, direction, l->s, &there);
    look = world_color(w, source, l->light.direction, &width, NULL, l->light.color);
    return look == TXM_LOOKUP_MISS ? look : worst;
}

/* The same; if everything was in memory, the lookups are made once more for the trace, so that each is in it once,
 * however often the step was run. */
static txm_lookup_result lookup_and_note(const stm_path_world *w, stm_lookup_source *source, stm_path *path,
                                         stm_path_step *l)
{
    const uint32_t random = source->state.random;
    txm_lookup_result look = look_around(w, source, path, l);
    stm_lookup_fn *const usual = source->lookup;
    if (!source->note || look == TXM_LOOKUP_MISS)
        return look;
    source->state.random = random;
    source->lookup = source->note;
    look_around(w, source, path, l);
    source->lookup = usual;
    return look;
}

/* A path that leaves the scene ends here, unless the world's tile is missing. If the previous surface could also have
 * found this light by its map, it is weighted. */
static stm_step shade_world(const stm_path_world *w, stm_lookup_source *source, stm_path *path, stm_path_step *l)
{
    float share = 1.0f;
    if (lookup_and_note(w, source, path, l) == TXM_LOOKUP_MISS)
        return STM_STEP_MISSED;
    if (w->map && path->probability > 0.0f) {
        float by_map = stm_world_map_probability(w->map, direction_of(&path->ray)) / (float)(w->scene->light_count + 1);
        share = power_share(path->probability, by_map);
    }
    for (int c = 0; c < 3; c++)
        path->radiance[c] += path->throughput[c] * l->color[c] * share;
    return STM_STEP_DONE;
}

/* Counts the bounce by its kind; false if the path has reached a limit. */
static bool count_bounce(const stm_path_world *w, const stm_scene_material *m, const stm_scatter *next, stm_path *path)
{
    stm_bounce kind = m->kind == STM_SURFACE_DIFFUSE ? STM_BOUNCE_DIFFUSE
                      : next->transmitted            ? STM_BOUNCE_TRANSMISSION
                                                     : STM_BOUNCE_GLOSSY;
    if (next->transmitted && m->ior == 1.0f && m->roughness == 0.0f)
        kind = STM_BOUNCE_TRANSPARENT;
    if (kind != STM_BOUNCE_TRANSPARENT && path->bounce - path->bounces_of[STM_BOUNCE_TRANSPARENT] >= w->bounces)
        return false;
    return path->bounces_of[kind]++ < w->scene->bounces_of[kind];
}

/* Continues the path. There is no Russian roulette: paths end by the number of bounces, so that the tiles that they use
 * do not depend on brightness. */
static stm_step scatter(const stm_path_world *w, const stm_path_step *l, stm_path *path)
{
    const stm_surface *s = l->s;
    const stm_scene_material *m = l->part;
    float random[4], brightest = 0.0f;
    stm_scatter next;
    txm_vec3 direction = direction_of(&path->ray), out = txm_vec_scale(direction, -1.0f);
    if (w->direct && m->kind == STM_SURFACE_DIFFUSE) {
        for (int c = 0; c < 3; c++)
            path->radiance[c] += path->throughput[c] * l->color[c] * w->ambient[c];
        return STM_STEP_DONE;
    }
    stm_random_four(w->seed, path->pixel, path->sample, DIMENSION_BOUNCE + PER_BOUNCE * path->bounce + BSDF, random);
    if (!stm_bsdf_sample(m, l->shading, out, s->inside, random, &next) || !count_bounce(w, m, &next, path))
        return STM_STEP_DONE;
    float side = next.transmitted ? -1.0f : 1.0f;
    if (!(txm_vec_dot(next.direction, s->normal) * side > 0.0f))
        return STM_STEP_DONE;
    for (int c = 0; c < 3; c++) {
        path->throughput[c] *= l->color[c] * next.weight;
        brightest = fmaxf(brightest, path->throughput[c]);
    }
    if (!(brightest > 0.0f))
        return STM_STEP_DONE;
    if (m->kind == STM_SURFACE_DIFFUSE && !path->diffuse) {
        path->diffuse = true;
        memcpy(path->spread, path->throughput, sizeof path->spread);
        memcpy(path->nearest, path->radiance, sizeof path->nearest);
    }
    next.roughness2 = roughness2_of(w, l, out, next.direction);
    path->differential = bounce(w, l->at_hit, l->uv, direction, s, &next);
    path->probability = stm_bsdf_probability(m, l->shading, out, next.direction);
    set_ray(&path->ray, leave(s, side), next.direction, 0.0f, INFINITY);
    path->bounce++;
    return STM_STEP_ON;
}

/* Every step has a random state of its own, so that a repeated one chooses the same levels. */
void stm_path_record(const stm_path_world *w, stm_lookup_source *source, stm_path *path, stm_path_step *l)
{
    l->random =
        stm_random_state(w->seed, path->pixel, path->sample, DIMENSION_BOUNCE + PER_BOUNCE * path->bounce + LOOK);
    l->s = NULL;
    l->chose = l->is_lit = false;
    if (path->hit.object != UINT32_MAX) {
        stm_surface_of(w->scene, &path->ray, &path->hit, &l->surface);
        l->s = &l->surface;
        l->part = chosen_part(w, path, l->surface.material);
        l->at_hit = transfer(w, path, l->s);
        l->uv = on_surface(w, &l->at_hit, direction_of(&path->ray), l->s);
        l->shading = l->surface.shading;
    }
    if (!source->batch)
        return;
    source->state.random = l->random;
    source->is_recording = true;
    source->ends = false;
    l->next = source->batch->count;
    look_around(w, source, path, l);
    l->end = source->batch->count;
    source->is_recording = false;
}

/* All lookups come first: if one misses, nothing of the path has been changed, and the step can be run again. */
stm_step stm_path_take(const stm_path_world *w, stm_lookup_source *source, stm_path *path, stm_path_step *l)
{
    source->state.random = l->random;
    source->next = source->batch ? l->next : 0;
    source->end = source->batch ? l->end : 0;
    if (!l->s)
        return shade_world(w, source, path, l);
    if (lookup_and_note(w, source, path, l) == TXM_LOOKUP_MISS)
        return STM_STEP_MISSED;
    if (l->part->kind == STM_SURFACE_EMISSION) {
        for (int c = 0; c < 3; c++)
            path->radiance[c] += path->throughput[c] * l->color[c];
        return STM_STEP_DONE;
    }
    if (l->is_lit)
        add_light(w, l->s, &l->light, l->color, path);
    return scatter(w, l, path);
}

stm_step stm_path_shade(const stm_path_world *w, stm_lookup_source *source, stm_path *path)
{
    stm_path_step step;
    stm_path_record(w, source, path, &step);
    return stm_path_take(w, source, path, &step);
}
