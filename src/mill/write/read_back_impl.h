/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations shared by read_back.c and the containers' parts of the comparison.
 */
#ifndef TXM_WRITE_READ_BACK_IMPL_H
#define TXM_WRITE_READ_BACK_IMPL_H
#include "mill/write/writer.h"
#include "tile/reader/tiff_reader.h" /* the levels and tables of an open file */

typedef struct txm_read_back {
    txm_tx *tx;
    const txm_tx_layout *layout;
    const txm_tx_metadata *metadata;
    const txm_tx_summary *summary;
    txm_error *err;
} txm_read_back;

/* IO: that part of the file is not what was written. */
txm_status txm_read_back_differs(const txm_read_back *c, const char *what);

/* Functions of txm_tx_tiff_writer and txm_tx_exr_writer. */
txm_status txm_tiff_read_back(const txm_read_back *c);
txm_status txm_exr_read_back(const txm_read_back *c);
#endif
