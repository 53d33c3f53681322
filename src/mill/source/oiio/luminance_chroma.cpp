/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenEXR images of luminance and subsampled chroma (channels Y, RY, BY), which OpenImageIO reads only since 3.1, and
 * only if their data window begins at 0. OpenEXR's own RGBA interface converts them to colours, as halves. Cycles
 * reads such files as colours, so a reader that delivered only Y would give another picture. Files that OpenImageIO
 * reads correctly are left to it.
 */
#include "mill/source/oiio/oiio_shared.h"

#include <cstring>
#include <OpenEXR/ImfChannelList.h>
#include <OpenEXR/ImfChromaticitiesAttribute.h>
#include <OpenEXR/ImfFloatAttribute.h>
#include <OpenEXR/ImfIntAttribute.h>
#include <OpenEXR/ImfMultiPartInputFile.h>
#include <OpenEXR/ImfPartType.h>
#include <OpenEXR/ImfRgbaFile.h>
#include <OpenEXR/ImfStringAttribute.h>
#include <OpenEXR/ImfTestFile.h>
#include <vector>

namespace
{
using OIIO::ImageSpec;
using OIIO::TypeDesc;

bool is_sampled(const Imf::Channel *channel, int step)
{
    return channel && channel->xSampling == step && channel->ySampling == step;
}

Chroma chroma_of(const Imf::ChannelList &channels)
{
    static const char *const names[] = {"Y", "RY", "BY", "A"};
    int count = 0, known = 0, chroma = 0;
    bool subsampled = false;
    for (auto i = channels.begin(); i != channels.end(); ++i, ++count) {
        const std::string name = i.name(), last = name.substr(name.rfind('.') + 1);
        for (const char *word : names)
            known += last == word;
        chroma += last == "RY" || last == "BY";
        subsampled |= !is_sampled(&i.channel(), 1);
    }
    if (!subsampled && !(chroma && known == count))
        return Chroma::NONE;
    const Imf::Channel *alpha = channels.findChannel("A");
    const bool served = is_sampled(channels.findChannel("Y"), 1) && is_sampled(channels.findChannel("RY"), 2) &&
                        is_sampled(channels.findChannel("BY"), 2) && (!alpha || is_sampled(alpha, 1)) &&
                        count == (alpha ? 4 : 3);
    return served ? Chroma::SERVED : Chroma::REFUSED;
}

void copy_attribute(const char *name, const Imf::Attribute &attribute, ImageSpec &spec)
{
    static const char *const names[][2] = {{"owner", "Copyright"},
                                           {"comments", "ImageDescription"},
                                           {"pixelAspectRatio", "PixelAspectRatio"},
                                           {"xDensity", "XResolution"}};
    for (const auto &pair : names)
        if (!strcmp(name, pair[0]))
            name = pair[1];
    if (auto text = dynamic_cast<const Imf::StringAttribute *>(&attribute))
        spec.attribute(name, text->value());
    else if (auto number = dynamic_cast<const Imf::FloatAttribute *>(&attribute))
        spec.attribute(name, number->value());
    else if (auto whole = dynamic_cast<const Imf::IntAttribute *>(&attribute))
        spec.attribute(name, whole->value());
    else if (auto primaries = dynamic_cast<const Imf::ChromaticitiesAttribute *>(&attribute)) {
        const Imf::Chromaticities &c = primaries->value();
        const float xy[8] = {c.red.x, c.red.y, c.green.x, c.green.y, c.blue.x, c.blue.y, c.white.x, c.white.y};
        spec.attribute(name, TypeDesc(TypeDesc::FLOAT, 8), xy);
    }
}

ImageSpec spec_of(const Imf::Header &header)
{
    const Imath::Box2i data = header.dataWindow(), display = header.displayWindow();
    const bool alpha = header.channels().findChannel("A") != nullptr;
    const int64_t width = int64_t(data.max.x) - data.min.x + 1, height = int64_t(data.max.y) - data.min.y + 1;
    if (width < 1 || height < 1 || width > INT32_MAX || height > INT32_MAX)
        throw std::runtime_error("the data window is empty or impossible");
    ImageSpec spec(static_cast<int>(width), static_cast<int>(height), alpha ? 4 : 3, TypeDesc::HALF);
    spec.x = data.min.x;
    spec.y = data.min.y;
    spec.full_x = display.min.x;
    spec.full_y = display.min.y;
    for (auto i = header.begin(); i != header.end(); ++i)
        copy_attribute(i.name(), i.attribute(), spec);
    const float density = spec.get_float_attribute("XResolution"),
                aspect = spec.get_float_attribute("PixelAspectRatio");
    if (density != 0) {
        spec.attribute("YResolution", density * (aspect != 0 ? aspect : 1));
        spec.attribute("ResolutionUnit", "in");
    }
    return spec;
}

class LuminanceChroma final : public OIIO::ImageInput
{
  public:
    const char *format_name() const override
    {
        return "openexr";
    }
    bool open(const std::string &name, ImageSpec &spec) override
    {
        close();
        m_name = name;
        m_spec = spec = spec_of(Imf::MultiPartInputFile(name.c_str(), 0).header(0));
        return true;
    }
    bool close() override
    {
        m_file.reset();
        return true;
    }
    /* The file is opened late: the constructor allocates buffers of the image's width, which is checked before. */
    bool read_native_scanline(int, int, int y, int, void *data) override
    {
        try {
            if (!m_file) {
                m_file.reset(new Imf::RgbaInputFile(m_name.c_str(), 0));
                m_row.resize(static_cast<size_t>(m_spec.width));
            }
            m_file->setFrameBuffer(m_row.data() - m_spec.x, 1, 0);
            m_file->readPixels(y);
        } catch (const std::exception &e) {
            errorfmt("{}", e.what());
            return false;
        }
        const size_t bytes = static_cast<size_t>(m_spec.nchannels) * sizeof(half);
        char *out = static_cast<char *>(data);
        for (const Imf::Rgba &pixel : m_row) {
            memcpy(out, &pixel, bytes); /* alpha is the last channel */
            out += bytes;
        }
        return true;
    }

  private:
    std::string m_name;
    std::unique_ptr<Imf::RgbaInputFile> m_file;
    std::vector<Imf::Rgba> m_row;
};
} // namespace

Chroma chroma_of(const std::string &path)
{
    try {
        if (!Imf::isOpenExrFile(path.c_str()))
            return Chroma::NONE;
        Imf::MultiPartInputFile file(path.c_str(), 0);
        const Imf::Header &header = file.header(0);
        return header.hasType() && Imf::isDeepData(header.type()) ? Chroma::NONE : chroma_of(header.channels());
    } catch (const std::exception &) {
        return Chroma::NONE; /* OpenImageIO will report the error */
    }
}

std::unique_ptr<OIIO::ImageInput> luminance_chroma_input()
{
    return std::unique_ptr<OIIO::ImageInput>(new LuminanceChroma);
}
