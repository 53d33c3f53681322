/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime (runtime.h) implemented with CUDA.
 */
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "device/runtime/runtime.h"

extern "C" const char txm_rt_name[] = "cuda", txm_rt_title[] = "CUDA";

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

int txm_rt_launch(const txm_rt_program *program, uint32_t kernel, const uint32_t threads[3],
                  const txm_rt_memory *memories, uint32_t memory_count, const void *args, size_t args_bytes,
                  txm_rt_stream stream)
{
    const txm_rt_kernel *k = &program->kernels[kernel];
    const dim3 grid((threads[0] + k->block - 1) / k->block, threads[1], threads[2]);
    void *m[TXM_RT_MEMORIES] = {}, *arguments[TXM_RT_MEMORIES + 1];
    for (uint32_t i = 0; i < memory_count; i++)
        m[i] = memories[i];
    for (uint32_t i = 0; i < TXM_RT_MEMORIES; i++)
        arguments[i] = &m[i];
    arguments[TXM_RT_MEMORIES] = const_cast<void *>(args);
    (void)args_bytes;
    return (int)cudaLaunchKernel(k->function, grid, dim3(k->block), arguments, 0, (cudaStream_t)stream);
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

const char *txm_rt_note(void)
{
    return NULL;
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

/* The build contains machine code from this version on, and code that the driver translates for newer devices. */
enum { OLDEST_MAJOR = 7, OLDEST_MINOR = 5 };

int txm_rt_describe(uint32_t device, txm_device_facts *info)
{
    cudaDeviceProp p;
    int driver = 0;
    size_t free_bytes = 0, total_bytes = 0;
    cudaError_t code = cudaGetDeviceProperties(&p, (int)device);
    if (code == cudaSuccess)
        code = cudaDriverGetVersion(&driver);
    if (code != cudaSuccess)
        return (int)code;
    snprintf(info->name, sizeof info->name, "%s", p.name);
    info->memory_bytes = p.totalGlobalMem;
    info->processors = (uint32_t)p.multiProcessorCount;
    snprintf(info->architecture, sizeof info->architecture, "%d.%d", p.major, p.minor);
    snprintf(info->driver, sizeof info->driver, "%d.%d", driver / 1000, driver % 1000 / 10);
    if (p.major < OLDEST_MAJOR || (p.major == OLDEST_MAJOR && p.minor < OLDEST_MINOR)) {
        snprintf(info->reason, sizeof info->reason, "compute capability %d.%d; %d.%d is the least", p.major, p.minor,
                 OLDEST_MAJOR, OLDEST_MINOR);
        return 0;
    }
    /* This fails if another process has the device in exclusive mode. */
    code = cudaSetDevice((int)device);
    if (code == cudaSuccess)
        code = cudaMemGetInfo(&free_bytes, &total_bytes);
    info->free_bytes = info->piece_bytes = free_bytes;
    info->usable = code == cudaSuccess;
    if (code != cudaSuccess)
        snprintf(info->reason, sizeof info->reason, "%s", cudaGetErrorString(code));
    return 0;
}

/* ---- memory, streams, copies ------------------------------------------------------------------------------------ */

/* Clears the error of a failed allocation, which the next call would otherwise return. */
static int settled(cudaError_t code)
{
    if (code != cudaSuccess)
        (void)cudaGetLastError();
    return (int)code;
}

int txm_rt_alloc(txm_rt_memory *memory, size_t bytes)
{
    return settled(cudaMalloc(memory, bytes));
}

/* With unified addressing, kernels can use the machine's addresses. */
int txm_rt_alloc_host(txm_rt_memory *memory, size_t bytes)
{
    return settled(cudaHostAlloc(memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped));
}

void txm_rt_free(txm_rt_memory memory)
{
    cudaPointerAttributes where = {};
    bool host = memory && cudaPointerGetAttributes(&where, memory) == cudaSuccess && where.type == cudaMemoryTypeHost;
    (void)settled(host ? cudaFreeHost(memory) : cudaFree(memory));
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

void txm_rt_handles(txm_rt_stream stream, void *handles[3])
{
    handles[0] = handles[1] = NULL;
    handles[2] = stream;
}

/* Waiting threads sleep, so their processors can compress tiles meanwhile. */
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

static uint8_t *address(txm_rt_memory memory, uint64_t at)
{
    return (uint8_t *)memory + at;
}

int txm_rt_upload(txm_rt_memory to, uint64_t at, const void *pinned, size_t bytes, txm_rt_stream stream)
{
    return copy(address(to, at), pinned, bytes, cudaMemcpyHostToDevice, stream);
}

int txm_rt_download(void *pinned, txm_rt_memory from, uint64_t at, size_t bytes, txm_rt_stream stream)
{
    return copy(pinned, address(from, at), bytes, cudaMemcpyDeviceToHost, stream);
}

int txm_rt_copy(txm_rt_memory to, uint64_t to_at, txm_rt_memory from, uint64_t from_at, size_t bytes,
                txm_rt_stream stream)
{
    return copy(address(to, to_at), address(from, from_at), bytes, cudaMemcpyDeviceToDevice, stream);
}
