/* SPDX-License-Identifier: Apache-2.0
 *
 * A set of strings, each stored once: batches have hundreds of thousands of paths and few different words. Every
 * string has a number for its owner's use, so that the set also serves as a map. Not thread-safe.
 */
#ifndef TXM_BASE_NAMES_H
#define TXM_BASE_NAMES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct txm_names_chunk txm_names_chunk;

typedef struct txm_name {
    const char *text; /* NULL: an empty slot */
    uintptr_t value;  /* free for the owner's use, 0 at first */
} txm_name;

/* Zero-initialise. */
typedef struct txm_names {
    txm_name *slots;
    size_t count, capacity; /* capacity: 0 or a power of two */
    txm_names_chunk *chunks;
} txm_names;

/* The entry of `text`, which is created if it does not exist; NULL if memory is exhausted. The entry moves with the
 * next call, its text does not. */
txm_name *txm_names_entry(txm_names *names, const char *text);
/* The stored copy of `text`; NULL if memory is exhausted or `text` is NULL. */
const char *txm_names_put(txm_names *names, const char *text);
/* A copy without a lookup: for strings that are all different. NULL as above. */
const char *txm_names_copy(txm_names *names, const char *text);
bool txm_names_has(const txm_names *names, const char *text);
void txm_names_free(txm_names *names);

/* "device:inode" of a file, for use in such a set: it is the same for every path to the file. */
enum { TXM_FILE_ID_BYTES = 48 };
struct stat;
void txm_file_id(const struct stat *st, char out[TXM_FILE_ID_BYTES]);
/* Whether two paths name one file or folder: links and users spell paths in more than one way. */
bool txm_same_file(const char *a, const char *b);
#endif
