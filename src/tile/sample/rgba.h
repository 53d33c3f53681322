/* SPDX-License-Identifier: Apache-2.0
 *
 * A colour of four floats with element-wise + - *. Each compiler has its own notation for it: a vector of 16 bytes in
 * GCC and Clang, float4 in OpenCL C, and a struct with operators in CUDA.
 */
#ifndef TXM_SAMPLE_RGBA_H
#define TXM_SAMPLE_RGBA_H
#include "tile/ops/arith.h"

#ifdef __CUDACC__
struct txm_rgba {
    float c[4];
    __host__ __device__ float operator[](int i) const
    {
        return c[i];
    }
    __host__ __device__ float &operator[](int i)
    {
        return c[i];
    }
};

TXM_ARITH txm_rgba txm_rgba_make(float r, float g, float b, float a)
{
    txm_rgba v = {{r, g, b, a}};
    return v;
}

TXM_ARITH txm_rgba operator+(txm_rgba a, txm_rgba b)
{
    return txm_rgba_make(a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]);
}

TXM_ARITH txm_rgba operator-(txm_rgba a, txm_rgba b)
{
    return txm_rgba_make(a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]);
}

TXM_ARITH txm_rgba operator*(txm_rgba a, float w)
{
    return txm_rgba_make(a[0] * w, a[1] * w, a[2] * w, a[3] * w);
}

/* Replaces every NaN, whatever its sign and payload, by the one NaN that lookups return. */
TXM_ARITH txm_rgba txm_rgba_quiet(txm_rgba a)
{
    for (int i = 0; i < 4; i++)
        a[i] = a[i] == a[i] ? a[i] : txm_bits_float(0x7FC00000u);
    return a;
}
#elif defined(__OPENCL_VERSION__)
typedef float4 txm_rgba;
#define txm_rgba_make(r, g, b, a) ((float4)(r, g, b, a))
#define txm_rgba_quiet(a) select((float4)(as_float(0x7FC00000u)), a, isequal(a, a))
#else
typedef float txm_rgba __attribute__((vector_size(16)));

TXM_ARITH txm_rgba txm_rgba_make(float r, float g, float b, float a)
{
    return (txm_rgba){r, g, b, a};
}

/* Replaces every NaN, whatever its sign and payload, by the one NaN that lookups return. */
TXM_ARITH txm_rgba txm_rgba_quiet(txm_rgba a)
{
    typedef int32_t bits __attribute__((vector_size(16)));
    bits good = a == a;
    return (txm_rgba)(((bits)a & good) | (~good & 0x7FC00000));
}
#endif
#endif
