/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts the samples of a PNG file to the pixels that are delivered.
 */
#ifndef TXM_SOURCE_PNG_PIXELS_H
#define TXM_SOURCE_PNG_PIXELS_H
#include "mill/source/png/png_header.h"

typedef void (*txm_png_convert_fn)(const txm_png_header *header, const uint8_t *row, void *dst);

/* How rows are converted, and how many samples per pixel result (0 for a depth that PNG does not have). *convert is
 * NULL if rows already have the pixels that are delivered. */
unsigned txm_png_convert_of(const txm_png_header *header, txm_png_convert_fn *convert);
#endif
