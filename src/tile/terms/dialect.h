/* SPDX-License-Identifier: Apache-2.0
 *
 * The differences between the languages in which the arithmetic is compiled: C, CUDA's C++ and OpenCL C. Headers that
 * are also compiled for devices include this one instead of the standard ones. They use only what the three languages
 * share: a plain pointer points to a function's own variables, one into a device's memory is TXM_GLOBAL, tables are
 * wrapped in TXM_TABLES, and structs that kernels take by value have only members of fixed width.
 */
#ifndef TXM_TERMS_DIALECT_H
#define TXM_TERMS_DIALECT_H

#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
#define TXM_ARITH static inline
#define TXM_GLOBAL __global
#define TXM_CONSTANT __constant
/* Tables must be outside of functions. */
#define TXM_TABLES_OUTSIDE(tables) tables
#define TXM_TABLES_INSIDE(tables)
/* Loads a word of memory that is aligned to its size. */
#define TXM_TAKE(type, v, p) ((v) = *(TXM_GLOBAL const type *)(p))
#define TXM_PUT(type, p, v) (*(TXM_GLOBAL type *)(p) = (v))
#define TXM_SAME_BITS(from, to, type) to = as_##type(from)
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __CUDACC__
#define TXM_ARITH static __host__ __device__ inline
#else
#define TXM_ARITH static inline
#endif
#define TXM_GLOBAL
#define TXM_CONSTANT static const
/* CUDA takes tables inside functions, and makes one for the host and one for the device. */
#define TXM_TABLES_OUTSIDE(tables)
#define TXM_TABLES_INSIDE(tables) tables
/* The compiler must know that a word is aligned, or a GPU copies it byte by byte. */
#define TXM_TAKE(type, v, p) memcpy(&(v), __builtin_assume_aligned(p, sizeof(type)), sizeof(type))
#define TXM_PUT(type, p, v) memcpy(__builtin_assume_aligned(p, sizeof(type)), &(v), sizeof(type))
#define TXM_SAME_BITS(from, to, type) memcpy(&(to), &(from), sizeof(to))
#endif

/* Marks functions that compilers for devices must not inline. With all of them inlined, lookups are a megabyte of
 * machine code, which takes half a minute to compile. */
#if defined(__CUDACC__)
#define TXM_CALLED __noinline__
#elif defined(__OPENCL_VERSION__)
#define TXM_CALLED __attribute__((noinline))
#else
#define TXM_CALLED
#endif

/* It is true in code for a device, false in code for a CPU. */
#if defined(__CUDA_ARCH__) || defined(__OPENCL_VERSION__)
#define TXM_ON_DEVICE 1
#endif

TXM_ARITH uint32_t txm_float_bits(float f)
{
    uint32_t u;
    TXM_SAME_BITS(f, u, uint);
    return u;
}

TXM_ARITH float txm_bits_float(uint32_t u)
{
    float f;
    TXM_SAME_BITS(u, f, float);
    return f;
}

TXM_ARITH uint64_t txm_double_bits(double d)
{
    uint64_t u;
    TXM_SAME_BITS(d, u, ulong);
    return u;
}

TXM_ARITH double txm_bits_double(uint64_t u)
{
    double d;
    TXM_SAME_BITS(u, d, double);
    return d;
}

/* It is written as a comparison, so that the result is defined if one operand is NaN: it is the second one. */
TXM_ARITH float txm_max(float a, float b)
{
    return a > b ? a : b;
}

TXM_ARITH float txm_min(float a, float b)
{
    return a < b ? a : b;
}
#endif
