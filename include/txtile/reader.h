/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading tx files: levels, plain tiles, and padded tiles for texture sampling.
 *
 * Reads what txmill, Blender and OpenImageIO's maketx write: tiled TIFF (zip, LZW, zstd, PackBits, none; u8, u16, half,
 * float; 1 to 4 channels) and tiled EXR (zip, zips, PIZ, RLE, none, PXR24, B44; half, float). Files are memory-mapped.
 * Headers, offsets and sizes are checked before use, so that a hostile file causes an error and takes no more memory
 * than stated here: that of txm_tx_open, and 128 MiB for each thread that reads tiles at the same time (200 KiB with
 * Blender's tiles).
 *
 * A file should not be truncated in place while it is open: replace tx files by renaming, as every writer of tx files
 * does. Each call checks whether the file became shorter, and returns CHANGED if so. Truncation during a call, and a
 * disk or server that fails, raise SIGBUS, as for every memory map. The library installs no handler; in a program whose
 * handler calls txm_tx_catch_fault, only the calls on that file fail.
 *
 * NULL: as in status.h; members of txm_tx_request that may be NULL say so, and txm_tx_catch_fault takes any address.
 * txm_tx_level_of and txm_tx_metadata_of return NULL for levels and entries that the file lacks.
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

/* An open tx file, mapped into memory, whose headers have been checked. */
typedef struct txm_tx txm_tx;

/* The widest padding that txm_tx_read_tile adds. */
enum { TXM_MAX_PADDING_PX = 8 };

/* "repeat", "extend", "clip", "mirror"; "unknown" for other values and for pairs, whose parts have names. */
TXM_API const char *txm_extension_name(txm_extension extension);

/* Maps a pixel coordinate `x`, -2^31 to 2^31, to the pixel of an edge of `size` px that the extension of this axis
 * shows there; -1 if that is black (CLIP, beyond the edges), and for pairs. */
TXM_API int64_t txm_extend(int64_t x, uint32_t size, txm_extension extension);

/* The file format. */
typedef enum txm_container { TXM_CONTAINER_TIFF = 0, TXM_CONTAINER_EXR } txm_container;

/* "TIFF", "OpenEXR". Never NULL. */
TXM_API const char *txm_container_name(txm_container container);

/* "tiff", "exr": as in reports. Never NULL. */
TXM_API const char *txm_container_word(txm_container container);

/* Whether a file has a border section, and whether it is usable. */
typedef enum txm_section_state {
    TXM_SECTION_STATE_NONE = 0, /* the file ends with the image part */
    TXM_SECTION_STATE_VALID,
    TXM_SECTION_STATE_STALE,   /* made for a different image part: ignored */
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

/* The encoding of stored colours, according to the file. */
typedef enum txm_encoding {
    TXM_ENCODING_UNKNOWN = 0, /* the file does not say: neither Blender nor txmill made it */
    TXM_ENCODING_LINEAR,      /* colours in the scene-linear working space */
    TXM_ENCODING_SRGB,        /* the same through the sRGB curve, except alpha: decode before use (TXM_AFTER_SRGB) */
    TXM_ENCODING_DATA         /* not colours, but normals, roughness and the like: used as they are */
} txm_encoding;

/* "unknown", "linear", "srgb", "data". Never NULL. */
TXM_API const char *txm_encoding_name(txm_encoding encoding);

/* The shape and format of a tx file. width and height are those of level 0; tiles have the same size in all levels. */
typedef struct txm_tx_info {
    txm_container container;
    uint32_t width, height, levels, tile_w, tile_h;
    uint32_t channels; /* number of stored channels */
    txm_type type;
    char compression[16];             /* "zip", "zips", "lzw", "piz", "rle", "packbits", "zstd", "none" */
    uint64_t file_bytes, image_bytes; /* the whole file; without a border section */
    txm_section_state section;
    uint64_t section_bytes;
    char section_reason[160]; /* why the section is ignored; "" otherwise */
    txm_encoding encoding;
} txm_tx_info;

/* Opens a tx file, to look into it: its access time stays, where its owner opens it. Allocates at most 1 MiB plus 64
 * bytes per tile; the size of the file bounds the number of tiles. CORRUPT, UNSUPPORTED, NOT_FOUND, DENIED,
 * IO, NO_MEMORY. */
TXM_API txm_status txm_tx_open(const char *path, txm_tx **out, txm_error *err);
TXM_API void txm_tx_close(txm_tx **tx); /* NULL-safe; sets *tx to NULL */

/* To be called by the program's SIGBUS handler (SA_SIGINFO) with si_addr of a signal whose si_code is positive. Returns
 * true if the address is in an open tx file: the read that faulted then continues over zeros when the handler returns,
 * and its call and all later ones on that txm_tx fail, with CHANGED if the file became shorter, else with IO. Returns
 * false if the fault has another cause. Async-signal-safe. */
TXM_API bool txm_tx_catch_fault(void *address);

/* Checks that the file is as long as when it was opened and that no read of it faulted: CHANGED, IO. To be called after
 * functions that return no status, to know whether their results are valid. */
TXM_API txm_status txm_tx_check(const txm_tx *tx, txm_error *err);

/* The file's shape and format, and one of its levels; valid until the file is closed. */
TXM_API const txm_tx_info *txm_tx_info_of(const txm_tx *tx);
TXM_API const txm_tx_level *txm_tx_level_of(const txm_tx *tx, uint32_t level); /* NULL beyond the last */

/* A metadata entry as text, for example "Software", "DocumentName", "oiio:SHA-1", "oiio:AverageColor" or
 * "blender:SourceFile"; NULL if absent. TIFF tags have the names that libtiff gives them, EXR attributes their own, and
 * each `name=value` pair of a TIFF ImageDescription is an entry. */
TXM_API const char *txm_tx_metadata_of(const txm_tx *tx, const char *name);

/* The entry at an index; false beyond the last. */
TXM_API bool txm_tx_metadata_at(const txm_tx *tx, size_t index, const char **name, const char **value);

/* The encoded size of one tile in bytes; 0 for a tile outside the grid. */
TXM_API uint64_t txm_tx_tile_bytes(const txm_tx *tx, uint32_t level, uint32_t tile_x, uint32_t tile_y);

/* A tile to read, and where its pixels go. */
typedef struct txm_tx_request {
    size_t struct_size; /* set by txm_tx_request_init */
    uint32_t level, tile_x, tile_y;
    uint32_t padding_px;       /* padding on each side, 0 to TXM_MAX_PADDING_PX */
    txm_extension extension;   /* what the padding holds beyond the edges of the image */
    void *pixels;              /* receives the pixel at (x, y) of the window at y * row_stride + x * pixel_stride */
    size_t pixel_stride_bytes; /* 0: pixels are contiguous */
    size_t row_stride_bytes;   /* 0: rows of tile_w + 2 padding_px pixels are contiguous, for edge tiles too */
    uint32_t *width, *height; /* receive the size of the tile without padding, px: smaller at the right and bottom edge;
                                 may be NULL */
} txm_tx_request;

/* Initialises a request to the first tile of level 0 without padding; `pixels` must then be set. */
static inline void txm_tx_request_init(txm_tx_request *request)
{
    memset(request, 0, sizeof *request);
    request->struct_size = sizeof *request;
}

/* Decodes the pixels of a tile with padding, channels interleaved. The result is the window [x0 - p, x0 + w + p) x [y0
 * - p, y0 + h + p) of the level, extended to the plane by `extension`. Padding of up to 2 px is read from the border
 * section if that is valid; else, and where a border's checksum fails, it is gathered from the neighbouring tiles,
 * which gives the same bits. If a neighbour that is needed is damaged, the call fails and the content of the window is
 * undefined. USAGE for a request that was not initialised, a tile outside the grid, or a padding or extension out of
 * range; CORRUPT, UNSUPPORTED, CHANGED, IO, NO_MEMORY. */
TXM_API txm_status txm_tx_read_tile(txm_tx *tx, const txm_tx_request *request, txm_error *err);

/* Compares the section's border of one tile with the one gathered from its neighbours. CORRUPT if it is damaged or has
 * other pixels, USAGE if the file has no valid section. TXM_OK for a border that the section omits to save space. */
TXM_API txm_status txm_tx_check_border(txm_tx *tx, uint32_t level, uint32_t tile_x, uint32_t tile_y, txm_error *err);

/* Whether the border section holds exactly `border` around a tile. The border is 2 px wide and tightly packed: two rows
 * of w + 4 px above the tile, then for each row of the tile two px on its left and two on its right, then two rows
 * below. `pixels` are the tile's own, rows stride_bytes apart. Also false if there is no section, or it omits the tile
 * or is damaged there; txm_tx_check_border says which. */
TXM_API bool txm_tx_border_is(txm_tx *tx, uint32_t level, uint32_t tile_x, uint32_t tile_y, const void *pixels,
                              size_t stride_bytes, const void *border);

/* The offset at which the image part ends, at most the file's size. A border section, or the rest of one, follows it.
 */
TXM_API uint64_t txm_tx_image_end(const txm_tx *tx);

/* Whether metadata of a TIFF lies beyond the end of the file, which was then truncated even if it has all its pixels.
 */
TXM_API bool txm_tx_lost_metadata(const txm_tx *tx);

/* Whether Cycles accepts the file as a native tx file; if not, `reason` (of reason_bytes bytes) says why. */
TXM_API bool txm_tx_cycles_accepts(const txm_tx *tx, char *reason, size_t reason_bytes);

#ifdef __cplusplus
}
#endif
#endif
