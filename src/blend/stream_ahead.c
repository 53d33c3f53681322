/* SPDX-License-Identifier: Apache-2.0
 * A ring of pieces between one thread that decompresses and one that reads. */
#include "blend/stream_ahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* Inflating copies its window at the begin of each piece: small pieces cost. */
enum { PIECES = 4, PIECE_BYTES = 256 * 1024 };

typedef struct piece {
    uint8_t *bytes;
    size_t used, taken;
    uint64_t offset, consumed; /* of the input, behind this piece */
    txm_status status;         /* not OK: the last piece; `used` 0 and OK: the end */
    txm_error err;
} piece;

struct txm_ahead {
    txm_pull_fn pull;
    void *decoder;
    txm_stream_input input; /* the thread's own */
    pthread_t thread;
    bool runs; /* the thread is there; only the reader looks */
    piece pieces[PIECES];

    pthread_mutex_t lock; /* guards what follows; a piece belongs to the thread while it is empty */
    pthread_cond_t changed;
    unsigned first, full; /* full pieces: first, first + 1, ... */
    bool stop;
};

txm_ahead *txm_ahead_new(txm_pull_fn pull, void *decoder)
{
    txm_ahead *a = txm_calloc(1, sizeof *a);
    if (!a) {
        return NULL;
    }
    a->pull = pull;
    a->decoder = decoder;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    for (int i = 0; i < PIECES; i++) {
        a->pieces[i].bytes = malloc(PIECE_BYTES);
        if (!a->pieces[i].bytes) {
            txm_ahead_close(&a);
            return NULL;
        }
    }
    return a;
}

void txm_ahead_close(txm_ahead **ahead)
{
    txm_ahead *a = *ahead;
    if (!a) {
        return;
    }
    txm_ahead_stop(a);
    for (int i = 0; i < PIECES; i++) {
        free(a->pieces[i].bytes);
    }
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a);
    *ahead = NULL;
}

/* Fills a piece as far as the data goes. An error behind bytes that are good is met again by the next call. */
static void fill(txm_ahead *a, piece *p)
{
    p->used = p->taken = 0;
    p->err = (txm_error){0};
    p->status = a->pull(a->decoder, &a->input, p->bytes, PIECE_BYTES, &p->used, &p->err);
    p->used = p->status == TXM_OK ? p->used : 0;
    p->offset = a->input.offset;
    p->consumed = a->input.consumed;
}

static void *decompress(void *arg)
{
    txm_ahead *a = arg;
    bool more = true;
    pthread_mutex_lock(&a->lock);
    while (more && !a->stop) {
        if (a->full == PIECES) {
            pthread_cond_wait(&a->changed, &a->lock);
            continue;
        }
        piece *p = &a->pieces[(a->first + a->full) % PIECES];
        pthread_mutex_unlock(&a->lock);
        fill(a, p);
        more = p->used > 0;
        pthread_mutex_lock(&a->lock);
        a->full++;
        pthread_cond_signal(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* Signals are for the threads that expect them. */
static bool start_thread(txm_ahead *a, const txm_stream_input *input)
{
    sigset_t all, before;
    a->input = *input;
    a->first = a->full = 0;
    a->stop = false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    a->runs = pthread_create(&a->thread, NULL, decompress, a) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return a->runs;
}

void txm_ahead_stop(txm_ahead *a)
{
    if (!a->runs) {
        return;
    }
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    a->runs = false;
}

static piece *wait_for_piece(txm_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    while (a->full == 0) {
        pthread_cond_wait(&a->changed, &a->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return &a->pieces[a->first];
}

static void give_back(txm_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    a->first = (a->first + 1) % PIECES;
    a->full--;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

txm_status txm_ahead_pull(txm_ahead *a, txm_stream_input *input, uint8_t *dst, size_t bytes, size_t *got,
                          txm_error *err)
{
    if (!a->runs && !start_thread(a, input)) {
        return a->pull(a->decoder, input, dst, bytes, got, err);
    }
    piece *p = wait_for_piece(a);
    input->offset = p->offset;
    input->consumed = p->consumed;
    *got = 0;
    if (p->status != TXM_OK) {
        if (err) {
            *err = p->err;
        }
        return p->status;
    }
    size_t left = p->used - p->taken;
    *got = left < bytes ? left : bytes;
    if (*got) {
        memcpy(dst, p->bytes + p->taken, *got);
    }
    p->taken += *got;
    if (p->taken == p->used && p->used > 0) {
        give_back(a);
    }
    return TXM_OK;
}
