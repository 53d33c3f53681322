/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface of a container to writer.c. Calls come in order: open, add for every tile of level 0 row by row,
 * end_level, add for level 1 ..., finish, close. Failures of the descriptor are recorded in `out`, where writer.c looks
 * for them.
 */
#ifndef TXM_WRITE_WRITER_IMPL_H
#define TXM_WRITE_WRITER_IMPL_H
#include "base/output.h"
#include "mill/write/writer.h"
#include "tile/reader/container.h"
#include "tile/reader/tiff_reader.h" /* the levels and tables of an open file */
#include "txtile/reader.h"

typedef struct txm_tile_place {
    uint32_t level, x, y; /* tile coordinates */
    uint32_t tiles_x;     /* grid of the level */
} txm_tile_place;

struct txm_read_back;

typedef struct txm_container_writer {
    /* layout, metadata and out outlive the container. */
    txm_status (*open)(const txm_tx_layout *layout, const txm_tx_metadata *metadata, txm_output *out, void **self,
                       txm_error *err);
    txm_status (*add)(void *self, const txm_tile_place *place, const void *encoded, size_t size_bytes, txm_error *err);
    txm_status (*end_level)(void *self, uint32_t level, txm_error *err); /* may be NULL */
    txm_status (*finish)(void *self, const txm_tx_summary *summary, txm_error *err);
    void (*close)(void *self); /* NULL-safe */
    /* Whether a finished file has the expected texts and tables; its shape has been verified. */
    txm_status (*read_back)(const struct txm_read_back *c);
    bool has_zstd; /* whether readers accept zstd as a compression of this container */
} txm_container_writer;

#define TXM_CONTAINER_WRITER(name, prefix, word, title, floats)                                                        \
    extern const txm_container_writer txm_tx_##prefix##_writer;
TXM_CONTAINER_TABLE(TXM_CONTAINER_WRITER)
#undef TXM_CONTAINER_WRITER

/* The container in which Cycles keeps samples of a type, and its writer. */
txm_container txm_container_of(txm_type type);
const txm_container_writer *txm_container_writer_of(txm_type type);

typedef struct txm_read_back {
    txm_tx *tx;
    const txm_tx_layout *layout;
    const txm_tx_metadata *metadata;
    const txm_tx_summary *summary;
    txm_error *err;
} txm_read_back;

/* IO: that part of the file is not what was written. */
txm_status txm_read_back_differs(const txm_read_back *c, const char *what);
#endif
