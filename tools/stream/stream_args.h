/* SPDX-License-Identifier: Apache-2.0
 *
 * What `txmill stream` was asked for, and what it prints.
 *
 * cmd_stream.c parses and renders; stream_report.c prints what the render room measured (txmill/render.h),
 * stream_page.c draws it. Neither computes anything that a caller of the library could not have as well.
 */
#ifndef TXM_TOOLS_STREAM_ARGS_H
#define TXM_TOOLS_STREAM_ARGS_H
#include "tools/inspect/tx_files.h"
#include "tools/replay/replay_table.h"
#include "txmill/render.h"

enum { TXM_STREAM_SCHEMA_VERSION = 1 };

typedef struct txm_picture_size {
    uint32_t w, h;
} txm_picture_size;

typedef struct txm_stream_args {
    txm_picture_size size;
    uint32_t samples, bounces, seed, tile, lanes, threads, keep_epochs, max_open;
    uint64_t cache_bytes;
    float resolution, frame;
    int engine, policy, differentials, rule, mode;
    bool narrow, untextured, apart, trace_lookups, force, json, quiet;
    const char *output, *heat_level, *heat_misses, *heat_passes, *html, *trace, *tiles, *cache_dir;
    txm_tx_files_args images; /* of a built-in scene */
    txm_config_args config;
} txm_stream_args;

/* The heat of a map as a colour picture: dark blue is the least, white the most; RGB floats, free() them. NULL: no
 * memory. *most receives what white means. */
float *txm_heat_colors(const float *map, size_t count, float *most);

/* Linear values as sRGB codes of 8 bits; free() them. NULL: no memory. */
uint8_t *txm_srgb_codes(const float *linear, size_t count);

void txm_stream_print_picture(const char *scene, const txm_render_options *options, const txm_render_picture *picture);
void txm_stream_print_budget(const char *scene, const txm_render_budget *budget);
/* One object each. */
void txm_stream_json_picture(const char *scene, const txm_render_options *options, const txm_render_picture *picture);
void txm_stream_json_budget(const char *scene, const txm_render_budget *budget);

/* The tiles of a budget, as a table of tabs. */
txm_status txm_stream_tiles(const char *path, const txm_render_budget *budget, txm_error *err);

/* A page with the picture, its heat maps, what each texture cost, and, unless it is NULL, what other caches would have
 * read. */
txm_status txm_stream_page(const char *path, const char *scene, const txm_render_options *options,
                           const txm_render_picture *picture, const txm_replay_table *replay, txm_error *err);
#endif
