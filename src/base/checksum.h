/* SPDX-License-Identifier: Apache-2.0
 * Checksums for integrity: xxh64. Names and pixels have other digests (base/hash.h). */
#ifndef TXM_BASE_CHECKSUM_H
#define TXM_BASE_CHECKSUM_H
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

/* Wraps xxHash, so that its API can be replaced in one place; its result is part of file formats. */
static inline uint64_t txm_xxh64(const void *data, size_t size_bytes, uint64_t seed)
{
    return XXH64(data, size_bytes, seed);
}
#endif
