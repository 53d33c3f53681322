/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stages of a conversion share: the pool, the first error, and the CPU times of the stages. Several
 * conversions use the same pool; the group of a job contains the work that is still in progress. The first error is
 * kept and makes the other stages stop early; the file is then discarded.
 */
#ifndef TXM_CONVERT_JOB_H
#define TXM_CONVERT_JOB_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "base/pool.h"
#include "mill/convert/band.h"
#include "txmill/convert.h"

typedef enum txm_stage {
    TXM_STAGE_DECODE,
    TXM_STAGE_CONFORM,
    TXM_STAGE_COLOR,
    TXM_STAGE_PYRAMID,
    TXM_STAGE_HASH,
    TXM_STAGE_ENCODE,
    TXM_STAGE_BORDERS,
    TXM_STAGE_WRITE,
    TXM_STAGES
} txm_stage;

typedef struct txm_job {
    txm_pool *pool;
    txm_group *group;           /* all queued and running work of this conversion */
    txm_band_pool *bands;       /* the memory of its bands */
    const volatile int *cancel; /* may be NULL */
    pthread_mutex_t lock;       /* guards `error` */
    txm_error error;            /* the first one */
    atomic_bool stopped;        /* an error or a cancellation: stages stop early, and their output is discarded */
    bool timed;
    atomic_ullong stage_ns[TXM_STAGES]; /* CPU time */
} txm_job;

txm_status txm_job_init(txm_job *job, txm_pool *pool, const volatile int *cancel, bool timed, txm_error *err);
void txm_job_destroy(txm_job *job);

/* Records a failure, on any thread; the first one is kept. */
void txm_job_fail(txm_job *job, const txm_error *error);
/* The same for a lack of memory; false, for callers to return. */
bool txm_job_no_memory(txm_job *job);
/* Whether to continue; turns a cancellation into an error. */
bool txm_job_runs(txm_job *job);

/* CPU time of this thread, 0 if stages are not timed; `add` adds the time since then to a stage. */
unsigned long long txm_job_clock(const txm_job *job);
void txm_job_book(txm_job *job, txm_stage stage, unsigned long long since);
#endif
