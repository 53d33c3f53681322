/* SPDX-License-Identifier: Apache-2.0
 *
 * Read-only maps of files whose pages may vanish, because the file is truncated in place or its disk or server fails.
 * Reading such a page raises SIGBUS. The library installs no signal handler; if the program's handler calls
 * txm_map_catch, the read continues, and the map is marked as lost.
 *
 * If a process must not grow by what it reads, or must not get that signal, a file is read instead of mapped: the map
 * is then memory of the file's size into which pages are read on demand. txm_map_needs reads data that stay in it, on
 * one thread before others use the map; txm_map_read reads into the caller's memory. If reading fails, the map is
 * marked as lost.
 */
#ifndef TXM_TERMS_FILE_MAP_H
#define TXM_TERMS_FILE_MAP_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/shared.h"
#include "txtile/status.h"

typedef struct txm_map {
    const uint8_t *data;
    size_t bytes;
    atomic_bool lost;            /* zeros were read instead of the file's data */
    atomic_int failure;          /* errno of a call that failed to read or to examine the file; 0: none did */
    struct txm_map_place *place; /* NULL: the file is not mapped */
    bool reads;                  /* txm_map_copy and txm_map_read read through `fd` */
    int fd;
    uint8_t *present; /* a bit for each page that was read; NULL: the file is mapped */
    size_t present_bytes;
    bool sealed;   /* no more pages are read into it */
    uint8_t *copy; /* the whole file, because no more maps are allowed; NULL: it is not copied */
} txm_map;

/* Maps the first `bytes` bytes of a file; the descriptor may be closed afterwards. `map` must not move until it is
 * closed. Returns 0 or an errno. */
TXM_SHARED int txm_map_open(txm_map *map, int fd, size_t bytes);
TXM_SHARED void txm_map_close(txm_map *map); /* does nothing if no map is open */

/* Keeps a duplicate of the descriptor, if the process can spare one, through which txm_map_copy and txm_map_read read:
 * that takes as long as it takes to map the pages, which would count as memory of the process. */
void txm_map_keep_descriptor(txm_map *map, int fd);

/* Does the same as txm_map_open for a file that is read instead of mapped. Duplicates the descriptor. */
int txm_map_open_read(txm_map *map, int fd, size_t bytes);
/* Afterwards any thread may use the map, and no more pages are read into it. */
void txm_map_seal(txm_map *map);

/* Whether files that can do without a map should: if more than half of the maps that the kernel allows a process belong
 * to files. Its memory and the stacks of its threads are maps, too. */
bool txm_maps_are_scarce(void);

/* Releases the memory of mapped pages; the next access reads them again. */
void txm_map_drop_pages(const txm_map *map);

/* Whether bytes that were read from the map may not be those of the file. */
static inline bool txm_map_lost(const txm_map *map)
{
    return atomic_load_explicit(&map->lost, memory_order_acquire);
}

/* Whether the file still extends to the end of the map, by its last page, which is the first to vanish if the file is
 * truncated. A check before reading turns most SIGBUS signals into an error. On kernels before 5.14, which cannot tell,
 * it returns true. */
bool txm_map_is_whole(const txm_map *map);

/* Fails with the reason why the map is lost or not whole, as far as it can still be determined: IO or another status of
 * the call that failed, or CHANGED. */
txm_status txm_map_fail(const txm_map *map, const char *path, txm_error *err);

/* Whether `bytes` bytes at `offset` are inside the map. */
static inline bool txm_map_holds(const txm_map *map, uint64_t offset, uint64_t bytes)
{
    return offset <= map->bytes && bytes <= map->bytes - offset;
}

/* Does the same, and makes the bytes available: at most 64 MiB of a file that is read instead of mapped. */
bool txm_map_fetch(const txm_map *map, uint64_t offset, uint64_t bytes);
static inline bool txm_map_needs(const txm_map *map, uint64_t offset, uint64_t bytes)
{
    return txm_map_holds(map, offset, bytes) && (!map->present || txm_map_fetch(map, offset, bytes));
}

/* Copies bytes that are inside the map; false if they cannot be read. */
bool txm_map_copy(const txm_map *map, uint64_t offset, size_t bytes, void *dst);

/* Returns bytes that are inside the map: in place if they are available, else read into *buffer, which grows by malloc
 * and which the caller frees. NULL if they cannot be read, or memory is exhausted (*no_memory). */
const uint8_t *txm_map_read(const txm_map *map, uint64_t offset, size_t bytes, uint8_t **buffer, bool *no_memory);

/* For a SIGBUS handler: if `address` is in a map, marks the map as lost, replaces the rest of the file by zeros, and
 * returns true. */
bool txm_map_catch(void *address);

#endif
