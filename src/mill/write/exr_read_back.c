/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a finished EXR file has the requested attributes.
 */
#include <ctype.h>
#include <string.h>

#include "mill/write/writer_impl.h"
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

static bool has_color(const txm_read_back *c, const char *name, const float *color)
{
    char text[TXM_COLOR_BYTES];
    txm_metadata_color(color, c->layout->channels, text);
    return has(c, name, text);
}

txm_status txm_exr_read_back(const txm_read_back *c)
{
    const txm_tx_metadata *m = c->metadata;
    const txm_tx_summary *s = c->summary;
    txm_exr_texts texts;
    txm_metadata_exr_texts(m, c->layout->channels, &texts);
    bool same = has(c, "oiio:SHA-1", s->sha1) && has_color(c, "oiio:AverageColor", s->average) &&
                (!s->constant || has_color(c, "oiio:ConstantColor", s->constant_color));
    for (size_t i = 0; same && i < texts.count; i++)
        same = !texts.words[i].value || has(c, texts.words[i].name, texts.words[i].value);
    for (size_t i = 0; same && i < m->attribute_count; i++) {
        const char *name = txm_metadata_exr_name(m->attributes[i].name);
        same = txm_metadata_is_reserved(m->attributes[i].name);
        for (size_t j = 0; !same && j < m->attribute_count; j++) /* if attributes share a name, one of them is kept */
            same = !strcmp(txm_metadata_exr_name(m->attributes[j].name), name) && has(c, name, m->attributes[j].value);
    }
    return same ? TXM_OK : txm_read_back_differs(c, "its metadata");
}
