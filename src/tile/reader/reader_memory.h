/* SPDX-License-Identifier: Apache-2.0
 * The memory that an open file keeps so that the next tile needs no allocation. Caches count it in their budget. */
#ifndef TXM_READER_READER_MEMORY_H
#define TXM_READER_READER_MEMORY_H
#include "txtile/reader.h"

/* Opens a file like txm_tx_open, but as a render does: its access time then says when it was last rendered. */
txm_status txm_tx_open_to_render(const char *path, txm_tx **out, txm_error *err);
/* Opens a file like txm_tx_open_to_render, but keeps a descriptor, through which tiles are read into scratch memory.
 * Its tables are mapped, and its tiles, too, if the process cannot spare a descriptor. Without `maps`, or if maps are
 * scarce, they are read, and the file never raises SIGBUS. */
txm_status txm_tx_open_cached(const char *path, bool maps, txm_tx **out, txm_error *err);

/* Does the same as txm_tx_level_of, but encoded_bytes may be 0, because in an EXR file these sizes are spread all over
 * the file. */
const txm_tx_level *txm_tx_shape_of(const txm_tx *tx, uint32_t level);

/* Other memory of an open file: its description, metadata and table of borders, and the memory that OpenEXRCore keeps
 * after it has decoded a tile. Tile tables stay in the map. */
uint64_t txm_tx_own_bytes(const txm_tx *tx);

/* Bytes that are kept while no thread is reading. The second function frees them; scratch memory in use is not
 * affected. */
uint64_t txm_scratch_idle_bytes(txm_tx *tx);
void txm_scratch_trim(txm_tx *tx);

/* Releases the pages of its file that were read, but not the reader's own memory. */
void txm_tx_drop_pages(const txm_tx *tx);

/* Whether tiles are read into scratch memory, so that they are not mapped. */
bool txm_tx_reads_tiles(const txm_tx *tx);
bool txm_tx_is_mapped(const txm_tx *tx);

/* Whether pages of its map could not be read. They stay unreadable, so the file has to be opened again. */
bool txm_tx_lost(const txm_tx *tx);
#endif
