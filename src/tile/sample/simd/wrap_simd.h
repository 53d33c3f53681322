/* SPDX-License-Identifier: Apache-2.0
 *
 * The extensions for vectors of any length: the functions of tile/terms/extension.h, operation by operation.
 */
#ifndef TXM_SAMPLE_WRAP_SIMD_H
#define TXM_SAMPLE_WRAP_SIMD_H
#include "tile/sample/simd/constants.h"
#include "tile/sample/simd/taps_simd.h"
#include "tile/terms/extension.h"

TXM_FAST v4i v4i_max(v4i a, v4i b);
TXM_FAST v4i v4i_min(v4i a, v4i b);

/* Wraps coordinates into 0..1 like txm_wrap. Returns 0 in a mode that rejects; callers test the coordinates then,
 * because a single lookup ends there while a group only drops the lane. Defines `of`_wrap from `of`_floor, _min, _max
 * and _set, _select. */
#define TXM_WRAP_COORDINATES(of, vector, mask)                                                                         \
    TXM_FAST int of##_wrap(vector *v, int extension)                                                                   \
    {                                                                                                                  \
        const vector x = *v;                                                                                           \
        if (extension == TXM_EXTENSION_REPEAT) {                                                                       \
            *v = x - of##_floor(x);                                                                                    \
        } else if (extension == TXM_EXTENSION_MIRROR) {                                                                \
            vector t = x * 0.5f;                                                                                       \
            t = (t - of##_floor(t)) * 2.0f;                                                                            \
            *v = of##_select((mask)(t > 1.0f), 2.0f - t, t);                                                           \
        } else {                                                                                                       \
            if (extension == TXM_EXTENSION_CLIP)                                                                       \
                return 0;                                                                                              \
            *v = of##_min(of##_max(x, of##_set(0.0f)), of##_set(1.0f));                                                \
        }                                                                                                              \
        return 1;                                                                                                      \
    }

/* Wraps two neighbouring pixels along each axis like txm_wrap_pixel. They are at most one pixel beyond the edges, so
 * every mode but one shows the pixel at the edge. Returns 0 if some are clear. */
TXM_FAST int v4i_wrap_neighbours(v4i *first, v4i *second, v4i size, int extension)
{
    const v4i last = size - 1;
    v4i from = v4i_max(*first, (v4i){0}), to = v4i_min(*second, last);
    if (extension == TXM_EXTENSION_REPEAT) {
        from = *first + (size & (*first >> 31));
        to = *second & (*second - size) >> 31;
    } else if (extension == TXM_EXTENSION_CLIP) {
        const v4i beyond = (from ^ *first) | (to ^ *second);
        if (beyond[0] | beyond[1])
            return 0;
    }
    *first = from;
    *second = to;
    return 1;
}
#endif
