/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of the alpha types, default settings.
 *
 * The words of the options and those stored in files differ; both are in one table, so that neither can be forgotten
 * when a type is added.
 */
#include "txmill/settings.h"

#include <string.h>

#include "core/options.h"
#include "txmill/pixel.h"

static const struct {
    const char *option, *stored;
} words[] = {
    /* "default" is resolved before anything is stored; its stored word is never written. */
    [TXM_ALPHA_DEFAULT] = {"default", "default"},
    [TXM_ALPHA_STRAIGHT] = {"straight", "unassociated"},
    [TXM_ALPHA_PREMULTIPLIED] = {"premultiplied", "associated"},
    [TXM_ALPHA_CHANNEL_PACKED] = {"channel_packed", "channel_packed"},
    [TXM_ALPHA_NONE] = {"none", "ignore"},
    [TXM_ALPHA_AUTO] = {"auto", "auto"},
};

/* Values of newer headers count as default. */
static txm_alpha known(txm_alpha alpha)
{
    return (unsigned)alpha <= TXM_ALPHA_AUTO ? alpha : TXM_ALPHA_DEFAULT;
}

const char *txm_alpha_name(txm_alpha alpha)
{
    return words[known(alpha)].option;
}

const char *txm_alpha_stored_name(txm_alpha alpha)
{
    return words[known(alpha)].stored;
}

/* Words of options and of files: both appear where people type. */
bool txm_alpha_parse(const char *word, txm_alpha *out)
{
    for (int i = 0; i <= TXM_ALPHA_AUTO; i++)
        if (!strcmp(word, words[i].option) || !strcmp(word, words[i].stored)) {
            *out = (txm_alpha)i;
            return true;
        }
    return false;
}

const char *txm_codec_name(txm_codec codec)
{
    static const char *const codecs[] = {"zip", "zstd", "none"};
    return (unsigned)codec < 3 ? codecs[codec] : "unknown";
}

void txm_settings_init_sized(txm_settings *settings, size_t struct_size)
{
    txm_settings all = {.struct_size = struct_size, .mono = true, .borders = true, .tile_px = TXM_DEFAULT_TILE_PX};
    txm_options_open(settings, struct_size, &all, sizeof all);
}
