/* SPDX-License-Identifier: Apache-2.0
 *
 * On machines that hash two messages in the time of one, bands are held back until the band of the partner block
 * arrives.
 */
#include "mill/convert/hash_stage.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* Blocks, or pairs of them, are hashed in parallel, the rows of each in order. */
enum { STRANDS = 4, HELD = TXM_HASH_BLOCK_ROWS / TXM_MIN_TILE_PX };

/* The rows of a band that are in one block. */
typedef struct piece {
    txm_band *band;
    uint32_t y, rows;
} piece;

typedef struct delivery {
    txm_hash_stage *stage;
    piece piece, partner; /* partner.band is NULL for a piece that is hashed alone */
} delivery;

struct txm_hash_stage {
    txm_job *job;
    txm_pixel_hash *hash;
    bool pairs;
    txm_strand *strands[STRANDS];
    piece held[HELD]; /* pieces of the first block of a pair, in order */
    unsigned held_count, held_used;
};

txm_status txm_hash_stage_new(txm_job *job, txm_pixel_hash *hash, bool pairs, txm_hash_stage **out, txm_error *err)
{
    txm_hash_stage *s = txm_calloc(1, sizeof *s);
    bool ok = s != NULL;
    if (ok) {
        s->job = job;
        s->hash = hash;
        s->pairs = pairs;
    }
    for (int i = 0; ok && i < STRANDS; i++)
        ok = (s->strands[i] = txm_strand_new(job->group)) != NULL;
    if (!ok) {
        txm_hash_stage_free(&s);
        return txm_no_memory(err, NULL);
    }
    *out = s;
    return TXM_OK;
}

void txm_hash_stage_free(txm_hash_stage **stage)
{
    txm_hash_stage *s = stage ? *stage : NULL;
    if (!s)
        return;
    for (unsigned i = s->held_used; i < s->held_count; i++)
        txm_band_drop(s->held[i].band);
    for (int i = 0; i < STRANDS; i++)
        txm_strand_free(s->strands[i]);
    free(s);
    *stage = NULL;
}

static void hash_piece(void *arg)
{
    delivery *d = arg;
    const piece *p = &d->piece, *q = &d->partner;
    txm_job *job = d->stage->job;
    if (txm_job_runs(job)) {
        unsigned long long clock = txm_job_clock(job);
        txm_pixel_hash_rows(d->stage->hash, p->y, p->rows, txm_band_row(p->band, p->y),
                            q->band ? txm_band_row(q->band, q->y) : NULL, p->band->stride_bytes);
        txm_job_book(job, TXM_STAGE_HASH, clock);
    }
    txm_band_drop(p->band);
    txm_band_drop(q->band);
    free(d);
}

/* Takes ownership of the references of both pieces. */
static bool submit_pieces(txm_hash_stage *s, uint32_t strand, piece p, piece partner)
{
    delivery *d = malloc(sizeof *d);
    if (d) {
        *d = (delivery){s, p, partner};
        if (txm_strand_submit(s->strands[strand % STRANDS], hash_piece, d))
            return true;
    }
    free(d);
    txm_band_drop(p.band);
    txm_band_drop(partner.band);
    return false;
}

/* A band that crosses the end of a block is split there. The first block of a pair waits for the second. */
bool txm_hash_stage_take(txm_hash_stage *s, txm_band *band)
{
    bool ok = true;
    for (uint32_t y = band->y, end = band->y + band->rows; ok && y < end;) {
        uint32_t block = y / TXM_HASH_BLOCK_ROWS, next = (block + 1) * TXM_HASH_BLOCK_ROWS;
        const piece p = {txm_band_keep(band), y, (next < end ? next : end) - y};
        y += p.rows;
        if (!s->pairs || !txm_pixel_hash_pairs(s->hash, block)) {
            ok = submit_pieces(s, block, p, (piece){0});
        } else if (block % 2 == 0) {
            if (s->held_used == s->held_count)
                s->held_used = s->held_count = 0;
            s->held[s->held_count++] = p;
        } else {
            /* Bands begin at the same rows of every block, so partners have the same pieces. */
            ok = submit_pieces(s, block / 2, s->held[s->held_used++], p);
        }
    }
    return ok;
}
