/* SPDX-License-Identifier: Apache-2.0
 * Bands. */
#include "convert/band.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/mem.h"

struct txm_band_pool {
    pthread_mutex_t lock;
    txm_band *idle;
};

txm_band_pool *txm_band_pool_new(void)
{
    txm_band_pool *pool = txm_calloc(1, sizeof *pool);
    if (pool)
        pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

void txm_band_pool_free(txm_band_pool **pool)
{
    if (!pool || !*pool)
        return;
    for (txm_band *b = (*pool)->idle, *next; b; b = next) {
        next = b->next;
        free(b->pixels);
        free(b);
    }
    pthread_mutex_destroy(&(*pool)->lock);
    free(*pool);
    *pool = NULL;
}

/* An idle band whose memory fits: not too small, and not wastefully large (levels differ by factors of two). */
static txm_band *take_idle(txm_band_pool *pool, size_t bytes)
{
    pthread_mutex_lock(&pool->lock);
    txm_band **at = &pool->idle, *found = NULL;
    while (*at && !((*at)->capacity >= bytes && (*at)->capacity / 2 <= bytes))
        at = &(*at)->next;
    if ((found = *at))
        *at = found->next;
    pthread_mutex_unlock(&pool->lock);
    return found;
}

txm_band *txm_band_new(txm_band_pool *pool, uint32_t level, uint32_t y, uint32_t rows, size_t stride_bytes,
                       atomic_uint *alive)
{
    size_t bytes = txm_mul(rows, stride_bytes);
    txm_band *b = take_idle(pool, bytes);
    if (!b) {
        b = txm_calloc(1, sizeof *b);
        if (b && !(b->pixels = txm_alloc_pixels(bytes, 1))) {
            free(b);
            b = NULL;
        }
        if (!b)
            return NULL;
        b->capacity = bytes;
        b->pool = pool;
    }
    atomic_init(&b->references, 1);
    b->level = level;
    b->y = y;
    b->rows = rows;
    b->stride_bytes = stride_bytes;
    b->alive = alive;
    b->next = NULL;
    if (alive)
        atomic_fetch_add(alive, 1);
    return b;
}

txm_band *txm_band_lend(uint32_t level, uint32_t y, uint32_t rows, size_t stride_bytes, const uint8_t *pixels,
                        void (*give_back)(void *owner), void *owner)
{
    txm_band *b = txm_calloc(1, sizeof *b);
    if (!b)
        return NULL;
    atomic_init(&b->references, 1);
    b->level = level;
    b->y = y;
    b->rows = rows;
    b->stride_bytes = stride_bytes;
    b->pixels = (uint8_t *)(uintptr_t)pixels; /* bands are not written to once they are complete */
    b->give_back = give_back;
    b->owner = owner;
    return b;
}

txm_band *txm_band_keep(txm_band *band)
{
    if (band)
        atomic_fetch_add(&band->references, 1);
    return band;
}

void txm_band_drop(txm_band *band)
{
    if (!band || atomic_fetch_sub(&band->references, 1) != 1)
        return;
    if (band->give_back) {
        band->give_back(band->owner);
        free(band);
        return;
    }
    atomic_uint *alive = band->alive;
    txm_band_pool *pool = band->pool;
    pthread_mutex_lock(&pool->lock);
    band->next = pool->idle;
    pool->idle = band;
    pthread_mutex_unlock(&pool->lock);
    if (alive)
        atomic_fetch_sub(alive, 1);
}

const uint8_t *txm_band_row_near(const txm_band *band, txm_band *const around[TXM_BANDS_AROUND], uint32_t y)
{
    const txm_band *found = band;
    for (int i = 0; i < TXM_BANDS_AROUND && (y < found->y || y >= found->y + found->rows); i++) {
        const txm_band *a = around[i];
        if (a && y >= a->y && y < a->y + a->rows)
            found = a;
    }
    return txm_band_row(found, y);
}
