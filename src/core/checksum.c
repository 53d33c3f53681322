/* SPDX-License-Identifier: Apache-2.0
 *
 * Integrity: xxh64.
 *
 * xxHash's one-shot function behind our own name, so that it can be replaced in one place.
 */
#include "core/checksum.h"

#include <xxhash.h>

uint64_t txm_xxh64(const void *data, size_t size_bytes, uint64_t seed)
{
    return XXH64(data, size_bytes, seed);
}
