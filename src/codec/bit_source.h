/* SPDX-License-Identifier: Apache-2.0
 *
 * Bits of a file, read piece by piece. Behind the file's end stand some zero bytes, so that decoders may load whole
 * words: what they make of those is known to be nothing by txm_source_cut.
 */
#ifndef TXM_CODEC_BIT_SOURCE_H
#define TXM_CODEC_BIT_SOURCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/decode_table.h"

enum { TXM_SOURCE_BYTES = 128 * 1024, TXM_SOURCE_PAD = 32 };

/* Reads up to `bytes` bytes at `offset`; *got is 0 at the end only. False when reading fails. */
typedef bool (*txm_source_read)(void *context, uint64_t offset, uint8_t *dst, size_t bytes, size_t *got);

typedef struct txm_bit_source {
    txm_bit_reader reader; /* on the buffer */
    uint64_t next;         /* offset of what is read next: the file's end, once `pad` is not 0 */
    size_t pad;            /* zero bytes behind the file's, in the buffer */
    bool failed;           /* reading did: the reader's error is the context's to keep */
    txm_source_read read;
    void *context;
    uint8_t buffer[TXM_SOURCE_BYTES + TXM_SOURCE_PAD];
} txm_bit_source;

void txm_source_init(txm_bit_source *source, txm_source_read read, void *context);

/* The next bit is number `bit` of the file, counted from 0, the lowest of a byte first. False when reading fails. */
bool txm_source_seek(txm_bit_source *source, uint64_t bit);

/* Makes at least `bytes` bytes ready behind the reader's own bits, fewer only at the file's end. At most
 * TXM_SOURCE_BYTES / 2. False when reading fails. */
bool txm_source_have(txm_bit_source *source, size_t bytes);

/* Moves to the byte at `offset` and shows the file's bytes from there: at least `least`, fewer only at the file's end;
 * the next TXM_SOURCE_PAD may be looked at as well. NULL when reading fails. */
const uint8_t *txm_source_peek(txm_bit_source *source, uint64_t offset, size_t least, size_t *bytes);

/* Moves to the next byte's begin, and takes up to `bytes` whole bytes; fewer at the end and when reading fails. */
void txm_source_align(txm_bit_source *source);
size_t txm_source_take(txm_bit_source *source, uint8_t *dst, size_t bytes);

/* The number of the next bit. */
static inline uint64_t txm_source_position(const txm_bit_source *s)
{
    return 8 * (s->next + s->pad + s->reader.past - (size_t)(s->reader.end - s->reader.in)) - s->reader.count;
}

/* Whether bits behind the file's end have been taken. */
static inline bool txm_source_cut(const txm_bit_source *s)
{
    return s->pad && txm_source_position(s) > 8 * s->next;
}
#endif
