/* SPDX-License-Identifier: Apache-2.0
 *
 * gzip files (RFC 1952), inflated on several threads where that can be (codec/inflate_ahead.h): members one after the
 * other, their checksums and sizes verified; what stands behind the last and is no member is ignored, as gzip itself
 * does.
 */
#ifndef TXM_CODEC_GUNZIP_H
#define TXM_CODEC_GUNZIP_H
#include <stddef.h>
#include <stdint.h>

#include "codec/inflate_ahead.h"

typedef struct txm_gunzip txm_gunzip;

typedef enum txm_gunzipped {
    TXM_GUNZIP_OK,
    TXM_GUNZIP_DAMAGED, /* no gzip data, or a checksum that differs; none of these changes by calling again */
    TXM_GUNZIP_CUT,     /* the file ends too early */
    TXM_GUNZIP_UNREAD   /* reading failed: the context knows why */
} txm_gunzipped;

typedef struct txm_gunzip_settings {
    txm_ahead_settings ahead; /* no threads: everything on the caller's */
    uint64_t start_bytes;     /* inflated before threads are started: files are opened for their first bytes, too */
} txm_gunzip_settings;

/* Both read the file; read_ahead is what the threads call, at once. NULL when memory is exhausted. */
txm_gunzip *txm_gunzip_new(const txm_gunzip_settings *settings, uint64_t file_bytes, txm_source_read read,
                           txm_source_read read_ahead, void *context);
void txm_gunzip_free(txm_gunzip **gunzip); /* NULL-safe */
void txm_gunzip_rewind(txm_gunzip *gunzip);

/* Up to `bytes` bytes; *got is 0 at the end only. What stands before damage is delivered but for the last some hundred
 * kilobytes. */
txm_gunzipped txm_gunzip_pull(txm_gunzip *gunzip, uint8_t *dst, size_t bytes, size_t *got);

/* How many bytes of the file have been used for what was delivered. */
uint64_t txm_gunzip_used(const txm_gunzip *gunzip);
#endif
