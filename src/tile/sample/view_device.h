/* SPDX-License-Identifier: Apache-2.0
 *
 * How lookups find tiles on a device. The page table holds places, in units of 64 bytes, first in device memory and
 * after that in host memory that the device can reach. Misses go to one list for the whole launch, and a bit for each
 * entry records that it was touched. view_host.h defines the same functions for the processor.
 */
#ifndef TXM_SAMPLE_VIEW_DEVICE_H
#define TXM_SAMPLE_VIEW_DEVICE_H
#include "tile/sample/device_args.h"

#define TXM_VIEW txm_device_view

typedef struct txm_device_view {
    TXM_GLOBAL const txm_view_texture *textures;
    TXM_GLOBAL uint32_t *leaves; /* as in txm_view */
    TXM_GLOBAL uint32_t *slots;  /* a word for each entry */
    TXM_GLOBAL const uint32_t *udims;
    TXM_GLOBAL const uint8_t *near_tiles, *far_tiles;
    TXM_GLOBAL uint32_t *notes, *requests, *touched; /* counters; numbers of tiles; bits */
    uint32_t near_units, texture_count, capacity;
    uint16_t launch, round;
    uint32_t rejection, stand_in_capacity;
} txm_device_view;

/* If the cache sets this, coarser tiles that would stand in for a missing one are requested, because the sampler would
 * have found them. */
#define TXM_STAND_IN_CAPACITY(view) (view)->stand_in_capacity

/* Words that the threads of a launch share. */
#ifdef __OPENCL_VERSION__
#define TXM_CAS32(p, expected, desired) atomic_cmpxchg((volatile __global uint *)(p), expected, desired)
#define TXM_ADD32(p, n) atomic_add((volatile __global uint *)(p), n)
#define TXM_OR32(p, bits) atomic_or((volatile __global uint *)(p), bits)
#define TXM_READ32(p) (*(volatile __global const uint *)(p))
#define TXM_BITS32(w) popcount(w)
#elif defined(__CUDACC__)
#define TXM_CAS32(p, expected, desired) atomicCAS(p, expected, desired)
#define TXM_ADD32(p, n) atomicAdd(p, n)
#define TXM_OR32(p, bits) atomicOr(p, bits)
#define TXM_READ32(p) (*(volatile const uint32_t *)(p))
#define TXM_BITS32(w) (uint32_t) __popc(w)
#else
static inline uint32_t txm_cas32(uint32_t *p, uint32_t expected, uint32_t desired)
{
    __atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
#define TXM_CAS32(p, expected, desired) txm_cas32(p, expected, desired)
#define TXM_ADD32(p, n) __atomic_fetch_add(p, n, __ATOMIC_RELAXED)
#define TXM_OR32(p, bits) __atomic_fetch_or(p, bits, __ATOMIC_RELAXED)
#define TXM_READ32(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define TXM_BITS32(w) (uint32_t) __builtin_popcount(w)
#endif
/* Kernels are compiled for the device only. */
#ifdef __CUDACC__
#define TXM_KERNEL_PART static __device__ inline
#else
#define TXM_KERNEL_PART TXM_ARITH
#endif

/* Counts the thread in a counter, and returns the count before it. Threads of a warp that count in the same counter at
 * the same time need one atomic operation. txm_speaks lets one of the threads that are about to exchange the same word
 * go on, or at least keeps back those that come too late. */
#ifdef __CUDACC__
TXM_KERNEL_PART uint32_t txm_count_in(uint32_t *counter)
{
    const uint32_t peers = __match_any_sync(__activemask(), (unsigned long long)counter);
    const uint32_t lane = threadIdx.x & 31u, leader = (uint32_t)__ffs((int)peers) - 1u;
    uint32_t before = 0;
    if (lane == leader)
        before = atomicAdd(counter, (uint32_t)__popc(peers));
    return __shfl_sync(peers, before, (int)leader) + (uint32_t)__popc(peers & ((1u << lane) - 1u));
}

TXM_KERNEL_PART int txm_speaks(const uint32_t *word, uint32_t expected)
{
    (void)expected;
    const uint32_t peers = __match_any_sync(__activemask(), (unsigned long long)word);
    return (threadIdx.x & 31u) + 1u == (uint32_t)__ffs((int)peers);
}
#else
TXM_KERNEL_PART uint32_t txm_count_in(TXM_GLOBAL uint32_t *counter)
{
    return TXM_ADD32(counter, 1u);
}

TXM_KERNEL_PART int txm_speaks(TXM_GLOBAL const uint32_t *word, uint32_t expected)
{
    return TXM_READ32(word) == expected;
}
#endif

#define TXM_LOAD_SLOT(p) TXM_READ32(p)
#define TXM_SWAP_SLOT(p, expected, desired) (TXM_CAS32(p, *(expected), desired) == *(expected))

#define TXM_HAS_LEAVES(view) 1

TXM_KERNEL_PART TXM_GLOBAL uint32_t *txm_leaf_word(const txm_device_view *view, uint32_t leaf)
{
    return view->leaves + leaf;
}

TXM_KERNEL_PART TXM_GLOBAL uint32_t *txm_slot_word(const txm_device_view *view, uint32_t index)
{
    return view->slots + index;
}

/* Marks are bits of their own here. */
TXM_KERNEL_PART uint32_t txm_load_entry(TXM_GLOBAL uint32_t *word, uint32_t *mark)
{
    *mark = 0;
    return TXM_LOAD_SLOT(word);
}

/* Tests the bit before setting it, because most lookups find it set. */
TXM_KERNEL_PART void txm_touch_tile(const txm_device_view *view, TXM_GLOBAL uint32_t *slot, uint32_t mark,
                                    uint32_t index)
{
    (void)slot;
    (void)mark;
    TXM_GLOBAL uint32_t *word = view->touched + (index >> 5);
    const uint32_t bit = 1u << (index & 31u);
    if (!(TXM_READ32(word) & bit))
        TXM_OR32(word, bit);
}

TXM_KERNEL_PART TXM_GLOBAL const uint8_t *txm_slot_address(const txm_device_view *view,
                                                           TXM_GLOBAL const txm_view_texture *t, uint32_t slot)
{
    (void)t;
    return slot < view->near_units ? view->near_tiles + (uint64_t)slot * TXM_DEVICE_UNIT_BYTES
                                   : view->far_tiles + (uint64_t)(slot - view->near_units) * TXM_DEVICE_UNIT_BYTES;
}

/* Other threads may fill the list in the meantime; txm_list_add checks again. */
TXM_KERNEL_PART int txm_list_is_full(const txm_device_view *view, const txm_lookup_state *state)
{
    (void)state;
    return TXM_READ32(view->notes + TXM_NOTE_LISTED) >= view->capacity;
}

/* A request that does not fit in the list expires with its launch, whose number it carries. */
TXM_KERNEL_PART void txm_list_add(const txm_device_view *view, txm_lookup_state *state, uint32_t number)
{
    const uint32_t at = txm_count_in(view->notes + TXM_NOTE_LISTED);
    if (at < view->capacity)
        view->requests[at] = number;
    else
        state->full++;
}
#endif
