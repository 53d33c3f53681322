/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a finished tx file back before it is published. The libraries that write it may lose a tag when memory runs
 * out, and a disk may not store all data, without an error. Headers, directories and tile tables are compared with what
 * was to be written; pixels are not decoded.
 */
#ifndef TXM_WRITE_READ_BACK_H
#define TXM_WRITE_READ_BACK_H
#include "mill/write/writer.h"

/* `fd` is the whole file, including the border section if `section` is set; `image_bytes` is the size from
 * txm_tx_writer_finish. IO if the file differs from what was to be written; NO_MEMORY. */
txm_status txm_tx_read_back(int fd, const char *name_for_messages, const txm_tx_layout *layout,
                            const txm_tx_metadata *metadata, const txm_tx_summary *summary, uint64_t image_bytes,
                            bool section, txm_error *err);
#endif
