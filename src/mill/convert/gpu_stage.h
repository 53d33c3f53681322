/* SPDX-License-Identifier: Apache-2.0
 *
 * The stage that a device takes over: rows of level 0 go in, in their order, as the source delivers them or conformed;
 * tiles and borders of all levels go to the encode queue, rows of level 0 to the hash, statistics to the feeder.
 *
 * One thread feeds it. What comes back is collected on the way, when there is no free buffer left to fill and at the
 * end; the device's buffers are lent to the compressors as bands and become free with the last reference.
 */
#ifndef TXM_CONVERT_GPU_STAGE_H
#define TXM_CONVERT_GPU_STAGE_H
#include "mill/convert/encode_queue.h"
#include "mill/convert/gpus.h"
#include "mill/convert/hash_stage.h"

typedef struct txm_gpu_stage txm_gpu_stage;

typedef struct txm_gpu_stage_setup {
    txm_job *job;
    const txm_gpu_lease *lease; /* outlives the stage */
    txm_encode_queue *queue;
    txm_hash_stage *hash;
    txm_stats *stats; /* of level 0: rows that the device conforms are added, in order */
} txm_gpu_stage_setup;

/* DEVICE or NO_MEMORY when the device refuses: nothing has happened then. */
txm_status txm_gpu_stage_open(const txm_gpu_stage_setup *setup, txm_gpu_stage **out, txm_error *err);

/* Where the next `rows` rows go, tight; txm_gpu_stage_take says that they are there. NULL and false: the job failed. */
uint8_t *txm_gpu_stage_place(txm_gpu_stage *stage, uint32_t rows);
bool txm_gpu_stage_take(txm_gpu_stage *stage, uint32_t rows);

/* Takes a conformed band, as it is stored; the caller keeps its reference. */
bool txm_gpu_stage_band(txm_gpu_stage *stage, const txm_band *band);

/* Everything was given: waits for the device. */
bool txm_gpu_stage_end(txm_gpu_stage *stage);

/* All bands must be dropped. *failed: the device failed, and not for lack of memory. NULL-safe. */
void txm_gpu_stage_close(txm_gpu_stage **stage, bool *failed);
#endif
