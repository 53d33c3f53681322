/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a deflate block with dynamic codes, and computes the codes, on the processor.
 */
#include "mill/encode/deflate_body.h"

void txm_huffman_lengths(const uint32_t *frequencies, size_t count, int max_bits, uint8_t *lengths)
{
    txm_block_scratch scratch;
    txm_make_lengths(&scratch, frequencies, count, max_bits, lengths);
}

void txm_huffman_codes(const uint8_t *lengths, size_t count, uint16_t *codes)
{
    txm_block_scratch scratch;
    txm_make_codes(&scratch, lengths, count, codes);
}
