/* SPDX-License-Identifier: Apache-2.0
 *
 * Seals: a digest of a file in the file itself, by which txmill recognises that nobody has changed it since.
 *
 * A writer puts TXM_OUT_FILE_SEAL, whose digits are zeros, into the first or last 64 KiB, as metadata or a comment.
 * When the file is complete, the digits of each are replaced by the digest of the whole file with zeros in their place.
 * In PNG the checksums of the chunks that contain them count as zeros too, and are then corrected.
 */
#ifndef TXM_WRITE_SEAL_H
#define TXM_WRITE_SEAL_H
#include <stdbool.h>

#include "txtile/status.h"

/* Seals the complete file that is open for reading and writing. A file without seals is left as it is. IO, DISK_FULL,
 * NO_MEMORY; `name` is for messages. */
txm_status txm_seal_file(int fd, const char *name, txm_error *err);

/* *whole: the file has seals, and all of them have its digest. IO, CHANGED while it is read, NO_MEMORY. */
txm_status txm_seal_check(int fd, const char *name, bool *whole, txm_error *err);
#endif
