/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of `txmill report`: one file that is complete without scripts and loads nothing. Texts from the logs are
 * escaped, and a content security policy has the digests of style and script.
 */
#ifndef TXM_TOOLS_REPORT_PAGE_H
#define TXM_TOOLS_REPORT_PAGE_H
#include <stdio.h>

#include "tools/report/report_data.h"

/* Maximum rows of tables; a note says how many more there are. */
enum { TXM_REPORT_MOST_FAILURES = 1000, TXM_REPORT_SLOWEST = 25, TXM_REPORT_MOST_LINT = 200 };

/* Writes the page to `output`, "-" for standard output; it appears complete or not at all. `title` may be NULL. */
txm_status txm_report_page(const txm_report *report, const txm_report_sums *sums, const char *title, const char *output,
                           txm_error *err);

/* The sections after the totals, in the order of the page; each is left out if it is empty. */
void txm_report_failures(FILE *out, const txm_report *report);
void txm_report_runs(FILE *out, const txm_report *report, const txm_report_sums *sums);
void txm_report_disk(FILE *out, const txm_report *report, const txm_report_sums *sums);
void txm_report_memory_section(FILE *out, const txm_report_sums *sums);
void txm_report_times(FILE *out, const txm_report_sums *sums);
void txm_report_slowest(FILE *out, const txm_report *report);
void txm_report_lint(FILE *out, const txm_report *report, const txm_report_sums *sums);
#endif
