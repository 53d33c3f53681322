/* SPDX-License-Identifier: Apache-2.0
 *
 * The combined results of several runs of `txmill make --json`. An image that failed in one run and was made by a
 * later one counts as made; an image in several runs counts once.
 *
 * The room tools/report makes the page of `txmill report`: report_data.c reads logs, report_sums.c adds up,
 * report_tables.c and report_page.c write HTML; the build puts report.css and report.js into the page.
 */
#ifndef TXM_TOOLS_REPORT_DATA_H
#define TXM_TOOLS_REPORT_DATA_H
#include "base/names.h"
#include "tools/make/run_log.h"
#include "tools/output/words.h"
#include "txmill/batch.h"

/* One image. Strings are owned by the report; NULL if the log has no value. */
typedef struct txm_report_file {
    const char *input, *tx, *space, *type, *reader, *via;
    const char *image;            /* the input's absolute path: runs may name one image in different ways */
    const char *status, *message; /* a failure's status, and its message without the subject */
    size_t next_failed;           /* the next file that failed for the same reason, its index + 1; 0: none */
    txm_made state;
    bool retryable;
    unsigned lint;                            /* bits of txm_lint */
    size_t run;                               /* index of its run, from 0 */
    unsigned made;                            /* how often it was made, in all runs */
    uint32_t width, height, levels, channels; /* channels 0: the pixels are unknown */
    uint32_t type_bytes, tile_px;
    uint64_t source_bytes, tx_bytes;
    float seconds, stages[TXM_STAGES];
} txm_report_file;

/* Failures with the same message, apart from the name of the image. */
typedef struct txm_report_reason {
    const char *text, *status;
    bool retryable;
    size_t count, first, last; /* how many; indices of files */
} txm_report_reason;

/* One run, from its summary. */
typedef struct txm_report_run {
    const char *log;        /* its file */
    bool complete;          /* it has a summary; otherwise it was killed, or is still running */
    uint32_t shard, shards; /* 0: not divided */
    const char *list_key;   /* NULL: not divided */
    uint64_t listed, inputs, created, failed, not_started;
    double seconds;
    int exit_code;
    bool failed_whole; /* its summary says that the whole run failed, */
    const char *error; /* the reason; NULL: unknown */
} txm_report_run;

/* Zero-initialise. */
typedef struct txm_report {
    txm_names strings, index; /* index: of files by input and tx, of runs by log */
    txm_report_file *files;
    size_t file_count, file_capacity;
    txm_report_run *runs;
    size_t run_count, run_capacity;
    txm_report_reason *reasons; /* those that a retry does not cure come first, then the most frequent */
    size_t reason_count, reason_capacity;
    size_t foreign; /* lines of logs that are not objects of txmill */
} txm_report;

/* Adds a log. Fails like txm_run_log_read. */
txm_status txm_report_add(txm_report *report, const char *log, txm_error *err);
/* Reads the levels and pixel types of files that were up to date, which the log does not have, from their tx files.
 * Missing ones remain unknown. */
txm_status txm_report_examine(txm_report *report, txm_error *err);
void txm_report_free(txm_report *report);

/* ---- sums ------------------------------------------------------------------------------------------------------- */

typedef struct txm_report_memory {
    size_t files;                       /* number of files whose pixels are known */
    uint64_t tiles;                     /* tiles of all their levels */
    double full;                        /* bytes of the whole images, as in Cycles without a texture cache */
    double from[TXM_MAX_LOOKUP_LEVELS]; /* bytes of all levels from this one on */
} txm_report_memory;

typedef struct txm_report_sums {
    size_t states[TXM_MADE_COUNT], images, retryable, made_twice;
    size_t lint[8];                     /* findings by bit */
    uint64_t source_bytes, tx_bytes;    /* sizes of the images that have a tx file */
    double stages[TXM_STAGES], seconds; /* seconds of processors; elapsed seconds of runs */
    txm_report_memory memory;
    /* Shards. */
    size_t lists;          /* different list keys among the runs */
    uint32_t shards;       /* the number of shards; 0: not divided, or not all in the same way */
    size_t shards_missing; /* number of shards without a complete run */
    size_t incomplete;     /* runs without a summary: killed, or still running */
    size_t broken;         /* runs that ended with an error, without a later successful run of the same shard */
    const char *error;     /* message of the last of them; NULL: its images failed, or the reason is unknown */
    bool unfinished;       /* without shards: the last run was stopped, or is still running */
} txm_report_sums;

/* The first result on the page and in the summary, from the worst. */
typedef enum txm_report_verdict {
    TXM_REPORT_RUN_BROKEN,  /* a run as a whole failed, or ended with an error */
    TXM_REPORT_SOME_FAILED, /* images failed */
    TXM_REPORT_NOTHING,     /* no image was converted, up to date or usable directly */
    TXM_REPORT_OPEN,        /* shards or images are missing, or the last run did not end by itself */
    TXM_REPORT_DONE
} txm_report_verdict;

txm_report_verdict txm_report_verdict_of(const txm_report_sums *sums);
/* "failed", "nothing-done", "open" or "done". */
const char *txm_report_verdict_name(txm_report_verdict verdict);

/* "permanent", or "temporary" if a retry may succeed. */
const char *txm_report_reason_kind(const txm_report_reason *reason);

/* Drops failures that later runs made up for, groups and adds up the rest; nothing may be added to the report
 * afterwards. NO_MEMORY. */
txm_status txm_report_sum(txm_report *report, txm_report_sums *sums, txm_error *err);
#endif
