/* SPDX-License-Identifier: Apache-2.0
 *
 * The first failure of any stage, a cancellation among them, stops the others at their next check.
 */
#include "mill/convert/job.h"
#include "base/cancel.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/os/clock.h"

#include <string.h>

/* Call txm_job_destroy even after a failure. */
txm_status txm_job_init(txm_job *job, txm_pool *pool, const volatile int *cancel, bool timed, txm_error *err)
{
    memset(job, 0, sizeof *job);
    job->pool = pool;
    job->cancel = cancel;
    job->timed = timed;
    pthread_mutex_init(&job->lock, NULL);
    job->group = txm_group_new(pool);
    job->bands = txm_band_pool_new();
    return job->group && job->bands ? TXM_OK : txm_no_memory(err, NULL);
}

void txm_job_destroy(txm_job *job)
{
    txm_group_free(job->group);
    txm_band_pool_free(&job->bands);
    pthread_mutex_destroy(&job->lock);
}

void txm_job_fail(txm_job *job, const txm_error *error)
{
    pthread_mutex_lock(&job->lock);
    if (job->error.status == TXM_OK)
        job->error = *error;
    pthread_mutex_unlock(&job->lock);
    atomic_store(&job->stopped, true);
}

bool txm_job_no_memory(txm_job *job)
{
    txm_error error = {0};
    txm_no_memory(&error, NULL);
    txm_job_fail(job, &error);
    return false;
}

bool txm_job_runs(txm_job *job)
{
    if (atomic_load_explicit(&job->stopped, memory_order_relaxed))
        return false;
    if (txm_is_cancelled(job->cancel)) {
        txm_error error = {0};
        txm_fail(&error, TXM_STATUS_CANCELLED, "stopped on request");
        txm_job_fail(job, &error);
        return false;
    }
    return true;
}

unsigned long long txm_job_clock(const txm_job *job)
{
    return job->timed ? txm_clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
}

void txm_job_book(txm_job *job, txm_stage stage, unsigned long long since)
{
    if (job->timed)
        atomic_fetch_add_explicit(&job->stage_ns[stage], txm_job_clock(job) - since, memory_order_relaxed);
}
