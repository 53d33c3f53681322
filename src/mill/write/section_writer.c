/* SPDX-License-Identifier: Apache-2.0
 *
 * Appends a border section to a finished image part. section_format.h defines its bytes.
 *
 * Borders are added once each, in any order; payloads, index and footer are written after the image part on the same
 * descriptor. Payloads wait in a spill, because they are produced tile by tile while the image part is still being
 * written.
 */
#include <errno.h>
#include <string.h>

#include "base/checksum.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/output.h"
#include "mill/write/section_writer.h"
#include "mill/write/spill.h"
#include "tile/decode/zstd_status.h"
#include "tile/reader/identity.h"
#include "tile/reader/section_format.h"
#include "tile/terms/file_map.h"

enum { CHECK_BYTES = 4, SPILL_BUDGET_BYTES = 1 << 20, INDEX_LEVEL = 3, SEEN = 4096, MIN_BOUND_PX = 512 };
#define MISSING UINT64_MAX
#define REPEATS (1ull << 63)
static const char what[] = "border section";

struct txm_section_writer {
    txm_tx_layout layout;
    uint64_t first[TXM_MAX_LEVELS + 1]; /* number of the first tile of each level; the last element: all tiles */
    uint64_t *offsets; /* offset of each border in `payloads`, in tile order; MISSING until it is added */
    uint64_t *hashes;  /* hashes of the payloads */
    uint64_t added;
    uint8_t *sizes, *checks; /* four bytes per tile each, as in the index */
    uint8_t *index;          /* the index before compression; sizes and checks point into it */
    size_t index_bytes;
    txm_spill *payloads;
};

/* The spill becomes an unnamed file in `spill_dir` when it exceeds its share of memory. The index is filled in place,
 * because its layout depends only on that of the image. */
txm_status txm_section_writer_new(const txm_tx_layout *layout, const char *spill_dir, txm_section_writer **out,
                                  txm_error *err)
{
    if (!layout->levels || layout->levels > TXM_MAX_LEVELS || !layout->tile_px || layout->tile_px > TXM_MAX_TILE_PX ||
        !layout->width || layout->width > TXM_MAX_SIZE_PX || !layout->height || layout->height > TXM_MAX_SIZE_PX)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: %u levels of %u x %u px with tiles of %u px are beyond the limits",
                        what, layout->levels, layout->width, layout->height, layout->tile_px);
    txm_section_writer *w = txm_calloc(1, sizeof *w);
    if (!w)
        return txm_no_memory(err, what);
    w->layout = *layout;
    for (uint32_t i = 0; i < layout->levels; i++) {
        w->first[i + 1] = w->first[i] + (uint64_t)txm_layout_tiles_x(layout, i) * txm_layout_tiles_y(layout, i);
    }
    w->index_bytes = 4 + 8 * (size_t)layout->levels + 8 * (size_t)w->first[layout->levels];
    w->index = txm_calloc(w->index_bytes, 1);
    w->offsets = txm_alloc_pixels((size_t)w->first[layout->levels], sizeof *w->offsets);
    w->hashes = txm_alloc_pixels((size_t)w->first[layout->levels], sizeof *w->hashes);
    w->payloads = txm_spill_new(spill_dir, SPILL_BUDGET_BYTES);
    if (!w->index || !w->offsets || !w->hashes || !w->payloads) {
        txm_section_writer_free(&w);
        return txm_no_memory(err, what);
    }
    uint8_t *p = w->index;
    txm_store_le32(p, layout->levels);
    p += 4;
    for (uint32_t i = 0; i < layout->levels; i++, p += 8) {
        txm_store_le32(p, txm_layout_tiles_x(layout, i));
        txm_store_le32(p + 4, txm_layout_tiles_y(layout, i));
    }
    w->sizes = p;
    w->checks = p + 4 * w->first[layout->levels];
    for (uint64_t t = 0; t < w->first[layout->levels]; t++)
        w->offsets[t] = MISSING;
    *out = w;
    return TXM_OK;
}

void txm_section_writer_free(txm_section_writer **writer)
{
    if (!writer || !*writer)
        return;
    txm_spill_free(&(*writer)->payloads);
    free((*writer)->index);
    free((*writer)->offsets);
    free((*writer)->hashes);
    free(*writer);
    *writer = NULL;
}

/* Keeps a hash of each payload, by which equal ones are found when the section is written; constant tiles have equal
 * borders. */
txm_status txm_section_writer_add(txm_section_writer *w, uint32_t level, uint32_t tile, const void *encoded,
                                  size_t size_bytes, txm_error *err)
{
    if (level >= w->layout.levels || tile >= w->first[level + 1] - w->first[level])
        return txm_fail(err, TXM_STATUS_INTERNAL, "%s: no tile %u in level %u", what, tile, level);
    uint64_t at = w->first[level] + tile;
    if (w->offsets[at] != MISSING)
        return txm_fail(err, TXM_STATUS_INTERNAL, "%s: tile %u of level %u was added twice", what, tile, level);
    if (size_bytes < CHECK_BYTES || size_bytes - CHECK_BYTES > UINT32_MAX)
        return txm_fail(err, TXM_STATUS_INTERNAL, "%s: a border of %zu bytes", what, size_bytes);
    uint64_t offset = txm_spill_size(w->payloads);
    const uint8_t *payload = (const uint8_t *)encoded + CHECK_BYTES;
    txm_status status = txm_spill_add(w->payloads, payload, size_bytes - CHECK_BYTES, err);
    if (status != TXM_OK)
        return status;
    w->offsets[at] = offset;
    w->hashes[at] = txm_xxh64(payload, size_bytes - CHECK_BYTES, size_bytes - CHECK_BYTES);
    txm_store_le32(w->sizes + 4 * at, (uint32_t)(size_bytes - CHECK_BYTES));
    memcpy(w->checks + 4 * at, encoded, CHECK_BYTES);
    w->added++;
    return TXM_OK;
}

static uint32_t size_of(const txm_section_writer *w, uint64_t border)
{
    return txm_load_le32(w->sizes + 4 * border);
}

/* Bytes of all payloads if those longer than `longest` are left out. */
static uint64_t payload_bytes(const txm_section_writer *w, uint32_t longest)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < w->added; i++) {
        uint32_t size = size_of(w, i);
        bool repeats = w->offsets[i] & REPEATS;
        sum += size > longest ? TXM_BORDER_MISSING_BYTES : repeats ? TXM_BORDER_REFERENCE_BYTES : size;
    }
    return sum;
}

/* Writes the payloads in tile order; sizes in the index become those that are stored. The longest payloads are left
 * out, so that the section is at most a fifth of the file. Borders with the same payload as an earlier one, which
 * patterns produce, are found among the last few thousand different ones. Equal hashes are taken for equal bytes; if
 * that were wrong, the reader would notice from the border's check. */
static txm_status append_payloads(txm_section_writer *w, uint64_t image_bytes, txm_output *out, txm_error *err)
{
    /* An index of checks, which do not compress, and sizes, which do. */
    const uint64_t tail = TXM_SECTION_FOOTER_BYTES + 7 * w->added, most = image_bytes / 4;
    const uint64_t bound = most > tail ? most - tail : 0;
    uint32_t longest = 0, low = 0;
    uint64_t *seen = txm_calloc(SEEN, sizeof *seen); /* borders, by hash */
    if (!seen)
        return txm_no_memory(err, what);
    for (uint64_t i = 0; i < w->added; i++) {
        const uint32_t size = size_of(w, i);
        uint64_t *s = &seen[w->hashes[i] % SEEN];
        longest = size > longest ? size : longest;
        if (size > TXM_BORDER_REFERENCE_BYTES && *s < i && w->hashes[*s] == w->hashes[i] && size_of(w, *s) == size)
            w->offsets[i] = REPEATS | *s;
        else if (size > TXM_BORDER_REFERENCE_BYTES)
            *s = i;
    }
    free(seen);
    txm_status status = TXM_OK;
    if (w->layout.width >= MIN_BOUND_PX && w->layout.height >= MIN_BOUND_PX && payload_bytes(w, longest) > bound) {
        while (low < longest) { /* the largest that fits */
            uint32_t middle = low + (longest - low + 1) / 2;
            if (payload_bytes(w, middle) <= bound)
                low = middle;
            else
                longest = middle - 1;
        }
        longest = low;
    }
    for (uint64_t i = 0; status == TXM_OK && i < w->added; i++) {
        uint32_t size = size_of(w, i);
        uint8_t made[TXM_BORDER_REFERENCE_BYTES] = {0};
        const uint8_t *payload = made;
        if (size > longest) {
            size = TXM_BORDER_MISSING_BYTES;
        } else if (w->offsets[i] & REPEATS) {
            size = TXM_BORDER_REFERENCE_BYTES;
            txm_store_le32(made + 3, (uint32_t)(w->offsets[i] & ~REPEATS));
        } else {
            status = txm_spill_view(w->payloads, w->offsets[i], size, &payload, err);
        }
        txm_store_le32(w->sizes + 4 * i, size);
        if (status == TXM_OK && !txm_output_append(out, payload, size))
            status = txm_output_status(out, err);
    }
    return status;
}

/* Writes index and footer from one buffer, since one check covers both. */
static txm_status append_tail(txm_section_writer *w, txm_output *out, txm_section_footer *footer, txm_error *err)
{
    size_t capacity = ZSTD_compressBound(w->index_bytes);
    uint8_t *tail = txm_alloc_pixels(capacity + TXM_SECTION_FOOTER_BYTES, 1);
    if (!tail)
        return txm_no_memory(err, what);
    txm_status status = TXM_OK;
    size_t n = ZSTD_compress(tail, capacity, w->index, w->index_bytes, INDEX_LEVEL);
    if (ZSTD_isError(n) && txm_zstd_status(n, TXM_STATUS_INTERNAL) == TXM_STATUS_NO_MEMORY) {
        status = txm_no_memory(err, what);
        goto free_tail;
    }
    if (ZSTD_isError(n) || n > UINT32_MAX || w->index_bytes > UINT32_MAX) {
        status = txm_fail(err, TXM_STATUS_INTERNAL, "%s: cannot compress an index of %zu bytes", what, w->index_bytes);
        goto free_tail;
    }
    footer->index_offset = txm_output_end(out);
    footer->index_bytes = (uint32_t)n;
    footer->index_raw = (uint32_t)w->index_bytes;
    txm_section_footer_pack(footer, tail + n);
    footer->check = txm_xxh64(tail, n + TXM_SECTION_CHECK_AT, 0);
    txm_section_footer_pack(footer, tail + n);
    if (!txm_output_append(out, tail, n + TXM_SECTION_FOOTER_BYTES))
        status = txm_output_status(out, err);
free_tail:
    free(tail);
    return status;
}

/* Every border must have been added. The footer is last, so that a truncated file has none. */
txm_status txm_section_writer_finish(txm_section_writer *w, int fd, uint64_t image_bytes, txm_error *err)
{
    uint64_t tiles = w->first[w->layout.levels];
    txm_section_footer footer = {.image_bytes = image_bytes,
                                 .tiles = (uint32_t)tiles,
                                 .tile_px = (uint16_t)w->layout.tile_px,
                                 .border_px = TXM_BORDER_PX,
                                 .channels = (uint8_t)w->layout.channels,
                                 .type = (uint8_t)w->layout.type,
                                 .version = TXM_SECTION_VERSION};
    txm_output out;
    if (w->added != tiles || tiles > UINT32_MAX)
        return txm_fail(err, TXM_STATUS_INTERNAL, "%s: %llu borders for %llu tiles", what, (unsigned long long)w->added,
                        (unsigned long long)tiles);
    /* The image part is mapped instead of read, because its identity depends on a few pages only. */
    txm_map image = {0};
    int rc = txm_map_open(&image, fd, (size_t)image_bytes);
    if (rc)
        return txm_fail_errno(err, rc, "%s: cannot map the image part", what);
    bool known = txm_image_identity(image.data, (size_t)image_bytes, &footer.identity), lost = txm_map_lost(&image);
    txm_map_close(&image);
    if (lost)
        return txm_fail_errno(err, EIO, "%s: the image part cannot be read back", what);
    if (!known)
        return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: the file before it is neither TIFF nor EXR", what);
    txm_status status = txm_output_open(&out, fd, image_bytes, what, err);
    if (status != TXM_OK)
        return status;
    status = append_payloads(w, image_bytes, &out, err);
    if (status == TXM_OK)
        status = append_tail(w, &out, &footer, err);
    if (status == TXM_OK && !txm_output_flush(&out))
        status = txm_output_status(&out, err);
    txm_output_free(&out);
    return status;
}
