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

static void add_frame(const stm_view_overlay *o, const stm_view_result *r, bool is_paused, stm_view_lines *l)
{
    const double rate = o->seconds_a_frame > 0.0 ? 1.0 / o->seconds_a_frame : 0.0;
    char state[32] = "direct light";
    if (!r->request.direct)
        snprintf(state, sizeof state, "frame %u", r->frame.accumulated);
    add_line(l, "%.1f ms, %.0f frames/s, %u x %u px, %s%s", r->frame.ms, rate, r->width, r->height, state,
             is_paused ? ", paused" : "");
}

static void add_textures(const stm_view_result *r, stm_view_lines *l)
{
    const stm_frame_stats *s = &r->frame;
    if (r->request.textures != STM_FRAMES_STREAMED) {
        add_line(l, "%s", r->request.textures == STM_FRAMES_COARSEST ? "one colour per texture" : "no textures");
        return;
    }
    const double sharp = s->texels ? 100.0 * (double)s->sharp / (double)s->texels : 100.0;
    add_line(l, "requests %" PRIu64 " of %" PRIu64 " tiles, %u load", s->requested, s->unique, s->batch);
    add_line(l, "sharp %.1f %% of texels%s", sharp,
             r->request.show == STM_FRAMES_SHOW_MISSING  ? ", missing ones in magenta"
             : r->request.show == STM_FRAMES_SHOW_LEVELS ? ", levels in colours"
                                                         : "");
    if (s->failed)
        add_line(l, "%" PRIu64 " texels of files that cannot be read", s->failed);
}

static void add_keys(stm_view_lines *l)
{
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

void stm_view_overlay_write(const stm_view_overlay *o, const stm_view_result *last, float speed, bool is_paused,
                            stm_view_lines *l)
{
    l->count = 0;
    if (!last) {
        add_line(l, "opening the scene");
        return;
    }
    if (!o->is_hidden) {
        add_frame(o, last, is_paused, l);
        char held[STM_FORMAT_BYTES], budget[STM_FORMAT_BYTES];
        stm_format_bytes(last->frame.resident_bytes, held);
        add_line(l, "textures %s of %s, %s, %g %% resolution", held,
                 last->request.budget ? stm_format_bytes(last->request.budget, budget) : "no bound",
                 txm_cache_policy_name((txm_cache_policy)last->request.policy),
                 (double)last->request.resolution * 100.0);
        add_textures(last, l);
        add_line(l, "%.2g m/s%s", (double)speed, o->with_keys ? "" : "; F1 keys, H hides this");
    }
    if (o->with_keys)
        add_keys(l);
    if (o->message_until > 0.0)
        add_line(l, "%s", o->message);
}
