/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory from the system in pages, and files seen as memory.
 *
 * Elsewhere: macOS has mmap and madvise, without MAP_NORESERVE (its memory is never reserved), MADV_HUGEPAGE and
 * MADV_POPULATE_READ, and shm_open in place of memfd_create. Windows has VirtualAlloc and MapViewOfFile, in which a
 * page that cannot be read raises EXCEPTION_IN_PAGE_ERROR in place of SIGBUS, and _msize in place of
 * malloc_usable_size, which is malloc_size on macOS.
 */
#ifndef TXM_BASE_OS_PAGES_H
#define TXM_BASE_OS_PAGES_H
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

size_t txm_page_bytes(void);

/* Zeroed memory, of which only what is written to takes room; NULL and errno. */
void *txm_pages_new(size_t bytes);
/* Zeroed memory that the system sets aside, aligned to a power of two; NULL if there is not enough. It goes back to the
 * system when it is freed with the same number of bytes. */
void *txm_pages_aligned(size_t bytes, size_t alignment);
void txm_pages_free_aligned(void *pages, size_t bytes);
/* The first `bytes` bytes of a file, shared and read-only, so that they are those of the page cache; NULL and errno. */
void *txm_pages_of_file(int fd, size_t bytes);
/* Ends either of them; does nothing for NULL. */
void txm_pages_free(const void *pages, size_t bytes);

/* How many maps the system allows this process. */
unsigned txm_pages_most_maps(void);

/* Whether there is room for so many more bytes of addresses. */
bool txm_pages_have_room(size_t bytes);
/* A hint that large pages are worth their while. */
void txm_pages_prefer_large(void *pages, size_t bytes);
/* Releases the memory of a file's pages; the next access reads them again. */
void txm_pages_drop(const void *pages, size_t bytes);
/* Whether a file's pages can be read; true where the system cannot tell (Linux before 5.14). */
bool txm_pages_readable(const void *pages, size_t bytes);
/* Replaces pages by zeros that are only read. Async-signal-safe. */
bool txm_pages_replace(void *pages, size_t bytes);

/* How much of a piece of memory from malloc can be used; 0 for NULL. */
size_t txm_usable_bytes(void *memory);

/* A file that is only in memory, and goes with its last descriptor; -1 and errno. */
int txm_memory_file(const char *name);

#ifdef __cplusplus
}
#endif
#endif
