/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of `txmill stream`, and the options of a render and its cache that follow from them.
 *
 * One table serves all four verbs, so that a scene that was rendered can be played with the same words. Options that
 * were not given keep the library's defaults.
 */
#include <string.h>

#include "base/base.h"
#include "command/stream_args.h"
#include "replay/policy_words.h"
#include "txmill/level.h"

/* Whether a device exists is checked when it is opened. */
static txm_status parse_devices(const char *text, void *field, txm_error *err)
{
    if (!*text || text[strlen(text) - 1] == ',' || *text == ',' || strstr(text, ",,"))
        return stm_fail(err, TXM_STATUS_USAGE, "must be cpu, or devices such as opencl:0, separated by commas");
    *(const char **)field = text;
    return TXM_OK;
}

#define AT(member) .offset = offsetof(stm_stream_args, member)
const stm_option stm_stream_picture_options[] = {
    STM_OPTION(PIXELS, "size", .letter = 's', AT(size), .arg = "WxH",
               .help = "Size of the picture in pixels (default: the scene's)"),
    STM_OPTION(
        UINT, "samples", AT(samples), .arg = "N", .min = 1, .max = 65536,
        .help = "Samples per pixel (default: 4; for frames: 1; for a budget: as many as it needs)",
        .more = "A budget stops when the doublings that are left would find less than 3 % more tiles if each found as "
                "many as the last one, or at 64. They are left until the number of samples of the scene; that "
                "counts as at least 32 and at most 256."),
    STM_OPTION(UINT, "bounces", .rare = true, AT(bounces), .arg = "N", .max = 1024,
               .help = "Bounces of a path; 0 traces only camera rays (default: the scene's, else 3)"),
    STM_OPTION(UINT, "tile", .verbs = STM_STREAM_RENDER | STM_STREAM_BUDGET, .rare = true, .letter = 't', AT(tile),
               .arg = "PX", .max = 65536,
               .help = "Edge of a render tile, at whose end unused tiles may be evicted (default: 2048; 0: none)"),
    STM_OPTION(UINT, "seed", .rare = true, AT(seed), .arg = "N", .max = UINT32_MAX,
               .help = "Seed of the random numbers (default: 1)"),
    STM_OPTION(NUMBER, "frame", .rare = true, AT(frame), .arg = "T", .most = 1.0,
               .help = "Place of the camera of the built-in scene fly, 0 to 1 (default: 0)"),
    {0},
};
const stm_option stm_stream_image_options[] = {
    STM_OPTION(LIST, "include", .rare = true, AT(include), .arg = "GLOB",
               .help = "In folders, use only the files that match (repeatable)",
               .more = "Folders are searched with their subfolders for files with the right extension. A list, one "
                       "path per line, is read with @FILE, or from standard input with -."),
    STM_OPTION(LIST, "exclude", .rare = true, AT(exclude), .arg = "GLOB",
               .help = "In folders, leave out files and subfolders that match (repeatable)"),
    {0},
};
const stm_option stm_stream_texture_options[] = {
    STM_OPTION(SIZE, "cache", .verbs = STM_STREAM_RENDER | STM_STREAM_PLAY | STM_STREAM_VIEW, AT(cache_bytes),
               .arg = "SIZE", .help = "Memory for textures (default: 1G; 0: no limit)"),
    STM_OPTION(CHOICE, "policy", .verbs = STM_STREAM_RENDER | STM_STREAM_PLAY | STM_STREAM_VIEW, .rare = true,
               AT(policy), .arg = "POLICY", .values = stm_policy_values,
               .help = "Which tiles are evicted (default: render-tiles; for frames: lru)", .more = stm_policy_more),
    STM_OPTION(UINT, "keep-epochs", .verbs = STM_STREAM_RENDER, .rare = true, AT(keep_epochs), .arg = "N", .min = 1,
               .max = 2, .help = "Number of render tiles whose textures are kept (default: 1)"),
    STM_OPTION(PERCENT, "resolution", .rare = true, AT(resolution), .arg = "PERCENT", .least = 0.01, .most = 100.0,
               .help = "Texture resolution in percent (default: 100)",
               .more = "A budget has figures for this resolution, and for a half and a quarter of it."),
    STM_OPTION(UINT, "max-open", .verbs = STM_STREAM_RENDER | STM_STREAM_PLAY | STM_STREAM_VIEW, .rare = true,
               AT(max_open), .arg = "N", .min = 1, .max = 65536,
               .help = "Number of files that may be open at the same time (default: 128)"),
    STM_OPTION(FLAG, "open-first", .verbs = STM_STREAM_RENDER, .rare = true, AT(open_first),
               .help = "Open all images and set up all levels before the first ray, as Cycles does"),
    STM_OPTION(FLAG, "no-coalesce", .verbs = STM_STREAM_RENDER | STM_STREAM_PLAY | STM_STREAM_VIEW, .rare = true,
               AT(apart), .help = "Keep a copy of each tile, also for equal files and for tiles of a single colour"),
    STM_OPTION(CHOICE, "differentials", .rare = true, AT(differentials), .arg = "KIND", .values = "compact full cone",
               .help = "How rays carry the size of a pixel (default: compact, as in Cycles)"),
    STM_OPTION(
        NUMBER, "filter-glossy", .rare = true, AT(filter_glossy), .arg = "F", .most = 1e6,
        .help =
            "Blender's setting; up to 1, the share by which rough surfaces widen rays (default: the scene's, else 1)"),
    STM_OPTION(FLAG, "no-widen", .rare = true, AT(narrow),
               .help = "Do not widen rays where rough surfaces scatter them: --filter-glossy 0"),
    STM_OPTION(CHOICE, "rule", .rare = true, AT(rule), .arg = "RULE", .values = "cycles ellipse probes",
               .help = "How the level is computed from the derivatives (default: cycles)"),
    STM_OPTION(CHOICE, "mode", .rare = true, AT(mode), .arg = "MODE",
               .values = "stochastic stochastic-full floor trilinear",
               .help = "How the fraction of a level is used (default: stochastic; for frames: trilinear)"),
    STM_OPTION(STRING, "cache-dir", .letter = 'd', AT(project.cache_dir), .arg = "DIR", .values = STM_VALUES_DIR,
               .help = "Folder of the tx files (default: blender_tx beside each image)"),
    STM_OPTION(FLAG, "untextured", .verbs = STM_STREAM_RENDER | STM_STREAM_PLAY | STM_STREAM_VIEW, .rare = true,
               AT(untextured), .help = "Look up no textures, to measure the cost of the picture without them"),
    {0},
};
const stm_option stm_stream_engine_options[] = {
    STM_OPTION(CHOICE, "engine", .rare = true, .verbs = STM_STREAM_RENDER, AT(engine), .arg = "ENGINE",
               .values = "wave blocking reference", .help = "How paths are traced (default: wave)",
               .more = "With wave, many paths take a step at once, and the tiles that they miss are loaded in batches, "
                       "as in renderers on GPUs. With blocking, each thread follows one path and waits for each tile. "
                       "With reference, all tiles of all levels are loaded first. All three give the same bits."),
    STM_OPTION(UINT, "lanes", .verbs = STM_STREAM_RENDER, .rare = true, AT(lanes), .arg = "N", .min = 1, .max = 1 << 20,
               .help = "Paths per wave, 1 to 1048576 (default: 65536)"),
    STM_OPTION(CUSTOM, "device", .rare = true, .verbs = STM_STREAM_RENDER | STM_STREAM_PLAY | STM_STREAM_VIEW,
               AT(device), .arg = "NAME", .values = "cpu cuda opencl", .parse = parse_devices,
               .help =
                   "Where textures are looked up: cpu, or devices such as opencl:0 or opencl:0,opencl:1 (default: cpu)",
               .more = "Rays are traced on the CPU. The bits of the picture do not depend on this option. Renders need "
                       "--engine wave. If a device fails, its work is done by the others, or by the CPU."),
    STM_OPTION(SIZE, "device-memory", .verbs = STM_STREAM_RENDER | STM_STREAM_PLAY | STM_STREAM_VIEW, .rare = true,
               AT(device_memory), .arg = "SIZE", .help = "Memory for tiles on each device (default: that of --cache)",
               .more =
                   "Tiles that do not fit are kept in memory of the machine, which the device reaches more slowly."),
    STM_OPTION_JOBS(AT(project.threads)),
    {0},
};
const stm_option stm_stream_output_options[] = {
    STM_OPTION(STRING, "output", .letter = 'o', .verbs = STM_STREAM_RENDER | STM_STREAM_PLAY | STM_STREAM_VIEW,
               AT(output), .arg = "FILE", .values = STM_VALUES_FILE, .help = "File for the picture",
               .more = "Any format that OpenImageIO writes; EXR keeps all of it."),
    STM_OPTION(STRING, "heat-level", .verbs = STM_STREAM_RENDER, .rare = true, AT(heat_level), .arg = "FILE",
               .values = STM_VALUES_FILE, .help = "Write a map of the levels that the camera sees"),
    STM_OPTION(STRING, "heat-misses", .verbs = STM_STREAM_RENDER, .rare = true, AT(heat_misses), .arg = "FILE",
               .values = STM_VALUES_FILE, .help = "Write a map of the steps that missed a tile and were run again"),
    STM_OPTION(STRING, "heat-passes", .verbs = STM_STREAM_RENDER, .rare = true, AT(heat_passes), .arg = "FILE",
               .values = STM_VALUES_FILE, .help = "Write a map of the launches until each pixel was complete"),
    STM_OPTION(STRING, "heat-tiles", .verbs = STM_STREAM_RENDER, .rare = true, AT(heat_tiles), .arg = "FILE",
               .values = STM_VALUES_FILE, .help = "Write maps of the tiles of each texture that were used"),
    STM_OPTION(
        STRING, "html", .verbs = STM_STREAM_RENDER | STM_STREAM_BUDGET | STM_STREAM_PLAY, AT(html), .arg = "FILE",
        .values = STM_VALUES_FILE,
        .help = "Write a page: for a render with picture, maps and costs, for a budget with its textures",
        .more =
            "For a render with --trace, the page also has what caches of other sizes and policies would have read. For "
            "a budget, it has the memory needed, the textures by size, and what each would save at half its size."),
    STM_OPTION(STRING, "trace", .verbs = STM_STREAM_RENDER, .rare = true, AT(trace), .arg = "FILE",
               .values = STM_VALUES_FILE, .help = "Write the tiles in the order of their use, for txmill replay"),
    STM_OPTION(FLAG, "trace-lookups", .verbs = STM_STREAM_RENDER, .rare = true, AT(trace_lookups),
               .help = "Also write the lookups to the trace"),
    STM_OPTION(FLAG, "keep-partial", .verbs = STM_STREAM_RENDER, .rare = true, AT(keep_partial),
               .help = "Also write the trace of a render that is stopped or fails, marked as partial",
               .more = "txmill replay then says that its figures cover only a part. Without this option such a render "
                       "writes no trace, and an earlier one is kept."),
    STM_OPTION(STRING, "tiles", .verbs = STM_STREAM_BUDGET, .rare = true, AT(tiles), .arg = "FILE",
               .values = STM_VALUES_FILE,
               .help = "For a budget: write every tile that is used, as lines of image, level, column and row"),
    STM_OPTION_OVERWRITE(AT(overwrite)),
    STM_OPTION(FLAG, "json", AT(json), .help = "Print one JSON object"),
    STM_OPTION(FLAG, "quiet", .letter = 'q', AT(quiet), .help = "Print only warnings and errors"),
    {0},
};

/* The library's defaults, so that documentation and program agree; only the tile has Blender's default. */
void stm_stream_defaults(void *p)
{
    stm_stream_args *a = p;
    stm_render_options o;
    txm_cache_options cache;
    stm_render_options_init(&o);
    txm_cache_options_init_cycles(&cache);
    *a = (stm_stream_args){.samples = 0,
                           .bounces = STM_STREAM_NOT_GIVEN,
                           .filter_glossy = -1.0,
                           .seed = o.seed,
                           .tile = 2048,
                           .lanes = o.lanes,
                           .keep_epochs = cache.keep_epochs,
                           .max_open = cache.max_open,
                           .cache_bytes = cache.max_bytes,
                           .resolution = 1.0,
                           .policy = STM_STREAM_NOT_GIVEN,
                           .mode = STM_STREAM_NOT_GIVEN,
                           .play = stm_play_defaults()};
}

txm_cache_options stm_stream_cache_options(const stm_stream_args *a, bool plays)
{
    txm_cache_options o;
    if (plays)
        txm_cache_options_init(&o);
    else
        txm_cache_options_init_cycles(&o);
    o.max_bytes = a->cache_bytes;
    o.policy = a->policy == STM_STREAM_NOT_GIVEN ? o.policy : (uint32_t)a->policy;
    o.keep_epochs = a->keep_epochs;
    o.max_open = a->max_open;
    o.threads = a->settings.threads;
    o.resolution = (float)a->resolution;
    if (a->apart)
        o.coalesce = 0;
    return o;
}

/* Maps are gathered only if something shows them, because each takes memory of the picture's size. */
stm_render_options stm_stream_render_options(const stm_stream_args *a, bool budget, const stm_render_scene *scene,
                                             txm_context *context, const txm_cache_options *cache)
{
    stm_render_options o;
    stm_render_options_init(&o);
    o.width = a->size.w;
    o.height = a->size.h;
    o.samples = a->samples || budget ? a->samples : o.samples;
    stm_render_scene_bounces(scene, &o);
    o.bounces = a->bounces == STM_STREAM_NOT_GIVEN ? o.bounces : a->bounces;
    o.seed = a->seed;
    o.render_tile = a->tile;
    o.engine = (uint32_t)a->engine;
    o.lanes = a->lanes;
    o.devices = a->device && strcmp(a->device, "cpu") != 0 ? a->device : NULL;
    o.device_memory = a->device_memory;
    o.threads = a->settings.threads;
    o.differentials = (uint32_t)a->differentials;
    o.widen = !a->narrow && a->filter_glossy != 0.0;
    o.filter_glossy = a->filter_glossy > 0.0 ? (float)a->filter_glossy : 0.0f;
    o.rule = (uint32_t)a->rule;
    o.mode = a->mode == STM_STREAM_NOT_GIVEN ? o.mode : (uint32_t)a->mode;
    o.untextured = a->untextured;
    o.open_first = a->open_first;
    o.cache = cache;
    o.trace = a->trace;
    o.keep_partial = a->keep_partial;
    if (a->trace_lookups)
        o.trace_records |= TXM_TRACE_LOOKUPS;
    o.heat = a->heat_level || a->heat_misses || a->heat_passes || a->html;
    o.context = context;
    o.cache_dir = a->settings.cache_dir;
    return o;
}
