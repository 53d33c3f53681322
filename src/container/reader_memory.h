/* SPDX-License-Identifier: Apache-2.0
 * What an open file keeps so that the next tile needs no allocation: for caches, which account for it. */
#ifndef TXM_CONTAINER_READER_MEMORY_H
#define TXM_CONTAINER_READER_MEMORY_H
#include "txmill/reader.h"

/* Bytes that are kept while nobody reads; gives them back. What threads are reading with stays theirs. */
uint64_t txm_scratch_idle_bytes(txm_tx *tx);
void txm_scratch_trim(txm_tx *tx);
#endif
