/* SPDX-License-Identifier: Apache-2.0
 * Walking folders: the names in one, in an order that does not depend on the file system, and those still to be read.
 */
#ifndef TXM_BASE_ENTRIES_H
#define TXM_BASE_ENTRIES_H
#include <stdbool.h>
#include <stddef.h>

#include "txtile/status.h"

typedef struct txm_entry {
    char *name;
    bool is_file; /* it is known to be a file: neither a folder nor a link to one. Not all file systems say */
} txm_entry;

/* Zero-initialise. */
typedef struct txm_entries {
    txm_entry *items; /* owned, with their names */
    size_t count, capacity;
} txm_entries;

/* Reads the names in a folder except "." and "..", sorted by bytes. On failure the list is empty. NOT_FOUND, DENIED,
 * IO, NO_MEMORY. */
txm_status txm_entries_read(const char *folder, txm_entries *out, txm_error *err);
void txm_entries_free(txm_entries *entries);

/* Folders still to be read, on a stack of their own, so that deep trees do not need the thread's stack.
 * Zero-initialise. */
typedef struct txm_pending {
    char **paths;
    size_t count, capacity;
} txm_pending;

/* Takes ownership of `path`, whatever happens. false for NULL, and if memory is exhausted. */
bool txm_pending_push(txm_pending *pending, char *path);
/* The folder that was pushed last, which the caller frees; NULL if there is none. */
char *txm_pending_pop(txm_pending *pending);
void txm_pending_free(txm_pending *pending);
#endif
