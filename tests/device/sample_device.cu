/* SPDX-License-Identifier: Apache-2.0
 * A look-up as a kernel: cli_cuda_code.sh looks at what the compiler makes of the sampler's headers. Shared words of the
 * page table are read and written as CUDA does it. */
#define TXM_LOAD_SLOT(p) (*(const volatile uint32_t *)(p))
#define TXM_LOAD_MARK(p) (*(const volatile uint32_t *)(p))
#define TXM_STORE_MARK(p, v) (*(volatile uint32_t *)(p) = (v))
#define TXM_SWAP_SLOT(p, expected, desired) (atomicCAS(p, *(expected), desired) == *(expected))
#include "tile/sample/lookup.h"
#include "txtile/ray.h"

extern "C" __global__ void look_up(txm_view view, uint32_t texture, txm_sampler how, const txm_cone *cones,
                                   const txm_vec3 *geometry, txm_lookup *at, txm_lane *lanes, float *out, float *slopes,
                                   txm_look *look, uint32_t count)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const txm_vec3 *g = geometry + 4 * i;
    txm_uv_differential d = txm_cone_uv(cones[i], g[0], g[1], g[2], g[3]);
    at[i].dudx = d.dudx;
    at[i].dudy = d.dudy;
    at[i].dvdx = d.dvdx;
    at[i].dvdy = d.dvdy;
    look[i] = txm_lookup_sample(&view, texture, &how, at + i, lanes + i, out + 4 * i, slopes + 8 * i, slopes + 8 * i + 4);
}
