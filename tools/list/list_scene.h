/* SPDX-License-Identifier: Apache-2.0
 * Opening a scene with a colour config, and looking its tx files up. */
#ifndef TXM_TOOLS_LIST_SCENE_H
#define TXM_TOOLS_LIST_SCENE_H
#include "tools/list/list_report.h"
#include "tools/options/args.h"

/* Loads the config that `args` ask for; with `scene_space`, converting to it unless --working-space says otherwise. */
txm_status txm_list_load_config(const txm_config_args *args, const char *scene_space, txm_color_config **out,
                                txm_error *err);

/* How tx files are looked up. */
typedef struct txm_list_how {
    const char *cache_dir; /* as in txm_settings */
    bool deep;             /* tiles are decoded */
} txm_list_how;

/* Fills report->lookups. */
txm_status txm_list_look_up(txm_list_report *report, txm_context *context, const txm_list_how *how, txm_error *err);
/* Fills report->findings: what is missing or unknown, what nodes do, what the images hold, which are read for it.
 * CANCELLED when *cancel becomes true. */
txm_status txm_list_find_faults(txm_list_report *report, const txm_color_config *config, const volatile int *cancel,
                                txm_error *err);

/* What of the report a retry may cure, as the first failure of it: the list is printed, and the command fails. */
txm_status txm_list_trouble(const txm_list_report *report, txm_error *err);

/* Frees what the functions above allocated, and the scene. */
void txm_list_report_free(txm_list_report *report);
#endif
