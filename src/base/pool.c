/* SPDX-License-Identifier: Apache-2.0
 *
 * One mutex guards all queues: jobs are tiles and bands (tens of microseconds and more), so the lock is taken at most
 * some ten thousand times a second.
 */
#include "base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

enum { THREADS_PER_WRITER = 4 };

typedef struct job {
    struct job *next;
    txm_job_fn fn;
    void *arg;
    txm_group *group;
} job;

typedef struct queue {
    job *head, **tail;
} queue;

struct txm_pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;  /* a job was queued or finished, or the pool is closing */
    pthread_cond_t to_write; /* a job was queued for the writers, or the pool is closing */
    pthread_cond_t to_begin; /* a spare thread may begin a job, or the pool is closing */
    queue urgent, normal, outer, writes;
    job *spare; /* records of finished jobs, for reuse */
    pthread_t *threads;
    unsigned thread_count, writer_count, spares, started; /* workers are started first, then writers, then spares */
    unsigned waiting;                                     /* number of threads asleep on `changed` */
    unsigned inside, computing; /* threads in a job that are not away, and those of them that are not asleep */
    unsigned long turn, turns;  /* threads that want to compute again queue: who is next, and who came last */
    bool closing;
};

struct txm_group {
    txm_pool *pool;
    size_t unfinished;
    bool outer;
};

struct txm_strand {
    txm_group *group;
    queue pending;
    bool running, writes;
};

/* How many jobs this thread is running, one inside the other; a writer's do not count. */
static _Thread_local unsigned depth;

static void push(queue *q, job *j)
{
    j->next = NULL;
    *q->tail = j;
    q->tail = &j->next;
}

static job *pop(queue *q)
{
    job *j = q->head;
    if (j && !(q->head = j->next))
        q->tail = &q->head;
    return j;
}

/* Wakes all threads, since those that wait for a condition and those that wait for work are not distinguished. */
static void wake(txm_pool *pool)
{
    if (pool->waiting)
        pthread_cond_broadcast(&pool->changed);
}

/* Runs a job that was taken off its queue. The lock is held on entry and on return. */
static void run_pool_job(txm_pool *pool, job *j)
{
    pthread_mutex_unlock(&pool->lock);
    j->fn(j->arg);
    pthread_mutex_lock(&pool->lock);
    j->group->unfinished--;
    j->next = pool->spare;
    pool->spare = j;
    wake(pool);
}

static void sleep_until_changed(txm_pool *pool)
{
    pool->waiting++;
    pthread_cond_wait(&pool->changed, &pool->lock);
    pool->waiting--;
}

/* Whether a thread that is in no job may begin one. Without spare threads there are never too many of them. */
static bool may_begin(const txm_pool *pool)
{
    return !pool->spares ||
           (pool->turn == pool->turns && pool->inside < pool->thread_count && pool->computing < pool->thread_count);
}

/* Wakes a spare thread if it has something to do. They sleep most of the time, as writers do. */
static void wake_spare(txm_pool *pool)
{
    if (pool->spares && may_begin(pool) && (pool->urgent.head || pool->normal.head || pool->outer.head))
        pthread_cond_signal(&pool->to_begin);
}

static void stop_computing(txm_pool *pool)
{
    pool->computing--;
    if (pool->turn != pool->turns)
        wake(pool);
    wake_spare(pool);
}

/* Waits until fewer threads compute than may, in the order of arrival. The lock is held. */
static void compute_on(txm_pool *pool)
{
    const unsigned long own = pool->turns++;
    while (own != pool->turn || pool->computing >= pool->thread_count)
        sleep_until_changed(pool);
    pool->turn++;
    pool->computing++;
    if (pool->turn != pool->turns)
        wake(pool);
    wake_spare(pool);
}

/* Takes and runs one job while the lock is held; false if there was none that this thread may run. */
static bool run_one(txm_pool *pool)
{
    const bool begins = depth == 0;
    if (begins && !may_begin(pool))
        return false;
    if (!begins && pool->turn != pool->turns) {
        stop_computing(pool);
        compute_on(pool);
    }
    job *j = pop(&pool->urgent);
    if (!j)
        j = pop(&pool->normal);
    if (!j && begins)
        j = pop(&pool->outer);
    if (!j)
        return false;
    pool->computing += begins;
    pool->inside += begins;
    depth++;
    run_pool_job(pool, j);
    depth--;
    pool->inside -= begins;
    if (begins)
        stop_computing(pool);
    return true;
}

/* Sleeps until done(arg) or until there may be a job. Meanwhile threads that are back compute in place of this one. */
static void rest(txm_pool *pool, bool (*done)(void *arg), void *arg)
{
    if (depth == 0) {
        sleep_until_changed(pool);
        return;
    }
    stop_computing(pool);
    do
        sleep_until_changed(pool);
    while (!done(arg) && !pool->urgent.head && !pool->normal.head);
    compute_on(pool);
}

/* Writers wait for the disk on threads of their own, so that workers need not. They sleep most of the time, and waking
 * them for each job that is not theirs would take several per cent of a conversion. */
static void *writer(void *arg)
{
    txm_pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    while (!pool->closing) {
        job *j = pop(&pool->writes);
        if (j)
            run_pool_job(pool, j);
        else
            pthread_cond_wait(&pool->to_write, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void *spare(void *arg)
{
    txm_pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    while (!pool->closing) {
        if (!run_one(pool))
            pthread_cond_wait(&pool->to_begin, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static void *worker(void *arg)
{
    txm_pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    while (!pool->closing) {
        if (!run_one(pool))
            sleep_until_changed(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

txm_pool *txm_pool_new(unsigned threads)
{
    if (!threads) {
        errno = EINVAL;
        return NULL;
    }
    txm_pool *pool = txm_calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    pthread_cond_init(&pool->to_write, NULL);
    pthread_cond_init(&pool->to_begin, NULL);
    pool->urgent.tail = &pool->urgent.head;
    pool->normal.tail = &pool->normal.head;
    pool->outer.tail = &pool->outer.head;
    pool->writes.tail = &pool->writes.head;
    pool->thread_count = threads;
    pool->writer_count = threads > 1 ? (threads + THREADS_PER_WRITER - 1) / THREADS_PER_WRITER : 0;
    unsigned workers = threads - 1, all = workers + pool->writer_count;
    pool->threads = txm_calloc(all + 1, sizeof *pool->threads);
    int rc = pool->threads ? 0 : ENOMEM;
    while (pool->threads && pool->started < all) {
        void *(*body)(void *) = pool->started < workers ? worker : writer;
        if ((rc = pthread_create(&pool->threads[pool->started], NULL, body, pool)) != 0)
            break;
        pool->started++;
    }
    if (rc != 0) {
        txm_pool_free(pool);
        errno = rc;
        return NULL;
    }
    return pool;
}

void txm_pool_free(txm_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_cond_broadcast(&pool->to_write);
    pthread_cond_broadcast(&pool->to_begin);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->started; i++)
        pthread_join(pool->threads[i], NULL);
    for (job *j = pool->spare, *next; j; j = next) {
        next = j->next;
        free(j);
    }
    pthread_cond_destroy(&pool->changed);
    pthread_cond_destroy(&pool->to_write);
    pthread_cond_destroy(&pool->to_begin);
    pthread_mutex_destroy(&pool->lock);
    free(pool->threads);
    free(pool);
}

unsigned txm_pool_threads(const txm_pool *pool)
{
    return pool->thread_count;
}

void txm_pool_spare(txm_pool *pool, unsigned count)
{
    pthread_mutex_lock(&pool->lock);
    const unsigned more = count > pool->spares ? count - pool->spares : 0;
    pthread_t *threads = more ? realloc(pool->threads, (pool->started + more) * sizeof *threads) : NULL;
    if (threads)
        pool->threads = threads;
    while (threads && pool->spares < count && !pthread_create(&threads[pool->started], NULL, spare, pool)) {
        pool->started++;
        pool->spares++;
    }
    pthread_mutex_unlock(&pool->lock);
}

bool txm_pool_help(txm_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    const bool ran = run_one(pool);
    pthread_mutex_unlock(&pool->lock);
    return ran;
}

void txm_pool_leave(txm_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    if (depth > 0) {
        pool->inside--;
        stop_computing(pool);
        wake(pool);
    }
    pthread_mutex_unlock(&pool->lock);
}

void txm_pool_return(txm_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    if (depth > 0) {
        compute_on(pool);
        pool->inside++;
    }
    pthread_mutex_unlock(&pool->lock);
}

txm_group *txm_group_new(txm_pool *pool)
{
    txm_group *group = txm_calloc(1, sizeof *group);
    if (group)
        group->pool = pool;
    return group;
}

/* Inside a job it is an ordinary group, whose jobs must not wait for the one that they are part of. */
txm_group *txm_group_new_outer(txm_pool *pool)
{
    txm_group *group = txm_group_new(pool);
    if (group)
        group->outer = depth == 0;
    return group;
}

void txm_group_free(txm_group *group)
{
    if (!group)
        return;
    txm_group_wait(group, 0);
    free(group);
}

/* A record for a job of this group, which counts as unfinished; NULL if memory is exhausted. The lock is held. */
static job *new_job(txm_group *group, txm_job_fn fn, void *arg)
{
    job *j = group->pool->spare;
    if (j)
        group->pool->spare = j->next;
    else if (!(j = malloc(sizeof *j)))
        return NULL;
    *j = (job){NULL, fn, arg, group};
    group->unfinished++;
    return j;
}

bool txm_group_submit(txm_group *group, bool urgent, txm_job_fn fn, void *arg)
{
    txm_pool *pool = group->pool;
    pthread_mutex_lock(&pool->lock);
    job *j = new_job(group, fn, arg);
    if (j) {
        push(group->outer ? &pool->outer : urgent ? &pool->urgent : &pool->normal, j);
        wake(pool);
        wake_spare(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return j != NULL;
}

void txm_pool_wait_until(txm_pool *pool, bool (*done)(void *arg), void *arg)
{
    pthread_mutex_lock(&pool->lock);
    while (!done(arg)) {
        if (!run_one(pool))
            rest(pool, done, arg);
    }
    pthread_mutex_unlock(&pool->lock);
}

struct group_limit {
    const txm_group *group;
    size_t limit;
};

static bool below_limit(void *arg)
{
    const struct group_limit *g = arg;
    return g->group->unfinished <= g->limit;
}

void txm_group_wait(txm_group *group, size_t limit)
{
    txm_pool_wait_until(group->pool, below_limit, &(struct group_limit){group, limit});
}

txm_strand *txm_strand_new(txm_group *group)
{
    txm_strand *strand = txm_calloc(1, sizeof *strand);
    if (strand) {
        strand->group = group;
        strand->pending.tail = &strand->pending.head;
    }
    return strand;
}

txm_strand *txm_strand_new_writer(txm_group *group)
{
    txm_strand *strand = txm_strand_new(group);
    if (strand)
        strand->writes = group->pool->writer_count > 0;
    return strand;
}

/* Runs the strand's jobs until none is left. Only one instance is queued at a time: `running`. */
static void run_strand(void *arg)
{
    txm_strand *strand = arg;
    txm_pool *pool = strand->group->pool;
    pthread_mutex_lock(&pool->lock);
    job *j;
    while ((j = pop(&strand->pending)))
        run_pool_job(pool, j);
    strand->running = false;
    pthread_mutex_unlock(&pool->lock);
}

bool txm_strand_submit(txm_strand *strand, txm_job_fn fn, void *arg)
{
    txm_group *group = strand->group;
    txm_pool *pool = group->pool;
    pthread_mutex_lock(&pool->lock);
    job *runner = NULL, *j = new_job(group, fn, arg);
    if (j && !strand->running && !(runner = new_job(group, run_strand, strand))) {
        j->next = pool->spare;
        pool->spare = j;
        group->unfinished--;
        j = NULL;
    }
    if (j) {
        push(&strand->pending, j);
        if (runner) {
            strand->running = true;
            /* Strands feed everything else, so they go first. */
            push(strand->writes ? &pool->writes : &pool->urgent, runner);
        }
        if (strand->writes)
            pthread_cond_signal(&pool->to_write);
        else
            wake(pool);
        wake_spare(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return j != NULL;
}

void txm_strand_free(txm_strand *strand)
{
    free(strand);
}
