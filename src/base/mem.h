/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked allocation. All sizes that come from files are checked here before memory is allocated.
 *
 * This folder is used by all others and depends on none of them: memory, failures, paths, text, clocks, byte order,
 * threads, and owners of temporary files. System calls are checked here: sizes are multiplied without overflow, and
 * every failure has a status, a file and a cause. A function belongs here if two folders need it and it has nothing to
 * do with images. Each library and program has its own copy, so nothing here is shared between them: a file keeps at
 * most what is the same for the whole process, such as the host's name.
 */
#ifndef TXM_BASE_MEM_H
#define TXM_BASE_MEM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/fail.h"

/* Records NO_MEMORY and returns it: "SUBJECT: out of memory". The subject is usually a file; NULL if unknown. */
txm_status txm_no_memory(txm_error *err, const char *subject);

/* count * size, or SIZE_MAX on overflow, which no allocation can satisfy. */
static inline size_t txm_mul(size_t count, size_t size)
{
    size_t r;
    return __builtin_mul_overflow(count, size, &r) ? SIZE_MAX : r;
}

/* Zeroed memory for count * size bytes; NULL on overflow or if memory is exhausted. Free it with free(). */
void *txm_calloc(size_t count, size_t size);

/* 64-byte aligned, uninitialised memory; NULL on overflow or if memory is exhausted. Free it with free(). */
void *txm_alloc_pixels(size_t count, size_t size);

/* Makes room for one more item after `count` in an array that doubles when it is full. false if memory is exhausted:
 * the array is then unchanged. */
#define TXM_GROW(items, capacity, count) txm_grow((void **)&(items), &(capacity), count, sizeof *(items))
bool txm_grow(void **items, size_t *capacity, size_t count, size_t item_bytes);

/* Copies of strings; NULL if memory is exhausted or the string is NULL. */
char *txm_strdup(const char *s);
char *txm_strndup(const char *s, size_t n);

/* printf into a new string; NULL if memory is exhausted. */
char *txm_asprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
