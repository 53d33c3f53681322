/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings of a project: its .txmill and the variables TXMILL_*. They are txmill's, so txmill is asked, as programs
 * ask git for its settings: `txmill settings --json` and `txmill resolve --json`.
 */
#ifndef STREAM_SETTINGS_H
#define STREAM_SETTINGS_H
#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"
#include "txmill/color.h"
#include "txmill/scene.h"
#include "txtile/settings.h"

/* Options that settings may stand in for. */
typedef struct stm_project_args {
    const char *ocio, *working_space, *blender, *cache_dir;
    stm_opt_list maps;
    uint32_t threads;
} stm_project_args;
extern const stm_option stm_config_options[]; /* --ocio, --working-space, --blender */
extern const stm_option stm_map_options[];    /* --path-map */

/* Zero-initialise, free with stm_settings_free. */
typedef struct stm_settings {
    const char *ocio, *working_space, *cache_dir;
    txm_blender blender;
    uint32_t threads;
    txm_path_map *maps; /* those of the command line first */
    size_t map_count;
    bool rules;     /* rules of a project decide about colour spaces */
    cJSON *answers; /* what the strings above point into */
} stm_settings;

/* The settings for the paths, of which only those count that exist: what the command line says, else what all of them
 * have in common. A setting that leads out of its folder is said once. Fails if txmill cannot be asked, or a .txmill
 * cannot be used. */
txm_status stm_settings_of(const stm_project_args *args, char *const *paths, size_t count, stm_settings *out,
                           txm_error *err);
void stm_settings_free(stm_settings *settings);
/* Adds `settings_outside`, if any were said. */
void stm_settings_json(cJSON *object);

/* Colour space and alpha type that txmill decides for an image: *space is the caller's. */
txm_status stm_settings_of_image(const stm_project_args *args, const char *image, char **space, txm_alpha *alpha,
                                 txm_error *err);
#endif
