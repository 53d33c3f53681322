/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures in any format that OpenImageIO writes, for people to look at: tiles, levels, differences.
 *
 * In: rows of samples with their colour space by name. Out: a file, or the bytes of one, in the format that its
 * extension says. Encoding runs in the worker process, since encoders crash and exit as decoders do.
 */
#ifndef TXM_SOURCE_PICTURE_H
#define TXM_SOURCE_PICTURE_H
#include <stddef.h>
#include <stdint.h>

#include "tile/base/bytes.h"
#include "txmill/picture.h"
#include "txtile/status.h"

/* Encodes a picture as a file, which *out (zeroed before) receives whole; on failure it is empty. The extension of
 * `name` chooses the format; what the format cannot hold is converted (types) or left out (alpha). Alpha is taken as
 * associated. The work is done by a worker process (mill/source/oiio/worker.h): an encoder that crashes or calls exit()
 * costs the picture only. UNSUPPORTED when no format has that extension or OpenImageIO is missing. */
txm_status txm_picture_encode_bytes(const char *name, const txm_picture *picture, txm_bytes *out, txm_error *err);
#endif
