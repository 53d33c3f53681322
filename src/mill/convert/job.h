/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stages of one conversion share: the pool, the first error, the clock of the stages.
 *
 * A conversion is a row of stages on a pool of threads that other conversions use as well: bands of rows go
 * from stage to stage, and the group knows what is still under way. The first error wins and makes the others
 * stop early; the file that was begun is thrown away.
 */
#ifndef TXM_CONVERT_JOB_H
#define TXM_CONVERT_JOB_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "mill/convert/band.h"
#include "tile/base/pool.h"
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
    txm_group *group;           /* everything that this conversion has under way */
    txm_band_pool *bands;       /* the memory of its bands */
    const volatile int *cancel; /* may be NULL */
    pthread_mutex_t lock;       /* guards error */
    txm_error error;            /* the first one */
    atomic_bool stopped;        /* an error or a cancellation: stages stop early, their output is thrown away */
    bool timed;
    atomic_ullong stage_ns[TXM_STAGES]; /* CPU time */
} txm_job;

txm_status txm_job_init(txm_job *job, txm_pool *pool, const volatile int *cancel, bool timed, txm_error *err);
void txm_job_destroy(txm_job *job);

/* Records a failure of any thread; the first one counts. */
void txm_job_fail(txm_job *job, const txm_error *error);
/* Whether to go on; turns a cancellation into an error. */
bool txm_job_runs(txm_job *job);

/* CPU time of this thread, 0 when stages are not timed; `add` books the time since then. */
unsigned long long txm_job_clock(const txm_job *job);
void txm_job_book(txm_job *job, txm_stage stage, unsigned long long since);
#endif
