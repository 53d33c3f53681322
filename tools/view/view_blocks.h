/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodes the pixels of a level as text for a page.
 *
 * The image formats of browsers support neither half nor float and lose colour where alpha is partial. The page
 * therefore contains the stored samples, which page/blocks.js decodes. A level is split into blocks of whole
 * tiles, at least 256 px per side except at the right and bottom edge, in rows from the top left; blocks are separated
 * by spaces. A block is the base64 of a zlib stream of its residuals:
 *
 *   for each channel, for each byte of a sample from the lowest, for each pixel in rows: one byte
 *
 * where a residual is the sample (its bits as an unsigned integer) minus its prediction, modulo 2^bits. The prediction
 * from the neighbours left (a), above (b) and above left (c) is that of LOCO-I: min(a, b) if c >= max(a, b), max(a, b)
 * if c <= min(a, b), else a + b - c. In the first row it is a, in the first column b, at the first pixel 0.
 */
#ifndef TXM_TOOLS_VIEW_BLOCKS_H
#define TXM_TOOLS_VIEW_BLOCKS_H
#include "base/bytes.h"
#include "txmill/convert.h"
#include "txtile/reader.h"

/* Size of a block in pixels: the smallest multiple of the tile that is at least 256. */
uint32_t txm_view_block_px(uint32_t tile_px);

/* Appends the blocks of a level to `out`. Stops as soon as they take more than `limit` bytes; *fits is then false,
 * and `out` unchanged. The threads of the context are used; the text does not depend on their number. Tiles that
 * cannot be decoded are black. NO_MEMORY, CANCELLED when *cancel becomes non-zero. */
txm_status txm_view_blocks(txm_context *context, txm_tx *tx, uint32_t level, size_t limit, const volatile int *cancel,
                           txm_bytes *out, bool *fits, txm_error *err);
#endif
