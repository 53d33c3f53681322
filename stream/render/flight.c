/* SPDX-License-Identifier: Apache-2.0
 *
 * The flying camera. It turns about the world's z axis and its own x axis. Both angles are kept since the start and
 * applied to its original axes each time, so errors do not accumulate.
 */
#include "render/flight.h"

#include <math.h>
#include <string.h>

static const float pi = 3.14159265f;

/* ---- the camera ---- */

enum { FORWARD = 1, BACK = 2, LEFT = 4, RIGHT = 8, UP = 16, DOWN = 32 };

static txm_vec3 axis_of(const stm_matrix *m, int k)
{
    return txm_vec_make(m->m[0][k], m->m[1][k], m->m[2][k]);
}

static txm_vec3 unit(txm_vec3 v, txm_vec3 otherwise)
{
    const float length = txm_vec_length(v);
    return length > 0.0f && isfinite(length) ? txm_vec_scale(v, 1.0f / length) : otherwise;
}

void stm_flight_begin(stm_flight *f, const stm_scene_camera *camera, float distance)
{
    enum { SECONDS_AHEAD = 4, USUAL_DISTANCE = 10 };
    const float steepest = 0.495f * pi;
    const txm_vec3 back = unit(axis_of(&camera->to_world, 2), txm_vec_make(0.0f, 0.0f, 1.0f));
    const float elevation = asinf(fmaxf(-1.0f, fminf(1.0f, -back.z)));
    *f = (stm_flight){
        .start = *camera, .lowest = fminf(0.0f, -steepest - elevation), .highest = fmaxf(0.0f, steepest - elevation)};
    for (int i = 0; i < 3; i++)
        f->at[i] = f->home[i] = (double)camera->to_world.m[i][3];
    f->usual_speed = (isfinite(distance) && distance > 0.0f ? distance : (float)USUAL_DISTANCE) / SECONDS_AHEAD;
    f->speed = f->usual_speed;
}

static uint32_t direction_of(const stm_window_event *event)
{
    static const struct {
        int32_t place, key;
        uint32_t direction;
    } keys[] = {{'w', STM_KEY_UP, FORWARD},
                {'s', STM_KEY_DOWN, BACK},
                {'a', STM_KEY_LEFT, LEFT},
                {'d', STM_KEY_RIGHT, RIGHT},
                {'e', -1, UP},
                {'q', -1, DOWN}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (event->place == keys[i].place || event->key == keys[i].key)
            return keys[i].direction;
    return 0;
}

bool stm_flight_take(stm_flight *f, const stm_window_event *event, uint32_t width)
{
    const uint32_t direction = direction_of(event);
    /* Dragging across the whole width of the window turns by half a turn. */
    const float angle = pi / (float)(width ? width : 1), most = 1e4f;
    switch (event->kind) {
    case STM_WINDOW_KEY_DOWN:
        f->held |= direction;
        if (event->key == STM_KEY_HOME) {
            memcpy(f->at, f->home, sizeof f->at);
            f->yaw = f->pitch = 0.0f;
            f->turned = true;
        }
        return direction || event->key == STM_KEY_HOME;
    case STM_WINDOW_KEY_UP:
        f->held &= ~direction;
        return direction;
    case STM_WINDOW_FOCUS_LOST:
        f->held = 0;
        return true;
    case STM_WINDOW_DRAG:
        f->yaw = remainderf(f->yaw - angle * event->x, 2.0f * pi);
        f->pitch = fmaxf(f->lowest, fminf(f->highest, f->pitch - angle * event->y));
        f->turned = true;
        return true;
    case STM_WINDOW_WHEEL:
        f->speed = fmaxf(f->usual_speed / most, fminf(f->usual_speed * most, f->speed * powf(1.25f, event->y)));
        return true;
    default:
        return false;
    }
}

/* Turns by pitch about the camera's own x axis, then by yaw about the world's z axis. */
static txm_vec3 turn_axis(const stm_flight *f, txm_vec3 v)
{
    const txm_vec3 k = unit(axis_of(&f->start.to_world, 0), txm_vec_make(1.0f, 0.0f, 0.0f));
    const float c = cosf(f->pitch), s = sinf(f->pitch), cy = cosf(f->yaw), sy = sinf(f->yaw);
    txm_vec3 p = txm_vec_add(txm_vec_scale(v, c), s, txm_vec_cross(k, v));
    p = txm_vec_add(p, txm_vec_dot(k, v) * (1.0f - c), k);
    return txm_vec_make(cy * p.x - sy * p.y, sy * p.x + cy * p.y, p.z);
}

/* Places are limited to a distance far beyond any scene, so that they never become infinite or NaN. */
static void move_along(stm_flight *f, txm_vec3 direction, double metres)
{
    const double farthest = 1e9;
    const double by[3] = {(double)direction.x, (double)direction.y, (double)direction.z};
    for (int i = 0; i < 3; i++)
        f->at[i] = fmax(-farthest, fmin(farthest, f->at[i] + metres * by[i]));
}

bool stm_flight_step(stm_flight *f, double seconds)
{
    const txm_vec3 x = txm_vec_make(1.0f, 0.0f, 0.0f), z = txm_vec_make(0.0f, 0.0f, 1.0f);
    const txm_vec3 right = turn_axis(f, unit(axis_of(&f->start.to_world, 0), x));
    const txm_vec3 back = turn_axis(f, unit(axis_of(&f->start.to_world, 2), z));
    const int ahead = !!(f->held & FORWARD) - !!(f->held & BACK);
    const int aside = !!(f->held & RIGHT) - !!(f->held & LEFT), above = !!(f->held & UP) - !!(f->held & DOWN);
    const bool moved = f->turned || ahead || aside || above;
    const double metres = (double)f->speed * seconds;
    move_along(f, back, -ahead * metres);
    move_along(f, right, aside * metres);
    move_along(f, z, above * metres);
    f->turned = false;
    return moved;
}

/* The picture shows everything that the scene's shows, and more if it is wider or higher. The shift is measured in
 * halves of its size. */
static void fit_proportions(stm_scene_camera *c, uint32_t width, uint32_t height)
{
    const float wanted = (float)width / (float)height, given = c->half[0] / c->half[1];
    const int side = wanted > given ? 0 : 1;
    const float more = side == 0 ? wanted / given : given / wanted;
    if (!isfinite(more) || more < 1.0f + 2.0f / (float)(width > height ? width : height))
        return;
    c->half[side] *= more;
    c->shift[side] /= more;
}

stm_scene_camera stm_flight_camera(const stm_flight *f, uint32_t width, uint32_t height)
{
    stm_scene_camera c = f->start;
    const stm_matrix *from = &f->start.to_world;
    for (int i = 0; i < 3; i++)
        c.to_world.m[i][3] = (float)f->at[i];
    for (int k = 0; k < 3 && (f->yaw != 0.0f || f->pitch != 0.0f); k++) {
        const txm_vec3 v = turn_axis(f, axis_of(from, k));
        c.to_world.m[0][k] = v.x, c.to_world.m[1][k] = v.y, c.to_world.m[2][k] = v.z;
    }
    fit_proportions(&c, width, height);
    return c;
}

/* ---- the size of pictures ---- */

/* Divisors of the window's width and height. */
static const float divisors[] = {1.0f, 1.1f, 1.2f, 1.35f, 1.5f, 1.8f, 2.2f, 2.7f, 3.3f, 4.0f, 5.0f, 6.0f, 8.0f};
enum { DIVISORS = sizeof divisors / sizeof *divisors };

/* The middle one of three frames counts, because a single one is slow if another program had the processor. If that is
 * slower than before, it counts at once, and gradually if it is faster, because frames are fast if little is in view.
 */
void stm_pace_note(stm_pace *p, uint64_t pixels, double ms)
{
    const double share = 0.2, last = ms / (double)(pixels ? pixels : 1), a = p->before[0], b = p->before[1];
    const double middle = fmax(fmin(a, b), fmin(fmax(a, b), last));
    p->before[0] = b;
    p->before[1] = last;
    if (a <= 0.0)
        p->ms_a_pixel = last;
    else
        p->ms_a_pixel += (middle > p->ms_a_pixel ? 0.6 : share) * (middle - p->ms_a_pixel);
}

static double time_of_step(const stm_pace *p, uint32_t step, uint32_t width, uint32_t height)
{
    const double divisor = (double)divisors[step];
    return p->ms_a_pixel * (double)width * (double)height / (divisor * divisor);
}

/* Fractions of a frame's time: what a picture may take, and what it may take to become larger. */
static const double full = 1.0, spare = 0.85;

bool stm_pace_fits(const stm_pace *p, double frame_ms, uint32_t width, uint32_t height)
{
    return p->ms_a_pixel > 0.0 && time_of_step(p, 0, width, height) <= full * frame_ms;
}

void stm_pace_size(stm_pace *p, double frame_ms, uint32_t width, uint32_t height, uint32_t *out_width,
                   uint32_t *out_height)
{
    while (p->step + 1 < DIVISORS && time_of_step(p, p->step, width, height) > full * frame_ms)
        p->step++;
    while (p->step && time_of_step(p, p->step - 1, width, height) < spare * frame_ms)
        p->step--;
    const float divisor = divisors[p->step];
    *out_width = (uint32_t)fmaxf(1.0f, roundf((float)width / divisor));
    *out_height = (uint32_t)fmaxf(1.0f, roundf((float)height / divisor));
}
