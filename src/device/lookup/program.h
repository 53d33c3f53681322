/* SPDX-License-Identifier: Apache-2.0
 * The kernels of lookups as the runtime launches them. */
#ifndef TXM_LOOKUP_PROGRAM_H
#define TXM_LOOKUP_PROGRAM_H
#include "device/runtime/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TXM_LOOKUP_LOOK, TXM_LOOKUP_PLACE, TXM_LOOKUP_BIN, TXM_LOOKUP_SEVERAL, TXM_LOOKUP_QUICK };

extern const txm_rt_program txm_lookup_program;

#ifdef __cplusplus
}
#endif
#endif
