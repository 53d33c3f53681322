/* SPDX-License-Identifier: Apache-2.0
 *
 * What runs of `txmill make --json` say together. An image that failed in one run and was made by a later one (a
 * retry, another shard's) is made; one that several runs met counts once.
 *
 * The room tools/report makes the page of `txmill report`: logs come in here, report_sums.c adds up, report_tables.c
 * and report_page.c write HTML; report.css and report.js are put into the page by the build.
 */
#ifndef TXM_TOOLS_REPORT_DATA_H
#define TXM_TOOLS_REPORT_DATA_H
#include "mill/base/names.h"
#include "tools/make/run_log.h"
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
    bool failed_whole; /* it says that it could not do its work at all, */
    const char *error; /* and why; NULL: it does not */
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
txm_status txm_report_look(txm_report *report, txm_error *err);
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
    size_t broken;         /* runs that ended with an error and that no later run, of the same shard, made up for */
    const char *error;     /* of the last of them; NULL: its images failed, or it did not say */
    bool unfinished;       /* without shards: the last run was stopped, or is still running */
} txm_report_sums;

/* What the page and the summary say first, from the worst. */
typedef enum txm_report_verdict {
    TXM_REPORT_RUN_BROKEN,  /* a run as a whole failed, or ended with an error */
    TXM_REPORT_SOME_FAILED, /* images failed */
    TXM_REPORT_NOTHING,     /* no image was converted, up to date or fit as it is */
    TXM_REPORT_OPEN,        /* shards or images are missing, or the last run did not end by itself */
    TXM_REPORT_DONE
} txm_report_verdict;

txm_report_verdict txm_report_verdict_of(const txm_report_sums *sums);
/* "failed", "nothing-done", "open" or "done". */
const char *txm_report_verdict_name(txm_report_verdict verdict);

/* Drops the failures that later runs made up for, and adds up the rest: nothing can be added to the report then.
 * NO_MEMORY. */
txm_status txm_report_sum(txm_report *report, txm_report_sums *sums, txm_error *err);
#endif
