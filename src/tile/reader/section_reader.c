/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds a border section at the end of a file and decides whether it may be used. If anything is wrong with it, the
 * file stays readable and padded tiles are gathered.
 */
#include "tile/reader/section_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/checksum.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "tile/decode/zstd_status.h"
#include "tile/reader/border_order.h"
#include "tile/reader/identity.h"
#include "tile/reader/section_format.h"

/* Up to this many bytes after the image are padding by its writer; more are the remains of a section. */
enum { MAX_FILL_BYTES = 16 };

static void judge(txm_tx *tx, txm_section_state state, uint64_t image_bytes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void judge(txm_tx *tx, txm_section_state state, uint64_t image_bytes, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tx->info.section = state;
    tx->info.image_bytes = image_bytes;
    tx->info.section_bytes = tx->map.bytes - image_bytes;
    txm_vformat(tx->info.section_reason, sizeof tx->info.section_reason, format, args);
    va_end(args);
}

/* Whether the section was made for levels and tiles of this shape. */
static bool same_shape(const txm_tx *tx, const txm_section_footer *f)
{
    const txm_tx_info *info = &tx->info;
    const txm_reader_level *last = &tx->levels[info->levels - 1];
    return f->tile_px == info->tile_w && f->tile_px == info->tile_h && f->border_px == TXM_BORDER_PX &&
           f->channels == info->channels && f->type == (unsigned)info->type &&
           f->tiles == last->first_tile + (uint64_t)last->shape.tiles_x * last->shape.tiles_y &&
           f->index_raw == 4 + 8 * (uint64_t)info->levels + 8 * (uint64_t)f->tiles;
}

txm_border_place txm_border_place_of(const txm_section *s, uint64_t number)
{
    uint64_t at = s->group_offset[number / TXM_BORDER_GROUP];
    for (uint64_t i = number - number % TXM_BORDER_GROUP; i < number; i++)
        at += txm_load_le32(s->sizes + 4 * i);
    return (txm_border_place){at, txm_load_le32(s->sizes + 4 * number), txm_load_le32(s->checks + 4 * number)};
}

/* Whether the decompressed index is for these levels, and its borders fill the section. Finds the places of groups. */
static bool read_index(const txm_tx *tx, const txm_section_footer *f, uint8_t *index, txm_section *s)
{
    uint8_t *p = index + 4;
    if (txm_load_le32(index) != tx->info.levels)
        return false;
    for (uint32_t i = 0; i < tx->info.levels; i++, p += 8)
        if (txm_load_le32(p) != tx->levels[i].shape.tiles_x || txm_load_le32(p + 4) != tx->levels[i].shape.tiles_y)
            return false;
    s->count = f->tiles;
    s->sizes = p;
    s->checks = p + 4 * s->count;
    uint64_t at = f->image_bytes;
    for (uint64_t i = 0; i < s->count; i++, p += 4) {
        if (i % TXM_BORDER_GROUP == 0)
            s->group_offset[i / TXM_BORDER_GROUP] = at;
        at += txm_load_le32(p); /* cannot overflow: at most 2^32 borders of less than 2^32 bytes */
    }
    return at == f->index_offset;
}

/* Reads the index from the file and checks its checksum. */
static txm_status load_checked(txm_tx *tx, const txm_section_footer *f, const uint8_t *packed, uint64_t check,
                               uint64_t image_end, txm_error *err)
{
    uint64_t identity;
    if (check != f->check) {
        judge(tx, TXM_SECTION_STATE_DAMAGED, image_end, "the checksum of its index does not match");
        return TXM_OK;
    }
    if (!txm_map_identity(&tx->map, (size_t)f->image_bytes, &identity) || identity != f->identity ||
        !same_shape(tx, f)) {
        judge(tx, TXM_SECTION_STATE_STALE, f->image_bytes,
              "it was made for another image part: the file was edited since");
        return TXM_OK;
    }
    /* The size of the decompressed index, 8 bytes for each tile that the image really has, is determined by the image.
     * The index stays as it is, in the memory of the section: a cache that opens many files would otherwise fill the C
     * library's heap with holes. */
    const uint64_t groups = ((uint64_t)f->tiles + TXM_BORDER_GROUP - 1) / TXM_BORDER_GROUP;
    txm_section *s = malloc(sizeof *s + groups * sizeof s->group_offset[0] + f->index_raw);
    if (!s)
        return txm_no_memory(err, tx->path);
    uint8_t *index = (uint8_t *)&s->group_offset[groups];
    const size_t n = ZSTD_decompress(index, f->index_raw, packed, f->index_bytes);
    if (!ZSTD_isError(n) && n == f->index_raw && read_index(tx, f, index, s)) {
        tx->section = s;
        judge(tx, TXM_SECTION_STATE_VALID, f->image_bytes, "%s", "");
        return TXM_OK;
    }
    free(s);
    if (ZSTD_isError(n) && txm_zstd_status(n, TXM_STATUS_CORRUPT) == TXM_STATUS_NO_MEMORY)
        return txm_no_memory(err, tx->path);
    judge(tx, TXM_SECTION_STATE_DAMAGED, f->image_bytes, "its index does not fit the file's tiles");
    return TXM_OK;
}

/* Checks the footer, the sizes it states, the identity of the image part and the index, in order of cost. The first
 * check that fails determines the state and its reason. */
txm_status txm_section_find(txm_tx *tx, txm_error *err)
{
    txm_section_footer f;
    const txm_map *map = &tx->map;
    uint64_t image_end = tx->ops->image_end(tx);
    bool footer = map->bytes > TXM_SECTION_FOOTER_BYTES &&
                  txm_map_needs(map, map->bytes - TXM_SECTION_FOOTER_BYTES, TXM_SECTION_FOOTER_BYTES) &&
                  txm_section_footer_parse(map->data + map->bytes - TXM_SECTION_FOOTER_BYTES, &f);
    if (!footer) {
        judge(tx, TXM_SECTION_STATE_NONE, map->bytes, "%s", "");
        if (map->bytes - image_end > MAX_FILL_BYTES)
            judge(tx, TXM_SECTION_STATE_DAMAGED, image_end,
                  "%" PRIu64 " bytes follow the image, but they do not end with a section's footer: cut off",
                  map->bytes - image_end);
        return TXM_OK;
    }
    if (f.version > TXM_SECTION_VERSION) {
        judge(tx, TXM_SECTION_STATE_NEWER, image_end,
              "version %u of the section is newer than version %d, which is known", f.version, TXM_SECTION_VERSION);
        return TXM_OK;
    }
    const uint64_t footer_at = map->bytes - TXM_SECTION_FOOTER_BYTES;
    if (f.index_offset > footer_at || f.index_bytes != footer_at - f.index_offset || f.image_bytes > f.index_offset) {
        judge(tx, TXM_SECTION_STATE_DAMAGED, image_end, "its footer points outside of the file");
        return TXM_OK;
    }
    uint8_t *buffer = NULL;
    bool no_memory;
    const size_t bytes = f.index_bytes + (size_t)TXM_SECTION_CHECK_AT;
    const uint8_t *index = txm_map_read(map, f.index_offset, bytes, &buffer, &no_memory);
    txm_status status = no_memory ? txm_no_memory(err, tx->path) : TXM_OK;
    if (index)
        status = load_checked(tx, &f, index, txm_xxh64(index, bytes, 0), image_end, err);
    free(buffer);
    return status;
}
