/* SPDX-License-Identifier: Apache-2.0
 *
 * Renders a picture: combines scene, textures and an engine, collects finished paths in the film, and measures times
 * and how much of each image was used. The engines do the work; this file does what happens once per picture, before
 * and after.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "render/engine.h"
#include "render/light.h"
#include "render/use.h"

/* ---- options ---- */

/* The defaults are Cycles': compact differentials that are widened, stochastic levels, a pixel filter of 1.5 px. */
void stm_render_options_init(stm_render_options *options)
{
    *options = (stm_render_options){.samples = 4,
                                    .bounces = 3,
                                    .seed = 1,
                                    .lanes = 1 << 16,
                                    .widen = true,
                                    .mode = TXM_LEVEL_MODE_STOCHASTIC,
                                    .filter_width = 1.5f,
                                    .trace_records = TXM_TRACE_TILES};
}

/* The words of the command line; NULL ends the list. */
const char *stm_render_engine_name(stm_render_engine engine)
{
    static const char *const names[] = {"wave", "blocking", "reference"};
    return (unsigned)engine < sizeof names / sizeof *names ? names[engine] : NULL;
}

const char *stm_render_differentials_name(stm_render_differentials differentials)
{
    static const char *const names[] = {"compact", "full", "cone"};
    return (unsigned)differentials < sizeof names / sizeof *names ? names[differentials] : NULL;
}

/* The bounds are in a table, each next to its message. */
txm_status stm_render_options_take(const stm_render_options *given, stm_render_options *o, txm_error *err)
{
    txm_error_clear(err);
    if (given)
        *o = *given;
    else
        stm_render_options_init(o);
    const struct {
        bool wrong;
        const char *why;
    } checks[] = {
        {o->width > 65536 || o->height > 65536, "a picture can have at most 65536 x 65536 px"},
        {o->samples > 1 << 20, "the number of samples must be from 1 to 1048576"},
        {!(o->filter_glossy >= 0.0f), "Filter Glossy must not be negative"},
        {o->bounces > 1024, "the number of bounces must be from 0 to 1024"},
        {!stm_render_engine_name((stm_render_engine)o->engine), "unknown engine"},
        {!stm_render_differentials_name((stm_render_differentials)o->differentials), "unknown differentials"},
        {o->lanes < 1 || o->lanes > 1 << 20, "the number of lanes must be from 1 to 1048576"},
        {!txm_level_rule_name((txm_level_rule)o->rule), "unknown level rule"},
        {!txm_level_mode_name((txm_level_mode)o->mode), "unknown level mode"},
        {o->devices && o->engine != STM_RENDER_ENGINE_WAVE, "only the wave engine can look up on devices"},
        {o->trace && o->engine == STM_RENDER_ENGINE_REFERENCE,
         "the reference engine uses no cache, so there is nothing to trace"},
        {!(o->filter_width >= 0.0f && o->filter_width <= 64.0f), "the pixel filter must be 0 to 64 px wide"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (checks[i].wrong)
            return stm_fail(err, TXM_STATUS_USAGE, "%s", checks[i].why);
    return TXM_OK;
}

/* ---- the film ---- */

/* A budget has no film. Only the camera ray's level is shown, since the lookups of scattered rays say nothing about the
 * pixel. */
void stm_film_add(stm_film *film, const stm_path *path)
{
    if (!film->rgb)
        return;
    float *rgb = film->rgb + 3 * (size_t)path->pixel;
    for (int c = 0; c < 3; c++)
        rgb[c] += path->radiance[c];
    if (film->level && path->level >= 0.0f) {
        film->level[path->pixel] += path->level;
        film->level_count[path->pixel]++;
    }
}

/* Heat maps take another four floats per pixel, so they are made only on request. */
static txm_status film_new(stm_film *film, const stm_render_options *o, uint32_t width, uint32_t height, txm_error *err)
{
    size_t pixels = (size_t)width * height;
    film->width = width;
    film->rgb = stm_calloc(pixels, 3 * sizeof(float));
    if (o->heat) {
        film->level = stm_calloc(pixels, sizeof(float));
        film->misses = stm_calloc(pixels, sizeof(float));
        film->passes = stm_calloc(pixels, sizeof(float));
        film->level_count = stm_calloc(pixels, sizeof(uint32_t));
    }
    if (!film->rgb || (o->heat && (!film->level || !film->misses || !film->passes || !film->level_count)))
        return stm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a picture of %u x %u px", width, height);
    return TXM_OK;
}

/* Zeroes the picture, so that it may be called twice. */
void stm_render_picture_clear(stm_render_picture *picture)
{
    if (!picture)
        return;
    free(picture->rgb);
    free(picture->level);
    free(picture->misses);
    free(picture->passes);
    for (uint32_t i = 0; i < picture->texture_count; i++)
        free((char *)picture->textures[i].path);
    free(picture->textures);
    free(picture->verdict);
    free(picture->images);
    free(picture->tiles);
    free(picture->parts);
    free(picture->moments);
    free(picture->costs);
    free(picture->devices);
    memset(picture, 0, sizeof *picture);
}

/* Arrays that collect has passed to the picture are no longer the film's. */
static void film_free(stm_film *film)
{
    free(film->rgb);
    free(film->level);
    free(film->misses);
    free(film->passes);
    free(film->level_count);
}

/* Turns sums into means. Levels are a mean over the samples that saw a texture; -1 if none did. Misses and passes stay
 * sums. */
static void film_finish(stm_film *film, uint32_t samples, uint32_t height)
{
    size_t pixels = (size_t)film->width * height;
    float share = 1.0f / (float)samples;
    for (size_t i = 0; i < 3 * pixels; i++)
        film->rgb[i] *= share;
    for (size_t i = 0; film->level && i < pixels; i++)
        film->level[i] = film->level_count[i] ? film->level[i] / (float)film->level_count[i] : -1.0f;
}

/* ---- rendering ---- */

/* Opens files without loading tiles. Those that cannot be opened are reported when they are looked up. */
static txm_status open_all(const stm_render_textures *textures, txm_error *err)
{
    txm_status status = TXM_OK;
    for (uint32_t i = 0; textures->cache && status != TXM_STATUS_NO_MEMORY && i < textures->count; i++)
        if (textures->image_of[i] != STM_SCENE_NONE)
            status = txm_cache_register(textures->cache, i, err);
    return status == TXM_STATUS_NO_MEMORY ? status : TXM_OK;
}

/* Row by row, from the top left; a tile size of 0 means the whole picture. */
static txm_status render_tiles(stm_render_job *job, uint32_t height, txm_error *err)
{
    const uint32_t width = job->film.width;
    const uint32_t edge = job->options->render_tile ? job->options->render_tile : UINT32_MAX;
    txm_status status = TXM_OK;
    for (uint64_t y = 0; status == TXM_OK && y < height; y += edge)
        for (uint64_t x = 0; status == TXM_OK && x < width; x += edge) {
            const stm_render_rect rect = {(uint32_t)x, (uint32_t)y, width - x < edge ? width - (uint32_t)x : edge,
                                          height - y < edge ? height - (uint32_t)y : edge};
            /* As in Cycles: when a tile starts, texture tiles that the previous one did not use are evicted. */
            if (job->textures.cache && (x || y)) {
                txm_cache_close_view(job->textures.cache); /* the waves of the tile before are done */
                txm_cache_end_epoch(job->textures.cache);
            }
            if (job->textures.cache)
                stm_moments_note(&job->moments, job->textures.cache, job->samples_done);
            status = job->options->engine == STM_RENDER_ENGINE_WAVE ? stm_engine_wave(job, rect, err)
                                                                    : stm_engine_paths(job, rect, err);
        }
    return status;
}

/* Publishes what was traced before the render was stopped or failed. The error is still the render's; its message also
 * says where the trace is. */
static void keep_partial_trace(const stm_render_job *job, txm_status status, txm_error *err)
{
    txm_error own = {0};
    const txm_error why = err ? *err : (txm_error){.status = status};
    txm_error_clear(err); /* otherwise the first message would be kept */
    if (txm_cache_trace_stop_partial(job->textures.cache, why.message, &own) == TXM_OK)
        stm_fail(err, status, "%s; the trace so far is in %s", why.message, job->options->trace);
    else
        stm_fail(err, status, "%s; %s", why.message, own.message);
    if (err) { /* where the trace is is no advice */
        err->sys_errno = why.sys_errno;
        err->subject_bytes = why.subject_bytes;
        err->advice_at = why.advice_at;
    }
}

/* A trace is published only with its picture: that of a render that was stopped or failed would be incomplete, look
 * complete, and could replace a good one. */
static txm_status run_job(stm_render_job *job, uint32_t height, txm_error *err)
{
    txm_cache *cache = job->textures.cache;
    txm_status status = cache && job->options->trace
                            ? txm_cache_trace_start(cache, job->options->trace, job->options->trace_records, err)
                            : TXM_OK;
    if (status)
        return status;
    status = render_tiles(job, height, err);
    if (cache && job->options->trace && status == TXM_OK)
        status = txm_cache_trace_stop(cache, err);
    else if (cache && job->options->trace && job->options->keep_partial)
        keep_partial_trace(job, status, err);
    else if (cache && job->options->trace)
        txm_cache_trace_drop(cache);
    return status;
}

/* The view of the cache or the set has the marks. */
static txm_status list_tiles(const stm_render_textures *textures, stm_render_picture *out, txm_error *err)
{
    txm_view view;
    txm_status status = TXM_OK;
    if (textures->cache)
        status = txm_cache_prepare(textures->cache, &view, NULL, err);
    else
        view = *txm_texture_set_view(textures->set);
    if (status == TXM_OK)
        status = stm_render_parts_of(textures, &view, &out->parts, &out->part_count, err);
    return status ? status : stm_render_tiles_of(textures, &view, &out->tiles, &out->tile_count, err);
}

/* Paths are copied, because those of the cache are freed with it. */
static txm_status note_textures(txm_cache *cache, stm_render_picture *out, txm_error *err)
{
    out->textures = stm_calloc(out->cache.textures, sizeof *out->textures);
    if (!out->textures && out->cache.textures)
        return stm_no_memory(err, NULL);
    for (; out->texture_count < out->cache.textures; out->texture_count++) {
        txm_cache_texture_stats *t = &out->textures[out->texture_count];
        txm_status status = txm_cache_texture_stats_of(cache, out->texture_count, t, err);
        if (status)
            return status;
        if (t->path && !(t->path = strdup(t->path)))
            return stm_no_memory(err, NULL);
    }
    return TXM_OK;
}

/* Statistics are taken before the textures are freed. The film's arrays move to the picture and then belong to the
 * caller. */
static txm_status collect(const stm_render_scene *scene, stm_render_job *job, uint32_t height, stm_render_picture *out,
                          txm_error *err)
{
    txm_status status = stm_render_uses_of(scene, &job->textures, &out->images, err);
    if (status == TXM_OK)
        status = stm_render_costs_of(scene, &job->textures, &out->costs, err);
    if (status == TXM_OK)
        status = list_tiles(&job->textures, out, err);
    if (status == TXM_OK)
        status = stm_render_devices_note(&job->devices, &out->devices, err);
    if (status)
        return status;
    out->device_count = job->devices.count;
    if (job->textures.cache) {
        job->moments.passed = job->moments.every; /* the last one is always kept */
        stm_moments_note(&job->moments, job->textures.cache, job->samples_done);
        txm_cache_stats_of(job->textures.cache, &out->cache);
        out->verdict = txm_cache_report(job->textures.cache, TXM_CACHE_REPORT_FORMAT_VERDICT);
        status = out->verdict ? note_textures(job->textures.cache, out, err) : stm_no_memory(err, NULL);
        if (status)
            return status;
    }
    film_finish(&job->film, job->options->samples, height);
    out->image_count = scene->image_count;
    out->width = job->film.width;
    out->height = height;
    out->counts = job->counts;
    out->rgb = job->film.rgb;
    out->level = job->film.level;
    out->misses = job->film.misses;
    out->passes = job->film.passes;
    free(job->film.level_count);
    job->film = (stm_film){0};
    out->moments = job->moments.items;
    out->moment_count = job->moments.count;
    job->moments.items = NULL;
    return TXM_OK;
}

/* Textures are opened before the geometry: a missing tx file is the usual mistake, and is found at once. */
txm_status stm_render(const stm_render_scene *scene, const stm_render_options *given, stm_render_picture *out,
                      txm_error *err)
{
    stm_render_options own, *options = &own;
    stm_render_job job = {.options = options};
    stm_scene_geometry geometry = {0};
    stm_world_map *map = NULL;
    float filter[STM_FILTER_TABLE];
    double begin = stm_clock_seconds();
    memset(out, 0, sizeof *out);
    txm_status status = stm_render_options_take(given, options, err);
    if (status)
        return status;
    if (!options->samples)
        return stm_fail(err, TXM_STATUS_USAGE, "a picture needs at least 1 sample");
    bool reference = options->engine == STM_RENDER_ENGINE_REFERENCE;
    uint32_t width = options->width ? options->width : scene->width;
    uint32_t height = options->height ? options->height : scene->height;
    job.threads = options->threads ? options->threads : stm_cpu_count();
    job.samples_all = (uint64_t)width * height * options->samples;
    job.pool = stm_pool_new(job.threads);
    if (!job.pool)
        return stm_fail_errno(err, errno, "threads cannot be started");
    stm_path_filter(options->filter_width, filter);
    status = film_new(&job.film, options, width, height, err);
    /* Options are checked before the module is loaded. */
    if (status == TXM_OK)
        status = stm_render_textures_new(scene, options, reference, reference, &job.textures, err);
    if (status == TXM_OK && job.textures.cache && !stm_moments_new(&job.moments, begin))
        status = stm_no_memory(err, NULL);
    if (status == TXM_OK)
        status = stm_scene_geometry_new(scene, job.threads, options->cancel, &geometry, err);
    if (status == TXM_OK && scene->world.image != STM_SCENE_NONE)
        status = stm_world_map_new(scene, &job.textures.bound[scene->world.image], job.textures.world, &map, err);
    if (status == TXM_OK) {
        job.world = stm_path_world_of(scene, &geometry, options, width, height);
        job.world.map = map;
        job.world.images = job.textures.bound;
        job.world.filter = filter;
        job.depth = stm_scene_depth(scene);
        status =
            stm_render_devices_open(&job.devices, options->devices, options->device_memory, job.textures.cache, err);
        if (status == TXM_OK && options->open_first)
            status = open_all(&job.textures, err);
        if (status == TXM_OK)
            status = run_job(&job, height, err);
    }
    if (status == TXM_OK)
        status = collect(scene, &job, height, out, err);
    out->counts.seconds = stm_clock_seconds() - begin;
    film_free(&job.film);
    free(job.moments.items);
    stm_render_devices_close(&job.devices);
    stm_render_textures_free(&job.textures);
    stm_scene_geometry_free(&geometry);
    stm_world_map_free(&map);
    stm_pool_free(job.pool);
    if (status)
        stm_render_picture_clear(out);
    return status;
}

/* ---- scenes, from outside ---- */

/* A scene that fails half-way is freed. */
txm_status stm_render_scene_open(const char *folder, const txm_path_map *maps, size_t count, stm_render_scene **out,
                                 txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    stm_render_scene *scene = stm_scene_new();
    if (scene) {
        scene->maps = maps;
        scene->map_count = count;
    }
    txm_status status = scene ? stm_scene_read(scene, folder, err) : stm_no_memory(err, folder);
    if (status)
        stm_render_scene_free(&scene);
    if (scene)
        scene->map_count = 0;
    *out = scene;
    return status;
}

/* Triangles are counted per instance: as rays see them, not as memory holds them. */
void stm_render_scene_describe(const stm_render_scene *scene, stm_render_scene_info *out)
{
    *out = (stm_render_scene_info){.title = scene->title,
                                   .width = scene->width,
                                   .height = scene->height,
                                   .images = scene->image_count,
                                   .materials = scene->material_count,
                                   .meshes = scene->mesh_count,
                                   .objects = scene->object_count,
                                   .lights = scene->light_count};
    for (size_t i = 0; i < scene->object_count; i++)
        if (scene->objects[i].kind == STM_OBJECT_INSTANCE)
            out->triangles += scene->meshes[scene->objects[i].mesh].triangle_count;
}

void stm_render_scene_bounces(const stm_render_scene *scene, stm_render_options *options)
{
    if (scene->bounces != STM_SCENE_NONE)
        options->bounces = scene->bounces;
}

/* The string belongs to the scene. NULL ends the list. */
const char *stm_render_image_path(const stm_render_scene *scene, size_t image)
{
    return image < scene->image_count ? scene->images[image].path : NULL;
}
