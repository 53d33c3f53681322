/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes an OpenCL driver fail on demand: this is preloaded, replaces a few calls and passes the others on.
 *
 * TXM_CL_FAIL_BUILD=1       the driver cannot compile
 * TXM_CL_CRASH_BUILD=1      it crashes when it compiles a text
 * TXM_CL_HANG_BUILD=1       it never returns from that
 * TXM_CL_FAIL_BUFFER=N      from the N-th buffer on, there is no memory
 * TXM_CL_FAIL_COPY=N        there is none at the N-th upload
 * TXM_CL_LOSE=N             from the N-th kernel on, the device is lost
 * TXM_CL_LACKS=denormals|rounding|doubles
 * TXM_CL_REPORT=FILE        the most bytes of device memory at once are written there at the end
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *real(const char *name)
{
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_NOLOAD);
    return loader ? dlsym(loader, name) : NULL;
}

#define REAL(function) ((__typeof__(&function))(uintptr_t)real(#function))

static unsigned long number(const char *name)
{
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : 0;
}

static atomic_ulong builds, buffers, copies, kernels;
static atomic_size_t used, peak; /* bytes of buffers on the device */
static _Atomic(cl_program) text; /* the last program that was built successfully */

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings, const size_t *lengths,
                                     cl_int *code)
{
    cl_program made = REAL(clCreateProgramWithSource)(context, count, strings, lengths, code);
    atomic_store(&text, made);
    return made;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                      void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    atomic_fetch_add(&builds, 1);
    if (number("TXM_CL_CRASH_BUILD") && program == atomic_load(&text) &&
        signal(SIGSEGV, SIG_DFL) != SIG_ERR) /* drivers catch it */
        raise(SIGSEGV);
    while (number("TXM_CL_HANG_BUILD") && program == atomic_load(&text))
        pause();
    return number("TXM_CL_FAIL_BUILD") ? CL_BUILD_PROGRAM_FAILURE
                                       : REAL(clBuildProgram)(program, count, devices, options, notify, user);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code)
{
    unsigned long from = number("TXM_CL_FAIL_BUFFER"), n = atomic_fetch_add(&buffers, 1) + 1;
    if (from && n >= from) {
        *code = CL_OUT_OF_RESOURCES;
        return NULL;
    }
    cl_mem made = REAL(clCreateBuffer)(context, flags, size, host, code);
    if (made && !(flags & CL_MEM_ALLOC_HOST_PTR)) {
        size_t now = atomic_fetch_add(&used, size) + size, most = atomic_load(&peak);
        while (now > most && !atomic_compare_exchange_weak(&peak, &most, now))
            ;
    }
    return made;
}

cl_int clReleaseMemObject(cl_mem memory)
{
    cl_mem_flags flags = 0;
    size_t size = 0;
    REAL(clGetMemObjectInfo)(memory, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
    REAL(clGetMemObjectInfo)(memory, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (!(flags & CL_MEM_ALLOC_HOST_PTR))
        atomic_fetch_sub(&used, size);
    return REAL(clReleaseMemObject)(memory);
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("TXM_CL_REPORT");
    FILE *f = path && atomic_load(&peak) ? fopen(path, "w") : NULL;
    if (f) {
        fprintf(f, "%zu\n", atomic_load(&peak));
        fclose(f);
    }
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                            const void *from, cl_uint waits, const cl_event *wait, cl_event *event)
{
    if (atomic_fetch_add(&copies, 1) + 1 == number("TXM_CL_FAIL_COPY"))
        return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return REAL(clEnqueueWriteBuffer)(queue, buffer, blocking, offset, size, from, waits, wait, event);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint waits, const cl_event *wait,
                              cl_event *event)
{
    unsigned long from = number("TXM_CL_LOSE"), n = atomic_fetch_add(&kernels, 1) + 1;
    if (from && n >= from)
        return CL_DEVICE_NOT_AVAILABLE;
    return REAL(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *out, size_t *size)
{
    const char *lacks = getenv("TXM_CL_LACKS");
    cl_int code = REAL(clGetDeviceInfo)(device, what, room, out, size);
    cl_device_fp_config *config = out;
    if (code || !lacks || !out)
        return code;
    if (what == CL_DEVICE_SINGLE_FP_CONFIG && !strcmp(lacks, "denormals"))
        *config &= ~(cl_device_fp_config)CL_FP_DENORM;
    if (what == CL_DEVICE_SINGLE_FP_CONFIG && !strcmp(lacks, "rounding"))
        *config &= ~(cl_device_fp_config)CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    if (what == CL_DEVICE_DOUBLE_FP_CONFIG && !strcmp(lacks, "doubles"))
        *config = 0;
    return CL_SUCCESS;
}
