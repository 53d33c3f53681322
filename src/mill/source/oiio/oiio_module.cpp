/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenImageIO shim: any image that OpenImageIO reads, as the rows that Blender would read, and pictures in any
 * format that it writes.
 *
 * Pixels are asked for with oiio:UnassociatedAlpha=1, so OpenImageIO converts nothing; types map half -> half,
 * float/double -> float, uint16 -> uint16, everything else -> uint8. Scanline sources are read straight into the
 * caller's rows. Tiled sources can only be read in whole rows of tiles: one such band is kept here and rows are copied
 * out of it.
 */
#include "mill/source/oiio/oiio_module.h"
#include "txmill/picture.h"

#include <cerrno>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <new>
#include <OpenImageIO/filesystem.h>
#include <OpenImageIO/imageio.h>
#include <string>
#include <strings.h>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "mill/source/formats.h"
#include "mill/source/oiio/luminance_chroma.h"
#include "mill/source/oiio/worker.h"
#include "mill/source/readers.h"

namespace
{
using OIIO::ImageInput;
using OIIO::ImageSpec;
using OIIO::TypeDesc;

struct Source {
    std::string path;
    std::string name; /* that OpenImageIO opens */
    int fd = -1;      /* what `name` leads to, where that is not the path */
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
    /* Sources that are read in bands of so many rows alone (0: in any number), and the band read last: the rows
     * [band_begin, band_end). */
    uint32_t band_rows = 0;
    std::unique_ptr<char[]> band;
    uint32_t band_begin = 0, band_end = 0;
};

/* As txm_fail, which lives in the program that loads this module. */
__attribute__((format(printf, 3, 4))) txm_status fail(txm_error *err, txm_status status, const char *format, ...)
{
    if (err && err->status == TXM_OK) {
        va_list args;
        va_start(args, format);
        err->status = status;
        err->sys_errno = 0;
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

/* A decoder's message on one line, cut where a broken file makes it endless. */
std::string one_line(std::string message)
{
    while (!message.empty() && (message.back() == '\n' || message.back() == ' '))
        message.pop_back();
    for (char &c : message)
        if (static_cast<unsigned char>(c) < ' ')
            c = ' ';
    if (message.size() > 600)
        message = message.substr(0, 600) + " ...";
    return message.empty() ? "OpenImageIO gives no reason" : message;
}

/* A library that could not start a thread: the same may work a moment later. */
bool lacks_thread(const std::system_error &e)
{
    return e.code() == std::errc::resource_unavailable_try_again || e.code() == std::errc::not_enough_memory;
}

[[noreturn]] void end_without_memory()
{
    _exit(TXM_WORKER_LEFT + ENOMEM);
}

/* What is thrown where nothing may be, in a destructor or while a thread starts, is as often as not a lack of memory.
 */
[[noreturn]] void on_terminate()
{
    try {
        if (std::current_exception())
            std::rethrow_exception(std::current_exception());
    } catch (const std::bad_alloc &) {
        end_without_memory();
    } catch (const std::system_error &e) {
        if (lacks_thread(e))
            end_without_memory();
    } catch (...) {
    }
    std::abort();
}

/* From the first call on the process ends as soon as memory does: OpenImageIO drops attributes that it has no memory
 * for and goes on, calls an image damaged whose rows it has no memory for, and std::regex, which it asks about names,
 * crashes. Its threads live on between calls, so nothing is put back. */
void end_when_memory_does()
{
    static const bool once =
        (std::set_new_handler([] { end_without_memory(); }), std::set_terminate(on_terminate), true);
    (void)once;
}

/* OpenImageIO keeps its error message in a thread-local variable, and glibc aborts the process if it lacks the memory
 * to register that variable's destructor. Asking for the message here makes that happen while the module is loaded,
 * when the worker knows that an abort means lack of memory; later an image would be blamed. */
const bool noted = (OIIO::geterror(), true);

/* Runs `work` and turns whatever it throws into a status: nothing may pass the C boundary. */
template <typename Work> txm_status guarded(const std::string &path, txm_error *err, Work work)
{
    end_when_memory_does();
    try {
        return work();
    } catch (const std::bad_alloc &) {
        return fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory to decode the image", path.c_str());
    } catch (const std::system_error &e) {
        return fail(err, lacks_thread(e) ? TXM_STATUS_NO_MEMORY : TXM_STATUS_CORRUPT, "%s: the decoder: %s",
                    path.c_str(), one_line(e.what()).c_str());
    } catch (const std::exception &e) {
        return fail(err, TXM_STATUS_CORRUPT, "%s: %s", path.c_str(), one_line(e.what()).c_str());
    } catch (...) {
        return fail(err, TXM_STATUS_CORRUPT, "%s: the decoder failed without a reason", path.c_str());
    }
}

/* The threads of a conversion are txmill's own: OpenImageIO's and OpenEXR's would only oversubscribe them. */
void configure()
{
    OIIO::attribute("threads", 1);
    OIIO::attribute("exr_threads", 1); /* 1 means: in the calling thread */
    OIIO::attribute("try_all_readers", 1);
    OIIO::attribute("dds:bc5normal", 1); /* as Blender sets it: the blue of two-channel normal maps is computed */
    OIIO::attribute("limits:channels", 1024);
    OIIO::attribute("limits:imagesize_MB", 65536); /* ours are checked here */
}

void configure_once()
{
    static std::once_flag once;
    std::call_once(once, configure);
}

/* Formats that OpenImageIO does not decode as rows are asked for are in memory as a whole once opened or once the first
 * row is read, which counts against the bound on memory. */
bool has_trait(const std::string &format, unsigned trait)
{
    static const struct {
        const char *name;
        unsigned traits;
    } formats[] = {
#define DIRECT(reader, name, noun, extensions, also, role, traits, magic) {name, traits},
#define FORMAT(name, noun, extensions, also, role, traits, magic) {name, traits},
#include "mill/source/format_table.h"
    };
    for (const auto &f : formats)
        if (format == f.name)
            return (f.traits & trait) != 0;
    return false;
}

/* Blender's rules: what TGA files say is only believed in one case, DDS and PSD never say it, the rest is as
 * OpenImageIO reports it. */
txm_file_alpha alpha_of(const std::string &format, const ImageSpec &spec)
{
    bool unassociated = spec.get_int_attribute("oiio:UnassociatedAlpha", 0) != 0;
    if (format == "targa")
        unassociated = spec.get_int_attribute("targa:alpha_type", -1) != 4;
    else if (has_trait(format, TXM_FORMAT_UNASSOCIATED))
        unassociated = true;
    return unassociated ? TXM_FILE_ALPHA_UNASSOCIATED : TXM_FILE_ALPHA_SILENT;
}

/* The four types of tx files; wider integers lose what Blender loses. */
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

/* Types that become 8 bits and could be had as half. */
bool is_narrowed(const ImageSpec &spec)
{
    return type_of(spec) == TXM_TYPE_U8 && spec.format.basetype != TypeDesc::UINT8;
}

TypeDesc read_type(txm_type type)
{
    static const TypeDesc::BASETYPE types[] = {TypeDesc::UINT8, TypeDesc::UINT16, TypeDesc::HALF, TypeDesc::FLOAT};
    return TypeDesc(types[type]);
}

void copy(char *dst, size_t dst_bytes, const std::string &src)
{
    snprintf(dst, dst_bytes, "%s", src.c_str());
}

/* Descriptive fields that outlive a conversion; everything else in the file is about its pixels as they were. */
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

/* A number of the file: fields of free text that happen to have its name are none. */
float number_of(const ImageSpec &spec, const char *name)
{
    const OIIO::ParamValue *p = spec.find_attribute(name);
    if (!p || p->type().basetype == TypeDesc::STRING)
        return 0.0f;
    return p->type().basetype == TypeDesc::INT ? static_cast<float>(p->get_int()) : p->get_float();
}

/* Blender takes no density from WebP; OpenImageIO 3.1 rounds PNG's, older versions do not. */
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

/* Colour metadata that Blender's loader believes. */
std::string interop_of(const ImageSpec &spec, const std::string &format)
{
    float xy[8];
    const bool has_xy = spec.getattribute("chromaticities", TypeDesc(TypeDesc::FLOAT, 8), xy);
    const std::string id(spec.get_string_attribute("colorInteropID"));
    if (format != "openexr")
        return "";
    return txm_exr_loaded_as(has_xy ? xy : nullptr, spec.get_int_attribute("acesImageContainerFlag", 0) == 1,
                             id.c_str());
}

/* The word of OpenImageIO 3.1, from its own or those of older versions. Before 3.1 every OpenEXR file is "Linear", and
 * BMP nothing; what a PNG says is found elsewhere, but for a text of its own, and so is what a gamma of old versions is
 * called. */
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
    copy(info->interop_id, sizeof info->interop_id, interop_of(s.spec, format));
    info->tiled = s.spec.tile_width != 0;
    keep_density(s.spec, format, &info->density);
    copy(info->software, sizeof info->software, s.spec.get_string_attribute("Software"));
    info->tiff_premultiplied_default =
        format == "tiff" && s.spec.nchannels == 4 && s.spec.format.basetype == TypeDesc::UINT16;
    keep_attributes(s.spec, info);
}

/* OpenImageIO has messages but no codes: these distinguish what it cannot read from what is broken. */
bool sounds_unsupported(const std::string &message)
{
    static const char *const signs[] = {"could not find a format reader", "not able to open", "not supported",
                                        "unsupported", "Unsupported"};
    for (const char *sign : signs)
        if (message.find(sign) != std::string::npos)
            return true;
    return false;
}

/* OpenImageIO takes what follows a '?' in a name for options to itself. Behind a descriptor the name is out of its
 * sight. */
void name_for_oiio(Source &s)
{
    s.name = s.path;
    if (s.path.find('?') != std::string::npos && (s.fd = open(s.path.c_str(), O_RDONLY | O_CLOEXEC)) >= 0)
        s.name = "/proc/self/fd/" + std::to_string(s.fd);
}

/* OpenImageIO's own message, on one line. */
txm_status open_input(Source &s, txm_error *err)
{
    ImageSpec config;
    config.attribute("oiio:UnassociatedAlpha", 1);
    const Chroma chroma = chroma_of(s.name);
    if (chroma == Chroma::REFUSED)
        return fail(err, TXM_STATUS_UNSUPPORTED,
                    "%s: of subsampled channels, and of luminance and chroma, only Y with RY and BY of half the width "
                    "and height (and A) are read; save it as RGB",
                    s.path.c_str());
    OIIO::geterror(); /* of this thread: what an earlier file left behind is not about this one */
    if (chroma == Chroma::SERVED) {
        s.input = luminance_chroma_input();
        if (!s.input->open(s.name, s.spec))
            s.input.reset();
    } else {
        s.input = ImageInput::open(s.name, &config);
    }
    if (!s.input) {
        std::string message = OIIO::geterror();
        if (message.find("could not find a format reader") != std::string::npos)
            return fail(err, TXM_STATUS_UNSUPPORTED, "%s: is not an image of any kind that can be read",
                        s.path.c_str());
        return fail(err, sounds_unsupported(message) ? TXM_STATUS_UNSUPPORTED : TXM_STATUS_CORRUPT, "%s: %s",
                    s.path.c_str(), one_line(message).c_str());
    }
    s.spec = s.input->spec();
    return TXM_OK;
}

/* Tiles are read whole, and so are strips of a TIFF: a compressed strip has no way into its middle, and where PackBits
 * runs on from one row to the next, libtiff reads other pixels row by row. Larger strips go by rows all the same, but
 * for those of separate planes. */
constexpr double LARGEST_STRIP_BYTES = 64 << 20;

/* 0: scanlines can be read one by one. */
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

/* Refuses what txmill cannot process and what would not fit, before pixels are asked for. */
txm_status check(Source &s, const txm_source_options *options, txm_error *err)
{
    const ImageSpec &spec = s.spec;
    const char *path = s.path.c_str();
    const std::string format = s.input->format_name();
    if (format == "null" || format == "term")
        return fail(err, TXM_STATUS_UNSUPPORTED, "%s: not an image", path);
    if (spec.depth > 1)
        return fail(err, TXM_STATUS_UNSUPPORTED,
                    "%s: a volume of %d layers (depth > 1); only 2D images can be textures", path, spec.depth);
    if (spec.deep)
        return fail(err, TXM_STATUS_UNSUPPORTED, "%s: a deep image; flatten it first", path);
    if (spec.width < 1 || spec.height < 1 || spec.nchannels < 1)
        return fail(err, TXM_STATUS_CORRUPT, "%s: the header says %d x %d px with %d channels", path, spec.width,
                    spec.height, spec.nchannels);
    if (spec.width > TXM_MAX_SIZE_PX || spec.height > TXM_MAX_SIZE_PX)
        return fail(err, TXM_STATUS_TOO_LARGE, "%s: %d x %d px; the limit is %d px per side", path, spec.width,
                    spec.height, TXM_MAX_SIZE_PX);
    if (format == "tiff" && spec.tile_width && spec.get_string_attribute("tiff:ColorSpace") == "CMYK")
        return fail(err, TXM_STATUS_UNSUPPORTED,
                    "%s: CMYK in tiles in JPEG or other than 8 and 16 bits, of which OpenImageIO writes beyond its "
                    "memory; save "
                    "it as RGB, or in strips",
                    path);
    s.type = read_type(type_of(spec));
    s.channels = spec.nchannels < TXM_MAX_CHANNELS ? spec.nchannels : TXM_MAX_CHANNELS;
    s.row_bytes = static_cast<size_t>(spec.width) * s.channels * s.type.size();
    const double limit = options ? static_cast<double>(options->max_memory_bytes) : 0.0;
    s.band_rows =
        band_rows(spec, format, limit > 0 && limit / 4 < LARGEST_STRIP_BYTES ? limit / 4 : LARGEST_STRIP_BYTES);

    double need = static_cast<double>(spec.scanline_bytes(true)) * 64;
    if (s.band_rows)
        need = static_cast<double>(s.row_bytes) * s.band_rows * (is_narrowed(spec) ? 2 : 1); /* as half, if asked for */
    if (!has_trait(format, TXM_FORMAT_BY_ROWS))
        need += static_cast<double>(spec.image_bytes(true));
    if (limit > 0 && need > limit)
        return fail(err, TXM_STATUS_TOO_LARGE, "%s: decoding %s of %d x %d px needs %.0f MiB, the limit is %.0f MiB",
                    path, format.c_str(), spec.width, spec.height, need / 1048576, limit / 1048576);
    return TXM_OK;
}

/* Decoders throw: guarded turns that into a status. */
txm_status oiio_open(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                     txm_error *err)
{
    return guarded(path, err, [&]() -> txm_status {
        configure_once();
        std::unique_ptr<Source> s(new Source);
        s->path = path;
        name_for_oiio(*s);
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

/* Decoders may report an error and deliver something all the same: a truncated image must not become a texture. */
txm_status verdict(Source &s, bool delivered, uint32_t y, txm_error *err)
{
    if (delivered && !s.input->has_error())
        return TXM_OK;
    return fail(err, TXM_STATUS_CORRUPT, "%s: row %u: %s", s.path.c_str(), y, one_line(s.input->geterror()).c_str());
}

/* One row of tiles or a strip, at most as large as the limit that was given. */
txm_status load_band(Source &s, uint32_t y, txm_error *err)
{
    const ImageSpec &spec = s.spec;
    uint32_t height = static_cast<uint32_t>(spec.height);
    uint32_t begin = y / s.band_rows * s.band_rows, end = begin + s.band_rows < height ? begin + s.band_rows : height;
    int top = spec.y + static_cast<int>(begin), bottom = spec.y + static_cast<int>(end);
    if (!s.band)
        s.band.reset(new char[s.row_bytes * s.band_rows]);
    s.band_begin = s.band_end = 0;
    bool ok = spec.tile_width ? s.input->read_tiles(0, 0, spec.x, spec.x + spec.width, top, bottom, spec.z, spec.z + 1,
                                                    0, s.channels, s.type, s.band.get())
                              : s.input->read_scanlines(0, 0, top, bottom, spec.z, 0, s.channels, s.type, s.band.get());
    txm_status status = verdict(s, ok, begin, err);
    if (status == TXM_OK) {
        s.band_begin = begin;
        s.band_end = end;
    }
    return status;
}

/* Row by row out of the band that holds it. */
txm_status read_banded(Source &s, uint32_t y, uint32_t rows, char *dst, size_t stride_bytes, txm_error *err)
{
    for (uint32_t r = 0; r < rows; r++, dst += stride_bytes) {
        if (y + r < s.band_begin || y + r >= s.band_end) {
            txm_status status = load_band(s, y + r, err);
            if (status != TXM_OK)
                return status;
        }
        memcpy(dst, s.band.get() + (y + r - s.band_begin) * s.row_bytes, s.row_bytes);
    }
    return TXM_OK;
}

txm_status oiio_read(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    Source &s = *static_cast<Source *>(self);
    if (!s.input)
        return fail(err, TXM_STATUS_IO, "%s: could not be opened again", s.path.c_str());
    return guarded(s.path, err, [&]() -> txm_status {
        if (s.band_rows)
            return read_banded(s, y, rows, static_cast<char *>(dst), stride_bytes, err);
        int begin = s.spec.y + static_cast<int>(y);
        bool ok = s.input->read_scanlines(0, 0, begin, begin + static_cast<int>(rows), s.spec.z, 0, s.channels, s.type,
                                          dst, OIIO::AutoStride, static_cast<OIIO::stride_t>(stride_bytes));
        return verdict(s, ok, y, err);
    });
}

/* Opened anew: not every decoder can go back to its first row. */
txm_status oiio_rewind(void *self, txm_error *err)
{
    Source &s = *static_cast<Source *>(self);
    return guarded(s.path, err, [&]() -> txm_status {
        ImageSpec before = s.spec;
        s.band_begin = s.band_end = 0;
        txm_status status = open_input(s, err);
        if (status != TXM_OK)
            return status;
        const ImageSpec &now = s.spec;
        if (now.width != before.width || now.height != before.height || now.nchannels != before.nchannels ||
            now.format != before.format || now.tile_height != before.tile_height)
            return fail(err, TXM_STATUS_CHANGED, "%s: the file changed while it was read", s.path.c_str());
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
        /* A decoder that fails while it closes has nothing left to tell. */
    }
}

/* ---- encoding ---------------------------------------------------------------------------------------------------- */

/* A file in memory. Encoders in C call it, so that nothing may be thrown, and most do not look at what it returns. */
struct Memory : OIIO::Filesystem::IOVecOutput {
    bool failed = false;
    size_t pwrite(const void *data, size_t bytes, int64_t offset) override
    {
        try {
            return failed ? 0 : IOVecOutput::pwrite(data, bytes, offset);
        } catch (const std::bad_alloc &) {
            failed = true;
            return 0;
        }
    }
};

struct Encoder {
    std::string format;
    TypeDesc type;
    ImageSpec spec;
    OIIO::stride_t pixel_bytes = 0, row_bytes = 0;
    Memory memory;
    int fd = -1; /* of a file that only memory holds, for formats that insist on a file */
    std::string fd_name;
    void *map = MAP_FAILED;
    size_t map_bytes = 0;
    std::unique_ptr<OIIO::ImageOutput> out; /* the last member: it goes before what it writes to */
    ~Encoder()
    {
        out.reset();
        if (map != MAP_FAILED)
            munmap(map, map_bytes);
        if (fd >= 0)
            close(fd);
    }
};

/* As guarded, for pictures. */
template <typename Work> txm_status encoding(txm_error *err, Work work)
{
    end_when_memory_does();
    try {
        return work();
    } catch (const std::bad_alloc &) { /* more than an object can be */
        return fail(err, TXM_STATUS_NO_MEMORY, "no memory to encode it");
    } catch (const std::system_error &e) {
        return fail(err, lacks_thread(e) ? TXM_STATUS_NO_MEMORY : TXM_STATUS_INTERNAL, "OpenImageIO: %s",
                    one_line(e.what()).c_str());
    } catch (const std::exception &e) {
        return fail(err, TXM_STATUS_INTERNAL, "OpenImageIO: %s", one_line(e.what()).c_str());
    } catch (...) {
        return fail(err, TXM_STATUS_INTERNAL, "OpenImageIO threw an unknown exception");
    }
}

/* Only the messages of C libraries say that they had no memory; libpng takes the texts that it could not keep for too
 * many. */
bool lacks_memory(const std::string &words)
{
    static const char *const about[] = {"emory", "alloc", "too many text chunks", "nsufficient", "create PNG"};
    for (const char *word : about)
        if (words.find(word) != std::string::npos)
            return true;
    return false;
}

/* `otherwise`: unless memory was exhausted. */
txm_status fail_encoding(const Encoder &e, txm_status otherwise, txm_error *err)
{
    const std::string words = e.out->geterror();
    if (words.empty())
        return fail(err, TXM_STATUS_NO_MEMORY, "OpenImageIO gives no reason, most likely for lack of memory");
    return fail(err, e.memory.failed || lacks_memory(words) ? TXM_STATUS_NO_MEMORY : otherwise, "%s",
                one_line(words).c_str());
}

/* Which formats hold alpha beside grey; OpenImageIO says it of colours only. Asking them to and seeing whether they
 * fail would take any failure for that answer. */
bool holds_alpha(const OIIO::ImageOutput &out, int channels)
{
    if (channels == 2 && has_trait(out.format_name(), TXM_FORMAT_ALPHA_BESIDE_COLOR))
        return false;
    return out.supports("alpha");
}

/* Into memory where the format can; through a file that only memory holds where it cannot. */
txm_status open_output(Encoder &e, const char *name, txm_error *err)
{
    if (e.out->supports("ioproxy")) {
        e.out->set_ioproxy(&e.memory);
    } else {
        e.fd = memfd_create("picture", MFD_CLOEXEC);
        if (e.fd < 0)
            return fail(err, TXM_STATUS_NO_MEMORY, "no memory for a file: %s", std::strerror(errno));
        e.fd_name = "/proc/self/fd/" + std::to_string(e.fd);
    }
    if (e.out->open(e.fd < 0 ? std::string(name) : e.fd_name, e.spec))
        return TXM_OK;
    return fail_encoding(e, TXM_STATUS_UNSUPPORTED, err);
}

bool ends_in_tx(const char *name)
{
    const size_t n = strlen(name);
    return n > 3 && strcasecmp(name + n - 3, ".tx") == 0;
}

/* The format follows from the name's extension. */
txm_status encoder_begin(const char *name, const txm_picture *picture, void **self, txm_error *err)
{
    static const TypeDesc types[] = {TypeDesc::UINT8, TypeDesc::UINT16, TypeDesc::HALF, TypeDesc::FLOAT};
    return encoding(err, [&]() -> txm_status {
        configure_once();
        std::unique_ptr<Encoder> e(new Encoder);
        /* OpenImageIO would write a plain TIFF under the name of a tx file. */
        if (ends_in_tx(name))
            return fail(err, TXM_STATUS_UNSUPPORTED,
                        "is a tx file's name, and this writes a picture; give it an extension as .png, .tif or .exr");
        e->out = OIIO::ImageOutput::create(name);
        if (!e->out) {
            const std::string words = OIIO::geterror();
            return words.empty() ? fail(err, TXM_STATUS_NO_MEMORY, "no memory for an encoder")
                   : words.find("could not find a format writer") != std::string::npos
                       ? fail(err, TXM_STATUS_UNSUPPORTED,
                              "no picture format has this extension; give it one as .png, .tif or .exr")
                       : fail(err, TXM_STATUS_UNSUPPORTED, "%s", one_line(words).c_str());
        }
        const int channels = static_cast<int>(picture->channels);
        const bool drop = channels % 2 == 0 && !holds_alpha(*e->out, channels);
        e->format = e->out->format_name();
        e->type = types[picture->type];
        e->pixel_bytes = static_cast<OIIO::stride_t>(channels * e->type.size());
        e->row_bytes = e->pixel_bytes * picture->width;
        e->spec =
            ImageSpec(static_cast<int>(picture->width), static_cast<int>(picture->height), channels - drop, e->type);
        /* From version 3 on OpenImageIO writes floats as PFM whatever the file is called. */
        if (e->format == "pnm" && e->type.is_floating_point() &&
            !OIIO::Strutil::iends_with(OIIO::string_view(name), ".pfm"))
            e->spec.set_format(TypeDesc::UINT8);
        if (picture->colorspace)
            e->spec.attribute("oiio:ColorSpace", picture->colorspace);
        e->spec.attribute("Software", TXM_PICTURE_MARK " " TXM_VERSION);
        txm_status status = open_output(*e, name, err);
        if (status == TXM_OK)
            *self = e.release();
        return status;
    });
}

txm_status encoder_rows(void *self, uint32_t y, uint32_t rows, const void *data, txm_error *err)
{
    Encoder &e = *static_cast<Encoder *>(self);
    const int begin = static_cast<int>(y), end = static_cast<int>(y + rows);
    return encoding(err, [&]() -> txm_status {
        /* IFF alone is written in tiles, of 64 rows: what the worker has at a time. */
        bool done = true;
        if (e.out->spec().tile_width)
            done = e.out->write_tiles(0, e.spec.width, begin, end, 0, 1, e.type, data, e.pixel_bytes, e.row_bytes);
        else if (e.format != "pnm")
            done = e.out->write_scanlines(begin, end, 0, e.type, data, e.pixel_bytes, e.row_bytes);
        /* Of floats, OpenImageIO 3.1 writes the rows of a call in reverse order. */
        for (int row = begin; e.format == "pnm" && row < end && done; row++)
            done = e.out->write_scanline(row, 0, e.type, static_cast<const char *>(data) + (row - begin) * e.row_bytes,
                                         e.pixel_bytes);
        if (done)
            return TXM_OK;
        return fail_encoding(e, TXM_STATUS_INTERNAL, err);
    });
}

/* What a format wrote without looking whether it could is read again. */
txm_status read_back(const Encoder &e, txm_error *err)
{
    auto in = ImageInput::create(e.format);
    ImageSpec spec;
    if (!in) {
        OIIO::geterror(); /* a format that is written only */
        return TXM_OK;
    }
    bool good = in->open(e.fd_name, spec) && spec.width == e.spec.width && spec.height == e.spec.height;
    std::vector<char> row(static_cast<size_t>(spec.width) * spec.nchannels * sizeof(float));
    for (int y = 0; good && y < spec.height; y++)
        good = in->read_scanline(y + spec.y, 0, TypeDesc::FLOAT, row.data());
    return good ? TXM_OK
                : fail(err, TXM_STATUS_IO, "what was encoded cannot be read: %s", one_line(in->geterror()).c_str());
}

/* Some formats write everything when they close. */
txm_status encoder_finish(void *self, const void **data, size_t *bytes, txm_error *err)
{
    Encoder &e = *static_cast<Encoder *>(self);
    return encoding(err, [&]() -> txm_status {
        const bool closed = e.out->close();
        if (e.memory.failed)
            return fail(err, TXM_STATUS_NO_MEMORY, "no memory to encode it");
        if (!closed)
            return fail_encoding(e, TXM_STATUS_INTERNAL, err);
        e.out.reset(); /* some write their last bytes now */
        *data = e.memory.buffer().data();
        *bytes = e.memory.buffer().size();
        if (e.fd >= 0) {
            txm_status status = read_back(e, err);
            if (status != TXM_OK)
                return status;
            const off_t end = lseek(e.fd, 0, SEEK_END);
            e.map_bytes = end > 0 ? static_cast<size_t>(end) : 0;
            if (e.map_bytes)
                e.map = mmap(nullptr, e.map_bytes, PROT_READ, MAP_SHARED, e.fd, 0);
            if (e.map_bytes && e.map == MAP_FAILED)
                return fail(err, TXM_STATUS_NO_MEMORY, "no memory for the encoded picture");
            *data = e.map;
            *bytes = e.map_bytes;
        }
        return *bytes ? TXM_OK : fail(err, TXM_STATUS_UNSUPPORTED, "%s is not a file format", e.format.c_str());
    });
}

void encoder_close(void *self)
{
    try {
        delete static_cast<Encoder *>(self);
    } catch (...) {
        /* What it would say was said when it finished. */
    }
}

} // namespace

extern "C" {
extern const txm_oiio_module txm_oiio_module_table;
const txm_oiio_module txm_oiio_module_table = {
    TXM_OIIO_MODULE_VERSION,
    sizeof(txm_source_info),
    sizeof(txm_error),
    {"oiio", oiio_open, oiio_read, oiio_rewind, oiio_close, oiio_as_half, nullptr},
    {encoder_begin, encoder_rows, encoder_finish, encoder_close},
    OIIO::openimageio_version,
};
}
