/* SPDX-License-Identifier: Apache-2.0
 *
 * Inflating the blocks of one deflate stream (RFC 1951) side by side.
 *
 * Decoding Huffman codes is a chain: where the next code begins is known when this one has been looked up, and until
 * then a processor that could do five things at a time waits. An EXR tile's stream has two halves, low and high bytes,
 * of which the low ones take most of the bits. Our encoder (mill/encode/sparse.h) writes it as parts of a block each,
 * none looking into another, with an empty stored block between: its bytes 00 00 ff ff tell where the next part begins.
 * All chains then run in the time of the longest. Any inflater reads such a stream; this one reads no other.
 */
#ifndef TXM_DECODE_INFLATE_PARTS_H
#define TXM_DECODE_INFLATE_PARTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TXM_MAX_PARTS = 3,
    TXM_PARTS_BYTES = 16384, /* the low bytes are parted where there are so many bytes in all: codes cost 80 bytes */
    TXM_PARTS_MAX_BYTES = 1 << 17
};

/* Where the parts of n bytes, at most TXM_PARTS_MAX_BYTES, end; returns how many there are, 2 or 3. */
static inline size_t txm_parts_of(size_t n, size_t ends[TXM_MAX_PARTS])
{
    size_t low = (n + 1) / 2, parts = 0;
    if (n >= TXM_PARTS_BYTES)
        ends[parts++] = low / 2;
    ends[parts++] = low;
    ends[parts++] = n;
    return parts;
}

typedef struct txm_parts txm_parts; /* tables, 60 KiB; one a thread */

txm_parts *txm_parts_new(void); /* NULL when memory is exhausted */
void txm_parts_free(txm_parts **parts);

/* Decodes a raw deflate stream at src, which gives exactly dst_bytes bytes in the parts of txm_parts_of. Returns how
 * many bytes of src that took; 0 if the stream is not of this kind, or damaged: another inflater will know, and dst
 * holds nothing of use. */
size_t txm_parts_inflate(txm_parts *parts, const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes);
#endif
