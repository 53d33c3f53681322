/* SPDX-License-Identifier: Apache-2.0
 *
 * Files are read in pieces, so that large ones take little memory and a request to stop takes effect between two
 * pieces.
 */
#include "mill/farm/content.h"
#include "base/cancel.h"
#include "base/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"

enum { PIECE_BYTES = 256 << 10 };

/* The digits are in lower case, as in the names of files in a store. */
static void to_hex(const unsigned char digest[TXM_SHA256_BYTES], char out[TXM_CONTENT_HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < TXM_SHA256_BYTES; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[2 * TXM_SHA256_BYTES] = 0;
}

void txm_content_hash_text(const char *text, char out[TXM_CONTENT_HEX])
{
    unsigned char digest[TXM_SHA256_BYTES];
    txm_sha256_of(text, strlen(text), digest);
    to_hex(digest, out);
}

/* The file is read through the page cache, from which the decoder reads it next. */
txm_status txm_content_hash(const char *path, const volatile int *cancel, char out[TXM_CONTENT_HEX], txm_error *err)
{
    unsigned char digest[TXM_SHA256_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return txm_fail_errno(err, errno, "%s: cannot be opened", path);
    txm_sha256 *hash = txm_sha256_new();
    void *piece = malloc(PIECE_BYTES);
    struct stat st;
    txm_status status = hash && piece ? TXM_OK : txm_no_memory(err, path);
    if (status == TXM_OK && fstat(fd, &st) != 0)
        status = txm_fail_errno(err, errno, "%s: cannot be examined", path);
    for (off_t done = 0; status == TXM_OK;) {
        ssize_t n = read(fd, piece, PIECE_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            status = txm_fail_errno(err, errno, "%s: reading it failed", path);
        else if (n == 0 && done < st.st_size) /* the digest of its beginning would be wrong */
            status = txm_fail(err, TXM_STATUS_CHANGED, "%s: ended after %lld of %lld bytes while it was read", path,
                              (long long)done, (long long)st.st_size);
        else if (n == 0)
            break;
        else if (txm_is_cancelled(cancel))
            status = txm_fail(err, TXM_STATUS_CANCELLED, "%s: stopped on request", path);
        else
            txm_sha256_add(hash, piece, (size_t)n);
        done += n;
    }
    if (status == TXM_OK) {
        txm_sha256_finish(hash, digest);
        to_hex(digest, out);
    }
    free(piece);
    txm_sha256_free(hash);
    close(fd);
    return status;
}
