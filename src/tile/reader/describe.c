/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses the metadata of an open tx file into a description: source, colour spaces, alpha, digest and averages.
 *
 * Blender, maketx and this project store these in different places. A field that the file lacks, or whose text is
 * malformed, stays empty.
 */
#include "txtile/describe.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/content.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/words.h"
#include "tile/reader/acceptance.h"
#include "tile/reader/blender_format.h"
#include "tile/reader/reader_impl.h"

/* Copies at most `n` bytes, cut to the field's size. */
static void set(char *field, size_t field_bytes, const char *text, size_t n)
{
    if (n >= field_bytes)
        n = field_bytes - 1;
    memcpy(field, text, n);
    field[n] = 0;
}

/* Leaves the field empty if the metadata is missing. */
static void set_from(char *field, size_t field_bytes, const txm_tx *tx, const char *name)
{
    const char *value = txm_tx_metadata_of(tx, name);
    if (value)
        set(field, field_bytes, value, strlen(value));
}

/* Searches for the last occurrence, because a path may contain the same words and comes before the part we look for. */
static const char *last_of(const char *text, const char *words)
{
    const char *found = NULL;
    for (const char *p = text; (p = strstr(p, words)); p++)
        found = p;
    return found;
}

/* 'default' is valid on command lines only, never in files. */
static bool set_alpha(txm_tx_description *d, const char *word)
{
    txm_alpha alpha;
    d->has_alpha_type = txm_alpha_parse(word, &alpha) && alpha != TXM_ALPHA_DEFAULT;
    if (d->has_alpha_type)
        d->alpha = alpha;
    return d->has_alpha_type;
}

/* The parts of TIFF's "<source> (colorspace: <space>, xyz_to_scene_linear:<numbers>, alpha: <word>)". Each one ends
 * where the words before the next one begin. */
typedef struct document_parts {
    size_t source_bytes, space_bytes, numbers_bytes, alpha_bytes;
    const char *space, *numbers, *alpha;
} document_parts;

/* False if the text does not have this form. */
static bool split_document_name(const char *text, document_parts *out)
{
    static const char space[] = " (colorspace: ", matrix[] = ", xyz_to_scene_linear:", alpha[] = ", alpha: ";
    const char *s = last_of(text, space), *m = last_of(text, matrix), *a = last_of(text, alpha);
    size_t n = strlen(text);
    if (!s || !m || !a || s + sizeof space - 1 > m || m + sizeof matrix - 1 > a || text[n - 1] != ')')
        return false;
    out->space = s + sizeof space - 1;
    out->numbers = m + sizeof matrix - 1;
    out->alpha = a + sizeof alpha - 1;
    out->source_bytes = (size_t)(s - text);
    out->space_bytes = (size_t)(m - out->space);
    out->numbers_bytes = (size_t)(a - out->numbers);
    out->alpha_bytes = (size_t)(text + n - 1 - out->alpha);
    return true;
}

/* A text of any other form is taken as a path. */
static bool parse_document_name(const char *text, txm_tx_description *d)
{
    document_parts parts;
    char word[32];
    if (!split_document_name(text, &parts)) {
        d->source = txm_strdup(text);
        return d->source != NULL;
    }
    set(d->detected, sizeof d->detected, parts.space, parts.space_bytes);
    set(d->xyz_to_scene_linear, sizeof d->xyz_to_scene_linear, parts.numbers, parts.numbers_bytes);
    set(word, sizeof word, parts.alpha, parts.alpha_bytes);
    set_alpha(d, word);
    d->source = txm_strndup(text, parts.source_bytes);
    return d->source != NULL;
}

/* ---- what the numbers mean -------------------------------------------------------------------------------------- */

const char *txm_encoding_name(txm_encoding encoding)
{
    static const char *const names[] = {"unknown", "linear", "srgb", "data"};
    return TXM_WORD_OF(names, encoding);
}

/* If the pixels were converted to the working space, the text names the original colour space. */
static txm_encoding encoding_of(const char *space, size_t bytes)
{
    static const char encoded[] = "scene_linear_srgb", data[] = "data";
    return !bytes                                                                       ? TXM_ENCODING_UNKNOWN
           : bytes == sizeof encoded - 1 && !memcmp(space, encoded, sizeof encoded - 1) ? TXM_ENCODING_SRGB
           : bytes == sizeof data - 1 && !memcmp(space, data, sizeof data - 1)          ? TXM_ENCODING_DATA
                                                                                        : TXM_ENCODING_LINEAR;
}

/* Finds the space in the same places as txm_tx_describe but without allocating memory, since it runs for every file
 * that is opened. */
txm_encoding txm_tx_read_encoding(const txm_tx *tx)
{
    document_parts parts;
    const char *space = txm_tx_metadata_of(tx, "blender:SourceColorSpace");
    const char *text = txm_tx_metadata_of(tx, "DocumentName");
    if (space)
        return encoding_of(space, strlen(space));
    if (txm_tx_metadata_of(tx, "blender:SourceFile") || !text || !split_document_name(text, &parts))
        return TXM_ENCODING_UNKNOWN;
    return encoding_of(parts.space, parts.space_bytes);
}

/* Parses "0.5,0.25,1" and returns how many numbers there are; 0 if the text has another form. */
static unsigned parse_color(const char *text, float color[4])
{
    unsigned count = 0;
    if (!text)
        return 0;
    while (count < 4) {
        char *end;
        float value = txm_parse_float(text, &end);
        if (end == text)
            return 0;
        color[count++] = value;
        /* The EXR writer reserves more room than it needs and pads with spaces. */
        end += strspn(end, " ");
        if (!*end)
            return count;
        if (*end != ',')
            return 0;
        text = end + 1;
    }
    return 0;
}

/* NULL if the metadata is missing. false if memory is exhausted. */
static bool copy_text(const txm_tx *tx, const char *name, char **out)
{
    const char *value = txm_tx_metadata_of(tx, name);
    *out = value ? txm_strdup(value) : NULL;
    return !value || *out;
}

/* Blender's EXR attributes take precedence over the TIFF tag, since a file that was converted between the two formats
 * may have both. */
txm_status txm_tx_describe(const txm_tx *tx, txm_tx_description *out, txm_error *err)
{
    txm_error_clear(err);
    txm_tx_description d = {0};
    *out = d;
    const char *document = txm_tx_metadata_of(tx, "DocumentName");
    const char *source = txm_tx_metadata_of(tx, "blender:SourceFile");
    const char *alpha = txm_tx_metadata_of(tx, "blender:SourceAlpha");
    const char *format = txm_tx_metadata_of(tx, "textureformat");
    bool ok = true;
    if (source)
        ok = (d.source = txm_strdup(source)) != NULL;
    else if (document && *document)
        ok = parse_document_name(document, &d);
    else
        ok = (d.source = txm_strdup("")) != NULL;
    if (!ok)
        return txm_no_memory(err, NULL);
    if (alpha)
        set_alpha(&d, alpha);
    set_from(d.detected, sizeof d.detected, tx, "blender:SourceColorSpace");
    set_from(d.xyz_to_scene_linear, sizeof d.xyz_to_scene_linear, tx, "blender:XYZToSceneLinear");
    set_from(d.requested, sizeof d.requested, tx, "txmill:ColorSpace");
    if (!copy_text(tx, "txmill:Config", &d.config) || !copy_text(tx, "txmill:Blender", &d.releases) ||
        !copy_text(tx, "txmill:Content", &d.content)) {
        txm_tx_description_free(&d);
        return txm_no_memory(err, NULL);
    }
    set_from(d.software, sizeof d.software, tx, "Software");
    set_from(d.date, sizeof d.date, tx, "DateTime");
    if (!d.date[0])
        set_from(d.date, sizeof d.date, tx, "capDate");
    if (!format)
        format = txm_tx_metadata_of(tx, "PixarTextureFormat");
    d.envlatl = format && !strncmp(format, "LatLong", 7);
    int version;
    char tail;
    const bool by_blender = sscanf(d.software, TXM_BLENDER_SOFTWARE "%9d%c", &version, &tail) == 1 && version >= 0;
    d.format_version = by_blender ? version : -1;
    /* A digest has 40 digits; any other text is ignored. */
    const char *sha1 = txm_tx_metadata_of(tx, "oiio:SHA-1");
    if (sha1 && strspn(sha1, "0123456789ABCDEFabcdef") == 40 && (!sha1[40] || isspace((unsigned char)sha1[40])))
        set(d.sha1, sizeof d.sha1, sha1, 40);
    d.average_count = parse_color(txm_tx_metadata_of(tx, "oiio:AverageColor"), d.average);
    d.constant_count = parse_color(txm_tx_metadata_of(tx, "oiio:ConstantColor"), d.constant);
    /* The matrix identifies the space, or in OpenEXR files the interop id. */
    const char *interop_id = txm_tx_metadata_of(tx, "colorInteropID");
    const txm_blender_space *space;
    for (unsigned i = 0; (space = txm_blender_space_at(i)); i++)
        if (!strcmp(d.xyz_to_scene_linear, space->xyz_text) || (interop_id && !strcmp(interop_id, space->interop_id)))
            set(d.working_space, sizeof d.working_space, space->name, strlen(space->name));
    /* 0 if no such limit could have been set. */
    const char *text = txm_tx_metadata_of(tx, "txmill:Limit");
    const size_t digits = text ? strspn(text, "0123456789") : 0;
    const unsigned long limit = digits && digits <= 7 && !text[digits] ? strtoul(text, NULL, 10) : 0;
    d.limit_px = limit >= TXM_MIN_LIMIT_PX && limit <= TXM_MAX_LIMIT_PX ? (uint32_t)limit : 0;
    uint64_t bytes;
    if (!txm_content_key_parse(d.content, &bytes)) {
        free(d.content);
        d.content = NULL;
    }
    d.encoding = tx->info.encoding;
    *out = d;
    return TXM_OK;
}

void txm_tx_description_free(txm_tx_description *description)
{
    if (description) {
        free(description->source);
        free(description->config);
        free(description->releases);
        free(description->content);
        *description = (txm_tx_description){0};
    }
}

/* ---- what Cycles loads ------------------------------------------------------------------------------------------- */

/* Cycles' rules for native tx files, applied to the properties that the reader has found. */

enum { USUAL_TILE_PX = 64 };

/* Cycles refuses files that were written by a newer format version. */
static const char version_prefix[] = TXM_BLENDER_SOFTWARE;

static int refuse_tx(char *reason, size_t reason_bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The reason is optional and may have no room. */
static int refuse_tx(char *reason, size_t reason_bytes, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (reason_bytes)
        txm_vformat(reason, reason_bytes, format, args);
    va_end(args);
    return 0;
}

/* zstd in TIFF is an option of txmill for pipelines in which the official Blender never reads the file. */
bool txm_tx_codec_is_foreign(const txm_tx *tx)
{
    return tx->foreign;
}

uint32_t txm_tx_odd_level(const txm_tx *tx, uint32_t *width, uint32_t *height)
{
    *width = tx->odd_width;
    *height = tx->odd_height;
    return tx->odd_width && !tx->hidden_levels ? tx->info.levels : 0;
}

/* Makes the checks of Cycles, in its order, and adds whether its libraries can decode the file. */
bool txm_tx_cycles_accepts(const txm_tx *tx, char *reason, size_t reason_bytes)
{
    if (!txm_tx_is_pyramid(tx, reason, reason_bytes))
        return false;
    if (txm_tx_codec_is_foreign(tx))
        return refuse_tx(reason, reason_bytes,
                         "it is compressed with %s, which the official Blender's libtiff is built without",
                         tx->info.compression);
    return true;
}

/* For Maya's IFF, OpenImageIO takes the size of the first tile as the size of all. */
static txm_status iff_serves(const char *path, bool *serves, txm_error *err)
{
    uint8_t h[0x50];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *serves = false;
    if (fd < 0)
        return txm_fail_errno(err, errno, "%s: cannot be opened", path);
    const ssize_t got = pread(fd, h, sizeof h, 0);
    const int why = errno;
    close(fd);
    if (got < 0)
        return txm_fail_errno(err, why, "%s: cannot be read", path);
    if (got < (ssize_t)sizeof h || memcmp(h, "FOR4", 4) != 0 || memcmp(h + 8, "CIMGTBHD", 8) != 0)
        return TXM_OK;
    uint32_t width = txm_load_be32(h + 0x14), height = txm_load_be32(h + 0x18), tiles = txm_load_be16(h + 0x26);
    *serves = tiles == 1 && width == height && (width == 1 || width >= 8) && !(width & (width - 1));
    return TXM_OK;
}

txm_status txm_tx_opening(const char *path, txm_opening *out, txm_error *err)
{
    txm_tx *tx = NULL;
    txm_error own = {0};
    *out = TXM_OPENING_NONE;
    txm_status status = txm_tx_open_outline(path, &tx, &own);
    if (status == TXM_OK) {
        if (txm_tx_is_pyramid(tx, NULL, 0))
            *out = tx->foreign ? TXM_OPENING_FOREIGN : tx->ops->opening;
        txm_tx_close(&tx);
        return TXM_OK;
    }
    bool serves = false;
    if (!txm_status_retryable(status)) {
        txm_error_clear(&own);
        status = iff_serves(path, &serves, &own);
    }
    if (serves)
        *out = TXM_OPENING_WHOLE;
    return txm_status_retryable(status) ? txm_fail_as(err, &own) : TXM_OK;
}

/* An image that already is a pyramid is rendered as it is, so neither Cycles nor txmill converts it. One that the
 * official Blender cannot decode, and would render magenta, is converted. */
txm_status txm_tx_find_serving(const char *path, bool *serves, txm_error *err)
{
    txm_opening how;
    txm_status status = txm_tx_opening(path, &how, err);
    *serves = how == TXM_OPENING_WHOLE || how == TXM_OPENING_PARTS;
    return status;
}

bool txm_tx_serves_itself(const char *path)
{
    bool serves = false;
    return path && txm_tx_find_serving(path, &serves, NULL) == TXM_OK && serves;
}

/* Blender's test, condition by condition; the reason is the first one that fails. */
bool txm_tx_is_pyramid(const txm_tx *tx, char *reason, size_t reason_bytes)
{
    const txm_tx_info *info = &tx->info;
    const char *software = txm_tx_metadata_of(tx, "Software");
    if (reason_bytes)
        *reason = 0;
    if (software && strncmp(software, version_prefix, sizeof version_prefix - 1) == 0) {
        long version = strtol(software + sizeof version_prefix - 1, NULL, 10);
        if (version > 0)
            return refuse_tx(reason, reason_bytes, "made by a newer format of Blender's writer (version %ld)", version);
    }
    if (info->width == 1 && info->height == 1)
        return 1;
    if (info->tile_w != info->tile_h)
        return refuse_tx(reason, reason_bytes, "its tiles are %ux%u pixels, not square", info->tile_w, info->tile_h);
    if (info->tile_w < 8 || info->tile_w & (info->tile_w - 1))
        return refuse_tx(reason, reason_bytes, "its tiles are %u pixels wide, not a power of two of at least 8",
                         info->tile_w);
    /* All levels are needed, down to the first that fits in one tile, or in one of the usual size. */
    uint32_t need = 1, most = info->tile_w > USUAL_TILE_PX ? info->tile_w : USUAL_TILE_PX;
    while (txm_level_size(info->width, need - 1) > most || txm_level_size(info->height, need - 1) > most)
        need++;
    uint32_t odd_width, odd_height, odd = txm_tx_odd_level(tx, &odd_width, &odd_height);
    if (info->levels < need && !odd)
        return refuse_tx(reason, reason_bytes, "it has %u level%s; %u are needed: down to a tile, or 64 px",
                         info->levels, info->levels == 1 ? "" : "s", need);
    if (need > 1 && tx->hidden_levels)
        return refuse_tx(reason, reason_bytes, "%s", tx->hidden_levels);
    return 1;
}
