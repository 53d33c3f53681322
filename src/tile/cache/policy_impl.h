/* SPDX-License-Identifier: Apache-2.0
 *
 * Which tiles are evicted first, and when: policy.c has a row for each policy.
 */
#ifndef TXM_CACHE_POLICY_IMPL_H
#define TXM_CACHE_POLICY_IMPL_H
#include <stdbool.h>

#include "tile/cache/store_impl.h"

/* A policy of eviction: see policy.c. Called with the lock held; members that are 0 or NULL have no effect. */
typedef struct txm_policy {
    txm_cache_policy_words words;
    /* Sort key of a HELD slot: the lowest is evicted first; of equal ones, the one that was loaded first. */
    uint32_t (*order)(const txm_cache *c, const txm_slot *s);
    void (*end_render_tile)(txm_cache *c); /* at the end of txm_cache_end_epoch; may release the lock */
    bool keeps_all;                        /* nothing is evicted, and the budget may be exceeded */
    bool by_launch;                        /* preparing a view begins an epoch */
    uint8_t staged_64ths; /* how many 64ths of a class's tiles are staged before they are evicted (stage.c) */
} txm_policy;

extern const txm_policy txm_policies[];
#endif
