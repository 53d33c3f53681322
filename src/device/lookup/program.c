/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of kernels, compiled once for each runtime like that of conversion: by nvcc with the kernels as device
 * code, by the C compiler with the kernels as functions (tests), and (TXM_RT_OPENCL) with their source as text.
 */
#include "device/lookup/program.h"

#ifdef TXM_RT_OPENCL
static const char *const source[] = {
#include "device/lookup.inc"
    NULL};
#define SOURCE source
#else
#include "device/lookup/entries.h"
#define SOURCE NULL
#endif

static const txm_rt_kernel kernels[] = {
    TXM_RT_KERNEL(lookup, 64) TXM_RT_KERNEL(place, 64) TXM_RT_KERNEL(bin, 64) TXM_RT_KERNEL(several, 64)
    /* in the order of bins */
    TXM_RT_KERNEL(linear_u8, 64) TXM_RT_KERNEL(linear_u16, 64) TXM_RT_KERNEL(linear_half, 64)
        TXM_RT_KERNEL(linear_float, 64) TXM_RT_KERNEL(pixel_u8, 64) TXM_RT_KERNEL(pixel_u16, 64)
            TXM_RT_KERNEL(pixel_half, 64) TXM_RT_KERNEL(pixel_float, 64)};

const txm_rt_program txm_lookup_program = {"lookup", kernels, sizeof kernels / sizeof *kernels, SOURCE};
