/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands that lookups load from memory.
 *
 * They are in one struct and not written as literals, since compilers would load literals from separate addresses; here
 * one address serves all.
 */
#include "tile/sample/simd/constants.h"

#define FOUR(v)                                                                                                        \
    {                                                                                                                  \
        v, v, v, v                                                                                                     \
    }
#define SHARE(n) (1.0f / ((float)(n) * (float)(n)))

const txm_sample_constants txm_sample_k = {
    .half = FOUR(0.5f),
    .one = FOUR(1.0f),
    .shares = {0, SHARE(1), SHARE(2), SHARE(3), SHARE(4), SHARE(5), SHARE(6), SHARE(7), SHARE(8), SHARE(9), SHARE(10),
               SHARE(11), SHARE(12), SHARE(13), SHARE(14), SHARE(15), SHARE(16)},
};
