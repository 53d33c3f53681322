/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of an EXR source: layout, order of channels, and metadata, all as OpenImageIO reports them.
 *
 * This reader handles single-part scanline and tiled images with lossless compression whose channels are all half or
 * all float and not subsampled.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "mill/source/exr/exr.h"

/* The file is not damaged: OpenImageIO reads it. */
static txm_status refuse(const txm_exr *x, txm_error *err, const char *what)
{
    txm_status status = txm_exr_cause(x, err);
    return status != TXM_OK ? status
                            : txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: %s is not read directly%s%s", x->path, what,
                                       *x->message ? ": " : "", x->message);
}

/* Uses the data window and ignores the display window, as Blender does. */
static txm_status describe_layout(txm_exr *x, txm_source_info *info, txm_error *err)
{
    exr_attr_box2i_t window;
    exr_storage_t storage;
    int parts = 0;
    int32_t lines = 0;
    if (exr_get_count(x->context, &parts) != EXR_ERR_SUCCESS || parts != 1)
        return refuse(x, err, "a multi-part file");
    if (exr_get_storage(x->context, 0, &storage) != EXR_ERR_SUCCESS ||
        (storage != EXR_STORAGE_SCANLINE && storage != EXR_STORAGE_TILED))
        return refuse(x, err, "this kind of part");
    if (exr_get_compression(x->context, 0, &x->compression) != EXR_ERR_SUCCESS ||
        exr_get_data_window(x->context, 0, &window) != EXR_ERR_SUCCESS)
        return refuse(x, err, "this header");
    /* OpenEXR 3.1's C library fails on some DWAA and DWAB files and decodes some B44 files differently from its C++
     * library. */
    if (x->compression != EXR_COMPRESSION_NONE && x->compression != EXR_COMPRESSION_RLE &&
        x->compression != EXR_COMPRESSION_ZIPS && x->compression != EXR_COMPRESSION_ZIP &&
        x->compression != EXR_COMPRESSION_PIZ)
        return refuse(x, err, "this compression");
    int64_t w = (int64_t)window.max.x - window.min.x + 1, h = (int64_t)window.max.y - window.min.y + 1;
    if (w < 1 || h < 1)
        return refuse(x, err, "an empty data window");
    const txm_status fits = txm_source_check_size(x->path, w, h, err);
    if (fits != TXM_OK)
        return fits;
    x->min_x = window.min.x;
    x->min_y = window.min.y;
    info->width = x->width = (uint32_t)w;
    info->height = x->height = (uint32_t)h;
    x->tiled = storage == EXR_STORAGE_TILED;
    if (x->tiled) {
        exr_tile_level_mode_t level;
        exr_tile_round_mode_t round;
        if (exr_get_tile_descriptor(x->context, 0, &x->chunk_w, &x->chunk_h, &level, &round) != EXR_ERR_SUCCESS ||
            x->chunk_w < 1 || x->chunk_h < 1 || x->chunk_w > TXM_MAX_SIZE_PX || x->chunk_h > TXM_MAX_SIZE_PX)
            return refuse(x, err, "this size of tiles");
    } else {
        if (exr_get_scanlines_per_chunk(x->context, 0, &lines) != EXR_ERR_SUCCESS || lines < 1 || lines > 4096)
            return refuse(x, err, "this layout of rows");
        x->chunk_w = x->width;
        x->chunk_h = (uint32_t)lines;
    }
    return TXM_OK;
}

/* The value of the string attribute that OpenImageIO reports as `name`; if there are several, the last one by name.
 * OpenImageIO renames two attributes. */
static const char *text_of(txm_exr *x, const char *name)
{
    const char *value = "";
    int32_t count = 0;
    exr_get_attribute_count(x->context, 0, &count);
    for (int32_t i = 0; i < count; i++) {
        const exr_attribute_t *a = NULL;
        if (exr_get_attribute_by_index(x->context, 0, EXR_ATTR_LIST_SORTED_ORDER, i, &a) != EXR_ERR_SUCCESS || !a ||
            a->type != EXR_ATTR_STRING || !a->string || !a->string->str)
            continue;
        const char *known = strcmp(a->name, "owner") == 0      ? "Copyright"
                            : strcmp(a->name, "comments") == 0 ? "ImageDescription"
                                                               : a->name;
        if (txm_casecmp(known, name) == 0)
            value = a->string->str;
    }
    return value;
}

/* An attribute of the header; NULL if it is missing, or of another type. It is looked up by name first, because OpenEXR
 * reports an error if a missing attribute is read by type. */
static const exr_attribute_t *attribute(txm_exr *x, const char *name, exr_attribute_type_t type)
{
    const exr_attribute_t *a = NULL;
    return exr_get_attribute_by_name(x->context, 0, name, &a) == EXR_ERR_SUCCESS && a && a->type == type ? a : NULL;
}

static txm_status describe_metadata(txm_exr *x, txm_source_info *info, txm_error *err)
{
    float xy[8];
    const exr_attribute_t *aces = attribute(x, "acesImageContainerFlag", EXR_ATTR_INT);
    const exr_attribute_t *primaries = attribute(x, "chromaticities", EXR_ATTR_CHROMATICITIES);
    const exr_attr_chromaticities_t *c = primaries ? primaries->chromaticities : NULL;
    if (c)
        memcpy(
            xy,
            (const float[8]){c->red_x, c->red_y, c->green_x, c->green_y, c->blue_x, c->blue_y, c->white_x, c->white_y},
            sizeof xy);
    /* OpenImageIO ignores the case of the attribute's name; Blender's loader does not. */
    const char *id = text_of(x, "colorInteropID");
    const exr_attribute_t *exact = attribute(x, "colorInteropID", EXR_ATTR_STRING);
    snprintf(info->interop_id, sizeof info->interop_id, "%s",
             txm_exr_loaded_as(c ? xy : NULL, aces && aces->i == 1,
                               exact && exact->string && exact->string->str ? exact->string->str : ""));
    snprintf(info->colorspace_hint, sizeof info->colorspace_hint, "%s", *id ? id : text_of(x, "oiio:ColorSpace"));
    info->tiled = x->tiled;
    info->unit_rows = x->chunk_h;
    /* Aspect and pixels per inch, by the rules of OpenImageIO's reader. */
    txm_density *density = &info->density;
    exr_get_pixel_aspect_ratio(x->context, 0, &density->aspect);
    const exr_attribute_t *per_inch = attribute(x, "xDensity", EXR_ATTR_FLOAT);
    if (per_inch && per_inch->f != 0) {
        density->x = per_inch->f;
        density->y = per_inch->f * (density->aspect != 0 ? density->aspect : 1);
        strcpy(density->unit, "in");
    }
    snprintf(info->software, sizeof info->software, "%s", text_of(x, "Software"));
    static const char *const kept[] = {"Artist", "Copyright", "ImageDescription"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!txm_source_keep(info, kept[i], text_of(x, kept[i])))
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for its metadata", x->path);
    return TXM_OK;
}

/* A read error that OpenEXR did not report is returned at the end. */
txm_status txm_exr_describe(txm_exr *x, txm_source_info *info, txm_error *err)
{
    txm_status status = describe_layout(x, info, err);
    if (status != TXM_OK)
        return status;
    const exr_attr_chlist_t *list = NULL;
    if (exr_get_channels(x->context, 0, &list) != EXR_ERR_SUCCESS || !list || list->num_channels < 1 ||
        list->num_channels > TXM_EXR_MAX_CHANNELS)
        return refuse(x, err, "this list of channels");
    exr_pixel_type_t type = list->entries[0].pixel_type;
    const char *names[TXM_EXR_MAX_CHANNELS];
    for (int i = 0; i < list->num_channels; i++) {
        const exr_attr_chlist_entry_t *c = &list->entries[i];
        if (c->x_sampling != 1 || c->y_sampling != 1 || !c->name.str || c->pixel_type != type)
            return refuse(x, err, "a list of channels of several kinds");
        /* The differences of red and blue from luminance, in any layer. */
        const char *dot = strrchr(c->name.str, '.'), *last = dot ? dot + 1 : c->name.str;
        if (strcmp(last, "RY") == 0 || strcmp(last, "BY") == 0)
            return refuse(x, err, "luminance and chroma");
        names[i] = c->name.str;
    }
    if (type != EXR_PIXEL_HALF && type != EXR_PIXEL_FLOAT)
        return refuse(x, err, "integer data");
    info->file_channels = x->file_channels = (uint32_t)list->num_channels;
    info->channels = x->channels = x->file_channels < TXM_MAX_CHANNELS ? x->file_channels : TXM_MAX_CHANNELS;
    info->type = type == EXR_PIXEL_HALF ? TXM_TYPE_HALF : TXM_TYPE_FLOAT;
    x->sample_bytes = (uint32_t)txm_type_bytes(info->type);
    txm_exr_channel_order(names, x->file_channels, x->order);
    status = describe_metadata(x, info, err);
    return status == TXM_OK ? txm_exr_cause(x, err) : status;
}
