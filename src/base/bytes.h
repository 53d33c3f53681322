/* SPDX-License-Identifier: Apache-2.0
 * A growable byte string. Zero-initialise it before the first use; data is NUL-terminated once anything was added. */
#ifndef TXM_BASE_BYTES_H
#define TXM_BASE_BYTES_H
#include <stdbool.h>
#include <stddef.h>

typedef struct txm_bytes {
    char *data;
    size_t size, capacity;
    bool failed;
} txm_bytes;

/* Each of these returns false if memory is exhausted. The content is then unchanged, and later additions fail too, so
 * that callers which add many pieces need to check only the last. */
bool txm_bytes_reserve(txm_bytes *b, size_t extra_bytes);
bool txm_bytes_add(txm_bytes *b, const void *data, size_t size_bytes);
bool txm_bytes_puts(txm_bytes *b, const char *s);
bool txm_bytes_printf(txm_bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the text, which the caller frees, or NULL if any addition has failed. *b is empty afterwards. */
char *txm_bytes_take(txm_bytes *b);
/* Frees the text and zeroes *b. NULL-safe. */
void txm_bytes_free(txm_bytes *b);
#endif
