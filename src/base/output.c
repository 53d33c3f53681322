/* SPDX-License-Identifier: Apache-2.0
 *
 * Interrupted and partial writes are continued. The first error is kept and makes all later calls fail, so that nothing
 * is written after a gap.
 */
#include "base/output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/whole.h"

enum { BUFFER_BYTES = 1 << 18 };

txm_status txm_output_open(txm_output *out, int fd, uint64_t start, const char *name, txm_error *err)
{
    memset(out, 0, sizeof *out);
    out->fd = fd;
    out->written = start;
    out->name = txm_strdup(name);
    out->buffer = txm_alloc_pixels(BUFFER_BYTES, 1);
    if (out->name && out->buffer)
        return TXM_OK;
    txm_output_free(out);
    return txm_no_memory(err, name);
}

void txm_output_free(txm_output *out)
{
    free(out->name);
    free(out->buffer);
    memset(out, 0, sizeof *out);
}

uint64_t txm_output_end(const txm_output *out)
{
    return out->written + out->used;
}

/* Keeps only the first failure, because later ones are its consequences. */
static bool failed(txm_output *out, int sys_errno, const char *what, uint64_t offset)
{
    txm_fail_errno(&out->error, sys_errno, "%s: cannot %s at byte %llu", out->name, what, (unsigned long long)offset);
    return false;
}

bool txm_output_flush(txm_output *out)
{
    if (out->error.status != TXM_OK)
        return false;
    int rc = txm_pwrite_all(out->fd, out->buffer, out->used, out->written);
    if (rc)
        return failed(out, rc, "write", out->written);
    out->written += out->used;
    out->used = 0;
    return true;
}

bool txm_output_append(txm_output *out, const void *data, size_t size_bytes)
{
    if (out->error.status != TXM_OK)
        return false;
    if (size_bytes > BUFFER_BYTES - out->used && !txm_output_flush(out))
        return false;
    if (size_bytes > BUFFER_BYTES) { /* the buffer is empty now, and too small */
        int rc = txm_pwrite_all(out->fd, data, size_bytes, out->written);
        if (rc)
            return failed(out, rc, "write", out->written);
        out->written += size_bytes;
        return true;
    }
    memcpy(out->buffer + out->used, data, size_bytes);
    out->used += size_bytes;
    return true;
}

/* A gap after the end is filled with zeros, which libtiff relies on. */
bool txm_output_write(txm_output *out, uint64_t offset, const void *data, size_t size_bytes)
{
    static const uint8_t zeros[64];
    while (offset > txm_output_end(out)) {
        uint64_t gap = offset - txm_output_end(out);
        if (!txm_output_append(out, zeros, gap < sizeof zeros ? (size_t)gap : sizeof zeros))
            return false;
    }
    if (offset == txm_output_end(out))
        return txm_output_append(out, data, size_bytes);
    if (!txm_output_flush(out))
        return false;
    int rc = txm_pwrite_all(out->fd, data, size_bytes, offset);
    if (rc)
        return failed(out, rc, "write", offset);
    if (offset + size_bytes > out->written)
        out->written = offset + size_bytes;
    return true;
}

bool txm_output_read(txm_output *out, uint64_t offset, void *data, size_t size_bytes)
{
    if (!txm_output_flush(out))
        return false;
    if (offset > out->written || size_bytes > out->written - offset)
        return false;
    int rc = txm_pread_all(out->fd, data, size_bytes, offset);
    return rc ? failed(out, rc, "read back", offset) : true;
}

txm_status txm_output_status(const txm_output *out, txm_error *err)
{
    if (out->error.status != TXM_OK && err && err->status == TXM_OK)
        *err = out->error;
    return out->error.status;
}
