/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of a play: the last picture, the five pictures side by side, and plotted over the frames their time,
 * requests, tiles loaded and evicted, and sharpness. It is one file without scripts; the values of each curve are in a
 * title.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/html.h"
#include "cli/say.h"
#include "command/play.h"
#include "command/stream_args.h"

enum { WIDTH = 760, HEIGHT = 240, LEFT = 86, RIGHT = 740, TOP = 40, BOTTOM = 200, MOST_POINTS = 600 };

typedef struct curve {
    const char *name, *color, *dashes;
    double (*value)(const stm_frame_stats *s);
} curve;

typedef struct plot {
    const char *title, *unit;
    curve curves[4];
    double most; /* end of the axis; 0: the largest value */
} plot;

/* ---- what is drawn ---- */

static double value_of_ms(const stm_frame_stats *s)
{
    return s->ms;
}

static double value_of_requested(const stm_frame_stats *s)
{
    return (double)s->requested;
}

static double value_of_accepted(const stm_frame_stats *s)
{
    return (double)s->accepted;
}

static double value_of_unique(const stm_frame_stats *s)
{
    return (double)s->unique;
}

static double value_of_loaded(const stm_frame_stats *s)
{
    return (double)s->loaded;
}

static double value_of_shown(const stm_frame_stats *s)
{
    return (double)s->shown;
}

static double value_of_evicted(const stm_frame_stats *s)
{
    return (double)s->evicted;
}

static double value_of_sharpness(const stm_frame_stats *s)
{
    return s->texels ? 100.0 * (double)s->sharp / (double)s->texels : 100.0;
}

static double value_of_memory(const stm_frame_stats *s)
{
    return 1e-6 * (double)s->resident_bytes;
}

static const plot plots[] = {
    {"Time of a frame", "ms", {{"time", "#0072b2", "none", value_of_ms}}, 0.0},
    {"Sharpness: texels in memory", "%", {{"sharp", "#009e73", "none", value_of_sharpness}}, 100.0},
    {"Requests",
     "requests",
     {{"requested", "#d55e00", "none", value_of_requested},
      {"accepted", "#0072b2", "7 3", value_of_accepted},
      {"unique", "#009e73", "2 3", value_of_unique}},
     0.0},
    {"Tiles",
     "tiles",
     {{"loaded", "#0072b2", "none", value_of_loaded},
      {"evicted", "#d55e00", "7 3", value_of_evicted},
      {"shown", "#009e73", "2 3", value_of_shown}},
     0.0},
    {"Memory of tiles", "MB", {{"memory", "#cc79a7", "none", value_of_memory}}, 0.0},
};

enum { PLOTS = sizeof plots / sizeof *plots, CURVES = sizeof plots->curves / sizeof *plots->curves };

/* ---- a plot ---- */

/* With many frames, each point shows the largest value of several, so that no peak is lost. */
static double point_of(const stm_play_run *run, const curve *c, size_t from, size_t to)
{
    double most = c->value(&run->frames[from]);
    for (size_t i = from + 1; i < to; i++)
        most = fmax(most, c->value(&run->frames[i]));
    return most;
}

static double largest(const stm_play_run *run, const plot *p)
{
    double most = 0.0;
    for (size_t k = 0; k < CURVES && p->curves[k].name; k++)
        most = fmax(most, point_of(run, &p->curves[k], 0, run->frame_count));
    return most > 0.0 ? most : 1.0;
}

static void draw_curve(FILE *out, const stm_play_run *run, const curve *c, size_t nth, double most)
{
    const size_t points = run->frame_count < MOST_POINTS ? run->frame_count : MOST_POINTS;
    double sum = 0.0, peak = 0.0;
    fprintf(out, "<g stroke=\"%s\" fill=\"none\"><polyline stroke-width=\"2\" stroke-dasharray=\"%s\" points=\"",
            c->color, c->dashes);
    for (size_t i = 0; i < points; i++) {
        const size_t from = i * run->frame_count / points, to = (i + 1) * run->frame_count / points;
        const double value = point_of(run, c, from, to > from ? to : from + 1);
        fprintf(out, "%s%.1f,%.1f", i ? " " : "",
                LEFT + (RIGHT - LEFT) * (points > 1 ? (double)i / (double)(points - 1) : 0.5),
                BOTTOM - (BOTTOM - TOP) * fmin(value / most, 1.0));
    }
    for (size_t i = 0; i < run->frame_count; i++) {
        sum += c->value(&run->frames[i]);
        peak = fmax(peak, c->value(&run->frames[i]));
    }
    fprintf(out, "\"><title>%s: %.4g on average, at most %.4g</title></polyline>", c->name,
            sum / (double)run->frame_count, peak);
    fprintf(out, "<line x1=\"%d\" y1=\"18\" x2=\"%d\" y2=\"18\" stroke-width=\"2\" stroke-dasharray=\"%s\"/></g>\n",
            LEFT + 130 * (int)nth, LEFT + 130 * (int)nth + 24, c->dashes);
    fprintf(out, "<text x=\"%d\" y=\"22\">%s</text>\n", LEFT + 130 * (int)nth + 30, c->name);
}

static void draw_axes(FILE *out, const stm_play_run *run, const plot *p, double most)
{
    for (int i = 0; i <= 4; i++) {
        const double y = BOTTOM - (BOTTOM - TOP) * i / 4.0;
        fprintf(out,
                "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"currentColor\" stroke-opacity=\"%s\"/>"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>\n",
                LEFT, y, RIGHT, y, i ? "0.12" : "0.6", LEFT - 8, y + 4, most * i / 4.0);
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", LEFT - 8, TOP - 18, p->unit);
    fprintf(out, "<text x=\"%d\" y=\"%d\">0</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">frame %zu</text>\n", LEFT,
            BOTTOM + 18, RIGHT, BOTTOM + 18, run->frame_count - 1);
}

static void draw_plot(FILE *out, const stm_play_run *run, const plot *p)
{
    const double most = p->most > 0.0 ? p->most : largest(run, p);
    fprintf(
        out,
        "<h2>%s</h2>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" font-size=\"12\" fill=\"currentColor\"><title>%s over "
        "frames</title>\n",
        p->title, WIDTH, HEIGHT, p->title);
    draw_axes(out, run, p, most);
    for (size_t k = 0; k < CURVES && p->curves[k].name; k++)
        draw_curve(out, run, &p->curves[k], k, most);
    fputs("</svg>\n", out);
}

/* ---- the page ---- */

static void write_until(FILE *out, const char *what, uint32_t frames)
{
    if (frames != UINT32_MAX)
        fprintf(out, " %s after %" PRIu32 ".", what, frames + 1);
}

static void write_verdict(FILE *out, const stm_play_run *run)
{
    const stm_frames_totals *t = &run->totals;
    char frames[STM_FORMAT_COUNT], samples[STM_FORMAT_COUNT];
    fprintf(out, "<p class=\"verdict\">%s%s of %.2f ms on average; the longest took %.2f times the median.",
            stm_format_count(t->frames, "frame", frames), run->stopped ? ", then it was stopped," : "",
            t->ms / t->frames, t->median_ms > 0.0 ? t->longest_ms / t->median_ms : 1.0);
    if (run->options->textures == STM_FRAMES_STREAMED) {
        fputs(" Since the last cut:", out);
        write_until(out, "half of the texels were in memory", t->until_half);
        write_until(out, "95 % were in memory", t->until_most);
        write_until(out, "all were in memory", t->until_all);
        if (t->until_half == UINT32_MAX)
            fputs(" half of the texels were never in memory.", out);
    }
    fprintf(out, "</p>\n<p>%u x %u px, %s a frame, time %s; a list of %u requests, waves of %u lanes; ", run->width,
            run->height, stm_format_count(run->options->render.samples, "sample", samples),
            run->options->is_virtual ? "by costs" : "measured", run->options->requests, run->options->wave);
    fprintf(out,
            "%" PRIu64 " tiles loaded, %" PRIu64 " of them again, %" PRIu64 " evicted, %" PRIu64
            " could not be read.</p>\n",
            t->loaded, t->reloaded, t->evicted, t->load_failures);
}

static txm_status write_play(FILE *out, const void *data, txm_error *err)
{
    const stm_play_run *run = data;
    if (!run->frame_count) {
        fputs("<p class=\"verdict\">It was stopped before the first frame was complete.</p>\n", out);
        return TXM_OK;
    }
    write_verdict(out, run);
    txm_status status =
        stm_stream_figure(out, run->rgb, run->width, run->height, "The picture after the last frame", err);
    if (status == TXM_OK && run->strip_width)
        status = stm_stream_figure(out, run->strip, run->strip_width, run->strip_height,
                                   "From the left: untextured; a single colour per texture, which is all that fits "
                                   "without streaming; streamed after 1, 8 and 64 frames",
                                   err);
    for (size_t i = 0; status == TXM_OK && i < PLOTS; i++)
        draw_plot(out, run, &plots[i]);
    return status;
}

txm_status stm_play_page(const char *path, const stm_play_run *run, txm_error *err)
{
    return stm_stream_write_page(path, run->scene, write_play, run, err);
}
