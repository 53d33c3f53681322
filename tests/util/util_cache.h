/* SPDX-License-Identifier: Apache-2.0
 * Texture caches and tx files for their tests. Every failure aborts the test. */
#ifndef UTIL_CACHE_H
#define UTIL_CACHE_H
#include <pthread.h>
#include <stdbool.h>

#include "txtile/cache.h"
#include "util_writer.h"

/* Writes a tx file with pixels of its own in this process's folder; free() the name. Another `seed` gives another file.
 */
char *write_cached(const char *name, uint32_t width, uint32_t height, uint32_t channels, txm_type type,
                   made_content content, unsigned seed);
/* The same with another codec; files of three channels, which are not txmill's, are always compressed with ZIP. */
char *write_cached_as(const char *name, uint32_t width, uint32_t height, uint32_t channels, txm_type type,
                      made_content content, unsigned seed, txm_codec codec);

/* A linear sampler with a mode; and a random number from 0 to 1. */
txm_sampler sampler(txm_level_mode mode);
float unit(uint64_t *state);

/* The number of policies, and of those with a budget, all except NONE, for loops over them. */
enum { POLICIES = TXM_CACHE_POLICY_NONE + 1, BOUNDED_POLICIES = POLICIES - 1 };
static inline uint32_t bounded_policy(uint32_t i)
{
    return i < TXM_CACHE_POLICY_NONE ? i : i + 1;
}

/* Defaults with a budget, a policy and two threads that load. */
txm_cache_options budget_options(uint64_t max_bytes, uint32_t policy);

/* A lookup whose footprint is a pixel of a level; `size` is that of level 0. */
txm_lookup at_level(float u, float v, float level, uint32_t size);

bool magenta(const float c[4]);

txm_cache *new_cache(const txm_cache_options *o);
txm_cache_thread *new_thread(txm_cache *c);
uint32_t add_texture(txm_cache *c, const char *path, txm_extension extension);
txm_cache_stats stats_of(txm_cache *c);

/* A thread that looks up at random in four textures. */
typedef struct walker {
    pthread_t thread;
    txm_cache *cache;
    const uint32_t *ids;
    uint64_t seed;
    int count;
} walker;
void *walk_four(void *walker);

/* An allocator that counts: `most` is the maximum at any time. */
typedef struct counted {
    uint64_t now, most, limit; /* limit: allocations beyond it fail; 0: none */
    long refuse_in;            /* number of the allocation, from now on, that fails with all later ones; 0: none */
} counted;
txm_cache_allocator count_in(counted *count);
#endif
