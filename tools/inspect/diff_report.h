/* SPDX-License-Identifier: Apache-2.0
 * The result of `txmill diff` for two files, as text, as JSON (diff.schema.json) and as a picture. */
#ifndef TXM_TOOLS_DIFF_REPORT_H
#define TXM_TOOLS_DIFF_REPORT_H
#include "txmill/inspect.h"

typedef struct txm_diff_report {
    const char *paths[2];
    txm_tx *tx[2]; /* NULL for ordinary images */
    const txm_difference *difference;
    bool within;   /* the thresholds */
    bool metadata; /* differs */
} txm_diff_report;

/* Calls `fn` for every property and metadata entry that differs; a value is NULL if the file has no such entry.
 * Returns their number. Nothing is compared if one side is an ordinary image. */
typedef void (*txm_diff_entry_fn)(void *user, const char *name, const char *a, const char *b);
size_t txm_diff_each_entry(const txm_diff_report *report, txm_diff_entry_fn fn, void *user);

void txm_diff_print_text(const txm_diff_report *report);
void txm_diff_print_json(const txm_diff_report *report);
void txm_diff_print_json_error(const char *const paths[2], const txm_error *err);

/* Writes the map of differences: equal pixels are black, others blue, red, yellow and white, which is the largest
 * error. */
txm_status txm_diff_write_map(const txm_difference *difference, const char *path, txm_error *err);
#endif
