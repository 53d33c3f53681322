/* SPDX-License-Identifier: Apache-2.0 */
#include "base/os/pages.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

size_t txm_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void *txm_pages_new(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

static size_t whole_pages(size_t bytes)
{
    const size_t page = txm_page_bytes();
    return (bytes + page - 1) & ~(page - 1);
}

/* More is mapped than needed, and cut to the alignment. */
void *txm_pages_aligned(size_t bytes, size_t alignment)
{
    const size_t size = whole_pages(bytes), spare = alignment > txm_page_bytes() ? alignment : 0;
    unsigned char *p = size < bytes
                           ? MAP_FAILED
                           : mmap(NULL, size + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    const size_t before = spare ? -(uintptr_t)p & (alignment - 1) : 0;
    if (before)
        munmap(p, before);
    if (spare - before)
        munmap(p + before + size, spare - before);
    return p + before;
}

void txm_pages_free_aligned(void *pages, size_t bytes)
{
    munmap(pages, whole_pages(bytes));
}

/* Where a file has large pages, the system maps 2 MB for one byte that is read, all of which count as memory of the
 * process, but only at addresses that are multiples of that size. */
void *txm_pages_of_file(int fd, size_t bytes)
{
    enum { LARGE = 2 << 20 };
    const size_t page = txm_page_bytes();
    uint8_t *room = NULL, *at = NULL;
    if (bytes >= LARGE) {
        room = mmap(NULL, whole_pages(bytes) + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room == MAP_FAILED)
            return NULL;
        at = (uintptr_t)room % LARGE ? room : room + page;
    }
    void *pages = mmap(at, bytes, PROT_READ, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
    const int error = errno;
    if (at && pages == MAP_FAILED)
        munmap(room, whole_pages(bytes) + page);
    else if (at)
        munmap(at == room ? at + whole_pages(bytes) : room, page);
    errno = error;
    return pages == MAP_FAILED ? NULL : pages;
}

void txm_pages_free(const void *pages, size_t bytes)
{
    if (pages)
        munmap((void *)(uintptr_t)pages, bytes);
}

unsigned txm_pages_most_maps(void)
{
    enum { USUAL = 65530 };
    unsigned most = 0;
    FILE *f = fopen("/proc/sys/vm/max_map_count", "re");
    const bool known = f && fscanf(f, "%u", &most) == 1 && most;
    if (f)
        fclose(f);
    return known ? most : USUAL;
}

bool txm_pages_have_room(size_t bytes)
{
    void *room = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return false;
    munmap(room, bytes);
    return true;
}

void txm_pages_prefer_large(void *pages, size_t bytes)
{
    madvise(pages, bytes, MADV_HUGEPAGE);
}

void txm_pages_drop(const void *pages, size_t bytes)
{
    madvise((void *)(uintptr_t)pages, bytes, MADV_DONTNEED);
}

bool txm_pages_readable(const void *pages, size_t bytes)
{
    return madvise((void *)(uintptr_t)pages, bytes, MADV_POPULATE_READ) == 0 || errno != EFAULT;
}

bool txm_pages_replace(void *pages, size_t bytes)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    if (mmap(pages, bytes, PROT_READ, flags | MAP_FIXED, -1, 0) != MAP_FAILED)
        return true;
    /* There are as many maps as the kernel allows, so this one has to go first. */
    return munmap(pages, bytes) == 0 && mmap(pages, bytes, PROT_READ, flags | MAP_FIXED_NOREPLACE, -1, 0) == pages;
}

size_t txm_usable_bytes(void *memory)
{
    return malloc_usable_size(memory);
}

int txm_memory_file(const char *name)
{
    return memfd_create(name, MFD_CLOEXEC);
}
