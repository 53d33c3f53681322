/* SPDX-License-Identifier: Apache-2.0
 *
 * The report of `txmill list` about a scene, printed as text and as JSON.
 *
 * In tools/list, list_scene.c opens a scene and looks up its files, list_findings.c finds errors, list_text.c and
 * list_json.c print.
 */
#ifndef TXM_TOOLS_LIST_REPORT_H
#define TXM_TOOLS_LIST_REPORT_H
#include "tools/output/summary.h"
#include "txmill/inspect.h"
#include "txmill/scene.h"

/* An error or likely mistake in a scene: of its nodes (txm_scene_finding), or something that is missing. */
typedef struct txm_list_finding {
    const char *id;      /* "missing-file" ... */
    char *message;       /* owned */
    const char *image;   /* name, NULL if it is not about an image */
    const char *library; /* path, NULL if it is not about a library */
} txm_list_finding;

typedef struct txm_list_report {
    const char *scene; /* path as given */
    txm_scene *opened;
    const txm_color_config *config; /* distinguishes roles from aliases */
    /* The tx file of every file of every image, in this order; for missing files the state has no meaning. */
    txm_found *lookups;
    size_t lookup_count;
    txm_list_finding *findings;
    size_t finding_count;
} txm_list_report;

void txm_list_print_text(const txm_list_report *report);
/* Counts the scene's textures by the state of their tx files. */
void txm_list_sum(const txm_list_report *report, txm_summary *summary);
/* False when memory is exhausted. */
bool txm_list_print_json(const txm_list_report *report);

#endif
