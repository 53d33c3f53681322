/* SPDX-License-Identifier: Apache-2.0
 * Texture caches and tx files for their tests. Everything that fails aborts the test. */
#ifndef UTIL_CACHE_H
#define UTIL_CACHE_H
#include <pthread.h>
#include <stdbool.h>

#include "txtile/cache.h"
#include "util_writer.h"

/* A tx file of its own pixels in this process's folder; free() the name. `seed` makes it another file. */
char *write_cached(const char *name, uint32_t width, uint32_t height, uint32_t channels, txm_type type,
                   made_content content, unsigned seed);

/* What lookups of these tests are made of: linear in one mode, a number from 0 to 1. */
txm_sampler sampler(txm_level_mode mode);
float unit(uint64_t *state);

/* Policies that keep a budget: all but NONE; for loops over them. */
enum { POLICIES = TXM_CACHE_POLICY_SECOND_CHANCE + 1, BOUNDED_POLICIES = POLICIES - 1 };
static inline uint32_t bounded_policy(uint32_t i)
{
    return i < TXM_CACHE_POLICY_NONE ? i : i + 1;
}

/* Defaults with a budget, a policy and two threads that load. */
txm_cache_options budget_options(uint64_t max_bytes, uint32_t policy);

/* A lookup with the footprint of a level's pixel; `size`: of level 0. */
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

/* An allocator that counts: the options' one, whose most bytes at any instant are in `most`. */
typedef struct counted {
    uint64_t now, most, limit; /* limit: allocations that would pass it are refused; 0: none */
    long refuse_in;            /* so many allocations from now on one is refused, and all after it; 0: none */
} counted;
txm_cache_allocator count_in(counted *count);
#endif
