/* SPDX-License-Identifier: Apache-2.0
 *
 * Internals of the OpenCL runtime: the devices of all platforms in one list, each with its own context.
 *
 * Error codes are OpenCL's with the sign reversed, and a few additional ones. A device's lock protects its programs and
 * the arguments of its kernels; a stream is used by one thread at a time.
 */
#ifndef TXM_OPENCL_OPENCL_IMPL_H
#define TXM_OPENCL_OPENCL_IMPL_H
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>

#include "device/runtime/runtime.h"

enum { OCL_BROKEN = 2001, OCL_NO_BUILD, OCL_REFUSED, OCL_NOTE, OCL_PROGRAMS = 4, OCL_TEXT_BYTES = 512 };

/* A program built for a device. */
typedef struct ocl_program {
    const txm_rt_program *program;
    cl_program built;
    cl_kernel *kernels;
    int code; /* error code if it could not be built */
} ocl_program;

typedef struct ocl_device {
    cl_platform_id platform;
    cl_device_id id;
    uint32_t number;  /* index in the list */
    char reason[200]; /* why the device is refused; "" if it is not */
    pthread_mutex_t lock;
    cl_context context;
    cl_command_queue queue; /* queue for commands that belong to no stream */
    ocl_program programs[OCL_PROGRAMS];
} ocl_device;

/* Finds all devices, once per process. Returns a code, with *count 0, on failure. */
int ocl_devices(ocl_device **list, uint32_t *count);
/* A text property of a device or its platform, as one line; "" if the driver reports none. */
void ocl_device_text(cl_device_id id, cl_device_info what, char *out, size_t room);
void ocl_platform_text(cl_platform_id id, cl_platform_info what, char *out, size_t room);
/* Opens the device's context on first use. */
int ocl_open(ocl_device *d);
/* Compiles source, and returns the driver's binary, which the caller frees with free(). */
int ocl_compile(const ocl_device *d, const char *const *source, uint8_t **binary, size_t *size);
/* The kernels of a program, which is built on first use. The lock must be held. */
int ocl_kernels(ocl_device *d, const txm_rt_program *program, const cl_kernel **kernels);
/* Sets the text of an additional code; the first text set for a code is kept. OCL_NOTE is not an error; see
 * txm_rt_note. */
void ocl_say(int code, const char *text);

/* ---- a process of its own for what may go wrong --------------------------------------------------------------------
 */

enum { OCL_HELPER_REFUSED = 3, OCL_HELPER_FAILED }; /* exit codes of the helper */

extern bool ocl_is_helper; /* whether this process is the helper */
/* Loads all drivers in the helper. OCL_BROKEN, with a message, if it crashes or hangs. */
int ocl_probe(void);
/* Compiles a program in the helper. OCL_NO_BUILD, with a message, if the driver cannot. The caller frees *binary, which
 * is NULL if there is no helper. */
int ocl_build_elsewhere(const ocl_device *d, const txm_rt_program *program, uint8_t **binary, size_t *size);

static inline int ocl_code(cl_int code)
{
    return -code;
}

/* ---- compiled kernels that earlier processes have left ------------------------------------------------------------
 */

typedef struct ocl_cache_key {
    uint64_t low, high;
} ocl_cache_key;

/* Reads the entry of a key; the caller frees the bytes. NULL if there is no entry or it is damaged. */
uint8_t *ocl_cache_read(ocl_cache_key key, size_t *size);
/* An error is only noted, since the next process can compile again. */
void ocl_cache_write(ocl_cache_key key, const uint8_t *bytes, size_t size);
#endif
