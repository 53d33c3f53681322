/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of Ptex files: decodes the texels of a face or a tile from zipped planes to interleaved texels.
 *
 * A block is one zlib stream of planes, one for each channel. Integers may be stored as differences, which continue
 * across rows and planes. A tiled block is a small header and a block for each tile; tiles are not tiled themselves.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tile/ptex/ptex_impl.h"

enum {
    TILED_HEAD_BYTES = 6, /* log2 of a tile's size, and the size of the zipped list */
    WORD_BYTES = 4,
    /* Writers use tiles of up to 128 KiB, of which a constant one takes one texel in the file. A face can therefore be
     * at most this many times larger than its bytes in the file. */
    TILED_RATIO = 131072,
    SMALL_BYTES = 1 << 24
};

void txm_ptex_fill(uint8_t *pixels, const uint8_t *texel, size_t texel_bytes, size_t count)
{
    size_t done = texel_bytes, bytes = texel_bytes * count;
    memmove(pixels, texel, texel_bytes);
    while (done < bytes) {
        size_t n = done < bytes - done ? done : bytes - done;
        memcpy(pixels + done, pixels, n);
        done += n;
    }
}

/* ---- one zlib stream --------------------------------------------------------------------------------------------- */

static void undo_differences(txm_type type, uint8_t *planes, size_t samples)
{
    if (type == TXM_TYPE_U8) {
        for (size_t i = 1; i < samples; i++)
            planes[i] = (uint8_t)(planes[i] + planes[i - 1]);
    } else if (type == TXM_TYPE_U16) {
        for (size_t i = 1; i < samples; i++)
            txm_store_le16(planes + 2 * i,
                           (uint16_t)(txm_load_le16(planes + 2 * i) + txm_load_le16(planes + 2 * i - 2)));
    }
}

static void interleave_planes(const txm_ptex *p, const uint8_t *planes, size_t texels, uint8_t *pixels)
{
    const size_t sample = txm_type_bytes(p->info.type), step = p->info.pixel_bytes;
    for (uint32_t c = 0; c < p->info.channels; c++) {
        const uint8_t *in = planes + c * texels * sample;
        uint8_t *out = pixels + c * sample;
        /* With constant sizes, which the compiler turns into plain copies. */
        for (size_t i = 0; sample == 1 && i < texels; i++)
            out[i * step] = in[i];
        for (size_t i = 0; sample == 2 && i < texels; i++)
            memcpy(out + i * step, in + 2 * i, 2);
        for (size_t i = 0; sample == 4 && i < texels; i++)
            memcpy(out + i * step, in + 4 * i, 4);
    }
}

static txm_status read_zipped(const txm_ptex *p, const ptex_block *b, uint8_t *pixels, txm_error *err)
{
    size_t texels = (size_t)1 << (b->u_log2 + b->v_log2), bytes = texels * p->info.pixel_bytes;
    uint8_t *planes;
    txm_status status = txm_ptex_unpack(p, b->offset, txm_ptex_block_bytes(b->word), bytes, &planes,
                                        "the texels of a face cannot be read", err);
    if (status != TXM_OK)
        return status;
    if (txm_ptex_block_encoding(b->word) == PTEX_ENCODING_DIFF_ZIP)
        undo_differences(p->info.type, planes, texels * p->info.channels);
    if (p->info.channels == 1)
        memcpy(pixels, planes, bytes);
    else
        interleave_planes(p, planes, texels, pixels);
    free(planes);
    return TXM_OK;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* The list of a tiled block's tiles, in the format of a level's list. */
typedef struct tile_list {
    uint32_t u_log2, v_log2; /* size of a tile */
    uint32_t *words;         /* aligned, unlike in files */
    uint32_t count, zip_bytes;
    uint64_t offset; /* offset of the first tile */
} tile_list;

static txm_status read_tile_sizes(const txm_ptex *p, const ptex_block *b, tile_list *out, txm_error *err)
{
    const uint32_t bytes = txm_ptex_block_bytes(b->word);
    const uint8_t *head = NULL;
    uint8_t *own = NULL;
    const bool whole = bytes >= TILED_HEAD_BYTES && txm_ptex_holds(p, b->offset, bytes);
    txm_status status = whole ? txm_ptex_bytes(p, b->offset, TILED_HEAD_BYTES, &head, &own, err) : TXM_OK;
    if (status != TXM_OK)
        return status;
    if (!head || head[0] > b->u_log2 || head[1] > b->v_log2)
        status = txm_ptex_corrupt(p, "a face has an impossible tile size", b->offset, err);
    else
        *out = (tile_list){.u_log2 = head[0],
                           .v_log2 = head[1],
                           .count = (uint32_t)1 << (b->u_log2 - head[0] + b->v_log2 - head[1]),
                           .zip_bytes = txm_load_le32(head + 2)};
    free(own);
    return status;
}

/* Reads the list, and checks that all tiles lie in the block. */
static txm_status open_tile_list(const txm_ptex *p, const ptex_block *b, tile_list *out, txm_error *err)
{
    txm_status status = read_tile_sizes(p, b, out, err);
    if (status != TXM_OK)
        return status;
    uint64_t bytes = txm_ptex_block_bytes(b->word), zip_bytes = out->zip_bytes, sum;
    uint64_t face_bytes = (uint64_t)p->info.pixel_bytes << (b->u_log2 + b->v_log2);
    uint8_t *words;
    if (zip_bytes > bytes - TILED_HEAD_BYTES || (face_bytes > SMALL_BYTES && face_bytes / TILED_RATIO > bytes))
        return txm_ptex_corrupt(p, "the tiles of a face are cut off", b->offset, err);
    status = txm_ptex_unpack(p, b->offset + TILED_HEAD_BYTES, zip_bytes, (uint64_t)out->count * WORD_BYTES, &words,
                             "the list of a face's tiles cannot be read", err);
    out->words = (uint32_t *)(void *)words;
    out->offset = b->offset + TILED_HEAD_BYTES + zip_bytes;
    sum = TILED_HEAD_BYTES + zip_bytes;
    for (uint32_t i = 0; i < out->count && status == TXM_OK; i++)
        if ((sum += txm_ptex_block_bytes(out->words[i])) > bytes)
            status = txm_ptex_corrupt(p, "a tile lies outside of its face", b->offset, err);
    if (status != TXM_OK) {
        free(out->words);
        out->words = NULL;
    }
    return status;
}

/* Reads a tile; a constant one is stored as one raw texel. */
static txm_status read_listed_tile(const txm_ptex *p, const tile_list *list, uint32_t tile, uint64_t offset,
                                   uint8_t *pixels, txm_error *err)
{
    uint32_t word = list->words[tile];
    const ptex_block b = {offset, word, list->u_log2, list->v_log2, NULL};
    const uint8_t *texel;
    uint8_t *own;
    txm_status status;
    switch (txm_ptex_block_encoding(word)) {
    case PTEX_ENCODING_TILED:
        return txm_ptex_corrupt(p, "a tile consists of tiles", offset, err);
    case PTEX_ENCODING_CONSTANT:
        if (txm_ptex_block_bytes(word) != p->info.pixel_bytes)
            return txm_ptex_corrupt(p, "a constant tile is not one texel", offset, err);
        status = txm_ptex_bytes(p, offset, p->info.pixel_bytes, &texel, &own, err);
        if (status == TXM_OK)
            txm_ptex_fill(pixels, texel, p->info.pixel_bytes, (size_t)1 << (list->u_log2 + list->v_log2));
        free(own);
        return status;
    default:
        return read_zipped(p, &b, pixels, err);
    }
}

static txm_status read_tiled(const txm_ptex *p, const ptex_block *b, uint8_t *pixels, txm_error *err)
{
    tile_list list;
    txm_status status = open_tile_list(p, b, &list, err);
    if (status != TXM_OK)
        return status;
    uint8_t *tile = txm_alloc_pixels((size_t)p->info.pixel_bytes, (size_t)1 << (list.u_log2 + list.v_log2));
    const size_t row = (size_t)p->info.pixel_bytes << list.u_log2, stride = (size_t)p->info.pixel_bytes << b->u_log2;
    const uint32_t across = b->u_log2 - list.u_log2;
    uint64_t offset = list.offset;
    status = tile ? TXM_OK : txm_no_memory(err, p->path);
    for (uint32_t i = 0; i < list.count && status == TXM_OK; i++) {
        status = read_listed_tile(p, &list, i, offset, tile, err);
        uint8_t *out = pixels + ((size_t)(i >> across) << list.v_log2) * stride + (i & ((1u << across) - 1)) * row;
        for (uint32_t v = 0; status == TXM_OK && v < 1u << list.v_log2; v++)
            memcpy(out + v * stride, tile + v * row, row);
        offset += txm_ptex_block_bytes(list.words[i]);
    }
    free(tile);
    free(list.words);
    return status;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

txm_status txm_ptex_read_block(const txm_ptex *p, const ptex_block *block, uint8_t *pixels, txm_error *err)
{
    switch (txm_ptex_block_encoding(block->word)) {
    case PTEX_ENCODING_CONSTANT:
        txm_ptex_fill(pixels, block->constant, p->info.pixel_bytes, (size_t)1 << (block->u_log2 + block->v_log2));
        return TXM_OK;
    case PTEX_ENCODING_TILED:
        return read_tiled(p, block, pixels, err);
    default:
        return read_zipped(p, block, pixels, err);
    }
}

txm_status txm_ptex_block_tiling(const txm_ptex *p, const ptex_block *block, uint32_t *u_log2, uint32_t *v_log2,
                                 txm_error *err)
{
    tile_list list = {.u_log2 = block->u_log2, .v_log2 = block->v_log2};
    txm_status status = TXM_OK;
    if (txm_ptex_block_encoding(block->word) == PTEX_ENCODING_TILED)
        status = read_tile_sizes(p, block, &list, err);
    *u_log2 = list.u_log2;
    *v_log2 = list.v_log2;
    return status;
}

txm_status txm_ptex_read_block_tile(const txm_ptex *p, const ptex_block *block, uint32_t tile, uint8_t *pixels,
                                    txm_error *err)
{
    tile_list list = {.count = 1};
    bool tiled = txm_ptex_block_encoding(block->word) == PTEX_ENCODING_TILED;
    txm_status status = tiled ? open_tile_list(p, block, &list, err) : TXM_OK;
    if (status != TXM_OK)
        return status;
    uint64_t offset = list.offset;
    if (tile >= list.count)
        status = txm_fail(err, TXM_STATUS_USAGE, "%s: no tile %u: the face has %u", p->path, tile, list.count);
    for (uint32_t i = 0; i < tile && status == TXM_OK && tiled; i++)
        offset += txm_ptex_block_bytes(list.words[i]);
    if (status == TXM_OK)
        status =
            tiled ? read_listed_tile(p, &list, tile, offset, pixels, err) : txm_ptex_read_block(p, block, pixels, err);
    free(list.words);
    return status;
}
