/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the cache: every byte is counted, and room is made for it in the budget first.
 *
 * These functions are called with the lock held, so the counters need no atomics. Callers remember the size of an
 * allocation and pass it when they release it: the renderer's allocator may need it, and without a header in front of
 * the memory its alignment is kept. To make room, txm_make_room decides what is evicted, before the memory is
 * allocated.
 */
#include <stdlib.h>

#include "base/os/pages.h"
#include "tile/cache/cache_impl.h"

/* Arrays begin on a cache line. They grow by half while small, by an eighth when large and by a sixteenth when very
 * large, because unused capacity counts towards the budget. */
enum { ALIGNMENT = 64, FIRST_ITEMS = 16, MANY_ITEMS = 1 << 10, VERY_MANY_ITEMS = 1 << 14 };

/* Large pieces are mapped one by one, so that they leave the process when they are released: malloc would keep them
 * among small ones. */
enum { MAPPED_FROM_BYTES = 128 << 10 };

static void *allocate(txm_cache *c, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    alignment = alignment < sizeof(void *) ? sizeof(void *) : alignment; /* the minimum for posix_memalign */
    if (c->options.allocator.allocate)
        memory = c->options.allocator.allocate(c->options.allocator.user, bytes, alignment);
    else if (bytes >= MAPPED_FROM_BYTES)
        memory = txm_pages_aligned(bytes, alignment);
    else if (posix_memalign(&memory, alignment, bytes ? bytes : 1))
        memory = NULL;
    if (memory) {
        c->allocated += bytes;
        if (c->allocated > c->stats.allocated_bytes_peak)
            c->stats.allocated_bytes_peak = c->allocated;
    }
    return memory;
}

/* Making room may evict tiles, so the caller must read again whatever it has read from a slot before. */
void *txm_cache_allocate(txm_cache *c, size_t bytes, size_t alignment)
{
    txm_make_room(c, bytes);
    return allocate(c, bytes, alignment);
}

/* `bytes` must be the size that was allocated. */
void txm_cache_release(txm_cache *c, void *memory, size_t bytes)
{
    if (!memory)
        return;
    c->allocated -= bytes;
    if (c->options.allocator.release)
        c->options.allocator.release(c->options.allocator.user, memory, bytes);
    else if (bytes >= MAPPED_FROM_BYTES)
        txm_pages_free_aligned(memory, bytes);
    else
        free(memory);
}

char *txm_cache_strdup(txm_cache *c, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = txm_cache_allocate(c, bytes, sizeof(void *));
    return copy ? memcpy(copy, text, bytes) : NULL;
}

void txm_cache_free_string(txm_cache *c, char **text)
{
    if (*text)
        txm_cache_release(c, *text, strlen(*text) + 1);
    *text = NULL;
}

/* `stops` is for arrays that lookups read: lookups are stopped while the array is moved. */
static void move_array(txm_cache *c, void **items, uint32_t *capacity, void *fresh, uint64_t size, size_t item_bytes,
                       bool stops)
{
    void *old = *items;
    const size_t old_bytes = *capacity * item_bytes, bytes = (size_t)size * item_bytes;
    if (stops)
        txm_stop_world(c);
    if (old)
        memcpy(fresh, old, old_bytes < bytes ? old_bytes : bytes);
    if (bytes > old_bytes)
        memset((uint8_t *)fresh + old_bytes, 0, bytes - old_bytes);
    *items = fresh;
    *capacity = (uint32_t)size;
    if (stops)
        txm_resume_world(c);
    txm_cache_release(c, old, old_bytes);
}

/* New items are zero. On failure the array is unchanged. */
bool txm_cache_grow(txm_cache *c, void **items, uint32_t *capacity, uint64_t needed, size_t item_bytes, bool stops)
{
    if (needed <= *capacity)
        return true;
    uint64_t larger = *capacity + *capacity / (*capacity < MANY_ITEMS ? 2 : *capacity < VERY_MANY_ITEMS ? 8 : 16);
    larger = larger < FIRST_ITEMS ? FIRST_ITEMS : larger;
    larger = larger < needed ? needed : larger;
    larger = larger > UINT32_MAX ? UINT32_MAX : larger;
    void *fresh = needed > UINT32_MAX ? NULL : txm_cache_allocate(c, (size_t)larger * item_bytes, ALIGNMENT);
    if (!fresh)
        return false;
    move_array(c, items, capacity, fresh, larger, item_bytes, stops);
    return true;
}

/* Called while room is made, so it makes none itself. */
void txm_cache_shrink(txm_cache *c, void **items, uint32_t *capacity, uint64_t needed, size_t item_bytes, bool stops)
{
    const uint64_t smaller = needed < FIRST_ITEMS ? FIRST_ITEMS : needed;
    void *fresh = smaller < *capacity ? allocate(c, (size_t)smaller * item_bytes, ALIGNMENT) : NULL;
    if (fresh)
        move_array(c, items, capacity, fresh, smaller, item_bytes, stops);
}

/* Updates the view, which threads copy when the generation has changed. */
void txm_cache_refresh(txm_cache *c)
{
    c->view = (txm_view){.textures = c->catalog.view_textures,
                         .tiles = c->table.entries,
                         .leaves = c->table.words,
                         .slabs = c->store.addresses,
                         .udims = c->catalog.udims,
                         .texture_count = c->stats.textures};
}
