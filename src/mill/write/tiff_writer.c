/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes tiled TIFF. libtiff manages the directories; tiles are already encoded. Level 0 is the first directory, and
 * each further level the next one.
 *
 * The first directory is written after the tiles of level 0, before SHA-1 and averages are known. Its ImageDescription
 * therefore reserves room for the longest possible text; finish overwrites it with the real text and shortens the count
 * in the directory entry. (libtiff's own method, rewriting the directory, would leave a dead copy with all tile offsets
 * behind.)
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "mill/write/writer_impl.h"
#include "mill/write/writer_metadata.h"
#include "tile/reader/blender_format.h"
#include "tile/reader/libtiff.h"
#include "tile/reader/tiff_reader.h"

typedef struct tiff_writer {
    const txm_tx_layout *layout;
    const txm_tx_metadata *metadata;
    txm_output *out;
    TIFF *tiff;
    uint64_t position; /* libtiff's position in the file */
    bool big;
    txm_bytes document_name, description; /* description: room for the final text */
    char date[TXM_DATE_BYTES];
    char said[256]; /* libtiff's first message */
    bool broken;    /* an allocation inside libtiff failed */
} tiff_writer;

static tmsize_t all_or_none(tiff_writer *w, bool ok, tmsize_t size)
{
    if (!ok)
        return 0;
    w->position += (uint64_t)size;
    return size;
}

static tmsize_t proc_read(thandle_t handle, void *data, tmsize_t size)
{
    tiff_writer *w = handle;
    return all_or_none(w, txm_output_read(w->out, w->position, data, (size_t)size), size);
}

static tmsize_t proc_write(thandle_t handle, void *data, tmsize_t size)
{
    tiff_writer *w = handle;
    return all_or_none(w, txm_output_write(w->out, w->position, data, (size_t)size), size);
}

static toff_t proc_seek(thandle_t handle, toff_t offset, int whence)
{
    tiff_writer *w = handle;
    uint64_t base = whence == SEEK_END ? txm_output_end(w->out) : whence == SEEK_CUR ? w->position : 0;
    w->position = base + offset;
    return w->position;
}

static toff_t proc_size(thandle_t handle)
{
    tiff_writer *w = handle;
    return txm_output_end(w->out);
}

/* libtiff must not close the descriptor. */
static int proc_close(thandle_t handle)
{
    (void)handle;
    return 0;
}

/* It is set per file, so that neither stderr nor a caller's own use of libtiff is affected. */
static int keep_tiff_error(TIFF *tiff, void *user, const char *module, const char *format, va_list args)
{
    tiff_writer *w = user;
    (void)tiff;
    (void)module;
    if (!w->said[0]) /* later messages are consequences of the first */
        txm_vformat(w->said, sizeof w->said, format, args);
    return 1;
}

/* Warnings concern deviations that are intended. */
static int on_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list args)
{
    (void)tiff, (void)user, (void)module, (void)format, (void)args;
    return 1;
}

static txm_status tiff_refused(tiff_writer *w, const char *what, txm_error *err)
{
    /* libtiff is also silent when it runs out of memory. */
    if (!w->said[0] || txm_libtiff_lacks_memory(w->said)) {
        w->broken = true;
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for libtiff to write %s", w->out->name, what);
    }
    return txm_fail(err, TXM_STATUS_INTERNAL, "%s: libtiff cannot write %s: %s", w->out->name, what, w->said);
}

/* If libtiff has no memory for a text, it reports success, and the text is missing or read through NULL when it is
 * written. Therefore the stored value is checked. The same applies to ExtraSamples. */
static int set_tiff_text(TIFF *t, uint32_t tag, const char *text)
{
    const char *kept = NULL;
    return TIFFSetField(t, tag, text) && TIFFGetField(t, tag, &kept) && kept && !strcmp(kept, text);
}

/* TIFF stores the aspect only in its resolutions. If these contradict the aspect, they are adjusted by the rules of
 * OpenImageIO's writer, in which resolutions below 1 express only the aspect. */
static int set_density(TIFF *t, const txm_density *d)
{
    float aspect = d->aspect > 0 ? d->aspect : 1, x = d->x > 0 ? d->x : 1, y = d->y > 0 ? d->y : 1;
    bool said_x = d->x > 0, said_y = d->y > 0;
    uint16_t unit = !strcmp(d->unit, "none")                             ? RESUNIT_NONE
                    : !strcmp(d->unit, "in") || !strcmp(d->unit, "inch") ? RESUNIT_INCH
                    : !strcmp(d->unit, "cm")                             ? RESUNIT_CENTIMETER
                                                                         : 0; /* not written */
    if (x < 1 || y < 1 || aspect * x != y) {
        if (x < 1 || y < 1) {
            x = 1;
            unit = RESUNIT_NONE;
        }
        y = x * aspect;
        said_x = said_y = y > 0x1p-32f && y < 0x1p32f; /* otherwise it is not a ratio of 32-bit numbers */
    }
    int ok = !said_x || TIFFSetField(t, TIFFTAG_XRESOLUTION, (double)x);
    ok = ok && (!said_y || TIFFSetField(t, TIFFTAG_YRESOLUTION, (double)y));
    return ok && (!unit || TIFFSetField(t, TIFFTAG_RESOLUTIONUNIT, unit));
}

/* Texts are in the first directory only, as in Blender's files. */
static txm_status begin_level(tiff_writer *w, uint32_t level, txm_error *err)
{
    TIFF *t = w->tiff;
    const txm_tx_layout *l = w->layout;
    const txm_tx_metadata *m = w->metadata;
    int ok = TIFFSetField(t, TIFFTAG_IMAGEWIDTH, txm_level_size(l->width, level));
    ok = ok && TIFFSetField(t, TIFFTAG_IMAGELENGTH, txm_level_size(l->height, level));
    ok = ok && TIFFSetField(t, TIFFTAG_TILEWIDTH, l->tile_px) && TIFFSetField(t, TIFFTAG_TILELENGTH, l->tile_px);
    ok = ok && TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, (int)(8 * txm_type_bytes(l->type)));
    ok = ok && TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    ok = ok && TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, (int)l->channels);
    ok = ok && TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    ok = ok && TIFFSetField(t, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    ok = ok && TIFFSetField(t, TIFFTAG_PHOTOMETRIC, l->channels == 1 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
    if (ok && l->channels == 4) {
        /* The extra sample is unspecified, as in Blender's files, although alpha is mostly associated. */
        const uint16_t extra = EXTRASAMPLE_UNSPECIFIED, *kept = NULL;
        uint16_t count = 0;
        ok = TIFFSetField(t, TIFFTAG_EXTRASAMPLES, 1, &extra) && TIFFGetField(t, TIFFTAG_EXTRASAMPLES, &count, &kept) &&
             count == 1 && kept && *kept == extra;
    }
    /* The predictor depends on the codec; tiles are filtered before they are added. */
    const txm_codec codec = l->compression.codec;
    ok = ok && TIFFSetField(t, TIFFTAG_COMPRESSION,
                            codec == TXM_CODEC_NONE   ? COMPRESSION_NONE
                            : codec == TXM_CODEC_ZSTD ? COMPRESSION_ZSTD
                                                      : COMPRESSION_ADOBE_DEFLATE);
    ok = ok && (codec == TXM_CODEC_NONE || TIFFSetField(t, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL));
    ok = ok && set_tiff_text(t, TIFFTAG_DATETIME, w->date);
    if (!level) {
        ok = ok && set_tiff_text(t, TIFFTAG_DOCUMENTNAME, w->document_name.data);
        ok = ok && set_tiff_text(t, TIFFTAG_IMAGEDESCRIPTION, w->description.data);
        ok = ok && set_density(t, &m->density);
        ok = ok && set_tiff_text(t, TIFFTAG_SOFTWARE, txm_blender_format_now()->software);
        ok = ok && set_tiff_text(t, TIFFTAG_PIXAR_TEXTUREFORMAT, txm_tx_texture_format(m));
        ok = ok && set_tiff_text(t, TIFFTAG_PIXAR_WRAPMODES, txm_tx_wrap_modes(m));
        for (size_t i = 0; ok && i < m->attribute_count; i++) {
            const uint32_t tag = txm_metadata_tiff_tag(m->attributes[i].name);
            ok = !tag || set_tiff_text(t, tag, m->attributes[i].value);
        }
    }
    return ok ? TXM_OK : tiff_refused(w, "a directory", err);
}

static void tiff_close(void *self)
{
    tiff_writer *w = self;
    if (!w)
        return;
    /* libtiff counts a field before it has memory for it, and would free memory that was never allocated, so a broken
     * handle is abandoned. Other handles are closed without writing more, since pending data belongs to a directory
     * that failed. */
    if (w->tiff && !w->broken) {
        TIFFSetMode(w->tiff, O_RDONLY);
        TIFFClose(w->tiff);
    }
    txm_bytes_free(&w->document_name);
    txm_bytes_free(&w->description);
    free(w);
}

static txm_status tiff_open(const txm_tx_layout *layout, const txm_tx_metadata *metadata, txm_output *out, void **self,
                            txm_error *err)
{
    tiff_writer *w = txm_calloc(1, sizeof *w);
    TIFFOpenOptions *options = w ? TIFFOpenOptionsAlloc() : NULL;
    txm_status status = TXM_OK;
    if (!options) {
        status = txm_no_memory(err, out->name);
        goto close_writer;
    }
    w->layout = layout;
    w->metadata = metadata;
    w->out = out;
    /* Classic TIFF is limited to 4 GiB. The encoded size is not known yet, so the worst case decides: every tile stored
     * uncompressed, with the codec's overhead (under 1/256) and 16 bytes for offset and count. */
    const uint64_t tile_bytes =
        (uint64_t)layout->tile_px * layout->tile_px * layout->channels * txm_type_bytes(layout->type);
    uint64_t total = 1 << 20;
    for (uint32_t i = 0; i < layout->levels; i++)
        total += (uint64_t)txm_layout_tiles_x(layout, i) * txm_layout_tiles_y(layout, i) *
                 (tile_bytes + tile_bytes / 256 + 80);
    w->big = total > UINT32_MAX;
    /* ImageDescription gets room for the values that are known last. */
    const txm_tx_summary none = {.sha1 = "----------------------------------------", .opaque = true};
    txm_metadata_date(metadata->source_mtime, w->date);
    if (!txm_metadata_document_name(metadata, &w->document_name) ||
        !txm_metadata_description(metadata, &none, layout->channels, &w->description) ||
        !txm_bytes_printf(&w->description, "%*s", TXM_LATE_BYTES + (int)sizeof " oiio:ConstantColor=", "")) {
        status = txm_no_memory(err, out->name);
        goto close_writer;
    }
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_tiff_error, w);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, w);
    w->tiff = TIFFClientOpenExt(out->name, w->big ? "w8l" : "w4l", w, proc_read, proc_write, proc_seek, proc_close,
                                proc_size, NULL, NULL, options);
    status = w->tiff ? begin_level(w, 0, err) : tiff_refused(w, "a header", err);
    if (status != TXM_OK)
        goto close_writer;
    TIFFOpenOptionsFree(options);
    *self = w;
    return TXM_OK;
close_writer:
    if (options)
        TIFFOpenOptionsFree(options);
    tiff_close(w);
    return status;
}

/* The tile is compressed already; libtiff only enters offset and size. */
static txm_status tiff_add(void *self, const txm_tile_place *place, const void *encoded, size_t size_bytes,
                           txm_error *err)
{
    tiff_writer *w = self;
    uint32_t tile = place->y * place->tiles_x + place->x;
    if (TIFFWriteRawTile(w->tiff, tile, (void *)encoded, (tmsize_t)size_bytes) == (tmsize_t)size_bytes)
        return TXM_OK;
    return tiff_refused(w, "a tile", err);
}

/* Directories are written after their tiles, when the tables are complete. */
static txm_status tiff_end_level(void *self, uint32_t level, txm_error *err)
{
    tiff_writer *w = self;
    if (!TIFFWriteDirectory(w->tiff))
        return tiff_refused(w, "a directory", err);
    return level + 1 < w->layout->levels ? begin_level(w, level + 1, err) : TXM_OK;
}

/* Writes the real ImageDescription into its reserved room, and its length into the first directory's entry for it.
 * Entries have 12 bytes in classic TIFF (tag, type, count, offset: 2 2 4 4) and 20 in BigTIFF (2 2 8 8). */
static txm_status tiff_finish(void *self, const txm_tx_summary *summary, txm_error *err)
{
    tiff_writer *w = self;
    const size_t word = w->big ? 8 : 4, count_bytes = w->big ? 8 : 2, entry_bytes = 4 + 2 * word;
    uint8_t b[20] = {0};
    txm_bytes text = {0};
    txm_status status = TXM_OK;
    if (!txm_metadata_description(w->metadata, summary, w->layout->channels, &text)) {
        txm_bytes_free(&text);
        return txm_no_memory(err, w->out->name);
    }
    bool found = txm_output_read(w->out, word, b, word);
    uint64_t at = found ? txm_load_uint(b, word, false) : 0, entries = 0;
    if (found && txm_output_read(w->out, at, b, count_bytes))
        entries = txm_load_uint(b, count_bytes, false);
    at += count_bytes;
    for (found = false; entries && !found; entries--, at += found ? 0 : entry_bytes) {
        if (!txm_output_read(w->out, at, b, entry_bytes))
            break;
        found = txm_load_le16(b) == TIFFTAG_IMAGEDESCRIPTION;
    }
    /* The rest of the reserved room is zeroed, so that the same input gives the same file. */
    const uint64_t offset = txm_load_uint(b + 4 + word, word, false), length = text.size + 1; /* includes the NUL */
    memset(w->description.data, 0, w->description.size);
    for (size_t i = 0; i < word; i++)
        b[i] = (uint8_t)(length >> (8 * i));
    if (!found || text.size > w->description.size)
        status =
            txm_fail(err, TXM_STATUS_INTERNAL, "%s: no room for ImageDescription (%zu bytes)", w->out->name, text.size);
    else if (!txm_output_write(w->out, at + 4, b, word) || !txm_output_write(w->out, offset, text.data, text.size) ||
             !txm_output_write(w->out, offset + text.size, w->description.data, w->description.size - text.size))
        status = tiff_refused(w, "the description", err);
    txm_bytes_free(&text);
    return status;
}

/* ---- reading back ---- */

/* Includes the terminating zero, which readers rely on. */
static txm_status check_text(const txm_read_back *c, const txm_tiff *t, const txm_tiff_directory *dir, uint16_t tag,
                             const char *text)
{
    txm_tiff_field f;
    bool found;
    char what[32];
    txm_status status = txm_tiff_find(t, dir, tag, &f, &found);
    if (status != TXM_OK ||
        (found && f.type == TXM_TIFF_ASCII && f.count == strlen(text) + 1 && !memcmp(f.data, text, (size_t)f.count)))
        return status;
    snprintf(what, sizeof what, "tag %u", tag);
    return txm_read_back_differs(c, what);
}

static txm_status check_directory(const txm_read_back *c, const txm_tiff *t, const txm_tiff_directory *dir,
                                  uint32_t level)
{
    const txm_reader_level *l = &c->tx->levels[level];
    bool alpha = c->layout->channels == 4, packed = c->layout->compression.codec != TXM_CODEC_NONE, found;
    char date[TXM_DATE_BYTES];
    uint32_t photometric, predictor;
    txm_tiff_field extra;
    txm_status status;
    if ((status = txm_tiff_number(t, dir, TIFFTAG_PHOTOMETRIC, 0, &photometric)) ||
        (status = txm_tiff_number(t, dir, TIFFTAG_PREDICTOR, 1, &predictor)) ||
        (status = txm_tiff_find(t, dir, TIFFTAG_EXTRASAMPLES, &extra, &found)))
        return status;
    if (photometric != (alpha ? 2 : 1) || predictor != (packed ? 2 : 1) ||
        l->compression != c->tx->levels[0].compression)
        return txm_read_back_differs(c, "how its pixels are stored");
    if (found != alpha ||
        (found && (!txm_tiff_is_integer(&extra) || extra.count != 1 || txm_tiff_value(t, &extra, 0) != 0)))
        return txm_read_back_differs(c, "the meaning of its alpha channel");
    /* Tiles follow each other, and the directory follows them. */
    uint64_t end = 0;
    bool ordered = true;
    for (uint64_t i = 0; i < (uint64_t)l->shape.tiles_x * l->shape.tiles_y; i++) {
        uint64_t at = txm_load_uint(l->offsets + i * l->offset_bytes, l->offset_bytes, c->tx->swap);
        uint64_t bytes = txm_load_uint(l->counts + i * l->count_bytes, l->count_bytes, c->tx->swap);
        ordered = ordered && at >= end && bytes;
        end = at + bytes;
    }
    if (!ordered || end > (uint64_t)(dir->fields - c->tx->map.data))
        return txm_read_back_differs(c, "its table of tiles");
    txm_metadata_date(c->metadata->source_mtime, date);
    return check_text(c, t, dir, TIFFTAG_DATETIME, date);
}

/* Only the first directory has texts. */
static txm_status check_texts(const txm_read_back *c, const txm_tiff *t, const txm_tiff_directory *dir)
{
    const txm_tx_metadata *m = c->metadata;
    txm_bytes document = {0}, description = {0};
    txm_status status;
    if (!txm_metadata_document_name(m, &document) ||
        !txm_metadata_description(m, c->summary, c->layout->channels, &description)) {
        status = txm_no_memory(c->err, c->tx->path);
        goto done;
    }
    if ((status = check_text(c, t, dir, TIFFTAG_DOCUMENTNAME, document.data)) ||
        (status = check_text(c, t, dir, TIFFTAG_IMAGEDESCRIPTION, description.data)) ||
        (status = check_text(c, t, dir, TIFFTAG_SOFTWARE, txm_blender_format_now()->software)) ||
        (status = check_text(c, t, dir, TIFFTAG_PIXAR_TEXTUREFORMAT, txm_tx_texture_format(m))) ||
        (status = check_text(c, t, dir, TIFFTAG_PIXAR_WRAPMODES, txm_tx_wrap_modes(m))))
        goto done;
    for (size_t i = 0; status == TXM_OK && i < m->attribute_count; i++) {
        uint32_t tag = txm_metadata_tiff_tag(m->attributes[i].name);
        bool replaced = false; /* of attributes with the same tag, the last one is kept */
        for (size_t k = i + 1; k < m->attribute_count; k++)
            replaced |= txm_metadata_tiff_tag(m->attributes[k].name) == tag;
        if (tag && !replaced)
            status = check_text(c, t, dir, (uint16_t)tag, m->attributes[i].value);
    }
done:
    txm_bytes_free(&document);
    txm_bytes_free(&description);
    return status;
}

/* Whether a finished file has the requested content: every directory, its table of tiles and its texts. */
static txm_status tiff_read_back(const txm_read_back *c)
{
    txm_tiff t = {.tx = c->tx, .err = c->err};
    uint64_t offset = 0;
    txm_status status = txm_tiff_header(&t, &offset) ? TXM_OK : txm_read_back_differs(c, "its header");
    for (uint32_t level = 0; status == TXM_OK && level < c->layout->levels; level++) {
        txm_tiff_directory dir;
        if ((status = txm_tiff_open_directory(&t, offset, &dir)) || (status = check_directory(c, &t, &dir, level)) ||
            (!level && (status = check_texts(c, &t, &dir))))
            return status;
        offset = dir.next;
    }
    return status == TXM_OK && offset ? txm_read_back_differs(c, "its number of levels") : status;
}

const txm_container_writer txm_tx_tiff_writer = {tiff_open,      tiff_add, tiff_end_level, tiff_finish, tiff_close,
                                                 tiff_read_back, true};
