/* SPDX-License-Identifier: Apache-2.0
 *
 * A set of strings, each kept once: batches hold hundreds of thousands of paths and few different words. With every
 * string goes a number of the owner's, so that the set also serves as a map. Not thread-safe.
 */
#ifndef TXM_BASE_NAMES_H
#define TXM_BASE_NAMES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile/base/shared.h"

typedef struct txm_names_chunk txm_names_chunk;

typedef struct txm_name {
    const char *text; /* NULL: an empty slot */
    uintptr_t value;  /* the owner's, 0 at first */
} txm_name;

/* Zero-initialise. */
typedef struct txm_names {
    txm_name *slots;
    size_t count, capacity; /* capacity: 0 or a power of two */
    txm_names_chunk *chunks;
} txm_names;

/* The entry of `text`, made if there is none; NULL when memory is exhausted. It moves with the next call; its text
 * stays. */
TXM_SHARED txm_name *txm_names_entry(txm_names *names, const char *text);
/* The kept copy of `text`; NULL when memory is exhausted, or when given NULL. */
TXM_SHARED const char *txm_names_put(txm_names *names, const char *text);
/* A copy that is not looked up: for strings that are all different. NULL as above. */
const char *txm_names_copy(txm_names *names, const char *text);
TXM_SHARED bool txm_names_has(const txm_names *names, const char *text);
TXM_SHARED void txm_names_free(txm_names *names);

/* "device:inode" of a file, to keep in such a set: the same whatever way leads to it. */
enum { TXM_FILE_ID_BYTES = 48 };
struct stat;
TXM_SHARED void txm_file_id(const struct stat *st, char out[TXM_FILE_ID_BYTES]);
#endif
