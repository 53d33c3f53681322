/* SPDX-License-Identifier: Apache-2.0
 *
 * Length-limited Huffman codes as deflate (RFC 1951) wants them. Integer arithmetic only: the same counts give the same
 * code on every machine.
 */
#ifndef TXM_CODEC_HUFFMAN_H
#define TXM_CODEC_HUFFMAN_H
#include <stddef.h>
#include <stdint.h>

enum { TXM_HUFFMAN_MAX_SYMBOLS = 288, TXM_HUFFMAN_MAX_BITS = 15 };

/* Code lengths of `count` symbols (at most TXM_HUFFMAN_MAX_SYMBOLS) for their frequencies (sum below 2^31), none longer
 * than max_bits, where 2^max_bits >= count. Unused symbols get 0. The code is always complete: where fewer than two
 * symbols are used, the first unused ones get a code as well, since decoders refuse incomplete codes. */
void txm_huffman_lengths(const uint32_t *frequencies, size_t count, int max_bits, uint8_t *lengths);

/* Canonical codes for lengths, bits reversed as deflate sends them. */
void txm_huffman_codes(const uint8_t *lengths, size_t count, uint16_t *codes);
#endif
