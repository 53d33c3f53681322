/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes which textures a render will use: its rays are traced over a page table in which no tile is ever in memory,
 * so that the table records the requests. Tiles are read only if other lookups depend on their content, and no picture
 * is made. The picture is traced in cells, whose size divides all render tiles that are compared. Render tiles are
 * unions of cells, so one run serves all sizes, and also all resolutions, whose lookups use page tables of their own.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "render/engine.h"
#include "render/light.h"
#include "render/use.h"

/* ALIKE_SAMPLES is above the number of samples of many scenes: Cycles and txmill draw their own random numbers, and
 * with the same few samples each finds tiles that the other does not. Cycles ends most pixels before MOST_SAMPLES. */
enum { DEFAULT_TILE_PX = 2048, FEW_SAMPLES = 4, ALIKE_SAMPLES = 32, ENOUGH_SAMPLES = 64, MOST_SAMPLES = 256 };

/* Without --samples, sampling continues while the doublings that are left would add more than this fraction of tiles if
 * each added as many as the last one. */
static const double still_growing = 0.03;

/* The tiles that one cell requests. Each cell keeps its list, because render tiles are counted afterwards, and a
 * texture tile that two cells of one render tile use must count once. */
typedef struct cell {
    uint32_t *entries;
    size_t count;
} cell;

typedef struct budget {
    stm_render_job job;
    stm_render_options *options; /* the job's options, whose samples are those that are traced next */
    txm_view views[STM_BUDGET_RESOLUTIONS];
    uint32_t entry_count;
    uint32_t *bytes_of;   /* size of each entry's tile */
    uint32_t *texture_of; /* texture of each entry */
    uint32_t cell_px, across, down;
    cell *cells;               /* all cells, one resolution after the other */
    cell map;                  /* the tiles for Cycles' map of the world */
    stm_render_textures warps; /* the same textures in a cache, for lookups whose result affects rays */
} budget;

/* The number of cells of one resolution; `cells` has STM_BUDGET_RESOLUTIONS times as many. */
static size_t cell_count(const budget *b)
{
    return (size_t)b->across * b->down;
}

/* ---- tracing ---- */

/* Adds the recorded requests to those of the cell, and clears them in the page table. */
static bool harvest(budget *b, const txm_view *view, cell *out)
{
    size_t count = 0;
    for (size_t i = 0; i < out->count; i++)
        view->tiles[out->entries[i]].slot = TXM_SLOT_REQUESTED;
    for (uint32_t i = 0; i < b->entry_count; i++)
        count += view->tiles[i].slot == TXM_SLOT_REQUESTED;
    uint32_t *entries = stm_calloc(count + 1, sizeof *entries);
    if (!entries)
        return false;
    free(out->entries);
    *out = (cell){.entries = entries};
    for (uint32_t i = 0; i < b->entry_count; i++)
        if (view->tiles[i].slot == TXM_SLOT_REQUESTED) {
            out->entries[out->count++] = i;
            view->tiles[i].slot = TXM_SLOT_NONE;
        }
    return true;
}

/* Traces cell by cell, each on all threads: requests are collected in between, while no lookups run. */
static txm_status trace_cells(budget *b, uint32_t width, uint32_t height, txm_error *err)
{
    for (uint32_t i = 0; i < b->across * b->down; i++) {
        const uint32_t x = i % b->across * b->cell_px, y = i / b->across * b->cell_px;
        const stm_render_rect rect = {x, y, width - x < b->cell_px ? width - x : b->cell_px,
                                      height - y < b->cell_px ? height - y : b->cell_px};
        txm_status status = stm_engine_paths(&b->job, rect, err);
        for (uint32_t r = 0; status == TXM_OK && r < STM_BUDGET_RESOLUTIONS; r++)
            if (!harvest(b, &b->views[r], &b->cells[r * cell_count(b) + i]))
                status = stm_no_memory(err, NULL);
        if (status)
            return status;
    }
    return TXM_OK;
}

/* Marks exactly the tiles that are used at a resolution: sums by image and lists of tiles use marks. */
static void mark_used(const budget *b, uint32_t resolution)
{
    const txm_view *view = txm_texture_set_view(b->job.textures.set);
    const cell *cells = b->cells + resolution * cell_count(b);
    for (uint32_t i = 0; i < b->entry_count; i++)
        view->tiles[i].mark = 0;
    for (size_t i = 0; i < cell_count(b); i++)
        for (size_t k = 0; k < cells[i].count; k++)
            view->tiles[cells[i].entries[k]].mark = 1;
}

/* The number of tiles found at full resolution, and their bytes. Leaves their marks set. */
static uint64_t found_so_far(const budget *b, uint64_t *bytes)
{
    const txm_view *view = txm_texture_set_view(b->job.textures.set);
    uint64_t count = 0;
    *bytes = 0;
    mark_used(b, 0);
    for (uint32_t i = 0; i < b->entry_count; i++)
        if (view->tiles[i].mark) {
            count++;
            *bytes += b->bytes_of[i];
        }
    return count;
}

/* Extrapolates to the scene's number of samples: `before`, `now` and `last` are the numbers of tiles after the last
 * three doublings of samples. The increase is assumed to shrink by the same factor with each further doubling. */
static void extrapolate(double before, double now, double last, uint64_t bytes, stm_render_budget *out)
{
    const double gain = last - now, ratio = before > 0.0 && now > before ? gain / (now - before) : 0.75;
    const double shrinks = ratio < 0.25 ? 0.25 : ratio > 0.85 ? 0.85 : ratio;
    double more = gain * shrinks / (1.0 - shrinks);
    if (out->scene_samples)
        more *= out->scene_samples > out->samples
                    ? 1.0 - pow(shrinks, log2((double)out->scene_samples / (double)out->samples))
                    : 0.0;
    out->growth = last > 0.0 ? (float)(gain / last) : 0.0f;
    out->missing_tiles = (uint64_t)(more + 0.5);
    out->missing_bytes = last > 0.0 ? (uint64_t)((double)bytes / last * more) : 0;
}

/* The fraction of tiles that the last doubling added, times the number of doublings until the samples of the scene. */
static double expected_growth(const stm_render_budget *out)
{
    const uint32_t said = out->scene_samples ? out->scene_samples : ENOUGH_SAMPLES;
    const uint32_t most = said < ALIKE_SAMPLES ? ALIKE_SAMPLES : said < MOST_SAMPLES ? said : MOST_SAMPLES;
    return (double)out->growth * log2((double)most / (double)out->samples);
}

/* Traces the requested number of samples; if it is 0, until hardly any new tiles are found. */
static txm_status trace_samples(budget *b, stm_render_options *o, stm_render_budget *out, txm_error *err)
{
    const bool is_open = !o->samples;
    const uint32_t all = is_open ? ENOUGH_SAMPLES : o->samples;
    double tiles[3] = {0.0, 0.0, 0.0};
    txm_status status = TXM_OK;
    b->job.samples_all = (uint64_t)out->width * out->height * all;
    out->growth = -1.0f;
    while (status == TXM_OK && out->samples < all) {
        const uint32_t again = out->samples ? out->samples : 1, left = all - out->samples;
        uint64_t bytes;
        o->samples = again < left ? again : left;
        b->job.first_sample = out->samples;
        status = trace_cells(b, out->width, out->height, err);
        if (status)
            return status;
        out->samples += o->samples;
        memmove(tiles, tiles + 1, 2 * sizeof *tiles);
        tiles[2] = (double)found_so_far(b, &bytes);
        if (out->samples > 1)
            extrapolate(tiles[0], tiles[1], tiles[2], bytes, out);
        if (is_open && out->samples >= FEW_SAMPLES && expected_growth(out) < still_growing)
            break;
    }
    return status;
}

/* Records the tiles that Cycles loads before the first ray. */
static txm_status request_map(budget *b, const stm_render_scene *scene, stm_render_budget *out, txm_error *err)
{
    if (!b->job.textures.world)
        return TXM_OK;
    const stm_bound_image *bound = &b->job.textures.bound[scene->world.image];
    const stm_world_grid grid = stm_world_grid_of(scene, bound);
    out->map_columns = grid.columns;
    out->map_rows = grid.rows;
    stm_world_grid_request(scene, bound, &b->views[0]);
    return harvest(b, &b->views[0], &b->map) ? TXM_OK : stm_no_memory(err, NULL);
}

/* ---- resolutions ---- */

static void count_textures(const budget *b, uint32_t resolution, uint64_t *bytes)
{
    const txm_view *view = txm_texture_set_view(b->job.textures.set);
    mark_used(b, resolution);
    for (uint32_t i = 0; i < b->entry_count; i++)
        bytes[b->texture_of[i]] += view->tiles[i].mark ? b->bytes_of[i] : 0;
}

/* Copies the tiles of some textures from the previous resolution to the cells of this one. */
static bool take_over(budget *b, uint32_t resolution, const uint64_t *before, const uint64_t *now)
{
    for (size_t i = 0; i < cell_count(b); i++) {
        const cell *from = &b->cells[(resolution - 1) * cell_count(b) + i];
        cell *to = &b->cells[resolution * cell_count(b) + i];
        uint32_t *entries = stm_calloc(from->count + to->count + 1, sizeof *entries);
        size_t count = 0;
        if (!entries)
            return false;
        for (size_t k = 0; k < from->count + to->count; k++) {
            const bool is_finer = k < from->count;
            const uint32_t entry = is_finer ? from->entries[k] : to->entries[k - from->count];
            const uint32_t texture = b->texture_of[entry];
            if (is_finer == (now[texture] > before[texture]))
                entries[count++] = entry;
        }
        free(to->entries);
        *to = (cell){entries, count};
    }
    return true;
}

/* If a texture is magnified, Cycles draws between the finest level and the next at half the resolution, and so uses
 * more tiles than at full resolution. Such a texture counts as at the higher resolution, since nobody would lower it.
 */
static txm_status settle_resolutions(budget *b, txm_error *err)
{
    const size_t count = txm_texture_set_view(b->job.textures.set)->texture_count;
    uint64_t *bytes = stm_calloc(count + 1, STM_BUDGET_RESOLUTIONS * sizeof *bytes);
    bool ok = bytes != NULL;
    for (uint32_t r = 0; ok && r < STM_BUDGET_RESOLUTIONS; r++) {
        uint64_t *now = bytes + r * (count + 1), *before = r ? now - (count + 1) : now;
        count_textures(b, r, now);
        ok = r == 0 || take_over(b, r, before, now);
        for (size_t i = 0; i < count; i++)
            now[i] = now[i] < before[i] ? now[i] : before[i];
    }
    free(bytes);
    return ok ? TXM_OK : stm_no_memory(err, NULL);
}

/* ---- counting ---- */

typedef struct tally {
    uint64_t touched, peak, loaded;
} tally;

/* Counts with render tiles of tile_px, in rows from the top. Before each, tiles that the previous one did not use are
 * evicted, as in Cycles; so while it is rendered, memory has the tiles of both. *last has an item for each entry. */
static tally count_tiles(const budget *b, uint32_t resolution, uint32_t tile_px, uint32_t *last)
{
    const cell *cells = b->cells + resolution * cell_count(b);
    const uint32_t step = tile_px ? tile_px / b->cell_px : b->across > b->down ? b->across : b->down;
    tally t = {0};
    uint64_t before = 0;
    uint32_t number = 1;
    memset(last, 0, b->entry_count * sizeof *last);
    for (uint32_t y = 0; y < b->down; y += step)
        for (uint32_t x = 0; x < b->across; x += step) {
            uint64_t used = 0, shared = 0;
            number++;
            for (uint32_t cy = y; cy < b->down && cy < y + step; cy++)
                for (uint32_t cx = x; cx < b->across && cx < x + step; cx++) {
                    const cell *c = &cells[cy * b->across + cx];
                    for (size_t i = 0; i < c->count; i++) {
                        uint32_t e = c->entries[i], seen = last[e];
                        if (seen == number)
                            continue;
                        last[e] = number;
                        used += b->bytes_of[e];
                        shared += seen == number - 1 ? b->bytes_of[e] : 0;
                        t.touched += seen ? 0 : b->bytes_of[e];
                    }
                }
            t.loaded += used - shared;
            t.peak = used + before - shared > t.peak ? used + before - shared : t.peak;
            before = used;
        }
    return t;
}

/* Fills in the peaks by tile size at full resolution, then those by resolution at the requested tile size. `last` has,
 * for each entry, the render tile that used it last, and serves all passes. */
static txm_status count_all(budget *b, const stm_render_options *o, stm_render_budget *out, txm_error *err)
{
    uint32_t *last = stm_calloc(b->entry_count + 1, sizeof *last);
    if (!last)
        return stm_no_memory(err, NULL);
    for (uint32_t i = 0; i < STM_BUDGET_TILES; i++) {
        tally t = count_tiles(b, 0, out->tile_px[i], last);
        out->touched_bytes = t.touched;
        out->tile_peak[i] = t.peak;
        out->tile_loaded[i] = t.loaded;
    }
    for (uint32_t r = 0; r < STM_BUDGET_RESOLUTIONS; r++) {
        tally t = count_tiles(b, r, o->render_tile ? out->tile_px[1] : 0, last);
        out->resolution[r] = o->cache->resolution / (float)(1 << r);
        out->resolution_bytes[r] = t.touched;
        out->resolution_peak[r] = t.peak;
    }
    free(last);
    return TXM_OK;
}

/* ---- textures ---- */

/* Makes a page table for each resolution; the first is the set's. */
static txm_status tables_new(budget *b, txm_error *err)
{
    const txm_view *view = txm_texture_set_view(b->job.textures.set);
    for (uint32_t i = 0; i < view->texture_count; i++) {
        const txm_view_texture *t = &view->textures[i];
        uint32_t end = t->udim_rows || !t->levels
                           ? 0
                           : t->first + t->level_first[t->levels - 1] + (uint32_t)stm_use_tiles_of(t, t->levels - 1);
        b->entry_count = end > b->entry_count ? end : b->entry_count;
    }
    b->bytes_of = stm_calloc(b->entry_count + 1, sizeof *b->bytes_of);
    b->texture_of = stm_calloc(b->entry_count + 1, sizeof *b->texture_of);
    if (!b->bytes_of || !b->texture_of)
        return stm_no_memory(err, NULL);
    for (uint32_t i = 0; i < view->texture_count; i++) {
        const txm_view_texture *t = &view->textures[i];
        for (uint32_t level = 0; !t->udim_rows && level < t->levels; level++)
            for (uint64_t k = 0; k < stm_use_tiles_of(t, level); k++) {
                b->bytes_of[stm_use_first_of(t, level) + k] = t->tile_bytes;
                b->texture_of[stm_use_first_of(t, level) + k] = i;
            }
    }
    for (uint32_t r = 0; r < STM_BUDGET_RESOLUTIONS; r++) {
        b->views[r] = *view;
        b->views[r].tiles = stm_calloc(b->entry_count + 1, sizeof *view->tiles);
        if (!b->views[r].tiles)
            return stm_no_memory(err, NULL);
        for (uint32_t i = 0; i < b->entry_count; i++)
            b->views[r].tiles[i].slot = TXM_SLOT_NONE;
    }
    return TXM_OK;
}

/* Only the picture's tiles are marked. */
static void sum_map(const budget *b, const txm_view *view, stm_render_budget *out)
{
    out->map_tiles = b->map.count;
    for (size_t i = 0; i < b->map.count; i++) {
        const uint32_t entry = b->map.entries[i];
        out->map_bytes += b->bytes_of[entry];
        out->map_extra_bytes += view->tiles[entry].mark ? 0 : b->bytes_of[entry];
    }
}

/* Adds up what is used of each image at each resolution. Leaves the marks of the first. */
static txm_status sum_resolutions(budget *b, const stm_render_scene *scene, stm_render_budget *out, txm_error *err)
{
    out->image_resolution = stm_calloc(scene->image_count * STM_BUDGET_RESOLUTIONS + 1, sizeof *out->image_resolution);
    if (!out->image_resolution)
        return stm_no_memory(err, NULL);
    for (uint32_t r = STM_BUDGET_RESOLUTIONS; r-- > 0;) {
        stm_render_image_use *uses;
        mark_used(b, r);
        txm_status status = stm_render_uses_of(scene, &b->job.textures, &uses, err);
        if (status)
            return status;
        for (size_t i = 0; i < scene->image_count; i++)
            out->image_resolution[i * STM_BUDGET_RESOLUTIONS + r] = uses[i].used_bytes;
        free(uses);
    }
    return TXM_OK;
}

/* Adds up the size of images, and what is used of them. */
static txm_status sum_images(budget *b, const stm_render_scene *scene, stm_render_budget *out, txm_error *err)
{
    const txm_view *view = txm_texture_set_view(b->job.textures.set);
    txm_status status = sum_resolutions(b, scene, out, err);
    if (status == TXM_OK)
        status = stm_render_uses_of(scene, &b->job.textures, &out->images, err);
    if (status)
        return status;
    out->image_count = scene->image_count;
    sum_map(b, view, out);
    for (size_t i = 0; i < out->image_count; i++)
        out->virtual_bytes += out->images[i].virtual_bytes;
    for (uint32_t i = 0; i < view->texture_count; i++)
        if (!view->textures[i].udim_rows)
            out->all_bytes +=
                (uint64_t)view->textures[i].width * view->textures[i].height * view->textures[i].pixel_bytes;
    return stm_render_tiles_of(&b->job.textures, view, &out->tiles, &out->tile_count, err);
}

/* ---- the budget ---- */

void stm_render_budget_clear(stm_render_budget *out)
{
    if (!out)
        return;
    free(out->images);
    free(out->tiles);
    free(out->image_resolution);
    memset(out, 0, sizeof *out);
}

/* The lists of cells are freed first, since their number depends on the size of cells. */
static void budget_free(budget *b)
{
    for (size_t i = 0; b->cells && i < STM_BUDGET_RESOLUTIONS * cell_count(b); i++)
        free(b->cells[i].entries);
    for (uint32_t r = 0; r < STM_BUDGET_RESOLUTIONS; r++)
        free(b->views[r].tiles);
    free(b->cells);
    free(b->map.entries);
    free(b->bytes_of);
    free(b->texture_of);
    stm_render_textures_free(&b->warps);
    stm_render_textures_free(&b->job.textures);
    stm_pool_free(b->job.pool);
}

/* `biased` sends every lookup to the page tables; those on which others depend also go to a cache. */
static txm_status trace(budget *b, const stm_render_scene *scene, stm_render_budget *out, txm_error *err)
{
    stm_render_options *o = b->options;
    stm_scene_geometry geometry = {0};
    float filter[STM_FILTER_TABLE];
    stm_path_filter(o->filter_width, filter);
    stm_world_map *map = NULL;
    txm_status status = stm_scene_geometry_new(scene, b->job.threads, o->cancel, &geometry, err);
    if (status == TXM_OK && scene->world.image != STM_SCENE_NONE)
        status = stm_world_map_new(scene, &b->job.textures.bound[scene->world.image], b->job.textures.world, &map, err);
    if (status) {
        stm_scene_geometry_free(&geometry);
        return status;
    }
    b->job.world = stm_path_world_of(scene, &geometry, o, out->width, out->height);
    b->job.world.map = map;
    b->job.world.images = b->job.textures.bound;
    b->job.world.filter = filter;
    b->job.film.width = out->width;
    b->job.biased = b->views;
    status = trace_samples(b, o, out, err);
    stm_scene_geometry_free(&geometry);
    stm_world_map_free(&map);
    return status;
}

/* Runs the steps in order: textures (which reports missing ones), page tables, rays, counts. Only the numbers in `out`
 * are kept. */
static txm_status run(budget *b, const stm_render_scene *scene, stm_render_budget *out, txm_error *err)
{
    const stm_render_options *o = b->job.options;
    txm_status status = stm_render_textures_new(scene, o, true, false, &b->job.textures, err);
    if (status == TXM_OK)
        status = tables_new(b, err);
    if (status == TXM_OK)
        status = request_map(b, scene, out, err);
    if (status == TXM_OK && stm_scene_depth(scene)) {
        status = stm_render_textures_new(scene, o, false, false, &b->warps, err);
        b->job.warps = b->warps.cache;
    }
    if (status == TXM_OK) {
        b->across = (out->width + b->cell_px - 1) / b->cell_px;
        b->down = (out->height + b->cell_px - 1) / b->cell_px;
        b->cells = stm_calloc(cell_count(b), STM_BUDGET_RESOLUTIONS * sizeof *b->cells);
        if (!b->cells)
            status = stm_no_memory(err, NULL);
        else if (scene->image_count) /* otherwise no ray finds anything */
            status = trace(b, scene, out, err);
    }
    if (status == TXM_OK)
        status = settle_resolutions(b, err);
    if (status == TXM_OK)
        status = count_all(b, o, out, err);
    return status == TXM_OK ? sum_images(b, scene, out, err) : status;
}

/* The render tile decides the size of cells: half and a quarter of it are counted too, so a cell is a quarter. Without
 * a render tile it is 2048 px, Blender's default. */
txm_status stm_render_budget_of(const stm_render_scene *scene, const stm_render_options *given, stm_render_budget *out,
                                txm_error *err)
{
    stm_render_options own, *options = &own;
    budget b = {.job = {.options = options}, .options = options};
    double begin = stm_clock_seconds();
    memset(out, 0, sizeof *out);
    txm_status status = stm_render_options_take(given, options, err);
    if (status)
        return status;
    /* The budget is that of the default cache, at the wanted resolution and at lower ones. */
    txm_cache_options cache;
    txm_cache_options_init_cycles(&cache);
    cache.resolution = own.cache ? own.cache->resolution : 1.0f;
    own.cache = &cache;
    out->width = options->width ? options->width : scene->width;
    out->height = options->height ? options->height : scene->height;
    out->scene_samples = scene->samples;
    /* The requested tile, half and a quarter of it; the size of cells must divide all of them. */
    uint32_t tile = options->render_tile ? options->render_tile : DEFAULT_TILE_PX;
    b.cell_px = tile >= 4 ? tile / 4 : 1;
    for (uint32_t i = 1; i < STM_BUDGET_TILES; i++)
        out->tile_px[i] = b.cell_px << (STM_BUDGET_TILES - 1 - i);
    b.job.threads = options->threads ? options->threads : stm_cpu_count();
    b.job.pool = stm_pool_new(b.job.threads);
    status = b.job.pool ? run(&b, scene, out, err) : stm_fail_errno(err, errno, "threads cannot be started");
    out->seconds = stm_clock_seconds() - begin;
    budget_free(&b);
    if (status)
        stm_render_budget_clear(out);
    return status;
}
