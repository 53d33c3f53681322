/* SPDX-License-Identifier: Apache-2.0
 *
 * The image part of a file while its identity is computed: bytes of a map, and the hash that containers add to. Every
 * number from the file is compared with the part's size before it is used.
 */
#ifndef TXM_READER_IMAGE_PART_H
#define TXM_READER_IMAGE_PART_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#include "tile/terms/file_map.h"

typedef struct txm_image_part {
    const txm_map *map;
    const uint8_t *p; /* start of the map */
    size_t bytes;
    XXH64_state_t *hash;
} txm_image_part;

/* Whether the `size` bytes at `offset` are inside the part and can be read. */
static inline bool txm_part_has(const txm_image_part *i, uint64_t offset, uint64_t size)
{
    return offset <= i->bytes && size <= i->bytes - offset && txm_map_needs(i->map, offset, size);
}

/* The caller must have checked the range with txm_part_has. */
static inline void txm_part_add(const txm_image_part *i, uint64_t offset, uint64_t size)
{
    XXH64_update(i->hash, i->p + offset, (size_t)size);
}
#endif
