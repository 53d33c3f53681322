/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the cache: every byte is counted, and room is made for it in the budget first.
 *
 * Callers remember the size of an allocation and pass it when they release it: the renderer's allocator may need it,
 * and without a header in front of the memory its alignment is kept.
 */
#include <stdlib.h>

#include "base/os/pages.h"
#include "tile/cache/tiles/slabs.h"

/* Arrays begin on a cache line. They grow by half while small, by an eighth when large and by a sixteenth when very
 * large, because unused capacity counts towards the budget. Large pieces are mapped one by one, so that they leave the
 * process when they are released: malloc would keep them among small ones. */
enum {
    ALIGNMENT = 64,
    FIRST_ITEMS = 16,
    MANY_ITEMS = 1 << 10,
    VERY_MANY_ITEMS = 1 << 14,
    MAPPED_FROM_BYTES = 128 << 10
};

/* Empty slabs are freed first, then slabs with tiles in the order of their last use, then shared tiles, and at last
 * what the owner can spare. If everything is pinned or loading, the budget is exceeded, because otherwise a lookup
 * would fail; callers that can do without the memory check for themselves. */
void txm_make_room(txm_tiles *t, size_t bytes)
{
    if (txm_fits_budget(t, bytes) || t->busy)
        return;
    txm_slabs_drop_empty(t, TXM_ALL_SLABS);
    while (!txm_fits_budget(t, bytes) && (txm_slab_drop_one(t, TXM_NO_SLOT) || txm_shared_drop(t)))
        ;
    if (!txm_fits_budget(t, bytes))
        t->lost(t->owner, TXM_LOSS_SHORT, NULL, NULL, 0);
}

static void *allocate(txm_tiles *t, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    alignment = alignment < sizeof(void *) ? sizeof(void *) : alignment; /* the minimum for posix_memalign */
    if (t->allocator.allocate)
        memory = t->allocator.allocate(t->allocator.user, bytes, alignment);
    else if (bytes >= MAPPED_FROM_BYTES)
        memory = txm_pages_aligned(bytes, alignment);
    else if (posix_memalign(&memory, alignment, bytes ? bytes : 1))
        memory = NULL;
    if (memory) {
        t->allocated += bytes;
        if (t->allocated > t->stats->allocated_bytes_peak)
            t->stats->allocated_bytes_peak = t->allocated;
    }
    return memory;
}

void *txm_allocate(txm_tiles *t, size_t bytes, size_t alignment)
{
    txm_make_room(t, bytes);
    return allocate(t, bytes, alignment);
}

/* `bytes` must be the size that was allocated. */
void txm_release(txm_tiles *t, void *memory, size_t bytes)
{
    if (!memory)
        return;
    t->allocated -= bytes;
    if (t->allocator.release)
        t->allocator.release(t->allocator.user, memory, bytes);
    else if (bytes >= MAPPED_FROM_BYTES)
        txm_pages_free_aligned(memory, bytes);
    else
        free(memory);
}

static void move_array(txm_tiles *t, void **items, uint32_t *capacity, void *fresh, uint64_t size, size_t item_bytes,
                       void **shown)
{
    void *old = *items;
    const size_t old_bytes = *capacity * item_bytes, bytes = (size_t)size * item_bytes;
    if (shown)
        txm_stop_world(t->world);
    if (old)
        memcpy(fresh, old, old_bytes < bytes ? old_bytes : bytes);
    if (bytes > old_bytes)
        memset((uint8_t *)fresh + old_bytes, 0, bytes - old_bytes);
    *items = fresh;
    *capacity = (uint32_t)size;
    if (shown) {
        *shown = fresh;
        txm_resume_world(t->world);
    }
    txm_release(t, old, old_bytes);
}

/* New items are zero. On failure the array is unchanged. */
bool txm_array_grow(txm_tiles *t, void **items, uint32_t *capacity, uint64_t needed, size_t item_bytes, void **shown)
{
    if (needed <= *capacity)
        return true;
    uint64_t larger = *capacity + *capacity / (*capacity < MANY_ITEMS ? 2 : *capacity < VERY_MANY_ITEMS ? 8 : 16);
    larger = larger < FIRST_ITEMS ? FIRST_ITEMS : larger;
    larger = larger < needed ? needed : larger;
    larger = larger > UINT32_MAX ? UINT32_MAX : larger;
    void *fresh = needed > UINT32_MAX ? NULL : txm_allocate(t, (size_t)larger * item_bytes, ALIGNMENT);
    if (!fresh)
        return false;
    move_array(t, items, capacity, fresh, larger, item_bytes, shown);
    return true;
}

/* Called while room is made, so it makes none itself. */
void txm_array_shrink(txm_tiles *t, void **items, uint32_t *capacity, uint64_t needed, size_t item_bytes, void **shown)
{
    const uint64_t smaller = needed < FIRST_ITEMS ? FIRST_ITEMS : needed;
    void *fresh = smaller < *capacity ? allocate(t, (size_t)smaller * item_bytes, ALIGNMENT) : NULL;
    if (fresh)
        move_array(t, items, capacity, fresh, smaller, item_bytes, shown);
}
