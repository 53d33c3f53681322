/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of a render: a picture next to its figures, for viewing on a machine without network access. Pictures are
 * embedded as PNG, the style is allowed by its digest in the security policy, and there are no scripts. Figures are
 * those of the renderer, unchanged; the plot of other caches is that of `txmill replay`. Everything is written to
 * memory first and then published, so that a failing encoder leaves no page.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "cli/html.h"
#include "cli/say.h"
#include "command/stream_args.h"
#include "txmill/level.h"
#include "txmill/out_file.h"
#include "txmill/picture.h"

enum { MAP_PX = 128 };

static const char style[] =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#222;background:#fff}"
    "h1{font-size:1.4em}h2{font-size:1.1em;margin:1.6em 0 "
    ".4em}img{max-width:100%;display:block;background:#000}svg{max-width:48em}"
    "figure{margin:0 0 "
    "1em}figcaption{color:#666;font-size:.9em}.maps{display:grid;grid-template-columns:repeat(auto-fit,minmax(18em,1fr)"
    ");gap:1em}"
    ".tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(9em,1fr));gap:1em}.tiles "
    "img{width:9em;image-rendering:pixelated}"
    "table{border-collapse:collapse;width:100%}th,td{padding:.25em .6em;text-align:right;border-bottom:1px solid "
    "#ddd;font-variant-numeric:tabular-nums}"
    "th:first-child,td:first-child{text-align:left;word-break:break-all}"
    ".verdict{font-size:1.15em}.bar{width:12em;height:.8em;display:inline-block}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}th,td{border-color:#444}figcaption{color:#"
    "999}}";

/* Linear colours as a picture that browsers can show. The name only selects the format; no such file is written. */
txm_status stm_stream_figure(FILE *out, const float *rgb, uint32_t width, uint32_t height, const char *caption,
                             txm_error *err)
{
    size_t count = (size_t)width * height * 3;
    unsigned char *png = NULL;
    size_t png_bytes = 0;
    uint8_t *codes = stm_srgb_codes(rgb, count);
    if (!codes)
        return stm_no_memory(err, NULL);
    const txm_picture picture = {codes, (size_t)width * 3, width, height, 3, TXM_TYPE_U8, "sRGB"};
    txm_status status = txm_picture_encode("picture.png", &picture, &png, &png_bytes, err);
    if (status == TXM_OK) {
        fputs("<figure><img alt=\"\" src=\"data:image/png;base64,", out);
        status = stm_html_base64(out, png, png_bytes, err);
        fputs("\"><figcaption>", out);
        stm_html_text(out, caption);
        fputs("</figcaption></figure>\n", out);
    }
    free(png);
    free(codes);
    return status;
}

/* Each map is scaled to its own largest value, which the caption gives so that pages can be compared. */
static txm_status write_map(FILE *out, const float *map, const stm_render_picture *p, const char *what, txm_error *err)
{
    const size_t count = (size_t)p->width * p->height;
    const float most = stm_heat_most(map, count);
    float *colors = stm_heat_colors(map, count, most);
    char caption[128];
    if (!colors)
        return stm_no_memory(err, NULL);
    snprintf(caption, sizeof caption, "%s; white is %.3g", what, (double)most);
    txm_status status = stm_stream_figure(out, colors, p->width, p->height, caption, err);
    free(colors);
    return status;
}

/* Both cells are escaped although they only get constant or formatted text, so that a new caller cannot forget it. */
static void write_row(FILE *out, const char *name, const char *value)
{
    fputs("<tr><td>", out);
    stm_html_text(out, name);
    fputs("</td><td>", out);
    stm_html_text(out, value);
    fputs("</td></tr>\n", out);
}

/* The most important figures: size, time, the share of it spent waiting, and whether the cache read tiles twice. */
static void write_summary(FILE *out, const stm_render_options *o, const stm_render_picture *p)
{
    char text[160], a[STM_FORMAT_BYTES], samples[STM_FORMAT_COUNT], bounces[STM_FORMAT_COUNT];
    fputs("<table>\n", out);
    snprintf(text, sizeof text, "%u x %u px, %s, %s", p->width, p->height,
             stm_format_count(o->samples, "sample", samples), stm_format_count(o->bounces, "bounce", bounces));
    write_row(out, "Picture", text);
    write_row(out, "Time", stm_format_seconds(p->counts.seconds, a));
    write_row(out, "Waiting for tiles", stm_format_seconds(p->counts.load_seconds, a));
    snprintf(text, sizeof text, "%llu of %llu", (unsigned long long)p->counts.relaunches,
             (unsigned long long)p->counts.steps);
    write_row(out, "Steps run again", text);
    write_row(out, "Peak of tiles in memory", stm_format_bytes(p->cache.tile_bytes_peak, a));
    snprintf(text, sizeof text, "%llu, %llu of them again", (unsigned long long)p->cache.tiles_loaded,
             (unsigned long long)p->cache.tiles_reloaded);
    write_row(out, "Tiles loaded", text);
    fputs("</table>\n", out);
}

/* Lists all images in the scene's order, because a page can be searched; the text output shows only the largest. Sizes
 * are those of the used tiles and of the whole texture with all levels. */
static void write_images(FILE *out, const stm_render_picture *p)
{
    char used[STM_FORMAT_BYTES], all[STM_FORMAT_BYTES], time[STM_FORMAT_BYTES];
    fputs(
        "<h2>Textures</h2>\n<table><tr><th>Image</th><th>Size</th><th>Used</th><th>Of</th><th>Tiles of each level</th>"
        "<th>Loads</th><th>Again</th><th>Time in loading</th><th>Failed</th></tr>\n",
        out);
    for (size_t i = 0; i < p->image_count; i++) {
        const stm_render_image_use *u = &p->images[i];
        const stm_render_image_cost *c = &p->costs[i];
        fputs("<tr><td>", out);
        stm_html_text(out, u->path);
        fprintf(out, "</td><td>%u x %u</td><td>%s</td><td>%s</td><td>", u->width, u->height,
                stm_format_bytes(u->used_bytes, used), stm_format_bytes(u->virtual_bytes, all));
        for (uint32_t l = 0; l < u->levels; l++)
            fprintf(out, "%s%llu/%llu", l ? ", " : "", (unsigned long long)u->level_used[l],
                    (unsigned long long)u->level_tiles[l]);
        fprintf(out, "</td><td>%llu</td><td>%llu</td><td>%s</td><td>%llu", (unsigned long long)c->loads,
                (unsigned long long)c->reloads, stm_format_seconds(c->load_seconds, time),
                (unsigned long long)c->failures);
        if (c->failures) {
            fputs(": ", out);
            stm_html_text(out, c->message);
        }
        fputs("</td></tr>\n", out);
    }
    fputs("</table>\n", out);
}

/* Lists the images that were used, in the scene's order. */
static txm_status write_tiles(FILE *out, const stm_render_picture *p, txm_error *err)
{
    txm_status status = TXM_OK;
    fputs("<h2>Tiles of each texture</h2>\n<p>The finest level that was used at each place: white is level 0, dark "
          "blue level 6 and coarser, black none.</p>\n<div class=\"tiles\">\n",
          out);
    for (size_t i = 0, tile = 0; status == TXM_OK && i < p->part_count; i++) {
        stm_stream_map map;
        char caption[512], tiles[STM_FORMAT_COUNT];
        if (!stm_stream_map_new(p, i, &tile, MAP_PX, &map))
            return stm_no_memory(err, NULL);
        float *colors = map.tiles ? stm_heat_colors(map.heat, (size_t)map.width * map.height, 1.0f) : NULL;
        const char *name = stm_path_base(p->images[p->parts[i].image].path);
        int n = snprintf(caption, sizeof caption, "%.300s", name);
        if (p->parts[i].part)
            n += snprintf(caption + n, sizeof caption - (size_t)n, ", file %u", p->parts[i].part + 1);
        snprintf(caption + n, sizeof caption - (size_t)n, ": %s, finest level %u",
                 stm_format_count(map.tiles, "tile", tiles), map.finest);
        if (map.tiles)
            status =
                colors ? stm_stream_figure(out, colors, map.width, map.height, caption, err) : stm_no_memory(err, NULL);
        free(colors);
        free(map.heat);
    }
    fputs("</div>\n", out);
    return status;
}

/* Writes nothing if there was no cache. */
static void write_memory(FILE *out, const stm_render_picture *p)
{
    if (!p->moment_count)
        return;
    fputs("<h2>Memory over time</h2>\n<figure>", out);
    stm_stream_plot_memory(out, p);
    fputs("<figcaption>Memory of the texture cache during the render</figcaption></figure>\n", out);
}

/* The reads of caches with other sizes and policies. The plot takes its colours from the page it is embedded in. */
static void write_replay(FILE *out, const stm_replay_table *replay)
{
    char verdict[STM_REPLAY_VERDICT];
    fputs("<h2>Other caches</h2>\n<figure>", out);
    stm_replay_plot(out, replay, false);
    fputs("<figcaption>", out);
    stm_html_text(out, stm_replay_verdict(replay, verdict));
    fputs("</figcaption></figure>\n", out);
}

typedef struct render_page {
    const stm_render_options *options;
    const stm_render_picture *picture;
    const stm_replay_table *replay;
} render_page;

/* After a failure writing continues, because the caller discards the text and the code stays simple. */
static txm_status write_render(FILE *out, const void *data, txm_error *err)
{
    const render_page *page = data;
    const stm_render_picture *p = page->picture;
    txm_status status = stm_stream_figure(out, p->rgb, p->width, p->height, "The picture", err);
    write_summary(out, page->options, p);
    fputs("<h2>Maps</h2>\n<div class=\"maps\">\n", out);
    if (status == TXM_OK)
        status = write_map(out, p->level, p, "Level that the camera sees; black: no texture", err);
    if (status == TXM_OK)
        status = write_map(out, p->misses, p, "Steps that missed a tile and were run again", err);
    if (status == TXM_OK)
        status = write_map(out, p->passes, p, "Launches until the pixel was complete", err);
    fputs("</div>\n", out);
    write_memory(out, p);
    if (page->replay)
        write_replay(out, page->replay);
    write_images(out, p);
    if (status == TXM_OK)
        status = write_tiles(out, p, err);
    return status;
}

txm_status stm_stream_page(const char *path, const char *scene, const stm_render_options *options,
                           const stm_render_picture *picture, const stm_replay_table *replay, txm_error *err)
{
    const render_page page = {options, picture, replay};
    return stm_stream_write_page(path, scene, write_render, &page, err);
}

/* ---- what pages share ---- */

/* The file appears when it is complete. */
txm_status stm_stream_write_page(const char *path, const char *scene,
                                 txm_status (*body)(FILE *out, const void *data, txm_error *err), const void *data,
                                 txm_error *err)
{
    txm_out_file *file = NULL;
    txm_status status = txm_out_file_begin(path, false, &file, err);
    if (status != TXM_OK)
        return status;
    FILE *out = txm_out_file_stream(file);
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"generator\" "
          "content=\"txmill, " TXM_OUT_FILE_SEAL "\">"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src ",
          out);
    status = stm_html_digest(out, style, sizeof style - 1, err);
    fprintf(out,
            "\"><meta name=\"viewport\" content=\"width=device-width\"><style>%s</style><title>txmill stream: ", style);
    stm_html_text(out, scene);
    fputs("</title></head><body>\n<h1>", out);
    stm_html_text(out, scene);
    fputs("</h1>\n", out);
    if (status == TXM_OK)
        status = body(out, data, err);
    fputs("</body></html>\n", out);
    if (status == TXM_OK)
        return txm_out_file_commit(&file, err);
    stm_error_prefix(err, path);
    txm_out_file_abort(&file);
    return status;
}
