/* SPDX-License-Identifier: Apache-2.0
 *
 * The zlib stream inside a PNG's IDAT chunks, inflated piece by piece.
 *
 * A PNG's pixels are one zlib stream cut into chunks of any length. It is read as rows are asked for: no image
 * is ever whole in memory. Checksums are verified along the way; a file that was cut or changed gets the same
 * verdict as from libpng.
 */
#ifndef TXM_SOURCE_PNG_IDAT_H
#define TXM_SOURCE_PNG_IDAT_H
#include <isa-l/igzip_lib.h>

#include "mill/source/raster_file.h"

typedef struct txm_png_idat {
    txm_raster_file *file;
    uint64_t start;       /* file offset of the first IDAT chunk's data */
    uint32_t start_bytes; /* length of that chunk */
    uint32_t left;        /* bytes of the current chunk that the CRC has not seen */
    uint32_t crc;         /* over the current chunk's type and the bytes seen */
    bool starved;         /* the inflater has used all its input */
    bool ended;           /* the zlib stream is complete and its checksum right */
    txm_status status;    /* of the first failure; it stays */
    const char *reason;   /* the message that goes with it */
    struct inflate_state state;
} txm_png_idat;

/* Starts, or starts again, at the first IDAT chunk. */
void txm_png_idat_begin(txm_png_idat *idat);

/* Inflates up to `bytes` bytes and returns how many there were: fewer only at the end of the stream or on a failure
 * (`status`, `reason`). */
size_t txm_png_idat_read(txm_png_idat *idat, uint8_t *dst, size_t bytes);

/* To be called when all pixels have come: checks what is left of the stream as libpng does. False on a failure. */
bool txm_png_idat_finish(txm_png_idat *idat);
#endif
