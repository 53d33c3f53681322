/* SPDX-License-Identifier: Apache-2.0
 * Streams of every kind that zlib writes, and zlib's own word on what they hold. */
#ifndef TESTS_UTIL_DEFLATE_H
#define TESTS_UTIL_DEFLATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct deflate_kind {
    int level, strategy, memory; /* of deflateInit2; memory 1 to 9: blocks of 128 symbols to 32768 */
    int flush;                   /* Z_NO_FLUSH, or one that is asked for every `flush_bytes` bytes */
    size_t flush_bytes;
} deflate_kind;

/* One gzip member. free(). */
uint8_t *deflate_member(const uint8_t *data, size_t bytes, deflate_kind kind, size_t *packed_bytes);

/* Whether zlib takes the file, members one after the other up to what is none; *dst, free(), is what they hold, as far
 * as it goes, at most `most` bytes. */
bool zlib_gunzip(const uint8_t *file, size_t bytes, size_t most, uint8_t **dst, size_t *got);
#endif
