/* SPDX-License-Identifier: Apache-2.0
 *
 * Simulates caches of several sizes and policies with a trace.
 *
 * The room tools/replay is `txmill replay`: it reads a trace (trace.h) and prints a table as text, JSON and a plot,
 * which `txmill stream` also puts on its page.
 */
#ifndef STM_TOOLS_REPLAY_TABLE_H
#define STM_TOOLS_REPLAY_TABLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "txtile/trace.h"

enum { STM_REPLAY_SIZES = 64, STM_REPLAY_POLICIES = 16 };

/* The request. Without sizes, some around the working set are used; without policies, all but "none". */
typedef struct stm_replay_request {
    uint64_t sizes[STM_REPLAY_SIZES]; /* ascending */
    size_t size_count;
    uint32_t policies[STM_REPLAY_POLICIES];
    size_t policy_count;
    bool brief; /* half as many default sizes, so that a page does not take longer than its picture */
    uint32_t keep_epochs, threads; /* threads 0: one per processor */
    double read_seconds;           /* time of one tile; 0: the mean of the traced run */
} stm_replay_request;

typedef struct stm_replay_table {
    const char *path;
    const txm_trace_info *info;
    stm_replay_request request; /* the request, with defaults filled in */
    txm_replay_counts all;      /* counts of a cache without a limit */
    txm_replay_counts *counts;  /* counts of each policy for each size; free() them */
} stm_replay_table;

/* "lru", "tiles", "none", "opt", as on the command line; NULL beyond. */
const char *stm_replay_policy_name(uint32_t policy);

/* Plays the whole trace for each cache. `progress`, which may be NULL, is called from any thread, one at a time;
 * with 0 of 0 before the trace is read for the first time, when the number of caches is not known yet. */
txm_status stm_replay_table_make(const char *path, const txm_trace *trace, const stm_replay_request *request,
                                 const volatile int *cancel, void (*progress)(size_t done, size_t all),
                                 stm_replay_table *out, txm_error *err);
void stm_replay_table_free(stm_replay_table *table);

const txm_replay_counts *stm_replay_counts_at(const stm_replay_table *table, size_t size, size_t policy);
double stm_replay_seconds(const stm_replay_table *table, const txm_replay_counts *counts);

/* "16M", as on the command line. */
enum { STM_REPLAY_SIZE_TEXT = 24 };
char *stm_replay_size_text(uint64_t bytes, char out[STM_REPLAY_SIZE_TEXT]);
/* The conclusion from the table, in a sentence. */
enum { STM_REPLAY_VERDICT = 256 };
char *stm_replay_verdict(const stm_replay_table *table, char out[STM_REPLAY_VERDICT]);

void stm_replay_print(const stm_replay_table *table);
void stm_replay_json(const stm_replay_table *table);
/* Writes an SVG element. `alone`: as a separate file, on white; else as a part of a page, in its colours. */
void stm_replay_plot(FILE *out, const stm_replay_table *table, int alone);
#endif
