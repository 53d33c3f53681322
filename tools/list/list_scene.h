/* SPDX-License-Identifier: Apache-2.0 Opens a scene with a colour config, and looks up its tx files. */
#ifndef TXM_TOOLS_LIST_SCENE_H
#define TXM_TOOLS_LIST_SCENE_H
#include "tools/list/list_report.h"
#include "tools/options/args.h"
#include "txmill/rules.h"

/* Loads the config of `args`; with `scene_space` it converts to that space, unless --working-space is given. */
txm_status txm_list_load_config(const txm_config_args *args, const char *scene_space, txm_color_config **out,
                                txm_error *err);

/* Options for finding tx files. */
typedef struct txm_list_how {
    const char *cache_dir;   /* as in txm_settings */
    bool deep;               /* tiles are decoded */
    const txm_rules *limits; /* their size limits apply; may be NULL */
    void *user;
    /* Whether a file's tx file is looked up; NULL: all are. Else its state has no meaning and its path is NULL. */
    bool (*wants)(void *user, const txm_list_report *report, const txm_scene_image *image,
                  const txm_scene_image_file *file);
} txm_list_how;

/* Fills report->lookups. */
txm_status txm_list_find(txm_list_report *report, txm_context *context, const txm_list_how *how, txm_error *err);
/* Fills report->findings: missing or unknown parts, mistakes in nodes, and findings about the images, which are read
 * for this. CANCELLED when *cancel becomes true. */
txm_status txm_list_find_faults(txm_list_report *report, const txm_color_config *config, const volatile int *cancel,
                                txm_error *err);

/* The first failure of the report where a retry may help: the list is printed, and the command fails. */
txm_status txm_list_failures(const txm_list_report *report, txm_error *err);

/* Frees what the functions above allocated, and the scene. */
void txm_list_report_free(txm_list_report *report);
#endif
