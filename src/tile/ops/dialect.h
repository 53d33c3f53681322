/* SPDX-License-Identifier: Apache-2.0
 *
 * What differs between C, CUDA C++ and OpenCL C, so that one text serves all three.
 */
#ifndef TXM_OPS_DIALECT_H
#define TXM_OPS_DIALECT_H

#ifdef __OPENCL_VERSION__
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
typedef int int32_t;
typedef long int64_t;
#define TXM_ARITH static inline
#define TXM_GLOBAL __global
#else
#include <stdint.h>
#include <string.h>
#define TXM_GLOBAL
#ifdef __CUDACC__
#define TXM_ARITH static __host__ __device__ inline
#else
#define TXM_ARITH static inline
#endif
#endif
#endif
