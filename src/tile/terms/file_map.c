/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps files, and finds the map to which a fault belongs. The mapped addresses are stored in places that are never
 * freed, so that a SIGBUS handler can walk them while other threads open and close maps. There is no lock either, which
 * the child of a fork() could find taken for ever. A page that vanished is replaced by zeros and its map is marked as
 * lost; readers check the mark before they use what they decoded.
 */
#include "tile/terms/file_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/os/files.h"
#include "base/os/machine.h"
#include "base/os/pages.h"
#include "base/whole.h"

/* The address range of a map. `begin` is 0 while the other members are being changed; a reader that finds it unchanged
 * afterwards has read a consistent range. */
typedef struct txm_map_place {
    _Atomic uintptr_t begin, end;
    _Atomic(txm_map *) map;
    atomic_uint next; /* the next free one, counted from 1; 0: none */
    uint32_t number;
} place;

/* Places are in pieces, each twice as long as the one before. Free ones form a stack. The upper half of its word counts
 * changes, so that a place which was taken and given back meanwhile is not taken twice. */
enum { FIRST_PIECE = 64, PIECES = 24 };
static _Atomic(place *) pieces[PIECES];
static atomic_uint made;
static atomic_uint_least64_t free_places;

/* NULL: its piece is not there. */
static _Atomic(place *) *piece_of(uint32_t number, uint32_t *at)
{
    uint32_t i = 0, first = 0;
    while (i < PIECES && number - first >= (uint32_t)FIRST_PIECE << i)
        first += (uint32_t)FIRST_PIECE << i++;
    *at = number - first;
    return i < PIECES ? &pieces[i] : NULL;
}

static place *place_of(uint32_t number)
{
    uint32_t at;
    _Atomic(place *) *piece = piece_of(number, &at);
    place *first = piece ? atomic_load(piece) : NULL;
    return first ? first + at : NULL;
}

static place *take_place(void)
{
    uint64_t head = atomic_load(&free_places);
    while ((uint32_t)head) {
        place *p = place_of((uint32_t)head - 1);
        const uint64_t rest = ((head >> 32) + 1) << 32 | atomic_load(&p->next);
        if (atomic_compare_exchange_weak(&free_places, &head, rest))
            return p;
    }
    /* NULL: memory is exhausted. */
    const uint32_t number = atomic_fetch_add(&made, 1);
    uint32_t at;
    _Atomic(place *) *piece = piece_of(number, &at);
    if (!piece)
        return NULL;
    if (!atomic_load(piece)) {
        place *none = NULL, *fresh = calloc((size_t)FIRST_PIECE << (piece - pieces), sizeof *fresh);
        if (fresh && !atomic_compare_exchange_strong(piece, &none, fresh))
            free(fresh);
    }
    place *p = place_of(number);
    if (p)
        p->number = number;
    return p;
}

/* ---- maps ---- */

static atomic_uint open_maps;

bool txm_maps_are_scarce(void)
{
    static atomic_uint most;
    if (!atomic_load(&most))
        atomic_store(&most, txm_pages_most_maps());
    return atomic_load(&open_maps) > atomic_load(&most) / 2;
}

/* For a process that has as many maps as the kernel allows. */
static int open_copy(txm_map *map, int fd, size_t bytes)
{
    enum { MOST_BYTES = 64 << 20 };
    uint8_t *copy = bytes <= MOST_BYTES ? malloc(bytes ? bytes : 1) : NULL;
    if (!copy)
        return ENOMEM;
    const int rc = txm_pread_all(fd, copy, bytes, 0);
    if (rc) {
        free(copy);
        return rc;
    }
    *map = (txm_map){.data = copy, .bytes = bytes, .copy = copy};
    return 0;
}

/* Returns 0 or an errno. The map is shared and read-only, so it uses the page cache. */
int txm_map_open(txm_map *map, int fd, size_t bytes)
{
    const uintptr_t page = txm_page_bytes();
    const void *data = txm_pages_of_file(fd, bytes);
    if (!data)
        return errno == ENOMEM ? open_copy(map, fd, bytes) : errno;
    place *p = take_place();
    if (!p) {
        txm_pages_free(data, bytes);
        return ENOMEM;
    }
    *map = (txm_map){.data = data, .bytes = bytes, .place = p};
    atomic_store(&p->map, map);
    atomic_store(&p->end, ((uintptr_t)data + bytes + page - 1) & ~(page - 1));
    atomic_store(&p->begin, (uintptr_t)data);
    atomic_fetch_add(&open_maps, 1);
    return 0;
}

/* ---- files that are read ---- */

static atomic_uint kept_descriptors;

/* Other parts of the process need most of its descriptors. */
void txm_map_keep_descriptor(txm_map *map, int fd)
{
    enum { PART = 4 };
    uint64_t most;
    if (!map->place)
        return;
    txm_limit_of(TXM_LIMIT_FILES, &most);
    if (atomic_fetch_add(&kept_descriptors, 1) < most / PART && (map->fd = txm_file_again(fd)) >= 0)
        map->reads = true;
    else
        atomic_fetch_sub(&kept_descriptors, 1);
}

enum { PAGE_SHIFT = 12, MOST_PRESENT_BYTES = 64 << 20, SLACK_BYTES = 64 };

int txm_map_open_read(txm_map *map, int fd, size_t bytes)
{
    const size_t pages = (bytes >> PAGE_SHIFT) + 1;
    const int own = txm_file_again(fd);
    if (own < 0)
        return errno;
    uint8_t *present = calloc(pages / 8 + 1, 1);
    void *data = present ? txm_pages_new(pages << PAGE_SHIFT) : NULL;
    if (!data) {
        close(own);
        free(present);
        return ENOMEM;
    }
    *map = (txm_map){.data = data, .bytes = bytes, .fd = own, .reads = true, .present = present};
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

static int note_failure(const txm_map *map, int failure)
{
    if (failure)
        atomic_store(&((txm_map *)map)->failure, failure);
    return failure;
}

bool txm_map_copy(const txm_map *map, uint64_t offset, size_t bytes, void *dst)
{
    if (!map->reads) {
        memcpy(dst, map->data + offset, bytes);
        return true;
    }
    return note_failure(map, txm_pread_all(map->fd, dst, bytes, offset)) == 0 || lose(map);
}

const uint8_t *txm_map_read(const txm_map *map, uint64_t offset, size_t bytes, uint8_t **buffer, bool *no_memory)
{
    *no_memory = false;
    if (!map->reads)
        return map->data + offset;
    if (txm_usable_bytes(*buffer) < bytes + SLACK_BYTES) {
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
        txm_pages_free(map->data, ((map->bytes >> PAGE_SHIFT) + 1) << PAGE_SHIFT);
        close(map->fd);
        free(map->present);
        *map = (txm_map){.lost = map->lost};
        return;
    }
    if (map->copy) {
        free(map->copy);
        *map = (txm_map){0};
        return;
    }
    if (map->reads) {
        close(map->fd);
        atomic_fetch_sub(&kept_descriptors, 1);
    }
    atomic_store(&map->place->begin, 0);
    atomic_store(&map->place->map, NULL);
    txm_pages_free(map->data, map->bytes);
    map->data = NULL;
    atomic_fetch_sub(&open_maps, 1);
    uint64_t head = atomic_load(&free_places);
    do {
        atomic_store(&map->place->next, (uint32_t)head);
    } while (!atomic_compare_exchange_weak(&free_places, &head, ((head >> 32) + 1) << 32 | (map->place->number + 1)));
}

/* The pages stay in the page cache, from which they come back without reading the disk, but do not count as memory of
 * the process. */
void txm_map_drop_pages(const txm_map *map)
{
    if (map->data && !map->present && !map->copy)
        txm_pages_drop(map->data, map->bytes);
}

/* Called in the program's SIGBUS handler, on the thread that reads; its map stays open meanwhile. */
bool txm_map_catch(void *address)
{
    const uintptr_t page = txm_page_bytes(), at = (uintptr_t)address & ~(page - 1);
    for (uint32_t i = 0; i < atomic_load(&made); i++) {
        place *p = place_of(i);
        if (!p)
            continue;
        const uintptr_t begin = atomic_load(&p->begin), end = atomic_load(&p->end);
        txm_map *map = atomic_load(&p->map);
        if (!begin || at < begin || at >= end || !map || atomic_load(&p->begin) != begin)
            continue;
        /* The mark is set first, so that a thread which reads the zeros finds it. */
        atomic_store(&map->lost, true);
        return txm_pages_replace((void *)at, end - at);
    }
    return false;
}

bool txm_map_is_whole(const txm_map *map)
{
    struct stat st;
    if (map->reads)
        return note_failure(map, fstat(map->fd, &st) == 0 ? 0 : errno) == 0 && (uint64_t)st.st_size >= map->bytes;
    if (map->copy)
        return true;
    const uintptr_t page = txm_page_bytes();
    uintptr_t last = ((uintptr_t)map->data + map->bytes - 1) & ~(page - 1);
    return txm_pages_readable((const void *)last, page);
}

txm_status txm_map_fail(const txm_map *map, const char *path, txm_error *err)
{
    struct stat st;
    const int failure = atomic_load(&map->failure);
    const bool there = stat(path, &st) == 0, whole = there && (uint64_t)st.st_size >= map->bytes;
    txm_error_clear(err);
    if (whole || (failure && !there))
        return txm_fail_errno(err, failure ? failure : EIO, "%s: a part of it cannot be read", path);
    return txm_fail(err, TXM_STATUS_CHANGED, "%s: became shorter while it was open; open it again", path);
}
