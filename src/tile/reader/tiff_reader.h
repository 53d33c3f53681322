/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations shared by the TIFF parts of the reader: directories in the map (tiff_directory.c), levels
 * (tiff_reader.c), tiles (tiff_tile.c). No number from the file is trusted.
 */
#ifndef TXM_READER_TIFF_READER_H
#define TXM_READER_TIFF_READER_H
#include "base/shared.h"
#include "tile/reader/reader_impl.h"

/* Compression tag values. */
enum {
    TXM_TIFF_NONE = 1,
    TXM_TIFF_LZW = 5,
    TXM_TIFF_ZIP = 8,
    TXM_TIFF_ZIP_OLD = 32946,
    TXM_TIFF_PACKBITS = 32773,
    TXM_TIFF_ZSTD = 50000
};

/* Functions of txm_tx_tiff_reader. */
txm_status txm_tiff_find_tile(const txm_tx *tx, const txm_tile_id *tile, txm_span *out, txm_error *err);
txm_status txm_tiff_decode_tile(const txm_tx *tx, const txm_tile_id *tile, const txm_span *span, txm_scratch *scratch,
                                txm_pixels *out, txm_error *err);
/* Whether a directory points to a value outside the file, even if only texts are missing. */
bool txm_tiff_has_lost_values(const txm_tx *tx);

/* ---- directories ------------------------------------------------------------------------------------------------- */

enum {
    TXM_TAG_WIDTH = 256,
    TXM_TAG_HEIGHT = 257,
    TXM_TAG_BITS = 258,
    TXM_TAG_COMPRESSION = 259,
    TXM_TAG_PHOTOMETRIC = 262,
    TXM_TAG_FILL_ORDER = 266,
    TXM_TAG_IMAGE_DESCRIPTION = 270,
    TXM_TAG_STRIP_OFFSETS = 273,
    TXM_TAG_SAMPLES = 277,
    TXM_TAG_STRIP_COUNTS = 279,
    TXM_TAG_PLANAR = 284,
    TXM_TAG_PREDICTOR = 317,
    TXM_TAG_TILE_WIDTH = 322,
    TXM_TAG_TILE_HEIGHT = 323,
    TXM_TAG_TILE_OFFSETS = 324,
    TXM_TAG_TILE_COUNTS = 325,
    TXM_TAG_SUB_DIRECTORIES = 330,
    TXM_TAG_SAMPLE_FORMAT = 339,
    TXM_TAG_IMAGE_DEPTH = 32997,
    TXM_TAG_TILE_DEPTH = 32998,
    TXM_TAG_TEXTURE_FORMAT = 33302,
    TXM_TAG_EXIF = 34665,
    TXM_TAG_GPS = 34853,
    TXM_TIFF_ASCII = 2 /* the type of text */
};

/* A TIFF file; `err` may be NULL. */
typedef struct txm_tiff {
    txm_tx *tx;
    bool big; /* BigTIFF */
    txm_error *err;
} txm_tiff;

/* A directory, entirely inside the map. */
typedef struct txm_tiff_directory {
    const uint8_t *fields;
    uint64_t count, next; /* number of fields; offset of the next directory, 0 for none */
} txm_tiff_directory;

typedef struct txm_tiff_field {
    const uint8_t *data; /* count values, entirely inside the map */
    uint64_t count;
    uint16_t tag, type;
    uint8_t width; /* bytes of one value */
} txm_tiff_field;

/* Bytes of a value, by TIFF's number of its type; 0 for an unknown type. */
uint8_t txm_tiff_type_bytes(uint16_t type);

/* Reads the header; false if the file is not a TIFF. *first is the first directory's offset. */
TXM_SHARED bool txm_tiff_header(txm_tiff *t, uint64_t *first);

txm_status txm_tiff_corrupt(const txm_tiff *t, const char *what, uint64_t where);

TXM_SHARED txm_status txm_tiff_open_directory(const txm_tiff *t, uint64_t offset, txm_tiff_directory *out);

/* The field at `index`; false if its type is unknown or its values are outside the file. Tag and type are filled in
 * either way. */
bool txm_tiff_field_at(const txm_tiff *t, const txm_tiff_directory *dir, uint64_t index, txm_tiff_field *out);

/* Finds a tag; *found is false if it is absent. CORRUPT if it has no values. */
TXM_SHARED txm_status txm_tiff_find(const txm_tiff *t, const txm_tiff_directory *dir, uint16_t tag, txm_tiff_field *out,
                                    bool *found);

/* The number in a tag; `fallback` if it is absent. All values of the tag must be equal (BitsPerSample has one per
 * channel). */
TXM_SHARED txm_status txm_tiff_number(const txm_tiff *t, const txm_tiff_directory *dir, uint16_t tag, uint32_t fallback,
                                      uint32_t *out);

TXM_SHARED bool txm_tiff_is_integer(const txm_tiff_field *field);
/* The value of an integer field at `index`. */
TXM_SHARED uint64_t txm_tiff_value(const txm_tiff *t, const txm_tiff_field *field, uint64_t index);

/* The first `count` tiles or strips of a table of offsets and one of sizes. */
typedef struct txm_tiff_pieces {
    uint64_t bytes;   /* of those within the file */
    uint64_t end;     /* the furthest byte of these */
    uint64_t outside; /* index of the first that is not within the file; `count`: all are */
} txm_tiff_pieces;
txm_tiff_pieces txm_tiff_add_pieces(const txm_tiff *t, const txm_tiff_field *offsets, const txm_tiff_field *counts,
                                    uint64_t count);

/* Keeps a field as metadata if it is readable text or numbers. False when memory is exhausted. */
bool txm_tiff_keep(const txm_tiff *t, const txm_tiff_field *field);

/* The end of the last structure that the directories point to. */
uint64_t txm_tiff_image_end(const txm_tx *tx);

/* The name of a codec that the reader decodes; NULL for others. */
const char *txm_tiff_codec_name(uint32_t compression);
#endif
