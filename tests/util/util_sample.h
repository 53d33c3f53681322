/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes random lookups, and compares those of a vector variant with scalar C. This needs no test framework, so that it
 * also runs cross-compiled.
 */
#ifndef UTIL_SAMPLE_H
#define UTIL_SAMPLE_H
#include "tile/sample/sample_ops.h"

/* Random numbers for tests; state must not be 0. */
uint32_t sample_random(uint64_t *state);

/* A lookup of any kind: inside, beyond the edges, on pixel boundaries, not finite; derivatives from 0 to huge,
 * elongated in any direction. `wild`: some are not finite. */
txm_lookup sample_random_lookup(uint64_t *state, uint32_t width, uint32_t height, int wild);

/* Any valid sampler. */
txm_sampler sample_random_sampler(uint64_t *state);

/* If the sampler takes given levels, replaces the derivative in `at` by a random level. */
void sample_give_level(uint64_t *state, const txm_sampler *how, txm_lookup *at);

enum { SAMPLE_UDIM_ROWS = 3 };

/* A view of one random texture with this type and number of channels, made in memory without a file; its page table is
 * complete, or has missing and failed tiles; and of a UDIM set, `udims`, whose tiles are that texture or missing. Free
 * it with sample_view_free. */
typedef struct sample_view {
    txm_view view;
    txm_view_texture texture, set;
    uint32_t udims[10 * SAMPLE_UDIM_ROWS];
    uint64_t slab;
    uint32_t tiles;
} sample_view;

void sample_view_make(sample_view *v, uint64_t *state, txm_type type, uint32_t channels, txm_extension extension,
                      uint32_t width, uint32_t height, int holes);
void sample_view_free(sample_view *v);

/* Compares `rounds` batches and as many single lookups, with and without derivatives, of one ISA with scalar C. Returns
 * NULL if all bits are equal, else a description of the first difference. */
const char *sample_compare(const txm_sample_ops *ops, int rounds, uint64_t seed);
#endif
