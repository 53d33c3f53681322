/* SPDX-License-Identifier: Apache-2.0
 *
 * Making the borders of a finished tx file.
 *
 * In: a tx file that was finished without its borders, by txmill or by Cycles. Out: the payload of each tile's
 * border, handed to the section writer in the order of the file. Borders reach into neighbouring tiles and,
 * where the image repeats, over to the other edge of the level: that is why five rows of tiles are held, and
 * why every tile is decoded once and not nine times.
 */
#ifndef TXM_INSPECT_BORDERS_MAKE_H
#define TXM_INSPECT_BORDERS_MAKE_H
#include "txmill/convert.h"
#include "txtile/reader.h"

struct txm_section_writer;

/* Decodes all tiles, a row of them at a time, and adds their borders to `writer`. Memory: five rows of tiles. `context`
 * lends its threads; it may be NULL. */
txm_status txm_borders_make(txm_tx *tx, txm_context *context, struct txm_section_writer *writer, txm_error *err);
#endif
