/* SPDX-License-Identifier: Apache-2.0
 *
 * The containers of tx files, one row each. The table selects the readers (reader_impl.h) and writers
 * (mill/write/writer_impl.h), and provides the names and sample types of containers to reports and checks.
 *
 * A new container needs a constant in txtile/reader.h, a row here, txm_tx_NAME_reader in a file beside tiff_reader.c,
 * and txm_tx_NAME_writer in a file beside mill/write/tiff_writer.c.
 */
#ifndef TXM_READER_CONTAINER_H
#define TXM_READER_CONTAINER_H

/* Columns: the constant; the prefix of its reader and writer; the word in reports; the name; whether Cycles keeps half
 * and float samples in it, or integers. */
#define TXM_CONTAINER_TABLE(X)                                                                                         \
    X(TIFF, tiff, "tiff", "TIFF", false)                                                                               \
    X(EXR, exr, "exr", "OpenEXR", true)
#endif
