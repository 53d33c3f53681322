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

typedef struct keying {
    XXH3_state_t *state;
    void (*also)(void *user, const void *piece, size_t bytes);
    void *user;
} keying;

static void add_piece(void *user, const void *piece, size_t bytes)
{
    const keying *k = user;
    XXH3_128bits_update(k->state, piece, bytes);
    if (k->also)
        k->also(k->user, piece, bytes);
}

txm_status txm_content_key_of(int fd, const char *path, const volatile int *cancel,
                              void (*also)(void *user, const void *piece, size_t bytes), void *user,
                              char out[TXM_CONTENT_KEY_BYTES], txm_error *err)
{
    keying k = {XXH3_createState(), also, user};
    unsigned char *piece = malloc(PIECE_BYTES);
    uint64_t bytes = 0;
    if (k.state)
        XXH3_128bits_reset(k.state);
    const txm_status status =
        k.state && piece ? read_pieces(fd, path, cancel, piece, add_piece, &k, &bytes, err) : txm_no_memory(err, path);
    if (status == TXM_OK) {
        const XXH128_hash_t hash = XXH3_128bits_digest(k.state);
        snprintf(out, TXM_CONTENT_KEY_BYTES, "%" PRIu64 ":%016" PRIx64 "%016" PRIx64, bytes, (uint64_t)hash.high64,
                 (uint64_t)hash.low64);
    }
    XXH3_freeState(k.state);
    free(piece);
    return status;
}

txm_status txm_content_key(const char *path, const volatile int *cancel, char out[TXM_CONTENT_KEY_BYTES],
                           txm_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return txm_fail_errno(err, errno, "%s: cannot be opened", path);
    const txm_status status = txm_content_key_of(fd, path, cancel, NULL, NULL, out, err);
    close(fd);
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
