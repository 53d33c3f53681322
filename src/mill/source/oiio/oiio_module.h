/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface of the OpenImageIO module (txmill-oiio.so): one table under one name. The module is C++ and loads
 * OpenImageIO with its 258 libraries. It depends only on libtxmill's public headers and the table of readers, so that
 * it can be loaded into any process. All exceptions are caught inside.
 */
#ifndef TXM_SOURCE_OIIO_MODULE_H
#define TXM_SOURCE_OIIO_MODULE_H
#include "mill/source/source.h"
#include "txmill/picture.h"

/* The number changes with the table and with the structs that are passed as they are: a module from another build is
 * refused. */
enum { TXM_OIIO_MODULE_VERSION = (8 << 16) + (int)(sizeof(txm_source_info) + sizeof(txm_error)) };
#define TXM_OIIO_MODULE_SYMBOL "txm_oiio_module_table"

/* Encodes a picture row by row; its `pixels` and `stride_bytes` are ignored. */
typedef struct txm_encoder_ops {
    txm_status (*begin)(const char *name, const txm_picture *picture, void **self, txm_error *err);
    /* Takes tight rows, in order from 0. */
    txm_status (*rows)(void *self, uint32_t y, uint32_t rows, const void *data, txm_error *err);
    /* Returns the file, which belongs to `self`. */
    txm_status (*finish)(void *self, const void **data, size_t *bytes, txm_error *err);
    void (*close)(void *self);
} txm_encoder_ops;

typedef struct txm_oiio_module {
    uint32_t version;
    txm_reader_ops reader;
    txm_encoder_ops encoder;
    int (*library_version)(void); /* 20407 for OpenImageIO 2.4.7 */
    /* The names of the formats that it reads, separated by commas. The text lives as long as the module. */
    const char *(*formats)(void);
} txm_oiio_module;

#endif
