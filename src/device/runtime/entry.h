/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points of kernels, written once for CUDA, OpenCL and a loop on the CPU.
 *
 *     TXM_ENTRY(name, struct of arguments, threads of a block)
 *     {
 *         body(TXM_ARGS, m0, m1, TXM_ID(0), TXM_ID(1));
 *     }
 *
 * m0 to m7 are the device memories of a launch, NULL for those that it does not use. TXM_ARGS points to its arguments,
 * and TXM_ID is the thread's position in the grid, whose first dimension is rounded up to whole blocks. Of a
 * TXM_DENSE_ENTRY at least so many blocks fit into a multiprocessor of 65,536 registers.
 */
#ifndef TXM_RUNTIME_ENTRY_H
#define TXM_RUNTIME_ENTRY_H
#include "tile/terms/dialect.h"

#define TXM_ENTRY(name, args_type, block) TXM_DENSE_ENTRY(name, args_type, block, 1)
#if defined(__OPENCL_VERSION__)
#define TXM_DENSE_ENTRY(name, args_type, block, blocks)                                                                \
    __kernel __attribute__((reqd_work_group_size(block, 1, 1))) void name(                                             \
        __global uchar *m0, __global uchar *m1, __global uchar *m2, __global uchar *m3, __global uchar *m4,            \
        __global uchar *m5, __global uchar *m6, __global uchar *m7, const args_type args)
#define TXM_ARGS (&args)
#define TXM_ID(n) ((uint)get_global_id(n))

#elif defined(__CUDACC__)
#define TXM_DENSE_ENTRY(name, args_type, block, blocks)                                                                \
    extern "C" __global__ void __launch_bounds__(block, blocks)                                                        \
        name(uint8_t *m0, uint8_t *m1, uint8_t *m2, uint8_t *m3, uint8_t *m4, uint8_t *m5, uint8_t *m6, uint8_t *m7,   \
             const args_type args)
#define TXM_ARGS (&args)
#define TXM_ID(n) TXM_CUDA_ID##n()
static __device__ __forceinline__ uint32_t TXM_CUDA_ID0()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}
static __device__ __forceinline__ uint32_t TXM_CUDA_ID1()
{
    return blockIdx.y;
}
static __device__ __forceinline__ uint32_t TXM_CUDA_ID2()
{
    return blockIdx.z;
}

#else
/* `name` unpacks the memories of a launch and calls the thread's function, whose body follows the macro. */
#define TXM_ENTRY_MEMORY(n) uint8_t *m##n __attribute__((unused))
#define TXM_DENSE_ENTRY(name, args_type, block, blocks)                                                                \
    static inline void name##_thread(                                                                                  \
        TXM_ENTRY_MEMORY(0), TXM_ENTRY_MEMORY(1), TXM_ENTRY_MEMORY(2), TXM_ENTRY_MEMORY(3), TXM_ENTRY_MEMORY(4),       \
        TXM_ENTRY_MEMORY(5), TXM_ENTRY_MEMORY(6), TXM_ENTRY_MEMORY(7), const args_type *args, const uint32_t id[3]);   \
    static void name(void *const m[8], const void *args, const uint32_t id[3])                                         \
    {                                                                                                                  \
        name##_thread(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], args, id);                                       \
    }                                                                                                                  \
    static inline void name##_thread(                                                                                  \
        TXM_ENTRY_MEMORY(0), TXM_ENTRY_MEMORY(1), TXM_ENTRY_MEMORY(2), TXM_ENTRY_MEMORY(3), TXM_ENTRY_MEMORY(4),       \
        TXM_ENTRY_MEMORY(5), TXM_ENTRY_MEMORY(6), TXM_ENTRY_MEMORY(7), const args_type *args, const uint32_t id[3])
#define TXM_ARGS args
#define TXM_ID(n) id[n]
#endif
#endif
