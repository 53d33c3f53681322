/* SPDX-License-Identifier: Apache-2.0
 *
 * Read-only maps of files whose pages may vanish: because somebody cuts the file short in place, or because the disk or
 * the server behind it fails. Reading such a page raises SIGBUS. The library installs no signal handler; the handler of
 * a program that calls txm_map_catch makes the read go on, and the map remembers that it was lost.
 */
#ifndef TXM_BASE_FILE_MAP_H
#define TXM_BASE_FILE_MAP_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile/base/shared.h"

typedef struct txm_map {
    const uint8_t *data;
    size_t bytes;
    atomic_bool lost; /* zeros were read where the file had something else */
    struct txm_map_place *place;
} txm_map;

/* Maps the first `bytes` bytes of a file; the descriptor may be closed afterwards. `map` stays where it is until it is
 * closed. 0 or an errno. */
TXM_SHARED int txm_map_open(txm_map *map, int fd, size_t bytes);
TXM_SHARED void txm_map_close(txm_map *map); /* nothing where no map was opened */

/* Gives back the memory of pages that were read; the next read fetches them again. */
void txm_map_drop_pages(const txm_map *map);

/* Whether bytes that were read from the map may not be the file's. */
static inline bool txm_map_lost(const txm_map *map)
{
    return atomic_load_explicit(&map->lost, memory_order_acquire);
}

/* Whether the file still reaches as far as the map: the last page is the first to go when a file is cut short. Asked
 * before a read, this turns most SIGBUS signals into an error. Kernels before 5.14 do not know it: true there. */
bool txm_map_is_whole(const txm_map *map);

/* Whether `bytes` bytes at `offset` lie inside the map. */
static inline bool txm_map_holds(const txm_map *map, uint64_t offset, uint64_t bytes)
{
    return offset <= map->bytes && bytes <= map->bytes - offset;
}

/* In a SIGBUS handler: if `address` lies in a map, marks it as lost and puts zeros in place of the rest of the file. */
bool txm_map_catch(void *address);

#endif
