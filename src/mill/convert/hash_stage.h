/* SPDX-License-Identifier: Apache-2.0
 *
 * The hashing stage passes the bands of level 0 to the pixel hash, block by block on strands. If the machine can hash
 * two messages at once, it holds back the bands of every other block until their partners arrive.
 */
#ifndef TXM_CONVERT_HASH_STAGE_H
#define TXM_CONVERT_HASH_STAGE_H
#include "mill/convert/band.h"
#include "mill/convert/job.h"
#include "mill/convert/pixel_hash.h"

typedef struct txm_hash_stage txm_hash_stage;

/* The number of bands of band_rows rows that the stage holds back if it pairs blocks. */
static inline unsigned txm_hash_held_bands(uint32_t band_rows)
{
    return band_rows < TXM_HASH_BLOCK_ROWS ? TXM_HASH_BLOCK_ROWS / band_rows : 1;
}

/* `hash` still belongs to the caller. `pairs`: hash two blocks at once if the machine can. */
txm_status txm_hash_stage_new(txm_job *job, txm_pixel_hash *hash, bool pairs, txm_hash_stage **out, txm_error *err);
/* Takes the next band and keeps references of its own. false if memory is exhausted. */
bool txm_hash_stage_take(txm_hash_stage *stage, txm_band *band);
void txm_hash_stage_free(txm_hash_stage **stage); /* NULL-safe; all jobs must have ended */
#endif
