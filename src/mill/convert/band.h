/* SPDX-License-Identifier: Apache-2.0
 *
 * Bands: the rows of one row of tiles of a level, at full width. They are reference-counted, and their memory is
 * reused, so that a conversion allocates only as many bands as it has in flight.
 */
#ifndef TXM_CONVERT_BAND_H
#define TXM_CONVERT_BAND_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory of one conversion's bands, which is reused. It must outlive them. */
typedef struct txm_band_pool txm_band_pool;

txm_band_pool *txm_band_pool_new(void);        /* NULL if memory is exhausted */
void txm_band_pool_free(txm_band_pool **pool); /* NULL-safe */

typedef struct txm_band {
    atomic_uint references;
    atomic_uint *alive; /* number of living bands of this kind, which throttles the feeder; may be NULL */
    uint32_t level, y, rows;
    size_t stride_bytes;
    uint8_t *pixels;
    bool ready; /* it has no rows, but what a device made of them: tiles or border records, one after the other */
    const struct txm_gpu_packed *packed; /* the places of tiles that a device has compressed; NULL: none */
    /* Pixels of another owner are returned to it. */
    void (*give_back)(void *owner);
    void *owner;
    /* used by the pool */
    txm_band_pool *pool;
    struct txm_band *next;
    size_t capacity;
} txm_band;

/* A band of `rows` rows of stride_bytes each, with one reference; NULL if memory is exhausted. Thread-safe. */
txm_band *txm_band_new(txm_band_pool *pool, uint32_t level, uint32_t y, uint32_t rows, size_t stride_bytes,
                       atomic_uint *alive);
/* A band around the memory of another owner, who gets it back with the last reference. NULL if memory is exhausted;
 * then it is not given back. Thread-safe. */
txm_band *txm_band_lend(uint32_t level, uint32_t y, uint32_t rows, size_t stride_bytes, const uint8_t *pixels,
                        void (*give_back)(void *owner), void *owner);
/* Adds a reference and returns its argument. NULL-safe. */
txm_band *txm_band_keep(txm_band *band);
/* Drops a reference. NULL-safe. */
void txm_band_drop(txm_band *band);

/* The number of other bands into which a border can reach. */
enum { TXM_BANDS_AROUND = 4 };

/* Row y of the level, which one of these bands has; members of `around` may be NULL. */
const uint8_t *txm_band_row_near(const txm_band *band, txm_band *const around[TXM_BANDS_AROUND], uint32_t y);

static inline uint8_t *txm_band_row(const txm_band *band, uint32_t y)
{
    return band->pixels + (size_t)(y - band->y) * band->stride_bytes;
}
#endif
