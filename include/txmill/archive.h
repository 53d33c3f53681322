/* SPDX-License-Identifier: Apache-2.0
 *
 * Zip archives whose files are stored as they are, since images and tx files are compressed already: of any size
 * (Zip64), with names in UTF-8 and times to the second (extended timestamp). An archive appears complete or not at all.
 *
 *     txm_archive_begin(path, &archive, &err);
 *     txm_archive_file(archive, "textures/wood.png", bytes, time, &err);
 *     txm_archive_data(archive, data, n);                     until all bytes were added
 *     txm_archive_commit(&archive, &err);
 */
#ifndef TXMILL_ARCHIVE_H
#define TXMILL_ARCHIVE_H
#include <stddef.h>
#include <stdint.h>

#include "txtile/export.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An archive that is being written. One thread at a time. */
typedef struct txm_archive txm_archive;

/* Starts an archive in an existing folder; one of that name is replaced by the commit. Failures to write,
 * NO_MEMORY. */
TXM_API txm_status txm_archive_begin(const char *path, txm_archive **out, txm_error *err);
/* The next file, of `bytes` bytes, last changed `time` seconds since 1970. `name` is a relative path with slashes.
 * CHANGED if the file before it is not as long as was said; TOO_LARGE for a name of more than 65535 bytes. */
TXM_API txm_status txm_archive_file(txm_archive *archive, const char *name, uint64_t bytes, int64_t time,
                                    txm_error *err);
/* Adds bytes to the current file. The next call that can fail reports failures. */
TXM_API void txm_archive_data(txm_archive *archive, const void *data, size_t bytes);
/* Whether zip has this time: 1980 to 2107, of which programs that know extended timestamps read seconds until 2038,
 * others only even ones. */
TXM_API int txm_archive_keeps(int64_t time);
/* Finishes the archive and frees *archive in every case. On failure no archive is left, and an older one is untouched.
 */
TXM_API txm_status txm_archive_commit(txm_archive **archive, txm_error *err);
TXM_API void txm_archive_abort(txm_archive **archive); /* NULL-safe */

#ifdef __cplusplus
}
#endif
#endif
