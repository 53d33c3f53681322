/* SPDX-License-Identifier: Apache-2.0
 * Making the borders of a finished tx file. */
#ifndef TXM_CACHE_BORDERS_MAKE_H
#define TXM_CACHE_BORDERS_MAKE_H
#include "core/pool.h"
#include "txmill/reader.h"

struct txm_section_writer;

/* Decodes all tiles, a row of them at a time, and adds their borders to `writer`. Memory: five rows of tiles. */
txm_status txm_borders_make(txm_tx *tx, txm_pool *pool, struct txm_section_writer *writer, txm_error *err);
#endif
