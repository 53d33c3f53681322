/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading border sections: finding and judging one (section_reader.c), decoding a border and making a padded tile of
 * any extension from a tile and its border (border_decode.c). section_format.h defines the bytes.
 */
#ifndef TXM_READER_SECTION_READER_H
#define TXM_READER_SECTION_READER_H
#include "tile/reader/reader_impl.h"

/* One border's payload, inside the map, and the low half of the xxh64 of its pixels. */
typedef struct txm_border_place {
    uint64_t offset;
    uint32_t bytes, check;
} txm_border_place;

/* Borders lie one after the other, in tile order, so only the offset of every 32nd is kept. That is half the memory of
 * a list of places, which matters because caches keep many large files open. */
enum { TXM_BORDER_GROUP = 32 };

typedef struct txm_border_size {
    uint32_t bytes, check;
} txm_border_size;

typedef struct txm_section {
    uint64_t count;
    uint64_t *group_offset;   /* behind `border` */
    txm_border_size border[]; /* of each tile */
} txm_section;

/* Of border `number`, below count. */
txm_border_place txm_border_place_of(const txm_section *section, uint64_t number);

/* Looks at the end of the file and fills section, section_bytes, section_reason and image_bytes of info, and
 * tx->section if it is valid. Fails only when memory is exhausted: a section that cannot be used is a state, not an
 * error. */
txm_status txm_section_find(txm_tx *tx, txm_error *err);

/* Whether the section leaves the border of a tile out, to stay short: it is gathered then, and nothing is wrong. */
bool txm_section_lacks(const txm_tx *tx, const txm_tile_id *tile);

/* Makes a padded tile (padding 1 or 2) from the section. *done is false if the border is damaged or left
 * out: gather then. */
txm_status txm_section_read_padded(txm_tx *tx, const txm_tile_id *tile, uint32_t padding, txm_extension extension,
                                   const txm_window *window, txm_scratch *scratch, bool *done, txm_error *err);

#endif
