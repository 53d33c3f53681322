/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and texts of failures.
 */
#include "txtile/status.h"

#include <stddef.h>
#include <string.h>

#include "base/fail.h"

static const struct {
    const char *name, *text;
    int retryable;
} table[TXM_STATUSES] = {
    [TXM_OK] = {"ok", "done", 0},
    [TXM_STATUS_INTERNAL] = {"internal", "an error inside txmill or one of its libraries", 0},
    [TXM_STATUS_USAGE] = {"usage", "an argument or option is wrong", 0},
    [TXM_STATUS_NO_MEMORY] = {"no-memory", "memory is exhausted", 1},
    [TXM_STATUS_NOT_FOUND] = {"not-found", "the file does not exist", 0},
    [TXM_STATUS_NOT_A_FILE] = {"not-a-file", "not a regular file", 0},
    [TXM_STATUS_DENIED] = {"denied", "access is denied", 0},
    [TXM_STATUS_IO] = {"io", "reading or writing failed", 1},
    [TXM_STATUS_DISK_FULL] = {"disk-full", "no space is left", 1},
    [TXM_STATUS_CORRUPT] = {"corrupt", "the data is damaged or truncated", 0},
    [TXM_STATUS_UNSUPPORTED] = {"unsupported", "a kind of file that cannot be used here", 0},
    [TXM_STATUS_TOO_LARGE] = {"too-large", "beyond a limit", 0},
    [TXM_STATUS_COLORSPACE] = {"colorspace", "the colour space is unknown or cannot be built", 0},
    [TXM_STATUS_CONFIG] = {"config", "the OCIO config cannot be used", 0},
    [TXM_STATUS_LOCKED] = {"locked", "another process is working on the file", 1},
    [TXM_STATUS_CHANGED] = {"changed", "the source changed while it was read", 1},
    [TXM_STATUS_CANCELLED] = {"cancelled", "stopped on request", 1},
    [TXM_STATUS_NEWER] = {"newer", "written by a newer version", 0},
    [TXM_STATUS_DEVICE] = {"device", "the device is missing or failed", 1},
    [TXM_STATUS_NOT_DOWNLOADED] = {"not-downloaded", "a pointer of Git LFS in place of the file", 0},
    [TXM_STATUS_NOT_INSTALLED] = {"not-installed", "something that it needs is not installed", 0},
};

const char *txm_version(void)
{
    return TXM_VERSION;
}

static int known(txm_status status)
{
    return (unsigned)status < TXM_STATUSES;
}

const char *txm_status_name(txm_status status)
{
    return table[known(status) ? status : TXM_STATUS_INTERNAL].name;
}

const char *txm_status_text(txm_status status)
{
    return table[known(status) ? status : TXM_STATUS_INTERNAL].text;
}

/* Causes that may be temporary: disks, shares, locks, memory. */
bool txm_status_retryable(txm_status status)
{
    return known(status) && table[status].retryable;
}

/* The message is not cleared but only terminated: it is long, and this is called often. */
void txm_error_clear(txm_error *err)
{
    if (err) {
        memset(err, 0, offsetof(txm_error, message) + 1);
        err->subject_bytes = err->advice_at = err->place_bytes = err->reserved = 0;
    }
}

const char *txm_error_detail(const txm_error *err)
{
    return err->message + (err->subject_bytes ? err->subject_bytes + 2 : 0);
}

const char *txm_error_advice(const txm_error *err)
{
    return err->advice_at ? err->message + err->advice_at : "";
}
