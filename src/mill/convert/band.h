/* SPDX-License-Identifier: Apache-2.0
 *
 * Bands: one tile row's height of pixels, full width, of one level. Counted references: a band lives while a stage
 * needs it. Their memory is recycled: a conversion allocates as many bands as it has in flight, and no more.
 */
#ifndef TXM_CONVERT_BAND_H
#define TXM_CONVERT_BAND_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The recycled memory of one conversion's bands. Must outlive them. */
typedef struct txm_band_pool txm_band_pool;

txm_band_pool *txm_band_pool_new(void);        /* NULL when memory is exhausted */
void txm_band_pool_free(txm_band_pool **pool); /* NULL-safe */

typedef struct txm_band {
    atomic_uint references;
    atomic_uint *alive; /* counts the living bands of this kind, for back-pressure; may be NULL */
    uint32_t level, y, rows;
    size_t stride_bytes;
    uint8_t *pixels;
    bool ready; /* no rows, but what a device made of them: tiles or border records, one after the other */
    /* Pixels that belong to somebody else are given back instead of kept. */
    void (*give_back)(void *owner);
    void *owner;
    /* for the pool */
    txm_band_pool *pool;
    struct txm_band *next;
    size_t capacity;
} txm_band;

/* A band of `rows` rows of stride_bytes each, one reference; NULL when memory is exhausted. Any thread. */
txm_band *txm_band_new(txm_band_pool *pool, uint32_t level, uint32_t y, uint32_t rows, size_t stride_bytes,
                       atomic_uint *alive);
/* A band around memory of somebody else, who gets it back with the last reference; NULL when memory is exhausted: then
 * it is not given back. Any thread. */
txm_band *txm_band_lend(uint32_t level, uint32_t y, uint32_t rows, size_t stride_bytes, const uint8_t *pixels,
                        void (*give_back)(void *owner), void *owner);
/* NULL-safe, returns its argument. */
txm_band *txm_band_keep(txm_band *band);
/* NULL-safe. */
void txm_band_drop(txm_band *band);

/* Bands that a border can reach into besides its own. */
enum { TXM_BANDS_AROUND = 4 };

/* Row y of the level, which one of these bands holds; members of `around` may be NULL. */
const uint8_t *txm_band_row_near(const txm_band *band, txm_band *const around[TXM_BANDS_AROUND], uint32_t y);

static inline uint8_t *txm_band_row(const txm_band *band, uint32_t y)
{
    return band->pixels + (size_t)(y - band->y) * band->stride_bytes;
}
#endif
