/* SPDX-License-Identifier: Apache-2.0
 *
 * A spill keeps bytes until they can be written. They stay in memory up to a budget; later ones go to an unnamed file
 * in a given folder, which disappears with the process. Append-only; can be read back at any offset.
 *
 * Not thread-safe: one thread at a time.
 */
#ifndef TXM_WRITE_SPILL_H
#define TXM_WRITE_SPILL_H
#include <stddef.h>
#include <stdint.h>

#include "txtile/status.h"

typedef struct txm_spill txm_spill;

/* `dir` is the folder for the file, preferably on the target's file system; the file is only created when the budget is
 * spent. Memory grows in steps with the bytes that are added, up to budget_bytes. NULL when memory is exhausted. */
txm_spill *txm_spill_new(const char *dir, size_t budget_bytes);
void txm_spill_free(txm_spill **spill); /* NULL-safe */

/* Appends; the offset of the first byte is txm_spill_size before the call. NO_MEMORY, DISK_FULL, IO, DENIED. */
txm_status txm_spill_add(txm_spill *spill, const void *data, size_t size_bytes, txm_error *err);
uint64_t txm_spill_size(const txm_spill *spill);

/* Points *bytes at the bytes offset .. offset + size_bytes - 1, all of which must have been added. The pointer is valid
 * until the next call. NO_MEMORY, IO. */
txm_status txm_spill_view(txm_spill *spill, uint64_t offset, size_t size_bytes, const uint8_t **bytes, txm_error *err);
#endif
