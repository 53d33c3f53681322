/* SPDX-License-Identifier: Apache-2.0
 *
 * The readers that source.c asks, and what they share.
 */
#ifndef TXM_SOURCE_READERS_H
#define TXM_SOURCE_READERS_H
#include "source/source.h"

/* Everything that OpenImageIO reads: asked last. */
extern const txm_reader_ops txm_oiio_reader;

/* Adds a copy of a descriptive field to `info`; empty values are left out. False when memory is exhausted. */
bool txm_source_keep(txm_source_info *info, const char *name, const char *value);

/* The interop id of a CICP triple (ITU-T H.273 primaries, transfer, matrix) as a full-range RGB image carries it; ""
 * where no interop id says the same. */
const char *txm_interop_from_cicp(unsigned primaries, unsigned transfer, unsigned matrix, unsigned full_range);

/* Looks for the cICP chunk of a PNG file before its pixels; "" if there is none (or no PNG). */
const char *txm_interop_of_png(const char *path);
#endif
