/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill-opencl-probe: loads all OpenCL drivers and asks each for its devices. It ends well, or as a broken driver ends
 * it: the plug-in runs it before it does the same.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <sys/resource.h>

int main(void)
{
    enum { MOST = 16 };
    cl_platform_id platforms[MOST];
    cl_uint n = 0;
    /* What a driver may do here is expected: no core file of it. */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (clGetPlatformIDs(MOST, platforms, &n))
        return 0;
    for (cl_uint i = 0; i < n && i < MOST; i++) {
        cl_device_id ids[MOST];
        cl_uint count = 0;
        char name[256];
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, MOST, ids, &count))
            continue;
        for (cl_uint k = 0; k < count && k < MOST; k++)
            (void)clGetDeviceInfo(ids[k], CL_DEVICE_NAME, sizeof name, name, NULL);
    }
    return 0;
}
