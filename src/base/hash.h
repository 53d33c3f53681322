/* SPDX-License-Identifier: Apache-2.0
 *
 * Digests: SHA-1 for pixels, SHA-256 for content (OpenSSL, which uses the CPU's SHA instructions),
 * xxh64 for integrity.
 */
#ifndef TXM_BASE_HASH_H
#define TXM_BASE_HASH_H
#include <stddef.h>
#include <stdint.h>

enum { TXM_SHA1_HEX = 41 }; /* upper-case hex digits and the NUL */

/* SHA-1 as 40 upper-case hex digits, in one call or in pieces. `new` returns NULL if memory is exhausted; `free` is
 * NULL-safe. `finish` also resets for the next message. */
typedef struct txm_sha1 txm_sha1;
txm_sha1 *txm_sha1_new(void);
void txm_sha1_add(txm_sha1 *h, const void *data, size_t size_bytes);
void txm_sha1_finish(txm_sha1 *h, char out[TXM_SHA1_HEX]);
void txm_sha1_free(txm_sha1 *h);
void txm_sha1_of(const void *data, size_t size_bytes, char out[TXM_SHA1_HEX]);

/* SHA-256, in one call or in pieces. */
enum { TXM_SHA256_BYTES = 32 };
void txm_sha256_of(const void *data, size_t size_bytes, unsigned char out[TXM_SHA256_BYTES]);
typedef struct txm_sha256 txm_sha256;
txm_sha256 *txm_sha256_new(void);
void txm_sha256_add(txm_sha256 *h, const void *data, size_t size_bytes);
void txm_sha256_finish(txm_sha256 *h, unsigned char out[TXM_SHA256_BYTES]);
void txm_sha256_free(txm_sha256 *h);
#endif
