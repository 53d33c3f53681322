/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodes on all threads and writes in one order. A batch is a run of neighbouring tiles of one band (or their
 * borders). Any free thread encodes batches, and they are committed in the order in which they were queued: tiles of
 * level 0 to the file, tiles of the levels above to a spill, borders to the section. The image determines the order of
 * queueing, so the file's bytes do not depend on the number of threads.
 */
#ifndef TXM_CONVERT_ENCODE_QUEUE_H
#define TXM_CONVERT_ENCODE_QUEUE_H
#include "mill/convert/band.h"
#include "mill/convert/job.h"
#include "mill/write/section_writer.h"
#include "mill/write/writer.h"

typedef struct txm_encode_queue txm_encode_queue;

/* `section` may be NULL, for a file without borders. Writer and section still belong to the caller. `spill_dir` is the
 * target's folder. */
txm_status txm_encode_queue_new(txm_job *job, const txm_tx_layout *layout, txm_tx_writer *writer,
                                txm_section_writer *section, const char *spill_dir, txm_encode_queue **out,
                                txm_error *err);

/* Queues the tiles of a complete band, or of one that a device has prepared, and takes a reference to it. false if
 * memory is exhausted. */
bool txm_encode_queue_tiles(txm_encode_queue *queue, txm_band *band);

/* Queues the borders of the tiles of `band`, or the records that a device made of them. Rows outside the band are taken
 * from `around` (up to 4 bands, NULL allowed), which must have the 2 rows above and below it, wrapped around the level.
 */
bool txm_encode_queue_borders(txm_encode_queue *queue, txm_band *band, txm_band *const around[4]);

/* Called after all jobs have ended: writes the levels above 0 from the spill. */
txm_status txm_encode_queue_finish(txm_encode_queue *queue, txm_error *err);
void txm_encode_queue_free(txm_encode_queue **queue); /* NULL-safe; all jobs must have ended */
#endif
