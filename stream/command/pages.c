/* SPDX-License-Identifier: Apache-2.0
 *
 * The pages of renders, budgets and plays, for viewing on a machine without network access: the shell that txmill
 * installs, with the figures that --json prints and with pictures. The script of the shell draws tables and plots.
 */
#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/json.h"
#include "cli/say.h"
#include "command/stream_args.h"
#include "txmill/out_file.h"
#include "txmill/picture.h"

/* ---- a page ---- */

/* Ends with a zero, as text. */
static const unsigned char shell_bytes[] = {
#include "page.html.inc"
    0};
static const char *const shell = (const char *)shell_bytes;
static const char mark[] = "@DATA@\n";

/* A page that is being written. What comes from files is only in the JSON, which the script puts into the page as text.
 */
typedef struct stm_page {
    const char *path; /* borrowed */
    txm_out_file *file;
    FILE *out;
    cJSON *data, *pictures;
    size_t picture_count;
} stm_page;

/* Consumes the report, which becomes the figures of the page. */
static txm_status begin_page(const char *path, const char *kind, const char *title, cJSON *report, stm_page *page,
                             txm_error *err)
{
    *page = (stm_page){.path = path};
    txm_status status = txm_out_file_begin(path, false, &page->file, err);
    if (status != TXM_OK) {
        cJSON_Delete(report);
        return status;
    }
    page->data = cJSON_CreateObject();
    stm_json_text(page->data, "page", kind);
    stm_json_text(page->data, "title", title);
    stm_json_add(page->data, "report", report);
    page->pictures = stm_json_array(page->data, "pictures");
    page->out = txm_out_file_stream(page->file);
    fwrite(shell, 1, (size_t)(strstr(shell, mark) - shell), page->out);
    return TXM_OK;
}

/* Adds linear colours as a picture; `place` says where the page shows it. The name of the encoded picture selects the
 * format and is that of failures; no such file is written. OpenSSL uses int, and makes four characters from three
 * bytes, plus a zero at the end. */
static txm_status add_picture(stm_page *page, const char *place, const char *caption, const float *rgb, uint32_t width,
                              uint32_t height, txm_error *err)
{
    unsigned char *png = NULL, *text = NULL;
    size_t bytes = 0;
    char id[40], name[512];
    uint8_t *codes = stm_srgb_codes(rgb, (size_t)width * height * 3);
    const txm_picture picture = {codes, (size_t)width * 3, width, height, 3, TXM_TYPE_U8, "sRGB"};
    snprintf(name, sizeof name, "%.500s.png", page->path);
    txm_status status = codes ? txm_picture_encode(name, &picture, &png, &bytes, err) : stm_no_memory(err, NULL);
    if (!status) {
        text = bytes < INT_MAX / 2 ? malloc(bytes / 3 * 4 + 5) : NULL;
        status = text ? TXM_OK : stm_no_memory(err, NULL);
    }
    if (!status) {
        snprintf(id, sizeof id, "picture-%zu", page->picture_count++);
        cJSON *o = stm_json_append(page->pictures);
        stm_json_text(o, "id", id);
        stm_json_text(o, "place", place);
        stm_json_text(o, "caption", caption);
        EVP_EncodeBlock(text, png, (int)bytes);
        fprintf(page->out, "<script type=\"text/plain\" id=\"%s\">%s</script>\n", id, text);
    }
    free(text);
    free(png);
    free(codes);
    return status;
}

/* Publishes the page, or removes it if something failed before. */
static txm_status end_page(stm_page *page, txm_status status, txm_error *err)
{
    char *text = stm_json_take(page->data);
    if (status == TXM_OK && !text)
        status = stm_no_memory(err, NULL);
    if (status == TXM_OK) {
        fputs("<script type=\"application/json\" id=\"data\">", page->out);
        /* JSON inside a script element must not end the element or begin a comment. Control characters and those that
         * change the direction of writing, which arrive as escapes, become U+FFFD. */
        for (const char *c = text; *c; c++)
            if (strchr("<>&", *c)) {
                fprintf(page->out, "\\u%04x", (unsigned)*c);
            } else if (*c == '\\' && c[1] == 'u') {
                fputs("\\ufffd", page->out);
                c += 5;
            } else {
                fputc(*c, page->out);
                if (*c == '\\')
                    fputc(*++c, page->out);
            }
        fputs("</script>\n", page->out);
        fputs(strstr(shell, mark) + strlen(mark), page->out);
        status = txm_out_file_commit(&page->file, err);
    }
    txm_out_file_abort(&page->file);
    free(text);
    return status;
}

/* ---- what is on it ---- */

/* The page has maps in place of the lists of tiles, which may be larger than the rest. */
static cJSON *without_tiles(cJSON *report)
{
    cJSON *image;
    cJSON_ArrayForEach(image, cJSON_GetObjectItem(report, "images")) cJSON_DeleteItemFromObject(image, "touched");
    return report;
}

/* Each map is scaled to its own largest value, which the caption gives so that pages can be compared. */
static txm_status add_map(stm_page *page, const float *map, const stm_render_picture *p, const char *what,
                          txm_error *err)
{
    const size_t count = (size_t)p->width * p->height;
    const float most = stm_heat_most(map, count);
    float *colors = stm_heat_colors(map, count, most);
    char caption[128];
    snprintf(caption, sizeof caption, "%s; white is %.3g", what, (double)most);
    txm_status status =
        colors ? add_picture(page, "maps", caption, colors, p->width, p->height, err) : stm_no_memory(err, NULL);
    free(colors);
    return status;
}

/* The images that were used, in the scene's order. */
static txm_status add_tiles(stm_page *page, const stm_render_picture *p, txm_error *err)
{
    enum { MAP_PX = 128 };
    txm_status status = TXM_OK;
    for (size_t i = 0, tile = 0; status == TXM_OK && i < p->part_count; i++) {
        stm_stream_map map;
        char caption[512], tiles[STM_FORMAT_COUNT], part[32] = "";
        if (!stm_stream_map_new(p, i, &tile, MAP_PX, &map))
            return stm_no_memory(err, NULL);
        if (p->parts[i].part)
            snprintf(part, sizeof part, ", file %u", p->parts[i].part + 1);
        snprintf(caption, sizeof caption, "%.300s%s: %s, finest level %u",
                 stm_path_base(p->images[p->parts[i].image].path), part, stm_format_count(map.tiles, "tile", tiles),
                 map.finest);
        if (map.tiles) {
            float *colors = stm_heat_colors(map.heat, (size_t)map.width * map.height, 1.0f);
            status = colors ? add_picture(page, "tiles", caption, colors, map.width, map.height, err)
                            : stm_no_memory(err, NULL);
            free(colors);
        }
        free(map.heat);
    }
    return status;
}

/* The reads of caches with other sizes and policies, as `txmill replay` plots them. */
static txm_status add_replay(cJSON *data, const stm_replay_table *replay, txm_error *err)
{
    char verdict[STM_REPLAY_VERDICT], *plot = NULL;
    size_t bytes;
    FILE *out = open_memstream(&plot, &bytes);
    if (!out)
        return stm_no_memory(err, NULL);
    stm_replay_plot(out, replay, false);
    const bool whole = fclose(out) == 0;
    cJSON *o = stm_json_object(data, "replay");
    stm_json_text(o, "verdict", stm_replay_verdict(replay, verdict));
    stm_json_text(o, "plot", plot);
    free(plot);
    return whole ? TXM_OK : stm_no_memory(err, NULL);
}

txm_status stm_stream_page(const char *path, const char *scene, const stm_render_options *options,
                           const stm_render_picture *p, const stm_replay_table *replay, txm_error *err)
{
    stm_page page;
    cJSON *report = without_tiles(stm_stream_picture_json(scene, options, p));
    txm_status status = begin_page(path, "render", scene, report, &page, err);
    if (status != TXM_OK)
        return status;
    status = add_picture(&page, "picture", "The picture", p->rgb, p->width, p->height, err);
    if (status == TXM_OK)
        status = add_map(&page, p->level, p, "Level that the camera sees; black: no texture", err);
    if (status == TXM_OK)
        status = add_map(&page, p->misses, p, "Steps that missed a tile and were run again", err);
    if (status == TXM_OK)
        status = add_map(&page, p->passes, p, "Launches until the pixel was complete", err);
    if (status == TXM_OK && replay)
        status = add_replay(page.data, replay, err);
    if (status == TXM_OK)
        status = add_tiles(&page, p, err);
    return end_page(&page, status, err);
}

txm_status stm_stream_budget_page(const char *path, const char *scene, const stm_render_options *options,
                                  const stm_render_budget *budget, txm_error *err)
{
    stm_page page;
    cJSON *report = without_tiles(stm_stream_budget_json(scene, budget));
    txm_status status = begin_page(path, "budget", scene, report, &page, err);
    if (status != TXM_OK)
        return status;
    stm_json_uint(page.data, "render_tile", options->render_tile);
    return end_page(&page, TXM_OK, err);
}

txm_status stm_play_page(const char *path, const stm_play_run *run, txm_error *err)
{
    stm_page page;
    txm_status status = begin_page(path, "play", run->scene, stm_play_json(run), &page, err);
    if (status != TXM_OK)
        return status;
    if (run->frame_count)
        status =
            add_picture(&page, "picture", "The picture after the last frame", run->rgb, run->width, run->height, err);
    if (status == TXM_OK && run->strip_width)
        status = add_picture(&page, "picture",
                             "From the left: untextured; a single colour per texture, which is all that fits "
                             "without streaming; streamed after 1, 8 and 64 frames",
                             run->strip, run->strip_width, run->strip_height, err);
    return end_page(&page, status, err);
}
