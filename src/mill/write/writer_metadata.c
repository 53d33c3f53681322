/* SPDX-License-Identifier: Apache-2.0
 *
 * The metadata of a tx file as text.
 *
 * Produces the strings of both containers from properties of the source and the conversion. Their wording is that of
 * Blender's own writer, since Cycles and this project's reader parse them.
 */
#include "mill/write/writer_metadata.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "tile/reader/blender_format.h"

/* Attributes that have a place of their own. Names are OpenImageIO's; EXR spells some of them differently. */
static const struct {
    const char *name;
    uint32_t tag;
    const char *exr;
} known[] = {
    {"ImageDescription", 0, "comments"},
    {"Copyright", TIFFTAG_COPYRIGHT, "owner"},
    {"Artist", TIFFTAG_ARTIST, NULL},
    {"Make", TIFFTAG_MAKE, "cameraMake"},
    {"Model", TIFFTAG_MODEL, "cameraModel"},
    {"HostComputer", TIFFTAG_HOSTCOMPUTER, NULL},
    {"TargetPrinter", TIFFTAG_TARGETPRINTER, NULL},
};

/* Attributes that the writers store themselves, and OpenEXR's own. Names that begin with one of the prefixes below are
 * reserved as well. */
static const char *const reserved[] = {
    "Software",       "DateTime",
    "DocumentName",   "capDate",
    "textureformat",  "wrapmodes",
    "channels",       "compression",
    "dataWindow",     "displayWindow",
    "lineOrder",      "pixelAspectRatio",
    "tiles",          "type",
    "name",           "version",
    "chunkCount",     "screenWindowCenter",
    "Orientation",    "screenWindowWidth",
    "colorInteropID", "PageName",
    "envmap",         "xDensity",
    "XResolution",    "YResolution",
    "ResolutionUnit",
};
static const char *const reserved_prefixes[] = {"oiio:", "blender:", "txmill:"};

const char *txm_tx_texture_format(const txm_tx_metadata *m)
{
    return m->equiangular ? "LatLong Environment" : "Plain Texture";
}

const char *txm_tx_wrap_modes(const txm_tx_metadata *m)
{
    return m->equiangular ? "periodic,clamp" : "black,black";
}

/* Names are OpenImageIO's, which --attrib takes. */
uint32_t txm_metadata_tiff_tag(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!txm_casecmp(name, known[i].name))
            return known[i].tag;
    return 0;
}

const char *txm_metadata_exr_name(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].exr && !txm_casecmp(name, known[i].name))
            return known[i].exr;
    return name;
}

/* Attributes that the writer computes cannot be set from outside, or a file could have a wrong digest. */
bool txm_metadata_is_reserved(const char *name)
{
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (!txm_casecmp(name, reserved[i]))
            return true;
    for (size_t i = 0; i < sizeof reserved_prefixes / sizeof *reserved_prefixes; i++)
        if (!txm_ncasecmp(name, reserved_prefixes[i], strlen(reserved_prefixes[i])))
            return true;
    return !*name;
}

txm_tx_metadata txm_metadata_complete(const txm_tx_metadata *given)
{
    txm_tx_metadata m = *given;
    const char **const texts[] = {
        &m.source,
        &m.detected_colorspace,
        &m.requested_colorspace,
        &m.config,
        &m.content,
        &m.xyz_to_scene_linear,
        &m.interop_id,
        &m.releases,
        &m.releases_if_opaque,
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!*texts[i])
            *texts[i] = "";
    return m;
}

/* Local time, as in EXIF and as Blender writes it. */
void txm_metadata_date(time_t t, char out[TXM_DATE_BYTES])
{
    struct tm local;
    memset(out, 0, TXM_DATE_BYTES);
    if (!localtime_r(&t, &local) || !strftime(out, TXM_DATE_BYTES, "%Y:%m:%d %H:%M:%S", &local))
        strcpy(out, "0000:00:00 00:00:00"); /* a time beyond the calendar still gives a date of the right length */
}

/* The number of digits is Blender's. */
void txm_metadata_color(const float *color, uint32_t channels, char out[TXM_COLOR_BYTES])
{
    size_t used = 0;
    for (uint32_t c = 0; c < channels && c < 4; c++) /* at most 13 characters per number */
        used += (size_t)txm_format(out + used, TXM_COLOR_BYTES - used, "%s%.6g", c ? "," : "", (double)color[c]);
}

/* The line by which Cycles recognises the source of a file. It must equal Blender's character by character. */
bool txm_metadata_document_name(const txm_tx_metadata *m, txm_bytes *out)
{
    return txm_bytes_printf(out, "%s (colorspace: %s, xyz_to_scene_linear:%s, alpha: %s)", m->source,
                            m->detected_colorspace, m->xyz_to_scene_linear, txm_alpha_stored_name(m->alpha));
}

/* Appends a word NAME="value"; control characters would end the text for some readers. */
static bool add_description_word(txm_bytes *out, const char *name, const char *value)
{
    bool ok = txm_bytes_printf(out, "%s%s=\"", out->size ? " " : "", name);
    for (const char *p = value; ok && *p; p++) {
        char c = (unsigned char)*p < ' ' ? ' ' : *p;
        ok = (c != '"' && c != '\\') || txm_bytes_puts(out, "\\");
        ok = ok && txm_bytes_add(out, &c, 1);
    }
    return ok && txm_bytes_puts(out, "\"");
}

/* Returns how many of `out` it has filled in; the values belong to `m`, or to `limit`. `s` is NULL until the samples
 * are known. */
static size_t own_words(const txm_tx_metadata *m, const txm_tx_summary *s, uint32_t channels,
                        char limit[TXM_LIMIT_BYTES], txm_own_word out[TXM_OWN_WORDS])
{
    snprintf(limit, TXM_LIMIT_BYTES, "%u", m->limit_px);
    const txm_own_word words[TXM_OWN_WORDS] = {
        {"txmill:ColorSpace", m->requested_colorspace},
        {"txmill:Config", m->config},
        /* Grey is stored as one channel only if it is opaque. */
        {"txmill:Blender", channels == 1 || (s && s->opaque) ? m->releases_if_opaque : m->releases},
        {"txmill:Limit", m->limit_px ? limit : ""},
        {"txmill:Content", m->content},
    };
    size_t count = 0;
    for (size_t i = 0; i < TXM_OWN_WORDS; i++)
        if (*words[i].value)
            out[count++] = words[i];
    return count;
}

void txm_metadata_exr_texts(const txm_tx_metadata *m, uint32_t channels, txm_exr_texts *out)
{
    txm_metadata_date(m->source_mtime, out->date);
    const txm_own_word fixed[] = {
        {"Software", txm_blender_format_now()->software},
        {"blender:SourceAlpha", txm_alpha_stored_name(m->alpha)},
        {"blender:SourceColorSpace", m->detected_colorspace},
        {"blender:SourceFile", m->source},
        {"blender:XYZToSceneLinear", m->xyz_to_scene_linear},
        {"capDate", out->date},
        {"colorInteropID", m->interop_id},
        {"ResolutionUnit", NULL},
        {"textureformat", txm_tx_texture_format(m)},
        {"wrapmodes", txm_tx_wrap_modes(m)},
        {"envmap", "latlong"},
    };
    out->count = 0;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (strcmp(fixed[i].name, "envmap") == 0 ? m->equiangular
                                                 : strcmp(fixed[i].name, "colorInteropID") != 0 || *fixed[i].value)
            out->words[out->count++] = fixed[i];
    out->count += own_words(m, NULL, channels, out->limit, out->words + out->count);
}

/* A description from the source comes first, followed by ours. */
bool txm_metadata_description(const txm_tx_metadata *m, const txm_tx_summary *s, uint32_t channels, txm_bytes *out)
{
    char color[TXM_COLOR_BYTES];
    bool ok = true;
    for (size_t i = 0; ok && i < m->attribute_count; i++)
        if (!txm_casecmp(m->attributes[i].name, "ImageDescription"))
            ok = txm_bytes_printf(out, "%s ", m->attributes[i].value);
    ok = ok && txm_bytes_printf(out, "oiio:SHA-1=%s", s->sha1);
    if (ok && s->constant) {
        txm_metadata_color(s->constant_color, channels, color);
        ok = txm_bytes_printf(out, " oiio:ConstantColor=%s", color);
    }
    txm_metadata_color(s->average, channels, color);
    ok = ok && txm_bytes_printf(out, " oiio:AverageColor=%s", color);
    char limit[TXM_LIMIT_BYTES];
    txm_own_word words[TXM_OWN_WORDS];
    const size_t count = own_words(m, s, channels, limit, words);
    for (size_t i = 0; ok && i < count; i++)
        ok = add_description_word(out, words[i].name, words[i].value);
    for (size_t i = 0; ok && i < m->attribute_count; i++) {
        const char *name = m->attributes[i].name;
        if (txm_casecmp(name, "ImageDescription") && !txm_metadata_tiff_tag(name) && !txm_metadata_is_reserved(name))
            ok = add_description_word(out, name, m->attributes[i].value);
    }
    return ok;
}
