/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps files, and finds the map to which a fault belongs. The mapped addresses are stored in places that are never
 * freed, so that a SIGBUS handler can walk them while other threads open and close maps. There is no lock either, which
 * the child of a fork() could find taken for ever. A page that vanished is replaced by zeros and its map is marked as
 * lost; readers check the mark before they use what they decoded.
 */
#include "tile/terms/file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The address range of a map. `begin` is 0 while the other members are being changed; a reader that finds it unchanged
 * afterwards has read a consistent range. */
typedef struct txm_map_place {
    _Atomic uintptr_t begin, end;
    _Atomic(txm_map *) map;
    struct txm_map_place *next;
} place;

static _Atomic(place *) places;

/* Takes a free place or makes a new one; NULL if memory is exhausted. */
static place *take_place(txm_map *map)
{
    for (place *p = atomic_load(&places); p; p = p->next) {
        txm_map *none = NULL;
        if (!atomic_load_explicit(&p->map, memory_order_relaxed) && atomic_compare_exchange_strong(&p->map, &none, map))
            return p;
    }
    place *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    atomic_store(&p->map, map);
    p->next = atomic_load(&places);
    while (!atomic_compare_exchange_weak(&places, &p->next, p))
        ;
    return p;
}

/* Returns 0 or an errno. The map is shared and read-only, so it uses the page cache. */
int txm_map_open(txm_map *map, int fd, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    place *p = take_place(map);
    if (!p)
        return ENOMEM;
    void *data = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) {
        const int error = errno;
        atomic_store(&p->map, NULL);
        return error;
    }
    *map = (txm_map){.data = data, .bytes = bytes, .place = p};
    atomic_store(&p->end, ((uintptr_t)data + bytes + page - 1) & ~(page - 1));
    atomic_store(&p->begin, (uintptr_t)data);
    return 0;
}

/* ---- files that are read ---- */

enum { PAGE_SHIFT = 12, MOST_PRESENT_BYTES = 64 << 20, SLACK_BYTES = 64 };

int txm_map_open_read(txm_map *map, int fd, size_t bytes)
{
    const size_t pages = (bytes >> PAGE_SHIFT) + 1;
    const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return errno;
    uint8_t *present = calloc(pages / 8 + 1, 1);
    void *data = !present ? MAP_FAILED
                          : mmap(NULL, pages << PAGE_SHIFT, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) {
        close(own);
        free(present);
        return ENOMEM;
    }
    *map = (txm_map){.data = data, .bytes = bytes, .fd = own, .present = present};
    return 0;
}

void txm_map_seal(txm_map *map)
{
    map->sealed = true;
}

/* The cast removes const only for the mark. */
static bool lose(const txm_map *map)
{
    atomic_store(&((txm_map *)map)->lost, true);
    return false;
}

bool txm_map_copy(const txm_map *map, uint64_t offset, size_t bytes, void *dst)
{
    if (!map->present) {
        memcpy(dst, map->data + offset, bytes);
        return true;
    }
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = pread(map->fd, (uint8_t *)dst + done, bytes - done, (off_t)(offset + done));
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return lose(map);
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

const uint8_t *txm_map_read(const txm_map *map, uint64_t offset, size_t bytes, uint8_t **buffer, bool *no_memory)
{
    *no_memory = false;
    if (!map->present)
        return map->data + offset;
    if (malloc_usable_size(*buffer) < bytes + SLACK_BYTES) {
        free(*buffer);
        *buffer = malloc(bytes + SLACK_BYTES);
    }
    *no_memory = !*buffer;
    return *buffer && txm_map_copy(map, offset, bytes, *buffer) ? *buffer : NULL;
}

/* Reads runs of missing pages at once. */
bool txm_map_fetch(const txm_map *const_map, uint64_t offset, uint64_t bytes)
{
    txm_map *map = (txm_map *)const_map;
    const uint64_t end = bytes ? ((offset + bytes - 1) >> PAGE_SHIFT) + 1 : 0;
    for (uint64_t page = offset >> PAGE_SHIFT, stop; page < end; page = stop) {
        for (stop = page; stop < end && !(map->present[stop / 8] >> stop % 8 & 1);)
            stop++;
        if (stop == page) {
            stop++;
            continue;
        }
        const uint64_t at = page << PAGE_SHIFT, to = stop << PAGE_SHIFT;
        const size_t n = (size_t)((to < map->bytes ? to : map->bytes) - at);
        if (map->sealed || map->present_bytes + n > MOST_PRESENT_BYTES ||
            !txm_map_copy(map, at, n, (uint8_t *)(uintptr_t)map->data + at))
            return false;
        map->present_bytes += n;
        for (; page < stop; page++)
            map->present[page / 8] |= (uint8_t)(1 << page % 8);
    }
    return true;
}

/* The place is cleared before the file is unmapped, so that a fault never finds a map that is gone. */
void txm_map_close(txm_map *map)
{
    if (!map->data)
        return;
    if (map->present) {
        munmap((void *)(uintptr_t)map->data, ((map->bytes >> PAGE_SHIFT) + 1) << PAGE_SHIFT);
        close(map->fd);
        free(map->present);
        *map = (txm_map){.lost = map->lost};
        return;
    }
    atomic_store(&map->place->begin, 0);
    munmap((void *)map->data, map->bytes);
    map->data = NULL;
    atomic_store(&map->place->map, NULL);
}

/* The pages stay in the page cache, from which they come back without reading the disk, but do not count as memory of
 * the process. */
void txm_map_drop_pages(const txm_map *map)
{
    if (map->data && !map->present)
        madvise((void *)(uintptr_t)map->data, map->bytes, MADV_DONTNEED);
}

/* Called in the program's SIGBUS handler, on the thread that reads; its map stays open meanwhile. */
bool txm_map_catch(void *address)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)address & ~(page - 1);
    for (place *p = atomic_load(&places); p; p = p->next) {
        const uintptr_t begin = atomic_load(&p->begin), end = atomic_load(&p->end);
        txm_map *map = atomic_load(&p->map);
        if (!begin || at < begin || at >= end || !map || atomic_load(&p->begin) != begin)
            continue;
        /* The mark is set first, so that a thread which reads the zeros finds it. */
        atomic_store(&map->lost, true);
        return mmap((void *)at, end - at, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    }
    return false;
}

bool txm_map_is_whole(const txm_map *map)
{
    struct stat st;
    if (map->present)
        return fstat(map->fd, &st) == 0 && (uint64_t)st.st_size >= map->bytes;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t last = ((uintptr_t)map->data + map->bytes - 1) & ~(page - 1);
    return madvise((void *)last, page, MADV_POPULATE_READ) == 0 || errno != EFAULT;
}
