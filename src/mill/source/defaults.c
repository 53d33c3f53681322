/* SPDX-License-Identifier: Apache-2.0
 *
 * What Blender sets for an image when it loads it, and what Cycles takes `auto` for.
 *
 * Blender decides by file format, not by sample type: every PNG and every TIFF is default_byte, whatever its samples
 * are, while formats that may hold scene-referred light are default_float even at 8 or 10 bits.
 */
#include "mill/source/defaults.h"

#include <string.h>

#include "mill/source/readers.h"
#include "tile/base/path.h"

/* How a format's role is found when neither metadata nor a file rule names a space. */
typedef enum role_rule {
    ROLE_FLOAT,       /* may hold HDR: default_float */
    ROLE_BYTE,        /* never does: default_byte */
    ROLE_BY_WIDTH,    /* default_float if a sample is wider than a byte */
    ROLE_BY_FLOATNESS /* Blender does not read it: default_float for half and float samples */
} role_rule;

/* OpenImageIO's names of the formats that Blender reads. */
static const struct {
    const char *format;
    role_rule role;
    bool premultiplied; /* the loader says so, whatever the extension */
    bool trusts_hint;   /* OpenImageIO's colour space counts as metadata of the file */
} formats[] = {
    {"openexr", ROLE_FLOAT, true, false},  {"hdr", ROLE_FLOAT, true, false},      {"dpx", ROLE_FLOAT, true, false},
    {"cineon", ROLE_FLOAT, true, false},   {"png", ROLE_BYTE, false, false},      {"tiff", ROLE_BYTE, false, false},
    {"jpeg", ROLE_BYTE, false, false},     {"jpeg2000", ROLE_BYTE, false, false}, {"webp", ROLE_BYTE, false, false},
    {"targa", ROLE_BYTE, false, false},    {"bmp", ROLE_BYTE, false, false},      {"sgi", ROLE_BYTE, false, false},
    {"heif", ROLE_BYTE, false, false},     {"dds", ROLE_BY_WIDTH, false, false},  {"psd", ROLE_BY_WIDTH, false, true},
    {"", ROLE_BY_FLOATNESS, false, false},
};

/* The last row is for formats that are not listed. */
static size_t format_index(const txm_source_info *info)
{
    size_t i = 0;
    while (*formats[i].format && strcmp(formats[i].format, info->format) != 0)
        i++;
    return i;
}

/* A role, or the role that Blender takes in its place where a config lacks it. */
static const char *role_space(const txm_color_config *config, bool is_float)
{
    const char *space = txm_color_role(config, is_float ? "default_float" : "default_byte");
    if (!space)
        space = txm_color_role(config, is_float ? "scene_linear" : "texture_paint");
    return space ? space : txm_color_role(config, "default");
}

/* Which of the config's two roles a format takes. */
static bool wants_float(role_rule rule, txm_type type)
{
    switch (rule) {
    case ROLE_FLOAT:
        return true;
    case ROLE_BYTE:
        return false;
    case ROLE_BY_WIDTH:
        return txm_type_bytes(type) > 1;
    default:
        return txm_type_is_float(type);
    }
}

/* What the file itself says, if the config knows it. Files in the ACES container are what the config interchanges in.
 */
static const char *metadata_space(const txm_source_info *info, bool trusts_hint, const txm_color_config *config)
{
    const char *space = NULL;
    if (*info->interop_id) {
        space = txm_color_canonical(config, info->interop_id);
        if (!space && strcmp(info->interop_id, TXM_INTEROP_ACES2065) == 0)
            space = txm_color_role(config, "aces_interchange");
    }
    if (!space && trusts_hint && *info->colorspace_hint)
        space = txm_color_canonical(config, info->colorspace_hint);
    return space;
}

/* By extension, as Blender decides it, not by what the file is. */
static bool extension_is_premultiplied(const char *path)
{
    return txm_path_has_ext(path, ".exr") || txm_path_has_ext(path, ".cin") || txm_path_has_ext(path, ".dpx") ||
           txm_path_has_ext(path, ".hdr");
}

/* In Blender's order: what the file says, if its format is one that Blender believes; a file rule; a role. */
txm_status txm_source_scene_defaults(const txm_source_info *info, const char *path, const txm_color_config *config,
                                     const char **colorspace, txm_alpha *alpha)
{
    size_t f = format_index(info);
    const char *space = metadata_space(info, formats[f].trusts_hint, config);
    if (!space)
        space = txm_color_file_rule(config, path);
    if (!space)
        space = role_space(config, wants_float(formats[f].role, info->type));
    if (!space)
        return TXM_STATUS_COLORSPACE;
    if (colorspace)
        *colorspace = space;
    if (alpha) {
        if (formats[f].premultiplied || info->tiff_premultiplied_default)
            *alpha = TXM_ALPHA_PREMULTIPLIED;
        else if (txm_color_is_data(config, space))
            *alpha = TXM_ALPHA_CHANNEL_PACKED; /* data is loaded with its alpha left alone, and remembered so */
        else
            *alpha = extension_is_premultiplied(path) ? TXM_ALPHA_PREMULTIPLIED : TXM_ALPHA_STRAIGHT;
    }
    return TXM_OK;
}

/* What Cycles makes of an image without a colour space of its own. */
const char *txm_source_auto_space(const txm_source_info *info, const txm_color_config *config)
{
    if (*info->colorspace_hint && txm_color_canonical(config, info->colorspace_hint))
        return info->colorspace_hint;
    return role_space(config, txm_type_is_float(info->type));
}
