/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime over OpenCL inside: devices of all platforms in one list, each with a context of its own.
 *
 * Codes are OpenCL's, with their sign turned, and a few of our own. A device's lock guards its programs and the
 * arguments of its kernels; a stream is used by one thread at a time.
 */
#ifndef TXM_OPENCL_OPENCL_IMPL_H
#define TXM_OPENCL_OPENCL_IMPL_H
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>

#include "device/runtime/runtime.h"

enum { OCL_BROKEN = 2001, OCL_NO_BUILD, OCL_REFUSED, OCL_PROGRAMS = 4, OCL_TEXT_BYTES = 512 };

/* A program on a device. */
typedef struct ocl_program {
    const txm_rt_program *program;
    cl_program built;
    cl_kernel *kernels;
    int code; /* why it could not be built */
} ocl_program;

typedef struct ocl_device {
    cl_platform_id platform;
    cl_device_id id;
    uint32_t number;  /* in the list */
    char reason[200]; /* why it is refused; "" if it is not */
    pthread_mutex_t lock;
    cl_context context;
    cl_command_queue queue; /* for what belongs to no stream */
    ocl_program programs[OCL_PROGRAMS];
} ocl_device;

/* Finds all devices, once a process. A code, with *count 0. */
int ocl_devices(ocl_device **list, uint32_t *count);
/* Text of a device or its platform: one line, "" where the driver tells nothing. */
void ocl_device_text(cl_device_id id, cl_device_info what, char *out, size_t room);
void ocl_platform_text(cl_platform_id id, cl_platform_info what, char *out, size_t room);
/* Opens its context on first use. */
int ocl_open(ocl_device *d);
/* Compiles a text, with what the driver made of it: free() it. */
int ocl_compile(const ocl_device *d, const char *const *source, uint8_t **binary, size_t *size);
/* The kernels of a program, built on first use. Lock held. */
int ocl_kernels(ocl_device *d, const txm_rt_program *program, const cl_kernel **kernels);
/* Remembers what a code of our own means; the first text of a code stays. */
void ocl_say(int code, const char *text);

/* ---- a process of its own for what may go wrong --------------------------------------------------------------------
 */

enum { OCL_HELPER_REFUSED = 3, OCL_HELPER_FAILED }; /* exit codes */

extern bool ocl_is_helper; /* this is that process */
/* Loads all drivers there. OCL_BROKEN, with the reason said, where that does not end well. */
int ocl_probe(void);
/* Compiles a program there. OCL_NO_BUILD, with the reason said, where the driver cannot. *binary: free() it; NULL where
 * there is no such process. */
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

/* What is there under a key: *bytes is to be freed; NULL where there is nothing, or something that is damaged. */
uint8_t *ocl_cache_read(ocl_cache_key key, size_t *size);
/* Whole files, in as many calls as it takes. */
bool ocl_read_all(int fd, void *to, size_t size);
bool ocl_write_all(int fd, const void *from, size_t size);
/* A failure is ignored: the next process compiles again. */
void ocl_cache_write(ocl_cache_key key, const uint8_t *bytes, size_t size);
#endif
