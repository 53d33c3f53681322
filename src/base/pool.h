/* SPDX-License-Identifier: Apache-2.0
 *
 * One pool of threads for the whole process.
 *
 * `threads` counts every thread that computes, including the caller while it waits: txm_group_wait runs jobs on the
 * calling thread. With one thread none is started, and all work runs inside txm_group_wait. A job may submit further
 * jobs and may wait for a group itself: while it waits it runs other jobs, so that nesting neither deadlocks nor
 * oversubscribes.
 *
 * A strand runs its jobs one after the other in the order in which they were submitted, on any free thread, so that
 * state which only one strand uses needs no lock. A strand of writers runs on additional threads, one for four of those
 * that are counted: they sleep while they wait for a slow disk, and do not reduce the number of threads that compute.
 * Pools of one thread have none.
 */
#ifndef TXM_BASE_POOL_H
#define TXM_BASE_POOL_H
#include <stdbool.h>
#include <stddef.h>

typedef struct txm_pool txm_pool;
typedef struct txm_group txm_group;
typedef struct txm_strand txm_strand;
typedef void (*txm_job_fn)(void *arg);

/* `threads` is at least 1. NULL, with errno, if threads cannot be started. */
txm_pool *txm_pool_new(unsigned threads);
void txm_pool_free(txm_pool *pool); /* nothing may use it any more; NULL-safe */
unsigned txm_pool_threads(const txm_pool *pool);

/* For jobs that wait for a device. Between txm_pool_leave and txm_pool_return, which may wait for its turn, a thread
 * does not count, so that a spare one can begin another job; there are up to `count` of these, or fewer if they cannot
 * be started. A thread that is in no job may call both, to no effect. */
void txm_pool_spare(txm_pool *pool, unsigned count);
void txm_pool_leave(txm_pool *pool);
void txm_pool_return(txm_pool *pool);
/* Runs a job if there is one. */
bool txm_pool_help(txm_pool *pool);

/* A group counts unfinished jobs. */
txm_group *txm_group_new(txm_pool *pool);
/* A group of whole tasks (files): only threads that are not inside a job start its jobs, so that a task which waits for
 * its own jobs never starts another task on top of itself. Inside a job it is a group like any other, since a thread
 * that waits for it could not start its tasks. */
txm_group *txm_group_new_outer(txm_pool *pool);
void txm_group_free(txm_group *group); /* waits first; NULL-safe */

/* Queues `fn(arg)`. `urgent` jobs run before the others (they free memory or unblock others). Returns false if memory
 * is exhausted: the job was not queued. */
bool txm_group_submit(txm_group *group, bool urgent, txm_job_fn fn, void *arg);
/* Runs jobs (of any group) until at most `limit` jobs of this group are unfinished. */
void txm_group_wait(txm_group *group, size_t limit);
/* Runs jobs until done(arg) returns true. It is called with the pool's lock held after every job that finishes
 * anywhere, so it may only read atomics. */
void txm_pool_wait_until(txm_pool *pool, bool (*done)(void *arg), void *arg);

txm_strand *txm_strand_new(txm_group *group);
txm_strand *txm_strand_new_writer(txm_group *group);
bool txm_strand_submit(txm_strand *strand, txm_job_fn fn, void *arg);
void txm_strand_free(txm_strand *strand); /* its jobs must be done; NULL-safe */
#endif
