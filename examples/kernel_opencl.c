/* SPDX-License-Identifier: Apache-2.0
 * A renderer whose own OpenCL kernel looks textures up: the floor of wavefront.c. Places and colours stay on the
 * device; only the page table, tiles and requests travel. Places that missed a tile are looked up again in the next
 * launch.
 *
 *     cc kernel_opencl.c $(pkg-config --cflags --libs txtile OpenCL) -o kernel_opencl
 *     ./kernel_opencl opencl:0 blender_tx/wood.png.*.tx floor.ppm /usr/include */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdlib.h>
#include <txtile/device.h>

#include "floor.h"

enum { COUNT = WIDTH * HEIGHT };

static const char *const source =
    "#include \"txtile/kernel.h\"\n"
    "__kernel void shade(__global uchar *table, __global uchar *near_tiles, __global uchar *far_tiles,\n"
    "                    __global uchar *notes, const txm_device_args args, const txm_sampler how,\n"
    "                    const uint texture, const uint count, __global const txm_lookup *places,\n"
    "                    __global float *colors, __global int *results)\n"
    "{\n"
    "    const uint i = get_global_id(0);\n"
    "    if (i >= count || results[i] != TXM_LOOKUP_MISS)\n"
    "        return;\n"
    "    const txm_device_view view = txm_device_view_of(&args, table, near_tiles, far_tiles, notes);\n"
    "    const txm_lookup at = places[i];\n"
    "    uint random = 0;\n"
    "    float color[4];\n"
    "    results[i] = txm_look_up(&view, texture, &how, &at, &random, color, 0, 0);\n"
    "    for (int c = 0; c < 4; c++)\n"
    "        colors[4 * i + c] = color[c];\n"
    "}\n";

static float pixels[COUNT][4];
static txm_lookup places[COUNT];
static cl_int results[COUNT];

static cl_kernel build(const txm_device_handles *h, const char *includes)
{
    char options[4096], log[4096] = "";
    cl_device_id device = h->device;
    cl_program program = clCreateProgramWithSource(h->context, 1, (const char **)&source, NULL, NULL);
    snprintf(options, sizeof options, "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt -I %s", includes);
    if (clBuildProgram(program, 1, &device, options, NULL, NULL)) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fprintf(stderr, "%s\n", log);
        return NULL;
    }
    cl_kernel kernel = clCreateKernel(program, "shade", NULL);
    clReleaseProgram(program); /* the kernel keeps it */
    return kernel;
}

/* Launches the kernel until no place misses a tile. */
static txm_status render(txm_device *device, const txm_device_handles *h, cl_kernel kernel, uint32_t texture,
                         cl_mem memory[3], txm_error *err)
{
    const txm_sampler how = floor_sampler();
    const cl_uint count = COUNT;
    const size_t threads = COUNT;
    for (size_t missed = 1; missed;) {
        txm_device_scope scope;
        txm_device_launch *launch;
        txm_ticket *loading;
        if (txm_device_begin(device, COUNT, &scope, &launch, err))
            return err->status;
        const void *const view[] = {&scope.table, &scope.near_tiles, scope.far_tiles ? &scope.far_tiles : NULL,
                                    &scope.notes};
        int failed = 0;
        for (cl_uint i = 0; i < 4; i++)
            failed |= clSetKernelArg(kernel, i, sizeof(cl_mem), view[i]);
        failed |= clSetKernelArg(kernel, 4, sizeof scope.args, &scope.args);
        failed |= clSetKernelArg(kernel, 5, sizeof how, &how);
        failed |= clSetKernelArg(kernel, 6, sizeof texture, &texture);
        failed |= clSetKernelArg(kernel, 7, sizeof count, &count);
        for (cl_uint i = 0; i < 3; i++)
            failed |= clSetKernelArg(kernel, 8 + i, sizeof(cl_mem), &memory[i]);
        failed |= clEnqueueNDRangeKernel(h->queue, kernel, 1, NULL, &threads, NULL, 0, NULL, NULL);
        if (txm_device_collect(&launch, &loading, &missed, err))
            return err->status;
        txm_ticket_wait(&loading);
        if (failed)
            return fprintf(stderr, "the kernel was not launched\n"), TXM_STATUS_DEVICE;
    }
    return clEnqueueReadBuffer(h->queue, memory[1], CL_TRUE, 0, sizeof pixels, pixels, 0, NULL, NULL)
               ? TXM_STATUS_DEVICE
               : TXM_OK;
}

int main(int argc, char **argv)
{
    txm_error err = {0};
    txm_cache *cache = NULL;
    txm_device *device = NULL;
    txm_device_handles h;
    uint32_t texture = 0;
    if (argc < 5)
        return fprintf(stderr, "usage: %s DEVICE FILE.tx FILE.ppm FOLDER_OF_HEADERS\n", argv[0]), 2;
    if (txm_cache_new(NULL, &cache, &err) || txm_cache_add(cache, argv[2], TXM_EXTENSION_REPEAT, &texture, &err) ||
        txm_device_open(cache, argv[1], NULL, &device, &err))
        return fprintf(stderr, "%s\n", err.message), 1;
    txm_device_handles_of(device, &h);
    for (int i = 0; i < COUNT; i++) /* the sky stays black */
        results[i] = floor_at(i % WIDTH, i / WIDTH, &places[i]) ? TXM_LOOKUP_MISS : TXM_LOOKUP_HIT;
    void *const bytes[] = {places, pixels, results};
    const size_t sizes[] = {sizeof places, sizeof pixels, sizeof results};
    cl_mem memory[3];
    for (int i = 0; i < 3; i++)
        memory[i] = clCreateBuffer(h.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizes[i], bytes[i], NULL);
    cl_kernel kernel = build(&h, argv[4]);
    const int failed = !kernel || render(device, &h, kernel, texture, memory, &err) != TXM_OK;
    if (failed)
        fprintf(stderr, "%s\n", err.message);
    for (int i = 0; i < 3; i++)
        clReleaseMemObject(memory[i]);
    if (kernel)
        clReleaseKernel(kernel);
    txm_device_close(&device);
    txm_cache_free(&cache);
    return failed || write_ppm(argv[3], pixels);
}
