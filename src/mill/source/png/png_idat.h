/* SPDX-License-Identifier: Apache-2.0
 *
 * The zlib stream in a PNG's IDAT chunks, inflated piece by piece. A PNG's pixels are one zlib stream cut into chunks
 * of any length. It is read as rows are requested, so the image is never in memory as a whole. Checksums are verified
 * on the way; files that were truncated or changed are refused exactly if libpng refuses them.
 */
#ifndef TXM_SOURCE_PNG_IDAT_H
#define TXM_SOURCE_PNG_IDAT_H
#include <isa-l/igzip_lib.h>

#include "mill/source/raster_file.h"

typedef struct txm_png_idat {
    txm_raster_file *file;
    uint64_t start;       /* file offset of the first IDAT chunk's data */
    uint32_t start_bytes; /* length of that chunk */
    uint32_t left;        /* bytes of the current chunk that the CRC does not include yet */
    uint32_t crc;         /* CRC of the current chunk's type and the bytes read so far */
    bool starved;         /* the inflater has used all its input */
    bool ended;           /* the zlib stream is complete and its checksum correct */
    txm_status status;    /* the first failure, which is kept */
    const char *reason;   /* its message */
    struct inflate_state state;
} txm_png_idat;

void txm_png_idat_begin(txm_png_idat *idat);

/* Inflates up to `bytes` bytes and returns their number: fewer only at the end of the stream or on a failure (`status`,
 * `reason`). */
size_t txm_png_idat_read(txm_png_idat *idat, uint8_t *dst, size_t bytes);

/* Called after all pixels were read: checks the rest of the stream as libpng does. false on a failure. */
bool txm_png_idat_finish(txm_png_idat *idat);
#endif
