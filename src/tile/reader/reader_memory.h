/* SPDX-License-Identifier: Apache-2.0
 * What an open file keeps so that the next tile needs no allocation: for caches, which account for it. */
#ifndef TXM_READER_READER_MEMORY_H
#define TXM_READER_READER_MEMORY_H
#include "txtile/reader.h"

/* As txm_tx_open, of a file that is read and not mapped: it keeps a descriptor and the pages of its tables, never
 * raises SIGBUS, and what it reads of a tile is scratch memory. */
txm_status txm_tx_open_read(const char *path, txm_tx **out, txm_error *err);

/* As txm_tx_level_of, but encoded_bytes may be 0: those of an EXR file are spread all over it. */
const txm_tx_level *txm_tx_shape_of(const txm_tx *tx, uint32_t level);

/* Memory of an open file besides: its description, metadata and table of borders, and what OpenEXRCore keeps of it once
 * a tile was read that needs it. Tile tables stay in the map. */
uint64_t txm_tx_own_bytes(const txm_tx *tx);

/* Bytes that are kept while nobody reads; gives them back. What threads are reading with stays theirs. */
uint64_t txm_scratch_idle_bytes(txm_tx *tx);
void txm_scratch_trim(txm_tx *tx);

/* Gives back the memory of what was read of its file; not what the reader keeps. */
void txm_tx_drop_pages(const txm_tx *tx);

/* Whether pages of its map could not be read. They never can be again: it is to be opened anew. */
bool txm_tx_lost(const txm_tx *tx);
#endif
