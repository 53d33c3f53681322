/* SPDX-License-Identifier: Apache-2.0
 *
 * One pool of threads for the whole process.
 *
 * `threads` counts every thread that computes, the waiting caller included: txm_pool_wait lends the calling thread to
 * the pool. With one thread nothing is started and all work runs inside wait. A job may submit further jobs and may
 * wait for a group itself: while it waits it runs other jobs, so nesting never deadlocks and never oversubscribes.
 *
 * A strand runs its jobs one after the other in the order they were submitted, on whatever thread is free: state that
 * only one strand touches needs no lock. A strand of writers runs on threads of its own beside those that are counted,
 * one for four of them: they sleep while a slow disk lets them wait, and nobody computes less. Pools of one thread have
 * none.
 */
#ifndef TXM_BASE_POOL_H
#define TXM_BASE_POOL_H
#include <stdbool.h>
#include <stddef.h>

#include "tile/base/shared.h"

typedef struct txm_pool txm_pool;
typedef struct txm_group txm_group;
typedef struct txm_strand txm_strand;
typedef void (*txm_job_fn)(void *arg);

/* `threads` is at least 1. NULL, with errno, when threads cannot be started. */
TXM_SHARED txm_pool *txm_pool_new(unsigned threads);
TXM_SHARED void txm_pool_free(txm_pool *pool); /* nothing may use it any more; NULL-safe */
TXM_SHARED unsigned txm_pool_threads(const txm_pool *pool);
/* Processors that this process may use (affinity mask and cgroup quota), at least 1. */
TXM_SHARED unsigned txm_cpu_count(void);

/* A group counts unfinished jobs. */
TXM_SHARED txm_group *txm_group_new(txm_pool *pool);
/* A group of whole tasks (files): its jobs are started only by threads that are not inside a job already, so that a
 * task which waits for its own jobs never starts another task on top of itself. Inside of a job it is a group like any
 * other: who waits for it could not start its tasks. */
TXM_SHARED txm_group *txm_group_new_outer(txm_pool *pool);
TXM_SHARED void txm_group_free(txm_group *group); /* waits first; NULL-safe */

/* Queues `fn(arg)`. `urgent` jobs run before the others (they free memory or unblock others). Returns false when
 * memory is exhausted: the job was not queued. */
TXM_SHARED bool txm_group_submit(txm_group *group, bool urgent, txm_job_fn fn, void *arg);
/* Runs jobs (of any group) until at most `limit` jobs of this group are unfinished. */
TXM_SHARED void txm_group_wait(txm_group *group, size_t limit);
/* Runs jobs until done(arg) holds. It is asked, under the pool's lock, after every job that finishes anywhere: it must
 * only look at atomics. */
TXM_SHARED void txm_pool_wait_until(txm_pool *pool, bool (*done)(void *arg), void *arg);

TXM_SHARED txm_strand *txm_strand_new(txm_group *group);
TXM_SHARED txm_strand *txm_strand_new_writer(txm_group *group);
TXM_SHARED bool txm_strand_submit(txm_strand *strand, txm_job_fn fn, void *arg);
TXM_SHARED void txm_strand_free(txm_strand *strand); /* its jobs must be done; NULL-safe */
#endif
