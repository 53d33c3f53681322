/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups in plain C: the specification.
 *
 * lookup.h and entries.h compiled as they are: the text of the specification and of every back-end is the same, only
 * taps differ.
 */
#include "tile/sample/entries.h"

/* One element after the other: what a batch is defined by. */
static txm_look sample_batch(const txm_view *view, uint32_t texture, const txm_sampler *how, const txm_lookups *batch,
                             txm_lane *lane)
{
    return sample_elements(view, texture, how, batch, 0, batch->count, lane);
}

const txm_sample_ops txm_sample_scalar = {"scalar", sample_one, sample_one_guarded, sample_with_derivatives,
                                          sample_batch};
