/* SPDX-License-Identifier: Apache-2.0
 * Recording failures. The first failure is kept: failures while cleaning up after it change nothing. */
#ifndef TXM_BASE_FAIL_H
#define TXM_BASE_FAIL_H
#include <stdbool.h>
#include <stddef.h>

#include "txtile/status.h"

/* The number of status codes. It is not public, because programs would be compiled with a number that later versions
 * increase. */
enum { TXM_STATUSES = TXM_STATUS_NOT_INSTALLED + 1 };

#ifdef __cplusplus
extern "C" {
#endif

/* Records a failure and returns `status`. Formats have the form "%s: what is wrong; what to do": "%s: " at the
 * beginning makes the first value the subject, and what follows the first "; " of the format is the advice. Values may
 * contain anything. */
txm_status txm_fail(txm_error *err, txm_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for a failed system call: derives the status from `sys_errno` (ENOSPC, EACCES, ECANCELED and so on) and
 * appends its text. */
txm_status txm_fail_errno(txm_error *err, int sys_errno, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Copies a failure of a called function: status, errno and message. Returns cause->status. */
txm_status txm_fail_as(txm_error *err, const txm_error *cause);

/* The same for a failure that another status describes better; the message and its parts stay. */
txm_status txm_fail_with(txm_error *err, txm_status status, const txm_error *cause);

/* A message with its parts, for failures that are stored compactly: txm_fail_again repeats them. `message` is NULL
 * before it is stored. */
typedef struct txm_failure {
    const char *message;
    uint16_t subject_bytes, advice_at;
} txm_failure;
txm_status txm_fail_again(txm_error *err, txm_status status, const txm_failure *failure);

/* Appends what to do to a recorded message, unless it says so. Returns err->status. */
txm_status txm_error_advise(txm_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Removes the advice, for callers that know better. */
void txm_error_drop_advice(txm_error *err);

/* Prepends "prefix: " to a recorded message, to add context: it is the new subject, or if the format begins with "%s:
 * ", its first value. Returns err->status. */
txm_status txm_error_prefix(txm_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The message for a pointer of Git LFS; the value is its path. */
#define TXM_POINTER_MESSAGE "%s: a pointer of Git LFS in place of the file; 'git lfs pull' downloads the file"

/* Whether a file that begins with these bytes is a pointer of Git LFS, which stands for a file that was not downloaded.
 */
bool txm_is_pointer(const void *head, size_t bytes);
/* Replaces a failure to make sense of a file, if it is such a pointer, and says whether it is. */
bool txm_explain_pointer(const char *path, txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
