/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports a render in two forms. The text for terminals has the totals and the twenty images that take the most memory;
 * the JSON for scripts has every image and level. Sizes are in bytes, times in seconds, shares in percent; `used`
 * counts each tile once, however often it was read. The colours of heat maps are also here, because pictures and pages
 * share them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/json.h"
#include "cli/say.h"
#include "cli/settings.h"
#include "command/stream_args.h"
#include "txmill/out_file.h"

/* ---- heat ---- */

float stm_heat_most(const float *map, size_t count)
{
    float most = 0.0f;
    for (size_t i = 0; i < count; i++)
        most = fmaxf(most, map[i]);
    return most;
}

/* Linear RGB, interpolated between five stops of increasing brightness, so that the order is visible in a greyscale
 * print. Negative values mark cells without data and stay black. */
float *stm_heat_colors(const float *map, size_t count, float most)
{
    /* Colours from dark blue over red and yellow to white. */
    static const float stops[5][3] = {
        {0.01f, 0.01f, 0.08f}, {0.25f, 0.02f, 0.35f}, {0.85f, 0.1f, 0.1f}, {1.0f, 0.65f, 0.05f}, {1, 1, 1}};
    float *colors = stm_calloc(count, 3 * sizeof *colors);
    for (size_t i = 0; colors && i < count; i++) {
        float at = most > 0.0f ? 4.0f * map[i] / most : 0.0f;
        int k = at < 3.0f ? (int)at : 3;
        for (int c = 0; c < 3 && map[i] >= 0.0f; c++)
            colors[3 * i + (size_t)c] = stops[k][c] + (at - (float)k) * (stops[k + 1][c] - stops[k][c]);
    }
    return colors;
}

/* The curve of IEC 61966-2-1, rounded to the nearest code. NaN becomes white, because fminf returns the number. */
uint8_t *stm_srgb_codes(const float *linear, size_t count)
{
    uint8_t *codes = stm_calloc(count, 1);
    for (size_t i = 0; codes && i < count; i++) {
        float f = fmaxf(0.0f, fminf(1.0f, linear[i]));
        f = f < 0.0031308f ? 12.92f * f : 1.055f * powf(f, 1.0f / 2.4f) - 0.055f;
        codes[i] = (uint8_t)(f * 255.0f + 0.5f);
    }
    return codes;
}

/* ---- text ---- */

/* 0 of 0 is 0 percent, for a scene without textures. */
static double percent(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 0.0;
}

enum { SHOWN_IMAGES = 20 };

/* The column has room for the three finest levels that are used; a long name is cut at its beginning. */
static void print_images(const stm_render_image_use *uses, size_t count)
{
    char used[STM_FORMAT_BYTES], all[STM_FORMAT_BYTES];
    const stm_render_image_use *order[SHOWN_IMAGES];
    /* Selects the images that take the most memory, in descending order, by insertion into a short list, since a scene
     * may have thousands of images; equal ones keep the scene's order. */
    size_t shown = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = shown < SHOWN_IMAGES ? shown++ : SHOWN_IMAGES;
        for (; k > 0 && order[k - 1]->used_bytes < uses[i].used_bytes; k--)
            if (k < SHOWN_IMAGES)
                order[k] = order[k - 1];
        if (k < SHOWN_IMAGES)
            order[k] = &uses[i];
    }
    if (!shown)
        return;
    puts("\n     used        of          by level, tiles used of all    image");
    for (size_t i = 0; i < shown; i++) {
        char levels[64] = "";
        for (uint32_t l = 0, n = 0; l < order[i]->levels && n < 3; l++)
            if (order[i]->level_used[l]) {
                size_t length = strlen(levels);
                snprintf(levels + length, sizeof levels - length, "%s%u: %llu/%llu", n++ ? ", " : "", l,
                         (unsigned long long)order[i]->level_used[l], (unsigned long long)order[i]->level_tiles[l]);
            }
        printf("%9s %9s  %-36.36s  ", stm_format_bytes(order[i]->used_bytes, used),
               stm_format_bytes(order[i]->virtual_bytes, all), levels);
        stm_print_fitted(stm_path_base(order[i]->path), 22);
        putchar('\n');
    }
    if (count > shown)
        printf("... and %zu more; --json lists all\n", count - shown);
}

void stm_stream_print_devices(const stm_render_device *devices, size_t count, int column)
{
    char bytes[STM_FORMAT_BYTES], table[STM_FORMAT_BYTES], tiles[STM_FORMAT_COUNT], seconds[STM_FORMAT_BYTES];
    for (size_t i = 0; i < count; i++) {
        const stm_render_device *d = &devices[i];
        const txm_device_stats *s = &d->stats;
        printf("%-*s%s: %.1f million lookups in %llu launches, at most %u until complete%s\n", column, "device",
               d->name, 1e-6 * (double)s->lookups, (unsigned long long)s->launches, s->longest,
               s->lost ? "; it was lost" : "");
        printf("%-*s%s copied (%s), %s of page table; copies took %s\n", column, "",
               stm_format_count(s->tiles_copied, "tile", tiles), stm_format_bytes(s->tile_bytes, bytes),
               stm_format_bytes(s->table_bytes, table), stm_format_seconds(s->copy_seconds, seconds));
    }
}

/* Lines that do not apply to an engine are left out: only a wave is relaunched, and the reference has no cache to
 * fill. */
void stm_stream_print_picture(const char *scene, const stm_render_options *o, const stm_render_picture *p)
{
    char a[STM_FORMAT_BYTES], b[STM_FORMAT_BYTES], samples[STM_FORMAT_COUNT], bounces[STM_FORMAT_COUNT];
    char tiles[STM_FORMAT_COUNT];
    uint64_t used = 0, all = 0;
    for (size_t i = 0; i < p->image_count; i++) {
        used += p->images[i].used_bytes;
        all += p->images[i].virtual_bytes;
    }
    stm_print_safe(scene);
    printf(": %u x %u px, %s, %s, %s\n", p->width, p->height, stm_format_count(o->samples, "sample", samples),
           stm_format_count(o->bounces, "bounce", bounces), stm_render_engine_name((stm_render_engine)o->engine));
    printf("time       %s; loading tiles %.1f %%\n", stm_format_seconds(p->counts.seconds, a),
           100.0 * p->counts.load_seconds / fmax(p->counts.seconds, 1e-9));
    printf("rays       %.1f million, %.2f million per second\n", 1e-6 * (double)p->counts.rays,
           1e-6 * (double)p->counts.rays / fmax(p->counts.seconds, 1e-9));
    printf("textures   %s of %s used (%.2f %%)\n", stm_format_bytes(used, a), stm_format_bytes(all, b),
           percent(used, all));
    if (o->engine == STM_RENDER_ENGINE_WAVE)
        printf("relaunched %llu of %llu steps (%.2f %%), at most %u pass%s\n", (unsigned long long)p->counts.relaunches,
               (unsigned long long)p->counts.steps, percent(p->counts.relaunches, p->counts.steps), p->counts.longest,
               p->counts.longest == 1 ? "" : "es");
    if (o->engine != STM_RENDER_ENGINE_REFERENCE)
        printf("memory     peak %s in tiles, %s with everything; %s loaded, %llu of them again\n",
               stm_format_bytes(p->cache.tile_bytes_peak, a), stm_format_bytes(p->cache.allocated_bytes_peak, b),
               stm_format_count(p->cache.tiles_loaded, "tile", tiles), (unsigned long long)p->cache.tiles_reloaded);
    stm_stream_print_devices(p->devices, p->device_count, 11);
    if (p->cache.tiles_failed)
        printf("failed     %s magenta, because they could not be read\n",
               stm_format_are(p->cache.tiles_failed, "tile", tiles));
    print_images(p->images, p->image_count);
}

/* It is printed first, so that readers see what the figures below do not include. */
static void print_sureness(const stm_render_budget *b)
{
    char bytes[STM_FORMAT_BYTES], tiles[STM_FORMAT_COUNT];
    printf("found          %s", stm_format_count(b->tile_count, "tile", tiles));
    if (b->growth >= 0.0f)
        printf("; the second half of the samples found %.1f %% of them", 100.0 * (double)b->growth);
    putchar('\n');
    if (b->growth < 0.0f && b->scene_samples != 1)
        puts("missing        unknown: one sample does not show how many tiles further ones would find");
    else if (b->missing_tiles)
        printf("missing        about %s (%s) that few rays reach%s\n",
               stm_format_count(b->missing_tiles, "tile", tiles), stm_format_bytes(b->missing_bytes, bytes),
               b->scene_samples ? ", with the samples of the scene" : ", with many samples");
}

/* The first two lines have the result; the tables show the savings of a smaller render tile or a lower resolution. "At
 * once" is the memory needed at the same time, "loaded" the total that is read, including repeated reads. */
void stm_stream_print_budget(const char *scene, const stm_render_budget *b)
{
    char peak[STM_FORMAT_BYTES], loaded[STM_FORMAT_BYTES], text[STM_FORMAT_BYTES], tiles[STM_FORMAT_COUNT];
    stm_print_safe(scene);
    printf(": %u x %u px, %u %s per pixel, found in %s\n", b->width, b->height, b->samples,
           b->samples == 1 ? "sample" : "samples", stm_format_seconds(b->seconds, text));
    print_sureness(b);
    printf("all images     %9s  loaded completely\n", stm_format_bytes(b->all_bytes, text));
    printf("with the cache %9s  (%.2f %%): the tiles that are used\n", stm_format_bytes(b->touched_bytes, text),
           percent(b->touched_bytes, b->all_bytes));
    if (b->map_columns)
        printf("map of world   %9s  more before the first ray: %s of its image, which Cycles samples in %u x %u "
               "directions\n",
               stm_format_bytes(b->map_extra_bytes, text), stm_format_count(b->map_tiles, "tile", tiles),
               b->map_columns, b->map_rows);
    puts("\nrender tile     at once    loaded");
    for (uint32_t i = 0; i < STM_BUDGET_TILES; i++) {
        if (b->tile_px[i])
            printf("%8u px  ", b->tile_px[i]);
        else
            printf("  no tiles   ");
        printf("%9s %9s\n", stm_format_bytes(b->tile_peak[i], peak), stm_format_bytes(b->tile_loaded[i], loaded));
    }
    puts("\nresolution      at once      used");
    for (uint32_t i = 0; i < STM_BUDGET_RESOLUTIONS; i++)
        printf("%8.4g %%   %9s %9s\n", 100.0 * (double)b->resolution[i], stm_format_bytes(b->resolution_peak[i], peak),
               stm_format_bytes(b->resolution_bytes[i], loaded));
    print_images(b->images, b->image_count);
}

/* A name must not break a line or a column, so characters that a terminal does not show are escaped, as is the
 * backslash that begins an escape. */
static bool put_name(stm_bytes *text, const char *name)
{
    bool ok = true;
    for (size_t shown; ok && *name; name += shown ? shown : 1) {
        shown = *name == '\\' ? 0 : stm_shown_bytes(name);
        ok = shown ? stm_bytes_add(text, name, shown) : stm_bytes_printf(text, "\\x%02X", (unsigned char)*name);
    }
    return ok;
}

/* Tab-separated with one line that begins with #, for cut and awk. Images are named without their folders; only UDIM
 * sets have parts other than 0. */
txm_status stm_stream_tiles(const char *path, const stm_render_budget *b, txm_error *err)
{
    stm_bytes text = {0};
    bool ok = stm_bytes_puts(&text, "# image\tpart\tlevel\tcolumn\trow, from the top\n");
    for (size_t i = 0; ok && i < b->tile_count; i++)
        ok = put_name(&text, stm_path_base(b->images[b->tiles[i].image].path)) &&
             stm_bytes_printf(&text, "\t%u\t%u\t%u\t%u\n", b->tiles[i].part, b->tiles[i].level, b->tiles[i].x,
                              b->tiles[i].y);
    txm_status status = ok ? txm_out_file_write(path, text.data, text.size, err) : stm_no_memory(err, path);
    stm_bytes_free(&text);
    return status;
}

/* ---- JSON ---- */

/* Levels are listed from the finest, so a level's index is its number. Tiles are in the order of the images. */
static void json_images(cJSON *object, const stm_render_image_use *uses, const stm_render_image_cost *costs,
                        size_t count, const stm_render_tile *tiles, size_t tile_count)
{
    cJSON *images = stm_json_array(object, "images");
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        const stm_render_image_cost *c = costs ? &costs[i] : NULL;
        cJSON *image = stm_json_append(images);
        stm_json_text(image, "image", uses[i].path);
        stm_json_uint(image, "width", uses[i].width);
        stm_json_uint(image, "height", uses[i].height);
        stm_json_uint(image, "used_bytes", uses[i].used_bytes);
        stm_json_uint(image, "virtual_bytes", uses[i].virtual_bytes);
        cJSON *levels = stm_json_array(image, "levels");
        for (uint32_t l = 0; l < uses[i].levels; l++) {
            cJSON *level = stm_json_append(levels);
            stm_json_uint(level, "tiles", uses[i].level_tiles[l]);
            stm_json_uint(level, "used", uses[i].level_used[l]);
        }
        cJSON *touched = stm_json_array(image, "touched");
        for (; next < tile_count && tiles[next].image == i; next++) {
            const stm_render_tile *t = &tiles[next];
            stm_json_append_ints(touched, (const int[]){(int)t->part, (int)t->level, (int)t->x, (int)t->y}, 4);
        }
        if (!c)
            continue;
        stm_json_uint(image, "loads", c->loads);
        stm_json_uint(image, "reloads", c->reloads);
        stm_json_uint(image, "loaded_bytes", c->loaded_bytes);
        stm_json_number(image, "load_seconds", c->load_seconds, 6);
        stm_json_uint(image, "opens", c->opens);
        stm_json_uint(image, "failures", c->failures);
        stm_json_text(image, "failure", c->failures ? c->message : NULL);
    }
}

/* Fields common to renders and budgets, which share a schema; `action` distinguishes them. */
static cJSON *new_object(const char *action, const char *scene, uint32_t width, uint32_t height, uint32_t samples)
{
    cJSON *o = stm_json_new("txmill.stream");
    stm_json_text(o, "action", action);
    stm_json_text(o, "scene", scene);
    stm_json_uint(o, "width", width);
    stm_json_uint(o, "height", height);
    stm_json_uint(o, "samples", samples);
    stm_settings_json(o);
    return o;
}

void stm_stream_json_devices(cJSON *o, const stm_render_device *devices, size_t count)
{
    cJSON *list = cJSON_AddArrayToObject(o, "devices");
    for (size_t i = 0; list && i < count; i++) {
        const stm_render_device *d = &devices[i];
        const txm_device_stats *s = &d->stats;
        const stm_count counts[] = {{"launches", s->launches},
                                    {"longest", s->longest},
                                    {"lookups", s->lookups},
                                    {"lookups_missed", s->lookups_missed},
                                    {"lookups_by_processor", s->by_processor},
                                    {"requests", s->requests},
                                    {"syncs", s->syncs},
                                    {"table_copies", s->table_copies},
                                    {"table_bytes", s->table_bytes},
                                    {"tile_copies", s->tile_copies},
                                    {"tile_bytes", s->tile_bytes},
                                    {"tiles_copied", s->tiles_copied},
                                    {"copied_pixel_bytes", s->copied_pixels},
                                    {"tiles_dropped", s->tiles_dropped},
                                    {"tiles_in_host_memory", s->tiles_far},
                                    {"lookup_bytes", s->lookup_bytes},
                                    {"result_bytes", s->result_bytes},
                                    {"memory_bytes", s->memory_bytes},
                                    {"host_bytes", s->host_bytes}};
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(list, one);
        stm_json_text(one, "name", d->name);
        stm_json_text(one, "title", d->title);
        cJSON_AddBoolToObject(one, "lost", s->lost != 0);
        stm_json_counts(one, counts, sizeof counts / sizeof *counts);
        stm_json_number(one, "copy_seconds", s->copy_seconds, 6);
        stm_json_number(one, "kernel_seconds", s->kernel_seconds, 6);
    }
}

/* The three figures before the cache's own are for scripts that need no more. */
cJSON *stm_stream_picture_json(const char *scene, const stm_render_options *options, const stm_render_picture *p)
{
    const stm_count counts[] = {{"paths", p->counts.paths},       {"rays", p->counts.rays},
                                {"steps", p->counts.steps},       {"relaunches", p->counts.relaunches},
                                {"launches", p->counts.launches}, {"passes", p->counts.passes},
                                {"longest", p->counts.longest}};
    cJSON *o = new_object("render", scene, p->width, p->height, options->samples);
    stm_json_uint(o, "bounces", options->bounces);
    stm_json_text(o, "engine", stm_render_engine_name((stm_render_engine)options->engine));
    stm_json_text(o, "differentials", stm_render_differentials_name((stm_render_differentials)options->differentials));
    cJSON *c = stm_json_object(o, "counts");
    stm_json_counts(c, counts, sizeof counts / sizeof *counts);
    stm_json_number(o, "seconds", p->counts.seconds, 6);
    stm_json_number(o, "load_seconds", p->counts.load_seconds, 6);
    stm_json_number(o, "trace_seconds", p->counts.trace_seconds, 6);
    stm_json_uint(o, "tiles_loaded", p->cache.tiles_loaded);
    stm_json_uint(o, "tiles_reloaded", p->cache.tiles_reloaded);
    stm_json_uint(o, "peak_bytes", p->cache.tile_bytes_peak);
    stm_stream_json_devices(o, p->devices, p->device_count);
    if (options->engine != STM_RENDER_ENGINE_REFERENCE)
        stm_stream_json_cache(o, options->cache, p);
    else
        stm_json_text(o, "cache", NULL);
    cJSON *list = stm_json_array(o, "memory");
    for (size_t i = 0; i < p->moment_count; i++) {
        const stm_render_moment *m = &p->moments[i];
        cJSON *moment = stm_json_append(list);
        stm_json_number(moment, "seconds", m->seconds, 6);
        stm_json_uint(moment, "samples", m->samples);
        stm_json_uint(moment, "tile_bytes", m->tile_bytes);
        stm_json_uint(moment, "allocated_bytes", m->allocated_bytes);
        stm_json_uint(moment, "tiles_loaded", m->tiles_loaded);
    }
    json_images(o, p->images, p->costs, p->image_count, p->tiles, p->tile_count);
    return o;
}

/* A render tile of 0 px means that the whole picture is rendered at once. */
cJSON *stm_stream_budget_json(const char *scene, const stm_render_budget *b)
{
    cJSON *o = new_object("budget", scene, b->width, b->height, b->samples);
    stm_json_uint(o, "all_bytes", b->all_bytes);
    stm_json_uint(o, "virtual_bytes", b->virtual_bytes);
    stm_json_uint(o, "touched_bytes", b->touched_bytes);
    stm_json_uint(o, "tiles", b->tile_count);
    stm_json_uint(o, "scene_samples", b->scene_samples);
    if (b->growth >= 0.0f)
        stm_json_number(o, "growth", (double)b->growth, 6);
    else
        stm_json_text(o, "growth", NULL);
    stm_json_uint(o, "missing_tiles", b->missing_tiles);
    stm_json_uint(o, "missing_bytes", b->missing_bytes);
    cJSON *tiles = stm_json_array(o, "render_tiles");
    for (uint32_t i = 0; i < STM_BUDGET_TILES; i++) {
        cJSON *t = stm_json_append(tiles);
        stm_json_uint(t, "px", b->tile_px[i]);
        stm_json_uint(t, "peak_bytes", b->tile_peak[i]);
        stm_json_uint(t, "loaded_bytes", b->tile_loaded[i]);
    }
    cJSON *resolutions = stm_json_array(o, "resolutions");
    for (uint32_t i = 0; i < STM_BUDGET_RESOLUTIONS; i++) {
        cJSON *r = stm_json_append(resolutions);
        stm_json_number(r, "resolution", (double)b->resolution[i], 6);
        stm_json_uint(r, "peak_bytes", b->resolution_peak[i]);
        stm_json_uint(r, "used_bytes", b->resolution_bytes[i]);
    }
    if (b->map_columns) { /* the tiles that Cycles loads to importance-sample the image of a world */
        cJSON *map = stm_json_object(o, "world_map");
        stm_json_uint(map, "columns", b->map_columns);
        stm_json_uint(map, "rows", b->map_rows);
        stm_json_uint(map, "tiles", b->map_tiles);
        stm_json_uint(map, "bytes", b->map_bytes);
        stm_json_uint(map, "extra_bytes", b->map_extra_bytes);
    } else {
        stm_json_text(o, "world_map", NULL);
    }
    stm_json_number(o, "seconds", b->seconds, 6);
    json_images(o, b->images, NULL, b->image_count, b->tiles, b->tile_count);
    const uint64_t *used = b->image_resolution;
    cJSON *image;
    cJSON_ArrayForEach(image, cJSON_GetObjectItem(o, "images"))
    {
        cJSON *list = stm_json_array(image, "resolutions");
        for (uint32_t r = 0; r < STM_BUDGET_RESOLUTIONS; r++) {
            cJSON *one = stm_json_append(list);
            stm_json_number(one, "resolution", (double)b->resolution[r], 6);
            stm_json_uint(one, "used_bytes", *used++);
        }
    }
    return o;
}
