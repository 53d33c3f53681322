/* SPDX-License-Identifier: Apache-2.0
 * Bands. */
#include "convert/band.h"

#include <stdlib.h>

#include "core/mem.h"

txm_band *txm_band_new(uint32_t level, uint32_t y, uint32_t rows, size_t stride_bytes, atomic_uint *alive)
{
    txm_band *b = txm_calloc(1, sizeof *b);
    if (b && !(b->pixels = txm_alloc_pixels(rows, stride_bytes))) {
        free(b);
        b = NULL;
    }
    if (!b)
        return NULL;
    atomic_init(&b->references, 1);
    b->level = level;
    b->y = y;
    b->rows = rows;
    b->stride_bytes = stride_bytes;
    b->alive = alive;
    if (alive)
        atomic_fetch_add(alive, 1);
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
    if (band->alive)
        atomic_fetch_sub(band->alive, 1);
    free(band->pixels);
    free(band);
}
