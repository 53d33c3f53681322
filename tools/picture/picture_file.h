/* SPDX-License-Identifier: Apache-2.0
 * Pictures as files. */
#ifndef TXM_TOOLS_PICTURE_FILE_H
#define TXM_TOOLS_PICTURE_FILE_H
#include "source/oiio/picture.h"

/* Encodes a picture (source/oiio/picture.h) and puts it under `path` (batch/out_file.h), whole or not at all. Its folder must
 * be there. */
txm_status txm_picture_write(const char *path, const txm_picture *picture, txm_error *err);
#endif
