/* SPDX-License-Identifier: Apache-2.0
 *
 * The hashing stage: hands the bands of level 0 to the pixel hash, block by block on strands, and where the machine
 * hashes two messages at once, holds the bands of every other block back until their partners arrive.
 */
#ifndef TXM_CONVERT_HASH_STAGE_H
#define TXM_CONVERT_HASH_STAGE_H
#include "mill/convert/band.h"
#include "mill/convert/job.h"
#include "mill/convert/pixel_hash.h"

typedef struct txm_hash_stage txm_hash_stage;

/* Bands of band_rows rows that the stage holds back when it pairs blocks. */
static inline unsigned txm_hash_held_bands(uint32_t band_rows)
{
    return band_rows < TXM_HASH_BLOCK_ROWS ? TXM_HASH_BLOCK_ROWS / band_rows : 1;
}

/* `hash` stays the caller's. `pairs`: hash two blocks at once where the machine can. */
txm_status txm_hash_stage_new(txm_job *job, txm_pixel_hash *hash, bool pairs, txm_hash_stage **out, txm_error *err);
/* Takes the next band; keeps references of its own. False when memory is exhausted. */
bool txm_hash_stage_take(txm_hash_stage *stage, txm_band *band);
void txm_hash_stage_free(txm_hash_stage **stage); /* NULL-safe; the job's work must be done */
#endif
