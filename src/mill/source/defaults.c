/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings that Blender gives an image when it loads it, and the colour space that Cycles uses for `auto`. Blender
 * decides by file format, not by sample type: every PNG and every TIFF is default_byte, whatever its samples are,
 * while formats that may contain scene-referred light are default_float even with 8 or 10 bits.
 */
#include "mill/source/defaults.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mill/source/formats.h"
#include "mill/source/readers.h"

/* The space of a role, or of the role that Blender uses instead if a config lacks it. */
static const char *role_space(const txm_color_config *config, bool is_float)
{
    const char *space = txm_color_role(config, is_float ? "default_float" : "default_byte");
    if (!space)
        space = txm_color_role(config, is_float ? "scene_linear" : "texture_paint");
    return space ? space : txm_color_role(config, "default");
}

/* The order is Blender's: what the file states, if the config has it and Blender trusts the format; a file rule; a
 * role. Files in the ACES container are in the config's interchange space. */
txm_status txm_source_scene_defaults(const txm_source_info *info, const char *path, const txm_color_config *config,
                                     const char **colorspace, txm_alpha *alpha)
{
    const txm_image_format *format = txm_format_named(info->format);
    const char *space = *info->interop_id ? txm_color_canonical(config, info->interop_id) : NULL;
    if (!space && strcmp(info->interop_id, TXM_INTEROP_ACES2065) == 0)
        space = txm_color_role(config, "aces_interchange");
    if (!space && format->traits & TXM_FORMAT_NAMES_SPACE && *info->colorspace_hint)
        space = txm_color_canonical(config, info->colorspace_hint);
    if (!space)
        space = txm_color_file_rule(config, path);
    const bool by_type =
        format->role == TXM_ROLE_BY_WIDTH ? txm_type_bytes(info->type) > 1 : txm_type_is_float(info->type);
    if (!space)
        space = role_space(config, format->role == TXM_ROLE_FLOAT || (format->role != TXM_ROLE_BYTE && by_type));
    if (!space)
        return TXM_STATUS_COLORSPACE;
    if (colorspace)
        *colorspace = space;
    if (alpha) {
        /* Unlike the format, the extension is Blender's usual one for a kind of image, whatever the file contains. */
        const txm_image_format *named = txm_format_of_source(path, true);
        if (format->traits & TXM_FORMAT_ASSOCIATED || info->tiff_premultiplied_default)
            *alpha = TXM_ALPHA_PREMULTIPLIED;
        else if (txm_color_is_data(config, space))
            *alpha = TXM_ALPHA_CHANNEL_PACKED; /* data are loaded with their alpha unchanged */
        else
            *alpha = named && named->traits & TXM_FORMAT_ASSOCIATED ? TXM_ALPHA_PREMULTIPLIED : TXM_ALPHA_STRAIGHT;
    }
    return TXM_OK;
}

bool txm_source_format_defaults(const char *path, const txm_color_config *config, const char **colorspace,
                                txm_alpha *alpha)
{
    const txm_image_format *format = txm_format_of_source(path, false);
    if (!format || format->reader || format->traits & TXM_FORMAT_NAMES_SPACE ||
        (format->role != TXM_ROLE_BYTE && format->role != TXM_ROLE_FLOAT))
        return false;
    uint8_t head[64];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    const txm_image_format *found = n > 0 ? txm_format_of_head(head, (size_t)n) : NULL;
    /* Some formats have no first bytes of their own. */
    const bool anonymous = !format->magics[0].bytes && !format->magics[0].digits;
    if (n <= 0 || (found ? found != format : !anonymous))
        return false;
    txm_source_info info = {.type = TXM_TYPE_U8};
    snprintf(info.format, sizeof info.format, "%s", format->name);
    return txm_source_scene_defaults(&info, path, config, colorspace, alpha) == TXM_OK;
}

const char *txm_source_auto_space(const txm_source_info *info, const txm_color_config *config)
{
    if (*info->colorspace_hint && txm_color_canonical(config, info->colorspace_hint))
        return info->colorspace_hint;
    return role_space(config, txm_type_is_float(info->type));
}
