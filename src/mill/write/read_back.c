/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparing a finished tx file with what was asked for.
 *
 * In: the descriptor of the finished file and what was asked for. The file is opened by our own reader as any other
 * would be; every difference in shape, order, text or tables is a failure that names what differs.
 *
 * Why at all: a disk or a share may accept writes and store something else, and a bug of ours or of a library
 * would put wrong textures under names that a farm trusts. Reading back costs little, since the file is in the
 * page cache and tiles are not decoded.
 */
#include "mill/write/read_back.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "mill/write/writer_metadata.h"
#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/reader/blender_format.h"
#include "tile/reader/tiff_reader.h"

enum { TAG_DOCUMENT_NAME = 269, TAG_SOFTWARE = 305, TAG_DATE = 306, TAG_EXTRA_SAMPLES = 338, TAG_WRAP_MODES = 33303 };

typedef struct check {
    txm_tx *tx;
    const txm_tx_layout *layout;
    const txm_tx_metadata *metadata;
    const txm_tx_summary *summary;
    txm_error *err;
} check;

/* The file never gets its final name. */
static txm_status differs(const check *c, const char *what)
{
    return txm_fail(c->err, TXM_STATUS_IO, "%s: read back, %s is not what was written; the file was dropped",
                    c->tx->path, what);
}

/* ---- what both containers have ---- */

/* As our reader reports it: every number has been parsed anew. */
static txm_status check_shape(const check *c, uint64_t image_bytes, bool section)
{
    const txm_tx_info *info = &c->tx->info;
    const txm_tx_layout *l = c->layout;
    txm_container container = txm_type_is_float(l->type) ? TXM_CONTAINER_EXR : TXM_CONTAINER_TIFF;
    if (info->container != container || info->type != l->type || info->channels != l->channels)
        return differs(c, "the type of its pixels");
    if (info->width != l->width || info->height != l->height || info->levels != l->levels)
        return differs(c, "the size of its levels");
    if (info->tile_w != l->tile_px || info->tile_h != l->tile_px)
        return differs(c, "the size of its tiles");
    if (strcmp(info->compression, txm_codec_name(l->compression.codec)) != 0)
        return differs(c, "its compression");
    if (info->section != (section ? TXM_SECTION_STATE_VALID : TXM_SECTION_STATE_NONE) ||
        info->image_bytes != image_bytes)
        return differs(c, "its border section");
    return TXM_OK;
}

/* ---- TIFF: every directory ---- */

/* With the terminating zero, which readers rely on. */
static txm_status check_text(const check *c, const txm_tiff *t, const txm_tiff_directory *dir, uint16_t tag,
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
    return differs(c, what);
}

/* Whether the tiles of a level follow each other, in front of its directory. */
static bool in_order(const check *c, const txm_reader_level *l, uint64_t directory)
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

/* The directory of one level. That its size and its tiles are right, the reader has found out. */
static txm_status check_directory(const check *c, const txm_tiff *t, const txm_tiff_directory *dir, uint32_t level)
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
        return differs(c, "how its pixels are stored");
    if (found != alpha ||
        (found && (!txm_tiff_is_integer(&extra) || extra.count != 1 || txm_tiff_value(t, &extra, 0) != 0)))
        return differs(c, "the meaning of its alpha channel");
    if (!in_order(c, l, (uint64_t)(dir->fields - c->tx->map.data)))
        return differs(c, "its table of tiles");
    txm_metadata_date(c->metadata->source_mtime, date);
    return check_text(c, t, dir, TAG_DATE, date);
}

/* Whether a later attribute takes the same tag: that one is kept. */
static bool is_replaced(const txm_tx_metadata *m, size_t index, uint32_t tag)
{
    for (size_t i = index + 1; i < m->attribute_count; i++)
        if (txm_metadata_tiff_tag(m->attributes[i].name) == tag)
            return true;
    return false;
}

/* Only the first directory has texts. */
static txm_status check_texts(const check *c, const txm_tiff *t, const txm_tiff_directory *dir)
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
        if (tag && !is_replaced(m, i, tag))
            status = check_text(c, t, dir, (uint16_t)tag, m->attributes[i].value);
    }
done:
    txm_bytes_free(&document);
    txm_bytes_free(&description);
    return status;
}

/* Each level's directory, and nothing after the last. */
static txm_status check_tiff(const check *c)
{
    txm_tiff t = {.tx = c->tx, .err = c->err};
    uint64_t offset = 0;
    txm_status status = txm_tiff_header(&t, &offset) ? TXM_OK : differs(c, "its header");
    for (uint32_t level = 0; status == TXM_OK && level < c->layout->levels; level++) {
        txm_tiff_directory dir;
        if ((status = txm_tiff_open_directory(&t, offset, &dir)) || (status = check_directory(c, &t, &dir, level)) ||
            (!level && (status = check_texts(c, &t, &dir))))
            return status;
        offset = dir.next;
    }
    return status == TXM_OK && offset ? differs(c, "its number of levels") : status;
}

/* ---- EXR: the attributes ---- */

/* The reader shows control characters as question marks. */
static bool shows(const char *kept, const char *text)
{
    for (; *kept && *text; kept++, text++)
        if (*kept != *text && !(*kept == '?' && iscntrl((unsigned char)*text)))
            return false;
    return *kept == *text;
}

/* Whether the file has the attribute. What the reader has no room for passes unseen. */
static bool has(const check *c, const char *name, const char *text)
{
    const txm_metadata *m = &c->tx->metadata;
    const char *kept = txm_tx_metadata_of(c->tx, name);
    return kept ? shows(kept, text)
                : m->count == TXM_METADATA_MAX_ENTRIES ||
                      m->text.size + strlen(name) + strlen(text) + 2 > TXM_METADATA_MAX_BYTES;
}

/* Compared as text: that is what was written. */
static bool has_color(const check *c, const char *name, const float *color)
{
    char text[TXM_COLOR_BYTES];
    txm_metadata_color(color, c->layout->channels, text);
    return has(c, name, text);
}

/* Of attributes that share a name, one is kept. */
static bool has_attribute(const check *c, const char *name)
{
    for (size_t i = 0; i < c->metadata->attribute_count; i++) {
        const txm_tx_attribute *a = &c->metadata->attributes[i];
        if (!strcmp(txm_metadata_exr_name(a->name), name) && has(c, name, a->value))
            return true;
    }
    return false;
}

/* All attributes that Cycles or this project looks at. */
static txm_status check_exr(const check *c)
{
    const txm_tx_metadata *m = c->metadata;
    const txm_tx_summary *s = c->summary;
    char date[TXM_DATE_BYTES];
    txm_metadata_date(m->source_mtime, date);
    bool same = has(c, "Software", txm_blender_format_now()->software) &&
                has(c, "blender:SourceAlpha", txm_alpha_stored_name(m->alpha)) &&
                has(c, "blender:SourceColorSpace", m->detected_colorspace) && has(c, "blender:SourceFile", m->source) &&
                has(c, "blender:XYZToSceneLinear", m->xyz_to_scene_linear) && has(c, "capDate", date) &&
                has(c, "textureformat", txm_tx_texture_format(m)) && has(c, "wrapmodes", txm_tx_wrap_modes(m)) &&
                has(c, "oiio:SHA-1", s->sha1) && has_color(c, "oiio:AverageColor", s->average);
    same = same && (!s->constant || has_color(c, "oiio:ConstantColor", s->constant_color));
    same = same && (!*m->interop_id || has(c, "colorInteropID", m->interop_id));
    same = same && (!*m->requested_colorspace || has(c, "txmill:ColorSpace", m->requested_colorspace));
    same = same && (!*m->config || has(c, "txmill:Config", m->config));
    same = same && (!m->equiangular || has(c, "envmap", "latlong"));
    for (size_t i = 0; same && i < m->attribute_count; i++)
        same = txm_metadata_is_reserved(m->attributes[i].name) ||
               has_attribute(c, txm_metadata_exr_name(m->attributes[i].name));
    return same ? TXM_OK : differs(c, "its metadata");
}

/* `name` is for messages; the file has no name yet. */
txm_status txm_tx_read_back(int fd, const char *name, const txm_tx_layout *layout, const txm_tx_metadata *metadata,
                            const txm_tx_summary *summary, uint64_t image_bytes, bool section, txm_error *err)
{
    txm_error why = {0};
    txm_tx_metadata texts; /* as the writer has them: none is NULL */
    txm_status status = txm_metadata_copy(metadata, &texts, err);
    if (status != TXM_OK)
        return status;
    check c = {.layout = layout, .metadata = &texts, .summary = summary, .err = &why};
    status = txm_tx_open_fd(fd, name, &c.tx, &why);
    if (status == TXM_OK)
        status = check_shape(&c, image_bytes, section);
    if (status == TXM_OK)
        status = txm_type_is_float(layout->type) ? check_exr(&c) : check_tiff(&c);
    txm_tx_close(&c.tx);
    txm_metadata_clear(&texts);
    /* Nothing that anybody has is damaged: this file was not written. */
    if (status == TXM_STATUS_CORRUPT || status == TXM_STATUS_UNSUPPORTED || status == TXM_STATUS_TOO_LARGE ||
        status == TXM_STATUS_CHANGED)
        return txm_fail(err, TXM_STATUS_IO, "%s (read back after writing; the file was dropped)", why.message);
    return status == TXM_OK ? TXM_OK : txm_fail_as(err, &why);
}
