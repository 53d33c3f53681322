/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-1 of two messages of the same length at once. One message keeps the CPU's SHA unit less than half busy, because
 * every round waits for the previous one; two independent messages keep it busy.
 */
#ifndef TXM_CONVERT_SHA1_PAIR_H
#define TXM_CONVERT_SHA1_PAIR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/* Compresses `count` blocks of 64 bytes of each message. */
typedef void txm_sha1_pair_blocks(uint32_t state[2][5], const uint8_t *a, const uint8_t *b, size_t count);
#if defined(__x86_64__)
bool txm_cpu_has_sha(void);
txm_sha1_pair_blocks txm_sha1_pair_blocks_shani, txm_sha1_pair_blocks_avx512;
#endif

typedef struct txm_sha1_pair {
    txm_sha1_pair_blocks *blocks;
    uint32_t state[2][5];
    uint8_t rest[2][64]; /* the last incomplete block of each, rest_bytes of it */
    size_t rest_bytes;
    uint64_t total_bytes;
} txm_sha1_pair;

/* Whether this machine has the instructions; if not, use txm_sha1. */
bool txm_sha1_pair_available(void);

void txm_sha1_pair_begin(txm_sha1_pair *pair);
/* Appends size_bytes bytes to each message. */
void txm_sha1_pair_add(txm_sha1_pair *pair, const void *a, const void *b, size_t size_bytes);
void txm_sha1_pair_finish(txm_sha1_pair *pair, char a[TXM_SHA1_HEX], char b[TXM_SHA1_HEX]);
#endif
