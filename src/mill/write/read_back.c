/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares a finished tx file with what should have been written.
 *
 * The file is opened by our own reader like any other, and each difference in shape, order, text or tables is a failure
 * that names it. Texts and tables depend on the container: tiff_writer.c, exr_writer.c.
 *
 * This is necessary because a disk or a network share may accept writes and store something else, and a bug in this
 * program or a library could put wrong textures under names that a farm trusts. Reading back costs little, since the
 * file is in the page cache and tiles are not decoded.
 */
#include "mill/write/writer.h"

#include <string.h>

#include "base/fail.h"
#include "mill/write/writer_impl.h"
#include "mill/write/writer_metadata.h"

txm_status txm_read_back_differs(const txm_read_back *c, const char *what)
{
    return txm_fail(c->err, TXM_STATUS_IO, "%s: read back, %s is not what was written; the file was dropped",
                    c->tx->path, what);
}

/* `name` is for messages; the file has no name yet. The reader has parsed every number anew. */
txm_status txm_tx_read_back(int fd, const char *name, const txm_tx_layout *layout, const txm_tx_metadata *metadata,
                            const txm_tx_summary *summary, uint64_t image_bytes, bool section, txm_error *err)
{
    txm_error why = {0};
    const txm_tx_metadata texts = txm_metadata_complete(metadata);
    txm_read_back c = {.layout = layout, .metadata = &texts, .summary = summary, .err = &why};
    txm_status status = txm_tx_open_fd(fd, name, &c.tx, &why);
    if (status == TXM_OK) {
        const txm_tx_info *info = &c.tx->info;
        const txm_tx_layout *l = layout;
        if (info->container != txm_container_of(l->type) || info->type != l->type || info->channels != l->channels)
            status = txm_read_back_differs(&c, "the type of its pixels");
        else if (info->width != l->width || info->height != l->height || info->levels != l->levels)
            status = txm_read_back_differs(&c, "the size of its levels");
        else if (info->tile_w != l->tile_px || info->tile_h != l->tile_px)
            status = txm_read_back_differs(&c, "the size of its tiles");
        else if (strcmp(info->compression, txm_codec_name(l->compression.codec)) != 0)
            status = txm_read_back_differs(&c, "its compression");
        else if (info->section != (section ? TXM_SECTION_STATE_VALID : TXM_SECTION_STATE_NONE) ||
                 info->image_bytes != image_bytes)
            status = txm_read_back_differs(&c, "its border section");
    }
    if (status == TXM_OK)
        status = txm_container_writer_of(layout->type)->read_back(&c);
    txm_tx_close(&c.tx);
    /* The reader's errors for damaged files don't apply: no existing file is damaged, this one was not written
     * properly. */
    if (status == TXM_STATUS_CORRUPT || status == TXM_STATUS_UNSUPPORTED || status == TXM_STATUS_TOO_LARGE ||
        status == TXM_STATUS_CHANGED)
        return txm_fail(err, TXM_STATUS_IO, "%s (read back after writing; the file was dropped)", why.message);
    return status == TXM_OK ? TXM_OK : txm_fail_as(err, &why);
}
