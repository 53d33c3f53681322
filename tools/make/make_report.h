/* SPDX-License-Identifier: Apache-2.0
 *
 * The results of `txmill make`: a line or a JSON object per file, a summary, the exit code.
 * make.schema.json describes the JSON. Thread-safe.
 */
#ifndef TXM_TOOLS_MAKE_REPORT_H
#define TXM_TOOLS_MAKE_REPORT_H
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "tools/make/make_text.h"
#include "tools/options/shard_args.h"
#include "tools/output/exits.h"
#include "txmill/batch.h"
#include "txmill/unwrap.h"

typedef struct txm_make_report {
    pthread_mutex_t lock;
    bool stopped;                    /* the run failed as a whole */
    bool json, quiet, verbose, plan; /* plan: costs are shown */
    bool watching;                   /* a round without work prints nothing */
    bool lint;                       /* each finding has a line of its own */
    size_t guessed;                  /* data by their names, but made as colours */
    char guesses[160];               /* names of the first ones */
    size_t lines;                    /* number of printed lines, one per file */
    uint32_t tile_px;                /* tiles of the files that are made */
    int key;                         /* only keys are printed: 1 of the settings, 2 of the content as well */
    txm_shard_args shard;            /* count 0: none */
    size_t inputs;                   /* length of the list (of the shard); not all of them need be started */
    size_t count[TXM_OUTCOME_SAME + 1];
    txm_batch_totals totals;
    char list_key[TXM_KEY_HEX]; /* copy of the key in the totals */
    txm_tally tally;
    uint64_t tx_bytes;
    txm_make_pixels pixels; /* of all images */
    const char *cache_dir;  /* where tx files are put; NULL: blender_tx */
    char elsewhere[256];    /* the first tx file that is up to date in another folder, where Cycles looks too */
    size_t elsewhere_count;
    size_t converted; /* files that OpenColorIO converted; counted if stages are timed */
    double begin;     /* the monotonic clock at the start */
    FILE *log;        /* also gets the JSON; NULL: none */
    const char *log_path;
    int log_errno; /* errno of a line that could not be written; 0: none */
} txm_make_report;

void txm_make_report_init(txm_make_report *report, bool json, bool quiet, bool plan, int key);

/* Opens a log that also gets the JSON; `path` may be NULL. NOT_FOUND, DENIED, IO, DISK_FULL ... */
txm_status txm_make_report_open_log(txm_make_report *report, const char *path, txm_error *err);

/* Prints a JSON object, which it frees, where the run prints or logs them. */
void txm_make_report_emit(void *report, cJSON *object);

/* The events of a batch. */
void txm_make_report_planned(txm_make_report *report, const txm_batch_totals *totals);
void txm_make_report_add(txm_make_report *report, const txm_batch_file *file);

/* The mesh of a Ptex file, before its pages are converted. Pages that would be made count as files to create. */
void txm_make_report_mesh(txm_make_report *report, const char *ptex, const char *mesh, const txm_unwrapped *made);

/* The run as a whole failed: inputs without a result fail with `err`, which gets an object of its own. */
void txm_make_report_stop(txm_make_report *report, const txm_error *err);

/* Prints the summary; returns the exit code. */
int txm_make_report_finish(txm_make_report *report);
#endif
