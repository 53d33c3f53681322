/* SPDX-License-Identifier: Apache-2.0
 *
 * A second OpenCL platform on a machine that has one: an ICD whose platform has a name of its own, and the devices of
 * the driver that TXM_CL_BEHIND names. The loader passes on calls by their first object, and only the platform is this
 * library's, so it has to know no more calls than those that begin with a platform.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct _cl_platform_id {
    const cl_icd_dispatch *dispatch;
};

typedef void *(CL_API_CALL *get_function)(const char *name);
typedef cl_int(CL_API_CALL *get_platforms)(cl_uint room, cl_platform_id *out, cl_uint *count);

static cl_icd_dispatch calls;
static struct _cl_platform_id second = {&calls};
static cl_platform_id behind;

static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info what, size_t room, void *out,
                                        size_t *size)
{
    (void)platform;
    const char *text = what == CL_PLATFORM_NAME ? "Second platform" : what == CL_PLATFORM_ICD_SUFFIX_KHR ? "TWO" : NULL;
    if (!text)
        return behind->dispatch->clGetPlatformInfo(behind, what, room, out, size);
    const size_t bytes = strlen(text) + 1;
    if (size)
        *size = bytes;
    if (out && room < bytes)
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, text, bytes);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *out,
                                     cl_uint *count)
{
    (void)platform;
    return behind->dispatch->clGetDeviceIDs(behind, type, room, out, count);
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                             const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                             void *user, cl_int *code)
{
    const cl_context_properties of_driver[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)behind, 0};
    return behind->dispatch->clCreateContext(properties ? of_driver : NULL, count, devices, notify, user, code);
}

static cl_int CL_API_CALL platform_ids(cl_uint room, cl_platform_id *out, cl_uint *count)
{
    const char *name = getenv("TXM_CL_BEHIND");
    void *driver = name ? dlopen(name, RTLD_NOW) : NULL;
    get_function find = driver ? (get_function)(uintptr_t)dlsym(driver, "clGetExtensionFunctionAddress") : NULL;
    get_platforms list = find ? (get_platforms)(uintptr_t)find("clIcdGetPlatformIDsKHR") : NULL;
    if (!list || list(1, &behind, NULL) || !behind)
        return CL_PLATFORM_NOT_FOUND_KHR;
    calls.clGetPlatformInfo = platform_info;
    calls.clGetDeviceIDs = device_ids;
    calls.clCreateContext = create_context;
    if (count)
        *count = 1;
    if (out && room)
        *out = &second;
    return CL_SUCCESS;
}

void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    return !strcmp(name, "clIcdGetPlatformIDsKHR") ? (void *)(uintptr_t)platform_ids
           : !strcmp(name, "clGetPlatformInfo")    ? (void *)(uintptr_t)platform_info
                                                   : NULL;
}
