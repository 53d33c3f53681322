/* SPDX-License-Identifier: Apache-2.0
 *
 * These are OpenSSL's plain functions and not the newer EVP interface, because they need no memory and no openssl.cnf,
 * and do not crash if the library's first allocation fails.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/hash.h"

#include <openssl/sha.h>
#include <stdlib.h>

#include "base/text.h"

struct txm_sha1 {
    SHA_CTX sha;
};

txm_sha1 *txm_sha1_new(void)
{
    txm_sha1 *h = malloc(sizeof *h);
    if (h)
        SHA1_Init(&h->sha);
    return h;
}

void txm_sha1_add(txm_sha1 *h, const void *data, size_t size_bytes)
{
    SHA1_Update(&h->sha, data, size_bytes);
}

void txm_sha1_finish(txm_sha1 *h, char out[TXM_SHA1_HEX])
{
    unsigned char digest[SHA_DIGEST_LENGTH];
    SHA1_Final(digest, &h->sha);
    txm_hex_text(digest, sizeof digest, true, out);
    SHA1_Init(&h->sha);
}

void txm_sha1_free(txm_sha1 *h)
{
    free(h);
}

void txm_sha1_of(const void *data, size_t size_bytes, char out[TXM_SHA1_HEX])
{
    txm_sha1 h;
    SHA1_Init(&h.sha);
    txm_sha1_add(&h, data, size_bytes);
    txm_sha1_finish(&h, out);
}

struct txm_sha256 {
    SHA256_CTX sha;
};

txm_sha256 *txm_sha256_new(void)
{
    txm_sha256 *h = malloc(sizeof *h);
    if (h)
        SHA256_Init(&h->sha);
    return h;
}

void txm_sha256_add(txm_sha256 *h, const void *data, size_t size_bytes)
{
    SHA256_Update(&h->sha, data, size_bytes);
}

void txm_sha256_finish(txm_sha256 *h, unsigned char out[TXM_SHA256_BYTES])
{
    SHA256_Final(out, &h->sha);
}

void txm_sha256_free(txm_sha256 *h)
{
    free(h);
}

void txm_sha256_of(const void *data, size_t size_bytes, unsigned char out[TXM_SHA256_BYTES])
{
    txm_sha256 h;
    SHA256_Init(&h.sha);
    txm_sha256_add(&h, data, size_bytes);
    txm_sha256_finish(&h, out);
}
