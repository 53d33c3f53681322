/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps of files, and which of them a fault belongs to.
 *
 * Maps are kept in a list that the handler of SIGBUS can walk without a lock. A page that vanished is replaced by
 * zeros and its map is marked as lost; readers look at the mark before they trust what they decoded.
 */
#include "core/file_map.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* Nothing is read from a map while this is held, so that the handler of a fault never waits for its own thread. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static txm_map *maps;

/* 0 or an errno. Shared and read-only: the page cache is the memory. */
int txm_map_open(txm_map *map, int fd, size_t bytes)
{
    void *data = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED)
        return errno;
    map->data = data;
    map->bytes = bytes;
    atomic_init(&map->lost, false);
    map->previous = NULL;
    pthread_mutex_lock(&lock);
    map->next = maps;
    if (maps)
        maps->previous = map;
    maps = map;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* Taken from the list before it is unmapped, so that a fault never finds a map that is gone. */
void txm_map_close(txm_map *map)
{
    if (!map->data)
        return;
    pthread_mutex_lock(&lock);
    if (map->next)
        map->next->previous = map->previous;
    *(map->previous ? &map->previous->next : &maps) = map->next;
    pthread_mutex_unlock(&lock);
    munmap((void *)map->data, map->bytes);
    map->data = NULL;
}

/* Called from the handler of SIGBUS of a program that installs one. */
bool txm_map_catch(void *address)
{
    uintptr_t at = (uintptr_t)address, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    bool caught = false;
    pthread_mutex_lock(&lock);
    for (txm_map *m = maps; m && !caught; m = m->next) {
        uintptr_t start = (uintptr_t)m->data, end = (start + m->bytes + page - 1) & ~(page - 1);
        if (at < start || at >= end)
            continue;
        at &= ~(page - 1);
        /* First the mark: whoever reads the zeros finds it. */
        atomic_store(&m->lost, true);
        caught = mmap((void *)at, end - at, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    }
    pthread_mutex_unlock(&lock);
    return caught;
}
