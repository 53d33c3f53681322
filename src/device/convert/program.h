/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of conversion as the runtime launches them. They are numbered in groups of TXM_CONVERT_KINDS: for each
 * type, one group for one channel and one for four. The kernel that compresses tiles of any kind follows them.
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
    TXM_CONVERT_KINDS,
    TXM_CONVERT_PACK = 4 * TXM_CONVERT_KINDS
} txm_convert_kind;

extern const txm_rt_program txm_convert_program;

#ifdef __cplusplus
}
#endif
#endif
