/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill stream: renders a scene through the texture cache, plays it, or estimates its texture memory.
 *
 * `render` tests the cache with a scene: pictures are the same whatever the budget. `budget` traces the same rays
 * without reading tiles and estimates how much memory textures will need. `play` makes frames that do not wait for
 * textures, `view` shows such frames in a window. All print text, --json or a page (tools/stream); src/stream renders.
 *
 * The order of a run is options, project settings, config, scene, outputs. Outputs are checked before the first ray,
 * because a render may take an hour, and must not end with the discovery that its picture would replace one of its
 * textures. The names of written files are printed last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mill/base/spelling.h"
#include "tile/base/clock.h"
#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/base/path.h"
#include "tile/base/text.h"
#include "tools/options/library_words.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/guard.h"
#include "tools/output/json.h"
#include "tools/output/say.h"
#include "tools/stream/stream_args.h"
#include "tools/stream/view.h"
#include "txmill/level.h"
#include "txmill/out_file.h"
#include "txmill/picture.h"

/* The first digit is checked before strtoul, which would accept signs and blanks. */
static txm_status parse_size(const char *text, void *field, txm_error *err)
{
    char *end, *last = NULL;
    unsigned long w = strtoul(text, &end, 10),
                  h = *end == 'x' && end[1] >= '0' && end[1] <= '9' ? strtoul(end + 1, &last, 10) : 0;
    if (*text < '0' || *text > '9' || !w || !h || *last || w > 65536 || h > 65536)
        return txm_fail(err, TXM_STATUS_USAGE, "must be a width and a height in pixels, such as 1920x1080");
    if (field)
        *(txm_picture_size *)field = (txm_picture_size){(uint32_t)w, (uint32_t)h};
    return TXM_OK;
}

/* Both 50 and 50% stand for one half. */
static txm_status parse_percent(const char *text, void *field, txm_error *err)
{
    char *end;
    float f = txm_parse_float(text, &end);
    if (end == text || (*end && strcmp(end, "%") != 0) || !(f > 0.0f && f <= 100.0f))
        return txm_fail(err, TXM_STATUS_USAGE, "must be a percentage above 0 and up to 100, such as 50");
    if (field)
        *(float *)field = f / 100.0f;
    return TXM_OK;
}

/* Does not depend on the locale's decimal comma. */
static txm_status parse_share(const char *text, void *field, txm_error *err)
{
    char *end;
    float f = txm_parse_float(text, &end);
    if (end == text || *end || !(f >= 0.0f && f <= 1.0f))
        return txm_fail(err, TXM_STATUS_USAGE, "must be a number from 0 to 1");
    if (field)
        *(float *)field = f;
    return TXM_OK;
}

static txm_status parse_filter_glossy(const char *text, void *field, txm_error *err)
{
    char *end;
    float f = txm_parse_float(text, &end);
    if (end == text || *end || !(f >= 0.0f && f <= 1e6f))
        return txm_fail(err, TXM_STATUS_USAGE, "must be a number of at least 0, such as 0.25");
    if (field)
        *(float *)field = f;
    return TXM_OK;
}

/* Whether a device exists is checked when it is opened. */
static txm_status parse_devices(const char *text, void *field, txm_error *err)
{
    if (!*text || text[strlen(text) - 1] == ',' || *text == ',' || strstr(text, ",,"))
        return txm_fail(err, TXM_STATUS_USAGE, "must be cpu, or devices such as opencl:0, separated by commas");
    *(const char **)field = text;
    return TXM_OK;
}

#define AT(member) .offset = offsetof(txm_stream_args, member)
static const txm_option pictures[] = {
    TXM_OPTION(CUSTOM, "size", .letter = 's', AT(size), .arg = "WxH", .parse = parse_size,
               .help = "Size of the picture in pixels (default: the scene's)"),
    TXM_OPTION(UINT, "samples", AT(samples), .arg = "N", .min = 1, .max = 65536,
               .help = "Samples per pixel (default: 4; for frames: 1; for a budget: as many as it needs)",
               .more = "A budget stops when doubling the samples finds less than 2 % more tiles, when it has traced as "
                       "many as the scene's render takes, or at 64."),
    TXM_OPTION(UINT, "bounces", AT(bounces), .arg = "N", .max = 1024,
               .help = "Bounces of a path; 0 traces only camera rays (default: the scene's, else 3)"),
    TXM_OPTION(UINT, "tile", .letter = 't', AT(tile), .arg = "PX", .max = 65536,
               .help = "Edge of a render tile, at whose end unused tiles may be evicted (default: 2048; 0: none)"),
    TXM_OPTION(UINT, "seed", AT(seed), .arg = "N", .max = UINT32_MAX,
               .help = "Seed of the random numbers (default: 1)"),
    TXM_OPTION(CUSTOM, "frame", AT(frame), .arg = "T", .parse = parse_share,
               .help = "Place of the camera of the built-in scene fly, 0 to 1 (default: 0)"),
    {0},
};
static const txm_option textures[] = {
    TXM_OPTION(SIZE, "cache", AT(cache_bytes), .arg = "SIZE", .help = "Memory for textures (default: 1G; 0: no limit)"),
    TXM_OPTION(CHOICE, "policy", AT(policy), .arg = "POLICY", .values = txm_policy_values,
               .help = "Which tiles are evicted (default: render-tiles; for frames: lru)", .more = txm_policy_more),
    TXM_OPTION(UINT, "keep-epochs", AT(keep_epochs), .arg = "N", .min = 1, .max = 2,
               .help = "Number of render tiles whose textures are kept (default: 1)"),
    TXM_OPTION(CUSTOM, "resolution", AT(resolution), .arg = "PERCENT", .parse = parse_percent,
               .help = "Texture resolution in percent (default: 100)",
               .more = "A budget has figures for this resolution, and for a half and a quarter of it."),
    TXM_OPTION(UINT, "max-open", AT(max_open), .arg = "N", .min = 1, .max = 65536,
               .help = "Number of files that may be open at the same time (default: 128)"),
    TXM_OPTION(FLAG, "open-first", AT(open_first),
               .help = "Open all images and set up all levels before the first ray, as Cycles does"),
    TXM_OPTION(FLAG, "no-coalesce", AT(apart),
               .help = "Keep a copy of each tile, also for equal files and for tiles of a single colour"),
    TXM_OPTION(CHOICE, "differentials", AT(differentials), .arg = "KIND", .values = "compact full cone",
               .help = "How rays carry the size of a pixel (default: compact, as in Cycles)"),
    TXM_OPTION(
        CUSTOM, "filter-glossy", AT(filter_glossy), .arg = "F", .parse = parse_filter_glossy,
        .help =
            "Blender's setting; up to 1, the share by which rough surfaces widen rays (default: the scene's, else 1)"),
    TXM_OPTION(FLAG, "no-widen", AT(narrow),
               .help = "Do not widen rays where rough surfaces scatter them: --filter-glossy 0"),
    TXM_OPTION(CHOICE, "rule", AT(rule), .arg = "RULE", .values = "cycles ellipse probes",
               .help = "How the level is computed from the derivatives (default: cycles)"),
    TXM_OPTION(CHOICE, "mode", AT(mode), .arg = "MODE", .values = "stochastic stochastic-full floor trilinear",
               .help = "How the fraction of a level is used (default: stochastic; for frames: trilinear)"),
    TXM_OPTION_CACHE_DIR(AT(cache_dir), "Folder of the tx files (default: blender_tx beside each image)", NULL),
    TXM_OPTION(FLAG, "untextured", AT(untextured),
               .help = "Look up no textures, to measure the cost of the picture without them"),
    {0},
};
static const txm_option engines[] = {
    TXM_OPTION(CHOICE, "engine", AT(engine), .arg = "ENGINE", .values = "wave blocking reference",
               .help = "How paths are traced (default: wave)",
               .more = "With wave, many paths take a step at once, and the tiles that they miss are loaded in batches, "
                       "as in renderers on GPUs. With blocking, each thread follows one path and waits for each tile. "
                       "With reference, all tiles of all levels are loaded first. All three give the same bits."),
    TXM_OPTION(UINT, "lanes", AT(lanes), .arg = "N", .min = 1, .max = 1 << 20,
               .help = "Paths per wave, 1 to 1048576 (default: 65536)"),
    TXM_OPTION(CUSTOM, "device", AT(device), .arg = "NAME", .values = "cpu cuda opencl", .parse = parse_devices,
               .help =
                   "Where textures are looked up: cpu, or devices such as opencl:0 or opencl:0,opencl:1 (default: cpu)",
               .more = "Rays are traced on the CPU. The bits of the picture do not depend on this option. Renders need "
                       "--engine wave. If a device fails, its work is done by the others, or by the CPU."),
    TXM_OPTION(SIZE, "device-memory", AT(device_memory), .arg = "SIZE",
               .help = "Memory for tiles on each device (default: that of --cache)",
               .more =
                   "Tiles that do not fit are kept in memory of the machine, which the device reaches more slowly."),
    TXM_OPTION_JOBS(AT(threads)),
    {0},
};
static const txm_option outputs[] = {
    TXM_OPTION_OUTPUT(AT(output), "File for the picture", "Any format that OpenImageIO writes; EXR keeps all of it."),
    TXM_OPTION(STRING, "heat-level", AT(heat_level), .arg = "FILE", .values = TXM_VALUES_FILE,
               .help = "Write a map of the levels that the camera sees"),
    TXM_OPTION(STRING, "heat-misses", AT(heat_misses), .arg = "FILE", .values = TXM_VALUES_FILE,
               .help = "Write a map of the steps that missed a tile and were run again"),
    TXM_OPTION(STRING, "heat-passes", AT(heat_passes), .arg = "FILE", .values = TXM_VALUES_FILE,
               .help = "Write a map of the launches until each pixel was complete"),
    TXM_OPTION(STRING, "heat-tiles", AT(heat_tiles), .arg = "FILE", .values = TXM_VALUES_FILE,
               .help = "Write maps of the tiles of each texture that were used"),
    TXM_OPTION(
        STRING, "html", AT(html), .arg = "FILE", .values = TXM_VALUES_FILE,
        .help = "Write a page: for a render with picture, maps and costs, for a budget with its textures",
        .more =
            "For a render with --trace, the page also has what caches of other sizes and policies would have read. For "
            "a budget, it has the memory needed, the textures by size, and what each would save at half its size."),
    TXM_OPTION(STRING, "trace", AT(trace), .arg = "FILE", .values = TXM_VALUES_FILE,
               .help = "Write the tiles in the order of their use, for txmill replay"),
    TXM_OPTION(FLAG, "trace-lookups", AT(trace_lookups), .help = "Also write the lookups to the trace"),
    TXM_OPTION(FLAG, "keep-partial", AT(keep_partial),
               .help = "Also write the trace of a render that is stopped or fails, marked as partial",
               .more = "txmill replay then says that its figures cover only a part. Without this option such a render "
                       "writes no trace, and an earlier one is kept."),
    TXM_OPTION(STRING, "tiles", AT(tiles), .arg = "FILE", .values = TXM_VALUES_FILE,
               .help = "For a budget: write every tile that is used, as lines of image, level, column and row"),
    TXM_OPTION_OVERWRITE(AT(overwrite)),
    TXM_OPTION(FLAG, "json", AT(json), .help = "Print one JSON object"),
    TXM_OPTION(FLAG, "quiet", .letter = 'q', AT(quiet), .help = "Print only warnings and errors"),
    {0},
};

static const txm_option_group groups[] = {
    {"Picture", pictures, 0},
    {"Images of built-in scenes", txm_tx_files_options, offsetof(txm_stream_args, images)},
    {"Textures", textures, 0},
    {"Engine", engines, 0},
    {"Frames", txm_play_options, offsetof(txm_stream_args, play)},
    TXM_COLOUR_GROUP(txm_stream_args),
    {"Output", outputs, 0},
    {0},
};

enum { NOT_GIVEN = 1 << 16 };

/* The library's defaults, so that documentation and program agree; only the tile has Blender's default. */
static void defaults(void *p)
{
    txm_stream_args *a = p;
    txm_render_options o;
    txm_cache_options cache;
    txm_render_options_init(&o);
    txm_cache_options_init_cycles(&cache);
    *a = (txm_stream_args){.samples = 0,
                           .bounces = NOT_GIVEN,
                           .filter_glossy = -1.0f,
                           .seed = o.seed,
                           .tile = 2048,
                           .lanes = o.lanes,
                           .keep_epochs = cache.keep_epochs,
                           .max_open = cache.max_open,
                           .cache_bytes = cache.max_bytes,
                           .resolution = 1.0f,
                           .policy = NOT_GIVEN,
                           .mode = NOT_GIVEN,
                           .play = txm_play_defaults()};
}

/* ---- what is written ---- */

typedef enum verb { RENDER = 1, BUDGET = 2, PLAY = 4, VIEW = 8 } verb;

/* A file that may be written: its option, the verbs that write it, and its description. */
typedef struct written_file {
    txm_output file;
    unsigned verbs;
    const char *what;
} written_file;

enum { OUTPUTS = 9 };

/* The list of outputs that are checked, guarded and named. */
static void list_outputs(const txm_stream_args *a, written_file out[OUTPUTS])
{
    const bool o = a->overwrite;
    const written_file all[OUTPUTS] = {
        {{"-o", a->output, TXM_OUTPUT_PICTURE, o}, RENDER | PLAY | VIEW, "the picture"},
        {{"--heat-level", a->heat_level, TXM_OUTPUT_PICTURE, o}, RENDER, "the map of levels"},
        {{"--heat-misses", a->heat_misses, TXM_OUTPUT_PICTURE, o}, RENDER, "the map of misses"},
        {{"--heat-passes", a->heat_passes, TXM_OUTPUT_PICTURE, o}, RENDER, "the map of passes"},
        {{"--heat-tiles", a->heat_tiles, TXM_OUTPUT_PICTURE, o}, RENDER, "the maps of tiles"},
        {{"--strip", a->play.strip, TXM_OUTPUT_PICTURE, o}, PLAY, "the pictures side by side"},
        {{"--html", a->html, TXM_OUTPUT_PAGE, o}, RENDER | BUDGET | PLAY, "the page"},
        {{"--trace", a->trace, TXM_OUTPUT_TRACE, o}, RENDER, "the trace"},
        {{"--tiles", a->tiles, TXM_OUTPUT_TABLE, o}, BUDGET, "the table of tiles"}};
    memcpy(out, all, sizeof all);
}

static txm_status wrong_verb(const written_file *f, verb of, txm_error *err)
{
    if (of == BUDGET && f->file.kind == TXM_OUTPUT_PICTURE)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: a budget has no picture; use 'txmill stream %s'", f->file.option,
                        f->verbs & RENDER ? "render" : "play");
    return txm_fail(err, TXM_STATUS_USAGE, "%s: use 'txmill stream %s'", f->file.option,
                    f->verbs & RENDER   ? "render"
                    : f->verbs & BUDGET ? "budget"
                                        : "play");
}

/* Names are compared as given, because the usual mistake is to give the same one twice. */
static txm_status check_outputs(const txm_stream_args *a, verb of, txm_error *err)
{
    written_file files[OUTPUTS];
    list_outputs(a, files);
    for (size_t i = 0; i < OUTPUTS; i++) {
        if (files[i].file.path && !(files[i].verbs & (unsigned)of))
            return wrong_verb(&files[i], of, err);
        for (size_t k = 0; files[i].file.path && k < i; k++)
            if (files[k].file.path && strcmp(files[k].file.path, files[i].file.path) == 0)
                return txm_fail(err, TXM_STATUS_USAGE, "%s %s: %s already writes this file; give each a different name",
                                files[i].file.option, files[i].file.path, files[k].file.option);
    }
    return TXM_OK;
}

/* The files that a scene is read from; only its images need a guard. */
static const char *image_of_scene(const void *scene, size_t index)
{
    return txm_render_image_path(scene, index);
}

/* Called when the scene is open, because its images must not be overwritten. */
static txm_status guard_outputs(const txm_stream_args *a, const txm_render_scene *scene, txm_error *err)
{
    written_file files[OUTPUTS];
    txm_status status = TXM_OK;
    list_outputs(a, files);
    for (size_t i = 0; status == TXM_OK && i < OUTPUTS; i++)
        status = txm_guard_output(&files[i].file, image_of_scene, scene, err);
    return status;
}

/* Printed on stderr, and only after success; output on standard output needs no name. */
static void say_written(const txm_stream_args *a)
{
    written_file files[OUTPUTS];
    list_outputs(a, files);
    for (size_t i = 0; i < OUTPUTS; i++)
        if (files[i].file.path && strcmp(files[i].file.path, "-") != 0)
            txm_say(TXM_SAY_INFO, "%s: wrote %s", files[i].file.path, files[i].what);
}

/* ---- running ---- */

/* Only on a terminal, where the line can be overwritten. The time left assumes that the rest takes as long as what
 * is done, which is too much after the first tiles with a cold cache. */
static void show_progress(void *user, uint64_t done, uint64_t all)
{
    const double *begin = user;
    char left[TXM_FORMAT_BYTES];
    double seconds = txm_clock_seconds() - *begin;
    if (txm_say_can_animate())
        txm_say_status("%3.0f%%  %.1f of %.1f million samples%s%s%s", 100.0 * (double)done / (double)all,
                       1e-6 * (double)done, 1e-6 * (double)all, done ? ", " : "",
                       done ? txm_format_seconds(seconds * (double)(all - done) / (double)done, left) : "",
                       done ? " left" : "");
}

/* Shows a phase without a percentage. */
static void show_phase(const txm_stream_args *a, const char *phase)
{
    if (!a->quiet && txm_say_can_animate())
        txm_say_status("%s", phase);
}

static void say_missing(void *user, const char *message)
{
    (void)user;
    txm_say(TXM_SAY_ERROR, "%s", message);
}

/* Options that were not given keep the library's defaults. */
static txm_cache_options cache_options_of(const txm_stream_args *a, bool plays)
{
    txm_cache_options o;
    if (plays)
        txm_cache_options_init(&o);
    else
        txm_cache_options_init_cycles(&o);
    o.max_bytes = a->cache_bytes;
    o.policy = a->policy == NOT_GIVEN ? o.policy : (uint32_t)a->policy;
    o.keep_epochs = a->keep_epochs;
    o.max_open = a->max_open;
    o.threads = a->threads;
    o.resolution = a->resolution;
    if (a->apart)
        o.coalesce = 0;
    return o;
}

/* A budget chooses its own number of samples. Maps are gathered only if something shows them, because each takes
 * memory of the picture's size. `cache` must outlive the options. */
static txm_render_options options_of(const txm_stream_args *a, bool budget, const txm_render_scene *scene,
                                     txm_context *context, const txm_cache_options *cache)
{
    txm_render_options o;
    txm_render_options_init(&o);
    o.width = a->size.w;
    o.height = a->size.h;
    o.samples = a->samples || budget ? a->samples : o.samples;
    txm_render_scene_bounces(scene, &o);
    o.bounces = a->bounces == NOT_GIVEN ? o.bounces : a->bounces;
    o.seed = a->seed;
    o.render_tile = a->tile;
    o.engine = (uint32_t)a->engine;
    o.lanes = a->lanes;
    o.devices = a->device && strcmp(a->device, "cpu") != 0 ? a->device : NULL;
    o.device_memory = a->device_memory;
    o.threads = a->threads;
    o.differentials = (uint32_t)a->differentials;
    o.widen = !a->narrow && a->filter_glossy != 0.0f;
    o.filter_glossy = a->filter_glossy > 0.0f ? a->filter_glossy : 0.0f;
    o.rule = (uint32_t)a->rule;
    o.mode = a->mode == NOT_GIVEN ? o.mode : (uint32_t)a->mode;
    o.untextured = a->untextured;
    o.open_first = a->open_first;
    o.cache = cache;
    o.trace = a->trace;
    o.keep_partial = a->keep_partial;
    if (a->trace_lookups)
        o.trace_records |= TXM_TRACE_LOOKUPS;
    o.heat = a->heat_level || a->heat_misses || a->heat_passes || a->html;
    o.context = context;
    o.cache_dir = a->cache_dir;
    o.cancel = txm_signal_flag();
    o.missing = say_missing;
    return o;
}

/* False colours, scaled to the largest value, which the caption on the page names. */
static txm_status write_heat(const char *path, const float *map, const txm_render_picture *p, txm_error *err)
{
    const size_t count = (size_t)p->width * p->height;
    float *colors = path ? txm_heat_colors(map, count, txm_heat_most(map, count)) : NULL;
    if (path && !colors)
        return txm_no_memory(err, path);
    txm_status status = txm_stream_write_rgb(path, colors, p->width, p->height, err);
    free(colors);
    return status;
}

/* The maps of all textures in one picture. */
static txm_status write_sheet(const char *path, const txm_render_picture *p, txm_error *err)
{
    float *rgb = NULL;
    uint32_t width, height;
    if (!path)
        return TXM_OK;
    txm_status status = txm_stream_sheet(p, &rgb, &width, &height, err);
    if (status == TXM_OK)
        status = txm_stream_write_rgb(path, rgb, width, height, err);
    free(rgb);
    return status;
}

static void show_replay(size_t done, size_t all)
{
    if (!txm_say_can_animate())
        return;
    if (!all)
        txm_say_status("reading the trace for the page");
    else
        txm_say_status("%3.0f%%  %zu of %zu caches for the page", 100.0 * (double)done / (double)all, done, all);
}

/* Writes the page; if there is a trace, with what other caches would have read. */
static txm_status write_html(const txm_stream_args *a, const char *name, const txm_render_options *o,
                             const txm_render_picture *p, txm_error *err)
{
    const txm_replay_ask usual = {.brief = true, .keep_epochs = o->cache->keep_epochs, .threads = a->threads};
    txm_replay_table table = {0};
    txm_trace *trace = NULL;
    txm_status status = a->trace ? txm_trace_open(a->trace, &trace, err) : TXM_OK;
    if (status == TXM_OK && trace)
        status = txm_replay_table_make(a->trace, trace, &usual, o->cancel, a->quiet ? NULL : show_replay, &table, err);
    show_phase(a, "writing the page");
    if (status == TXM_OK)
        status = txm_stream_page(a->html, name, o, p, trace ? &table : NULL, err);
    txm_replay_table_free(&table);
    txm_trace_free(&trace);
    return status;
}

/* If a texture cannot be read, the render goes on, as in Cycles, but is not a success. Returns the kind of the first
 * failure, or TXM_OK. */
static txm_status say_failed(const txm_render_scene *scene, const txm_render_image_cost *costs, size_t count)
{
    txm_status first = TXM_OK;
    for (size_t i = 0; i < count; i++) {
        const txm_render_image_cost *c = &costs[i];
        if (!c->failures)
            continue;
        txm_say(TXM_SAY_ERROR, "%s: %llu of its tiles could not be read and %s magenta: %s",
                txm_render_image_path(scene, i), (unsigned long long)c->failures, c->failures == 1 ? "is" : "are",
                c->message);
        first = first ? first : (txm_status)c->failure;
    }
    return first;
}

/* Warnings, because the picture is right in any case. What a plug-in notes is the same for all of its devices. */
static void say_problems(const txm_render_device *devices, size_t count)
{
    const char *note = "";
    for (size_t i = 0; i < count; i++) {
        const txm_render_device *d = &devices[i];
        if (d->stats.lost)
            txm_say(TXM_SAY_WARNING, "%s; its work was done by the other devices or by the CPU", d->problem);
        else if (*d->problem && strcmp(d->problem, note) != 0)
            txm_say(TXM_SAY_WARNING, "%s: %s", d->name, note = d->problem);
    }
}

/* Pictures are written before anything is printed, so that a failure to write is the result. *damage receives why
 * textures could not be read. */
static txm_status render(const txm_stream_args *a, const char *name, const txm_render_scene *scene,
                         const txm_render_options *o, txm_status *damage, txm_error *err)
{
    txm_render_picture p;
    if (o->trace)
        txm_sweep_beside(o->trace);
    show_phase(a, "preparing the scene");
    txm_status status = txm_render(scene, o, &p, err);
    txm_say_status("%s", "");
    if (status)
        return status;
    show_phase(a, "writing pictures");
    status = txm_stream_write_rgb(a->output, p.rgb, p.width, p.height, err);
    if (status == TXM_OK)
        status = write_heat(a->heat_level, p.level, &p, err);
    if (status == TXM_OK)
        status = write_heat(a->heat_misses, p.misses, &p, err);
    if (status == TXM_OK)
        status = write_heat(a->heat_passes, p.passes, &p, err);
    if (status == TXM_OK)
        status = write_sheet(a->heat_tiles, &p, err);
    if (status == TXM_OK && a->html)
        status = write_html(a, name, o, &p, err);
    txm_say_status("%s", "");
    if (status == TXM_OK && a->json)
        txm_stream_json_picture(name, o, &p);
    else if (status == TXM_OK && !a->quiet)
        txm_stream_print_picture(name, o, &p);
    if (status == TXM_OK)
        *damage = say_failed(scene, p.costs, p.image_count);
    say_problems(p.devices, p.device_count);
    txm_render_picture_clear(&p);
    return status;
}

/* The list of tiles is for other programs, for prefetching or to size a proxy. */
static txm_status budget(const txm_stream_args *a, const char *name, const txm_render_scene *scene,
                         const txm_render_options *o, txm_error *err)
{
    txm_render_budget b;
    show_phase(a, "preparing the scene");
    txm_status status = txm_render_budget_of(scene, o, &b, err);
    txm_say_status("%s", "");
    if (status)
        return status;
    if (a->tiles)
        status = txm_stream_tiles(a->tiles, &b, err);
    if (status == TXM_OK && a->html)
        status = txm_stream_budget_page(a->html, name, o, &b, err);
    if (status == TXM_OK && a->json)
        txm_stream_json_budget(name, &b);
    else if (status == TXM_OK && !a->quiet)
        txm_stream_print_budget(name, &b);
    txm_render_budget_clear(&b);
    return status;
}

static void show_frames(size_t done, size_t all)
{
    if (txm_say_can_animate())
        txm_say_status("%3.0f%%  frame %zu of %zu", 100.0 * (double)done / (double)all, done, all);
}

/* If the run is stopped, the frames that were complete are written, and the result is that it was stopped. */
static txm_status play(const txm_stream_args *a, verb of, const char *name, const txm_render_scene *scene,
                       const txm_render_options *o, txm_status *damage, txm_error *err)
{
    txm_play_run run;
    txm_frames_options how;
    txm_cache_options unused;
    txm_error stopped = {0}, own = {0};
    txm_frames_options_init(&how, &unused);
    how.render = *o;
    how.render.samples = a->samples ? a->samples : 1;
    how.render.mode = a->mode == NOT_GIVEN ? TXM_LEVEL_MODE_TRILINEAR : o->mode;
    how.render.threads = a->threads;
    txm_play_options_of(&a->play, &how);
    if (a->untextured)
        how.textures = TXM_FRAMES_UNTEXTURED;
    show_phase(a, "preparing the scene");
    txm_signals_publish();
    txm_status status = of == VIEW
                            ? txm_stream_view(name, scene, &a->play, &how, &run, &stopped)
                            : txm_play(name, scene, &a->play, &how, a->quiet ? NULL : show_frames, &run, &stopped);
    const bool complete = status == TXM_OK;
    txm_say_status("%s", "");
    if (!complete && !run.stopped) {
        txm_play_clear(&run);
        return txm_fail_as(err, &stopped);
    }
    status = run.frame_count ? txm_stream_write_rgb(a->output, run.rgb, run.width, run.height, &own) : TXM_OK;
    if (status == TXM_OK && run.strip_width)
        status = txm_stream_write_rgb(a->play.strip, run.strip, run.strip_width, run.strip_height, &own);
    if (status == TXM_OK && a->html)
        status = txm_play_page(a->html, &run, &own);
    if (status == TXM_OK && a->json)
        txm_play_json(&run);
    else if (status == TXM_OK && !a->quiet)
        txm_play_print(&run);
    if (status == TXM_OK)
        *damage = say_failed(scene, run.costs, run.image_count);
    say_problems(run.devices, run.device_count);
    txm_play_clear(&run);
    return status != TXM_OK ? txm_fail_as(err, &own) : complete ? TXM_OK : txm_fail_as(err, &stopped);
}

/* The first operand is a verb, which determines the rest. */
static txm_status check(const txm_stream_args *a, const txm_operands *operands, verb *of, txm_error *err)
{
    static const struct {
        const char *word;
        verb of;
    } verbs[] = {{"render", RENDER}, {"budget", BUDGET}, {"play", PLAY}, {"view", VIEW}};
    const char *what = operands->count ? operands->items[0] : "";
    txm_status status = TXM_OK;
    *of = 0;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(what, verbs[i].word) == 0)
            *of = verbs[i].of;
    if (!*of)
        return txm_fail(err, TXM_STATUS_USAGE,
                        "%s: unknown verb; use 'txmill stream render SCENE', or budget, play or view in place of "
                        "render",
                        *what ? what : "nothing to do");
    if (operands->count < 2)
        return txm_fail(
            err, TXM_STATUS_USAGE,
            "no scene given: give a folder with scene.txt, or one of plane, room, grid, udim, sphere, fly and images");
    if (a->keep_partial && !a->trace)
        return txm_fail(err, TXM_STATUS_USAGE, "--keep-partial needs a trace; name one with --trace");
    if (*of == VIEW)
        status = txm_stream_view_check(&a->play, err);
    return status == TXM_OK ? check_outputs(a, *of, err) : status;
}

/* Uses the project of the scene's folder, or of the images of a built-in scene. */
static txm_status apply_project(txm_stream_args *a, const txm_operands *operands, txm_error *err)
{
    const txm_project_targets project = {&a->cache_dir, &a->config, NULL, &a->threads};
    txm_operands places = *operands;
    size_t first = operands->count > 2 ? 2 : 1;
    places.items += first;
    places.count -= first;
    return txm_project_apply(&project, &places, err);
}

/* From here on, errors are JSON as well if --json is given. */
static int run_stream(void *p, const txm_operands *operands)
{
    txm_stream_args *a = p;
    txm_error err = {0};
    txm_render_scene *scene = NULL;
    txm_context *context = NULL;
    verb of;
    txm_status damage = TXM_OK;
    const txm_jobs_args jobs = {a->threads};
    if (a->json)
        txm_finish_in_json("txmill.stream", TXM_STREAM_SCHEMA_VERSION);
    txm_say_set_level(a->quiet ? TXM_SAY_ERROR : TXM_SAY_INFO);
    txm_advise_for(TXM_VALUES_STREAMED);
    txm_status status = check(a, operands, &of, &err);
    if (status == TXM_OK)
        status = apply_project(a, operands, &err);
    if (status == TXM_OK)
        status = txm_context_for_looking(&a->config, &jobs, &context, &err);
    if (status == TXM_OK)
        status = txm_stream_open_scene(a, operands, &scene, &err);
    if (status == TXM_OK)
        status = guard_outputs(a, scene, &err);
    if (status == TXM_OK) {
        const txm_cache_options cache = cache_options_of(a, of == PLAY || of == VIEW);
        txm_render_options o = options_of(a, of == BUDGET, scene, context, &cache);
        double begin = txm_clock_seconds();
        o.progress = a->quiet ? NULL : show_progress;
        o.progress_user = &begin;
        if (of == BUDGET)
            status = budget(a, operands->items[1], scene, &o, &err);
        else if (of == RENDER)
            status = render(a, operands->items[1], scene, &o, &damage, &err);
        else
            status = play(a, of, operands->items[1], scene, &o, &damage, &err);
    }
    txm_render_scene_free(&scene);
    txm_context_free(&context);
    if (status)
        return txm_finish_failed(&err, 1);
    say_written(a);
    txm_tally tally = {0};
    txm_tally_add(&tally, damage);
    return txm_finish(&tally);
}

TXM_COMMAND(
    stream, txm_stream_args,
    .purpose = "Render, play or view a scene through the texture cache, or estimate what texture memory it needs",
    .synopsis = "render|budget|play|view [OPTION...] SCENE [IMAGE...]", .operand_values = TXM_VALUES_IMAGE,
    .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL, .defaults = defaults);
