/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps of files, and which of them a fault belongs to.
 *
 * Which addresses are mapped is kept in places that are never freed, so that the handler of SIGBUS can walk them
 * without a lock, whatever other threads open and close. A page that vanished is replaced by
 * zeros and its map is marked as lost; readers look at the mark before they trust what they decoded.
 */
#include "tile/base/file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a map lies. `begin` is 0 while nothing of the rest is to be trusted; who looks at it twice and finds it
 * unchanged has read what belongs together. */
typedef struct txm_map_place {
    _Atomic uintptr_t begin, end;
    _Atomic(txm_map *) map;
    struct txm_map_place *next;
} place;

static _Atomic(place *) places;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of those who open and close */

/* One that is free, or a new one; NULL: no memory. */
static place *take_place(txm_map *map)
{
    place *p = atomic_load(&places);
    while (p && atomic_load(&p->map))
        p = p->next;
    if (!p && (p = calloc(1, sizeof *p))) {
        p->next = atomic_load(&places);
        atomic_store(&places, p);
    }
    if (p)
        atomic_store(&p->map, map);
    return p;
}

/* 0 or an errno. Shared and read-only: the page cache is the memory. */
int txm_map_open(txm_map *map, int fd, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    pthread_mutex_lock(&lock);
    place *p = take_place(map);
    pthread_mutex_unlock(&lock);
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

/* The cast takes const away from the mark alone. */
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

/* Page by page: runs of those that are missing are read at once. */
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

/* Forgotten before it is unmapped, so that a fault never finds a map that is gone. */
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

/* The pages stay in the system's cache of files, whence they come back without the disk; the process does not count
 * them any more. */
void txm_map_drop_pages(const txm_map *map)
{
    if (map->data && !map->present)
        madvise((void *)(uintptr_t)map->data, map->bytes, MADV_DONTNEED);
}

/* Called from the handler of SIGBUS of a program that installs one, in the thread that reads: its map stays open
 * meanwhile. */
bool txm_map_catch(void *address)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)address & ~(page - 1);
    for (place *p = atomic_load(&places); p; p = p->next) {
        const uintptr_t begin = atomic_load(&p->begin), end = atomic_load(&p->end);
        txm_map *map = atomic_load(&p->map);
        if (!begin || at < begin || at >= end || !map || atomic_load(&p->begin) != begin)
            continue;
        /* First the mark: whoever reads the zeros finds it. */
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
