/* SPDX-License-Identifier: Apache-2.0
 *
 * What `txmill stream` was asked for, and what it prints.
 *
 * cmd_stream.c parses and renders; stream_report.c prints what the render room measured (stream/render.h),
 * stream_maps.c, stream_page.c and budget_page.c draw it. Neither computes anything that a caller of the library could
 * not have as well.
 */
#ifndef TXM_TOOLS_STREAM_ARGS_H
#define TXM_TOOLS_STREAM_ARGS_H
#include <cjson/cJSON.h>

#include "stream/render.h"
#include "tools/inspect/tx_files.h"
#include "tools/replay/replay_table.h"
#include "tools/stream/play.h"

enum { TXM_STREAM_SCHEMA_VERSION = 1 };

typedef struct txm_picture_size {
    uint32_t w, h;
} txm_picture_size;

typedef struct txm_stream_args {
    txm_picture_size size;
    uint32_t samples, bounces, seed, tile, lanes, threads, keep_epochs, max_open;
    uint64_t cache_bytes, device_memory;
    const char *device;
    float resolution, frame, filter_glossy;
    int engine, policy, differentials, rule, mode;
    bool narrow, untextured, apart, open_first, trace_lookups, keep_partial, overwrite, json, quiet;
    const char *output, *heat_level, *heat_misses, *heat_passes, *heat_tiles, *html, *trace, *tiles, *cache_dir;
    txm_tx_files_args images; /* of a built-in scene */
    txm_config_args config;
    txm_play_args play;
} txm_stream_args;

/* Opens the scene of the second operand, with the images that follow it where it is a built-in one. */
txm_status txm_stream_open_scene(const txm_stream_args *args, const txm_operands *operands, txm_render_scene **scene,
                                 txm_error *err);
/* Writes linear colours in the format that the name ends with; NULL: nowhere. */
txm_status txm_stream_write_rgb(const char *path, const float *rgb, uint32_t width, uint32_t height, txm_error *err);

/* The heat of a map as a colour picture: dark blue is 0, white is `most`, black less than 0; RGB floats, free() them.
 * NULL: no memory. */
float *txm_heat_colors(const float *map, size_t count, float most);
/* The largest value of a map; 0 if it has none above. */
float txm_heat_most(const float *map, size_t count);

/* Linear values as sRGB codes of 8 bits; free() them. NULL: no memory. */
uint8_t *txm_srgb_codes(const float *linear, size_t count);

void txm_stream_print_picture(const char *scene, const txm_render_options *options, const txm_render_picture *picture);
void txm_stream_print_budget(const char *scene, const txm_render_budget *budget);
/* One object each. */
void txm_stream_json_picture(const char *scene, const txm_render_options *options, const txm_render_picture *picture);
void txm_stream_json_budget(const char *scene, const txm_render_budget *budget);

/* What travelled to devices, and how often anybody waited; names of lines are so many columns wide. */
void txm_stream_print_devices(const txm_render_device *devices, size_t count, int column);
void txm_stream_json_devices(cJSON *object, const txm_render_device *devices, size_t count);

/* The tiles of a budget, as a table of tabs. */
txm_status txm_stream_tiles(const char *path, const txm_render_budget *budget, txm_error *err);

/* Which tiles of a file were used: the finest level of each place, 1 for level 0, 0 for level 6 and coarser, -1 for
 * none. */
typedef struct txm_stream_map {
    uint32_t width, height; /* px */
    double scale;           /* px of the map per px of level 0 */
    float *heat;            /* free() it */
    uint32_t finest;        /* level; as many as there are: none */
    uint64_t tiles;
} txm_stream_map;

/* The map of a part, at most `edge` px wide and high. Parts are asked for in their order; *first, 0 at the beginning,
 * is carried from one to the next. False: no memory. */
bool txm_stream_map_new(const txm_render_picture *picture, size_t part, size_t *first, uint32_t edge,
                        txm_stream_map *map);
/* The maps of all parts as one picture, linear RGB; free() it. */
txm_status txm_stream_sheet(const txm_render_picture *picture, float **rgb, uint32_t *width, uint32_t *height,
                            txm_error *err);
/* Memory over time, as SVG inside a page. */
void txm_stream_plot_memory(FILE *out, const txm_render_picture *picture);

/* A page with the picture, its heat maps, what each texture cost, and, unless it is NULL, what other caches would have
 * read. */
txm_status txm_stream_page(const char *path, const char *scene, const txm_render_options *options,
                           const txm_render_picture *picture, const txm_replay_table *replay, txm_error *err);
/* A page with what a budget says: a verdict, the textures by what they take, and what each would save at half its size.
 */
txm_status txm_stream_budget_page(const char *path, const char *scene, const txm_render_options *options,
                                  const txm_render_budget *budget, txm_error *err);

/* Linear colours as a picture inside a page. */
txm_status txm_stream_figure(FILE *out, const float *rgb, uint32_t width, uint32_t height, const char *caption,
                             txm_error *err);
/* What all pages share: writes the head, what `body` writes, and the end, and publishes the file when it is whole. */
txm_status txm_stream_write_page(const char *path, const char *scene,
                                 txm_status (*body)(FILE *out, const void *data, txm_error *err), const void *data,
                                 txm_error *err);
#endif
