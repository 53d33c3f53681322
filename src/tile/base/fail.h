/* SPDX-License-Identifier: Apache-2.0
 * Recording failures. The first one counts: whatever goes wrong while it is cleaned up after changes nothing. */
#ifndef TXM_BASE_FAIL_H
#define TXM_BASE_FAIL_H
#include "tile/base/shared.h"
#include "txtile/status.h"

/* How many there are. It is not public: programs would be compiled with a number that later versions raise. */
enum { TXM_STATUSES = TXM_STATUS_DEVICE + 1 };

#ifdef __cplusplus
extern "C" {
#endif

/* Records a failure and returns `status`. */
TXM_SHARED txm_status txm_fail(txm_error *err, txm_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As txm_fail, for a failed system call: derives the status from `sys_errno` (ENOSPC, EACCES, ECANCELED ...) and
 * appends its text. */
TXM_SHARED txm_status txm_fail_errno(txm_error *err, int sys_errno, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Records what went wrong further down as it is: status, errno and message. Returns cause->status. */
TXM_SHARED txm_status txm_fail_as(txm_error *err, const txm_error *cause);

/* Puts "prefix: " in front of a recorded message, to add context on the way up. Returns err->status. */
TXM_SHARED txm_status txm_error_prefix(txm_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
#endif
