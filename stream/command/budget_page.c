/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of a budget, which helps to decide which textures to make smaller. Textures are sorted by memory, and bars
 * make the few that matter stand out; all of them are listed, because a page can be searched. Bars are SVG, since the
 * security policy allows no inline styles.
 */
#include <stdlib.h>

#include "base/base.h"
#include "cli/html.h"
#include "cli/say.h"
#include "command/stream_args.h"

typedef struct budget_page {
    const stm_render_options *options;
    const stm_render_budget *budget;
} budget_page;

/* The memory of one image, and the memory at half its size. */
typedef struct texture {
    const stm_render_image_use *use;
    uint64_t saved; /* bytes saved at half the size */
} texture;

static double percent(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 0.0;
}

/* Sorts the largest first, and equal ones in the scene's order, which qsort alone would not keep. */
static int by_use(const void *a, const void *b)
{
    const texture *x = a, *y = b;
    if (x->use->used_bytes != y->use->used_bytes)
        return x->use->used_bytes < y->use->used_bytes ? 1 : -1;
    return x->use < y->use ? -1 : x->use > y->use;
}

static texture *sorted(const stm_render_budget *b)
{
    texture *textures = stm_calloc(b->image_count + 1, sizeof *textures);
    for (size_t i = 0; textures && i < b->image_count; i++) {
        const uint64_t *at = &b->image_resolution[i * STM_BUDGET_RESOLUTIONS];
        textures[i] = (texture){&b->images[i], at[0] > at[1] ? at[0] - at[1] : 0};
    }
    if (textures)
        qsort(textures, b->image_count, sizeof *textures, by_use);
    return textures;
}

static const texture *best_saving(const texture *textures, size_t count)
{
    const texture *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (textures[i].saved > (best ? best->saved : 0))
            best = &textures[i];
    return best;
}

/* ---- the verdict ---- */

/* The peaks of resolutions are for the requested render tile, which is the second in the list; the first is the whole
 * picture. */
static void write_verdict(FILE *out, const budget_page *page, const texture *textures)
{
    const stm_render_budget *b = page->budget;
    const texture *best = best_saving(textures, b->image_count);
    char once[STM_FORMAT_BYTES], used[STM_FORMAT_BYTES], all[STM_FORMAT_BYTES], saved[STM_FORMAT_BYTES];
    fputs("<p class=\"verdict\">", out);
    if (!b->tile_count) {
        fputs("This picture uses no texture.</p>\n", out);
        return;
    }
    fprintf(out, "This picture needs %s of texture memory at once", stm_format_bytes(b->resolution_peak[0], once));
    if (page->options->render_tile)
        fprintf(out, " with render tiles of %u px", b->tile_px[1]);
    fprintf(out, ", and %s in all: %.3g %% of the %s that whole images take.", stm_format_bytes(b->touched_bytes, used),
            percent(b->touched_bytes, b->all_bytes), stm_format_bytes(b->all_bytes, all));
    if (best) {
        fputs(" The largest saving is to halve ", out);
        stm_html_text(out, best->use->path);
        fprintf(out, ": %s (%.3g %%).", stm_format_bytes(best->saved, saved), percent(best->saved, b->touched_bytes));
    }
    fputs("</p>\n", out);
}

/* Lists what the figures do not include. */
static void write_sureness(FILE *out, const stm_render_budget *b)
{
    char bytes[STM_FORMAT_BYTES], tiles[STM_FORMAT_COUNT], samples[STM_FORMAT_COUNT];
    fprintf(out, "<p>%u x %u px, %s a pixel; %s found.", b->width, b->height,
            stm_format_count(b->samples, "sample", samples), stm_format_count(b->tile_count, "tile", tiles));
    if (b->growth < 0.0f && b->scene_samples != 1)
        fputs(" One sample does not show how many tiles further ones would find.", out);
    if (b->missing_tiles)
        fprintf(out, " Further samples are expected to find about %s more (%s).",
                stm_format_count(b->missing_tiles, "tile", tiles), stm_format_bytes(b->missing_bytes, bytes));
    if (b->map_columns)
        fprintf(out, " Before the first ray, Cycles loads another %s of the world's image to sample its light.",
                stm_format_bytes(b->map_extra_bytes, bytes));
    fputs("</p>\n", out);
}

/* ---- tables ---- */

static void write_render_tiles(FILE *out, const stm_render_budget *b)
{
    char once[STM_FORMAT_BYTES], loaded[STM_FORMAT_BYTES];
    fputs("<h2>Render tiles</h2>\n<table><tr><th>Render tile</th><th>At once</th><th>Loaded</th></tr>\n", out);
    for (uint32_t i = 0; i < STM_BUDGET_TILES; i++) {
        if (b->tile_px[i])
            fprintf(out, "<tr><td>%u px", b->tile_px[i]);
        else
            fputs("<tr><td>none", out);
        fprintf(out, "</td><td>%s</td><td>%s</td></tr>\n", stm_format_bytes(b->tile_peak[i], once),
                stm_format_bytes(b->tile_loaded[i], loaded));
    }
    fputs("</table>\n", out);
}

static void write_resolutions(FILE *out, const stm_render_budget *b)
{
    char once[STM_FORMAT_BYTES], used[STM_FORMAT_BYTES];
    fputs("<h2>All textures at a lower resolution</h2>\n<table><tr><th>Resolution</th><th>At "
          "once</th><th>Used</th></tr>\n",
          out);
    for (uint32_t i = 0; i < STM_BUDGET_RESOLUTIONS; i++)
        fprintf(out, "<tr><td>%.4g %%</td><td>%s</td><td>%s</td></tr>\n", 100.0 * (double)b->resolution[i],
                stm_format_bytes(b->resolution_peak[i], once), stm_format_bytes(b->resolution_bytes[i], used));
    fputs("</table>\n", out);
}

/* Bars are relative to the largest texture; the bright end of each is the saving at half the size. */
static void write_bar(FILE *out, const texture *t, uint64_t most)
{
    const double width = percent(t->use->used_bytes, most), kept = percent(t->use->used_bytes - t->saved, most);
    fprintf(
        out,
        "<svg class=\"bar\" viewBox=\"0 0 100 1\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
        "<rect width=\"%.2f\" height=\"1\" fill=\"#56b4e9\" fill-opacity=\"0.5\"/><rect width=\"%.2f\" height=\"1\" "
        "fill=\"#0072b2\"/></svg>",
        width, kept);
}

static void write_textures(FILE *out, const texture *textures, size_t count)
{
    char used[STM_FORMAT_BYTES], all[STM_FORMAT_BYTES], saved[STM_FORMAT_BYTES];
    if (!count)
        return;
    fputs("<h2>Textures</h2>\n<p>The largest first. The light part of a bar is what the texture would save at half its "
          "width and height.</p>\n<table><tr><th>Image</th><th>Size</th><th>Used</th><th>Of</th><th></th><th>Saved by "
          "halving it</th></tr>\n",
          out);
    for (size_t i = 0; i < count; i++) {
        const stm_render_image_use *u = textures[i].use;
        fputs("<tr><td>", out);
        stm_html_text(out, u->path);
        fprintf(out, "</td><td>%u x %u</td><td>%s</td><td>%s</td><td>", u->width, u->height,
                stm_format_bytes(u->used_bytes, used), stm_format_bytes(u->virtual_bytes, all));
        write_bar(out, &textures[i], textures[0].use->used_bytes);
        fprintf(out, "</td><td>%s (%.3g %%)</td></tr>\n", stm_format_bytes(textures[i].saved, saved),
                percent(textures[i].saved, u->used_bytes));
    }
    fputs("</table>\n", out);
}

static txm_status write_budget(FILE *out, const void *data, txm_error *err)
{
    const budget_page *page = data;
    texture *textures = sorted(page->budget);
    if (!textures)
        return stm_no_memory(err, NULL);
    write_verdict(out, page, textures);
    write_sureness(out, page->budget);
    write_textures(out, textures, page->budget->image_count);
    write_render_tiles(out, page->budget);
    write_resolutions(out, page->budget);
    free(textures);
    return TXM_OK;
}

txm_status stm_stream_budget_page(const char *path, const char *scene, const stm_render_options *options,
                                  const stm_render_budget *budget, txm_error *err)
{
    const budget_page page = {options, budget};
    return stm_stream_write_page(path, scene, write_budget, &page, err);
}
