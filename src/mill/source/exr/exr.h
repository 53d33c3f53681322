/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations shared by the parts of the direct EXR reader: header (exr_header.c), rows (exr.c), chunks (exr_chunk.c,
 * with tile/decode/exr_decode.c).
 *
 * For many EXR files OpenImageIO delivers whole images only. This reader delivers rows as they are decoded, directly
 * into the caller's memory if possible. Files that it does not support (several parts, deep data, lossy compression)
 * are left to OpenImageIO; the samples are the same.
 */
#ifndef TXM_SOURCE_EXR_H
#define TXM_SOURCE_EXR_H
#include <openexr.h>

#include "mill/source/readers.h"
#include "mill/source/source_file.h"
#include "tile/reader/exr_channels.h"

struct libdeflate_decompressor;

typedef struct txm_exr {
    const char *path;
    exr_context_t context;
    txm_source_file file;
    char message[256]; /* OpenEXR's last message */
    bool no_memory;    /* OpenEXR has reported this at least once */

    /* Layout of the part. Chunks are blocks of whole rows (scanline parts) or tiles. */
    int32_t min_x, min_y;
    uint32_t width, height;
    uint32_t chunk_w, chunk_h; /* px of a whole chunk */
    bool tiled;
    exr_compression_t compression;
    uint32_t file_channels, channels, sample_bytes;
    /* order[i] is the channel of the file (stored by name) that becomes channel i. */
    uint32_t order[TXM_EXR_MAX_CHANNELS];

    /* One chunk: as stored, half decoded, and as rows of channels. */
    uint8_t *packed, *scratch, *planes;
    size_t chunk_bytes; /* size of each of the three */
    struct libdeflate_decompressor *inflater;
    exr_decode_pipeline_t pipeline; /* OpenEXR's, for PIZ only; it has no context until it is first used */

    /* A row of chunks that a caller requested in part: image rows [band_begin, band_end). */
    uint8_t *band;
    uint32_t band_begin, band_end;
} txm_exr;

/* OK unless reading failed or memory was exhausted; then this is the cause, whatever OpenEXR reports. */
txm_status txm_exr_cause(const txm_exr *x, txm_error *err);

/* Reads the header of the opened context into `x` and `info`. UNSUPPORTED for files that are left to OpenImageIO. */
txm_status txm_exr_describe(txm_exr *x, txm_source_info *info, txm_error *err);

/* Decodes the row of chunks that begins at image row `y`: the first `channels` channels of min(chunk_h, height - y)
 * rows to dst, interleaved. */
txm_status txm_exr_decode_rows(txm_exr *x, uint32_t y, uint8_t *dst, size_t stride_bytes, txm_error *err);

#endif
