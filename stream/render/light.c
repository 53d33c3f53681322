/* SPDX-License-Identifier: Apache-2.0
 *
 * Lamps, and the importance map of the world: that of this renderer, and the tiles that Cycles' map uses. The map is
 * made once per picture, by looking up the world's image at the centre of each cell of a lat-long grid, at a coarse
 * level, so that few tiles of a large image are read. It only decides in which directions light is sampled; the path
 * looks up the light that arrives from there. An inexact map therefore causes noise, but no bias.
 */
#include "render/light.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "render/bsdf.h"

static const float pi = 3.14159265f;

/* Vectors that reach this are known to have a length. */
static txm_vec3 unit(txm_vec3 v)
{
    return txm_vec_scale(v, 1.0f / txm_vec_length(v));
}

/* ---- lamps ---- */

/* Conventions are Blender's: power is in watts, over the sphere for points and spots, over the half space for areas;
 * the sun's power is irradiance. */
bool stm_light_draw(const stm_scene_light *l, txm_vec3 from, const float random[4], stm_light_sample *out)
{
    txm_vec3 at = l->at, x, y;
    float r = sqrtf(random[1]), phi = 2.0f * pi * random[2];
    if (l->kind == STM_LIGHT_SUN) {
        float wide = tanf(0.5f * fminf(l->angle, 3.0f));
        stm_frame_of(l->direction, &x, &y);
        out->direction = unit(txm_vec_add(txm_vec_add(txm_vec_scale(l->direction, -1.0f), wide * r * cosf(phi), x),
                                          wide * r * sinf(phi), y));
        out->distance = INFINITY;
        out->irradiance = 1.0f;
        return true;
    }
    if (l->kind == STM_LIGHT_AREA)
        at = stm_matrix_point(&l->to_world,
                              txm_vec_make((random[1] - 0.5f) * l->size[0], (random[2] - 0.5f) * l->size[1], 0.0f));
    txm_vec3 to = txm_vec_add(at, -1.0f, from);
    float distance = txm_vec_length(to);
    if (!(distance > 1e-6f))
        return false;
    out->direction = txm_vec_scale(to, 1.0f / distance);
    if (l->kind != STM_LIGHT_AREA && l->radius > 0.0f) {
        /* A disc that faces the surface. */
        stm_frame_of(out->direction, &x, &y);
        to = txm_vec_add(txm_vec_add(to, l->radius * r * cosf(phi), x), l->radius * r * sinf(phi), y);
        distance = txm_vec_length(to);
        out->direction = txm_vec_scale(to, 1.0f / distance);
    }
    out->distance = distance;
    out->irradiance = 1.0f / (4.0f * pi * distance * distance);
    if (l->kind == STM_LIGHT_SPOT) {
        float cosine = -txm_vec_dot(out->direction, l->direction), edge = cosf(0.5f * l->angle);
        float soft = (1.0f - edge) * l->blend, share = soft > 0.0f     ? (cosine - edge) / soft
                                                       : cosine > edge ? 1.0f
                                                                       : 0.0f;
        share = fmaxf(0.0f, fminf(1.0f, share));
        out->irradiance *= share * share * (3.0f - 2.0f * share);
    }
    if (l->kind == STM_LIGHT_AREA) {
        txm_vec3 shines = stm_matrix_vector(&l->to_world, txm_vec_make(0.0f, 0.0f, -1.0f));
        float cosine = -txm_vec_dot(out->direction, shines) / fmaxf(txm_vec_length(shines), 1e-12f);
        out->irradiance *= 4.0f * fmaxf(0.0f, cosine);
    }
    return out->irradiance > 0.0f;
}

/* ---- the world ---- */

enum { COLUMNS = 512, ROWS = 256, CELLS = COLUMNS * ROWS, REQUESTS = 4096 };

/* Cumulative weights up to each cell, as fractions of 1: of the rows, and within each row. */
struct stm_world_map {
    float rows[ROWS + 1];
    float columns[ROWS][COLUMNS + 1];
    float angle; /* angle of a cell of Cycles' map */
};

/* Directions have a length of about 1, so z is clamped to the range of asinf. */
void stm_world_place(bool mirror_ball, txm_vec3 d, float *u, float *v)
{
    if (mirror_ball) {
        float scale = 1.0f / (2.0f * sqrtf(fmaxf(0.5f - 0.5f * d.y, 1e-12f)));
        *u = 0.5f * (d.x * scale + 1.0f);
        *v = 0.5f * (d.z * scale + 1.0f);
        return;
    }
    *u = 0.5f - atan2f(d.y, d.x) / (2.0f * pi);
    *v = 0.5f + asinf(fmaxf(-1.0f, fminf(1.0f, d.z))) / pi;
}

/* Applies the world's mapping to a direction and normalises it; *length receives the length before. If the mapping
 * flattens it to 0, it is not changed. */
static txm_vec3 mapped(const stm_scene_world *world, txm_vec3 d, float *length)
{
    const txm_vec3 to = world->mapped ? stm_matrix_point(&world->mapping, d) : d;
    *length = world->mapped ? txm_vec_length(to) : 1.0f;
    if (*length > 1e-12f && isfinite(*length))
        return world->mapped ? txm_vec_scale(to, 1.0f / *length) : to;
    *length = 1.0f;
    return d;
}

/* The derivatives of longitude and latitude by direction. Towards the poles, where longitude changes quickly, the
 * distance from the axis is kept above 0. For mirror balls, those of stm_world_place. */
txm_lookup stm_world_lookup(const stm_scene_world *world, txm_vec3 d, txm_vec3 x, txm_vec3 y)
{
    txm_lookup at = {0};
    float length;
    d = mapped(world, d, &length);
    if (world->mapped) {
        x = stm_unit_derivative(d, length, stm_matrix_vector(&world->mapping, x));
        y = stm_unit_derivative(d, length, stm_matrix_vector(&world->mapping, y));
    }
    stm_world_place(world->mirror_ball, d, &at.u, &at.v);
    if (world->mirror_ball) {
        float s = 1.0f / (2.0f * sqrtf(fmaxf(0.5f - 0.5f * d.y, 1e-12f))), turn = s * s * s;
        at.dudx = 0.5f * (x.x * s + d.x * turn * x.y);
        at.dudy = 0.5f * (y.x * s + d.x * turn * y.y);
        at.dvdx = 0.5f * (x.z * s + d.z * turn * x.y);
        at.dvdy = 0.5f * (y.z * s + d.z * turn * y.y);
        return at;
    }
    float across2 = fmaxf(d.x * d.x + d.y * d.y, 1e-12f);
    at.dudx = -(d.x * x.y - d.y * x.x) / across2 / (2.0f * pi);
    at.dudy = -(d.x * y.y - d.y * y.x) / across2 / (2.0f * pi);
    at.dvdx = x.z / sqrtf(across2) / pi;
    at.dvdy = y.z / sqrtf(across2) / pi;
    return at;
}

/* The inverse, for the grid, which is always lat-long. */
static txm_vec3 direction_at(float u, float v)
{
    float longitude = (0.5f - u) * 2.0f * pi, latitude = (v - 0.5f) * pi, across = cosf(latitude);
    return txm_vec_make(across * cosf(longitude), across * sinf(longitude), sinf(latitude));
}

/* The lookup for a cell: its place in the image, and a footprint of a cell's size. For mirror balls and mappings cells
 * have other sizes in the image, but this is close enough. */
static txm_lookup lookup_of(const stm_scene_world *world, uint32_t column, uint32_t row)
{
    txm_lookup at = {.dudx = 1.0f / COLUMNS, .dvdy = 1.0f / ROWS};
    const txm_vec3 d = direction_at(((float)column + 0.5f) / COLUMNS, ((float)row + 0.5f) / ROWS);
    float length;
    stm_world_place(world->mirror_ball, mapped(world, d, &length), &at.u, &at.v);
    return at;
}

/* Looks up all cells; the weight of each is its brightness times the solid angle, without the common factor. Missed
 * tiles are collected, and the caller loads them. */
static bool weigh(const txm_texture_set *set, uint32_t texture, const txm_sampler *how, const stm_scene_world *world,
                  txm_lookup_state *state, float *weights)
{
    bool complete = true;
    for (uint32_t row = 0; row < ROWS; row++) {
        const float share = cosf((((float)row + 0.5f) / ROWS - 0.5f) * pi);
        for (uint32_t column = 0; column < COLUMNS; column++) {
            const txm_lookup at = lookup_of(world, column, row);
            float rgba[4];
            complete &= txm_sample(txm_texture_set_view(set), texture, how, &at, state, rgba) != TXM_LOOKUP_MISS;
            float bright = fmaxf(rgba[0], 0.0f) + fmaxf(rgba[1], 0.0f) + fmaxf(rgba[2], 0.0f);
            weights[row * COLUMNS + column] = isfinite(bright) ? share * bright : 0.0f;
        }
    }
    return complete;
}

/* Adds in double, because a sun of a few pixels must not swallow the sky. false if everything is black. */
static bool add_up(stm_world_map *map, const float *weights)
{
    double all = 0.0, sums[ROWS] = {0};
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t column = 0; column < COLUMNS; column++)
            sums[row] += (double)weights[row * COLUMNS + column];
        all += sums[row];
    }
    if (!(all > 0.0))
        return false;
    double above = 0.0;
    for (uint32_t row = 0; row < ROWS; row++) {
        double left = 0.0;
        map->rows[row] = (float)(above / all);
        for (uint32_t column = 0; column < COLUMNS; column++) {
            map->columns[row][column] = sums[row] > 0.0 ? (float)(left / sums[row]) : (float)column / COLUMNS;
            left += (double)weights[row * COLUMNS + column];
        }
        map->columns[row][COLUMNS] = 1.0f;
        above += sums[row];
    }
    map->rows[ROWS] = 1.0f;
    return true;
}

/* Looks up without random numbers and at full resolution, whatever the picture's settings are, because the map belongs
 * to the scene. */
static txm_status fill(txm_texture_set *set, uint32_t texture, const stm_bound_image *bound,
                       const stm_scene_world *world, float *weights, txm_error *err)
{
    txm_sampler how = bound->how;
    uint32_t *requests = stm_calloc(REQUESTS, sizeof *requests);
    txm_lookup_state state = {.capacity = REQUESTS, .requests = requests};
    txm_status status = requests ? TXM_OK : stm_no_memory(err, NULL);
    how.mode = TXM_LEVEL_MODE_FLOOR;
    how.mip_bias = 0.0f;
    while (status == TXM_OK && !weigh(set, texture, &how, world, &state, weights)) {
        status = txm_texture_set_load(set, &state, err);
        if (status && status != TXM_STATUS_NO_MEMORY)
            status = TXM_OK; /* magenta from now on */
    }
    free(requests);
    return status;
}

/* ---- the map of Cycles ---- */

stm_world_grid stm_world_grid_of(const stm_render_scene *scene, const stm_bound_image *bound)
{
    const stm_scene_world *world = &scene->world;
    if (world->image == STM_SCENE_NONE || world->unsampled)
        return (stm_world_grid){0, 0};
    return world->map_columns ? (stm_world_grid){world->map_columns, world->map_columns / 2}
                              : (stm_world_grid){bound->width, bound->height};
}

/* Cycles takes the smaller side of a cell. */
static float angle_of(stm_world_grid grid)
{
    return fminf(pi / (float)grid.rows, 2.0f * pi / (float)grid.columns);
}

/* The lookup that Cycles makes for a direction of the grid, with a spread of half a cell. It is made slightly larger:
 * for most images and maps the spread is exactly a level, which Cycles reaches, and rounding must not fall short of it.
 */
static txm_lookup grid_lookup(const stm_render_scene *scene, stm_world_grid grid, uint32_t column, uint32_t row)
{
    txm_vec3 x, y,
        d = direction_at(((float)column + 0.5f) / (float)grid.columns, ((float)row + 0.5f) / (float)grid.rows);
    const float wide = 0.50001f * angle_of(grid);
    stm_frame_of(d, &x, &y);
    return stm_world_lookup(&scene->world, d, txm_vec_scale(x, wide), txm_vec_scale(y, wide));
}

/* Looks up every row, since those near the poles use coarser levels; in a row of a lat-long image two directions for
 * the width of a tile, which is narrowest at the horizon. With a mapping, and for mirror balls, every direction. */
void stm_world_grid_request(const stm_render_scene *scene, const stm_bound_image *bound, const txm_view *view)
{
    const stm_world_grid grid = stm_world_grid_of(scene, bound);
    uint32_t step = 1, none = 0, request;
    txm_sampler how = bound->how;
    txm_lookup_state state = {.capacity = 1, .requests = &request}; /* the page table records the request */
    how.mode = TXM_LEVEL_MODE_FLOOR;
    how.mip_bias = 0.0f;
    if (grid.rows && !scene->world.mirror_ball && !scene->world.mapped) {
        const txm_lookup horizon = grid_lookup(scene, grid, 0, grid.rows / 2);
        float level = fmaxf(0.0f, txm_level_of(bound->width, bound->height, &how, &horizon, &none));
        float tile_px = ldexpf((float)(1u << view->textures[bound->texture].tile_shift), (int)level);
        step = (uint32_t)fmaxf(1.0f, 0.5f * tile_px * (float)grid.columns / (float)bound->width);
    }
    for (uint32_t row = 0; row < grid.rows; row++)
        for (uint64_t column = 0; column < grid.columns; column += step) {
            const txm_lookup at = grid_lookup(scene, grid, (uint32_t)column, row);
            float rgba[4];
            state.count = 0;
            txm_sample(view, bound->texture, &how, &at, &state, rgba);
        }
}

/* ---- making the map ---- */

txm_status stm_world_map_new(const stm_render_scene *scene, const stm_bound_image *bound, const char *tx,
                             stm_world_map **out, txm_error *err)
{
    const stm_scene_world *world = &scene->world;
    txm_texture_set *set = NULL;
    uint32_t texture;
    *out = NULL;
    if (world->image == STM_SCENE_NONE || world->unsampled || !tx)
        return TXM_OK;
    stm_world_map *map = stm_calloc(1, sizeof *map);
    float *weights = stm_calloc(CELLS, sizeof *weights);
    txm_status status = map && weights ? txm_texture_set_new(&set, err) : stm_no_memory(err, NULL);
    if (status == TXM_OK)
        status = txm_texture_set_add(set, tx, scene->images[world->image].extension, &texture, err);
    if (status == TXM_OK)
        status = fill(set, texture, bound, world, weights, err);
    if (status || !add_up(map, weights))
        stm_world_map_free(&map);
    if (map)
        map->angle = angle_of(stm_world_grid_of(scene, bound));
    *out = map;
    free(weights);
    txm_texture_set_free(&set);
    return status;
}

void stm_world_map_free(stm_world_map **map)
{
    if (map) {
        free(*map);
        *map = NULL;
    }
}

/* The cell that contains a number of the cumulative weights; *within it, 0 to 1. Cells without weight are skipped. */
static uint32_t find(const float *sums, uint32_t count, float number, float *within)
{
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (sums[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    *within = fminf((number - sums[low]) / (sums[low + 1] - sums[low]), 0x1.fffffep-1f);
    return low;
}

/* The probability of a cell per solid angle; a strip of latitude covers 2 pi pi cos of the sphere. Drawing and
 * evaluation both call this, so that a direction has one probability. */
static float probability_of(const stm_world_map *map, uint32_t column, uint32_t row, float across)
{
    float share = (map->rows[row + 1] - map->rows[row]) * (map->columns[row][column + 1] - map->columns[row][column]);
    return share * CELLS / (2.0f * pi * pi * fmaxf(across, 1e-6f));
}

txm_vec3 stm_world_map_draw(const stm_world_map *map, const float random[2], float *probability)
{
    float x, y;
    uint32_t row = find(map->rows, ROWS, random[0], &y), column = find(map->columns[row], COLUMNS, random[1], &x);
    txm_vec3 d = direction_at(((float)column + x) / COLUMNS, ((float)row + y) / ROWS);
    *probability = probability_of(map, column, row, sqrtf(d.x * d.x + d.y * d.y));
    return d;
}

float stm_world_map_probability(const stm_world_map *map, txm_vec3 d)
{
    float u, v;
    stm_world_place(false, d, &u, &v);
    uint32_t column = (uint32_t)fmaxf(0.0f, fminf(u * COLUMNS, COLUMNS - 1.0f));
    uint32_t row = (uint32_t)fmaxf(0.0f, fminf(v * ROWS, ROWS - 1.0f));
    return probability_of(map, column, row, sqrtf(d.x * d.x + d.y * d.y));
}

float stm_world_map_angle(const stm_world_map *map)
{
    return map->angle;
}
