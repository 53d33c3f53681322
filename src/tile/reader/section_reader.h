/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads border sections: finding and checking one (section_reader.c), and decoding a border and making a padded tile of
 * any extension from a tile and its border (border_decode.c). section_format.h defines the bytes.
 */
#ifndef TXM_READER_SECTION_READER_H
#define TXM_READER_SECTION_READER_H
#include "tile/reader/reader_impl.h"

/* The payload of one border, inside the map, and the low half of the xxh64 of its pixels. */
typedef struct txm_border_place {
    uint64_t offset;
    uint32_t bytes, check;
} txm_border_place;

/* Borders are stored in tile order without gaps, so only the offset of every 32nd is kept. This halves the memory,
 * which matters because caches keep many large files open. */
enum { TXM_BORDER_GROUP = 32 };

typedef struct txm_section {
    uint64_t count;
    uint8_t *sizes, *checks; /* four bytes for each tile, in the file's order: they are in the index, which follows */
    uint64_t group_offset[];
} txm_section;

/* The place of border `number`, which must be below count. */
txm_border_place txm_border_place_of(const txm_section *section, uint64_t number);

/* Inspects the end of the file and fills in section, section_bytes, section_reason and image_bytes of info, and
 * tx->section if it is valid. Fails only when memory is exhausted; an unusable section is a state, not an error. */
txm_status txm_section_find(txm_tx *tx, txm_error *err);

/* Whether the section leaves out the border of a tile to save space. This is not an error; the border is gathered
 * instead. */
bool txm_section_lacks(const txm_tx *tx, const txm_tile_id *tile);

/* Makes a padded tile (padding 1 or 2) from the section. *done is false if the border is damaged or left out and has to
 * be gathered. */
txm_status txm_section_read_padded(txm_tx *tx, const txm_tile_id *tile, uint32_t padding, txm_extension extension,
                                   const txm_window *window, txm_scratch *scratch, bool *done, txm_error *err);

#endif
