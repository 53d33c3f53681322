/* SPDX-License-Identifier: Apache-2.0
 * Ray differentials as a kernel, so that cli_cuda_code.sh can examine the compiler's output for their header. */
#include <stdint.h>

#include "txtile/ray.h"

extern "C" __global__ void differentials(const txm_cone *cones, const txm_vec3 *geometry, txm_uv_differential *out,
                                         uint32_t count)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const txm_vec3 *g = geometry + 4 * i;
    out[i] = txm_cone_uv(cones[i], g[0], g[1], g[2], g[3]);
}
