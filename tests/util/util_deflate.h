/* SPDX-License-Identifier: Apache-2.0
 * Streams of every kind that zlib writes, and zlib's own decoding of them. */
#ifndef TESTS_UTIL_DEFLATE_H
#define TESTS_UTIL_DEFLATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct deflate_kind {
    int level, strategy, memory; /* of deflateInit2; memory 1 to 9: blocks of 128 symbols to 32768 */
    int flush;                   /* Z_NO_FLUSH, or a flush every `flush_bytes` bytes */
    size_t flush_bytes;
} deflate_kind;

/* Compresses into one gzip member. free() it. */
uint8_t *deflate_member(const uint8_t *data, size_t bytes, deflate_kind kind, size_t *packed_bytes);

/* Whether zlib accepts the file: members one after the other, up to data that is not one. *dst, to be freed, receives
 * the content as far as it can be decoded, at most `most` bytes. */
bool zlib_gunzip(const uint8_t *file, size_t bytes, size_t most, uint8_t **dst, size_t *got);
#endif
