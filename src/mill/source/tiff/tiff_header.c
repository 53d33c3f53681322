/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the first directory of a TIFF source: layout and metadata, as OpenImageIO reports them. This reader supports
 * grey and RGB with any extra samples, in whole pixels or separate planes, 8 and 16 bits, half, float, double and, in
 * tiles, floats of 24 bits, compressed without loss, and CMYK of 8 and 16 bits. Palettes, other bit depths, other
 * inks, Lab, JPEG and so on are left to OpenImageIO, and so are files with metadata blocks (Exif, IPTC, XMP) in which
 * fields may appear several times.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "mill/source/meta/raster_meta.h"
#include "mill/source/tiff/tiff.h"

enum { MAX_CHANNELS = 64 };

/* The file is not damaged: OpenImageIO reads it. */
static txm_status refuse_tiff(const txm_tiff *t, txm_error *err, const char *what)
{
    txm_status status = txm_tiff_cause(t, err);
    return status != TXM_OK ? status
                            : txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: %s is not read directly", t->path, what);
}

static uint16_t short_tag(txm_tiff *t, uint32_t tag)
{
    uint16_t v = 0;
    TIFFGetFieldDefaulted(t->tif, tag, &v);
    return v;
}

static txm_status describe_samples(txm_tiff *t, txm_source_info *info, txm_error *err)
{
    const uint16_t channels = short_tag(t, TIFFTAG_SAMPLESPERPIXEL), bits = short_tag(t, TIFFTAG_BITSPERSAMPLE);
    const uint16_t format = short_tag(t, TIFFTAG_SAMPLEFORMAT), compression = short_tag(t, TIFFTAG_COMPRESSION);
    uint16_t photometric, extra_count = 0, *extra = NULL;
    if (channels < 1 || channels > MAX_CHANNELS)
        return refuse_tiff(t, err, "this number of channels");
    if (!TIFFGetField(t->tif, TIFFTAG_PHOTOMETRIC, &photometric))
        photometric = channels == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB;
    TIFFGetFieldDefaulted(t->tif, TIFFTAG_EXTRASAMPLES, &extra_count, &extra);
    /* Four inks without other channels are converted to RGB; in tiles, OpenImageIO writes beyond its memory. */
    t->inks = photometric == PHOTOMETRIC_SEPARATED && channels == TXM_INKS && !extra_count &&
              (bits == 8 || bits == 16) && format == SAMPLEFORMAT_UINT && short_tag(t, TIFFTAG_INKSET) == INKSET_CMYK;
    if (!t->inks && photometric != PHOTOMETRIC_MINISBLACK && photometric != PHOTOMETRIC_MINISWHITE &&
        photometric != PHOTOMETRIC_RGB)
        return refuse_tiff(t, err, "this colour model");
    if (bits == 8 && format != SAMPLEFORMAT_INT)
        info->type = TXM_TYPE_U8;
    else if (bits == 16 && format == SAMPLEFORMAT_UINT)
        info->type = TXM_TYPE_U16;
    else if (bits == 16 && format == SAMPLEFORMAT_IEEEFP)
        info->type = TXM_TYPE_HALF;
    else if ((bits == 32 || bits == 64 || (bits == 24 && t->tiled)) && format == SAMPLEFORMAT_IEEEFP)
        info->type = TXM_TYPE_FLOAT;
    else
        /* Floats of 24 bits in strips are left to OpenImageIO, which misinterprets their bits, and Blender with it. In
         * tiles it delivers uninitialised memory. */
        return refuse_tiff(t, err, "this sample type");
    static const uint16_t lossless[] = {COMPRESSION_NONE,    COMPRESSION_LZW,      COMPRESSION_ADOBE_DEFLATE,
                                        COMPRESSION_DEFLATE, COMPRESSION_PACKBITS, COMPRESSION_ZSTD};
    bool served = false;
    for (size_t i = 0; i < sizeof lossless / sizeof *lossless; i++)
        served |= compression == lossless[i] && TIFFIsCODECConfigured(compression);
    if (!served)
        return refuse_tiff(t, err, "this compression");
    info->tiff_compression = compression;

    t->file_channels = channels;
    info->file_channels = t->inks ? TXM_INKS - 1 : channels;
    info->channels = t->channels = info->file_channels < TXM_MAX_CHANNELS ? info->file_channels : TXM_MAX_CHANNELS;
    /* OpenImageIO inverts only bytes, and all of them. */
    t->invert = photometric == PHOTOMETRIC_MINISWHITE && info->type == TXM_TYPE_U8;
    t->sample_bytes = bits / 8u;
    bool separate = channels > 1 && short_tag(t, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
    t->planes = !separate ? 1 : t->inks ? TXM_INKS : t->channels;
    t->plane_channels = separate ? 1 : channels;

    /* The kind of alpha is that of an extra sample. */
    const uint16_t first = photometric == PHOTOMETRIC_RGB ? 3 : 1;
    for (uint16_t i = 0; extra && i < extra_count && first + i < channels; i++)
        if (extra[i] == EXTRASAMPLE_UNASSALPHA)
            info->file_alpha = TXM_FILE_ALPHA_UNASSOCIATED;
    info->tiff_premultiplied_default = info->file_channels == 4 && info->type == TXM_TYPE_U16;
    return TXM_OK;
}

/* Empty tags count as missing. */
static bool add_tiff_text(txm_tiff *t, txm_raster_meta *meta, uint32_t tag, int field)
{
    const char *text = NULL;
    if (!TIFFGetField(t->tif, tag, &text) || !text || !*text)
        return true;
    return txm_raster_meta_set_bytes(meta, field, text, strlen(text));
}

/* Leaves the directory and enters it again. false if that fails. */
static bool visit_exif(txm_tiff *t, toff_t offset, uint16_t *space)
{
    if (setjmp(t->escape) != 0) {
        t->guarded = false;
        t->tif = NULL; /* the directory is lost */
        return false;
    }
    t->guarded = true;
    if (TIFFReadEXIFDirectory(t->tif, offset))
        TIFFGetField(t->tif, EXIFTAG_COLORSPACE, space);
    *t->message = 0; /* damage in Exif does not concern the image */
    bool back = TIFFSetDirectory(t->tif, 0);
    t->guarded = false;
    return back;
}

/* Fields come from where OpenImageIO takes them, in its order: tags, IPTC for fields that they lack, XMP over both.
 * Files with metadata blocks that OpenImageIO reads in its own way are left to it. */
static txm_status describe_metadata(txm_tiff *t, txm_source_info *info, txm_error *err)
{
    static const char *const units[] = {[RESUNIT_NONE] = "none", [RESUNIT_INCH] = "in", [RESUNIT_CENTIMETER] = "cm"};
    txm_raster_meta meta = {0};
    txm_density *density = &info->density;
    uint32_t count = 0;
    uint16_t unit = 0;
    void *data = NULL;
    if (TIFFIsByteSwapped(t->tif) && TIFFGetField(t->tif, TIFFTAG_RICHTIFFIPTC, &count, &data))
        return refuse_tiff(t, err, "IPTC metadata in big-endian words");
    /* The aspect is computed as in OpenImageIO. */
    TIFFGetField(t->tif, TIFFTAG_XRESOLUTION, &density->x);
    TIFFGetField(t->tif, TIFFTAG_YRESOLUTION, &density->y);
    if (density->x != 0 && density->y != 0)
        density->aspect = density->y / density->x;
    if (TIFFGetField(t->tif, TIFFTAG_RESOLUTIONUNIT, &unit) && unit >= RESUNIT_NONE && unit <= RESUNIT_CENTIMETER)
        strcpy(density->unit, units[unit]);
    bool ok = add_tiff_text(t, &meta, TIFFTAG_ARTIST, TXM_META_ARTIST) &&
              add_tiff_text(t, &meta, TIFFTAG_COPYRIGHT, TXM_META_COPYRIGHT) &&
              add_tiff_text(t, &meta, TIFFTAG_IMAGEDESCRIPTION, TXM_META_DESCRIPTION) &&
              add_tiff_text(t, &meta, TIFFTAG_SOFTWARE, TXM_META_SOFTWARE);
    if (ok && TIFFGetField(t->tif, TIFFTAG_RICHTIFFIPTC, &count, &data) && data)
        ok = txm_raster_meta_add_iim(&meta, data, count);
    if (ok && TIFFGetField(t->tif, TIFFTAG_XMLPACKET, &count, &data) && data)
        ok = txm_raster_meta_add_xmp(&meta, data, count);
    const char *description = ok ? meta.fields[TXM_META_DESCRIPTION] : NULL;
    txm_status status = TXM_OK;
    /* Textures have digests and averages in the description, which OpenImageIO removes. */
    if (description && (strstr(description, "oiio:") || strstr(description, "SHA-1=")))
        status = refuse_tiff(t, err, "a texture's description");
    else if (!ok || !txm_raster_meta_store(&meta, info))
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for its metadata", t->path);
    txm_raster_meta_clear(&meta);
    toff_t exif = 0;
    if (status != TXM_OK || !TIFFGetField(t->tif, TIFFTAG_EXIFIFD, &exif))
        return status != TXM_OK ? status : txm_tiff_cause(t, err);
    uint16_t space = 0xffff; /* uncalibrated */
    const bool back = visit_exif(t, exif, &space);
    status = txm_tiff_cause(t, err);
    if (status == TXM_OK && space != 0xffff)
        strcpy(info->colorspace_hint, TXM_INTEROP_SRGB);
    return status != TXM_OK || back ? status : txm_fail(err, TXM_STATUS_CORRUPT, "%s: %s", t->path, t->message);
}

/* The layout comes first, since it decides which kinds of samples are possible. Volumes are not images; blocks larger
 * than the limits are left to OpenImageIO. */
txm_status txm_tiff_describe(txm_tiff *t, txm_source_info *info, txm_error *err)
{
    uint32_t depth = 1, tile_depth = 1, rows = 0;
    if (t->doubtful)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: %s", t->path, t->message);
    if (!TIFFGetField(t->tif, TIFFTAG_IMAGEWIDTH, &t->width) ||
        !TIFFGetField(t->tif, TIFFTAG_IMAGELENGTH, &t->height) || t->width < 1 || t->height < 1)
        return refuse_tiff(t, err, "an image without a size");
    txm_status status = txm_source_check_size(t->path, t->width, t->height, err);
    if (status != TXM_OK)
        return status;
    TIFFGetFieldDefaulted(t->tif, TIFFTAG_IMAGEDEPTH, &depth);
    TIFFGetFieldDefaulted(t->tif, TIFFTAG_TILEDEPTH, &tile_depth);
    if (depth > 1 || tile_depth > 1)
        return refuse_tiff(t, err, "a volume");
    t->tiled = info->tiled = TIFFIsTiled(t->tif);
    if (t->tiled) {
        if (!TIFFGetField(t->tif, TIFFTAG_TILEWIDTH, &t->block_w) ||
            !TIFFGetField(t->tif, TIFFTAG_TILELENGTH, &t->block_h) || t->block_w < 1 || t->block_h < 1 ||
            t->block_w > TXM_MAX_SIZE_PX || t->block_h > TXM_MAX_SIZE_PX)
            return refuse_tiff(t, err, "this size of tiles");
    } else {
        TIFFGetFieldDefaulted(t->tif, TIFFTAG_ROWSPERSTRIP, &rows);
        t->block_w = t->width;
        t->block_h = rows < 1 || rows > t->height ? t->height : rows;
    }
    info->width = t->width;
    info->height = t->height;
    status = describe_samples(t, info, err);
    return status == TXM_OK ? describe_metadata(t, info, err) : status;
}
