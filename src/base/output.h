/* SPDX-License-Identifier: Apache-2.0
 *
 * Output to a file descriptor that is mostly appended and occasionally patched or read back (libtiff links its
 * directories, and headers are completed last). Appended data is collected in one buffer, so that a tile needs no
 * system call.
 *
 * The libraries that write through this report only that something failed. The first real cause (no space, I/O error,
 * file too large) is therefore kept here and returned by txm_output_status.
 */
#ifndef TXM_BASE_OUTPUT_H
#define TXM_BASE_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtile/status.h"

typedef struct txm_output {
    int fd;
    char *name;      /* for messages */
    uint8_t *buffer; /* the last `used` bytes of the file, which are not yet written */
    size_t used;
    uint64_t written; /* bytes of the file that are in fd, which is also the buffer's offset */
    txm_error error;  /* the first failure */
} txm_output;

/* Output starts at offset `start` of fd; earlier bytes can still be read and patched. */
txm_status txm_output_open(txm_output *out, int fd, uint64_t start, const char *name, txm_error *err);
void txm_output_free(txm_output *out); /* discards buffered bytes; accepts a zeroed object */

/* Size of the file so far. */
uint64_t txm_output_end(const txm_output *out);

/* Writes at any offset; a gap after the end is filled with zeros. Returns false after a failure, as all later calls
 * do. */
bool txm_output_write(txm_output *out, uint64_t offset, const void *data, size_t size_bytes);
bool txm_output_append(txm_output *out, const void *data, size_t size_bytes);
/* Reads bytes that were written; false beyond the end too. */
bool txm_output_read(txm_output *out, uint64_t offset, void *data, size_t size_bytes);
bool txm_output_flush(txm_output *out);

/* TXM_OK, or the first failure, recorded in `err`. */
txm_status txm_output_status(const txm_output *out, txm_error *err);
#endif
