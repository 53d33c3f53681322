/* SPDX-License-Identifier: Apache-2.0
 * A growable byte string. Zero-initialise before first use; data is always NUL-terminated once anything was added. */
#ifndef TXM_BASE_BYTES_H
#define TXM_BASE_BYTES_H
#include <stdbool.h>
#include <stddef.h>

#include "tile/base/shared.h"

typedef struct txm_bytes {
    char *data;
    size_t size, capacity;
    bool failed;
} txm_bytes;

/* Each returns false when memory is exhausted; the content is unchanged then, and stays so: callers that add many
 * pieces need to check only once, at the end. */
TXM_SHARED bool txm_bytes_reserve(txm_bytes *b, size_t extra_bytes);
TXM_SHARED bool txm_bytes_add(txm_bytes *b, const void *data, size_t size_bytes);
TXM_SHARED bool txm_bytes_puts(txm_bytes *b, const char *s);
TXM_SHARED bool txm_bytes_printf(txm_bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text, which the caller frees, or NULL where anything could not be added. *b is empty afterwards. */
TXM_SHARED char *txm_bytes_take(txm_bytes *b);
/* Frees and zeroes. NULL-safe. */
TXM_SHARED void txm_bytes_free(txm_bytes *b);
#endif
