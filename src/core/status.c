/* SPDX-License-Identifier: Apache-2.0
 * Names, texts and recording of failures. */
#include "core/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"

static const struct {
    const char *name, *text;
    int retryable;
} table[TXM_STATUS_COUNT] = {
    [TXM_OK] = {"ok", "done", 0},
    [TXM_INTERNAL] = {"internal", "an error inside txmill or one of its libraries", 0},
    [TXM_USAGE] = {"usage", "the request makes no sense", 0},
    [TXM_NO_MEMORY] = {"no-memory", "memory is exhausted", 1},
    [TXM_NOT_FOUND] = {"not-found", "the file does not exist", 0},
    [TXM_NOT_A_FILE] = {"not-a-file", "not a regular file", 0},
    [TXM_DENIED] = {"denied", "access is denied", 0},
    [TXM_IO] = {"io", "reading or writing failed", 1},
    [TXM_DISK_FULL] = {"disk-full", "no space is left", 1},
    [TXM_CORRUPT] = {"corrupt", "the data is damaged or truncated", 0},
    [TXM_UNSUPPORTED] = {"unsupported", "a kind of file that txmill cannot process", 0},
    [TXM_TOO_LARGE] = {"too-large", "beyond a limit", 0},
    [TXM_COLORSPACE] = {"colorspace", "the colour space is unknown or cannot be built", 0},
    [TXM_CONFIG] = {"config", "the OCIO config cannot be used", 0},
    [TXM_LOCKED] = {"locked", "another process is at work on the file", 1},
    [TXM_CHANGED] = {"changed", "the source changed while it was read", 1},
    [TXM_CANCELLED] = {"cancelled", "stopped on request", 1},
    [TXM_NEWER] = {"newer", "written by a newer version", 0},
    [TXM_DEVICE] = {"device", "the device is missing or failed", 1},
};

const char *txm_version(void)
{
    return TXM_VERSION;
}

static int known(txm_status status)
{
    return (unsigned)status < TXM_STATUS_COUNT;
}

const char *txm_status_name(txm_status status)
{
    return table[known(status) ? status : TXM_INTERNAL].name;
}

const char *txm_status_text(txm_status status)
{
    return table[known(status) ? status : TXM_INTERNAL].text;
}

int txm_status_retryable(txm_status status)
{
    return known(status) && table[status].retryable;
}

/* Appends to a message; one that does not fit is cut, never overrun. */
static void append(char *message, const char *format, va_list args)
{
    size_t used = strlen(message);
    txm_vformat(message + used, TXM_MESSAGE_BYTES - used, format, args);
}

txm_status txm_fail(txm_error *err, txm_status status, const char *format, ...)
{
    if (err && err->status == TXM_OK) {
        va_list args;
        err->status = status;
        err->sys_errno = 0;
        err->message[0] = 0;
        va_start(args, format);
        append(err->message, format, args);
        va_end(args);
    }
    return status;
}

static txm_status status_of_errno(int sys_errno)
{
    switch (sys_errno) {
    case ENOENT:
    case ENOTDIR:
        return TXM_NOT_FOUND;
    case EISDIR:
        return TXM_NOT_A_FILE;
    case EACCES:
    case EPERM:
    case EROFS:
        return TXM_DENIED;
    case ENOSPC:
    case EDQUOT:
        return TXM_DISK_FULL;
    case ENOMEM:
        return TXM_NO_MEMORY;
    case EFBIG:
    case EOVERFLOW:
        return TXM_TOO_LARGE;
    default:
        return TXM_IO;
    }
}

txm_status txm_fail_errno(txm_error *err, int sys_errno, const char *format, ...)
{
    txm_status status = status_of_errno(sys_errno);
    if (err && err->status == TXM_OK) {
        va_list args;
        char text[128];
        err->status = status;
        err->sys_errno = sys_errno;
        err->message[0] = 0;
        va_start(args, format);
        append(err->message, format, args);
        va_end(args);
        size_t used = strlen(err->message);
        /* GNU strerror_r: returns the text, which may or may not be in the buffer. */
        snprintf(err->message + used, TXM_MESSAGE_BYTES - used, ": %s", strerror_r(sys_errno, text, sizeof text));
    }
    return status;
}

txm_status txm_fail_as(txm_error *err, const txm_error *cause)
{
    if (err && err->status == TXM_OK)
        *err = *cause;
    return cause->status;
}

txm_status txm_error_prefix(txm_error *err, const char *format, ...)
{
    if (!err)
        return TXM_INTERNAL;
    char old[TXM_MESSAGE_BYTES];
    va_list args;
    memcpy(old, err->message, sizeof old);
    err->message[0] = 0;
    va_start(args, format);
    append(err->message, format, args);
    va_end(args);
    size_t used = strlen(err->message);
    snprintf(err->message + used, TXM_MESSAGE_BYTES - used, ": %.*s", TXM_MESSAGE_BYTES - 3, old);
    return err->status;
}

void txm_error_clear(txm_error *err)
{
    if (err)
        memset(err, 0, offsetof(txm_error, message) + 1);
}
