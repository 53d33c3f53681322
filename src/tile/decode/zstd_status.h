/* SPDX-License-Identifier: Apache-2.0
 * Interprets zstd's errors: a lack of memory must not be reported as damage or as a bug. */
#ifndef TXM_DECODE_ZSTD_STATUS_H
#define TXM_DECODE_ZSTD_STATUS_H
#include <zstd.h>
#include <zstd_errors.h>

#include "txtile/status.h"

/* The status for a result for which ZSTD_isError is true: TXM_STATUS_NO_MEMORY, or `otherwise`. */
static inline txm_status txm_zstd_status(size_t result, txm_status otherwise)
{
    return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation ? TXM_STATUS_NO_MEMORY : otherwise;
}
#endif
