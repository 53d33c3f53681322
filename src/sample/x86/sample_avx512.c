/* SPDX-License-Identifier: Apache-2.0
 * Look-ups compiled for AVX-512. */
#include "sample/entries.h"
static txm_look sample_batch(const txm_view *view, uint32_t texture, const txm_sampler *how, const txm_batch *batch,
                             txm_lane *lane)
{
    return sample_elements(view, texture, how, batch, 0, batch->count, lane);
}
const txm_sample_ops txm_sample_avx512 = {"avx2", sample_one, sample_with_derivatives, sample_batch};
