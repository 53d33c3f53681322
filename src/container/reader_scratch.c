/* SPDX-License-Identifier: Apache-2.0
 *
 * A file's pool of scratch memory: as many objects as there ever were threads reading it at the same time, so that
 * reading a tile allocates nothing once the pool is warm.
 */
#include <stdlib.h>
#include <zstd.h>

#include "codec/inflate_parts.h"
#include "container/reader_impl.h"
#include "core/mem.h"

/* Vector code may store up to this much past the last pixel. */
enum { SLACK_BYTES = 64 };

txm_scratch *txm_scratch_take(txm_tx *tx)
{
    pthread_mutex_lock(&tx->lock);
    txm_scratch *s = tx->scratch;
    if (s)
        tx->scratch = s->next;
    pthread_mutex_unlock(&tx->lock);
    return s ? s : txm_calloc(1, sizeof *s);
}

void txm_scratch_give(txm_tx *tx, txm_scratch *scratch)
{
    pthread_mutex_lock(&tx->lock);
    scratch->next = tx->scratch;
    tx->scratch = scratch;
    pthread_mutex_unlock(&tx->lock);
}

void txm_scratch_free_all(txm_tx *tx)
{
    while (tx->scratch) {
        txm_scratch *s = tx->scratch;
        tx->scratch = s->next;
        ZSTD_freeDCtx(s->zstd);
        txm_exr_chunk_free(s);
        free(s->inflate);
        txm_parts_free(&s->parts);
        free(s->raw);
        free(s->tile);
        free(s->ring);
        free(s);
    }
}

txm_status txm_scratch_need(const txm_tx *tx, uint8_t **buffer, txm_error *err)
{
    if (*buffer)
        return TXM_OK;
    size_t pixels = (size_t)tx->info.tile_w * tx->info.tile_h; /* 1024 x 1024 at most: checked when opening */
    *buffer = txm_alloc_pixels(pixels * tx->pixel_bytes + SLACK_BYTES, 1);
    return *buffer ? TXM_OK : txm_fail(err, TXM_NO_MEMORY, "memory is exhausted");
}
