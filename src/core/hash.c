/* SPDX-License-Identifier: Apache-2.0
 * Digests through OpenSSL and xxHash. */
#include "core/hash.h"

#include <openssl/evp.h>
#include <xxhash.h>

static void to_hex(const unsigned char *digest, size_t n, char *out)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[2 * n] = 0;
}

int txm_md5_hex(const void *data, size_t size_bytes, char out[TXM_MD5_HEX])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    if (!EVP_Digest(data, size_bytes, digest, &n, EVP_md5(), NULL) || n != 16)
        return -1;
    to_hex(digest, n, out);
    return 0;
}

/* txm_sha1 is never defined: it is OpenSSL's context under a name of our own. */
txm_sha1 *txm_sha1_new(void)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    if (ctx && !EVP_DigestInit_ex(ctx, EVP_sha1(), NULL)) {
        EVP_MD_CTX_free(ctx);
        ctx = NULL;
    }
    return (txm_sha1 *)ctx;
}

void txm_sha1_add(txm_sha1 *h, const void *data, size_t size_bytes)
{
    EVP_DigestUpdate((EVP_MD_CTX *)h, data, size_bytes);
}

void txm_sha1_finish(txm_sha1 *h, char out[TXM_SHA1_HEX])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    EVP_DigestFinal_ex((EVP_MD_CTX *)h, digest, &n);
    to_hex(digest, 20, out);
    EVP_DigestInit_ex((EVP_MD_CTX *)h, EVP_sha1(), NULL);
}

void txm_sha1_free(txm_sha1 *h)
{
    EVP_MD_CTX_free((EVP_MD_CTX *)h);
}

uint64_t txm_xxh64(const void *data, size_t size_bytes, uint64_t seed)
{
    return XXH64(data, size_bytes, seed);
}
