/* SPDX-License-Identifier: Apache-2.0
 * Look-ups without opening more of an image than its header. */
#include "cache/lookup.h"
#include "core/fail.h"
#include "core/options.h"
#include "source/defaults.h"
#include "source/source.h"

txm_status txm_image_defaults(const txm_color_config *config, const char *image, const char **colorspace,
                              txm_alpha *alpha, txm_error *err)
{
    txm_error_clear(err);
    txm_source *source = NULL;
    txm_status status = txm_source_open(image, NULL, &source, err);
    if (status != TXM_OK)
        return status;
    status = txm_source_scene_defaults(txm_source_info_of(source), image, config, colorspace, alpha);
    txm_source_close(&source);
    if (status != TXM_OK)
        return txm_fail(err, status, "the OCIO config has no role default_byte or default_float");
    return TXM_OK;
}

txm_status txm_look_up(const txm_color_config *config, const char *image, const txm_settings *settings, txm_found *out,
                       txm_error *err)
{
    txm_error_clear(err);
    const char *default_space = NULL;
    txm_alpha default_alpha = TXM_ALPHA_STRAIGHT;
    txm_settings s;
    *out = (txm_found){0};
    txm_settings_init(&s);
    txm_status status = txm_options_take(&s, sizeof s, settings, "txm_settings", err);
    bool no_space = !s.colorspace || !strcmp(s.colorspace, "default");
    if (status == TXM_OK && (no_space || s.alpha == TXM_ALPHA_DEFAULT))
        status = txm_image_defaults(config, image, &default_space, &default_alpha, err);
    if (status != TXM_OK)
        return status;
    const char *space = no_space ? default_space : s.colorspace;
    const txm_tx_key key = {.xyz_text = txm_color_xyz_to_scene_linear_text(config),
                            .colorspace = txm_color_is_data(config, space) ? "data"
                                          : strcmp(space, "auto")          ? space
                                                                           : "",
                            .alpha = s.alpha == TXM_ALPHA_DEFAULT ? default_alpha : s.alpha,
                            .equiangular = s.equiangular};
    return txm_tx_lookup(image, s.cache_dir, &key, out, err);
}
