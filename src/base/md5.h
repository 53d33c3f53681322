/* SPDX-License-Identifier: Apache-2.0
 *
 * MD5 (RFC 1321), for the names of tx files. These are digests of a few hundred bytes that need no protection against
 * forgery. With this code, libtxtile needs no library for digests.
 */
#ifndef TXM_BASE_MD5_H
#define TXM_BASE_MD5_H
#include <stddef.h>

enum { TXM_MD5_HEX = 33 }; /* upper-case hex digits and the NUL */

/* The MD5 of `size_bytes` bytes as 32 upper-case hex digits, as Blender writes it. */
void txm_md5_hex(const void *data, size_t size_bytes, char out[TXM_MD5_HEX]);
#endif
