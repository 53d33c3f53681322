/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening tx files, and what does not depend on the container: the map, the shape of levels, plain tiles.
 */
#include "txmill/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container/reader_impl.h"
#include "container/section_reader.h"
#include "core/mem.h"

/* Maps the whole file. The descriptor is closed again: renderers keep thousands of textures open. */
static txm_status map_file(txm_tx *tx, txm_error *err)
{
    /* O_NONBLOCK: opening a pipe must not wait for its writer; it means nothing for files. */
    int fd = open(tx->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return txm_fail_errno(err, errno, "%s: cannot open", tx->path);
    txm_status status = TXM_OK;
    struct stat st;
    if (fstat(fd, &st) != 0)
        status = txm_fail_errno(err, errno, "%s: cannot look at the file", tx->path);
    else if (!S_ISREG(st.st_mode))
        status = txm_fail(err, TXM_NOT_A_FILE, "%s: not a regular file", tx->path);
    else if (st.st_size < 8)
        status = txm_fail(err, TXM_CORRUPT, "%s: only %lld bytes long, not an image", tx->path, (long long)st.st_size);
    if (status == TXM_OK) {
        void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (data == MAP_FAILED) {
            status = txm_fail_errno(err, errno, "%s: cannot map %lld bytes", tx->path, (long long)st.st_size);
        } else {
            tx->map.data = data;
            tx->map.bytes = (size_t)st.st_size;
        }
    }
    close(fd);
    return status;
}

txm_status txm_tx_check_map(const txm_tx *tx, txm_error *err)
{
    /* The last page is the first to go. Kernels before 5.14 answer EINVAL: no check there. */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t last = ((uintptr_t)tx->map.data + tx->map.bytes - 1) & ~(page - 1);
    if (madvise((void *)last, page, MADV_POPULATE_READ) == 0 || errno != EFAULT)
        return TXM_OK;
    return txm_fail(err, TXM_CHANGED, "%s: became shorter while it was open; open it again", tx->path);
}

txm_status txm_tx_open(const char *path, txm_tx **out, txm_error *err)
{
    *out = NULL;
    txm_tx *tx = txm_calloc(1, sizeof *tx);
    if (!tx)
        return txm_fail(err, TXM_NO_MEMORY, "%s: memory is exhausted", path);
    pthread_mutex_init(&tx->lock, NULL);
    tx->path = txm_strdup(path);
    bool is = false;
    txm_status status = tx->path ? TXM_OK : txm_fail(err, TXM_NO_MEMORY, "%s: memory is exhausted", path);
    if (status == TXM_OK)
        status = map_file(tx, err);
    if (status == TXM_OK)
        status = txm_tiff_reader_open(tx, &is, err);
    if (status == TXM_OK && !is)
        status = txm_exr_reader_open(tx, &is, err);
    if (status == TXM_OK && !is)
        status = txm_fail(err, TXM_UNSUPPORTED, "%s: neither TIFF nor OpenEXR, so not a tx file", path);
    if (status == TXM_OK)
        status = txm_section_find(tx, err);
    if (status != TXM_OK) {
        txm_tx_close(&tx);
        return status;
    }
    tx->info.file_bytes = tx->map.bytes;
    *out = tx;
    return TXM_OK;
}

void txm_tx_close(txm_tx **tx)
{
    txm_tx *t = tx ? *tx : NULL;
    if (!t)
        return;
    txm_scratch_free_all(t);
    txm_exr_core_free(t);
    txm_metadata_free(&t->metadata);
    if (t->map.data)
        munmap((void *)t->map.data, t->map.bytes);
    pthread_mutex_destroy(&t->lock);
    free(t->section);
    free(t->path);
    free(t);
    *tx = NULL;
}

const txm_tx_info *txm_tx_info_of(const txm_tx *tx)
{
    return &tx->info;
}

const txm_tx_level *txm_tx_level_of(const txm_tx *tx, uint32_t level)
{
    if (level >= tx->info.levels)
        return NULL;
    /* EXR keeps the sizes of tiles in front of the tiles themselves: looked at on demand only, because that touches
     * pages all over the file. */
    if (!atomic_load_explicit(&tx->sized, memory_order_acquire))
        txm_exr_reader_measure((txm_tx *)tx);
    return &tx->levels[level].shape;
}

txm_status txm_reader_add_level(txm_tx *tx, uint32_t level, uint32_t width, uint32_t height, txm_error *err)
{
    txm_tx_info *info = &tx->info;
    if (!width || !height)
        return txm_fail(err, TXM_CORRUPT, "%s: level %u is %ux%u pixels", tx->path, level, width, height);
    if (width > TXM_MAX_SIZE_PX || height > TXM_MAX_SIZE_PX)
        return txm_fail(err, TXM_TOO_LARGE, "%s: %ux%u pixels; at most %u a side are read", tx->path, width, height,
                        TXM_MAX_SIZE_PX);
    if (!info->tile_w || !info->tile_h)
        return txm_fail(err, TXM_CORRUPT, "%s: tiles of %ux%u pixels", tx->path, info->tile_w, info->tile_h);
    if (info->tile_w > TXM_MAX_TILE_PX || info->tile_h > TXM_MAX_TILE_PX)
        return txm_fail(err, TXM_TOO_LARGE, "%s: tiles of %ux%u pixels; at most %u a side are read", tx->path,
                        info->tile_w, info->tile_h, TXM_MAX_TILE_PX);
    if (!level) {
        info->width = width;
        info->height = height;
        tx->pixel_bytes = info->channels * txm_type_bytes(info->type);
    }
    txm_reader_level *l = &tx->levels[level];
    l->shape.width = width;
    l->shape.height = height;
    l->shape.tiles_x = (width - 1) / info->tile_w + 1;
    l->shape.tiles_y = (height - 1) / info->tile_h + 1;
    const txm_reader_level *above = level ? l - 1 : NULL;
    l->first_tile = above ? above->first_tile + (uint64_t)above->shape.tiles_x * above->shape.tiles_y : 0;
    return TXM_OK;
}

txm_status txm_tile_at(const txm_tx *tx, uint32_t level, uint32_t x, uint32_t y, txm_tile_id *out, txm_error *err)
{
    if (level >= tx->info.levels)
        return txm_fail(err, TXM_USAGE, "%s: no level %u, the last is %u", tx->path, level, tx->info.levels - 1);
    const txm_tx_level *l = &tx->levels[level].shape;
    if (x >= l->tiles_x || y >= l->tiles_y)
        return txm_fail(err, TXM_USAGE, "%s: level %u has no tile %u,%u, only %ux%u tiles", tx->path, level, x, y,
                        l->tiles_x, l->tiles_y);
    uint32_t left_w = l->width - x * tx->info.tile_w, left_h = l->height - y * tx->info.tile_h;
    *out = (txm_tile_id){.level = level,
                         .x = x,
                         .y = y,
                         .w = left_w < tx->info.tile_w ? left_w : tx->info.tile_w,
                         .h = left_h < tx->info.tile_h ? left_h : tx->info.tile_h};
    return TXM_OK;
}

uint64_t txm_tx_tile_bytes(const txm_tx *tx, uint32_t level, uint32_t tile_x, uint32_t tile_y)
{
    txm_tile_id tile;
    txm_span span;
    if (txm_tile_at(tx, level, tile_x, tile_y, &tile, NULL) != TXM_OK || txm_tx_check_map(tx, NULL) != TXM_OK ||
        tx->ops->find(tx, &tile, &span, NULL) != TXM_OK)
        return 0;
    return span.bytes;
}

txm_status txm_tile_decode(const txm_tx *tx, const txm_tile_id *tile, txm_scratch *scratch, txm_pixels *out,
                           txm_error *err)
{
    txm_span span;
    txm_error inner = {0};
    txm_status status = tx->ops->find(tx, tile, &span, &inner);
    if (status == TXM_OK)
        status = tx->ops->decode(tx, tile, &span, scratch, out, &inner);
    if (status != TXM_OK)
        txm_fail(err, status, "%s: level %u, tile %u,%u: %s", tx->path, tile->level, tile->x, tile->y, inner.message);
    return status;
}

txm_status txm_tx_read_tile(txm_tx *tx, uint32_t level, uint32_t tile_x, uint32_t tile_y, void *dst,
                            size_t pixel_stride_bytes, size_t row_stride_bytes, uint32_t *w, uint32_t *h,
                            txm_error *err)
{
    txm_tile_id tile;
    txm_status status = txm_tile_at(tx, level, tile_x, tile_y, &tile, err);
    if (status == TXM_OK)
        status = txm_tx_check_map(tx, err);
    if (status != TXM_OK)
        return status;
    txm_scratch *scratch = txm_scratch_take(tx);
    if (!scratch)
        return txm_fail(err, TXM_NO_MEMORY, "%s: memory is exhausted", tx->path);
    txm_pixels pixels;
    status = txm_tile_decode(tx, &tile, scratch, &pixels, err);
    if (status == TXM_OK) {
        txm_window window = {dst, pixel_stride_bytes, row_stride_bytes, tx->pixel_bytes};
        txm_window_put(&window, 0, 0, pixels.data, pixels.stride, tile.w, tile.h);
        if (w)
            *w = tile.w;
        if (h)
            *h = tile.h;
    }
    txm_scratch_give(tx, scratch);
    return status;
}
