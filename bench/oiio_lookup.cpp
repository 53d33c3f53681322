/* SPDX-License-Identifier: Apache-2.0
 * Lookups through OpenImageIO, set up for speed as in a renderer. */
#include "oiio_lookup.h"

#include <OpenImageIO/texture.h>

#include <vector>

/* It is a plain pointer, and from OpenImageIO 3 on a shared one. */
using System = decltype(OIIO::TextureSystem::create(false));

struct oiio_textures {
    System system;
    std::vector<OIIO::TextureSystem::TextureHandle *> handles;
};

struct oiio_caller {
    oiio_textures *textures;
    OIIO::TextureSystem::Perthread *thread;
    OIIO::TextureOpt options;
};

oiio_textures *oiio_textures_new(int cache_mb)
{
    System system = OIIO::TextureSystem::create(false);
    system->attribute("max_memory_MB", (float)cache_mb);
    return new oiio_textures{system, {}};
}

oiio_textures *oiio_textures_open(const char *path, int cache_mb)
{
    oiio_textures *made = oiio_textures_new(cache_mb);
    if (oiio_textures_add(made, path) < 0) {
        oiio_textures_close(made);
        return nullptr;
    }
    return made;
}

int oiio_textures_add(oiio_textures *t, const char *path)
{
    OIIO::TextureSystem::TextureHandle *handle = t->system->get_texture_handle(OIIO::ustring(path));
    if (!handle || !t->system->good(handle))
        return -1;
    t->handles.push_back(handle);
    return (int)t->handles.size() - 1;
}

void oiio_textures_close(oiio_textures *textures)
{
    if (textures)
        OIIO::TextureSystem::destroy(textures->system);
    delete textures;
}

static OIIO::TextureOpt options_of(int mode, int interpolation, int anisotropy)
{
    static const OIIO::TextureOpt::MipMode modes[] = {
        OIIO::TextureOpt::MipModeOneLevel, OIIO::TextureOpt::MipModeTrilinear, OIIO::TextureOpt::MipModeAniso};
    static const OIIO::TextureOpt::InterpMode interpolations[] = {
        OIIO::TextureOpt::InterpClosest, OIIO::TextureOpt::InterpBilinear, OIIO::TextureOpt::InterpBicubic,
        OIIO::TextureOpt::InterpSmartBicubic};
    OIIO::TextureOpt options;
    options.swrap = options.twrap = OIIO::TextureOpt::WrapPeriodic;
    options.mipmode = modes[mode];
    options.interpmode = interpolations[interpolation];
    options.anisotropic = anisotropy;
    return options;
}

int oiio_textures_sample(oiio_textures *t, int mode, int interpolation, int anisotropy, size_t count,
                         const float *const in[6], float *out)
{
    OIIO::TextureSystem::Perthread *thread = t->system->get_perthread_info();
    OIIO::TextureOpt options = options_of(mode, interpolation, anisotropy);
    for (size_t i = 0; i < count; i++) /* OpenImageIO counts t from the top */
        if (!t->system->texture(t->handles[0], thread, options, in[0][i], 1.0f - in[1][i], in[2][i], -in[3][i],
                                in[4][i], -in[5][i], 4, out + 4 * i))
            return 0;
    return 1;
}

oiio_caller *oiio_caller_new(oiio_textures *t, int mode, int interpolation, int anisotropy)
{
    return new oiio_caller{t, t->system->get_perthread_info(), options_of(mode, interpolation, anisotropy)};
}

void oiio_caller_free(oiio_caller *caller)
{
    delete caller;
}

int oiio_caller_sample(oiio_caller *c, unsigned texture, const float at[6], float out[4])
{
    return c->textures->system->texture(c->textures->handles[texture], c->thread, c->options, at[0], 1.0f - at[1],
                                        at[2], -at[3], at[4], -at[5], 4, out);
}
