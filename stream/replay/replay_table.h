/* SPDX-License-Identifier: Apache-2.0
 *
 * Simulates caches of several sizes and policies with a trace.
 *
 * The room tools/replay is `txmill replay`: it reads a trace (trace.h) and prints a table as text, JSON and a plot,
 * which `txmill stream` also puts on its page.
 */
#ifndef TXM_TOOLS_REPLAY_TABLE_H
#define TXM_TOOLS_REPLAY_TABLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "txtile/trace.h"

enum { TXM_REPLAY_SCHEMA_VERSION = 1, TXM_REPLAY_SIZES = 64, TXM_REPLAY_POLICIES = 16 };

/* The request. Without sizes, some around the working set are used; without policies, all but "none". */
typedef struct txm_replay_request {
    uint64_t sizes[TXM_REPLAY_SIZES]; /* ascending */
    size_t size_count;
    uint32_t policies[TXM_REPLAY_POLICIES];
    size_t policy_count;
    bool brief; /* half as many default sizes, so that a page does not take longer than its picture */
    uint32_t keep_epochs, threads; /* threads 0: one per processor */
    double read_seconds;           /* time of one tile; 0: the mean of the traced run */
} txm_replay_request;

typedef struct txm_replay_table {
    const char *path;
    const txm_trace_info *info;
    txm_replay_request request; /* the request, with defaults filled in */
    txm_replay_counts all;      /* counts of a cache without a limit */
    txm_replay_counts *counts;  /* counts of each policy for each size; free() them */
} txm_replay_table;

/* "lru", "tiles", "none", "opt", as on the command line; NULL beyond. */
const char *txm_replay_policy_name(uint32_t policy);

/* Plays the whole trace for each cache. `progress`, which may be NULL, is called from any thread, one at a time;
 * with 0 of 0 before the trace is read for the first time, when the number of caches is not known yet. */
txm_status txm_replay_table_make(const char *path, const txm_trace *trace, const txm_replay_request *request,
                                 const volatile int *cancel, void (*progress)(size_t done, size_t all),
                                 txm_replay_table *out, txm_error *err);
void txm_replay_table_free(txm_replay_table *table);

const txm_replay_counts *txm_replay_counts_at(const txm_replay_table *table, size_t size, size_t policy);
double txm_replay_seconds(const txm_replay_table *table, const txm_replay_counts *counts);

/* "16M", as on the command line. */
enum { TXM_REPLAY_SIZE_TEXT = 24 };
char *txm_replay_size_text(uint64_t bytes, char out[TXM_REPLAY_SIZE_TEXT]);
/* The conclusion from the table, in a sentence. */
enum { TXM_REPLAY_VERDICT = 256 };
char *txm_replay_verdict(const txm_replay_table *table, char out[TXM_REPLAY_VERDICT]);

void txm_replay_print(const txm_replay_table *table);
void txm_replay_json(const txm_replay_table *table);
/* Writes an SVG element. `alone`: as a separate file, on white; else as a part of a page, in its colours. */
void txm_replay_plot(FILE *out, const txm_replay_table *table, int alone);
#endif
