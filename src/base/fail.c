/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* Writes a message that ends with `suffix`. If it is too long its middle is removed, because paths are long and what is
 * wrong with them comes last. The parts of a message are found from its format: the values could contain anything. Of a
 * format that is too long no part is found. */
static void compose(txm_error *err, const char *suffix, const char *format, va_list args)
{
    static const char gap[] = " ... ";
    const size_t head = TXM_MESSAGE_BYTES / 2, tail = TXM_MESSAGE_BYTES - head - (sizeof gap - 1), s = strlen(suffix);
    const char *advice = strstr(format, "; ");
    char *message = err->message, first[1024];
    va_list again;
    err->subject_bytes = err->advice_at = err->place_bytes = err->reserved = 0;
    if (!strncmp(format, "%s: ", 4)) {
        va_copy(again, args);
        const char *subject = va_arg(again, const char *);
        const size_t n = subject ? strlen(subject) : 0;
        err->subject_bytes = n < TXM_MESSAGE_BYTES / 2 ? (uint16_t)n : 0;
        va_end(again);
    }
    if (advice && (size_t)(advice - format) < sizeof first) {
        memcpy(first, format, (size_t)(advice - format));
        first[advice - format] = 0;
        va_copy(again, args);
        const int n = txm_vformat(NULL, 0, first, again);
        err->advice_at = n >= 0 && n < UINT16_MAX - 2 ? (uint16_t)(n + 2) : 0;
        va_end(again);
    }
    va_copy(again, args);
    int length = txm_vformat(message, TXM_MESSAGE_BYTES, format, args);
    size_t n = length > 0 ? (size_t)length : 0;
    char *whole = n + s < TXM_MESSAGE_BYTES ? NULL : malloc(n + s + 1);
    if (n + s < TXM_MESSAGE_BYTES) {
        memcpy(message + n, suffix, s + 1);
    } else if (whole) {
        const size_t from = n + s + 1 - tail; /* the first byte of the tail */
        txm_vformat(whole, n + 1, format, again);
        memcpy(whole + n, suffix, s + 1);
        memcpy(message, whole, head);
        memcpy(message + head, gap, sizeof gap - 1);
        memcpy(message + TXM_MESSAGE_BYTES - tail, whole + from, tail);
        if (err->advice_at >= from)
            err->advice_at = (uint16_t)(err->advice_at - from + TXM_MESSAGE_BYTES - tail);
        else if (err->advice_at >= head)
            err->advice_at = 0;
    } else if (err->advice_at >= TXM_MESSAGE_BYTES) {
        err->advice_at = 0;
    }
    va_end(again);
    free(whole);
}

txm_status txm_fail(txm_error *err, txm_status status, const char *format, ...)
{
    if (err && err->status == TXM_OK) {
        va_list args;
        err->status = status;
        err->sys_errno = 0;
        va_start(args, format);
        compose(err, "", format, args);
        va_end(args);
    }
    return status;
}

/* One table for all calls. */
static txm_status status_of_errno(int sys_errno)
{
    switch (sys_errno) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
        return TXM_STATUS_NOT_FOUND;
    case EISDIR:
        return TXM_STATUS_NOT_A_FILE;
    case EACCES:
    case EPERM:
    case EROFS:
        return TXM_STATUS_DENIED;
    case ENOSPC:
    case EDQUOT:
        return TXM_STATUS_DISK_FULL;
    case ENOMEM:
        return TXM_STATUS_NO_MEMORY;
    case ECANCELED:
        return TXM_STATUS_CANCELLED;
    case EOVERFLOW:
    case ENAMETOOLONG:
        return TXM_STATUS_TOO_LARGE;
    default:
        return TXM_STATUS_IO;
    }
}

txm_status txm_fail_errno(txm_error *err, int sys_errno, const char *format, ...)
{
    txm_status status = status_of_errno(sys_errno);
    if (err && err->status == TXM_OK) {
        va_list args;
        char text[128], reason[160];
        err->status = status;
        err->sys_errno = sys_errno;
        /* GNU strerror_r returns the text, which may or may not be in the buffer. */
        snprintf(reason, sizeof reason, ": %s%s", strerror_r(sys_errno, text, sizeof text),
                 sys_errno == EFBIG ? " (ulimit -f shows the limit)" : "");
        va_start(args, format);
        compose(err, reason, format, args);
        va_end(args);
    }
    return status;
}

txm_status txm_fail_as(txm_error *err, const txm_error *cause)
{
    if (err && err->status == TXM_OK)
        *err = *cause;
    return cause->status;
}

txm_status txm_fail_with(txm_error *err, txm_status status, const txm_error *cause)
{
    if (err && err->status == TXM_OK) {
        *err = *cause;
        err->status = status;
    }
    return status;
}

txm_status txm_fail_again(txm_error *err, txm_status status, const txm_failure *failure)
{
    txm_fail(err, status, "%s", failure->message ? failure->message : "out of memory");
    const size_t bytes = failure->message ? strlen(failure->message) : 0;
    if (err && err->status == status && bytes < TXM_MESSAGE_BYTES) {
        err->subject_bytes = failure->subject_bytes + 2u <= bytes ? failure->subject_bytes : 0;
        err->advice_at = failure->advice_at < bytes ? failure->advice_at : 0;
    }
    return status;
}

txm_status txm_error_prefix(txm_error *err, const char *format, ...)
{
    if (!err)
        return TXM_STATUS_INTERNAL;
    char old[TXM_MESSAGE_BYTES + 2];
    const size_t old_bytes = (size_t)snprintf(old, sizeof old, ": %s", err->message), advice_at = err->advice_at;
    va_list args;
    va_start(args, format);
    compose(err, old, format, args);
    va_end(args);
    /* The old message is the end of the new one. */
    const size_t bytes = strlen(err->message);
    if (!err->subject_bytes && bytes > old_bytes && bytes - old_bytes < TXM_MESSAGE_BYTES / 2)
        err->subject_bytes = (uint16_t)(bytes - old_bytes);
    err->place_bytes = 0;
    err->advice_at = advice_at && bytes + advice_at + 2 > old_bytes ? (uint16_t)(bytes - old_bytes + advice_at + 2) : 0;
    return err->status;
}

txm_status txm_error_advise(txm_error *err, const char *format, ...)
{
    if (!err)
        return TXM_STATUS_INTERNAL;
    const size_t n = strlen(err->message);
    if (!err->advice_at && n + 3 < sizeof err->message) {
        va_list args;
        memcpy(err->message + n, "; ", 3);
        va_start(args, format);
        txm_vformat(err->message + n + 2, sizeof err->message - n - 2, format, args);
        va_end(args);
        err->advice_at = (uint16_t)(n + 2);
    }
    return err->status;
}

void txm_error_drop_advice(txm_error *err)
{
    if (err && err->advice_at > 2)
        err->message[err->advice_at - 2] = 0;
    if (err)
        err->advice_at = 0;
}

bool txm_is_pointer(const void *head, size_t bytes)
{
    static const char *const begins[] = {"version https://git-lfs.github.com/spec/",
                                         "version https://hawser.github.com/spec/"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (bytes >= strlen(begins[i]) && memcmp(head, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

bool txm_explain_pointer(const char *path, txm_error *err)
{
    char head[64];
    if (err->status != TXM_STATUS_CORRUPT && err->status != TXM_STATUS_UNSUPPORTED &&
        err->status != TXM_STATUS_NOT_INSTALLED)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    if (n < 0 || !txm_is_pointer(head, (size_t)n))
        return false;
    err->status = TXM_OK;
    txm_fail(err, TXM_STATUS_NOT_DOWNLOADED, TXM_POINTER_MESSAGE, path);
    return true;
}
