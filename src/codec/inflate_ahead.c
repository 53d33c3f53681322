/* SPDX-License-Identifier: Apache-2.0
 * A ring of guesses, in the order of their chunks: threads add at its end, the decoder takes from its head. */
#include "codec/inflate_ahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "core/mem.h"

enum { MORE_SLOTS = 2, LEAST_CHUNK_BYTES = 32 * 1024, MAX_THREADS = 16 };

typedef struct slot {
    txm_guess guess;
    uint64_t from, to; /* bits of the chunk */
    enum { SEARCHING, INFLATING, USELESS, READY } state;
    atomic_bool unwanted;
} slot;

struct txm_inflate_ahead {
    uint64_t file_bits;
    size_t room;
    pthread_t threads[MAX_THREADS];
    unsigned thread_count, slot_count;
    slot *slots;

    pthread_mutex_t lock; /* guards what follows, and the state of slots */
    pthread_cond_t changed;
    unsigned first, used; /* slots: first, first + 1, ... */
    uint64_t next;        /* bit where the next chunk begins */
    size_t chunk_bytes, most_chunk_bytes;
    unsigned misses; /* guesses that came to nothing, in a row */
    bool stop;
};

/* ---- the threads ---------------------------------------------------------------------------------------------- */

static void set_state(txm_inflate_ahead *a, slot *s, int state)
{
    pthread_mutex_lock(&a->lock);
    s->state = state;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

/* The next chunk, once there is a slot for it; NULL when it is time to stop. */
static slot *claim(txm_inflate_ahead *a)
{
    slot *s = NULL;
    pthread_mutex_lock(&a->lock);
    while (!a->stop && (a->used == a->slot_count || a->next >= a->file_bits))
        pthread_cond_wait(&a->changed, &a->lock);
    if (!a->stop) {
        s = &a->slots[(a->first + a->used++) % a->slot_count];
        s->from = a->next;
        s->to = a->next += 8 * (uint64_t)a->chunk_bytes;
        s->state = SEARCHING;
        atomic_store(&s->unwanted, false);
    }
    pthread_mutex_unlock(&a->lock);
    return s;
}

static void *work(void *arg)
{
    txm_inflate_ahead *a = arg;
    for (slot *s; (s = claim(a)) != NULL;) {
        if (!txm_guess_begin(&s->guess, s->from, s->to)) {
            set_state(a, s, USELESS);
            continue;
        }
        set_state(a, s, INFLATING);
        txm_guess_finish(&s->guess, s->to, &s->unwanted);
        set_state(a, s, READY);
    }
    return NULL;
}

/* ---- the decoder ---------------------------------------------------------------------------------------------- */

static void free_head(txm_inflate_ahead *a)
{
    a->first = (a->first + 1) % a->slot_count;
    a->used--;
    pthread_cond_broadcast(&a->changed);
}

/* Where guesses come to nothing, as in pictures that were stored as they are, fewer and fewer are made. */
static void drop_head(txm_inflate_ahead *a)
{
    slot *s = &a->slots[a->first];
    atomic_store(&s->unwanted, true);
    while (s->state == INFLATING)
        pthread_cond_wait(&a->changed, &a->lock);
    a->misses++;
    free_head(a);
}

/* The decoder may have overtaken the threads. */
static void keep_ahead_of(txm_inflate_ahead *a, uint64_t bit)
{
    uint64_t chunks = a->misses ? a->misses : a->next < bit, least = bit + 8 * chunks * a->chunk_bytes;
    if (a->next < least)
        a->next = least;
}

const txm_guess *txm_inflate_ahead_take(txm_inflate_ahead *a, uint64_t bit)
{
    const txm_guess *found = NULL;
    pthread_mutex_lock(&a->lock);
    while (a->used && !found) {
        slot *s = &a->slots[a->first];
        if (s->from > bit || (s->state != SEARCHING && s->state != USELESS && s->guess.begin > bit))
            break;
        if (s->state == SEARCHING || (s->state == INFLATING && s->guess.begin == bit))
            pthread_cond_wait(&a->changed, &a->lock);
        else if (s->state == READY && s->guess.begin == bit)
            found = &s->guess;
        else
            drop_head(a);
    }
    keep_ahead_of(a, bit);
    pthread_mutex_unlock(&a->lock);
    return found;
}

/* As large as there is room for: chunks are halved where the room was full before their end, and grow again. */
static void adapt_chunks(txm_inflate_ahead *a, const slot *s)
{
    size_t inflated = s->guess.count;
    if (s->guess.end < s->to && inflated > a->room / 2 && a->chunk_bytes / 2 >= LEAST_CHUNK_BYTES)
        a->chunk_bytes /= 2;
    else if (inflated < a->room / 8 && a->chunk_bytes * 2 <= a->most_chunk_bytes)
        a->chunk_bytes *= 2;
}

void txm_inflate_ahead_give_back(txm_inflate_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    a->misses = 0;
    adapt_chunks(a, &a->slots[a->first]);
    free_head(a);
    pthread_mutex_unlock(&a->lock);
}

/* ---- start and stop ------------------------------------------------------------------------------------------- */

/* Signals are for the threads that expect them. */
static void start_threads(txm_inflate_ahead *a, unsigned count)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (a->thread_count < count && pthread_create(&a->threads[a->thread_count], NULL, work, a) == 0)
        a->thread_count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

txm_inflate_ahead *txm_inflate_ahead_start(const txm_ahead_settings *settings, uint64_t from, uint64_t file_bytes,
                                           txm_source_read read, void *context)
{
    unsigned threads = settings->threads < MAX_THREADS ? settings->threads : MAX_THREADS;
    txm_inflate_ahead *a = txm_calloc(1, sizeof *a);
    if (!a)
        return NULL;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    a->file_bits = 8 * file_bytes;
    a->room = settings->room;
    a->chunk_bytes = a->most_chunk_bytes = settings->chunk_bytes;
    a->next = from + 8 * (uint64_t)settings->chunk_bytes; /* the first is the decoder's own */
    a->slots = txm_calloc(threads + MORE_SLOTS, sizeof *a->slots);
    bool good = a->slots != NULL;
    while (good && a->slot_count < threads + MORE_SLOTS)
        good = txm_guess_init(&a->slots[a->slot_count++].guess, settings->room, read, context);
    if (good)
        start_threads(a, threads);
    if (a->thread_count == 0)
        txm_inflate_ahead_stop(&a);
    return a;
}

void txm_inflate_ahead_stop(txm_inflate_ahead **ahead)
{
    txm_inflate_ahead *a = *ahead;
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    for (unsigned i = 0; i < a->slot_count; i++)
        atomic_store(&a->slots[i].unwanted, true);
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    for (unsigned i = 0; i < a->thread_count; i++)
        pthread_join(a->threads[i], NULL);
    for (unsigned i = 0; i < a->slot_count; i++)
        txm_guess_free(&a->slots[i].guess);
    free(a->slots);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a);
    *ahead = NULL;
}
