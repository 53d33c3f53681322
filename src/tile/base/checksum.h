/* SPDX-License-Identifier: Apache-2.0
 * Integrity: xxh64. Names and pixels have digests of their own (mill/base/hash.h). */
#ifndef TXM_BASE_CHECKSUM_H
#define TXM_BASE_CHECKSUM_H
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

/* xxHash by a name of our own, so that its API can be replaced in one place; what it computes is part of formats. */
static inline uint64_t txm_xxh64(const void *data, size_t size_bytes, uint64_t seed)
{
    return XXH64(data, size_bytes, seed);
}
#endif
