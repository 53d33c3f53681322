/* SPDX-License-Identifier: Apache-2.0
 *
 * The run of a command that reads scenes one after the other, and their tx files: list and files. Options, the search
 * in folders, colour configs, maps of paths and messages are the same in all of them.
 */
#ifndef TXM_TOOLS_SCENES_H
#define TXM_TOOLS_SCENES_H
#include "tools/inspect/each_file.h"
#include "tools/inspect/tx_files.h"
#include "tools/list/list_scene.h"
#include "tools/options/rule_args.h"

/* The first member of the struct of a command's options. */
typedef struct txm_scenes_args {
    const char *cache_dir;
    bool lint, deep;
    txm_report_args report;
    txm_tx_files_args files;
    txm_rule_args rules;
    txm_config_args config;
    txm_jobs_args jobs;
} txm_scenes_args;
#define TXM_SCENES_GROUPS                                                                                              \
    TXM_FILES_GROUP(txm_scenes_args), TXM_RULES_GROUP(txm_scenes_args), TXM_COLOUR_GROUP(txm_scenes_args),             \
        TXM_SCENES_GROUP(txm_scenes_args), TXM_JOBS_GROUP(txm_scenes_args)

typedef struct txm_scenes_how {
    const char *command;
    txm_scenes_args *args;
    void *user;
    /* Called for each scene, with `user`; the report is freed afterwards. */
    txm_status (*one)(void *user, txm_list_report *report, txm_one_file *file, txm_error *err);
    /* Whether the tx file of a file is looked up; NULL: all are. */
    bool (*wants)(void *user, const txm_list_report *report, const txm_scene_image *image,
                  const txm_scene_image_file *file);
    /* Called at the end, if at least one scene was there and nothing ended the run; may be NULL. */
    void (*after)(void *user, txm_tally *tally, txm_error *err);
} txm_scenes_how;

/* Reads the scenes that the operands name, and returns the exit code. */
int txm_scenes_run(const txm_scenes_how *how, const txm_operands *operands);
#endif
