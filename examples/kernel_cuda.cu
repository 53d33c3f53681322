/* SPDX-License-Identifier: Apache-2.0
 * A renderer whose own CUDA kernel looks textures up: the floor of wavefront.c, as kernel_opencl.c renders it.
 *
 *     nvcc -std=c++17 -fmad=false kernel_cuda.cu $(pkg-config --cflags --libs txtile) -o kernel_cuda
 *     ./kernel_cuda cuda:0 blender_tx/wood.png.*.tx floor.ppm */
#include <cuda_runtime.h>
#include <txtile/device.h>
#include <txtile/kernel.h>

#include "floor.h"

enum { COUNT = WIDTH * HEIGHT, BLOCK = 64 };

static float pixels[COUNT][4];
static txm_lookup places[COUNT];
static uint8_t results[COUNT];

__global__ void shade(void *table, void *near_tiles, void *far_tiles, void *notes, const txm_device_args args,
                      const txm_sampler how, uint32_t texture, const txm_lookup *places, float (*colors)[4],
                      uint8_t *results)
{
    const uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= COUNT || results[i] != TXM_LOOKUP_MISS)
        return;
    const txm_device_view view = txm_device_view_of(&args, table, near_tiles, far_tiles, notes);
    uint32_t random = 0;
    results[i] = (uint8_t)txm_look_up(&view, texture, &how, &places[i], &random, colors[i], nullptr, nullptr);
}

/* Launches the kernel until no place misses a tile. */
static txm_status render(txm_device *device, cudaStream_t queue, uint32_t texture, void *const memory[3],
                         txm_error *err)
{
    const txm_sampler how = floor_sampler();
    for (size_t missed = 1; missed;) {
        txm_device_scope scope;
        txm_device_launch *launch;
        txm_ticket *loading;
        if (txm_device_begin(device, COUNT, &scope, &launch, err))
            return err->status;
        shade<<<(COUNT + BLOCK - 1) / BLOCK, BLOCK, 0, queue>>>(
            scope.table, scope.near_tiles, scope.far_tiles, scope.notes, scope.args, how, texture,
            static_cast<const txm_lookup *>(memory[0]), static_cast<float(*)[4]>(memory[1]),
            static_cast<uint8_t *>(memory[2]));
        const cudaError_t failed = cudaGetLastError();
        if (txm_device_collect(&launch, &loading, &missed, err))
            return err->status;
        txm_ticket_wait(&loading);
        if (failed != cudaSuccess)
            return fprintf(stderr, "%s\n", cudaGetErrorString(failed)), TXM_STATUS_DEVICE;
    }
    return TXM_OK;
}

int main(int argc, char **argv)
{
    txm_error err = {};
    txm_cache *cache = nullptr;
    txm_device *device = nullptr;
    txm_device_handles h;
    uint32_t texture = 0;
    if (argc < 4)
        return fprintf(stderr, "usage: %s DEVICE FILE.tx FILE.ppm\n", argv[0]), 2;
    if (txm_cache_new(nullptr, &cache, &err) || txm_cache_add(cache, argv[2], TXM_EXTENSION_REPEAT, &texture, &err) ||
        txm_device_open(cache, argv[1], nullptr, &device, &err))
        return fprintf(stderr, "%s\n", err.message), 1;
    txm_device_handles_of(device, &h);
    for (int i = 0; i < COUNT; i++) /* the sky stays black */
        results[i] = floor_at(i % WIDTH, i / WIDTH, &places[i]) ? TXM_LOOKUP_MISS : TXM_LOOKUP_HIT;
    void *const bytes[] = {places, pixels, results};
    const size_t sizes[] = {sizeof places, sizeof pixels, sizeof results};
    void *memory[3] = {};
    cudaError_t code = cudaSuccess;
    for (int i = 0; i < 3 && code == cudaSuccess; i++)
        code = cudaMalloc(&memory[i], sizes[i]);
    for (int i = 0; i < 3 && code == cudaSuccess; i++)
        code = cudaMemcpy(memory[i], bytes[i], sizes[i], cudaMemcpyHostToDevice);
    int failed = code != cudaSuccess ||
                 render(device, static_cast<cudaStream_t>(h.queue), texture, memory, &err) != TXM_OK ||
                 cudaMemcpy(pixels, memory[1], sizeof pixels, cudaMemcpyDeviceToHost) != cudaSuccess;
    if (failed)
        fprintf(stderr, "%s\n", code != cudaSuccess ? cudaGetErrorString(code) : err.message);
    for (int i = 0; i < 3; i++)
        cudaFree(memory[i]);
    txm_device_close(&device);
    txm_cache_free(&cache);
    return failed || write_ppm(argv[3], pixels);
}
