/* SPDX-License-Identifier: Apache-2.0
 *
 * What the OpenImageIO module (txmill-oiio.so) exports: one table under one name.
 *
 * The module is C++ and pulls in OpenImageIO with its 258 libraries; it knows nothing of libtxmill but the public
 * headers and the reader table, so that it can be loaded into any process. Everything it throws is caught inside.
 */
#ifndef TXM_SOURCE_OIIO_MODULE_H
#define TXM_SOURCE_OIIO_MODULE_H
#include "mill/source/oiio/picture.h"
#include "mill/source/source.h"

/* Raised whenever the table, txm_source_info or txm_error change: a module of another build is refused, not misread. */
enum { TXM_OIIO_MODULE_VERSION = 6 };
#define TXM_OIIO_MODULE_SYMBOL "txm_oiio_module_table"

/* Encoding a picture row by row; its `pixels` and `stride_bytes` are not looked at. */
typedef struct txm_encoder_ops {
    txm_status (*begin)(const char *name, const txm_picture *picture, void **self, txm_error *err);
    /* Tight rows, in order from 0. */
    txm_status (*rows)(void *self, uint32_t y, uint32_t rows, const void *data, txm_error *err);
    /* The file, owned by `self`. */
    txm_status (*finish)(void *self, const void **data, size_t *bytes, txm_error *err);
    void (*close)(void *self);
} txm_encoder_ops;

typedef struct txm_oiio_module {
    uint32_t version;
    uint32_t info_bytes, error_bytes; /* sizeof the structures it was built with */
    txm_reader_ops reader;
    txm_encoder_ops encoder;
    int (*library_version)(void); /* 20407: OpenImageIO 2.4.7 */
} txm_oiio_module;

#endif
