/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of tiles, and the choice of the container.
 *
 * The order is checked here, so that an error in the pipeline is an INTERNAL failure and never a file with misplaced
 * tiles; the writers of containers can rely on it.
 */
#include "mill/write/writer.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/output.h"
#include "mill/write/writer_impl.h"
#include "mill/write/writer_metadata.h"

struct txm_tx_writer {
    txm_tx_layout layout;
    txm_tx_metadata metadata;
    txm_output out;
    const txm_container_writer *ops;
    void *container;
    txm_tile_place next; /* the tile that add expects next; level == layout.levels: all were added */
    uint32_t tiles_y;    /* grid of its level */
    bool finished;
};

txm_container txm_container_of(txm_type type)
{
#define FLOATS(name, prefix, word, title, floats) [TXM_CONTAINER_##name] = floats,
    static const bool floats_in[] = {TXM_CONTAINER_TABLE(FLOATS)};
    unsigned i = 0;
    while (floats_in[i] != txm_type_is_float(type))
        i++;
    return (txm_container)i;
}

const txm_container_writer *txm_container_writer_of(txm_type type)
{
#define WRITER(name, prefix, word, title, floats) [TXM_CONTAINER_##name] = &txm_tx_##prefix##_writer,
    static const txm_container_writer *const writers[] = {TXM_CONTAINER_TABLE(WRITER)};
    return writers[txm_container_of(type)];
}

txm_status txm_tx_check_codec(txm_type type, txm_codec codec, const char *name, txm_error *err)
{
    if (codec != TXM_CODEC_ZSTD || txm_container_writer_of(type)->has_zstd)
        return TXM_OK;
    return txm_fail(err, TXM_STATUS_USAGE,
                    "%s: its tx file is %s, which cannot be compressed with zstd; use zip or none", name,
                    txm_container_name(txm_container_of(type)));
}

static void enter_level(txm_tx_writer *w, uint32_t level)
{
    w->next = (txm_tile_place){level, 0, 0, txm_layout_tiles_x(&w->layout, level)};
    w->tiles_y = txm_layout_tiles_y(&w->layout, level);
}

/* The status of a failed call; the descriptor's own failure takes precedence over a library's report of it. */
static txm_status settle_writer(const txm_tx_writer *w, txm_status status, const txm_error *said, txm_error *err)
{
    if (w->out.error.status != TXM_OK)
        return txm_output_status(&w->out, err);
    return status == TXM_OK ? TXM_OK : txm_fail_with(err, status, said);
}

/* The writer makes native files only; the reader accepts more. Float types go to EXR and integers to TIFF, as in
 * Blender's cache. */
txm_status txm_tx_writer_open(int fd, const char *name, const txm_tx_layout *layout, const txm_tx_metadata *metadata,
                              txm_tx_writer **out, txm_error *err)
{
    const txm_tx_layout *l = layout;
    if (!l->width || !l->height || l->width > TXM_MAX_SIZE_PX || l->height > TXM_MAX_SIZE_PX)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: %u x %u px: a tx file has 1 to %d px per side", name, l->width,
                        l->height, TXM_MAX_SIZE_PX);
    if (l->channels != 1 && l->channels != 4)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: %u channels: a tx file has 1 or 4", name, l->channels);
    if (l->levels != txm_level_count(l->width, l->height))
        return txm_fail(err, TXM_STATUS_USAGE, "%s: %u levels for %u x %u px: must be %u, down to 1x1", name, l->levels,
                        l->width, l->height, txm_level_count(l->width, l->height));
    if (l->tile_px < TXM_MIN_TILE_PX || l->tile_px > TXM_MAX_TILE_PX || (l->tile_px & (l->tile_px - 1)))
        return txm_fail(err, TXM_STATUS_USAGE, "%s: tile size %u: must be a power of two from %d to %d", name,
                        l->tile_px, TXM_MIN_TILE_PX, TXM_MAX_TILE_PX);
    txm_status status = txm_tx_check_codec(l->type, l->compression.codec, name, err);
    if (status != TXM_OK)
        return status;
    txm_tx_writer *w = txm_calloc(1, sizeof *w);
    txm_error said = {0};
    if (!w)
        return txm_no_memory(err, name);
    w->layout = *layout;
    w->metadata = txm_metadata_complete(metadata);
    w->ops = txm_container_writer_of(layout->type);
    status = txm_output_open(&w->out, fd, 0, name, err);
    if (status != TXM_OK)
        goto close_writer;
    status = settle_writer(w, w->ops->open(&w->layout, &w->metadata, &w->out, &w->container, &said), &said, err);
    if (status != TXM_OK)
        goto close_writer;
    enter_level(w, 0);
    *out = w;
    return TXM_OK;
close_writer:
    txm_tx_writer_close(&w);
    return status;
}

/* The position is counted here, so a caller that forgets a tile cannot shift the others. */
txm_status txm_tx_writer_add(txm_tx_writer *w, const void *encoded, size_t size_bytes, txm_error *err)
{
    txm_error said = {0};
    if (w->next.level >= w->layout.levels)
        return txm_fail(err, TXM_STATUS_INTERNAL, "%s: more tiles than the image has", w->out.name);
    txm_status status = w->ops->add(w->container, &w->next, encoded, size_bytes, &said);
    if (status == TXM_OK && ++w->next.x == w->next.tiles_x) {
        w->next.x = 0;
        if (++w->next.y == w->tiles_y) {
            if (w->ops->end_level)
                status = w->ops->end_level(w->container, w->next.level, &said);
            enter_level(w, w->next.level + 1);
        }
    }
    return settle_writer(w, status, &said, err);
}

txm_status txm_tx_writer_finish(txm_tx_writer *w, const txm_tx_summary *summary, uint64_t *image_bytes, txm_error *err)
{
    txm_error said = {0};
    if (w->finished || w->next.level != w->layout.levels)
        return txm_fail(err, TXM_STATUS_INTERNAL, "%s: finished at level %u of %u, tile %u, %u", w->out.name,
                        w->next.level, w->layout.levels, w->next.x, w->next.y);
    txm_status status = settle_writer(w, w->ops->finish(w->container, summary, &said), &said, err);
    if (status != TXM_OK)
        return status;
    if (!txm_output_flush(&w->out))
        return txm_output_status(&w->out, err);
    w->finished = true;
    if (image_bytes)
        *image_bytes = txm_output_end(&w->out);
    return TXM_OK;
}

void txm_tx_writer_close(txm_tx_writer **writer)
{
    if (!writer || !*writer)
        return;
    txm_tx_writer *w = *writer;
    if (w->ops)
        w->ops->close(w->container);
    txm_output_free(&w->out);
    free(w);
    *writer = NULL;
}
