/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes pictures in any format that OpenImageIO writes: tiles, levels, differences. Rows of samples and the name of
 * their colour space become a file, or its bytes, in the format that the extension chooses. Encoding runs in the
 * worker process, since encoders crash and call exit() as decoders do.
 */
#ifndef TXM_SOURCE_PICTURE_H
#define TXM_SOURCE_PICTURE_H
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "txmill/picture.h"
#include "txtile/status.h"

/* Encodes a picture into *out, which must be zeroed before and receives the whole file; on failure it is empty. The
 * extension of `name` chooses the format; types that it lacks are converted, and an alpha channel that it lacks is left
 * out. Alpha is taken as associated. A worker process encodes (mill/source/oiio/worker.h), so that a crash or exit() of
 * an encoder fails this call only. UNSUPPORTED if no format has that extension or OpenImageIO is missing. */
txm_status txm_picture_encode_bytes(const char *name, const txm_picture *picture, txm_bytes *out, txm_error *err);
#endif
