/* SPDX-License-Identifier: Apache-2.0
 * Logs of runs: what `txmill make --json` printed, read back. */
#ifndef TXM_TOOLS_RUN_LOG_H
#define TXM_TOOLS_RUN_LOG_H
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txmill/status.h"

typedef struct txm_run_log_counts {
    size_t objects, foreign; /* foreign: lines that are no objects of `txmill make` */
    bool cut;                /* the last line is not whole: the run was killed, or goes on */
} txm_run_log_counts;

/* Called with each object of a run, "file" or "summary" by its member `type`; it is freed afterwards. A status that is
 * not TXM_OK ends the reading. */
typedef txm_status (*txm_run_log_fn)(void *user, const cJSON *object, txm_error *err);

/* Reads a log, "-" for standard input. Lines that are none of ours are counted and passed over: schedulers mix other
 * output in. NOT_FOUND, DENIED, IO, CORRUPT for a line of more than 16 MiB, NEWER, NO_MEMORY, what `fn` returned. */
txm_status txm_run_log_read(const char *path, txm_run_log_fn fn, void *user, txm_run_log_counts *counts,
                            txm_error *err);

/* Members of an object: NULL, 0 or false where they are absent or of another kind. */
const char *txm_run_log_text(const cJSON *object, const char *name);
double txm_run_log_number(const cJSON *object, const char *name);
bool txm_run_log_flag(const cJSON *object, const char *name);
/* A whole number from 0 to `most`; others count as 0. */
uint64_t txm_run_log_count(const cJSON *object, const char *name, uint64_t most);
/* The exact bytes of a path member: those of NAME_encoded, where it is there. New string; NULL when it is absent or
 * memory is exhausted. */
char *txm_run_log_path(const cJSON *object, const char *name);
#endif
