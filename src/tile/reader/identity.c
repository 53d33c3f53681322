/* SPDX-License-Identifier: Apache-2.0
 *
 * A checksum of the directories of a TIFF or the header of an EXR. Every number that the file holds is checked against
 * the size of the image part before it is used; the work is bounded by twice that size.
 *
 * In: the bytes of an image part in a map. Out: one number that changes when tiles move, sizes change or texts are
 * edited. Pixels are not in it: a border's own checksum covers those.
 */
#include "tile/reader/identity.h"

#include <string.h>
#define XXH_STATIC_LINKING_ONLY /* the state's size: it lives on the stack */
#include <xxhash.h>

#include "tile/base/endian.h"
#include "tile/base/file_map.h"

enum { MAX_DIRECTORIES = 64 };

typedef struct image_part {
    const txm_map *map;
    const uint8_t *p; /* of the map */
    size_t bytes;
    XXH64_state_t *hash;
} image_part;

/* Whether `size` bytes at `offset` are inside, and there. */
static bool inside(const image_part *i, uint64_t offset, uint64_t size)
{
    return offset <= i->bytes && size <= i->bytes - offset && txm_map_needs(i->map, offset, size);
}

static void add(const image_part *i, uint64_t offset, uint64_t size)
{
    XXH64_update(i->hash, i->p + offset, (size_t)size);
}

/* ---- TIFF ---- */

typedef struct tiff_shape {
    bool big_endian;
    int word;                       /* bytes of offsets and counts: 4, BigTIFF 8 */
    int entries_bytes, entry_bytes; /* of a directory's entry count and of an entry */
} tiff_shape;

/* In the byte order of the file. */
static uint64_t number(const image_part *i, const tiff_shape *t, uint64_t offset, int bytes)
{
    return txm_load_uint(i->p + offset, (size_t)bytes, t->big_endian);
}

static uint64_t type_bytes(uint64_t tiff_type)
{
    /* 0 for types that do not exist. */
    static const uint8_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    return tiff_type < sizeof sizes ? sizes[tiff_type] : 0;
}

/* The value of the entry at `at`, if it is stored elsewhere. `budget`: bytes still allowed. */
static void add_value(const image_part *i, const tiff_shape *t, uint64_t at, uint64_t *budget)
{
    uint64_t size, count = number(i, t, at + 4, t->word), offset = number(i, t, at + 4 + (uint64_t)t->word, t->word);
    if (__builtin_mul_overflow(count, type_bytes(number(i, t, at + 2, 2)), &size) || size <= (uint64_t)t->word)
        return;
    if (size > *budget || !inside(i, offset, size))
        return;
    *budget -= size;
    add(i, offset, size);
}

/* Directories one after the other. A chain that leads back ends when as many bytes have been hashed as the
 * image has. */
static bool add_tiff(const image_part *i)
{
    tiff_shape t = {.big_endian = i->p[0] == 'M'};
    bool big = number(i, &t, 2, 2) == 43;
    t.word = big ? 8 : 4;
    t.entries_bytes = big ? 8 : 2;
    t.entry_bytes = big ? 20 : 12;
    uint64_t header = big ? 16 : 8, budget = i->bytes;
    if (!inside(i, 0, header))
        return false;
    add(i, 0, header);
    uint64_t at = number(i, &t, header - (uint64_t)t.word, t.word);
    for (int n = 0; n < MAX_DIRECTORIES && at && inside(i, at, (uint64_t)t.entries_bytes); n++) {
        uint64_t entries = number(i, &t, at, t.entries_bytes), first = at + (uint64_t)t.entries_bytes;
        if (entries > i->bytes / (uint64_t)t.entry_bytes)
            break;
        uint64_t size = (uint64_t)t.entries_bytes + entries * (uint64_t)t.entry_bytes + (uint64_t)t.word;
        if (size > budget || !inside(i, at, size))
            break;
        budget -= size;
        add(i, at, size);
        for (uint64_t e = 0; e < entries; e++)
            add_value(i, &t, first + e * (uint64_t)t.entry_bytes, &budget);
        at = number(i, &t, at + size - (uint64_t)t.word, t.word);
    }
    return true;
}

/* ---- EXR ---- */

/* Skips a zero-terminated string; 0 if it does not end. */
static uint64_t behind_string(const image_part *i, uint64_t at)
{
    const uint8_t *end = at < i->bytes ? memchr(i->p + at, 0, i->bytes - at) : NULL;
    return end ? (uint64_t)(end - i->p) + 1 : 0;
}

/* Attributes and the offset table: what tells a re-written image from the one that the section was made for. */
static bool add_exr(const image_part *i)
{
    uint64_t at = 8; /* magic, version and flags */
    while (inside(i, at, 1) && i->p[at]) {
        at = behind_string(i, at);          /* name */
        at = at ? behind_string(i, at) : 0; /* type */
        if (!at || !inside(i, at, 4))
            return false;
        uint64_t size = txm_load_le32(i->p + at);
        at += 4;
        if (!inside(i, at, size))
            return false;
        at += size;
    }
    at += 1 + 8; /* the closing zero, the first entry of the chunk table */
    if (!inside(i, 0, at))
        return false;
    uint64_t first_chunk = txm_load_le64(i->p + at - 8);
    const uint64_t end = first_chunk > at && first_chunk <= i->bytes ? first_chunk : at;
    if (!inside(i, 0, end))
        return false;
    add(i, 0, end);
    return true;
}

/* The size of the image part is hashed as well. */
bool txm_map_identity(const txm_map *map, size_t image_bytes, uint64_t *identity)
{
    const uint8_t *image = map->data;
    static const uint8_t exr_magic[4] = {0x76, 0x2f, 0x31, 0x01};
    XXH64_state_t hash;
    image_part i = {map, image, image_bytes, &hash};
    uint8_t size[8];
    bool ok = false;
    XXH64_reset(&hash, 0);
    if (image_bytes < 8 || !txm_map_needs(map, 0, 8))
        return false;
    if (!memcmp(image, exr_magic, 4))
        ok = add_exr(&i);
    else if (!memcmp(image, "II*\0", 4) || !memcmp(image, "MM\0*", 4) || !memcmp(image, "II+\0", 4) ||
             !memcmp(image, "MM\0+", 4))
        ok = add_tiff(&i);
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
