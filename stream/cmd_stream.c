/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill stream: renders a scene through the texture cache, plays it, or estimates its texture memory.
 *
 * `render` tests the cache with a scene: pictures are the same whatever the budget. `budget` traces the same rays
 * without reading tiles and estimates how much memory textures will need. `play` makes frames that do not wait for
 * textures, `view` shows such frames in a window. All print text, --json or a page (tools/stream); src/stream renders.
 *
 * The order of a run is options, project settings, config, scene, outputs, rays. The names of written files are printed
 * last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/json.h"
#include "cli/say.h"
#include "cli/settings.h"
#include "command/stream_args.h"
#include "command/view.h"
#include "commands.h"
#include "txmill/level.h"
#include "txmill/out_file.h"

static const stm_option_group groups[] = {
    {"Picture", stm_stream_picture_options, 0},
    {"Images of built-in scenes", stm_stream_image_options, 0},
    {"Textures", stm_stream_texture_options, 0},
    {"Engine", stm_stream_engine_options, 0},
    {"Frames", stm_play_options, offsetof(stm_stream_args, play)},
    {"Colour", stm_config_options, offsetof(stm_stream_args, project)},
    {"Scenes", stm_map_options, offsetof(stm_stream_args, project)},
    {"Output", stm_stream_output_options, 0},
    {0},
};

/* In the order of stm_stream_verb. */
static const stm_verb stream_verbs[] = {
    {"render", "Render a scene through the texture cache, and show what its textures cost",
     "stream render room -o picture.png"},
    {"budget", "Estimate how much texture memory a scene needs", "stream budget room wood.png"},
    {"play", "Render frames that do not wait for textures, and measure how they catch up",
     "stream play fly --frames 48 -o last.png"},
    {"view", "Show a scene in a window while its textures load", "stream view shot10"},
    {0},
};

/* Only on a terminal, where the line can be overwritten. The time left assumes that the rest takes as long as what
 * is done, which is too much after the first tiles with a cold cache. */
static void show_samples_done(void *user, uint64_t done, uint64_t all)
{
    const double *begin = user;
    char left[STM_FORMAT_BYTES];
    double seconds = stm_clock_seconds() - *begin;
    if (stm_say_can_animate())
        stm_say_status("%3.0f%%  %.1f of %.1f million samples%s%s%s", 100.0 * (double)done / (double)all,
                       1e-6 * (double)done, 1e-6 * (double)all, done ? ", " : "",
                       done ? stm_format_seconds(seconds * (double)(all - done) / (double)done, left) : "",
                       done ? " left" : "");
}

static void show_phase(const stm_stream_args *a, const char *phase)
{
    if (!a->quiet && stm_say_can_animate())
        stm_say_status("%s", phase);
}

static void say_missing(void *user, const char *message)
{
    (void)user;
    stm_say(STM_SAY_ERROR, "%s", message);
}

/* False colours, scaled to the largest value, which the caption on the page names. */
static txm_status write_heat(const char *path, const float *map, const stm_render_picture *p, txm_error *err)
{
    const size_t count = (size_t)p->width * p->height;
    float *colors = path ? stm_heat_colors(map, count, stm_heat_most(map, count)) : NULL;
    if (path && !colors)
        return stm_no_memory(err, path);
    txm_status status = stm_stream_write_rgb(path, colors, p->width, p->height, err);
    free(colors);
    return status;
}

static void show_replay(size_t done, size_t all)
{
    if (!stm_say_can_animate())
        return;
    if (!all)
        stm_say_status("reading the trace for the page");
    else
        stm_say_status("%3.0f%%  %zu of %zu caches for the page", 100.0 * (double)done / (double)all, done, all);
}

/* If a texture cannot be read, the render goes on, as in Cycles, but is not a success. Returns the kind of the first
 * failure, or TXM_OK. */
static txm_status say_failed(const stm_render_scene *scene, const stm_render_image_cost *costs, size_t count)
{
    txm_status first = TXM_OK;
    for (size_t i = 0; i < count; i++) {
        const stm_render_image_cost *c = &costs[i];
        if (!c->failures)
            continue;
        stm_say(STM_SAY_ERROR, "%s: %llu of its tiles could not be read and %s magenta: %s",
                stm_render_image_path(scene, i), (unsigned long long)c->failures, c->failures == 1 ? "is" : "are",
                c->message);
        first = first ? first : (txm_status)c->failure;
    }
    return first;
}

/* Warnings, because the picture is right in any case. What a plug-in notes is the same for all of its devices. */
static void say_problems(const stm_render_device *devices, size_t count)
{
    const char *note = "";
    for (size_t i = 0; i < count; i++) {
        const stm_render_device *d = &devices[i];
        if (d->stats.lost)
            stm_say(STM_SAY_WARNING, "%s; its work was done by the other devices or by the CPU", d->problem);
        else if (*d->problem && strcmp(d->problem, note) != 0)
            stm_say(STM_SAY_WARNING, "%s: %s", d->name, note = d->problem);
    }
}

/* Pictures are written before anything is printed, so that a failure to write is the result. *damage receives why
 * textures could not be read. */
static txm_status render(const stm_stream_args *a, const char *name, const stm_render_scene *scene,
                         const stm_render_options *o, txm_status *damage, txm_error *err)
{
    stm_render_picture p;
    if (o->trace)
        txm_sweep_beside(o->trace);
    show_phase(a, "preparing the scene");
    txm_status status = stm_render(scene, o, &p, err);
    stm_say_status("%s", "");
    if (status)
        return status;
    show_phase(a, "writing pictures");
    status = stm_stream_write_rgb(a->output, p.rgb, p.width, p.height, err);
    if (status == TXM_OK)
        status = write_heat(a->heat_level, p.level, &p, err);
    if (status == TXM_OK)
        status = write_heat(a->heat_misses, p.misses, &p, err);
    if (status == TXM_OK)
        status = write_heat(a->heat_passes, p.passes, &p, err);
    if (status == TXM_OK && a->heat_tiles) {
        float *rgb = NULL;
        uint32_t width, height;
        status = stm_stream_sheet(&p, &rgb, &width, &height, err);
        if (status == TXM_OK)
            status = stm_stream_write_rgb(a->heat_tiles, rgb, width, height, err);
        free(rgb);
    }
    if (status == TXM_OK && a->html) {
        /* Writes the page; if there is a trace, with what other caches would have read. */
        const stm_replay_request usual = {
            .brief = true, .keep_epochs = o->cache->keep_epochs, .threads = a->settings.threads};
        stm_replay_table table = {0};
        txm_trace *trace = NULL;
        status = a->trace ? txm_trace_open(a->trace, &trace, err) : TXM_OK;
        if (status == TXM_OK && trace)
            status =
                stm_replay_table_make(a->trace, trace, &usual, o->cancel, a->quiet ? NULL : show_replay, &table, err);
        show_phase(a, "writing the page");
        if (status == TXM_OK)
            status = stm_stream_page(a->html, name, o, &p, trace ? &table : NULL, err);
        stm_replay_table_free(&table);
        txm_trace_free(&trace);
    }
    stm_say_status("%s", "");
    if (status == TXM_OK && a->json)
        stm_json_emit(stm_stream_picture_json(name, o, &p));
    else if (status == TXM_OK && !a->quiet)
        stm_stream_print_picture(name, o, &p);
    if (status == TXM_OK)
        *damage = say_failed(scene, p.costs, p.image_count);
    say_problems(p.devices, p.device_count);
    stm_render_picture_clear(&p);
    return status;
}

/* The list of tiles is for other programs, for prefetching or to size a proxy. */
static txm_status budget(const stm_stream_args *a, const char *name, const stm_render_scene *scene,
                         const stm_render_options *o, txm_error *err)
{
    stm_render_budget b;
    show_phase(a, "preparing the scene");
    txm_status status = stm_render_budget_of(scene, o, &b, err);
    stm_say_status("%s", "");
    if (status)
        return status;
    if (a->tiles)
        status = stm_stream_tiles(a->tiles, &b, err);
    if (status == TXM_OK && a->html)
        status = stm_stream_budget_page(a->html, name, o, &b, err);
    if (status == TXM_OK && a->json)
        stm_json_emit(stm_stream_budget_json(name, &b));
    else if (status == TXM_OK && !a->quiet)
        stm_stream_print_budget(name, &b);
    stm_render_budget_clear(&b);
    return status;
}

static void show_frames(size_t done, size_t all)
{
    if (stm_say_can_animate())
        stm_say_status("%3.0f%%  frame %zu of %zu", 100.0 * (double)done / (double)all, done, all);
}

/* If the run is stopped, the frames that were complete are written, and the result is that it was stopped. */
static txm_status play(const stm_stream_args *a, stm_stream_verb verb, const char *name, const stm_render_scene *scene,
                       const stm_render_options *o, txm_status *damage, txm_error *err)
{
    stm_play_run run;
    stm_frames_options how;
    txm_cache_options unused;
    txm_error stopped = {0}, own = {0};
    stm_frames_options_init(&how, &unused);
    how.render = *o;
    how.render.samples = a->samples ? a->samples : 1;
    how.render.mode = a->mode == STM_STREAM_NOT_GIVEN ? TXM_LEVEL_MODE_TRILINEAR : o->mode;
    how.render.threads = a->settings.threads;
    stm_play_options_of(&a->play, &how);
    if (a->untextured)
        how.textures = STM_FRAMES_UNTEXTURED;
    show_phase(a, "preparing the scene");
    stm_signals_publish();
    stm_play_args frames = a->play;
    frames.json = a->json;
    txm_status status = verb == STM_STREAM_VIEW
                            ? stm_stream_view(name, scene, &a->play, &how, &run, &stopped)
                            : stm_play(name, scene, &frames, &how, a->quiet ? NULL : show_frames, &run, &stopped);
    const bool complete = status == TXM_OK;
    stm_say_status("%s", "");
    if (!complete && !run.stopped) {
        stm_play_clear(&run);
        return stm_fail_as(err, &stopped);
    }
    status = run.frame_count ? stm_stream_write_rgb(a->output, run.rgb, run.width, run.height, &own) : TXM_OK;
    if (status == TXM_OK && run.strip_width)
        status = stm_stream_write_rgb(a->play.strip, run.strip, run.strip_width, run.strip_height, &own);
    if (status == TXM_OK && a->html)
        status = stm_play_page(a->html, &run, &own);
    if (status == TXM_OK && a->json)
        stm_json_emit(stm_play_json(&run));
    else if (status == TXM_OK && !a->quiet)
        stm_play_print(&run);
    if (status == TXM_OK)
        *damage = say_failed(scene, run.costs, run.image_count);
    say_problems(run.devices, run.device_count);
    stm_play_clear(&run);
    return status != TXM_OK ? stm_fail_as(err, &own) : complete ? TXM_OK : stm_fail_as(err, &stopped);
}

/* The first operand is a verb, which determines the rest. */
static txm_status check_operands(const stm_stream_args *a, const stm_operands *operands, stm_stream_verb *verb,
                                 txm_error *err)
{
    static const struct {
        const char *word;
        stm_stream_verb verb;
    } verbs[] = {{"render", STM_STREAM_RENDER},
                 {"budget", STM_STREAM_BUDGET},
                 {"play", STM_STREAM_PLAY},
                 {"view", STM_STREAM_VIEW}};
    const char *what = operands->count ? operands->items[0] : "";
    txm_status status = TXM_OK;
    *verb = 0;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(what, verbs[i].word) == 0)
            *verb = verbs[i].verb;
    if (!*verb)
        return stm_fail(err, TXM_STATUS_USAGE,
                        "%s: unknown verb; use 'txmill stream render SCENE', or budget, play or view in place of "
                        "render",
                        *what ? what : "nothing to do");
    if (operands->count < 2)
        return stm_fail(
            err, TXM_STATUS_USAGE,
            "no scene given: give a folder with scene.txt, or one of plane, room, grid, udim, sphere, fly and images");
    if (a->keep_partial && !a->trace)
        return stm_fail(err, TXM_STATUS_USAGE, "--keep-partial needs a trace; name one with --trace");
    if (*verb == STM_STREAM_VIEW)
        status = stm_stream_view_check(&a->play, err);
    return status == TXM_OK ? stm_stream_check_outputs(a, *verb, err) : status;
}

static void log_message(void *user, txm_log_level level, const char *message)
{
    (void)user;
    if (level == TXM_LOG_LEVEL_WARNING)
        stm_say(STM_SAY_WARNING, "%s", message);
}

/* From here on, errors are JSON as well if --json is given. */
static int run_stream(void *p, const stm_operands *operands)
{
    stm_stream_args *a = p;
    txm_error err = {0};
    stm_render_scene *scene = NULL;
    txm_context *context = NULL;
    stm_stream_verb verb;
    txm_status damage = TXM_OK;
    /* The project is that of the scene's folder, or of the images of a built-in scene. */
    const size_t first = operands->count > 2 ? 2 : 1;
    if (a->json)
        stm_finish_in_json("txmill.stream");
    stm_advise_for_scenes();
    stm_say_set_level(a->quiet ? STM_SAY_ERROR : STM_SAY_INFO);
    txm_status status = check_operands(a, operands, &verb, &err);
    if (status == TXM_OK)
        status = stm_settings_of(&a->project, operands->items + first, operands->count - first, &a->settings, &err);
    if (status == TXM_OK) {
        /* Tx files are only looked for, which needs no device. */
        txm_context_options options;
        txm_context_options_init(&options);
        options.threads = a->settings.threads;
        options.ocio_path = a->settings.ocio;
        options.working_space = a->settings.working_space;
        options.blender = a->settings.blender;
        options.device = "cpu";
        options.log = log_message;
        options.cancel = stm_signal_flag();
        status = txm_context_new(&options, &context, &err);
    }
    if (status == TXM_OK)
        status = stm_stream_open_scene(a, operands, &scene, &err);
    if (status == TXM_OK && verb == STM_STREAM_BUDGET && !scene->image_count && !scene->folder)
        status = stm_fail(&err, TXM_STATUS_USAGE,
                          "%s: a built-in scene has the textures that are named after it, and none is; as in 'txmill "
                          "stream budget %s wood.png'",
                          operands->items[1], operands->items[1]);
    if (status == TXM_OK)
        status = stm_stream_guard_outputs(a, scene, &err);
    if (status == TXM_OK) {
        const txm_cache_options cache = stm_stream_cache_options(a, verb == STM_STREAM_PLAY || verb == STM_STREAM_VIEW);
        stm_render_options o = stm_stream_render_options(a, verb == STM_STREAM_BUDGET, scene, context, &cache);
        double begin = stm_clock_seconds();
        o.cancel = stm_signal_flag();
        o.missing = say_missing;
        o.progress = a->quiet ? NULL : show_samples_done;
        o.progress_user = &begin;
        if (verb == STM_STREAM_BUDGET)
            status = budget(a, operands->items[1], scene, &o, &err);
        else if (verb == STM_STREAM_RENDER)
            status = render(a, operands->items[1], scene, &o, &damage, &err);
        else
            status = play(a, verb, operands->items[1], scene, &o, &damage, &err);
    }
    stm_render_scene_free(&scene);
    txm_context_free(&context);
    stm_settings_free(&a->settings);
    if (status)
        return stm_finish_failed(&err, 1);
    stm_stream_say_written(a);
    return stm_finish(damage);
}

const stm_command stm_cmd_stream = {
    .name = "stream",
    .purpose = "Render, play or view a scene through the texture cache, or estimate what texture memory it needs",
    .synopsis = "render|budget|play|view [OPTION...] SCENE [IMAGE...]",
    .examples = {"stream render room -o picture.png", "stream budget room wood.png"},
    .verbs = stream_verbs,
    .groups = groups,
    .patterns = true,
    .args_bytes = sizeof(stm_stream_args),
    .defaults = stm_stream_defaults,
    .run = run_stream,
};
