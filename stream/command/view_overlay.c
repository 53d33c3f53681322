/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the text of a view's overlay line by line; the window draws it.
 */
#include "command/view_overlay.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/say.h"

void stm_view_overlay_note(stm_view_overlay *o, double seconds)
{
    const double share = 1.0 / 16.0;
    if (o->seconds_a_frame <= 0.0 || seconds > 1.0)
        o->seconds_a_frame = seconds < 1.0 ? seconds : 0.0;
    else
        o->seconds_a_frame += share * (seconds - o->seconds_a_frame);
}

/* The window's font is ASCII only. */
static void add_line(stm_view_lines *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_line(stm_view_lines *l, const char *format, ...)
{
    if (l->count == STM_VIEW_LINES)
        return;
    char *line = l->written[l->count];
    va_list list;
    va_start(list, format);
    vsnprintf(line, STM_VIEW_LINE, format, list);
    va_end(list);
    for (char *c = line; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    l->text[l->count++] = line;
}

static void add_textures(const stm_view_result *r, stm_view_lines *l)
{
    const stm_frame_stats *s = &r->frame;
    char held[STM_FORMAT_BYTES], budget[STM_FORMAT_BYTES];
    if (r->request.textures != STM_FRAMES_STREAMED) {
        add_line(l, "%s", r->request.textures == STM_FRAMES_COARSEST ? "one colour per texture" : "no textures");
        return;
    }
    const double sharp = s->texels ? 100.0 * (double)s->sharp / (double)s->texels : 100.0;
    stm_format_bytes(s->resident_bytes, held);
    add_line(l, "sharp %.0f %%, %s%s%s", sharp < 99.5 || sharp >= 100.0 ? sharp : 99.0, held,
             r->request.budget ? " of " : "", r->request.budget ? stm_format_bytes(r->request.budget, budget) : "");
    if (r->request.resolution < 1.0f)
        add_line(l, "textures at %g %% of their size", (double)r->request.resolution * 100.0);
    if (r->request.show != STM_FRAMES_SHOW_PICTURE)
        add_line(l, "%s", r->request.show == STM_FRAMES_SHOW_MISSING ? "magenta: not loaded yet" : "colours: levels");
    if (s->failed)
        add_line(l, "some files cannot be read: %" PRIu64 " texels", s->failed);
}

void stm_view_overlay_write(const stm_view_overlay *o, const stm_view_result *last, float speed, bool is_paused,
                            stm_view_lines *l)
{
    l->count = 0;
    if (!last) {
        add_line(l, "opening the scene");
        return;
    }
    if (!o->is_hidden) {
        const double rate = o->seconds_a_frame > 0.0 ? 1.0 / o->seconds_a_frame : 0.0;
        char state[32] = "direct light";
        if (!last->request.direct)
            snprintf(state, sizeof state, "frame %u", last->frame.accumulated);
        add_line(l, "%.0f frames/s, %u x %u px, %s%s", rate, last->width, last->height, state,
                 is_paused ? ", paused" : "");
        add_textures(last, l);
        add_line(l, "%.2g m/s%s", (double)speed, o->with_keys ? "" : "; F1 keys, H hides this");
    }
    if (o->with_keys) {
        /* What only those who know the cache look for. */
        add_line(l, "%.1f ms; %s; requests %" PRIu64 " of %u tiles, %u load", last->frame.ms,
                 txm_cache_policy_name((txm_cache_policy)last->request.policy), last->frame.requested,
                 (unsigned)last->frame.unique, last->frame.batch);
        static const char *const keys[] = {"W A S D, arrows  fly; E Q  up and down",
                                           "left button      look round; wheel  speed",
                                           "Home             back to the start",
                                           "- +              budget half, double",
                                           "R P T            resolution, policy, textures",
                                           "M L              missing texels, levels",
                                           "Space            pause",
                                           "F12              screenshot",
                                           "H F1             this text, these keys",
                                           "Esc              end"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            add_line(l, "%s", keys[i]);
    }
    if (o->message_until > 0.0)
        add_line(l, "%s", o->message);
}
