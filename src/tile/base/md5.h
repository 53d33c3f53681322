/* SPDX-License-Identifier: Apache-2.0
 * MD5 (RFC 1321), which the names of tx files are made with: of a few hundred bytes, and nobody relies on it against
 * forgery. libtxtile, which needs nothing else of the kind, links no library of digests for it. */
#ifndef TXM_BASE_MD5_H
#define TXM_BASE_MD5_H
#include <stddef.h>

enum { TXM_MD5_HEX = 33 }; /* upper-case hex digits and the NUL */

/* MD5 of `size_bytes` bytes as 32 upper-case hex digits, as Blender writes digests. */
void txm_md5_hex(const void *data, size_t size_bytes, char out[TXM_MD5_HEX]);
#endif
