/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports the cost of frames as text and as JSON. Tile keys are strings of 16 hexadecimal digits, because 64-bit
 * numbers are not exact in JSON.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"
#include "cli/json.h"
#include "cli/say.h"
#include "cli/settings.h"
#include "command/play.h"
#include "command/stream_args.h"

static double percent(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 100.0;
}

/* ---- text ---- */

static void print_until(const char *share, uint32_t frames)
{
    if (frames == UINT32_MAX)
        printf("%s never", share);
    else
        printf("%s %" PRIu32, share, frames + 1);
}

void stm_play_print(const stm_play_run *run)
{
    const stm_frames_totals *t = &run->totals;
    const stm_frame_stats *last = run->frame_count ? &run->frames[run->frame_count - 1] : NULL;
    char frames[STM_FORMAT_COUNT], samples[STM_FORMAT_COUNT], held[STM_FORMAT_BYTES];
    printf("%s: %u x %u px, %s of %s%s%s\n", run->scene, run->width, run->height,
           stm_format_count(t->frames, "frame", frames),
           stm_format_count(run->options->render.samples, "sample", samples),
           run->options->is_virtual ? ", in virtual time" : "", run->stopped ? ", stopped" : "");
    if (!last)
        return;
    printf("frames       %.2f ms on average, median %.2f, 99 of 100 within %.2f, longest %.2f, %.2f times the median\n",
           t->ms / t->frames, t->median_ms, t->within_ms, t->longest_ms,
           t->median_ms > 0.0 ? t->longest_ms / t->median_ms : 1.0);
    if (!run->options->is_virtual)
        printf("processors   %.2f ms a frame that trace, %.2f that load", t->trace_cpu_ms / t->frames,
               t->load_cpu_ms / t->frames);
    if (!run->options->is_virtual && t->untextured_cpu_ms > 0.0)
        printf("; %.2f without textures, so frames cost %.3f times as much, %.3f with loading",
               t->untextured_cpu_ms / t->frames, t->trace_cpu_ms / t->untextured_cpu_ms,
               (t->trace_cpu_ms + t->load_cpu_ms) / t->untextured_cpu_ms);
    if (!run->options->is_virtual)
        putchar('\n');
    if (run->options->textures == STM_FRAMES_STREAMED) {
        printf("sharp        %.2f %% of texels, in the last frame %.2f %%; frames since the last cut until ",
               percent(t->sharp, t->texels), percent(last->sharp, last->texels));
        print_until("50 %:", t->until_half);
        print_until(", 95 %:", t->until_most);
        print_until(", all:", t->until_all);
        putchar('\n');
        printf("requests     %" PRIu64 " lookups of a lane missed, %" PRIu64 " written, %" PRIu64 " rejected, %" PRIu64
               " beyond the list, %" PRIu64 " accepted, %" PRIu64 " different\n",
               t->missed, t->requested, t->rejected, t->full, t->accepted, t->unique);
        printf("tiles        %" PRIu64 " loaded in batches (%" PRIu32 "), %" PRIu64 " of them again; %" PRIu64
               " evicted, %" PRIu64 " left for later, %" PRIu64 " failed\n",
               t->loaded, t->batches, t->reloaded, t->evicted, t->cut, t->load_failures);
        printf("memory       %s of tiles\n", stm_format_bytes(last->resident_bytes, held));
    }
    stm_stream_print_devices(run->devices, run->device_count, 13);
}

/* ---- JSON ---- */

/* Processor time, which virtual time leaves out because it differs from run to run. */
static void json_cpu(cJSON *o, const stm_frames_options *f, double trace, double load, double untextured)
{
    if (f->is_virtual)
        return;
    stm_json_number(o, "trace_cpu_ms", trace, 6);
    stm_json_number(o, "load_cpu_ms", load, 6);
    if (f->compares)
        stm_json_number(o, "untextured_cpu_ms", untextured, 6);
}

/* null: not reached. */
static void json_until(cJSON *o, const char *name, uint32_t frames)
{
    if (frames == UINT32_MAX)
        stm_json_text(o, name, NULL);
    else
        stm_json_uint(o, name, frames + 1);
}

static void json_totals(cJSON *object, const stm_play_run *run)
{
    const stm_frames_totals *t = &run->totals;
    const stm_count counts[] = {{"frames", t->frames},
                                {"rays", t->rays},
                                {"texels", t->texels},
                                {"sharp", t->sharp},
                                {"missed", t->missed},
                                {"requested", t->requested},
                                {"rejected", t->rejected},
                                {"full", t->full},
                                {"accepted", t->accepted},
                                {"unique", t->unique},
                                {"batches", t->batches},
                                {"cut", t->cut},
                                {"shown", t->shown},
                                {"loaded", t->loaded},
                                {"reloaded", t->reloaded},
                                {"evicted", t->evicted},
                                {"load_failures", t->load_failures}};
    cJSON *o = stm_json_object(object, "totals");
    stm_json_counts(o, counts, sizeof counts / sizeof *counts);
    stm_json_number(o, "ms", t->ms, 6);
    stm_json_number(o, "longest_ms", t->longest_ms, 6);
    stm_json_number(o, "median_ms", t->median_ms, 6);
    stm_json_number(o, "within_ms", t->within_ms, 6);
    json_cpu(o, run->options, t->trace_cpu_ms, t->load_cpu_ms, t->untextured_cpu_ms);
    json_until(o, "frames_until_half", t->until_half);
    json_until(o, "frames_until_most", t->until_most);
    json_until(o, "frames_until_all", t->until_all);
}

static void json_options(cJSON *object, const stm_frames_options *f)
{
    cJSON *o = stm_json_object(object, "options");
    stm_json_text(o, "texturing", stm_frames_textures_name((stm_frames_textures)f->textures));
    stm_json_text(o, "show", stm_frames_show_name((stm_frames_show)f->show));
    stm_json_text(o, "sampling", stm_frames_filter_name((stm_frames_filter)f->filter));
    stm_json_text(o, "reject", stm_frames_reject_name((stm_frames_reject)f->reject));
    stm_json_uint(o, "requests", f->requests);
    stm_json_uint(o, "wave", f->wave);
    stm_json_uint(o, "batch", f->batch);
    stm_json_uint(o, "cache_bytes", f->render.cache->max_bytes);
    stm_json_text(o, "policy", txm_cache_policy_name((txm_cache_policy)f->render.cache->policy));
    stm_json_bool(o, "virtual", f->is_virtual);
    if (!f->is_virtual)
        return;
    cJSON *costs = stm_json_object(o, "prices");
    stm_json_number(costs, "frame_ms", f->cost_model.frame_ms, 6);
    stm_json_number(costs, "tile_ms", f->cost_model.tile_ms, 6);
    stm_json_number(costs, "texel_ns", f->cost_model.texel_ns, 6);
    stm_json_number(costs, "request_ns", f->cost_model.request_ns, 6);
    stm_json_number(costs, "latency_ms", f->cost_model.latency_ms, 6);
}

static void json_frame_at(cJSON *frame, const stm_play_run *run, size_t i)
{
    const stm_frame_stats *s = &run->frames[i];
    const stm_count counts[] = {{"frame", s->number},
                                {"accumulated", s->accumulated},
                                {"rays", s->rays},
                                {"texels", s->texels},
                                {"sharp", s->sharp},
                                {"coarser", s->coarser},
                                {"stand_ins", s->stand_ins},
                                {"failed", s->failed},
                                {"missed", s->missed},
                                {"requested", s->requested},
                                {"rejected", s->rejected},
                                {"full", s->full},
                                {"accepted", s->accepted},
                                {"unique", s->unique},
                                {"batch", s->batch},
                                {"cut", s->cut},
                                {"shown", s->shown},
                                {"waited", s->waited},
                                {"loaded", s->loaded},
                                {"evicted", s->evicted},
                                {"load_failures", s->load_failures},
                                {"resident_tiles", s->resident_tiles},
                                {"resident_bytes", s->resident_bytes},
                                {"allocated_bytes", s->allocated_bytes}};
    stm_json_counts(frame, counts, sizeof counts / sizeof *counts);
    stm_json_number(frame, "begin_ms", s->begin_ms, 6);
    stm_json_number(frame, "ms", s->ms, 6);
    stm_json_bool(frame, "busy", s->busy);
    stm_json_bool(frame, "marks", s->marks);
    json_cpu(frame, run->options, s->trace_cpu_ms, s->load_cpu_ms, s->untextured_cpu_ms);
    const txm_tile_key *keys = run->keys ? run->keys + i * run->args->keys : NULL;
    cJSON *list = stm_json_array(frame, "keys");
    for (uint32_t k = 0; k < run->args->keys && keys[k]; k++) {
        char text[17];
        snprintf(text, sizeof text, "%016" PRIx64, keys[k]);
        stm_json_append_text(list, text);
    }
}

/* The text of a frame without memory makes the whole report fail. */
void stm_play_add_json(stm_play_run *run)
{
    cJSON *frame = cJSON_CreateObject();
    json_frame_at(frame, run, run->frame_count - 1);
    char *text = stm_json_take(frame);
    if (run->frame_count > 1)
        stm_bytes_puts(&run->frames_json, ",");
    if (text)
        stm_bytes_puts(&run->frames_json, text);
    else
        run->frames_json.failed = true;
    free(text);
}

/* In virtual time nothing in the report depends on the machine, so the real loading times are left out. */
cJSON *stm_play_json(const stm_play_run *run)
{
    cJSON *o = stm_json_new("txmill.stream");
    stm_json_text(o, "action", run->action);
    stm_json_text(o, "scene", run->scene);
    stm_json_uint(o, "width", run->width);
    stm_json_uint(o, "height", run->height);
    stm_json_uint(o, "samples", run->options->render.samples);
    stm_json_uint(o, "bounces", run->options->render.bounces);
    stm_json_text(o, "path", run->path);
    stm_json_bool(o, "stopped", run->stopped);
    stm_settings_json(o);
    json_options(o, run->options);
    json_totals(o, run);
    if (run->frames_json.size) {
        char *all = run->frames_json.failed ? NULL : stm_asprintf("[%s]", run->frames_json.data);
        stm_json_raw(o, "frames", all);
        free(all);
    } else {
        cJSON *frames = stm_json_array(o, "frames");
        for (size_t i = 0; i < run->frame_count; i++)
            json_frame_at(stm_json_append(frames), run, i);
    }
    cJSON *list = stm_json_array(o, "images");
    for (size_t i = 0; i < run->image_count; i++) {
        const stm_render_image_cost *c = &run->costs[i];
        cJSON *image = stm_json_append(list);
        stm_json_text(image, "image", run->images[i]);
        stm_json_uint(image, "loads", c->loads);
        stm_json_uint(image, "reloads", c->reloads);
        stm_json_uint(image, "loaded_bytes", c->loaded_bytes);
        stm_json_uint(image, "failures", c->failures);
        stm_json_text(image, "failure", c->failures ? c->message : NULL);
        stm_json_settle(list, image);
    }
    stm_stream_json_devices(o, run->devices, run->device_count);
    return o;
}
