/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of the alpha types, default settings, bounds of settings. The words of options and those stored in files
 * differ; both are in one table, so that neither is forgotten when a type is added.
 */
#include "tile/terms/settings.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/words.h"
#include "txtile/pixel.h"
#include "txtile/settings.h"

static const struct {
    const char *option, *stored;
} words[] = {
    /* "default" is resolved before anything is stored, so its stored word is never written. */
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

/* Accepts words of options and of files, since users type both. */
bool txm_alpha_parse(const char *word, txm_alpha *out)
{
    for (int i = 0; word && i <= TXM_ALPHA_AUTO; i++)
        if (!strcmp(word, words[i].option) || !strcmp(word, words[i].stored)) {
            *out = (txm_alpha)i;
            return true;
        }
    return false;
}

/* "==" precedes a name that the config may lack; "=" before one of the two words makes it a name; before anything else
 * "=" is part of the name. */
txm_space_choice txm_space_chosen(const char *setting, const char **name)
{
    *name = NULL;
    if (!setting || !strcmp(setting, "default"))
        return TXM_SPACE_DEFAULT;
    if (!strcmp(setting, "auto"))
        return TXM_SPACE_AUTO;
    if (!strcmp(setting, "="))
        return TXM_SPACE_UNSET;
    if (!strncmp(setting, "==", 2)) {
        *name = setting + 2;
        return TXM_SPACE_UNKNOWN;
    }
    *name = !strcmp(setting, "=default") || !strcmp(setting, "=auto") ? setting + 1 : setting;
    return TXM_SPACE_NAMED;
}

const char *txm_space_setting(const char *name)
{
    return !name ? "=" : !strcmp(name, "default") ? "=default" : !strcmp(name, "auto") ? "=auto" : name;
}

char *txm_space_unknown(const char *name)
{
    return txm_asprintf("==%s", name);
}

const char *txm_space_shown(const char *setting)
{
    return !strcmp(setting, "=") ? "none (=)" : !strncmp(setting, "==", 2) ? setting + 2 : setting;
}

const char *txm_codec_name(txm_codec codec)
{
    static const char *const codecs[] = {"zip", "zstd", "none"};
    return TXM_WORD_OF(codecs, codec);
}

void txm_settings_init_sized(txm_settings *settings, size_t struct_size)
{
    txm_settings all = {.struct_size = struct_size, .mono = true, .borders = true, .tile_px = TXM_DEFAULT_TILE_PX};
    txm_options_open(settings, struct_size, &all, sizeof all);
}

/* Programs may set anything; command lines were checked before. */
txm_status txm_settings_in_bounds(const txm_settings *s, txm_error *err)
{
    if (s->tile_px < TXM_MIN_TILE_PX || s->tile_px > TXM_MAX_TILE_PX || (s->tile_px & (s->tile_px - 1)))
        return txm_fail(err, TXM_STATUS_USAGE, "tile size %u: use a power of two from %d to %d", s->tile_px,
                        TXM_MIN_TILE_PX, TXM_MAX_TILE_PX);
    if ((unsigned)s->alpha > TXM_ALPHA_AUTO)
        return txm_fail(err, TXM_STATUS_USAGE, "unknown alpha type %d", (int)s->alpha);
    if (s->limit_px && s->limit_px < TXM_MIN_LIMIT_PX)
        return txm_fail(err, TXM_STATUS_USAGE, "limit of %u px: use at least %d", s->limit_px, TXM_MIN_LIMIT_PX);
    /* The bounds are those of the libraries: deflate to 12, zstd to 19, since higher levels need memory that tiles do
     * not justify. */
    const txm_compression *c = &s->compression;
    static const int highest[] = {[TXM_CODEC_ZIP] = 12, [TXM_CODEC_ZSTD] = 19, [TXM_CODEC_NONE] = 0};
    if ((unsigned)c->codec > TXM_CODEC_NONE)
        return txm_fail(err, TXM_STATUS_USAGE, "unknown compression %d", (int)c->codec);
    if (c->level < 0 || c->level > highest[c->codec])
        return txm_fail(err, TXM_STATUS_USAGE, "compression level %d: use 0 to %d", c->level, highest[c->codec]);
    return TXM_OK;
}

txm_status txm_settings_take(txm_settings *own, const txm_settings *given, txm_error *err)
{
    txm_settings_init(own);
    txm_status status = txm_options_take(own, sizeof *own, given, "txm_settings", err);
    return status == TXM_OK ? txm_settings_in_bounds(own, err) : status;
}
