/* SPDX-License-Identifier: Apache-2.0
 *
 * Bands of small levels are cut out of shared blocks, which are kept until the conversion ends, since allocating
 * megabytes again and again costs page faults.
 */
#include "mill/convert/band.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/os/pages.h"

/* The bands of level 0, whose number soon reaches its maximum, are cut from blocks of whole huge pages: a conversion
 * uses tens of megabytes for a fraction of a second, and allocating and freeing ten thousand small pages takes a
 * fortieth of that time. */
enum { HUGE_PAGE_BYTES = 2 << 20, ALIGN_BYTES = 64 };

typedef struct block {
    struct block *next;
    uint8_t *bytes;
    size_t used, capacity;
} block;

struct txm_band_pool {
    pthread_mutex_t lock; /* guards the members below */
    txm_band *idle;
    block *blocks;
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
        free(b);
    }
    for (block *b = (*pool)->blocks, *next; b; b = next) {
        next = b->next;
        free(b->bytes);
        free(b);
    }
    pthread_mutex_destroy(&(*pool)->lock);
    free(*pool);
    *pool = NULL;
}

/* Memory from a block that has room, or from a new one; NULL if memory is exhausted. Multiples of 2 MiB are aligned and
 * marked for huge pages, since bands are written once from end to end. */
static uint8_t *cut(txm_band_pool *pool, uint32_t level, size_t bytes)
{
    block *b = pool->blocks;
    while (b && b->capacity - b->used < bytes)
        b = b->next;
    if (!b) {
        size_t capacity = bytes;
        (void)level;         /* unused under AddressSanitizer */
#ifndef __SANITIZE_ADDRESS__ /* AddressSanitizer checks the gaps between allocations */
        size_t large = txm_mul(bytes / HUGE_PAGE_BYTES + (bytes % HUGE_PAGE_BYTES > 0), HUGE_PAGE_BYTES);
        /* Whole huge pages, if these waste at most an eighth. */
        if (level == 0 && bytes >= HUGE_PAGE_BYTES / 8 && large != SIZE_MAX && large % bytes <= large / 8)
            capacity = large;
#endif
        bool huge = capacity % HUGE_PAGE_BYTES == 0;
        if (!(b = txm_calloc(1, sizeof *b)) ||
            !(b->bytes = aligned_alloc(huge ? HUGE_PAGE_BYTES : ALIGN_BYTES, capacity))) {
            free(b);
            return NULL;
        }
        if (huge)
            txm_pages_prefer_large(b->bytes, capacity); /* has no effect on systems without huge pages */
        *b = (block){pool->blocks, b->bytes, 0, capacity};
        pool->blocks = b;
    }
    uint8_t *at = b->bytes + b->used;
    b->used += bytes;
    return at;
}

static txm_band *init_band(txm_band *b, uint32_t level, uint32_t y, uint32_t rows, size_t stride_bytes)
{
    atomic_init(&b->references, 1);
    b->level = level;
    b->y = y;
    b->rows = rows;
    b->stride_bytes = stride_bytes;
    return b;
}

txm_band *txm_band_new(txm_band_pool *pool, uint32_t level, uint32_t y, uint32_t rows, size_t stride_bytes,
                       atomic_uint *alive)
{
    const size_t bytes = txm_mul(rows, stride_bytes);
    pthread_mutex_lock(&pool->lock);
    /* An idle band whose memory is not wastefully large will do: sizes of levels differ by factors of two. */
    txm_band **at = &pool->idle, *b;
    while (*at && !((*at)->capacity >= bytes && (*at)->capacity / 2 <= bytes))
        at = &(*at)->next;
    if ((b = *at)) {
        *at = b->next;
    } else if (bytes < SIZE_MAX - ALIGN_BYTES && (b = txm_calloc(1, sizeof *b))) {
        b->pool = pool;
        b->capacity = (bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
        if (!(b->pixels = cut(pool, level, b->capacity))) {
            free(b);
            b = NULL;
        }
    }
    pthread_mutex_unlock(&pool->lock);
    if (!b)
        return NULL;
    b->alive = alive;
    b->next = NULL;
    if (alive)
        atomic_fetch_add(alive, 1);
    return init_band(b, level, y, rows, stride_bytes);
}

txm_band *txm_band_lend(uint32_t level, uint32_t y, uint32_t rows, size_t stride_bytes, const uint8_t *pixels,
                        void (*give_back)(void *owner), void *owner)
{
    txm_band *b = txm_calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->pixels = (uint8_t *)(uintptr_t)pixels; /* bands are read-only once they are complete */
    b->give_back = give_back;
    b->owner = owner;
    return init_band(b, level, y, rows, stride_bytes);
}

txm_band *txm_band_keep(txm_band *band)
{
    if (band)
        atomic_fetch_add(&band->references, 1);
    return band;
}

/* The count of living bands is decremented last, because a thread that waits for it may then free the pool. */
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
