/* SPDX-License-Identifier: Apache-2.0
 *
 * Camera paths. Between keyframes, positions follow a Catmull-Rom curve, which passes through all of them, and axes
 * are blended and made perpendicular again; the curve is interrupted at cuts.
 */
#include "render/camera_path.h"

#include <math.h>
#include <string.h>

static const float pi = 3.14159265f;

/* ---- orbits ---- */

stm_scene_camera stm_camera_orbit(const stm_frames *frames, float turn)
{
    enum { FAR_AWAY = 10 /* metres to the centre of an orbit if the middle of the picture shows nothing */ };
    const float inside = 0.45f; /* share of the way at which the far wall is not reached yet */
    stm_scene_camera c = stm_frames_scene(frames)->camera;
    const float ahead = stm_frames_distance(frames, false), behind = stm_frames_distance(frames, true);
    const float radius = (isfinite(ahead) ? ahead : (float)FAR_AWAY) * (isfinite(behind) ? inside : 1.0f);
    const txm_vec3 axis = stm_matrix_vector(&c.to_world, txm_vec_make(0.0f, 0.0f, -1.0f));
    const txm_vec3 from = stm_matrix_point(&c.to_world, txm_vec_make(0.0f, 0.0f, 0.0f));
    const txm_vec3 middle = txm_vec_add(from, radius / txm_vec_length(axis), axis);
    const float cosine = cosf(2.0f * pi * turn), sine = sinf(2.0f * pi * turn);
    const stm_matrix m = c.to_world;
    if (turn == floorf(turn))
        return c;
    for (int k = 0; k < 4; k++) {
        const float x = m.m[0][k] - (k == 3 ? middle.x : 0.0f), y = m.m[1][k] - (k == 3 ? middle.y : 0.0f);
        c.to_world.m[0][k] = cosine * x - sine * y + (k == 3 ? middle.x : 0.0f);
        c.to_world.m[1][k] = sine * x + cosine * y + (k == 3 ? middle.y : 0.0f);
    }
    return c;
}

/* ---- keyframes ---- */

bool stm_camera_has_keys(const stm_render_scene *scene, uint32_t *last)
{
    *last = scene->key_count ? scene->keys[scene->key_count - 1].frame : 0;
    return scene->key_count;
}

static txm_vec3 column(const stm_matrix *m, int k)
{
    return txm_vec_make(m->m[0][k], m->m[1][k], m->m[2][k]);
}

static void set_column(stm_matrix *m, int k, txm_vec3 v)
{
    m->m[0][k] = v.x, m->m[1][k] = v.y, m->m[2][k] = v.z;
}

/* A point of the curve between b and c, with the neighbours a and d. */
static txm_vec3 curve(txm_vec3 a, txm_vec3 b, txm_vec3 c, txm_vec3 d, float t)
{
    const float t2 = t * t, t3 = t2 * t;
    txm_vec3 r = txm_vec_scale(a, -0.5f * t3 + t2 - 0.5f * t);
    r = txm_vec_add(r, 1.5f * t3 - 2.5f * t2 + 1.0f, b);
    r = txm_vec_add(r, -1.5f * t3 + 2.0f * t2 + 0.5f * t, c);
    return txm_vec_add(r, 0.5f * t3 - 0.5f * t2, d);
}

/* A vector along `v` with the length of `like`; `like` if v has no length. */
static txm_vec3 as_long_as(txm_vec3 v, txm_vec3 like)
{
    const float length = txm_vec_length(v);
    return length > 1e-6f * txm_vec_length(like) ? txm_vec_scale(v, txm_vec_length(like) / length) : like;
}

/* If two keyframes look in opposite directions the blend has no length, and the first one's axes are kept. */
static void blend_axes(const stm_matrix *a, const stm_matrix *b, float t, stm_matrix *out)
{
    const txm_vec3 ax = column(a, 0), ay = column(a, 1), az = column(a, 2);
    const txm_vec3 z = as_long_as(txm_vec_add(txm_vec_scale(az, 1.0f - t), t, column(b, 2)), az);
    txm_vec3 x = txm_vec_add(txm_vec_scale(ax, 1.0f - t), t, column(b, 0));
    x = as_long_as(txm_vec_add(x, -txm_vec_dot(x, z) / txm_vec_dot(z, z), z), ax);
    const txm_vec3 y = as_long_as(txm_vec_cross(z, x), ay);
    set_column(out, 0, x);
    set_column(out, 1, y);
    set_column(out, 2, z);
}

static bool is_same(const stm_scene_key *a, const stm_scene_key *b)
{
    return memcmp(&a->to_world, &b->to_world, sizeof a->to_world) == 0;
}

/* Between equal keyframes the camera rests: rounding would move it a little in each frame. */
stm_scene_camera stm_camera_at(const stm_render_scene *scene, uint32_t frame, bool *is_cut)
{
    const stm_scene_key *keys = scene->keys;
    stm_scene_camera c = scene->camera;
    size_t k = 0;
    *is_cut = false;
    if (!scene->key_count)
        return c;
    while (k + 1 < scene->key_count && keys[k + 1].frame <= frame)
        k++;
    *is_cut = keys[k].frame == frame && keys[k].is_cut;
    c.to_world = keys[k].to_world;
    if (frame <= keys[k].frame || k + 1 == scene->key_count || keys[k + 1].is_cut)
        return c;
    const stm_scene_key *b = &keys[k], *d = &keys[k + 1];
    const stm_scene_key *before = k && !b->is_cut ? b - 1 : b;
    const stm_scene_key *after = k + 2 < scene->key_count && !d[1].is_cut ? d + 1 : d;
    if (is_same(before, b) && is_same(b, d) && is_same(d, after))
        return c;
    const float t = (float)(frame - b->frame) / (float)(d->frame - b->frame);
    blend_axes(&b->to_world, &d->to_world, t, &c.to_world);
    set_column(&c.to_world, 3,
               curve(column(&before->to_world, 3), column(&b->to_world, 3), column(&d->to_world, 3),
                     column(&after->to_world, 3), t));
    return c;
}
