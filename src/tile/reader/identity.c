/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes the identity of an image part: a checksum of the directories of a TIFF or the header of an EXR, which the
 * readers of these containers add up. At most twice the size of the image part is hashed.
 *
 * The number changes if tiles move, sizes change or texts are edited. It does not include pixels, which are covered by
 * each border's own checksum.
 */
#include "tile/reader/identity.h"

#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* makes the size of the state known, so that it can be on the stack */
#include <xxhash.h>

#include "base/endian.h"
#include "tile/reader/image_part.h"
#include "tile/reader/reader_impl.h"

/* The size of the image part is hashed as well. */
bool txm_map_identity(const txm_map *map, size_t image_bytes, uint64_t *identity)
{
    XXH64_state_t hash;
    const txm_image_part part = {map, map->data, image_bytes, &hash};
    uint8_t size[8];
    bool ok = false;
    XXH64_reset(&hash, 0);
    if (image_bytes < 8 || !txm_map_needs(map, 0, 8))
        return false;
    for (unsigned i = 0; i < TXM_CONTAINERS && !ok; i++)
        ok = txm_container_readers[i]->identify(&part);
    txm_store_le64(size, image_bytes);
    XXH64_update(&hash, size, sizeof size);
    if (ok)
        *identity = XXH64_digest(&hash);
    return ok;
}

bool txm_image_identity(const uint8_t *image, size_t image_bytes, uint64_t *identity)
{
    const txm_map map = {.data = image, .bytes = image_bytes};
    return txm_map_identity(&map, image_bytes, identity);
}
