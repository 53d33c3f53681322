/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds a program's source into kernels for one device.
 *
 * The driver compiles the kernels, or they are taken from the cache (kernel_cache.c), where an earlier process stored
 * them under a key of device, driver, options and source. If the driver rejects a cached program, it is compiled again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "device/opencl/opencl_impl.h"

/* -w: some drivers print warnings, or their number, to standard error. */
static const char options[] = "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt -w";

static void hash_text(XXH3_state_t *state, const char *text)
{
    XXH3_128bits_update(state, text, strlen(text) + 1);
}

/* Covers everything that ties compiled code to this device. */
static ocl_cache_key key_of(const ocl_device *d, const txm_rt_program *p)
{
    char text[512];
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return (ocl_cache_key){0, 0};
    XXH3_128bits_reset(state);
    hash_text(state, options);
    for (int i = 0; i < 3; i++) {
        ocl_platform_text(d->platform,
                          (const cl_platform_info[]){CL_PLATFORM_NAME, CL_PLATFORM_VENDOR, CL_PLATFORM_VERSION}[i],
                          text, sizeof text);
        hash_text(state, text);
        ocl_device_text(d->id, (const cl_device_info[]){CL_DEVICE_NAME, CL_DEVICE_VERSION, CL_DRIVER_VERSION}[i], text,
                        sizeof text);
        hash_text(state, text);
    }
    for (const char *const *line = p->source; *line; line++)
        hash_text(state, *line);
    const XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    return (ocl_cache_key){hash.low64, hash.high64};
}

/* Reports the first line of the driver's build log. */
static void complain(const ocl_device *d, cl_program program)
{
    static const char unknown[] = "no reason given";
    char text[OCL_TEXT_BYTES];
    size_t size = 0;
    clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = size && size < (1u << 24) ? calloc(1, size + 1) : NULL;
    if (log && clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, size, log, NULL))
        *log = 0;
    const char *line = log ? log + strspn(log, " \t\r\n") : unknown;
    line = *line ? line : unknown;
    snprintf(text, sizeof text, "its driver cannot compile the kernels: %.*s", (int)strcspn(line, "\r\n"), line);
    ocl_say(OCL_NO_BUILD, text);
    free(log);
}

/* NULL if the driver rejects the binary. */
static cl_program from_binary(const ocl_device *d, const uint8_t *bytes, size_t size)
{
    const unsigned char *list[] = {bytes};
    cl_int code = 0, taken = 0;
    cl_program program = bytes ? clCreateProgramWithBinary(d->context, 1, &d->id, &size, list, &taken, &code) : NULL;
    if (program && (code || taken || clBuildProgram(program, 1, &d->id, options, NULL, NULL))) {
        clReleaseProgram(program);
        program = NULL;
    }
    return program;
}

static cl_program from_cache(const ocl_device *d, ocl_cache_key key)
{
    size_t size = 0;
    uint8_t *bytes = ocl_cache_read(key, &size);
    cl_program program = from_binary(d, bytes, size);
    free(bytes);
    return program;
}

/* The driver's binary of a program; NULL if it does not provide one. */
static uint8_t *binary_of(cl_program program, size_t *size)
{
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL) || !*size)
        return NULL;
    unsigned char *bytes = malloc(*size);
    if (bytes && clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL)) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

static void to_cache(cl_program program, ocl_cache_key key)
{
    size_t size = 0;
    uint8_t *bytes = binary_of(program, &size);
    if (bytes)
        ocl_cache_write(key, bytes, size);
    free(bytes);
}

static int from_source(const ocl_device *d, const char *const *source, cl_program *out)
{
    cl_int code = 0;
    cl_uint pieces = 0;
    while (source[pieces])
        pieces++;
    cl_program program = clCreateProgramWithSource(d->context, pieces, (const char **)source, NULL, &code);
    if (!program)
        return ocl_code(code);
    code = clBuildProgram(program, 1, &d->id, options, NULL, NULL);
    if (!code) {
        *out = program;
        return 0;
    }
    if (code == CL_BUILD_PROGRAM_FAILURE)
        complain(d, program);
    clReleaseProgram(program);
    return code == CL_BUILD_PROGRAM_FAILURE ? OCL_NO_BUILD : ocl_code(code);
}

int ocl_compile(const ocl_device *d, const char *const *source, uint8_t **binary, size_t *size)
{
    cl_program program = NULL;
    const int code = from_source(d, source, &program);
    if (code)
        return code;
    *binary = binary_of(program, size);
    clReleaseProgram(program);
    return *binary ? 0 : OCL_HELPER_FAILED;
}

/* The helper process compiles the program. This process does so only if there is no helper, or if the driver rejects
 * the helper's binary. */
static int compile_program(const ocl_device *d, const txm_rt_program *p, cl_program *out)
{
    uint8_t *binary;
    size_t size;
    const int code = ocl_build_elsewhere(d, p, &binary, &size);
    if (code)
        return code;
    *out = from_binary(d, binary, size);
    free(binary);
    return *out ? 0 : from_source(d, p->source, out);
}

static int make_kernels(ocl_program *b)
{
    b->kernels = calloc(b->program->count, sizeof *b->kernels);
    if (!b->kernels)
        return ocl_code(CL_OUT_OF_HOST_MEMORY);
    for (uint32_t i = 0; i < b->program->count; i++) {
        cl_int code = 0;
        b->kernels[i] = clCreateKernel(b->built, b->program->kernels[i].name, &code);
        if (!b->kernels[i])
            return ocl_code(code);
    }
    return 0;
}

/* Frees what a failed build has left. */
static void drop(ocl_program *b)
{
    for (uint32_t i = 0; b->kernels && i < b->program->count; i++)
        if (b->kernels[i])
            clReleaseKernel(b->kernels[i]);
    free(b->kernels);
    b->kernels = NULL;
    if (b->built)
        clReleaseProgram(b->built);
    b->built = NULL;
}

static int build(const ocl_device *d, ocl_program *b)
{
    const ocl_cache_key key = key_of(d, b->program);
    if ((b->built = from_cache(d, key)) && make_kernels(b) == 0)
        return 0;
    drop(b);
    int code = compile_program(d, b->program, &b->built);
    if (!code)
        code = make_kernels(b);
    if (!code)
        to_cache(b->built, key);
    else
        drop(b);
    return code;
}

int ocl_kernels(ocl_device *d, const txm_rt_program *program, const cl_kernel **kernels)
{
    ocl_program *b = d->programs;
    while (b->program && b->program != program)
        b++;
    if (!b->program) {
        b->program = program;
        b->code = build(d, b);
    }
    *kernels = b->kernels;
    return b->code;
}
