/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads any image that OpenImageIO reads, as the rows that Blender would read. Pixels are requested with
 * oiio:UnassociatedAlpha=1, so that OpenImageIO does not convert them; types are mapped: half to half, float and
 * double to float, uint16 to uint16, all others to uint8. Images in scanlines are read directly into the caller's
 * rows. Tiled images can only be read in whole rows of tiles: one such band is kept here, and rows are copied out of
 * it.
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <OpenImageIO/imageio.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "mill/source/bound.h"
#include "mill/source/formats.h"
#include "mill/source/oiio/oiio_shared.h"
#include "mill/source/readers.h"

namespace oiio_module
{
namespace
{
using OIIO::ImageInput;
using OIIO::ImageSpec;
using OIIO::TypeDesc;

struct Source {
    std::string path;
    std::string name; /* the name that OpenImageIO opens */
    int fd = -1;      /* descriptor that `name` leads to, if `name` is not the path */
    oiio_module::FileName fd_name;
    ~Source()
    {
        input.reset();
        if (fd >= 0)
            close(fd);
    }
    std::unique_ptr<ImageInput> input;
    ImageSpec spec;
    TypeDesc type;
    int channels = 0;
    size_t row_bytes = 0;
    /* Images that can be read only in bands of this many rows (0: in any number), and the band that was read last: rows
     * [band_begin, band_end). */
    uint32_t band_rows = 0;
    std::unique_ptr<char[]> band;
    uint32_t band_begin = 0, band_end = 0;
};

/* Runs `work` for the file. A std::string could throw before it. */
template <typename Work> txm_status reading(const char *path, txm_error *err, Work work)
{
    return guarded(path, "decode the image", TXM_STATUS_CORRUPT, err, work);
}

/* Blender's rules: the statement of TGA files with alpha is trusted in one case only, DDS and PSD with alpha are always
 * unassociated, and for all others OpenImageIO's report counts. Of two channels the second is not alpha there. */
txm_file_alpha alpha_of(const std::string &format, const ImageSpec &spec)
{
    bool unassociated = spec.get_int_attribute("oiio:UnassociatedAlpha", 0) != 0;
    if (format == "targa")
        unassociated = spec.alpha_channel >= 0 && spec.get_int_attribute("targa:alpha_type", -1) != 4;
    else if (has_trait(format, TXM_FORMAT_UNASSOCIATED))
        unassociated = spec.alpha_channel >= 0;
    return unassociated ? TXM_FILE_ALPHA_UNASSOCIATED : TXM_FILE_ALPHA_SILENT;
}

/* The four types of tx files; wider integers lose the same precision as in Blender. */
txm_type type_of(const ImageSpec &spec)
{
    switch (spec.format.basetype) {
    case TypeDesc::HALF:
        return TXM_TYPE_HALF;
    case TypeDesc::FLOAT:
    case TypeDesc::DOUBLE:
        return TXM_TYPE_FLOAT;
    case TypeDesc::UINT16:
        return TXM_TYPE_U16;
    default:
        return TXM_TYPE_U8;
    }
}

/* Types that become 8 bits, but could be read as half. */
bool is_narrowed(const ImageSpec &spec)
{
    return type_of(spec) == TXM_TYPE_U8 && spec.format.basetype != TypeDesc::UINT8;
}

void copy(char *dst, size_t dst_bytes, const std::string &src)
{
    snprintf(dst, dst_bytes, "%s", src.c_str());
}

/* Descriptive fields that are kept in a conversion; all other metadata describe the original pixels. */
void keep_attributes(const ImageSpec &spec, txm_source_info *info)
{
    static const char *const kept[] = {"Artist", "Copyright", "ImageDescription"};
    info->attributes = static_cast<txm_attribute *>(calloc(sizeof kept / sizeof kept[0], sizeof(txm_attribute)));
    if (!info->attributes)
        throw std::bad_alloc();
    for (const char *name : kept) {
        std::string value(spec.get_string_attribute(name));
        if (value.empty())
            continue;
        txm_attribute *a = &info->attributes[info->attribute_count++];
        a->name = strdup(name);
        a->value = strdup(value.c_str());
        if (!a->name || !a->value)
            throw std::bad_alloc();
    }
}

/* A numeric field of the file: texts that happen to have its name do not count. */
float number_of(const ImageSpec &spec, const char *name)
{
    const OIIO::ParamValue *p = spec.find_attribute(name);
    if (!p || p->type().basetype == TypeDesc::STRING)
        return 0.0f;
    return p->type().basetype == TypeDesc::INT ? static_cast<float>(p->get_int()) : p->get_float();
}

/* Blender does not read a density from WebP; OpenImageIO 3.1 rounds that of PNG, older versions do not. */
void keep_density(const ImageSpec &spec, const std::string &format, txm_density *density)
{
    if (format == "webp")
        return;
    density->aspect = number_of(spec, "PixelAspectRatio");
    density->x = number_of(spec, "XResolution");
    density->y = number_of(spec, "YResolution");
    const OIIO::ParamValue *unit = spec.find_attribute("ResolutionUnit", TypeDesc::STRING);
    if (unit)
        copy(density->unit, sizeof density->unit, unit->get_string());
    if (format == "png" && strcmp(density->unit, "inch") == 0) {
        density->x = std::round(10.0f * density->x) / 10.0f;
        density->y = std::round(10.0f * density->y) / 10.0f;
    }
}

/* The name that OpenImageIO 3.1 reports, derived from that of this version. Before 3.1 every OpenEXR file is "Linear",
 * and BMP has none. What a PNG states is found elsewhere, except a text of its own; the same applies to what old
 * versions report for a gamma. */
void describe_hint(const ImageSpec &spec, const std::string &format, txm_source_info *info)
{
    std::string hint(spec.get_string_attribute("oiio:ColorSpace"));
    const bool is_curve =
        hint.compare(0, 5, "Gamma") == 0 || hint == "sRGB" || hint == "linear" || hint == "Linear" ||
        hint == "lin_srgb" ||
        (hint.size() > 13 && hint[0] == 'g' && hint.compare(hint.size() - 13, 13, "_rec709_scene") == 0) ||
        hint == TXM_INTEROP_SRGB || hint == TXM_INTEROP_LINEAR;
    if (format == "openexr") {
        const std::string id(spec.get_string_attribute("colorInteropID"));
        hint = !id.empty() ? id : hint == "Linear" ? "" : hint;
    } else if (format == "bmp" || (format == "png" && is_curve)) {
        hint = "";
    } else if (hint == "sRGB") {
        hint = TXM_INTEROP_SRGB;
    } else if (hint == "linear" || hint == "Linear" || hint == "lin_srgb") {
        hint = TXM_INTEROP_LINEAR;
    }
    copy(info->colorspace_hint, sizeof info->colorspace_hint, hint);
}

void describe(const Source &s, txm_source_info *info)
{
    const std::string format = s.input->format_name();
    info->width = static_cast<uint32_t>(s.spec.width);
    info->height = static_cast<uint32_t>(s.spec.height);
    info->file_channels = static_cast<uint32_t>(s.spec.nchannels);
    info->channels = static_cast<uint32_t>(s.channels);
    info->type = type_of(s.spec);
    info->narrowed = is_narrowed(s.spec);
    info->file_alpha = alpha_of(format, s.spec);
    copy(info->format, sizeof info->format, format);
    copy(info->reader, sizeof info->reader, "oiio");
    describe_hint(s.spec, format, info);
    /* Colour metadata that Blender's loader trusts. */
    if (format == "openexr") {
        float xy[8];
        const bool has_xy = s.spec.getattribute("chromaticities", TypeDesc(TypeDesc::FLOAT, 8), xy);
        const std::string id(s.spec.get_string_attribute("colorInteropID"));
        copy(info->interop_id, sizeof info->interop_id,
             txm_exr_loaded_as(has_xy ? xy : nullptr, s.spec.get_int_attribute("acesImageContainerFlag", 0) == 1,
                               id.c_str()));
    }
    info->tiled = s.spec.tile_width != 0;
    keep_density(s.spec, format, &info->density);
    copy(info->software, sizeof info->software, s.spec.get_string_attribute("Software"));
    if (format == "tiff")
        info->tiff_compression = static_cast<uint16_t>(s.spec.get_int_attribute("tiff:Compression"));
    info->tiff_premultiplied_default =
        format == "tiff" && s.spec.nchannels == 4 && s.spec.format.basetype == TypeDesc::UINT16;
    keep_attributes(s.spec, info);
}

txm_status open_input(Source &s, txm_error *err)
{
    ImageSpec config;
    config.attribute("oiio:UnassociatedAlpha", 1);
    const Chroma chroma = chroma_of(s.name);
    if (chroma == Chroma::REFUSED)
        return txm_fail(
            err, TXM_STATUS_UNSUPPORTED,
            "%s: its channels are subsampled in a way that is not supported (only Y, with RY and BY of half the "
            "width and height, and A); save it as RGB",
            s.path.c_str());
    OIIO::geterror(); /* clears this thread's message, which may be that of an earlier file */
    if (chroma == Chroma::SERVED) {
        s.input = luminance_chroma_input();
        if (!s.input->open(s.name, s.spec))
            s.input.reset();
    } else {
        s.input = ImageInput::open(s.name, &config);
    }
    if (!s.input) {
        std::string message = OIIO::geterror();
        const bool unknown = message.find("could not find a format reader") != std::string::npos;
        if (const char *noun = unknown ? lacked(s.path) : nullptr)
            return txm_fail(err, TXM_STATUS_UNSUPPORTED,
                            "%s: %s, if its name is right, and OpenImageIO " OIIO_VERSION_STRING
                            " is built without that format; save it as PNG, TIFF or OpenEXR",
                            s.path.c_str(), noun);
        if (unknown)
            return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: not an image in a format that can be read",
                            s.path.c_str());
        /* OpenImageIO has messages but no error codes: these texts distinguish what it cannot read from damage. */
        txm_status status = TXM_STATUS_CORRUPT;
        for (const char *sign :
             {"could not find a format reader", "not able to open", "not supported", "unsupported", "Unsupported"})
            if (message.find(sign) != std::string::npos)
                status = TXM_STATUS_UNSUPPORTED;
        return txm_fail(err, status, "%s: %s", s.path.c_str(), one_line(message).c_str());
    }
    s.spec = s.input->spec();
    return TXM_OK;
}

/* Tiles are read as a whole, and so are strips of a TIFF: decoding cannot begin in the middle of a compressed strip,
 * and if PackBits runs continue from one row to the next, libtiff reads other pixels row by row. Larger strips are read
 * by rows, except those of separate planes. */
constexpr double LARGEST_STRIP_BYTES = 64 << 20;

/* The number of rows that have to be read together; 0 if scanlines can be read one by one. */
uint32_t band_rows(const ImageSpec &spec, const std::string &format, double limit_bytes)
{
    const uint32_t height = static_cast<uint32_t>(spec.height);
    const bool separate = spec.get_string_attribute("planarconfig") == "separate";
    uint32_t rows = 0;
    if (spec.tile_width)
        rows = static_cast<uint32_t>(spec.tile_height);
    else if (separate || format == "tiff")
        rows = static_cast<uint32_t>(spec.get_int_attribute("tiff:RowsPerStrip", 0));
    rows = rows < height ? rows : height;
    const bool fits = static_cast<double>(spec.scanline_bytes(true)) * rows <= limit_bytes;
    return fits || spec.tile_width || separate ? rows : 0;
}

/* The user has set no bound. `pixels`: the size of the whole image, if the file's compression limits it. */
txm_status check_unbounded(const char *path, double need, double pixels, unsigned ratio,
                           const txm_source_options *options, txm_error *err)
{
    struct stat st;
    const uint64_t bytes = stat(path, &st) == 0 && st.st_size > 0 ? static_cast<uint64_t>(st.st_size) : 0;
    const double most = txm_bound_of_file(bytes, ratio), all = need > pixels ? need : pixels;
    const double free = options && options->free_memory_bytes ? double(options->free_memory_bytes) : HUGE_VAL;
    const double mebibytes = std::ceil(all / 1048576 * 1.25);
    if (all > most)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, TXM_BOUND_FILE_TEXT, path, all / 1048576,
                        static_cast<unsigned long long>(bytes), most / 1048576, mebibytes, mebibytes);
    if (need > free)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, TXM_BOUND_MEMORY_TEXT, path, need / 1048576, free / 1048576,
                        mebibytes, mebibytes);
    return TXM_OK;
}

/* Refuses what txmill cannot process and what would not fit, before pixels are read. */
txm_status check(Source &s, const txm_source_options *options, txm_error *err)
{
    const ImageSpec &spec = s.spec;
    const char *path = s.path.c_str();
    const std::string format = s.input->format_name();
    if (format == "null" || format == "term")
        return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: not an image", path);
    if (spec.depth > 1)
        return txm_fail(err, TXM_STATUS_UNSUPPORTED,
                        "%s: a volume of %d layers (depth > 1); only 2D images can be textures", path, spec.depth);
    if (spec.deep)
        return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: a deep image; flatten it first", path);
    if (spec.width < 1 || spec.height < 1 || spec.nchannels < 1)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: the header says %d x %d px with %d channels", path, spec.width,
                        spec.height, spec.nchannels);
    if (spec.width > TXM_MAX_SIZE_PX || spec.height > TXM_MAX_SIZE_PX)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: %d x %d px; the limit is %d px per side", path, spec.width,
                        spec.height, TXM_MAX_SIZE_PX);
    if (format == "tiff" && spec.tile_width && spec.get_string_attribute("tiff:ColorSpace") == "CMYK")
        return txm_fail(
            err, TXM_STATUS_UNSUPPORTED,
            "%s: CMYK in tiles that have JPEG compression or neither 8 nor 16 bits, which makes OpenImageIO write "
            "beyond its memory; save it as RGB, or in strips",
            path);
    static const TypeDesc::BASETYPE types[] = {TypeDesc::UINT8, TypeDesc::UINT16, TypeDesc::HALF, TypeDesc::FLOAT};
    s.type = types[type_of(spec)];
    s.channels = spec.nchannels < TXM_MAX_CHANNELS ? spec.nchannels : TXM_MAX_CHANNELS;
    s.row_bytes = static_cast<size_t>(spec.width) * s.channels * s.type.size();
    const double limit = options ? static_cast<double>(options->max_memory_bytes) : 0.0;
    s.band_rows =
        band_rows(spec, format, limit > 0 && limit / 4 < LARGEST_STRIP_BYTES ? limit / 4 : LARGEST_STRIP_BYTES);

    double need = static_cast<double>(spec.scanline_bytes(true)) * 64;
    if (s.band_rows)
        need = static_cast<double>(s.row_bytes) * s.band_rows * (is_narrowed(spec) ? 2 : 1); /* as half, if requested */
    if (!has_trait(format, TXM_FORMAT_BY_ROWS))
        need += static_cast<double>(spec.image_bytes(true));
    if (!(limit > 0))
        return check_unbounded(path, need, traits_of(format).ratio ? double(spec.image_bytes(true)) : 0.0,
                               traits_of(format).ratio, options, err);
    if (need > limit)
        return txm_fail(err, TXM_STATUS_TOO_LARGE,
                        "%s: decoding %s of %d x %d px needs %.0f MiB, the limit is %.0f MiB", path, format.c_str(),
                        spec.width, spec.height, need / 1048576, limit / 1048576);
    return TXM_OK;
}

txm_status oiio_open(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                     txm_error *err)
{
    return reading(path, err, [&]() -> txm_status {
        configure_once();
        std::unique_ptr<Source> s(new Source);
        s->path = path;
        /* OpenImageIO takes text after a '?' in a name as options for itself. It is therefore given the path of a
         * descriptor. */
        s->name = s->path;
        if (s->path.find('?') != std::string::npos && (s->fd = s->fd_name.open(path)) >= 0)
            s->name = s->fd_name.name;
        txm_status status = open_input(*s, err);
        if (status == TXM_OK)
            status = check(*s, options, err);
        if (status != TXM_OK)
            return status;
        describe(*s, info);
        *self = s.release();
        return TXM_OK;
    });
}

/* Decoders may report an error and deliver pixels nevertheless; a truncated image must not become a texture. */
txm_status verdict(Source &s, bool delivered, uint32_t y, txm_error *err)
{
    if (delivered && !s.input->has_error())
        return TXM_OK;
    return txm_fail(err, TXM_STATUS_CORRUPT, "%s: row %u: %s", s.path.c_str(), y,
                    one_line(s.input->geterror()).c_str());
}

/* Rows of a band that is kept, which is loaded first where it is another one. */
txm_status read_banded(Source &s, uint32_t y, uint32_t rows, char *dst, size_t stride_bytes, txm_error *err)
{
    const ImageSpec &spec = s.spec;
    const uint32_t height = static_cast<uint32_t>(spec.height);
    for (const uint32_t last = y + rows; y < last; y++, dst += stride_bytes) {
        if (y < s.band_begin || y >= s.band_end) {
            const uint32_t begin = y / s.band_rows * s.band_rows,
                           end = begin + s.band_rows < height ? begin + s.band_rows : height;
            const int top = spec.y + static_cast<int>(begin), bottom = spec.y + static_cast<int>(end);
            if (!s.band)
                s.band.reset(new char[s.row_bytes * s.band_rows]);
            s.band_begin = s.band_end = 0;
            const bool ok =
                spec.tile_width
                    ? s.input->read_tiles(0, 0, spec.x, spec.x + spec.width, top, bottom, spec.z, spec.z + 1, 0,
                                          s.channels, s.type, s.band.get())
                    : s.input->read_scanlines(0, 0, top, bottom, spec.z, 0, s.channels, s.type, s.band.get());
            if (const txm_status status = verdict(s, ok, begin, err))
                return status;
            s.band_begin = begin;
            s.band_end = end;
        }
        memcpy(dst, s.band.get() + (y - s.band_begin) * s.row_bytes, s.row_bytes);
    }
    return TXM_OK;
}

txm_status oiio_read(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    Source &s = *static_cast<Source *>(self);
    if (!s.input)
        return txm_fail(err, TXM_STATUS_IO, "%s: could not be opened again", s.path.c_str());
    return reading(s.path.c_str(), err, [&]() -> txm_status {
        if (s.band_rows)
            return read_banded(s, y, rows, static_cast<char *>(dst), stride_bytes, err);
        int begin = s.spec.y + static_cast<int>(y);
        bool ok = s.input->read_scanlines(0, 0, begin, begin + static_cast<int>(rows), s.spec.z, 0, s.channels, s.type,
                                          dst, OIIO::AutoStride, static_cast<OIIO::stride_t>(stride_bytes));
        return verdict(s, ok, y, err);
    });
}

/* The file is opened again, since not every decoder can return to its first row. */
txm_status oiio_rewind(void *self, txm_error *err)
{
    Source &s = *static_cast<Source *>(self);
    return reading(s.path.c_str(), err, [&]() -> txm_status {
        ImageSpec before = s.spec;
        s.band_begin = s.band_end = 0;
        txm_status status = open_input(s, err);
        if (status != TXM_OK)
            return status;
        const ImageSpec &now = s.spec;
        if (now.width != before.width || now.height != before.height || now.nchannels != before.nchannels ||
            now.format != before.format || now.tile_height != before.tile_height)
            return txm_fail(err, TXM_STATUS_CHANGED, "%s: the file changed while it was read", s.path.c_str());
        return TXM_OK;
    });
}

txm_status oiio_as_half(void *self, txm_error *)
{
    Source &s = *static_cast<Source *>(self);
    s.type = TypeDesc::HALF;
    s.row_bytes = static_cast<size_t>(s.spec.width) * s.channels * s.type.size();
    s.band.reset();
    s.band_begin = s.band_end = 0;
    return TXM_OK;
}

/* Destructors of decoders may throw, too. */
void oiio_close(void *self)
{
    try {
        delete static_cast<Source *>(self);
    } catch (...) {
        /* Failures of a decoder while it closes do not matter any more. */
    }
}
} // namespace

const txm_reader_ops reader = {"oiio", oiio_open, oiio_read, oiio_rewind, oiio_close, oiio_as_half, nullptr};
} // namespace oiio_module
