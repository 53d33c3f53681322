/* SPDX-License-Identifier: Apache-2.0
 *
 * Inflates the blocks of one deflate stream (RFC 1951) side by side.
 *
 * Decoding Huffman codes is a serial chain: the position of the next code is known only after the current one was
 * looked up, and until then most of the processor is idle. The stream of an EXR tile has two halves, high and low
 * bytes, and the low ones take most of the bits. Our encoder (mill/encode/sparse.h) therefore writes it in parts of one
 * block each, which do not refer to each other, with an empty stored block between them whose bytes 00 00 ff ff mark
 * the start of the next part. All chains then run at the same time. Any inflater can read such a stream; this one reads
 * no other.
 */
#ifndef TXM_DECODE_INFLATE_PARTS_H
#define TXM_DECODE_INFLATE_PARTS_H
#include "tile/terms/dialect.h"

enum {
    TXM_MAX_PARTS = 3,
    TXM_PARTS_BYTES = 16384, /* size from which the low bytes are split, because each part's codes cost 80 bytes */
    TXM_PARTS_MAX_BYTES = 1 << 17
};

/* Where the part that begins at `at` ends, of n bytes, at most TXM_PARTS_MAX_BYTES. */
TXM_ARITH size_t txm_part_end(size_t n, size_t at)
{
    const size_t low = (n + 1) / 2;
    return n >= TXM_PARTS_BYTES && at < low / 2 ? low / 2 : at < low ? low : n;
}

/* Computes where the parts of n bytes end; returns their number, 2 or 3. */
TXM_ARITH size_t txm_parts_of(size_t n, size_t ends[TXM_MAX_PARTS])
{
    size_t parts = 0;
    for (size_t at = 0; at < n; at = ends[parts++])
        ends[parts] = txm_part_end(n, at);
    return parts;
}

typedef struct txm_parts txm_parts; /* tables, 60 KiB; one object per thread */

txm_parts *txm_parts_new(void); /* NULL when memory is exhausted */
void txm_parts_free(txm_parts **parts);

/* Decodes a raw deflate stream at src to exactly dst_bytes bytes in the parts of txm_parts_of. Returns the number of
 * bytes of src that were used; 0 if the stream is not in parts or is damaged. The contents of dst are then undefined,
 * and another inflater has to decide. */
size_t txm_parts_inflate(txm_parts *parts, const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes);
#endif
