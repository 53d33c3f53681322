/* SPDX-License-Identifier: Apache-2.0
 * The back-ends that this build has: each overwrites the entries that it does faster. */
#ifndef TXM_DEVICE_ISA_H
#define TXM_DEVICE_ISA_H
#include "device/ops.h"

bool txm_isa_scalar_available(void);

#if defined(__x86_64__)
bool txm_isa_avx2_available(void);   /* AVX2 and F16C */
bool txm_isa_avx512_available(void); /* AVX-512 F, BW, DQ, VL and F16C */
void txm_ops_fill_avx2(txm_ops *ops);
void txm_ops_fill_avx512(txm_ops *ops);
#elif defined(__aarch64__)
bool txm_isa_neon_available(void);
void txm_ops_fill_neon(txm_ops *ops);
#endif
#endif
