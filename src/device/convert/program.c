/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of kernels. This file is compiled once for each runtime: by nvcc with the kernels as device code, by the C
 * compiler with the kernels as functions (tests), and (TXM_RT_OPENCL) with their source as text.
 */
#include "device/convert/program.h"

#ifdef TXM_RT_OPENCL
static const char *const source[] = {
#include "device/convert.inc"
    NULL};
#define SOURCE source
#else
#include "device/convert/entries.h"
#define SOURCE NULL
#endif

#define KERNELS(suffix)                                                                                                \
    TXM_RT_KERNEL(ingest_##suffix, 256)                                                                                \
    TXM_RT_KERNEL(level_##suffix, 256)                                                                                 \
    TXM_RT_KERNEL(tiles_##suffix, 256)                                                                                 \
    TXM_RT_KERNEL(borders_##suffix, 256)                                                                               \
    TXM_RT_KERNEL(count_##suffix, 64)

static const txm_rt_kernel kernels[] = {KERNELS(u8_1) KERNELS(u8_4) KERNELS(u16_1) KERNELS(u16_4)
                                            TXM_RT_KERNEL(pack, 32)};

const txm_rt_program txm_convert_program = {"convert", kernels, sizeof kernels / sizeof *kernels, SOURCE};
