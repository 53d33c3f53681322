/* SPDX-License-Identifier: Apache-2.0
 * Digests of whole files. */
#include "batch/content.h"
#include "core/cancel.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 256 << 10, SHA256_BYTES = 32 };

static void to_hex(const unsigned char digest[SHA256_BYTES], char out[TXM_CONTENT_HEX])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < SHA256_BYTES; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[2 * SHA256_BYTES] = 0;
}

bool txm_content_hash_text(const char *text, char out[TXM_CONTENT_HEX])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    if (!EVP_Digest(text, strlen(text), digest, &n, EVP_sha256(), NULL) || n != SHA256_BYTES)
        return false;
    to_hex(digest, out);
    return true;
}

static txm_status hash_fd(int fd, const char *path, const volatile int *cancel, EVP_MD_CTX *ctx, void *piece,
                          txm_error *err)
{
    for (;;) {
        ssize_t n = read(fd, piece, PIECE_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return txm_fail_errno(err, errno, "%s: reading it failed", path);
        if (n == 0)
            return TXM_OK;
        if (txm_is_cancelled(cancel))
            return txm_fail(err, TXM_CANCELLED, "%s: stopped on request", path);
        if (!EVP_DigestUpdate(ctx, piece, (size_t)n))
            return txm_fail(err, TXM_INTERNAL, "%s: the crypto library refuses", path);
    }
}

txm_status txm_content_hash(const char *path, const volatile int *cancel, char out[TXM_CONTENT_HEX], txm_error *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return txm_fail_errno(err, errno, "%s: cannot be opened", path);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    void *piece = malloc(PIECE_BYTES);
    txm_status status;
    if (!ctx || !piece || !EVP_DigestInit_ex(ctx, EVP_sha256(), NULL))
        status = txm_fail(err, TXM_NO_MEMORY, "%s: out of memory", path);
    else
        status = hash_fd(fd, path, cancel, ctx, piece, err);
    if (status == TXM_OK) {
        EVP_DigestFinal_ex(ctx, digest, NULL);
        to_hex(digest, out);
    }
    free(piece);
    EVP_MD_CTX_free(ctx);
    close(fd);
    return status;
}
