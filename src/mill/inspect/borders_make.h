/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the borders of a tx file that was finished without them, by txmill or by Cycles. The encoded border of each
 * tile goes to the section writer in the order of the file. A border reaches into neighbouring tiles and, because the
 * image repeats, to the opposite edge of the level; keeping five rows of tiles in memory lets each tile be decoded
 * once instead of nine times.
 */
#ifndef TXM_INSPECT_BORDERS_MAKE_H
#define TXM_INSPECT_BORDERS_MAKE_H
#include "txmill/convert.h"
#include "txtile/reader.h"

struct txm_section_writer;

/* Decodes all tiles, a row of them at a time, and adds their borders to `writer`. Memory holds five rows of tiles. The
 * work runs on the threads of `context`, which may be NULL. */
txm_status txm_borders_make(txm_tx *tx, txm_context *context, struct txm_section_writer *writer, txm_error *err);
#endif
