/* SPDX-License-Identifier: Apache-2.0
 * The comment of an archive has its size, by which the guard of outputs knows one that nobody has changed. */
#ifndef TXM_WRITE_ARCHIVE_H
#define TXM_WRITE_ARCHIVE_H

#define TXM_ARCHIVE_COMMENT "Written by txmill files: %020llu bytes"
enum { TXM_ARCHIVE_COMMENT_BYTES = 25 + 20 + 6 /* as long as it prints */ };

#endif
