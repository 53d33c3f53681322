/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations shared by the parts of the tx reader. A txm_tx is immutable after opening, except for its pool of
 * scratch memory and figures that are computed on first use; both are safe from any thread.
 *
 * The whole file is read through one read-only map, and only inside bounds that were compared with the map's size. Tile
 * tables are used directly in the map, so nothing is allocated per tile.
 */
#ifndef TXM_READER_READER_IMPL_H
#define TXM_READER_READER_IMPL_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/shared.h"
#include "tile/reader/acceptance.h"
#include "tile/reader/container.h"
#include "tile/terms/file_map.h"
#include "txtile/reader.h"

/* The outcome of a call that read from the map: `status`, or an error if a page of the file was lost. Every public
 * function calls txm_tx_check before it reads, so that a file that is already too short raises no signal, and this
 * function afterwards. */
txm_status txm_tx_settle(const txm_tx *tx, txm_status status, txm_error *err);

/* ---- levels and tiles ---------------------------------------------------------------------------------------- */

/* The encoded bytes of one tile, inside the map; txm_tile_decode checks that they can be read before it uses them. */
typedef struct txm_span {
    const uint8_t *data;
    size_t bytes;
} txm_span;

typedef struct txm_reader_level {
    txm_tx_level shape;
    const uint8_t *offsets; /* table of tile offsets in the map: TIFF tag 324, or this level's part of EXR's table */
    const uint8_t *counts;  /* TIFF: table of encoded sizes, tag 325 */
    uint8_t offset_bytes, count_bytes; /* TIFF: width of their entries */
    uint16_t compression, predictor;   /* TIFF: tags 259 and 317, which may differ between levels */
    uint8_t bits;                      /* TIFF: bits of a stored sample, at most those of its type */
    uint64_t first_tile;               /* index of its first tile, counted through all levels */
} txm_reader_level;

/* Address and valid size of one tile. */
typedef struct txm_tile_id {
    uint32_t level, x, y;
    uint32_t w, h; /* px that exist: smaller than the tile at the right and bottom edges */
} txm_tile_id;

/* Decoded pixels inside a scratch object: channels interleaved, rows `stride` bytes apart. */
typedef struct txm_pixels {
    const uint8_t *data;
    size_t stride;
} txm_pixels;

struct txm_scratch;

/* Opens a file for its outline (size, tiles, levels and metadata), whatever its samples are. No other call may be made
 * on it. UNSUPPORTED for files without tiles, or with a codec that Blender's libraries lack. */
txm_status txm_tx_open_outline(const char *path, txm_tx **out, txm_error *err);

/* Opens a descriptor like txm_tx_open; `path` is its name in messages. The caller keeps the descriptor. */
TXM_SHARED txm_status txm_tx_open_fd(int fd, const char *path, txm_tx **out, txm_error *err);

struct txm_image_part;

/* The operations that differ between containers. None of them trusts the file. A pointer is NULL if the container has
 * nothing to do. */
typedef struct txm_container_reader {
    /* Recognises and parses the file and fills in info, levels and metadata. *is is false if the first bytes are those
     * of another container; errors are reported only for its own. */
    txm_status (*open)(txm_tx *tx, bool *is, txm_error *err);
    /* Finds the encoded bytes of a tile. */
    txm_status (*find)(const txm_tx *tx, const txm_tile_id *tile, txm_span *out, txm_error *err);
    /* Decodes them into scratch memory. */
    txm_status (*decode)(const txm_tx *tx, const txm_tile_id *tile, const txm_span *span, struct txm_scratch *scratch,
                         txm_pixels *out, txm_error *err);
    /* The end of the image; bytes of the file after it do not belong to it. At most the file's size. */
    uint64_t (*image_end)(const txm_tx *tx);
    /* Adds the bytes that identity.h lists to the hash. At least eight bytes are available. False if they belong to
     * another container, or the image ends within its header. */
    bool (*identify)(const struct txm_image_part *part);
    /* Whether values are outside the file, so that it was cut short although its tiles may be complete. */
    bool (*has_lost_values)(const txm_tx *tx);
    /* Sums the sizes of tiles, which opening has not read, and sets `sized`. */
    void (*measure)(txm_tx *tx);
    /* Frees the memory that it keeps in addition to the file, and returns how many bytes that is. */
    void (*release)(txm_tx *tx);
    uint64_t (*own_bytes)(const txm_tx *tx);
    txm_opening opening; /* how Cycles opens a file that is a pyramid, but not a tx file */
} txm_container_reader;

#define TXM_CONTAINER_READER(name, prefix, word, title, floats)                                                        \
    extern const txm_container_reader txm_tx_##prefix##_reader;
TXM_CONTAINER_TABLE(TXM_CONTAINER_READER)
#undef TXM_CONTAINER_READER
#define TXM_CONTAINER_COUNT(name, prefix, word, title, floats) +1
enum { TXM_CONTAINERS = 0 TXM_CONTAINER_TABLE(TXM_CONTAINER_COUNT) };
#undef TXM_CONTAINER_COUNT

/* It is indexed by txm_container. */
extern const txm_container_reader *const txm_container_readers[TXM_CONTAINERS];

/* ---- copying pixels into the caller's buffer, which may have gaps ------------------------------------------------ */

/* Copies `count` pixels between places that are dst_step and src_step bytes apart. If the size is known at compile
 * time, each copy is a load and a store, so the usual sizes have their own loops. */
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
    uint8_t *data; /* the pixel at (0, 0) */
    size_t pixel_stride, row_stride, pixel_bytes;
} txm_window;

static inline uint8_t *txm_window_at(const txm_window *window, uint32_t x, uint32_t y)
{
    return window->data + y * window->row_stride + x * window->pixel_stride;
}

/* Copies `count` contiguous pixels to (x, y) .. (x + count - 1, y). */
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

/* Copies w x h pixels, whose rows are src_stride bytes apart, to the rectangle at (x, y). */
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

/* The memory of one reading thread. Each buffer holds a whole tile: at most TXM_MAX_TILE_PX squared pixels of 16 bytes
 * (16 MiB), and 16 KiB for Blender's tiles. Buffers are allocated on first use and kept until the file is closed. */
typedef struct txm_scratch {
    struct txm_scratch *next;
    struct inflate_state *inflate;
    struct txm_parts *parts;
    struct ZSTD_DCtx_s *zstd;
    uint8_t *raw;             /* the output of the codec */
    uint8_t *tile;            /* after predictors and reordering, if that cannot be done in place */
    uint8_t *border;          /* a border, encoded and decoded */
    uint8_t *input, *payload; /* the bytes of a tile and of its border, if the file is not mapped */
    void *exr_chunk;          /* OpenEXRCore's pipeline for its rarer codecs */
} txm_scratch;

/* Takes a scratch object from the file's pool; NULL when memory is exhausted. */
txm_scratch *txm_scratch_take(txm_tx *tx);
void txm_scratch_give(txm_tx *tx, txm_scratch *scratch);
void txm_scratch_free_all(txm_tx *tx);
/* Makes sure that *buffer has room for a tile (with slack for vector stores past its end). */
txm_status txm_scratch_need(const txm_tx *tx, uint8_t **buffer, txm_error *err);

/* Whether a stream may consist of several parts (tile/decode/inflate_parts.h). */
typedef enum txm_zlib_kind { TXM_ZLIB_PLAIN, TXM_ZLIB_PARTS } txm_zlib_kind;

/* Inflates a zlib stream that decodes to exactly dst_bytes bytes; *ok is false if it is damaged. Data after the stream
 * is ignored, as in libtiff. */
txm_status txm_inflate(const txm_span *span, txm_zlib_kind kind, txm_scratch *scratch, uint8_t *dst, size_t dst_bytes,
                       bool *ok, txm_error *err);

/* ---- metadata ------------------------------------------------------------------------------------------------ */

enum {
    TXM_METADATA_MAX_BYTES = 512 << 10, /* limit of the text kept from one file; the rest is dropped */
    TXM_METADATA_MAX_ENTRIES = 4096
};

/* Entries as offsets of NUL-terminated strings in `text`. */
typedef struct txm_metadata {
    txm_bytes text;
    struct {
        uint32_t name, value;
        bool word; /* of an image description */
    } * entries;
    size_t count, capacity;
} txm_metadata;

/* Adds an entry; one that exceeds the limits above is dropped. `value` ends at value_bytes or at its first NUL. Control
 * characters other than tab and newline become '?', so that an entry can be printed safely. False when memory is
 * exhausted. */
bool txm_metadata_add(txm_metadata *metadata, const char *name, const char *value, size_t value_bytes);
/* Adds the `name=value` words of an image description as entries. A value ends at white space, or is in double quotes,
 * in which quotes and backslashes are escaped by a backslash. */
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
    bool swap;    /* TIFF: big-endian file */
    bool outline; /* opened for its outline only */
    bool foreign; /* TIFF: a codec that the official Blender's libtiff lacks */
    uint32_t odd_width,
        odd_height; /* TIFF: size of the directory that Cycles takes for the next level by mistake; 0: none */
    const char *hidden_levels;               /* the reason why OpenImageIO does not see the levels; NULL: it does */
    uint8_t exr_compression;                 /* EXR: number of the codec */
    uint8_t exr_slot[TXM_MAX_CHANNELS];      /* EXR: the channel of the pixel that the n-th stored plane belongs to */
    uint32_t header_bytes;                   /* EXR: offset of the end of the header */
    _Atomic(struct txm_exr_core *) exr_core; /* OpenEXRCore's context for the file, created on first use */
    struct txm_section *section;             /* NULL unless a valid border section was found */
    pthread_mutex_t lock;                    /* protects the members below */
    txm_scratch *scratch;                    /* free scratch objects */
    atomic_bool sized;                       /* EXR: encoded_bytes of the levels are known */
};

/* Returns the encoding of the stored numbers according to the metadata (describe.c). */
txm_encoding txm_tx_read_encoding(const txm_tx *tx);
/* OpenEXRCore's part of a scratch object, and its size in bytes. */
void txm_exr_chunk_free(txm_scratch *scratch);
uint64_t txm_exr_chunk_bytes(const txm_scratch *scratch);

/* Checks type, channels, sizes and tile against the limits of the reader, and fills in the shape of `level` (in order
 * from 0). The tile size must be in info already. */
txm_status txm_reader_add_level(txm_tx *tx, uint32_t level, uint32_t width, uint32_t height, txm_error *err);

/* The tile at (x, y); USAGE if it does not exist. */
txm_status txm_tile_at(const txm_tx *tx, uint32_t level, uint32_t x, uint32_t y, txm_tile_id *out, txm_error *err);

/* Finds and decodes a tile; errors name the file, the level and the tile. */
txm_status txm_tile_decode(const txm_tx *tx, const txm_tile_id *tile, txm_scratch *scratch, txm_pixels *out,
                           txm_error *err);

#endif
