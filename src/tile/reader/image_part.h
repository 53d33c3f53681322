/* SPDX-License-Identifier: Apache-2.0
 *
 * The image part of a file as its identity is made from it: bytes of a map, and the hash that containers add extents
 * to. Every number that the file holds is compared with the part's size before it is used.
 */
#ifndef TXM_READER_IMAGE_PART_H
#define TXM_READER_IMAGE_PART_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#include "tile/base/file_map.h"

typedef struct txm_image_part {
    const txm_map *map;
    const uint8_t *p; /* of the map */
    size_t bytes;
    XXH64_state_t *hash;
} txm_image_part;

/* Whether `size` bytes at `offset` are inside, and there. */
static inline bool txm_part_has(const txm_image_part *i, uint64_t offset, uint64_t size)
{
    return offset <= i->bytes && size <= i->bytes - offset && txm_map_needs(i->map, offset, size);
}

/* They have been found to be there. */
static inline void txm_part_add(const txm_image_part *i, uint64_t offset, uint64_t size)
{
    XXH64_update(i->hash, i->p + offset, (size_t)size);
}
#endif
