/* SPDX-License-Identifier: Apache-2.0
 *
 * What runs of `txmill make --json` say together. An image that failed in one run and was made by a later one (a retry,
 * another shard's) is made; one that several runs met counts once.
 */
#ifndef TXM_TOOLS_REPORT_DATA_H
#define TXM_TOOLS_REPORT_DATA_H
#include "batch/names.h"
#include "tools/make/run_log.h"
#include "tools/make/stages.h"
#include "txmill/batch.h"

typedef enum txm_report_state {
    TXM_REPORT_FAILED,
    TXM_REPORT_CREATED,
    TXM_REPORT_UP_TO_DATE,
    TXM_REPORT_SKIPPED,
    TXM_REPORT_WOULD_CREATE,
    TXM_REPORT_STATES
} txm_report_state;

/* One image. Strings are the report's; NULL where the log does not say. */
typedef struct txm_report_file {
    const char *input, *tx, *space, *type, *reader, *via;
    const char *status, *message; /* of a failure */
    txm_report_state state;
    bool retryable;
    unsigned lint;                            /* bits of txm_lint */
    size_t run;                               /* that it is of, from 0 */
    unsigned made;                            /* how often, in all runs */
    uint32_t width, height, levels, channels; /* channels 0: the pixels are not known */
    uint32_t type_bytes, tile_px;
    uint64_t source_bytes, tx_bytes;
    float seconds, stages[TXM_STAGES];
} txm_report_file;

/* One run: what its summary says. */
typedef struct txm_report_run {
    const char *log;        /* its file */
    bool complete;          /* it has a summary; else it was killed, or goes on */
    uint32_t shard, shards; /* 0: it was not divided */
    const char *list_key;   /* NULL: not divided */
    uint64_t listed, inputs, created, failed, not_started;
    double seconds;
    int exit_code;
} txm_report_run;

/* Zero-initialise. */
typedef struct txm_report {
    txm_names strings, index; /* index: of files by input and tx, of runs by log */
    txm_report_file *files;
    size_t file_count, file_capacity;
    txm_report_run *runs;
    size_t run_count, run_capacity;
    size_t foreign; /* lines of logs that were none of ours */
} txm_report;

/* Adds a log. As txm_run_log_read. */
txm_status txm_report_add(txm_report *report, const char *log, txm_error *err);
/* Looks into the tx files of what was up to date: their levels and pixels, which the log does not say. Those that are
 * not there (any more) stay unknown. */
void txm_report_look(txm_report *report);
void txm_report_free(txm_report *report);

/* ---- sums ------------------------------------------------------------------------------------------------------- */

typedef struct txm_report_memory {
    size_t files;                /* whose pixels are known */
    uint64_t tiles;              /* of all their levels */
    double full;                 /* bytes of the whole images, as Cycles holds them without a texture cache */
    double from[TXM_MAX_LEVELS]; /* bytes of all levels from this one on */
} txm_report_memory;

typedef struct txm_report_sums {
    size_t states[TXM_REPORT_STATES], images, retryable, made_twice;
    size_t lint[8];                     /* by bit */
    uint64_t source_bytes, tx_bytes;    /* of the images that have a tx file */
    double stages[TXM_STAGES], seconds; /* of processors; of runs */
    txm_report_memory memory;
    /* Shards. */
    size_t lists;          /* different list keys among the runs */
    uint32_t shards;       /* into how many the inputs were divided; 0: not, or not all alike */
    size_t shards_missing; /* of which there is no complete run */
    size_t incomplete;     /* runs without a summary: killed, or going on */
    bool unfinished;       /* without shards: the last run was stopped or killed, or goes on */
} txm_report_sums;

/* Drops the failures that later runs made up for, and adds up the rest: nothing can be added to the report then.
 * NO_MEMORY. */
txm_status txm_report_sum(txm_report *report, txm_report_sums *sums, txm_error *err);
#endif
