/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the OpenCL devices, and checks which of them give the same bits as scalar C.
 *
 * The ICD loader's platforms are combined into one list, which includes refused devices with the reason. A helper
 * process loads the drivers first (helper.c).
 *
 * TXMILL_OPENCL_PARTITION=N divides every device that allows it into N devices of equal size, which makes it possible
 * to test several devices on a machine with one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/opencl/opencl_impl.h"

enum { PLATFORMS = 16, LEAST_BLOCK = 256 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static ocl_device devices[TXM_DEVICES_MAX];
static uint32_t found;
static int found_code;

/* ---- what a device must be able to do -----------------------------------------------------------------------------
 */

/* Truncates text to the buffer and removes line breaks. */
static void one_line(char *text)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
}

void ocl_device_text(cl_device_id id, cl_device_info what, char *out, size_t room)
{
    char text[1024] = "";
    if (clGetDeviceInfo(id, what, sizeof text - 1, text, NULL))
        *text = 0;
    one_line(text);
    snprintf(out, room, "%s", text);
}

void ocl_platform_text(cl_platform_id id, cl_platform_info what, char *out, size_t room)
{
    char text[1024] = "";
    if (clGetPlatformInfo(id, what, sizeof text - 1, text, NULL))
        *text = 0;
    one_line(text);
    snprintf(out, room, "%s", text);
}

/* A numeric property of a device; 0 if the driver does not report it. */
static uint64_t number(cl_device_id id, cl_device_info what)
{
    uint64_t v = 0;
    return clGetDeviceInfo(id, what, sizeof v, &v, NULL) ? 0 : v;
}

/* The first required property that the device lacks; NULL if it has all. */
static const char *lacks(cl_device_id id)
{
    uint64_t single = number(id, CL_DEVICE_SINGLE_FP_CONFIG), both = number(id, CL_DEVICE_DOUBLE_FP_CONFIG);
    const uint64_t exact = CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST;
    const struct {
        bool has;
        const char *what;
    } needs[] = {
        {number(id, CL_DEVICE_AVAILABLE), "it is not available"},
        {number(id, CL_DEVICE_COMPILER_AVAILABLE), "its driver has no compiler"},
        {number(id, CL_DEVICE_ENDIAN_LITTLE), "it is not little-endian"},
        {number(id, CL_DEVICE_ADDRESS_BITS) == 64, "its addresses do not have 64 bits"},
        {single & CL_FP_DENORM, "it has no denormal numbers"},
        {single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, "its divisions and square roots are not correctly rounded"},
        {(single & exact) == exact, "its arithmetic is not that of IEEE 754"},
        {both, "it has no double precision"},
        {both & CL_FP_DENORM && (both & exact) == exact, "its double precision is not that of IEEE 754"},
        {number(id, CL_DEVICE_MAX_WORK_GROUP_SIZE) >= LEAST_BLOCK, "its work groups are too small"},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (!needs[i].has)
            return needs[i].what;
    return NULL;
}

/* ---- the list -----------------------------------------------------------------------------------------------------
 */

static void add(cl_platform_id platform, cl_device_id id)
{
    if (found == TXM_DEVICES_MAX)
        return;
    ocl_device *d = &devices[found++];
    *d = (ocl_device){.platform = platform, .id = id, .number = found - 1};
    pthread_mutex_init(&d->lock, NULL);
    const char *what = lacks(id);
    snprintf(d->reason, sizeof d->reason, "%s", what ? what : "");
}

/* Adds a device as a whole, or in the parts that the environment requests. */
static void add_parts(cl_platform_id platform, cl_device_id id)
{
    const char *text = getenv("TXMILL_OPENCL_PARTITION");
    cl_uint parts = text ? (cl_uint)strtoul(text, NULL, 10) : 0, n = 0;
    cl_uint units = (cl_uint)number(id, CL_DEVICE_MAX_COMPUTE_UNITS);
    cl_device_id list[TXM_DEVICES_MAX];
    if (parts > 1 && parts <= units && parts <= TXM_DEVICES_MAX) {
        const cl_device_partition_property how[] = {CL_DEVICE_PARTITION_EQUALLY, units / parts, 0};
        if (clCreateSubDevices(id, how, TXM_DEVICES_MAX, list, &n))
            n = 0;
    }
    for (cl_uint i = 0; i < n && i < parts; i++)
        add(platform, list[i]);
    if (!n)
        add(platform, id);
}

static void find(void)
{
    cl_platform_id platforms[PLATFORMS];
    cl_uint n = 0;
    if (!ocl_is_helper && (found_code = ocl_probe()))
        return;
    cl_int code = clGetPlatformIDs(PLATFORMS, platforms, &n);
    if (code && code != -1001) /* -1001 is CL_PLATFORM_NOT_FOUND_KHR: no driver is installed */
        found_code = ocl_code(code);
    for (cl_uint i = 0; !code && i < n && i < PLATFORMS; i++) {
        cl_device_id ids[TXM_DEVICES_MAX];
        cl_uint count = 0;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, TXM_DEVICES_MAX, ids, &count))
            continue;
        for (cl_uint k = 0; k < count && k < TXM_DEVICES_MAX; k++)
            add_parts(platforms[i], ids[k]);
    }
}

int ocl_devices(ocl_device **list, uint32_t *count)
{
    pthread_once(&once, find);
    *list = devices;
    *count = found;
    return found_code;
}

/* Extracts the number from "OpenCL 3.0 PoCL 3.1". */
static void version(cl_device_id id, char *out, size_t room)
{
    char text[256];
    ocl_device_text(id, CL_DEVICE_VERSION, text, sizeof text);
    const char *number_at = strncmp(text, "OpenCL ", 7) ? text : text + 7;
    snprintf(out, room, "%.*s", (int)strcspn(number_at, " "), number_at);
}

int txm_rt_describe(uint32_t device, txm_device_facts *info)
{
    ocl_device *d = &devices[device];
    ocl_device_text(d->id, CL_DEVICE_NAME, info->name, sizeof info->name);
    /* OpenCL does not report free memory; a shortage shows when a buffer is created or filled. */
    info->memory_bytes = info->free_bytes = number(d->id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->piece_bytes = number(d->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->processors = (uint32_t)number(d->id, CL_DEVICE_MAX_COMPUTE_UNITS);
    version(d->id, info->architecture, sizeof info->architecture);
    ocl_device_text(d->id, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
    snprintf(info->reason, sizeof info->reason, "%s", d->reason);
    int code = *d->reason ? 0 : ocl_open(d);
    if (code)
        snprintf(info->reason, sizeof info->reason, "%.190s", txm_rt_text(code));
    info->usable = !*info->reason;
    return 0;
}
