/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups in plain C: the specification.
 *
 * Compiles lookup.h and entries.h as they are; the other back-ends compile the same text and replace only the taps.
 */
#include "tile/sample/entries.h"
#include "tile/sample/texels.h"

/* Looks up one element after the other, which defines the result of a batch. */
static txm_lookup_result sample_batch(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                      const txm_lookups *batch, txm_lookup_state *state)
{
    return sample_elements(view, texture, how, batch, 0, batch->count, state);
}

static uint64_t texels_batch(const txm_view *view, const txm_texels *batch, txm_texel_miss **misses)
{
    uint64_t texels = 0;
    for (size_t i = 0; i < batch->count; i++)
        texels_element(view, batch, i, misses, &texels);
    return texels;
}

const txm_sample_ops txm_sample_scalar = {"scalar",     sample_one,  sample_one_guarded, sample_with_derivatives,
                                          sample_batch, texels_batch};
