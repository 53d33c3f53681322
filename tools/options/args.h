/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of options that several commands share, with the structs that they are parsed into.
 *
 * A group is a table of options and a struct for their values. A command with this struct as the member that the
 * group's macro names can list the group with the macro. Functions below the structs convert them to arguments of the
 * library.
 */
#ifndef TXM_TOOLS_ARGS_H
#define TXM_TOOLS_ARGS_H
#include "tools/options/opt.h"
#include "txmill/convert.h"
#include "txtile/settings.h"

/* Single options that several commands have; `field` is AT(member). */
#define TXM_OPTION_LEVEL(field, none_given)                                                                            \
    {                                                                                                                  \
        .name = "level", .letter = 'l', .type = TXM_OPT_UINT, field, .arg = "N",                                       \
        .help = "Level of the pyramid, 0 is the largest (default: " none_given ")", .max = TXM_MAX_LEVELS - 1          \
    }
#define TXM_OPTION_OUTPUT(field, text, explanation)                                                                    \
    {                                                                                                                  \
        .name = "output", .letter = 'o', .type = TXM_OPT_STRING, field, .arg = "FILE", .values = TXM_VALUES_FILE,      \
        .help = text, .more = explanation                                                                              \
    }

/* Every option that names an output has it: see txmill/guard.h. */
#define TXM_OPTION_OVERWRITE(field)                                                                                    \
    {                                                                                                                  \
        .name = "overwrite", .rare = true, .type = TXM_OPT_FLAG, field,                                                \
        .help = "Replace the output even if txmill did not write it",                                                  \
        .more = "Without it only files that txmill wrote, and that were not changed since, are replaced. Even with "   \
                "it, images that txmill did not write, "                                                               \
                "images that have a tx file, scenes, tx files, logs and inputs of the command are never overwritten."  \
    }

#define TXM_OPTION_CACHE_DIR(field, text, explanation)                                                                 \
    {                                                                                                                  \
        .name = "cache-dir", .letter = 'd', .type = TXM_OPT_STRING, field, .arg = "DIR", .values = TXM_VALUES_DIR,     \
        .help = text, .more = explanation                                                                              \
    }
#define TXM_OPTION_STORE(field, explanation)                                                                           \
    {                                                                                                                  \
        .name = "store", .rare = true, .type = TXM_OPT_STRING, field, .arg = "DIR", .values = TXM_VALUES_DIR,          \
        .help = "Take finished tx files from this store, and add new ones to it", .more = explanation                  \
    }
/* A limit of what tx files take: of --cache-limit, or else of the setting cache-limit. */
typedef struct txm_cache_limit {
    bool on, given, project; /* project: the option says that the project's may count */
    bool trusted;            /* of the command line or a variable, or trusted by --cache-limit project */
    uint64_t bytes;
    const char *origin; /* "FILE:LINE" or a variable; NULL: the option */
} txm_cache_limit;
txm_status txm_args_cache_limit(const char *text, void *field, txm_error *err);
/* Call it after txm_project_apply. USAGE if the project has none to trust. */
txm_status txm_cache_limit_settle(txm_cache_limit *limit, txm_error *err);
#define TXM_OPTION_CACHE_LIMIT(field, text, explanation)                                                               \
    {                                                                                                                  \
        .name = "cache-limit", .rare = true, .type = TXM_OPT_CUSTOM, field, .arg = "SIZE|project",                     \
        .parse = txm_args_cache_limit, .help = text, .more = explanation                                               \
    }
/* Commands that give a verdict have it. */
#define TXM_OPTION_DEEP(field)                                                                                         \
    {                                                                                                                  \
        .name = "deep", .type = TXM_OPT_FLAG, field, .help = "Decode every tile to find damage",                       \
        .more = "Without it no pixels are read; only folder, name, time, header, levels and settings are checked."     \
    }
#define TXM_OPTION_JOBS(field)                                                                                         \
    {                                                                                                                  \
        .name = "jobs", .letter = 'j', .type = TXM_OPT_UINT, field, .arg = "N", .min = 1, .max = 1024,                 \
        .help = "Number of threads (default: all the process may use)"                                                 \
    }

/* The OpenColorIO config, for every command that looks up colour spaces. */
typedef struct txm_config_args {
    const char *ocio, *working_space;
    const char *ocio_origin, *working_space_origin; /* "FILE:LINE" or a variable; NULL: the option */
    txm_blender blender;
    txm_opt_list maps; /* these two are for scenes */
    bool every_variant;
} txm_config_args;
/* Takes the value of --blender and of the setting blender; warns of a release that is newer than all that are known. */
txm_status txm_args_blender(const char *text, txm_blender *out, txm_error *err);
/* Splits a value of --path-map or of the setting map; the results, parts of it, may be NULL. */
txm_status txm_args_map(const char *text, size_t *from_bytes, const char **to, txm_error *err);
extern const txm_option txm_config_options[];     /* --ocio, --working-space, --blender */
extern const txm_option txm_map_options[];        /* --path-map */
extern const txm_option txm_scene_file_options[]; /* --path-map, --every-variant */
#define TXM_SCENES_GROUP(args)                                                                                         \
    {                                                                                                                  \
        "Scenes", txm_scene_file_options, offsetof(args, config)                                                       \
    }
#define TXM_COLOUR_GROUP(args)                                                                                         \
    {                                                                                                                  \
        "Colour", txm_config_options, offsetof(args, config)                                                           \
    }

/* The settings of a tx file: make, resolve, list. */
typedef struct txm_settings_args {
    txm_settings settings; /* attributes: see txm_settings_args_finish */
    txm_opt_list attributes;
} txm_settings_args;
extern const txm_option txm_settings_options[], txm_naming_options[];
#define TXM_SETTINGS_GROUP(args)                                                                                       \
    {                                                                                                                  \
        "Settings", txm_settings_options, offsetof(args, settings)                                                     \
    }
#define TXM_NAMING_GROUP(args)                                                                                         \
    {                                                                                                                  \
        "Settings", txm_naming_options, offsetof(args, settings)                                                       \
    }
/* Adds the parsed lists to the settings, and records which options were given; call once after parsing. */
void txm_settings_args_finish(txm_settings_args *args, const txm_operands *operands);
/* Warns about settings with which Cycles will not use the files. */
void txm_settings_args_warn(const txm_settings_args *args);
/* Warns about a colour space that is given by an alias, because scenes look for another name. */
void txm_settings_warn_alias(const txm_settings *settings, const txm_color_config *config);

/* Commands that use threads, but no device, have it. */
typedef struct txm_jobs_args {
    uint32_t threads;
} txm_jobs_args;
extern const txm_option txm_jobs_options[]; /* -j */
#define TXM_JOBS_GROUP(args)                                                                                           \
    {                                                                                                                  \
        "Running", txm_jobs_options, offsetof(args, jobs)                                                              \
    }

/* Threads, memory and devices. */
typedef struct txm_running_args {
    uint32_t threads;
    uint64_t max_memory_bytes, device_memory_bytes;
    const char *device;
    bool content; /* as in txm_context_options */
} txm_running_args;
extern const txm_option txm_running_options[]; /* -j, --max-memory, --device, --device-memory */
#define TXM_RUNNING_GROUP(args)                                                                                        \
    {                                                                                                                  \
        "Running", txm_running_options, offsetof(args, running)                                                        \
    }

/* Messages and JSON. */
typedef struct txm_report_args {
    bool json, quiet, verbose;
} txm_report_args;
extern const txm_option txm_report_options[]; /* --json, -q, -v */
#define TXM_REPORTS_GROUP(args)                                                                                        \
    {                                                                                                                  \
        "Reports", txm_report_options, offsetof(args, report)                                                          \
    }
/* Applies -q and -v to messages. */
void txm_report_args_apply(const txm_report_args *args);

/* The options of a context for commands that only read files: no device is started. */
txm_context_options txm_inspecting_options(const txm_config_args *config, const txm_jobs_args *jobs);
/* A context with these options. Fails like txm_context_make. */
txm_status txm_context_for_inspecting(const txm_config_args *config, const txm_jobs_args *jobs, txm_context **out,
                                      txm_error *err);

/* The config that the options name. Borrows their strings. */
txm_color_options txm_color_options_from(const txm_config_args *config);
/* Warns if a variable or a Blender project names a config that Blender replaces; contexts do so themselves. */
void txm_config_warn(const txm_color_config *config);

/* Extends the message about a config that could not be loaded: where the config or its working space was set. USAGE
 * for a working space that the config does not have. */
void txm_config_explain(const txm_config_args *config, txm_error *err);

/* txm_context_new, with such messages about `config`. */
txm_status txm_context_make(const txm_context_options *options, const txm_config_args *config, txm_context **out,
                            txm_error *err);

/* Fills the options of a context from the parsed groups; messages go to txm_say. */
txm_context_options txm_context_options_from(const txm_config_args *config, const txm_running_args *running);

#endif
