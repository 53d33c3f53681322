/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a finished EXR file has the requested attributes.
 */
#include <ctype.h>
#include <string.h>

#include "mill/write/read_back_impl.h"
#include "mill/write/writer_metadata.h"
#include "tile/reader/blender_format.h"

/* The reader replaces control characters by question marks. */
static bool shows(const char *kept, const char *text)
{
    for (; *kept && *text; kept++, text++)
        if (*kept != *text && !(*kept == '?' && iscntrl((unsigned char)*text)))
            return false;
    return *kept == *text;
}

/* Whether the file has the attribute. Attributes beyond the reader's limits are not checked. */
static bool has(const txm_read_back *c, const char *name, const char *text)
{
    const txm_metadata *m = &c->tx->metadata;
    const char *kept = txm_tx_metadata_of(c->tx, name);
    return kept ? shows(kept, text)
                : m->count == TXM_METADATA_MAX_ENTRIES ||
                      m->text.size + strlen(name) + strlen(text) + 2 > TXM_METADATA_MAX_BYTES;
}

/* Compares text, because that is what was written. */
static bool has_color(const txm_read_back *c, const char *name, const float *color)
{
    char text[TXM_COLOR_BYTES];
    txm_metadata_color(color, c->layout->channels, text);
    return has(c, name, text);
}

/* If attributes share a name, one of them is kept. */
static bool has_attribute(const txm_read_back *c, const char *name)
{
    for (size_t i = 0; i < c->metadata->attribute_count; i++) {
        const txm_tx_attribute *a = &c->metadata->attributes[i];
        if (!strcmp(txm_metadata_exr_name(a->name), name) && has(c, name, a->value))
            return true;
    }
    return false;
}

/* Checks all attributes that Cycles or this project uses. */
txm_status txm_exr_read_back(const txm_read_back *c)
{
    const txm_tx_metadata *m = c->metadata;
    const txm_tx_summary *s = c->summary;
    char date[TXM_DATE_BYTES];
    txm_metadata_date(m->source_mtime, date);
    bool same = has(c, "Software", txm_blender_format_now()->software) &&
                has(c, "blender:SourceAlpha", txm_alpha_stored_name(m->alpha)) &&
                has(c, "blender:SourceColorSpace", m->detected_colorspace) && has(c, "blender:SourceFile", m->source) &&
                has(c, "blender:XYZToSceneLinear", m->xyz_to_scene_linear) && has(c, "capDate", date) &&
                has(c, "textureformat", txm_tx_texture_format(m)) && has(c, "wrapmodes", txm_tx_wrap_modes(m)) &&
                has(c, "oiio:SHA-1", s->sha1) && has_color(c, "oiio:AverageColor", s->average);
    same = same && (!s->constant || has_color(c, "oiio:ConstantColor", s->constant_color));
    same = same && (!*m->interop_id || has(c, "colorInteropID", m->interop_id));
    char limit[TXM_LIMIT_BYTES];
    txm_own_word words[TXM_OWN_WORDS];
    const size_t count = txm_metadata_own_words(m, NULL, c->layout->channels, limit, words);
    for (size_t i = 0; same && i < count; i++)
        same = has(c, words[i].name, words[i].value);
    same = same && (!m->equiangular || has(c, "envmap", "latlong"));
    for (size_t i = 0; same && i < m->attribute_count; i++)
        same = txm_metadata_is_reserved(m->attributes[i].name) ||
               has_attribute(c, txm_metadata_exr_name(m->attributes[i].name));
    return same ? TXM_OK : txm_read_back_differs(c, "its metadata");
}
