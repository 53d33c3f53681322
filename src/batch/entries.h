/* SPDX-License-Identifier: Apache-2.0
 * The names in a folder, in an order that does not depend on the file system. */
#ifndef TXM_BATCH_ENTRIES_H
#define TXM_BATCH_ENTRIES_H
#include <stddef.h>

#include "txmill/status.h"

/* Zero-initialise. */
typedef struct txm_entries {
    char **names; /* owned */
    size_t count, capacity;
} txm_entries;

/* Reads the names in a folder but "." and "..", sorted as bytes. NOT_FOUND, DENIED, IO, NO_MEMORY; nothing is held
 * then. */
txm_status txm_entries_read(const char *folder, txm_entries *out, txm_error *err);
void txm_entries_free(txm_entries *entries);
#endif
