/* SPDX-License-Identifier: Apache-2.0
 *
 * How lookups find tiles on the processor: slots are numbers in the view's slabs, and misses go to the list of the
 * lookup state. view_device.h defines the same functions for devices.
 */
#ifndef TXM_SAMPLE_VIEW_HOST_H
#define TXM_SAMPLE_VIEW_HOST_H
#include <stddef.h>
#include <string.h>

#include "txtile/sampler.h"

_Static_assert(offsetof(txm_tile_entry, mark) == sizeof(uint32_t) && sizeof(txm_tile_entry) == 8,
               "an entry is loaded in one piece");

#define TXM_VIEW txm_view

/* Access to shared words of the page table. */
#define TXM_LOAD_SLOT(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define TXM_SWAP_SLOT(p, expected, desired)                                                                            \
    __atomic_compare_exchange_n(p, expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)

#define TXM_HAS_LEAVES(view) ((view)->leaves != NULL)

static inline uint32_t *txm_leaf_word(const txm_view *view, uint32_t leaf)
{
    return view->leaves + leaf;
}

/* The word of the page table that holds a tile's slot. */
static inline uint32_t *txm_slot_word(const txm_view *view, uint32_t index)
{
    return &view->tiles[index].slot;
}

/* Both members of an entry come with one load, because the queue of loads is what limits how many lookups wait for
 * memory at the same time. */
static inline uint32_t txm_load_entry(const uint32_t *word, uint32_t *mark)
{
    typedef uint64_t __attribute__((may_alias)) both_members;
    const both_members bits = __atomic_load_n((const both_members *)(const void *)word, __ATOMIC_ACQUIRE);
    txm_tile_entry e;
    memcpy(&e, (const void *)&bits, sizeof e);
    *mark = e.mark;
    return e.slot;
}

/* Tests before setting, so that threads that read the same tile don't take its cache line from each other. `mark` is
 * the mark of the entry whose slot is at `word`. */
static inline void txm_touch_tile(const txm_view *view, uint32_t *word, uint32_t mark, uint32_t index)
{
    const uint32_t epoch = view->epoch;
    (void)index;
    if (epoch && mark != epoch)
        __atomic_store_n(word + 1, epoch, __ATOMIC_RELAXED);
}

static inline const uint8_t *txm_slot_address(const txm_view *view, const txm_view_texture *t, uint32_t slot)
{
    return (const uint8_t *)(uintptr_t)view->slabs[slot >> TXM_SLOT_BITS] +
           (uint64_t)(slot & ((1u << TXM_SLOT_BITS) - 1)) * t->tile_bytes;
}

/* Coarser tiles that would stand in for a missing one are not requested. */
#define TXM_STAND_IN_CAPACITY(view) 0

/* The list of misses. */
static inline int txm_list_is_full(const txm_view *view, const txm_lookup_state *state)
{
    (void)view;
    return state->count == state->capacity;
}

static inline void txm_list_add(const txm_view *view, txm_lookup_state *state, uint32_t number)
{
    (void)view;
    state->requests[state->count++] = number;
}
#endif
