/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a finished TIFF has the requested content: every directory, its table of tiles and its texts.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/write/writer_impl.h"
#include "mill/write/writer_metadata.h"
#include "tile/reader/blender_format.h"
#include "tile/reader/tiff_reader.h"

enum { TAG_DOCUMENT_NAME = 269, TAG_SOFTWARE = 305, TAG_DATE = 306, TAG_EXTRA_SAMPLES = 338, TAG_WRAP_MODES = 33303 };

/* Includes the terminating zero, which readers rely on. */
static txm_status check_text(const txm_read_back *c, const txm_tiff *t, const txm_tiff_directory *dir, uint16_t tag,
                             const char *text)
{
    txm_tiff_field f;
    bool found;
    char what[32];
    txm_status status = txm_tiff_find(t, dir, tag, &f, &found);
    if (status != TXM_OK ||
        (found && f.type == TXM_TIFF_ASCII && f.count == strlen(text) + 1 && !memcmp(f.data, text, (size_t)f.count)))
        return status;
    snprintf(what, sizeof what, "tag %u", tag);
    return txm_read_back_differs(c, what);
}

static bool in_order(const txm_read_back *c, const txm_reader_level *l, uint64_t directory)
{
    uint64_t end = 0, tiles = (uint64_t)l->shape.tiles_x * l->shape.tiles_y;
    for (uint64_t i = 0; i < tiles; i++) {
        uint64_t at = txm_load_uint(l->offsets + i * l->offset_bytes, l->offset_bytes, c->tx->swap);
        uint64_t bytes = txm_load_uint(l->counts + i * l->count_bytes, l->count_bytes, c->tx->swap);
        if (at < end || !bytes)
            return false;
        end = at + bytes;
    }
    return end <= directory;
}

static txm_status check_directory(const txm_read_back *c, const txm_tiff *t, const txm_tiff_directory *dir,
                                  uint32_t level)
{
    const txm_reader_level *l = &c->tx->levels[level];
    bool alpha = c->layout->channels == 4, packed = c->layout->compression.codec != TXM_CODEC_NONE, found;
    char date[TXM_DATE_BYTES];
    uint32_t photometric, predictor;
    txm_tiff_field extra;
    txm_status status;
    if ((status = txm_tiff_number(t, dir, TXM_TAG_PHOTOMETRIC, 0, &photometric)) ||
        (status = txm_tiff_number(t, dir, TXM_TAG_PREDICTOR, 1, &predictor)) ||
        (status = txm_tiff_find(t, dir, TAG_EXTRA_SAMPLES, &extra, &found)))
        return status;
    if (photometric != (alpha ? 2 : 1) || predictor != (packed ? 2 : 1) ||
        l->compression != c->tx->levels[0].compression)
        return txm_read_back_differs(c, "how its pixels are stored");
    if (found != alpha ||
        (found && (!txm_tiff_is_integer(&extra) || extra.count != 1 || txm_tiff_value(t, &extra, 0) != 0)))
        return txm_read_back_differs(c, "the meaning of its alpha channel");
    if (!in_order(c, l, (uint64_t)(dir->fields - c->tx->map.data)))
        return txm_read_back_differs(c, "its table of tiles");
    txm_metadata_date(c->metadata->source_mtime, date);
    return check_text(c, t, dir, TAG_DATE, date);
}

/* Only the first directory has texts. */
static txm_status check_texts(const txm_read_back *c, const txm_tiff *t, const txm_tiff_directory *dir)
{
    const txm_tx_metadata *m = c->metadata;
    txm_bytes document = {0}, description = {0};
    txm_status status;
    if (!txm_metadata_document_name(m, &document) ||
        !txm_metadata_description(m, c->summary, c->layout->channels, &description)) {
        status = txm_no_memory(c->err, c->tx->path);
        goto done;
    }
    if ((status = check_text(c, t, dir, TAG_DOCUMENT_NAME, document.data)) ||
        (status = check_text(c, t, dir, TXM_TAG_IMAGE_DESCRIPTION, description.data)) ||
        (status = check_text(c, t, dir, TAG_SOFTWARE, txm_blender_format_now()->software)) ||
        (status = check_text(c, t, dir, TXM_TAG_TEXTURE_FORMAT, txm_tx_texture_format(m))) ||
        (status = check_text(c, t, dir, TAG_WRAP_MODES, txm_tx_wrap_modes(m))))
        goto done;
    for (size_t i = 0; status == TXM_OK && i < m->attribute_count; i++) {
        uint32_t tag = txm_metadata_tiff_tag(m->attributes[i].name);
        bool replaced = false; /* of attributes with the same tag, the last one is kept */
        for (size_t k = i + 1; k < m->attribute_count; k++)
            replaced |= txm_metadata_tiff_tag(m->attributes[k].name) == tag;
        if (tag && !replaced)
            status = check_text(c, t, dir, (uint16_t)tag, m->attributes[i].value);
    }
done:
    txm_bytes_free(&document);
    txm_bytes_free(&description);
    return status;
}

txm_status txm_tiff_read_back(const txm_read_back *c)
{
    txm_tiff t = {.tx = c->tx, .err = c->err};
    uint64_t offset = 0;
    txm_status status = txm_tiff_header(&t, &offset) ? TXM_OK : txm_read_back_differs(c, "its header");
    for (uint32_t level = 0; status == TXM_OK && level < c->layout->levels; level++) {
        txm_tiff_directory dir;
        if ((status = txm_tiff_open_directory(&t, offset, &dir)) || (status = check_directory(c, &t, &dir, level)) ||
            (!level && (status = check_texts(c, &t, &dir))))
            return status;
        offset = dir.next;
    }
    return status == TXM_OK && offset ? txm_read_back_differs(c, "its number of levels") : status;
}
