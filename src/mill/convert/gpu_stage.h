/* SPDX-License-Identifier: Apache-2.0
 *
 * The stage of a device: it takes rows of level 0 in order, either as the source delivers them or conformed, and
 * passes tiles and borders of all levels to the encode queue, rows of level 0 to the hash, and statistics to the
 * feeder. One thread feeds it. Results are collected when there is no free buffer to fill, and at the end; the
 * device's buffers are lent to the encoders as bands and become free with the last reference.
 */
#ifndef TXM_CONVERT_GPU_STAGE_H
#define TXM_CONVERT_GPU_STAGE_H
#include "mill/convert/encode_queue.h"
#include "mill/convert/gpus.h"
#include "mill/convert/hash_stage.h"

typedef struct txm_gpu_stage txm_gpu_stage;

typedef struct txm_gpu_stage_setup {
    txm_job *job;
    txm_gpu_lease lease; /* a place on the device, which the stage returns */
    txm_encode_queue *queue;
    txm_hash_stage *const *hash; /* must be there before the first row */
    txm_stats *stats; /* statistics of level 0, to which those of rows that the device conforms are added, in order */
} txm_gpu_stage_setup;

/* Opens the stage. DEVICE or NO_MEMORY if the device refuses; the lease has been returned then. */
txm_status txm_gpu_stage_open(const txm_gpu_stage_setup *setup, txm_gpu_stage **out, txm_error *err);

/* Returns memory for the next `rows` rows, tight; txm_gpu_stage_take says that they were written. NULL and false mean
 * that the job failed. */
uint8_t *txm_gpu_stage_place(txm_gpu_stage *stage, uint32_t rows);
bool txm_gpu_stage_take(txm_gpu_stage *stage, uint32_t rows);

/* Takes a conformed band as it is stored; the caller keeps its reference. */
bool txm_gpu_stage_band(txm_gpu_stage *stage, const txm_band *band);

/* Called after all rows: waits for the device. */
bool txm_gpu_stage_end(txm_gpu_stage *stage);

/* Whether the device has enough buffers for rows of a block of the hash to be held back for the partner block. */
bool txm_gpu_stage_holds_rows(const txm_gpu_stage *stage);

/* Whether the device failed, as it did for another file before, so that it need not be said again. NULL-safe. */
bool txm_gpu_stage_failed_again(const txm_gpu_stage *stage);

/* Closes the stage; all bands must have been dropped. A device that failed is not used again by this process. Returns
 * what txm_gpus_note has to say. NULL-safe. */
const char *txm_gpu_stage_close(txm_gpu_stage **stage);
#endif
