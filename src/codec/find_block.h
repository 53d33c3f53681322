/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking for the begin of a deflate block in the middle of a stream. Blocks may begin at any bit and have no mark, but
 * the description of dynamic codes is so redundant that chance hardly ever makes a valid one.
 */
#ifndef TXM_CODEC_FIND_BLOCK_H
#define TXM_CODEC_FIND_BLOCK_H
#include <stdbool.h>
#include <stdint.h>

#include "codec/bit_source.h"

/* Moves the source to the first bit in [from, to) where a block with dynamic codes may begin that is not the stream's
 * last: its header is valid and both codes are complete. False when there is none, or reading fails. */
bool txm_find_block(txm_bit_source *source, uint64_t from, uint64_t to);
#endif
