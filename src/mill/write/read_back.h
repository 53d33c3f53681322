/* SPDX-License-Identifier: Apache-2.0
 *
 * A finished tx file, read back before others see it. The libraries that write it may lose a tag when memory runs out,
 * and a disk may keep nothing of what it took: neither says so. Headers, directories and tile tables are compared with
 * what was asked for; pixels are not decoded.
 */
#ifndef TXM_WRITE_READ_BACK_H
#define TXM_WRITE_READ_BACK_H
#include "mill/write/writer.h"

/* `fd`: the whole file, border section included if `section`; `image_bytes`: as txm_tx_writer_finish gave it. IO when
 * the file is not what was asked for, NO_MEMORY. */
txm_status txm_tx_read_back(int fd, const char *name_for_messages, const txm_tx_layout *layout,
                            const txm_tx_metadata *metadata, const txm_tx_summary *summary, uint64_t image_bytes,
                            bool section, txm_error *err);
#endif
