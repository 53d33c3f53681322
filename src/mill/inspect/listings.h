/* SPDX-License-Identifier: Apache-2.0
 * The names in folders, each of which is read once: questions about many images of a folder are answered from memory.
 */
#ifndef TXM_INSPECT_LISTINGS_H
#define TXM_INSPECT_LISTINGS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/entries.h"
#include "txtile/status.h"

typedef struct txm_listing {
    char *folder;
    txm_entries names;
    int64_t *times; /* of txm_listing_time; NULL before its first call */
} txm_listing;

/* Zero-initialise. For one thread at a time. */
typedef struct txm_listings {
    txm_listing *items;
    size_t count, capacity;
} txm_listings;
void txm_listings_free(txm_listings *listings); /* zeroes */

/* *out is valid until the next call; a folder that does not exist is empty. IO and DENIED if it cannot be listed;
 * NO_MEMORY. */
txm_status txm_listings_get(txm_listings *listings, const char *folder, txm_listing **out, txm_error *err);
/* The index of the first name that is not before `bytes` bytes of `name`: those that begin with it follow. */
size_t txm_listing_find(const txm_listing *listing, const char *name, size_t bytes);
bool txm_listing_has(const txm_listing *listing, const char *name, size_t bytes);
/* The modification time (s) of a file, which is examined once; INT64_MIN if it cannot be. */
int64_t txm_listing_time(txm_listing *listing, size_t index);
#endif
