/* SPDX-License-Identifier: Apache-2.0
 *
 * The result of `txmill report` as JSON, and its page (tools/page).
 */
#ifndef TXM_TOOLS_REPORT_PAGE_H
#define TXM_TOOLS_REPORT_PAGE_H
#include <cjson/cJSON.h>

#include "tools/report/report_data.h"

/* The most that the page lists; a note says how many more there are. */
enum { TXM_REPORT_MOST_FAILURES = 1000, TXM_REPORT_SLOWEST = 25, TXM_REPORT_MOST_LINT = 200 };

/* The object that --json prints; for txm_json_emit. */
cJSON *txm_report_json(const txm_report *report, const txm_report_sums *sums);
/* Writes the page to `output`, "-" for standard output; it appears complete or not at all. `title` may be NULL. */
txm_status txm_report_page(const txm_report *report, const txm_report_sums *sums, const char *title, const char *output,
                           txm_error *err);
#endif
