/* SPDX-License-Identifier: Apache-2.0
 *
 * Encoding on all threads, writing in one order.
 *
 * A batch is a run of neighbouring tiles of one band (or their borders). Batches are encoded by whatever thread is free
 * and committed strictly in the order in which they were queued: level 0's tiles go to the file at once, tiles of the
 * levels above to a spill until their level's turn, borders to the section. The order of queueing is fixed by the
 * image, so the file's bytes do not depend on the number of threads.
 */
#ifndef TXM_CONVERT_ENCODE_QUEUE_H
#define TXM_CONVERT_ENCODE_QUEUE_H
#include "mill/convert/band.h"
#include "mill/convert/job.h"
#include "mill/write/section_writer.h"
#include "mill/write/writer.h"

typedef struct txm_encode_queue txm_encode_queue;

/* `section` may be NULL: no borders then. Writer and section stay the caller's. `spill_dir`: the target's folder. */
txm_status txm_encode_queue_new(txm_job *job, const txm_tx_layout *layout, txm_tx_writer *writer,
                                txm_section_writer *section, const char *spill_dir, txm_encode_queue **out,
                                txm_error *err);

/* Queues the tiles of one complete band, or of one that a device has made ready. Takes a reference of its own. False
 * when memory is exhausted. */
bool txm_encode_queue_tiles(txm_encode_queue *queue, txm_band *band);

/* Queues the borders of the tiles of `band`, or the records that a device made of them; rows outside it are looked up
 * in `around` (up to 4 bands, NULL allowed), which must hold the 2 rows above and below it, wrapped round the level. */
bool txm_encode_queue_borders(txm_encode_queue *queue, txm_band *band, txm_band *const around[4]);

/* After all jobs are done: writes the levels above 0 from the spill. */
txm_status txm_encode_queue_finish(txm_encode_queue *queue, txm_error *err);
void txm_encode_queue_free(txm_encode_queue **queue); /* NULL-safe; all jobs must be done */
#endif
