/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of conversion as the runtime launches them. A kernel's number: TXM_CONVERT_KINDS for every type, with one
 * channel and with four.
 */
#ifndef TXM_CONVERT_PROGRAM_H
#define TXM_CONVERT_PROGRAM_H
#include "device/runtime/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum txm_convert_kind {
    TXM_CONVERT_INGEST,
    TXM_CONVERT_LEVEL,
    TXM_CONVERT_TILES,
    TXM_CONVERT_BORDERS,
    TXM_CONVERT_COUNT,
    TXM_CONVERT_KINDS
} txm_convert_kind;

extern const txm_rt_program txm_convert_program;

#ifdef __cplusplus
}
#endif
#endif
