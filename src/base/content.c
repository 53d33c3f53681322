/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads whole files, and tells their content by a key that is small enough to be kept in a tx file.
 */
#include "base/content.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/cancel.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/whole.h"

enum { PIECE_BYTES = 256 << 10 };

static txm_status read_pieces(int fd, const char *path, const volatile int *cancel, unsigned char *piece,
                              void (*take)(void *user, const void *piece, size_t bytes), void *user, uint64_t *bytes,
                              txm_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return txm_fail_errno(err, errno, "%s: cannot be examined", path);
    for (*bytes = 0;;) {
        const int64_t n = txm_read_most(fd, piece, PIECE_BYTES);
        if (n < 0)
            return txm_fail_errno(err, errno, "%s: reading it failed", path);
        *bytes += (uint64_t)n;
        /* The beginning of a file that became shorter says nothing about the file. */
        if (n < PIECE_BYTES && *bytes < (uint64_t)st.st_size)
            return txm_fail(err, TXM_STATUS_CHANGED, "%s: ended after %" PRIu64 " of %lld bytes while it was read",
                            path, *bytes, (long long)st.st_size);
        if (txm_is_cancelled(cancel))
            return txm_fail(err, TXM_STATUS_CANCELLED, "%s: stopped on request", path);
        take(user, piece, (size_t)n);
        if (n < PIECE_BYTES)
            return TXM_OK;
    }
}

/* The file is read through the page cache, from which the decoder reads it next. */
txm_status txm_read_pieces(const char *path, const volatile int *cancel,
                           void (*take)(void *user, const void *piece, size_t bytes), void *user, uint64_t *bytes,
                           txm_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return txm_fail_errno(err, errno, "%s: cannot be opened", path);
    unsigned char *piece = malloc(PIECE_BYTES);
    const txm_status status =
        piece ? read_pieces(fd, path, cancel, piece, take, user, bytes, err) : txm_no_memory(err, path);
    free(piece);
    close(fd);
    return status;
}

static void add_piece(void *user, const void *piece, size_t bytes)
{
    XXH3_128bits_update(user, piece, bytes);
}

txm_status txm_content_key(const char *path, const volatile int *cancel, char out[TXM_CONTENT_KEY_BYTES],
                           txm_error *err)
{
    XXH3_state_t *state = XXH3_createState();
    uint64_t bytes;
    if (!state)
        return txm_no_memory(err, path);
    XXH3_128bits_reset(state);
    const txm_status status = txm_read_pieces(path, cancel, add_piece, state, &bytes, err);
    const XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    if (!status)
        snprintf(out, TXM_CONTENT_KEY_BYTES, "%" PRIu64 ":%016" PRIx64 "%016" PRIx64, bytes, (uint64_t)hash.high64,
                 (uint64_t)hash.low64);
    return status;
}

bool txm_content_key_parse(const char *text, uint64_t *bytes)
{
    const size_t digits = text ? strspn(text, "0123456789") : 0;
    if (!digits || digits > 19 || text[digits] != ':' || strspn(text + digits + 1, "0123456789abcdef") != 32 ||
        text[digits + 33])
        return false;
    *bytes = strtoull(text, NULL, 10);
    return true;
}

txm_status txm_content_compare(const char *path, uint64_t size_bytes, const char *key, bool whole,
                               const volatile int *cancel, bool *same, txm_error *err)
{
    uint64_t bytes;
    char now[TXM_CONTENT_KEY_BYTES];
    *same = txm_content_key_parse(key, &bytes) && bytes == size_bytes;
    if (!*same || !whole)
        return TXM_OK;
    const txm_status status = txm_content_key(path, cancel, now, err);
    *same = !status && !strcmp(key, now);
    return status;
}
