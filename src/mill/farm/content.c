/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-256 digests of whole files.
 */
#include "mill/farm/content.h"

#include <string.h>

#include "base/content.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"

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

static void add_piece(void *user, const void *piece, size_t bytes)
{
    txm_sha256_add(user, piece, bytes);
}

txm_status txm_content_hash(const char *path, const volatile int *cancel, char out[TXM_CONTENT_HEX], txm_error *err)
{
    unsigned char digest[TXM_SHA256_BYTES];
    uint64_t bytes;
    txm_sha256 *hash = txm_sha256_new();
    if (!hash)
        return txm_no_memory(err, path);
    const txm_status status = txm_read_pieces(path, cancel, add_piece, hash, &bytes, err);
    if (status == TXM_OK) {
        txm_sha256_finish(hash, digest);
        to_hex(digest, out);
    }
    txm_sha256_free(hash);
    return status;
}
