/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodes pictures in memory, in any format that OpenImageIO writes.
 */
#include <cerrno>
#include <cstring>
#include <memory>
#include <OpenImageIO/filesystem.h>
#include <OpenImageIO/imageio.h>
#include <strings.h>
#include <unistd.h>
#include <vector>

#include "base/fail.h"
#include "base/os/pages.h"
#include "mill/source/formats.h"
#include "mill/source/oiio/oiio_shared.h"
#include "txmill/out_file.h"
#include "txmill/picture.h"

namespace oiio_module
{
namespace
{
using OIIO::ImageInput;
using OIIO::ImageSpec;
using OIIO::TypeDesc;

/* A file in memory. Encoders in C call it, so it may not throw, and most ignore its result. */
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
    int fd = -1; /* an anonymous file in memory, for formats that require a file */
    oiio_module::FileName fd_name;
    void *map = nullptr;
    size_t map_bytes = 0;
    std::unique_ptr<OIIO::ImageOutput> out; /* the last member, so that it is destroyed before its output */
    ~Encoder()
    {
        out.reset();
        txm_pages_free(map, map_bytes);
        if (fd >= 0)
            close(fd);
    }
};

/* Runs `work` for a picture. */
template <typename Work> txm_status encoding(txm_error *err, Work work)
{
    return guarded("OpenImageIO", "encode it", TXM_STATUS_INTERNAL, err, work);
}

/* Only the messages of C libraries show that they had no memory; libpng reports texts that it could not store as too
 * many. */
txm_status fail_encoding(const Encoder &e, txm_status otherwise, txm_error *err)
{
    static const char *const about[] = {"emory", "alloc", "too many text chunks", "nsufficient", "create PNG"};
    const std::string words = e.out->geterror();
    if (words.empty())
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "OpenImageIO gives no reason, most likely for lack of memory");
    bool lacks_memory = e.memory.failed;
    for (const char *word : about)
        lacks_memory |= words.find(word) != std::string::npos;
    return txm_fail(err, lacks_memory ? TXM_STATUS_NO_MEMORY : otherwise, "%s", one_line(words).c_str());
}

txm_status encoder_begin(const char *name, const txm_picture *picture, void **self, txm_error *err)
{
    static const TypeDesc types[] = {TypeDesc::UINT8, TypeDesc::UINT16, TypeDesc::HALF, TypeDesc::FLOAT};
    return encoding(err, [&]() -> txm_status {
        configure_once();
        std::unique_ptr<Encoder> e(new Encoder);
        /* OpenImageIO would write a plain TIFF under the name of a tx file. */
        const size_t length = strlen(name);
        if (length > 3 && strcasecmp(name + length - 3, ".tx") == 0)
            return txm_fail(
                err, TXM_STATUS_UNSUPPORTED,
                "is the name of a tx file, but this writes a picture; use an extension such as .png, .tif or .exr");
        e->out = OIIO::ImageOutput::create(name);
        if (!e->out) {
            const std::string words = OIIO::geterror();
            return words.empty() ? txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for an encoder")
                   : words.find("could not find a format writer") != std::string::npos
                       ? txm_fail(err, TXM_STATUS_UNSUPPORTED,
                                  "no picture format has this extension; use one such as .png, .tif or .exr")
                       : txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s", one_line(words).c_str());
        }
        const int channels = static_cast<int>(picture->channels);
        e->format = e->out->format_name();
        /* Which formats can store alpha with grey; OpenImageIO reports it for colours only. Trying it could not
         * distinguish this from other failures. */
        const bool never = channels == 2 && has_trait(e->format, TXM_FORMAT_ALPHA_BESIDE_COLOR);
        const bool drop = channels % 2 == 0 && (never || !e->out->supports("alpha"));
        e->type = types[picture->type];
        e->pixel_bytes = static_cast<OIIO::stride_t>(channels * e->type.size());
        e->row_bytes = e->pixel_bytes * picture->width;
        e->spec =
            ImageSpec(static_cast<int>(picture->width), static_cast<int>(picture->height), channels - drop, e->type);
        /* Since version 3 OpenImageIO writes floats as PFM whatever the extension is. */
        if (e->format == "pnm" && e->type.is_floating_point() &&
            !OIIO::Strutil::iends_with(OIIO::string_view(name), ".pfm"))
            e->spec.set_format(TypeDesc::UINT8);
        if (picture->colorspace)
            e->spec.attribute("oiio:ColorSpace", picture->colorspace);
        e->spec.attribute("Software", TXM_PICTURE_MARK " " TXM_VERSION " " TXM_OUT_FILE_SEAL);
        if (e->out->supports("ioproxy"))
            e->out->set_ioproxy(&e->memory);
        else if ((e->fd = e->fd_name.open(nullptr)) < 0)
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a file: %s", std::strerror(errno));
        if (!e->out->open(e->fd < 0 ? std::string(name) : e->fd_name.name, e->spec))
            return fail_encoding(*e, TXM_STATUS_UNSUPPORTED, err);
        *self = e.release();
        return TXM_OK;
    });
}

txm_status encoder_rows(void *self, uint32_t y, uint32_t rows, const void *data, txm_error *err)
{
    Encoder &e = *static_cast<Encoder *>(self);
    const int begin = static_cast<int>(y), end = static_cast<int>(y + rows);
    return encoding(err, [&]() -> txm_status {
        /* Only IFF is written in tiles. They have 64 rows, which is what the worker has at a time. */
        bool done = true;
        if (e.out->spec().tile_width)
            done = e.out->write_tiles(0, e.spec.width, begin, end, 0, 1, e.type, data, e.pixel_bytes, e.row_bytes);
        else if (e.format != "pnm")
            done = e.out->write_scanlines(begin, end, 0, e.type, data, e.pixel_bytes, e.row_bytes);
        /* OpenImageIO 3.1 writes the rows of a call in reverse order if they are floats. */
        for (int row = begin; e.format == "pnm" && row < end && done; row++)
            done = e.out->write_scanline(row, 0, e.type, static_cast<const char *>(data) + (row - begin) * e.row_bytes,
                                         e.pixel_bytes);
        if (done)
            return TXM_OK;
        return fail_encoding(e, TXM_STATUS_INTERNAL, err);
    });
}

/* Reads the file again, since some formats are written without checks. */
txm_status read_back(const Encoder &e, txm_error *err)
{
    auto in = ImageInput::create(e.format);
    ImageSpec spec;
    if (!in) {
        OIIO::geterror(); /* the format can only be written */
        return TXM_OK;
    }
    bool good = in->open(e.fd_name.name, spec) && spec.width == e.spec.width && spec.height == e.spec.height;
    std::vector<char> row(static_cast<size_t>(spec.width) * spec.nchannels * sizeof(float));
    for (int y = 0; good && y < spec.height; y++)
        good = in->read_scanline(y + spec.y, 0, TypeDesc::FLOAT, row.data());
    return good ? TXM_OK
                : txm_fail(err, TXM_STATUS_IO, "the encoded picture cannot be read back: %s",
                           one_line(in->geterror()).c_str());
}

/* Some formats write everything when they close. */
txm_status encoder_finish(void *self, const void **data, size_t *bytes, txm_error *err)
{
    Encoder &e = *static_cast<Encoder *>(self);
    return encoding(err, [&]() -> txm_status {
        const bool closed = e.out->close();
        if (e.memory.failed)
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory to encode it");
        if (!closed)
            return fail_encoding(e, TXM_STATUS_INTERNAL, err);
        e.out.reset(); /* some formats write their last bytes here */
        *data = e.memory.buffer().data();
        *bytes = e.memory.buffer().size();
        if (e.fd >= 0) {
            txm_status status = read_back(e, err);
            if (status != TXM_OK)
                return status;
            const off_t end = lseek(e.fd, 0, SEEK_END);
            e.map_bytes = end > 0 ? static_cast<size_t>(end) : 0;
            if (e.map_bytes)
                e.map = txm_pages_of_file(e.fd, e.map_bytes);
            if (e.map_bytes && !e.map)
                return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for the encoded picture");
            *data = e.map;
            *bytes = e.map_bytes;
        }
        return *bytes ? TXM_OK : txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s is not a file format", e.format.c_str());
    });
}

void encoder_close(void *self)
{
    try {
        delete static_cast<Encoder *>(self);
    } catch (...) {
        /* Its errors were reported when it finished. */
    }
}
} // namespace

const txm_encoder_ops encoder = {encoder_begin, encoder_rows, encoder_finish, encoder_close};
} // namespace oiio_module
