/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that load with an allowance. See frame_loader.h.
 */
#include "render/frame_loader.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/base.h"

enum { NICE = 5 };

struct stm_loader {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t *threads;
    unsigned count, busy; /* busy: threads that load a part */
    txm_ticket *ticket;   /* NULL: there is no batch */
    double left;          /* of the allowance; below 0 if a part took longer */
    bool done, closing;
};

static void *load(void *arg)
{
    stm_loader *l = arg;
    const struct timespec moment = {0, 200000};
    setpriority(PRIO_PROCESS, 0, NICE); /* on Linux, that of the calling thread */
    pthread_mutex_lock(&l->lock);
    while (!l->closing) {
        if (!l->ticket || l->done || l->left <= 0.0) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        txm_ticket *ticket = l->ticket;
        const uint32_t before = txm_ticket_remaining(ticket);
        l->busy++;
        pthread_mutex_unlock(&l->lock);
        const double begin = stm_thread_seconds();
        const bool over = txm_ticket_poll(ticket);
        const double seconds = stm_thread_seconds() - begin;
        if (!over && txm_ticket_remaining(ticket) == before) /* other threads read the last tiles */
            nanosleep(&moment, NULL);
        pthread_mutex_lock(&l->lock);
        l->busy--;
        l->left -= seconds;
        l->done |= over;
        pthread_cond_broadcast(&l->changed);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

stm_loader *stm_loader_new(unsigned threads)
{
    stm_loader *l = stm_calloc(1, sizeof *l);
    int rc = 0;
    if (!l)
        return NULL;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->changed, NULL);
    l->left = INFINITY;
    l->threads = stm_calloc(threads, sizeof *l->threads);
    if (!l->threads)
        rc = ENOMEM;
    while (!rc && l->count < threads) {
        rc = pthread_create(&l->threads[l->count], NULL, load, l);
        l->count += !rc;
    }
    if (!l->count) {
        stm_loader_free(&l);
        errno = rc;
    }
    return l;
}

void stm_loader_free(stm_loader **loader)
{
    stm_loader *l = *loader;
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->closing = true;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    for (unsigned i = 0; i < l->count; i++)
        pthread_join(l->threads[i], NULL);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    free(l->threads);
    free(l);
    *loader = NULL;
}

void stm_loader_give(stm_loader *l, txm_ticket *ticket)
{
    pthread_mutex_lock(&l->lock);
    l->ticket = ticket;
    l->done = false;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

bool stm_loader_is_done(stm_loader *l)
{
    pthread_mutex_lock(&l->lock);
    const bool done = l->done && !l->busy;
    pthread_mutex_unlock(&l->lock);
    return done;
}

void stm_loader_take_back(stm_loader *l)
{
    pthread_mutex_lock(&l->lock);
    l->ticket = NULL;
    while (l->busy)
        pthread_cond_wait(&l->changed, &l->lock);
    pthread_mutex_unlock(&l->lock);
}

void stm_loader_allow(stm_loader *l, double seconds)
{
    pthread_mutex_lock(&l->lock);
    l->left = fmin(l->left, 0.0) + seconds;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}
