/* SPDX-License-Identifier: Apache-2.0
 * Look-ups through OpenImageIO, set up as a renderer does that wants it fast. */
#include "oiio_lookup.h"

#include <OpenImageIO/texture.h>

/* A plain pointer, and from OpenImageIO 3 on a shared one. */
using System = decltype(OIIO::TextureSystem::create(false));

struct oiio_textures {
    System system;
    OIIO::TextureSystem::TextureHandle *handle;
};

oiio_textures *oiio_textures_open(const char *path, int cache_mb)
{
    System system = OIIO::TextureSystem::create(false);
    system->attribute("max_memory_MB", (float)cache_mb);
    OIIO::TextureSystem::TextureHandle *handle = system->get_texture_handle(OIIO::ustring(path));
    if (!handle || !system->good(handle)) {
        OIIO::TextureSystem::destroy(system);
        return nullptr;
    }
    return new oiio_textures{system, handle};
}

void oiio_textures_close(oiio_textures *textures)
{
    if (textures)
        OIIO::TextureSystem::destroy(textures->system);
    delete textures;
}

int oiio_textures_sample(oiio_textures *t, int mode, int interpolation, int anisotropy, size_t count,
                         const float *const in[6], float *out)
{
    static const OIIO::TextureOpt::MipMode modes[] = {
        OIIO::TextureOpt::MipModeOneLevel, OIIO::TextureOpt::MipModeTrilinear, OIIO::TextureOpt::MipModeAniso};
    static const OIIO::TextureOpt::InterpMode interpolations[] = {
        OIIO::TextureOpt::InterpClosest, OIIO::TextureOpt::InterpBilinear, OIIO::TextureOpt::InterpBicubic,
        OIIO::TextureOpt::InterpSmartBicubic};
    OIIO::TextureSystem::Perthread *thread = t->system->get_perthread_info();
    OIIO::TextureOpt options;
    options.swrap = options.twrap = OIIO::TextureOpt::WrapPeriodic;
    options.mipmode = modes[mode];
    options.interpmode = interpolations[interpolation];
    options.anisotropic = anisotropy;
    for (size_t i = 0; i < count; i++) /* OpenImageIO counts t from the top */
        if (!t->system->texture(t->handle, thread, options, in[0][i], 1.0f - in[1][i], in[2][i], -in[3][i], in[4][i],
                                -in[5][i], 4, out + 4 * i))
            return 0;
    return 1;
}
