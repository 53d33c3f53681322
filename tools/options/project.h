/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings of a project: its file .txmill, in the folder of an image or above it, and TXMILL_* variables.
 *
 *     # /projects/film/.txmill
 *     cache-dir = /fast/tx
 *     cache-limit = 200G
 *     ocio = config/film.ocio             relative to the folder of the .txmill
 *     working-space = ACEScg
 *     preset = pbr
 *     rule = *_mask.*=Non-Color           repeatable; rules = FILE as well
 *     threads = 8
 *     map = P:\ /mnt/p                    repeatable
 *     limit = bg_* 2k                       repeatable
 *
 * The command line has the highest precedence, then the variables TXMILL_CACHE_DIR, TXMILL_CACHE_LIMIT, TXMILL_OCIO,
 * TXMILL_WORKING_SPACE, TXMILL_PRESET, TXMILL_RULE, TXMILL_RULES, TXMILL_THREADS, TXMILL_MAP and TXMILL_LIMIT, then the
 * file. Rules, maps and limits are combined in that order.
 */
#ifndef TXM_TOOLS_PROJECT_H
#define TXM_TOOLS_PROJECT_H
#include "tools/options/args.h"
#include "tools/options/rule_args.h"
#include "tools/output/json.h"
#include "txmill/scene.h"

typedef enum txm_project_key {
    TXM_KEY_CACHE_DIR,
    TXM_KEY_CACHE_LIMIT,
    TXM_KEY_OCIO,
    TXM_KEY_WORKING_SPACE,
    TXM_KEY_BLENDER,
    TXM_KEY_PRESET,
    TXM_KEY_RULE,
    TXM_KEY_RULES,
    TXM_KEY_THREADS,
    TXM_KEY_MAP,
    TXM_KEY_LIMIT,
    TXM_KEYS
} txm_project_key;

/* The name of a key, such as "cache-dir", in the file; in capitals, in the environment. */
const char *txm_project_key_name(txm_project_key key);

/* Whether all values of the setting count, and not only the one with the highest precedence. */
bool txm_project_key_repeats(txm_project_key key);

/* One setting and its origin: "FILE:LINE" or a variable's name. */
typedef struct txm_project_value {
    txm_project_key key;
    const char *value, *origin;
    bool outside;   /* a file of settings that was found sends reads or writes out of its own folder */
    bool from_file; /* not from a variable */
} txm_project_value;

/* Zero-initialise. Settings with higher precedence come first. */
typedef struct txm_project {
    char *path;   /* path of the .txmill; NULL if there is none */
    char **above; /* files from which it inherits, the nearest first */
    size_t above_count;
    txm_project_value *values;
    size_t count;
} txm_project;

/* Finds the settings that apply to the operands, if they all have the same .txmill; otherwise only those of
 * variables. "" and no operands mean the current folder. USAGE for an invalid file, with its line; NO_MEMORY,
 * or the error of a read. */
txm_status txm_project_find(char *const *paths, size_t count, txm_project *out, txm_error *err);
void txm_project_free(txm_project *project); /* NULL-safe; zeroes */

/* The places where a command stores the settings; members may be NULL. */
typedef struct txm_project_targets {
    const char **cache_dir;
    txm_config_args *config;
    txm_rule_args *rules;
    uint32_t *threads;
} txm_project_targets;

/* Finds the settings that apply to the operands, and stores those that the command line did not set. The strings live
 * until the next call. Fails like txm_project_find. */
txm_status txm_project_apply(const txm_project_targets *targets, const txm_operands *operands, txm_error *err);

/* The settings in use: those of the command line and of variables, which no file overrides, and of the operands'
 * .txmill. */
typedef struct txm_project_applied {
    txm_project project;
    txm_project_targets targets;
    bool said[TXM_KEYS];                     /* set by the command line or a variable */
    const txm_project_value *used[TXM_KEYS]; /* what the targets got; NULL: the command line's value, or none */
} txm_project_applied;
const txm_project_applied *txm_project_state(void);

/* Checks once, before any file, the colour spaces of the settings and of all rules, and the cache folder, of
 * which `used` has those that a project sets, by key. USAGE, with similar names and the option or rule that is wrong.
 */
txm_status txm_settings_check(const txm_settings *settings, const txm_rules *rules, const txm_color_config *config,
                              const txm_project_value *const *used, txm_error *err);

/* Says once per run that a setting leads out of the folder of its .txmill; nothing for others. Call it for settings
 * that are used. NO_MEMORY. */
txm_status txm_project_note(const txm_project_value *value, txm_error *err);
/* Adds these settings as `settings_outside`, if there are any. */
void txm_project_json(cJSON *object);

/* *path: the .txmill of a file's folder or of a folder above it, owned by the caller; NULL if there is none. Fails
 * if the search does. */
txm_status txm_project_path(const char *file, char **path, txm_error *err);

/* The contexts with which inputs are examined and converted. Zero-initialise all but `place`. */
typedef struct txm_project_contexts {
    /* The path whose project applies to an input; *place owned by the caller. NULL: the input's own path. */
    txm_status (*place)(const char *input, char **place, txm_error *err);
    txm_context *common;     /* the context for the command line, the variables and the operands' .txmill; owned */
    txm_context **of;        /* one per input; NULL: the common one */
    const txm_rules **rules; /* one per input, of its own .txmill; NULL: those of the run */
    txm_rules *common_rules; /* rules of the run, if txm_project_examine read them; owned */
    struct txm_loaded_config *configs; /* the contexts that differ from the common one; owned */
    size_t count, capacity;
} txm_project_contexts;
void txm_project_contexts_free(txm_project_contexts *contexts); /* zeroes */
txm_context *txm_project_context(const txm_project_contexts *contexts, size_t input);
const txm_rules *txm_project_rules(const txm_project_contexts *contexts, size_t input);

/* Opens the run's context with `options`. Images below a given folder may belong to projects of their own: applies each
 * input's own .txmill to it, and loads the OpenColorIO configs that these files name. `settings` and `rules`, those of
 * the run, and the rules of each .txmill are checked with the configs that they are used with. If a .txmill or its
 * config cannot be used, only its inputs fail; the run fails if it is the .txmill of all inputs, or if the command line
 * is wrong. NO_MEMORY, and the failures of txm_context_make and, for the run, of txm_settings_check. */
txm_status txm_project_open(txm_inputs *inputs, const txm_context_options *options, const txm_settings *settings,
                            const txm_rules *rules, txm_project_contexts *contexts, txm_error *err);
/* For commands that only read files: applies the operands' project to the targets, reads the rules there, if any, and
 * opens the contexts; no device is started. Fails like txm_project_apply, txm_rule_args_read and txm_project_open. */
txm_status txm_project_examine(const txm_project_targets *targets, const txm_operands *operands, txm_inputs *inputs,
                               const txm_settings *settings, txm_project_contexts *contexts, txm_error *err);
/* The config and the working space of a file's own .txmill; `otherwise` if it has the operands' .txmill. */
txm_config_args txm_project_config(const char *file, const txm_config_args *otherwise);
/* The maps for the paths of a scene: those of the command line, of $TXMILL_MAP and of the scene's own .txmill. Free
 * with txm_project_maps_free. */
typedef struct txm_project_maps {
    txm_path_map *items;
    size_t count;
} txm_project_maps;
txm_status txm_project_maps_of(const char *scene, const txm_config_args *args, txm_project_maps *out, txm_error *err);
void txm_project_maps_free(txm_project_maps *maps);
/* Sets the release for projects whose .txmill names none, if neither the command line nor a variable does. */
void txm_project_assume(txm_blender blender);
/* Whether both mean the same config and working space. */
bool txm_config_args_same(const txm_config_args *a, const txm_config_args *b);
#endif
