/* SPDX-License-Identifier: Apache-2.0
 * Opening a scene with a colour config, and looking its tx files up. */
#ifndef TXM_TOOLS_LIST_SCENE_H
#define TXM_TOOLS_LIST_SCENE_H
#include "args.h"
#include "list_report.h"

/* Loads the config that `args` ask for; with `scene_space`, converting to it unless --working-space says otherwise. */
txm_status txm_list_load_config(const txm_config_args *args, const char *scene_space, txm_color_config **out,
                                txm_error *err);

/* Fills report->lookups. */
txm_status txm_list_look_up(txm_list_report *report, const txm_color_config *config, const char *cache_dir,
                            txm_error *err);
/* Fills report->findings: those of the nodes, and all that is missing or unknown. */
txm_status txm_list_find_faults(txm_list_report *report, txm_error *err);

/* Frees what the functions above allocated, and the scene. */
void txm_list_report_free(txm_list_report *report);
#endif
