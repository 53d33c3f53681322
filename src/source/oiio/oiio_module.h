/* SPDX-License-Identifier: Apache-2.0
 *
 * What the OpenImageIO module (txmill-oiio.so) exports: one table under one name.
 *
 * The module is C++ and pulls in OpenImageIO with its 258 libraries; it knows nothing of libtxmill but the public
 * headers and the reader table, so that it can be loaded into any process. Everything it throws is caught inside.
 */
#ifndef TXM_SOURCE_OIIO_MODULE_H
#define TXM_SOURCE_OIIO_MODULE_H
#include "source/oiio/image_write.h"
#include "source/source.h"

/* Raised whenever the table, txm_source_info or txm_error change: a module of another build is refused, not misread. */
enum { TXM_OIIO_MODULE_VERSION = 2 };
#define TXM_OIIO_MODULE_SYMBOL "txm_oiio_module_table"

typedef struct txm_oiio_module {
    uint32_t version;
    uint32_t info_bytes, error_bytes; /* sizeof the structures it was built with */
    txm_reader_ops reader;
    txm_status (*write)(const char *path, const txm_picture *picture, txm_error *err);
} txm_oiio_module;

#endif
