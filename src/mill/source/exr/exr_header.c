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

/* ---- layout ---- */

/* OpenEXR 3.1's C library fails on some DWAA and DWAB files and decodes some B44 files differently from its C++
 * library. */
static bool is_served(exr_compression_t compression)
{
    return compression == EXR_COMPRESSION_NONE || compression == EXR_COMPRESSION_RLE ||
           compression == EXR_COMPRESSION_ZIPS || compression == EXR_COMPRESSION_ZIP ||
           compression == EXR_COMPRESSION_PIZ;
}

/* The file is not damaged: OpenImageIO reads it. */
static txm_status refuse(const txm_exr *x, txm_error *err, const char *what)
{
    txm_status status = txm_exr_cause(x, err);
    return status != TXM_OK ? status
                            : txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: %s is not read directly%s%s", x->path, what,
                                       *x->message ? ": " : "", x->message);
}

/* The differences of red and blue from luminance, in any layer. */
static bool is_chroma(const char *name)
{
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
    return strcmp(last, "RY") == 0 || strcmp(last, "BY") == 0;
}

static txm_status describe_channels(txm_exr *x, txm_source_info *info, txm_error *err)
{
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
        if (is_chroma(c->name.str))
            return refuse(x, err, "luminance and chroma");
        names[i] = c->name.str;
    }
    if (type != EXR_PIXEL_HALF && type != EXR_PIXEL_FLOAT)
        return refuse(x, err, "integer data");
    x->file_channels = (uint32_t)list->num_channels;
    x->channels = x->file_channels < TXM_MAX_CHANNELS ? x->file_channels : TXM_MAX_CHANNELS;
    x->sample_bytes = type == EXR_PIXEL_HALF ? 2 : 4;
    txm_exr_channel_order(names, x->file_channels, x->order);
    info->file_channels = x->file_channels;
    info->channels = x->channels;
    info->type = type == EXR_PIXEL_HALF ? TXM_TYPE_HALF : TXM_TYPE_FLOAT;
    return TXM_OK;
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
    if (!is_served(x->compression))
        return refuse(x, err, "this compression");
    int64_t w = (int64_t)window.max.x - window.min.x + 1, h = (int64_t)window.max.y - window.min.y + 1;
    if (w < 1 || h < 1)
        return refuse(x, err, "an empty data window");
    if (w > TXM_MAX_SIZE_PX || h > TXM_MAX_SIZE_PX)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: %lld x %lld px; the limit is %d px per side", x->path,
                        (long long)w, (long long)h, TXM_MAX_SIZE_PX);
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

/* ---- metadata ---- */

/* OpenImageIO renames two attributes. */
static const char *oiio_name(const char *name)
{
    if (strcmp(name, "owner") == 0)
        return "Copyright";
    if (strcmp(name, "comments") == 0)
        return "ImageDescription";
    return name;
}

/* The value of the string attribute that OpenImageIO reports as `name`; if there are several, the last one by name. */
static const char *text_of(txm_exr *x, const char *name)
{
    const char *value = "";
    int32_t count = 0;
    exr_get_attribute_count(x->context, 0, &count);
    for (int32_t i = 0; i < count; i++) {
        const exr_attribute_t *a = NULL;
        if (exr_get_attribute_by_index(x->context, 0, EXR_ATTR_LIST_SORTED_ORDER, i, &a) == EXR_ERR_SUCCESS && a &&
            a->type == EXR_ATTR_STRING && a->string && a->string->str && txm_casecmp(oiio_name(a->name), name) == 0)
            value = a->string->str;
    }
    return value;
}

/* The header's properties of colours, as Blender's loader and `auto` see them. */
static void describe_colors(txm_exr *x, txm_source_info *info)
{
    float xy[8];
    bool has_xy = false, flag = false;
    const exr_attribute_t *a = NULL;
    /* The attribute is looked up by name first, because OpenEXR reports an error if a missing attribute is read by
     * type. */
    if (exr_get_attribute_by_name(x->context, 0, "acesImageContainerFlag", &a) == EXR_ERR_SUCCESS && a)
        flag = a->type == EXR_ATTR_INT && a->i == 1;
    a = NULL;
    if (exr_get_attribute_by_name(x->context, 0, "chromaticities", &a) == EXR_ERR_SUCCESS && a &&
        a->type == EXR_ATTR_CHROMATICITIES && a->chromaticities) {
        const exr_attr_chromaticities_t *c = a->chromaticities;
        const float values[8] = {c->red_x,  c->red_y,  c->green_x, c->green_y,
                                 c->blue_x, c->blue_y, c->white_x, c->white_y};
        memcpy(xy, values, sizeof xy);
        has_xy = true;
    }
    /* OpenImageIO ignores the case of the attribute's name; Blender's loader does not. */
    const char *id = text_of(x, "colorInteropID");
    a = NULL;
    bool exact = exr_get_attribute_by_name(x->context, 0, "colorInteropID", &a) == EXR_ERR_SUCCESS && a &&
                 a->type == EXR_ATTR_STRING && a->string && a->string->str;
    snprintf(info->interop_id, sizeof info->interop_id, "%s",
             txm_exr_loaded_as(has_xy ? xy : NULL, flag, exact ? a->string->str : ""));
    snprintf(info->colorspace_hint, sizeof info->colorspace_hint, "%s", *id ? id : text_of(x, "oiio:ColorSpace"));
}

/* Aspect and pixels per inch, by the rules of OpenImageIO's reader. */
static void describe_density(txm_exr *x, txm_density *density)
{
    const exr_attribute_t *a = NULL;
    exr_get_pixel_aspect_ratio(x->context, 0, &density->aspect);
    if (exr_get_attribute_by_name(x->context, 0, "xDensity", &a) != EXR_ERR_SUCCESS || !a ||
        a->type != EXR_ATTR_FLOAT || a->f == 0)
        return;
    density->x = a->f;
    density->y = a->f * (density->aspect != 0 ? density->aspect : 1);
    strcpy(density->unit, "in");
}

/* Metadata that may be stored in a tx file or determine its colour space. */
static txm_status describe_metadata(txm_exr *x, txm_source_info *info, txm_error *err)
{
    describe_colors(x, info);
    info->tiled = x->tiled;
    info->unit_rows = x->chunk_h;
    describe_density(x, &info->density);
    snprintf(info->software, sizeof info->software, "%s", text_of(x, "Software"));
    if (!txm_source_keep(info, "Artist", text_of(x, "Artist")) ||
        !txm_source_keep(info, "Copyright", text_of(x, "Copyright")) ||
        !txm_source_keep(info, "ImageDescription", text_of(x, "ImageDescription")))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for its metadata", x->path);
    return TXM_OK;
}

/* A read error that OpenEXR did not report is returned at the end. */
txm_status txm_exr_describe(txm_exr *x, txm_source_info *info, txm_error *err)
{
    txm_status status = describe_layout(x, info, err);
    if (status == TXM_OK)
        status = describe_channels(x, info, err);
    if (status == TXM_OK)
        status = describe_metadata(x, info, err);
    return status == TXM_OK ? txm_exr_cause(x, err) : status;
}
