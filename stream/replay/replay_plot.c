/* SPDX-License-Identifier: Apache-2.0
 *
 * Draws the table of a replay as a plot of the tiles read by cache size, with the time that they take on the right.
 *
 * It is SVG, so that it is sharp at any size and can be part of a page. Both axes are logarithmic, because cache sizes
 * are doubled and reads vary widely. There are no scripts or fonts; points have their figures as titles, which
 * browsers show. Coordinates are those of the viewBox, y downwards.
 */
#include <math.h>
#include <stdio.h>

#include "cli/say.h"
#include "replay/replay_table.h"
#include "txmill/out_file.h"

/* The frame of the curves; the room around it is for labels: reads on the left, seconds on the right, sizes below,
 * policies above. */
enum { WIDTH = 760, HEIGHT = 420, LEFT = 86, RIGHT = 664, TOP = 48, BOTTOM = 356 };

typedef struct stroke {
    const char *color, *dashes;
} stroke;

/* The lowest and highest logarithms that are shown. */
typedef struct scale {
    double low, high;
} scale;

/* A single value, such as a single size, is drawn in the middle. */
static double place_on_axis(scale s, double value, double from, double to)
{
    return s.high > s.low ? from + (log2(value) - s.low) / (s.high - s.low) * (to - from) : (from + to) / 2;
}

/* Twelve units inside the frame, so that points at the ends are not cut off. */
static double x_of(scale s, uint64_t bytes)
{
    return place_on_axis(s, (double)bytes, LEFT + 12, RIGHT - 12);
}

/* Zero reads have no logarithm; they are drawn at the bottom, like one. */
static double y_of(scale s, double reads)
{
    return place_on_axis(s, reads < 1.0 ? 1.0 : reads, BOTTOM, TOP);
}

/* `anchor` says which end of the text is at x. The words are of this program, and need no escapes. */
static void text(FILE *out, double x, double y, const char *anchor, const char *words)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    fputs(words, out);
    fputs("</text>\n", out);
}

/* The lines have the colour of the surrounding text, but fainter, for light and dark pages. */
static void line(FILE *out, double x0, double y0, double x1, double y1, const char *opacity)
{
    fprintf(out,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"currentColor\" stroke-opacity=\"%s\"/>\n",
            x0, y0, x1, y1, opacity);
}

/* ---- axes ---- */

/* Time is the number of reads times the time of one, so the same lines serve both sides. If that time is unknown,
 * the right side is empty. */
static void draw_reads(FILE *out, const stm_replay_table *t, scale y)
{
    const double read = t->request.read_seconds;
    const int steps = y.high - y.low < 4 ? 1 : 0; /* 1, 2, 5, 10 ... on a short axis, else 1, 10, 100 ... */
    static const double of_ten[] = {1, 2, 5};
    char words[32];
    for (double ten = pow(10, floor(y.low * log10(2))); ten <= exp2(y.high); ten *= 10)
        for (int k = 0; k < (steps ? 3 : 1); k++) {
            double reads = ten * of_ten[k], at = y_of(y, reads), seconds = reads * read;
            if (log2(reads) < y.low - 1e-9 || log2(reads) > y.high + 1e-9)
                continue;
            line(out, LEFT, at, RIGHT, at, "0.12");
            snprintf(words, sizeof words, "%.0f", reads);
            text(out, LEFT - 8, at + 4, "end", words);
            snprintf(words, sizeof words, seconds < 1 ? "%.3g ms" : "%.3g s", seconds < 1 ? 1e3 * seconds : seconds);
            if (read > 0)
                text(out, RIGHT + 8, at + 4, "start", words);
        }
    text(out, LEFT - 8, TOP - 16, "end", "tiles read");
    if (read > 0)
        text(out, RIGHT + 8, TOP - 16, "start", "time");
    line(out, LEFT, TOP, LEFT, BOTTOM, "0.6");
    line(out, LEFT, BOTTOM, RIGHT, BOTTOM, "0.6");
}

/* ---- curves ---- */

/* The curve, its points, and its key above the frame, 84 units per policy. */
static void draw_policy(FILE *out, const stm_replay_table *t, size_t policy, scale x, scale y)
{
    const uint32_t which = t->request.policies[policy];
    /* In the order of the policies, and the optimum; they differ by dashes as well, for people who do not see all
     * colours. With more policies than these, some look alike. */
    static const stroke optimum = {"#cc79a7", "10 4 2 4"};
    static const stroke others[] = {
        {"#009e73", "none"}, {"#0072b2", "none"}, {"#d55e00", "7 3"}, {"#999999", "2 3"}, {"#e69f00", "12 3"}};
    const stroke how = which == TXM_REPLAY_OPT ? optimum : others[which % (sizeof others / sizeof *others)];
    fprintf(
        out,
        "<g stroke=\"%s\" fill=\"%s\">\n<polyline fill=\"none\" stroke-width=\"2\" stroke-dasharray=\"%s\" points=\"",
        how.color, how.color, how.dashes);
    for (size_t i = 0; i < t->request.size_count; i++)
        fprintf(out, "%s%.1f,%.1f", i ? " " : "", x_of(x, t->request.sizes[i]),
                y_of(y, (double)stm_replay_counts_at(t, i, policy)->reads));
    fputs("\"/>\n", out);
    for (size_t i = 0; i < t->request.size_count; i++) {
        const txm_replay_counts *c = stm_replay_counts_at(t, i, policy);
        char size[STM_REPLAY_SIZE_TEXT], tiles[STM_FORMAT_COUNT];
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s, %s: %s read, %.3g s</title></circle>\n",
                x_of(x, t->request.sizes[i]), y_of(y, (double)c->reads), stm_replay_policy_name(which),
                stm_replay_size_text(t->request.sizes[i], size), stm_format_count(c->reads, "tile", tiles),
                stm_replay_seconds(t, c));
    }
    double at = LEFT + 120 + 84 * (double)policy;
    fprintf(out,
            "<line x1=\"%.0f\" y1=\"%d\" x2=\"%.0f\" y2=\"%d\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n</g>\n",
            at, TOP - 20, at + 30, TOP - 20, how.dashes);
    text(out, at + 36, TOP - 16, "start", stm_replay_policy_name(which));
}

/* A separate file needs a name space, a background and a colour; a part of a page gets them from the page. */
void stm_replay_plot(FILE *out, const stm_replay_table *t, int alone)
{
    scale x = {1e9, -1e9}, y = {1e9, -1e9};
    for (size_t i = 0; i < t->request.size_count; i++) {
        double size = log2((double)t->request.sizes[i]);
        x = (scale){fmin(x.low, size), fmax(x.high, size)};
        for (size_t k = 0; k < t->request.policy_count; k++) {
            double reads = log2(fmax(1.0, (double)stm_replay_counts_at(t, i, k)->reads));
            y = (scale){fmin(y.low, reads), fmax(y.high, reads)};
        }
    }
    /* The lowest value is all tiles read once; there is some room around the curves. */
    y = (scale){fmax(0.0, y.low - 0.15), y.high + 0.15};
    if (alone)
        fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- made by txmill, " TXM_OUT_FILE_SEAL " -->\n", out);
    fprintf(out,
            "<svg %sviewBox=\"0 0 %d %d\" role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"13\" "
            "fill=\"currentColor\"%s>\n<title>Tiles read by cache size</title>\n",
            alone ? "xmlns=\"http://www.w3.org/2000/svg\" " : "", WIDTH, HEIGHT, alone ? " color=\"#222\"" : "");
    if (alone)
        fprintf(out, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", WIDTH, HEIGHT);
    if (t->info->partial)
        text(out, (LEFT + RIGHT) / 2, TOP + 4, "middle", "partial: the render was not finished");
    draw_reads(out, t, y);
    /* A line for each simulated size, not at round numbers. */
    char bytes[STM_REPLAY_SIZE_TEXT];
    double last = -1e9;
    for (size_t i = 0; i < t->request.size_count; i++) {
        double at = x_of(x, t->request.sizes[i]);
        line(out, at, TOP, at, BOTTOM, "0.12");
        if (at - last < 44) /* no room for its name */
            continue;
        text(out, at, BOTTOM + 18, "middle", stm_replay_size_text(t->request.sizes[i], bytes));
        last = at;
    }
    text(out, (LEFT + RIGHT) / 2, BOTTOM + 42, "middle", "cache size");
    for (size_t k = 0; k < t->request.policy_count; k++)
        draw_policy(out, t, k, x, y);
    fputs("</svg>\n", out);
}
