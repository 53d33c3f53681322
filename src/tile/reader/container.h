/* SPDX-License-Identifier: Apache-2.0
 *
 * Containers of tx files, a row each. Readers (reader_impl.h) and writers (mill/write/writer_impl.h) are found by it,
 * and whoever reports or judges a container takes its words and its kind of samples from here.
 *
 * Another one is a constant in txtile/reader.h, a row here, txm_tx_NAME_reader in a file beside tiff_reader.c, and
 * txm_tx_NAME_writer in one beside mill/write/tiff_writer.c.
 */
#ifndef TXM_READER_CONTAINER_H
#define TXM_READER_CONTAINER_H

/* The constant; the prefix of its reader and writer; its word in reports; its name; whether Cycles keeps half and float
 * samples in it, or integers. */
#define TXM_CONTAINER_TABLE(X)                                                                                         \
    X(TIFF, tiff, "tiff", "TIFF", false)                                                                               \
    X(EXR, exr, "exr", "OpenEXR", true)
#endif
