/* SPDX-License-Identifier: Apache-2.0
 *
 * How lookups find tiles on the processor: slots are numbers in the view's slabs, and misses go to the lane's list.
 * view_device.h defines the same functions for devices.
 */
#ifndef TXM_SAMPLE_VIEW_HOST_H
#define TXM_SAMPLE_VIEW_HOST_H
#include "txtile/sampler.h"

#define TXM_VIEW txm_view

/* Access to shared words of the page table. */
#define TXM_LOAD_SLOT(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define TXM_LOAD_MARK(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define TXM_STORE_MARK(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
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

/* Tests before setting, so that threads that read the same tile don't take its cache line from each other. */
static inline void txm_touch_tile(const txm_view *view, uint32_t index)
{
    txm_tile_entry *e = view->tiles + index;
    if (view->epoch && TXM_LOAD_MARK(&e->mark) != view->epoch)
        TXM_STORE_MARK(&e->mark, view->epoch);
}

static inline const uint8_t *txm_slot_address(const txm_view *view, const txm_view_texture *t, uint32_t slot)
{
    return (const uint8_t *)(uintptr_t)view->slabs[slot >> TXM_SLOT_BITS] +
           (uint64_t)(slot & ((1u << TXM_SLOT_BITS) - 1)) * t->tile_bytes;
}

/* Coarser tiles that would stand in for a missing one are not requested. */
#define TXM_STAND_IN_CAPACITY(view) 0

/* The list of misses, one for each lane. */
static inline int txm_list_is_full(const txm_view *view, const txm_lookup_state *lane)
{
    (void)view;
    return lane->count == lane->capacity;
}

static inline void txm_list_add(const txm_view *view, txm_lookup_state *lane, uint32_t number)
{
    (void)view;
    lane->requests[lane->count++] = number;
}
#endif
