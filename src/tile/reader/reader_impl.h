/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the tx reader share. A txm_tx is immutable after opening, but for the pool of scratch memory and
 * figures that are computed on first demand; both are safe from any thread.
 *
 * Everything that is read from the file is read from one read-only map of it, and only inside bounds that were compared
 * with the map's size first. Tile tables stay where they are in the map: nothing is allocated a tile.
 */
#ifndef TXM_READER_READER_IMPL_H
#define TXM_READER_READER_IMPL_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tile/base/bytes.h"
#include "tile/base/endian.h"
#include "tile/base/file_map.h"
#include "tile/base/shared.h"
#include "tile/reader/acceptance.h"
#include "tile/reader/container.h"
#include "txtile/reader.h"

/* The outcome of a call that read from the map: `status`, unless what it read was not the file's. Every public function
 * calls txm_tx_check before it reads, so that a file that is short already costs no signal, and this afterwards. */
txm_status txm_tx_settle(const txm_tx *tx, txm_status status, txm_error *err);

/* ---- levels and tiles ---------------------------------------------------------------------------------------- */

/* The encoded bytes of one tile, inside the map; they are not looked at before txm_tile_decode has seen to it that they
 * are there. */
typedef struct txm_span {
    const uint8_t *data;
    size_t bytes;
} txm_span;

typedef struct txm_reader_level {
    txm_tx_level shape;
    const uint8_t *offsets; /* table of tile offsets in the map: TIFF tag 324, or this level's part of the EXR one */
    const uint8_t *counts;  /* TIFF: table of encoded sizes, tag 325 */
    uint8_t offset_bytes, count_bytes; /* TIFF: width of their entries */
    uint16_t compression, predictor;   /* TIFF: tags 259 and 317, which may differ from level to level */
    uint64_t first_tile;               /* index of its first tile, counted over all levels */
} txm_reader_level;

/* Address and valid size of one tile. */
typedef struct txm_tile_id {
    uint32_t level, x, y;
    uint32_t w, h; /* px that exist: smaller than the tile at the right and bottom edge */
} txm_tile_id;

/* Decoded pixels inside a scratch object: channels interleaved, rows `stride` bytes apart. */
typedef struct txm_pixels {
    const uint8_t *data;
    size_t stride;
} txm_pixels;

struct txm_scratch;

/* Opens a file for its outline: size, tiles, levels and metadata, whatever its samples are. Nothing else may be asked
 * of it. UNSUPPORTED for what has no tiles, or a codec that Blender's libraries lack. */
txm_status txm_tx_open_outline(const char *path, txm_tx **out, txm_error *err);

/* As txm_tx_open, of an open file; `path` is its name in messages. The descriptor stays the caller's. */
TXM_SHARED txm_status txm_tx_open_fd(int fd, const char *path, txm_tx **out, txm_error *err);

struct txm_image_part;

/* What containers do differently. None of them trusts the file. NULL where a container has nothing to do. */
typedef struct txm_container_reader {
    /* Recognises and parses; *is is false when the first bytes are those of another container, and errors are only
     * about those of its own. Fills in info, levels and metadata. */
    txm_status (*open)(txm_tx *tx, bool *is, txm_error *err);
    /* Where a tile's encoded bytes are. */
    txm_status (*find)(const txm_tx *tx, const txm_tile_id *tile, txm_span *out, txm_error *err);
    /* Decodes them into scratch memory. */
    txm_status (*decode)(const txm_tx *tx, const txm_tile_id *tile, const txm_span *span, struct txm_scratch *scratch,
                         txm_pixels *out, txm_error *err);
    /* Where the image ends: what follows in the file is no part of it. At most the file's size. */
    uint64_t (*image_end)(const txm_tx *tx);
    /* Adds what identity.h says to the hash. At least eight bytes are there; false if they are another container's, or
     * the image ends within its header. */
    bool (*identify)(const struct txm_image_part *part);
    /* Whether values lie outside of the file, so that it was cut short, although tiles may be whole. */
    bool (*has_lost_values)(const txm_tx *tx);
    /* Sums the sizes of tiles that opening has not read, and sets `sized`. */
    void (*measure)(txm_tx *tx);
    /* Frees what it keeps beside the file, and how many bytes that is. */
    void (*release)(txm_tx *tx);
    uint64_t (*own_bytes)(const txm_tx *tx);
    txm_opening opening; /* as what Cycles opens one that is a pyramid, but not a tx file */
} txm_container_reader;

#define TXM_CONTAINER_READER(name, prefix, word, title, floats)                                                        \
    extern const txm_container_reader txm_tx_##prefix##_reader;
TXM_CONTAINER_TABLE(TXM_CONTAINER_READER)
#undef TXM_CONTAINER_READER
#define TXM_CONTAINER_COUNT(name, prefix, word, title, floats) +1
enum { TXM_CONTAINERS = 0 TXM_CONTAINER_TABLE(TXM_CONTAINER_COUNT) };
#undef TXM_CONTAINER_COUNT

/* By txm_container. */
extern const txm_container_reader *const txm_container_readers[TXM_CONTAINERS];

/* ---- copying pixels into the caller's buffer, where they may stand further apart than they are wide -------------- */

/* Copies `count` pixels between places where they stand dst_step and src_step bytes apart. A size that is known when
 * compiling makes a copy a load and a store: hence a loop for each usual one. */
static inline void txm_copy_pixels(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step, size_t count,
                                   size_t pixel_bytes)
{
#define TXM_COPY_LOOP(BYTES)                                                                                           \
    for (size_t i = 0; i < count; i++, dst += dst_step, src += src_step)                                               \
    memcpy(dst, src, BYTES)
    switch (pixel_bytes) {
    case 1:
        TXM_COPY_LOOP(1);
        break;
    case 4:
        TXM_COPY_LOOP(4);
        break;
    case 8:
        TXM_COPY_LOOP(8);
        break;
    case 16:
        TXM_COPY_LOOP(16);
        break;
    default:
        TXM_COPY_LOOP(pixel_bytes);
        break;
    }
#undef TXM_COPY_LOOP
}

typedef struct txm_window {
    uint8_t *data; /* its pixel (0, 0) */
    size_t pixel_stride, row_stride, pixel_bytes;
} txm_window;

static inline uint8_t *txm_window_at(const txm_window *window, uint32_t x, uint32_t y)
{
    return window->data + y * window->row_stride + x * window->pixel_stride;
}

/* Copies `count` tight pixels to (x, y) .. (x + count - 1, y). */
static inline void txm_window_put_row(const txm_window *window, uint32_t x, uint32_t y, const uint8_t *src,
                                      uint32_t count)
{
    uint8_t *dst = txm_window_at(window, x, y);
    if (window->pixel_stride == window->pixel_bytes) {
        memcpy(dst, src, count * window->pixel_bytes);
        return;
    }
    txm_copy_pixels(dst, window->pixel_stride, src, window->pixel_bytes, count, window->pixel_bytes);
}

/* Copies w x h pixels, rows src_stride bytes apart, to the rectangle at (x, y). */
static inline void txm_window_put(const txm_window *window, uint32_t x, uint32_t y, const uint8_t *src,
                                  size_t src_stride, uint32_t w, uint32_t h)
{
    for (uint32_t row = 0; row < h; row++)
        txm_window_put_row(window, x, y + row, src + row * src_stride, w);
}

/* Clears w x h pixels. */
static inline void txm_window_clear(const txm_window *window, uint32_t x, uint32_t y, uint32_t w, uint32_t h)
{
    for (uint32_t row = y; row < y + h; row++)
        for (uint32_t i = 0; i < w; i++)
            memset(txm_window_at(window, x + i, row), 0, window->pixel_bytes);
}

/* ---- scratch memory ------------------------------------------------------------------------------------------ */

struct inflate_state;
struct txm_parts;
struct ZSTD_DCtx_s;

/* One reading thread's memory. Each buffer holds a whole tile: TXM_MAX_TILE_PX squared pixels of 16 bytes (16 MiB) at
 * most, 16 KiB for Blender's tiles. Buffers are made on first use and kept until the file is closed. */
typedef struct txm_scratch {
    struct txm_scratch *next;
    struct inflate_state *inflate;
    struct txm_parts *parts;
    struct ZSTD_DCtx_s *zstd;
    uint8_t *raw;             /* as it comes out of the codec */
    uint8_t *tile;            /* after predictors and reordering, where that cannot be done in place */
    uint8_t *border;          /* a border, encoded and decoded */
    uint8_t *input, *payload; /* of files that are not mapped: what was read of a tile, and of its border */
    void *exr_chunk;          /* OpenEXRCore's pipeline, for its rarer codecs */
} txm_scratch;

/* Takes a scratch object from the file's pool; NULL when memory is exhausted. */
txm_scratch *txm_scratch_take(txm_tx *tx);
void txm_scratch_give(txm_tx *tx, txm_scratch *scratch);
void txm_scratch_free_all(txm_tx *tx);
/* Makes sure that *buffer holds a tile (and slack for vector stores past its end). */
txm_status txm_scratch_need(const txm_tx *tx, uint8_t **buffer, txm_error *err);

/* Whether a stream may consist of several parts (tile/decode/inflate_parts.h). */
typedef enum txm_zlib_kind { TXM_ZLIB_PLAIN, TXM_ZLIB_PARTS } txm_zlib_kind;

/* Inflates a zlib stream that gives exactly dst_bytes bytes; *ok is false if it is damaged. Data after the stream is
 * ignored, as libtiff does. */
txm_status txm_inflate(const txm_span *span, txm_zlib_kind kind, txm_scratch *scratch, uint8_t *dst, size_t dst_bytes,
                       bool *ok, txm_error *err);

/* ---- metadata ------------------------------------------------------------------------------------------------ */

enum {
    TXM_METADATA_MAX_BYTES = 512 << 10, /* of text kept from one file; more is left out */
    TXM_METADATA_MAX_ENTRIES = 4096
};

/* Entries as offsets of NUL-terminated strings in `text`. */
typedef struct txm_metadata {
    txm_bytes text;
    struct {
        uint32_t name, value;
    } * entries;
    size_t count, capacity;
} txm_metadata;

/* Adds an entry; one that does not fit the bounds above is left out. `value` ends at value_bytes or at its first NUL.
 * Control characters other than tab and newline become '?', so that printing an entry is harmless. False when memory is
 * exhausted. */
bool txm_metadata_add(txm_metadata *metadata, const char *name, const char *value, size_t value_bytes);
/* Adds the `name=value` words of an image description as entries. A value ends at white space, or is in double
 * quotes with a backslash in front of each quote and backslash inside. */
bool txm_metadata_add_words(txm_metadata *metadata, const char *text, size_t text_bytes);
void txm_metadata_free(txm_metadata *metadata);

/* ---- the file ------------------------------------------------------------------------------------------------ */

struct txm_exr_core;
struct txm_section;

struct txm_tx {
    char *path;
    txm_map map;
    txm_tx_info info;
    size_t pixel_bytes;
    txm_reader_level levels[TXM_MAX_LEVELS];
    const txm_container_reader *ops;
    txm_metadata metadata;
    bool swap;                               /* TIFF: big-endian file */
    bool outline;                            /* opened for that alone */
    bool foreign;                            /* TIFF: a codec that the official Blender's libtiff lacks */
    uint32_t odd_width, odd_height;          /* TIFF: of what Cycles takes for the next level, and is none; or 0 */
    const char *hidden_levels;               /* why OpenImageIO does not see the levels; NULL: it does */
    uint8_t exr_compression;                 /* EXR: number of the codec */
    uint8_t exr_slot[TXM_MAX_CHANNELS];      /* EXR: which channel of the pixel the n-th stored plane is */
    uint32_t header_bytes;                   /* EXR: up to the end of the header */
    _Atomic(struct txm_exr_core *) exr_core; /* OpenEXRCore's view of the file, made on first use */
    struct txm_section *section;             /* NULL unless a valid border section was found */
    pthread_mutex_t lock;                    /* guards what follows */
    txm_scratch *scratch;                    /* free scratch objects */
    atomic_bool sized;                       /* EXR: encoded_bytes of the levels are known */
};

/* describe.c: what the metadata say of the stored numbers. */
txm_encoding txm_tx_read_encoding(const txm_tx *tx);
/* OpenEXRCore's part of a scratch object, and what it takes. */
void txm_exr_chunk_free(txm_scratch *scratch);
uint64_t txm_exr_chunk_bytes(const txm_scratch *scratch);

/* Checks type, channels, sizes and tile against the limits of the reader, and fills the shape of `level` (in order from
 * 0). The tile size must be in info already. */
txm_status txm_reader_add_level(txm_tx *tx, uint32_t level, uint32_t width, uint32_t height, txm_error *err);

/* The tile at (x, y), or USAGE. */
txm_status txm_tile_at(const txm_tx *tx, uint32_t level, uint32_t x, uint32_t y, txm_tile_id *out, txm_error *err);

/* Finds and decodes a tile; errors name file, level and tile. */
txm_status txm_tile_decode(const txm_tx *tx, const txm_tile_id *tile, txm_scratch *scratch, txm_pixels *out,
                           txm_error *err);

#endif
