/* SPDX-License-Identifier: Apache-2.0
 * One queue of jobs, guarded by one lock: a job is a row of pixels or a wave of paths, which takes far longer. */
#include "base/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

typedef struct job {
    struct job *next;
    void (*fn)(void *arg);
    void *arg;
    stm_group *group;
} job;

struct stm_pool {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a job was queued or has ended, or the pool is closing */
    job *first, **last;
    pthread_t *threads;
    unsigned started;
    bool closing;
};

struct stm_group {
    stm_pool *pool;
    size_t unfinished;
};

/* Runs the next job; the lock is held on entry and return. */
static void run_job(stm_pool *pool)
{
    job *j = pool->first;
    pool->first = j->next;
    if (!j->next)
        pool->last = &pool->first;
    pthread_mutex_unlock(&pool->lock);
    j->fn(j->arg);
    pthread_mutex_lock(&pool->lock);
    j->group->unfinished--;
    free(j);
    pthread_cond_broadcast(&pool->changed);
}

static void *work(void *arg)
{
    stm_pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    while (!pool->closing)
        if (pool->first)
            run_job(pool);
        else
            pthread_cond_wait(&pool->changed, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

stm_pool *stm_pool_new(unsigned threads)
{
    stm_pool *pool = stm_calloc(1, sizeof *pool);
    int rc = 0;
    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    pool->last = &pool->first;
    pool->threads = stm_calloc(threads, sizeof *pool->threads);
    if (!pool->threads)
        rc = ENOMEM;
    while (!rc && pool->started + 1 < threads) {
        rc = pthread_create(&pool->threads[pool->started], NULL, work, pool);
        pool->started += !rc;
    }
    if (rc) {
        stm_pool_free(pool);
        errno = rc;
        return NULL;
    }
    return pool;
}

void stm_pool_free(stm_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->started; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool->threads);
    free(pool);
}

stm_group *stm_group_new(stm_pool *pool)
{
    stm_group *group = stm_calloc(1, sizeof *group);
    if (group)
        group->pool = pool;
    return group;
}

bool stm_group_submit(stm_group *group, void (*fn)(void *arg), void *arg)
{
    stm_pool *pool = group->pool;
    job *j = malloc(sizeof *j);
    if (!j)
        return false;
    *j = (job){NULL, fn, arg, group};
    pthread_mutex_lock(&pool->lock);
    group->unfinished++;
    *pool->last = j;
    pool->last = &j->next;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    return true;
}

void stm_group_free(stm_group *group)
{
    if (!group)
        return;
    stm_pool *pool = group->pool;
    pthread_mutex_lock(&pool->lock);
    while (group->unfinished)
        if (pool->first)
            run_job(pool);
        else
            pthread_cond_wait(&pool->changed, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    free(group);
}

/* Whole CPUs that the cgroup's quota grants; 0 if there is no quota. */
static unsigned cgroup_cpus(void)
{
    long quota, period;
    unsigned cpus = 0;
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (f && fscanf(f, "%ld %ld", &quota, &period) == 2 && quota > 0 && period > 0)
        cpus = (unsigned)((quota + period - 1) / period);
    if (f)
        fclose(f);
    return cpus;
}

unsigned stm_cpu_count(void)
{
    unsigned cpus = 0, quota = cgroup_cpus();
    /* A cpu_set_t has 1024 CPUs, and the call fails if the kernel supports more. */
    for (int possible = CPU_SETSIZE; !cpus && possible <= 1 << 20; possible *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)possible);
        const size_t bytes = CPU_ALLOC_SIZE((size_t)possible);
        if (set && sched_getaffinity(0, bytes, set) == 0)
            cpus = (unsigned)CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
    }
    cpus = quota && quota < cpus ? quota : cpus;
    return cpus ? cpus : 1;
}
