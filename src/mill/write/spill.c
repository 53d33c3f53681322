/* SPDX-License-Identifier: Apache-2.0
 *
 * The file has no name from the start if the file system supports that, so that a killed process leaves nothing behind.
 * Bytes are read back by offset, since the order of reading is that of the tx file and only roughly that of writing.
 */
#include "mill/write/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/owner.h"
#include "base/output.h"

enum { FIRST_BYTES = 1 << 16 };

/* Bytes [0, used) are in memory, [used, used + file end) in the file. Once the file exists, memory does not grow any
 * more. */
struct txm_spill {
    char *dir;
    size_t budget, capacity, used;
    uint8_t *memory;
    int fd; /* -1: none yet */
    txm_output file;
    uint8_t *window; /* what was read back last */
    size_t window_bytes;
};

txm_spill *txm_spill_new(const char *dir, size_t budget_bytes)
{
    txm_spill *s = txm_calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->fd = -1;
    s->budget = budget_bytes;
    s->dir = txm_strdup(dir);
    if (!s->dir)
        txm_spill_free(&s);
    return s;
}

void txm_spill_free(txm_spill **spill)
{
    if (!spill || !*spill)
        return;
    txm_spill *s = *spill;
    txm_output_free(&s->file);
    if (s->fd >= 0)
        close(s->fd);
    free(s->memory);
    free(s->window);
    free(s->dir);
    free(s);
    *spill = NULL;
}

uint64_t txm_spill_size(const txm_spill *s)
{
    return s->used + (s->fd >= 0 ? txm_output_end(&s->file) : 0);
}

/* Once there is a file, all bytes go to it, since offsets continue from memory into the file. It is in the target's
 * folder, which has room for it, whereas /tmp often does not. */
txm_status txm_spill_add(txm_spill *s, const void *data, size_t size_bytes, txm_error *err)
{
    if (s->fd < 0 && size_bytes <= s->budget - s->used) {
        size_t capacity = s->capacity ? s->capacity : FIRST_BYTES;
        while (capacity - s->used < size_bytes)
            capacity *= 2;
        capacity = capacity < s->budget ? capacity : s->budget;
        uint8_t *memory = capacity > s->capacity ? realloc(s->memory, capacity) : s->memory;
        /* If memory is short, a file is used instead. */
        if (memory) {
            s->memory = memory;
            s->capacity = capacity;
            if (size_bytes)
                memcpy(s->memory + s->used, data, size_bytes);
            s->used += size_bytes;
            return TXM_OK;
        }
    }
    if (s->fd < 0) {
        s->fd = txm_nameless_file(s->dir, "spill");
        if (s->fd < 0)
            return txm_fail_errno(err, errno, "%s: cannot make a temporary file", s->dir);
        char *name = txm_asprintf("%s: temporary file", s->dir);
        txm_status status = txm_output_open(&s->file, s->fd, 0, name ? name : s->dir, err);
        free(name);
        if (status != TXM_OK) {
            close(s->fd);
            s->fd = -1;
            return status;
        }
    }
    txm_output_append(&s->file, data, size_bytes);
    return txm_output_status(&s->file, err);
}

/* What is read back is at most a tile; the file's own buffer and the page cache make that cheap. */
txm_status txm_spill_view(txm_spill *s, uint64_t offset, size_t size_bytes, const uint8_t **bytes, txm_error *err)
{
    static const uint8_t nothing;
    const uint64_t size = txm_spill_size(s);
    if (offset > size || size_bytes > size - offset)
        return txm_fail(err, TXM_STATUS_INTERNAL, "%s: read beyond the end of the temporary file", s->dir);
    if (offset + size_bytes <= s->used) {
        *bytes = size_bytes ? s->memory + offset : &nothing; /* there may be no memory yet */
        return TXM_OK;
    }
    if (size_bytes > s->window_bytes) {
        free(s->window);
        s->window = txm_alloc_pixels(size_bytes, 1);
        s->window_bytes = s->window ? size_bytes : 0;
    }
    if (!(*bytes = s->window))
        return txm_no_memory(err, s->dir);
    const size_t in_memory = offset < s->used ? s->used - (size_t)offset : 0;
    if (in_memory)
        memcpy(s->window, s->memory + offset, in_memory);
    const uint64_t from_file = offset > s->used ? offset - s->used : 0;
    return txm_output_read(&s->file, from_file, s->window + in_memory, size_bytes - in_memory)
               ? TXM_OK
               : txm_output_status(&s->file, err);
}
