/* SPDX-License-Identifier: Apache-2.0
 *
 * What `txmill sample` looks up and prints: the texture of a lookup (sample_texture.c), the colour and its explanation
 * (sample_report.c), and a patch as a picture (sample_patch.c). The options are in sample_options.c, the
 * single lookup in cmd_sample.c.
 */
#ifndef TXM_TOOLS_SAMPLE_H
#define TXM_TOOLS_SAMPLE_H
#include "tools/inspect/tx_files.h"
#include "tools/options/args.h"
#include "tools/options/project.h"
#include "tools/options/rule_args.h"
#include "txtile/sampler.h"

/* Tiles that are loaded between two attempts at a lookup. */
enum { TXM_SAMPLE_REQUESTS = 4096 };

typedef struct txm_sample_args {
    double u, v, dudx, dvdx, dudy, dvdy; /* NaN: not given */
    double mip_bias;
    int rule, mode, filter, extension;
    uint32_t anisotropy, seed;
    txm_pixel_size grid;
    const char *output;
    bool unassociate, srgb, explain, overwrite, json;
    txm_tx_files_args files;
    txm_config_args config;
    txm_jobs_args jobs;
} txm_sample_args;

extern const txm_option txm_sample_place_options[], txm_sample_how_options[], txm_sample_output_options[];
void txm_sample_defaults(void *args);
/* USAGE for options that cannot be combined; called before a file is opened. */
txm_status txm_sample_check(txm_sample_args *args, txm_error *err);

txm_sampler txm_sample_args_sampler(const txm_sample_args *args);
/* A number of the arguments, or `otherwise` if it was not given. */
float txm_given_or(double number, float otherwise);

/* A texture: a tx file, or the UDIM tiles of a pattern. */
typedef struct txm_sampled_texture {
    txm_texture_set *set;
    uint32_t id;
    const char *name;         /* path of the file, or the pattern */
    const txm_inputs *inputs; /* its files: `count` of them, beginning with `first` */
    size_t first, count;
    uint32_t columns, rows; /* UDIM tiles up to the last one; 0 for a single file */
    txm_verdict *verdicts;  /* one per file */
} txm_sampled_texture;

/* The number of inputs from `first` on that form one texture. */
size_t txm_sampled_inputs(const txm_inputs *inputs, size_t first);
/* The number of textures; the files of a pattern form one. */
size_t txm_sampled_count(const txm_inputs *inputs);
txm_status txm_sampled_open(txm_sampled_texture *texture, txm_extension extension, txm_error *err);
/* Warns about colours that no render would show, because users look them up to see what Cycles shows. */
txm_status txm_sampled_judge(txm_sampled_texture *texture, const txm_project_contexts *contexts, txm_error *err);
/* The UDIM tile at a place, or 0 if there can be none; the place becomes relative to the tile. */
uint32_t txm_sampled_udim(const txm_sampled_texture *texture, txm_lookup *at);
/* The index of the file for a UDIM tile; `count` for a hole. */
size_t txm_sampled_tile_index(const txm_sampled_texture *texture, uint32_t tile);
/* The file for a UDIM tile; NULL for a hole. */
const char *txm_sampled_tile_path(const txm_sampled_texture *texture, uint32_t tile);

void txm_lookup_print_values(const float color[4]);
void txm_lookup_print_explanation(const txm_sampled_texture *texture, txm_lookup at, const txm_explanation *e);
/* One object with the arguments, the colour and its explanation. False: out of memory. */
bool txm_lookup_json(const txm_sampled_texture *texture, const txm_sampler *how, const txm_sample_args *args,
                     const txm_lookup *at, const float *color, const txm_explanation *e);

/* Renders the patch of --grid and writes it to the file of -o. */
txm_status txm_patch_render(const txm_sampled_texture *texture, const txm_sample_args *args, txm_error *err);
#endif
