/* SPDX-License-Identifier: Apache-2.0
 * The result of `txmill verify` for one tx file, as text and as JSON (verify.schema.json). */
#ifndef TXM_TOOLS_VERIFY_REPORT_H
#define TXM_TOOLS_VERIFY_REPORT_H
#include <cjson/cJSON.h>

#include "txmill/inspect.h"

typedef struct txm_verify_report {
    const char *path;
    bool deep;
    const txm_findings *findings;
    const txm_verdict *verdict;
} txm_verify_report;

/* Whether there is a warning or an error among the findings. */
bool txm_verify_failed(const txm_findings *findings);

/* Prints one line for the file and one per finding; if quiet, only files with errors or warnings, without notes. */
void txm_verify_print_text(const txm_verify_report *report, bool quiet);
void txm_verify_print_json(const txm_verify_report *report);
/* The member `findings` of other reports. */
void txm_verify_add_findings(cJSON *object, const txm_findings *findings);
#endif
