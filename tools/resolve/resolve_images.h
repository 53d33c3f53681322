/* SPDX-License-Identifier: Apache-2.0
 *
 * What the commands about images and their tx files share, resolve and refresh: options, inputs, the loop.
 */
#ifndef TXM_TOOLS_RESOLVE_IMAGES_H
#define TXM_TOOLS_RESOLVE_IMAGES_H
#include "tools/inspect/each_file.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/args.h"
#include "tools/options/project.h"
#include "txmill/inspect.h"

typedef struct txm_resolve_args {
    bool deep, adopt;
    txm_tx_files_args files;
    txm_rule_args rules;
    txm_jobs_args jobs;
    txm_settings_args settings;
    txm_config_args config;
    txm_report_args report;
} txm_resolve_args;

#define TXM_RESOLVE_GROUPS(args)                                                                                       \
    TXM_FILES_GROUP(args), TXM_RULES_GROUP(args), TXM_SETTINGS_GROUP(args), TXM_COLOUR_GROUP(args),                    \
        TXM_SCENES_GROUP(args), TXM_JOBS_GROUP(args), TXM_REPORTS_GROUP(args)

/* Whether Cycles loads a file for the image: an image that is itself a tx file, or that needs none, counts. */
bool txm_is_loaded(const txm_resolution *resolution);

/* Resolves the images that the operands name, and shows each. `show` returns the word under which the sum counts it. */
typedef struct txm_resolving {
    const char *command, *doing, *good; /* of messages, progress and the sum */
    txm_resolve_args *args;
    txm_resolve_options how;
    const char *(*show)(const txm_resolve_args *args, const char *image, const txm_resolution *resolution);
} txm_resolving;
int txm_resolve_run(const txm_resolving *how, const txm_operands *operands);
#endif
