/* SPDX-License-Identifier: Apache-2.0
 *
 * Read-only maps of files whose pages may vanish: because somebody cuts the file short in place, or because the disk or
 * the server behind it fails. Reading such a page raises SIGBUS. The library installs no signal handler; the handler of
 * a program that calls txm_map_catch makes the read go on, and the map remembers that it was lost.
 *
 * Where a process may not grow by what it reads, or must not meet that signal, a file is read in place of being mapped:
 * the map is memory of the file's size of which nothing is there at first. What stays in it is read by txm_map_needs,
 * from one thread before others see the map; txm_map_read reads into memory of the caller's. What cannot be read marks
 * the map as lost.
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
    atomic_bool lost;            /* zeros were read where the file had something else */
    struct txm_map_place *place; /* NULL: the file is read, by `fd` */
    int fd;
    uint8_t *present; /* a bit for each page that was read; NULL: mapped */
    size_t present_bytes;
    bool sealed; /* nothing more is read into it */
} txm_map;

/* Maps the first `bytes` bytes of a file; the descriptor may be closed afterwards. `map` stays where it is until it is
 * closed. 0 or an errno. */
TXM_SHARED int txm_map_open(txm_map *map, int fd, size_t bytes);
TXM_SHARED void txm_map_close(txm_map *map); /* nothing where no map was opened */

/* The same for a file that is read. Keeps a descriptor of its own. */
int txm_map_open_read(txm_map *map, int fd, size_t bytes);
/* From here on any thread may use it, and nothing more is read into it. */
void txm_map_seal(txm_map *map);

/* Gives back the memory of pages that were mapped; the next read fetches them again. */
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

/* The same, and the bytes are there to be looked at. Of a file that is read at most 64 MiB can be. */
bool txm_map_fetch(const txm_map *map, uint64_t offset, uint64_t bytes);
static inline bool txm_map_needs(const txm_map *map, uint64_t offset, uint64_t bytes)
{
    return txm_map_holds(map, offset, bytes) && (!map->present || txm_map_fetch(map, offset, bytes));
}

/* Copies bytes that lie inside the map; false: they cannot be read. */
bool txm_map_copy(const txm_map *map, uint64_t offset, size_t bytes, void *dst);

/* Bytes that lie inside the map: where it has them, or read into *buffer, which grows by malloc and is the caller's to
 * free. NULL: they cannot be read, or *no_memory. */
const uint8_t *txm_map_read(const txm_map *map, uint64_t offset, size_t bytes, uint8_t **buffer, bool *no_memory);

/* In a SIGBUS handler: if `address` lies in a map, marks it as lost and puts zeros in place of the rest of the file. */
bool txm_map_catch(void *address);

#endif
