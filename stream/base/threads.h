/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that share work. A pool of `threads` counts the caller, which works while it waits; with one thread none is
 * started.
 */
#ifndef STREAM_THREADS_H
#define STREAM_THREADS_H
#include <stdbool.h>

typedef struct stm_pool stm_pool;
typedef struct stm_group stm_group;

/* The number of CPUs that this process may use (affinity mask and cgroup quota), at least 1. */
unsigned stm_cpu_count(void);

/* NULL, with errno, if threads cannot be started. */
stm_pool *stm_pool_new(unsigned threads);
void stm_pool_free(stm_pool *pool); /* its groups must have been freed; NULL-safe */

/* Jobs that are waited for together. */
stm_group *stm_group_new(stm_pool *pool);
/* Returns false if memory is exhausted: the job was not queued. */
bool stm_group_submit(stm_group *group, void (*fn)(void *arg), void *arg);
void stm_group_free(stm_group *group); /* waits first; NULL-safe */
#endif
