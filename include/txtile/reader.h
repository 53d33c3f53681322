/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading tx files: levels, plain tiles, and padded tiles for texture sampling.
 *
 * Reads what txmill, Blender and OpenImageIO's maketx write: tiled TIFF (zip, LZW, zstd, PackBits, none; u8, u16, half,
 * float; 1 to 4 channels) and tiled EXR (zip, zips, PIZ, RLE, none, PXR24, B44; half, float). Files are memory-mapped;
 * headers, offsets and sizes are checked before use, so a hostile file costs an error, never more memory than the
 * bounds stated here: that of txm_tx_open, and 128 MiB for each thread that reads tiles at the same time (200 KiB with
 * Blender's tiles).
 *
 * A file should not be cut short in place while it is open: replace tx files by renaming, as every tx writer does. Each
 * call looks whether the file became shorter and answers CHANGED then. A cut in the middle of a call, and a disk or
 * server that fails, raise SIGBUS, as for every memory map. The library installs no handler; a program whose handler
 * calls txm_tx_catch_fault loses the file and nothing else.
 *
 * NULL: as status.h says; members of txm_tx_request that may be NULL say so, and any address may be asked about with
 * txm_tx_catch_fault. txm_tx_level_of and txm_tx_metadata_of answer NULL for what is not there.
 *
 * Thread safety: one txm_tx may be read from any number of threads at once.
 */
#ifndef TXTILE_READER_H
#define TXTILE_READER_H

#include <string.h>

#include "txtile/export.h"
#include "txtile/pixel.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tx file that is open: mapped, its headers checked. */
typedef struct txm_tx txm_tx;

/* The widest padding that txm_tx_read_tile makes. */
enum { TXM_MAX_PADDING_PX = 8 };

/* "repeat", "extend", "clip", "mirror". Never NULL. */
TXM_API const char *txm_extension_name(txm_extension extension);

/* The place in an edge of `size` px that the place `x`, -2^31 to 2^31, stands for under the extension; -1 for a black
 * one (CLIP, beyond the edges). */
TXM_API int64_t txm_extend(int64_t x, uint32_t size, txm_extension extension);

/* The file format. */
typedef enum txm_container { TXM_CONTAINER_TIFF = 0, TXM_CONTAINER_EXR } txm_container;

/* "TIFF", "OpenEXR". Never NULL. */
TXM_API const char *txm_container_name(txm_container container);

/* "tiff", "exr": as in reports. Never NULL. */
TXM_API const char *txm_container_word(txm_container container);

/* Whether a file has a border section that is of use. */
typedef enum txm_section_state {
    TXM_SECTION_STATE_NONE = 0, /* the file ends with the image part */
    TXM_SECTION_STATE_VALID,
    TXM_SECTION_STATE_STALE,   /* made for another image part: ignored */
    TXM_SECTION_STATE_DAMAGED, /* truncated or failed a checksum: ignored */
    TXM_SECTION_STATE_NEWER    /* written by a newer version: ignored */
} txm_section_state;

/* "none", "valid", "stale", "damaged", "newer". Never NULL. */
TXM_API const char *txm_section_state_name(txm_section_state state);

/* The shape of one level. */
typedef struct txm_tx_level {
    uint32_t width, height;    /* px */
    uint32_t tiles_x, tiles_y; /* tile grid */
    uint64_t encoded_bytes;    /* sum over its tiles */
} txm_tx_level;

/* What the stored numbers mean, as the file says. */
typedef enum txm_encoding {
    TXM_ENCODING_UNKNOWN = 0, /* the file does not say: neither Blender nor txmill made it */
    TXM_ENCODING_LINEAR,      /* colours in the scene-linear working space */
    TXM_ENCODING_SRGB,        /* the same through the sRGB curve, alpha apart: decode before use (TXM_AFTER_SRGB) */
    TXM_ENCODING_DATA         /* no colours: normals, roughness; used as they are */
} txm_encoding;

/* "unknown", "linear", "srgb", "data". Never NULL. */
TXM_API const char *txm_encoding_name(txm_encoding encoding);

/* What a tx file holds. width and height are those of level 0; tiles have one size in all levels. */
typedef struct txm_tx_info {
    txm_container container;
    uint32_t width, height, levels, tile_w, tile_h;
    uint32_t channels; /* as stored */
    txm_type type;
    char compression[16];             /* "zip", "zips", "lzw", "piz", "rle", "packbits", "zstd", "none" */
    uint64_t file_bytes, image_bytes; /* the whole file; without a border section */
    txm_section_state section;
    uint64_t section_bytes;
    char section_reason[160]; /* why a section is not used, "" otherwise */
    txm_encoding encoding;
} txm_tx_info;

/* Opens a tx file. Allocates at most 64 bytes per tile that the file really can hold (its size bounds their number)
 * plus 1 MiB. CORRUPT, UNSUPPORTED, NOT_FOUND, DENIED, IO, NO_MEMORY. */
TXM_API txm_status txm_tx_open(const char *path, txm_tx **out, txm_error *err);
TXM_API void txm_tx_close(txm_tx **tx); /* NULL-safe; sets *tx to NULL */

/* For the program's SIGBUS handler (SA_SIGINFO), with si_addr of a signal whose si_code is positive: true if the
 * address is that of an open tx file. The read that faulted goes on when the handler returns, over zeros; its call and
 * all later ones of that txm_tx fail: CHANGED where the file became shorter, else IO. false: the fault is not this
 * library's.
 */
TXM_API bool txm_tx_catch_fault(void *address);

/* Whether the file is still as long as it was when it was opened, and all that was read of it is its own: CHANGED, IO.
 * For what functions without a status answered before. */
TXM_API txm_status txm_tx_check(const txm_tx *tx, txm_error *err);

/* What the file holds, and one of its levels: valid until it is closed. */
TXM_API const txm_tx_info *txm_tx_info_of(const txm_tx *tx);
TXM_API const txm_tx_level *txm_tx_level_of(const txm_tx *tx, uint32_t level); /* NULL beyond the last */

/* A metadata entry as text ("Software", "DocumentName", "oiio:SHA-1", "oiio:AverageColor", "blender:SourceFile" ...),
 * NULL if absent. TIFF tags carry the names of libtiff, EXR attributes their own, and the `name=value` pairs of a TIFF
 * ImageDescription are entries of their own. */
TXM_API const char *txm_tx_metadata_of(const txm_tx *tx, const char *name);

/* Walks all entries: false beyond the last. */
TXM_API bool txm_tx_metadata_at(const txm_tx *tx, size_t index, const char **name, const char **value);

/* Encoded bytes of one tile; 0 for places outside the grid. */
TXM_API uint64_t txm_tx_tile_bytes(const txm_tx *tx, uint32_t level, uint32_t tile_x, uint32_t tile_y);

/* A tile to read, and where its pixels go. */
typedef struct txm_tx_request {
    size_t struct_size; /* set by txm_tx_request_init */
    uint32_t level, tile_x, tile_y;
    uint32_t padding_px;       /* pixels all round, 0 to TXM_MAX_PADDING_PX */
    txm_extension extension;   /* what the padding holds beyond the edges of the image */
    void *pixels;              /* receives the pixel at (x, y) of the window at y * row_stride + x * pixel_stride */
    size_t pixel_stride_bytes; /* 0: pixels lie side by side */
    size_t row_stride_bytes;   /* 0: so do rows of (tile_w + 2 padding_px) pixels, also of a tile at the edge */
    uint32_t *width, *height;  /* receive the size of the tile's own part, px: less at the right and bottom edge; may
                                * be NULL */
} txm_tx_request;

/* Opens a request: the first tile of level 0, plain; where its pixels go is to be filled in. */
static inline void txm_tx_request_init(txm_tx_request *request)
{
    memset(request, 0, sizeof *request);
    request->struct_size = sizeof *request;
}

/* Decodes the valid pixels of a tile, channels interleaved, with padding by the full-image rule: window
 * [x0 - p, x0 + w + p) x [y0 - p, y0 + h + p) of the level extended to the plane by `extension`. Up to 2 px from the
 * border section where it is valid, else gathered from the neighbours: bit for bit the same. A border whose checksum
 * fails is gathered instead. When a neighbour is damaged the call fails, and the window's content is undefined. USAGE
 * for a request that was not opened, a tile that is not there, a padding or extension out of range; CORRUPT,
 * UNSUPPORTED, CHANGED, IO, NO_MEMORY. */
TXM_API txm_status txm_tx_read_tile(txm_tx *tx, const txm_tx_request *request, txm_error *err);

/* Compares the section's border of one tile with the one gathered from its neighbours. CORRUPT if it is damaged or
 * shows other pixels, USAGE if the file has no valid section. A border that the section leaves out to stay short is OK.
 */
TXM_API txm_status txm_tx_check_border(txm_tx *tx, uint32_t level, uint32_t tile_x, uint32_t tile_y, txm_error *err);

/* Whether the border section holds exactly `border` around a tile: 2 px all round, tight: two rows of w + 4 px above,
 * then for each row of the tile two px on its left and two on its right, then two rows below. `pixels`: the tile's own,
 * rows stride_bytes apart. false also where the section is none, lacks the tile or is damaged there:
 * txm_tx_check_border tells. */
TXM_API bool txm_tx_border_is(txm_tx *tx, uint32_t level, uint32_t tile_x, uint32_t tile_y, const void *pixels,
                              size_t stride_bytes, const void *border);

/* Where the image ends, at most the file's size: what follows is a border section, or what is left of one. */
TXM_API uint64_t txm_tx_image_end(const txm_tx *tx);

/* Whether metadata of a TIFF lies outside of the file: it was cut short, even if all its pixels are there. */
TXM_API bool txm_tx_lost_metadata(const txm_tx *tx);

/* Whether Cycles accepts the file as a native tx file; if not, `reason` (of reason_bytes bytes) says why. */
TXM_API bool txm_tx_cycles_accepts(const txm_tx *tx, char *reason, size_t reason_bytes);

#ifdef __cplusplus
}
#endif
#endif
