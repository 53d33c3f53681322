/* SPDX-License-Identifier: Apache-2.0
 * The runtime's calls made with CUDA, and the kernels: a body of kernels.h for every thread. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

#include "device/runtime/runtime.h"

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

/* Rows of threads: neighbours in x touch neighbouring pixels. */
enum { BLOCK = 256 };

static uint32_t blocks(uint64_t threads)
{
    return (uint32_t)((threads + BLOCK - 1) / BLOCK);
}

static __device__ uint32_t thread_x()
{
    return blockIdx.x * BLOCK + threadIdx.x;
}

template <txm_type T, uint32_t C> __global__ void __launch_bounds__(BLOCK) ingest(const txm_gpu_ingest a)
{
    txm_gpu_ingest_body(&a, T, C, thread_x(), blockIdx.y);
}

template <txm_type T, uint32_t C> __global__ void __launch_bounds__(BLOCK) level(const txm_gpu_level a)
{
    txm_gpu_level_body(&a, T, C, thread_x(), blockIdx.y);
}

template <txm_type T, uint32_t C> __global__ void __launch_bounds__(BLOCK) tiles(const txm_gpu_tiles a)
{
    txm_gpu_tiles_body(&a, T, C, thread_x(), blockIdx.y, blockIdx.z);
}

template <txm_type T, uint32_t C> __global__ void __launch_bounds__(BLOCK) borders(const txm_gpu_borders a)
{
    txm_gpu_borders_body(&a, T, C, thread_x(), blockIdx.y, blockIdx.z);
}

/* A row's channels lie beside each other, so that they read the same pixels. */
enum { COUNT_ROWS = 16 };

template <txm_type T> __global__ void __launch_bounds__(4 * COUNT_ROWS) count_rows(const txm_gpu_count a)
{
    txm_gpu_count_body(&a, T, threadIdx.x, blockIdx.x * COUNT_ROWS + threadIdx.y);
}

/* One instance a type and a number of channels. */
#define LAUNCH(kernel, args, grid, stream)                                                                             \
    do {                                                                                                               \
        cudaStream_t s = (cudaStream_t)(stream);                                                                       \
        bool one = (args)->channels == 1;                                                                              \
        switch ((args)->type) {                                                                                        \
        case TXM_TYPE_U8:                                                                                                   \
            one ? kernel<TXM_TYPE_U8, 1><<<grid, BLOCK, 0, s>>>(*(args))                                                    \
                : kernel<TXM_TYPE_U8, 4><<<grid, BLOCK, 0, s>>>(*(args));                                                   \
            break;                                                                                                     \
        case TXM_TYPE_U16:                                                                                                  \
            one ? kernel<TXM_TYPE_U16, 1><<<grid, BLOCK, 0, s>>>(*(args))                                                   \
                : kernel<TXM_TYPE_U16, 4><<<grid, BLOCK, 0, s>>>(*(args));                                                  \
            break;                                                                                                     \
        case TXM_TYPE_HALF:                                                                                                 \
            one ? kernel<TXM_TYPE_HALF, 1><<<grid, BLOCK, 0, s>>>(*(args))                                                  \
                : kernel<TXM_TYPE_HALF, 4><<<grid, BLOCK, 0, s>>>(*(args));                                                 \
            break;                                                                                                     \
        case TXM_TYPE_FLOAT:                                                                                                \
            one ? kernel<TXM_TYPE_FLOAT, 1><<<grid, BLOCK, 0, s>>>(*(args))                                                 \
                : kernel<TXM_TYPE_FLOAT, 4><<<grid, BLOCK, 0, s>>>(*(args));                                                \
            break;                                                                                                     \
        }                                                                                                              \
        return (int)cudaGetLastError();                                                                                \
    } while (0)

int txm_rt_ingest(const txm_gpu_ingest *args, txm_rt_stream stream)
{
    const dim3 grid(blocks((args->width + 1) / 2), (args->rows + 1) / 2);
    LAUNCH(ingest, args, grid, stream);
}

int txm_rt_level(const txm_gpu_level *args, txm_rt_stream stream)
{
    const dim3 grid(blocks(args->width), args->rows);
    LAUNCH(level, args, grid, stream);
}

int txm_rt_tiles(const txm_gpu_tiles *args, txm_rt_stream stream)
{
    const dim3 grid(blocks(txm_gpu_tiles_threads(args)), args->tile_px, args->bands);
    LAUNCH(tiles, args, grid, stream);
}

int txm_rt_borders(const txm_gpu_borders *args, txm_rt_stream stream)
{
    const uint32_t across = (args->width + args->tile_px - 1) / args->tile_px;
    const dim3 grid(blocks(txm_gpu_border_pixels(args->tile_px, args->tile_px)), across, args->bands);
    LAUNCH(borders, args, grid, stream);
}

int txm_rt_count_rows(const txm_gpu_count *args, txm_rt_stream stream)
{
    const dim3 grid((args->rows + COUNT_ROWS - 1) / COUNT_ROWS), block(args->conform.channels, COUNT_ROWS);
    cudaStream_t s = (cudaStream_t)stream;
    switch (args->type) {
    case TXM_TYPE_U8:
        count_rows<TXM_TYPE_U8><<<grid, block, 0, s>>>(*args);
        break;
    case TXM_TYPE_U16:
        count_rows<TXM_TYPE_U16><<<grid, block, 0, s>>>(*args);
        break;
    case TXM_TYPE_HALF:
        count_rows<TXM_TYPE_HALF><<<grid, block, 0, s>>>(*args);
        break;
    case TXM_TYPE_FLOAT:
        count_rows<TXM_TYPE_FLOAT><<<grid, block, 0, s>>>(*args);
        break;
    }
    return (int)cudaGetLastError();
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

const char *txm_rt_text(int code)
{
    return cudaGetErrorString((cudaError_t)code);
}

bool txm_rt_out_of_memory(int code)
{
    return code == cudaErrorMemoryAllocation;
}

int txm_rt_count(uint32_t *count)
{
    int n = 0;
    cudaError_t code = cudaGetDeviceCount(&n);
    *count = code == cudaSuccess ? (uint32_t)n : 0;
    return (int)code;
}

int txm_rt_use(uint32_t device)
{
    return (int)cudaSetDevice((int)device);
}

/* The build holds machine code from here on, and code that the driver translates for whatever is newer. */
enum { OLDEST_MAJOR = 7, OLDEST_MINOR = 5 };

int txm_rt_describe(uint32_t device, txm_gpu_info *info)
{
    cudaDeviceProp p;
    int driver = 0, runtime = 0;
    size_t free_bytes = 0, total_bytes = 0;
    cudaError_t code = cudaGetDeviceProperties(&p, (int)device);
    if (code == cudaSuccess)
        code = cudaDriverGetVersion(&driver);
    if (code == cudaSuccess)
        code = cudaRuntimeGetVersion(&runtime);
    if (code != cudaSuccess)
        return (int)code;
    snprintf(info->name, sizeof info->name, "%s", p.name);
    info->memory_bytes = p.totalGlobalMem;
    info->major = (uint32_t)p.major;
    info->minor = (uint32_t)p.minor;
    info->multiprocessors = (uint32_t)p.multiProcessorCount;
    info->driver = (uint32_t)driver;
    info->runtime = (uint32_t)runtime;
    if (p.major < OLDEST_MAJOR || (p.major == OLDEST_MAJOR && p.minor < OLDEST_MINOR)) {
        snprintf(info->reason, sizeof info->reason, "compute capability %d.%d; %d.%d is the least", p.major, p.minor,
                 OLDEST_MAJOR, OLDEST_MINOR);
        return 0;
    }
    /* A device that others hold for themselves shows here. */
    code = cudaSetDevice((int)device);
    if (code == cudaSuccess)
        code = cudaMemGetInfo(&free_bytes, &total_bytes);
    info->free_bytes = free_bytes;
    info->usable = code == cudaSuccess;
    if (code != cudaSuccess)
        snprintf(info->reason, sizeof info->reason, "%s", cudaGetErrorString(code));
    return 0;
}

/* ---- memory, streams, copies ------------------------------------------------------------------------------------ */

/* An allocation that failed leaves its code behind for the next call to find. */
static int settled(cudaError_t code)
{
    if (code != cudaSuccess)
        (void)cudaGetLastError();
    return (int)code;
}

int txm_rt_alloc(void **memory, size_t bytes)
{
    return settled(cudaMalloc(memory, bytes));
}

void txm_rt_free(void *memory)
{
    (void)settled(cudaFree(memory));
}

int txm_rt_alloc_pinned(void **memory, size_t bytes)
{
    return settled(cudaHostAlloc(memory, bytes, cudaHostAllocPortable));
}

void txm_rt_free_pinned(void *memory)
{
    (void)settled(cudaFreeHost(memory));
}

int txm_rt_stream_new(txm_rt_stream *stream)
{
    return settled(cudaStreamCreateWithFlags((cudaStream_t *)stream, cudaStreamNonBlocking));
}

void txm_rt_stream_free(txm_rt_stream stream)
{
    if (!stream)
        return;
    (void)settled(cudaStreamSynchronize((cudaStream_t)stream));
    (void)settled(cudaStreamDestroy((cudaStream_t)stream));
}

/* Waiting sleeps: the thread's processor compresses tiles meanwhile. */
int txm_rt_event_new(txm_rt_event *event)
{
    return settled(cudaEventCreateWithFlags((cudaEvent_t *)event, cudaEventBlockingSync));
}

void txm_rt_event_free(txm_rt_event event)
{
    if (event)
        (void)settled(cudaEventDestroy((cudaEvent_t)event));
}

int txm_rt_record(txm_rt_event event, txm_rt_stream stream)
{
    return settled(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream));
}

int txm_rt_follow(txm_rt_stream stream, txm_rt_event event)
{
    return settled(cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0));
}

int txm_rt_reach(txm_rt_event event, bool wait, bool *reached)
{
    cudaError_t code = wait ? cudaEventSynchronize((cudaEvent_t)event) : cudaEventQuery((cudaEvent_t)event);
    *reached = code == cudaSuccess;
    if (code == cudaErrorNotReady) {
        (void)cudaGetLastError();
        return 0;
    }
    return settled(code);
}

int txm_rt_elapsed(txm_rt_event begin, txm_rt_event end, double *seconds)
{
    float ms = 0;
    cudaError_t code = cudaEventElapsedTime(&ms, (cudaEvent_t)begin, (cudaEvent_t)end);
    *seconds = (double)ms * 1e-3;
    return settled(code);
}

static int copy(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind, txm_rt_stream stream)
{
    return settled(cudaMemcpyAsync(dst, src, bytes, kind, (cudaStream_t)stream));
}

int txm_rt_upload(void *device, const void *pinned, size_t bytes, txm_rt_stream stream)
{
    return copy(device, pinned, bytes, cudaMemcpyHostToDevice, stream);
}

int txm_rt_download(void *pinned, const void *device, size_t bytes, txm_rt_stream stream)
{
    return copy(pinned, device, bytes, cudaMemcpyDeviceToHost, stream);
}

int txm_rt_copy(void *device, const void *from_device, size_t bytes, txm_rt_stream stream)
{
    return copy(device, from_device, bytes, cudaMemcpyDeviceToDevice, stream);
}
