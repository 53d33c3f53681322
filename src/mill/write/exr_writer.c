/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes tiled, mip-mapped OpenEXR. OpenEXRCore manages the header and the chunk table; chunks are already encoded.
 *
 * The core fixes the attributes with the header, before SHA-1 and averages are known. The header is therefore written
 * twice: first with a filler attribute that reserves room, and at the end, to memory, with the real values and the
 * filler shortened by their length. Those bytes then replace the first header.
 */
#include <ctype.h>
#include <openexr.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/mem.h"
#include "mill/write/writer_impl.h"
#include "mill/write/writer_metadata.h"
#include "tile/reader/blender_format.h"

typedef struct exr_writer {
    const txm_tx_layout *layout;
    const txm_tx_metadata *metadata;
    txm_output *out;
    exr_context_t exr;
    size_t header_bytes;
} exr_writer;

enum { SHORT_NAME_BYTES = 31 };
static const char filler_name[] = "txmill:reserved";

/* OpenEXR's messages are meant for developers, so the file and what was being written are added. */
static txm_status exr_refused(const txm_output *out, const char *what, exr_result_t code, txm_error *err)
{
    txm_status status = code == EXR_ERR_OUT_OF_MEMORY ? TXM_STATUS_NO_MEMORY : TXM_STATUS_INTERNAL;
    return txm_fail(err, status, "%s: OpenEXR cannot write %s: %s", out->name, what,
                    exr_get_default_error_message(code));
}

static void ignore_message(exr_const_context_t exr, exr_result_t code, const char *message)
{
    (void)exr, (void)code, (void)message;
}

/* The core writes through our buffer, which keeps the first error. */
static int64_t write_to_output(exr_const_context_t exr, void *user, const void *data, uint64_t size, uint64_t offset,
                               exr_stream_error_func_ptr_t fail)
{
    (void)exr, (void)fail;
    return txm_output_write(user, offset, data, (size_t)size) ? (int64_t)size : -1;
}

static int64_t write_to_memory(exr_const_context_t exr, void *user, const void *data, uint64_t size, uint64_t offset,
                               exr_stream_error_func_ptr_t fail)
{
    txm_bytes *b = user;
    (void)exr, (void)fail;
    return offset == b->size && txm_bytes_add(b, data, (size_t)size) ? (int64_t)size : -1;
}

/* Bytes of a string attribute in the header: name, NUL, "string", NUL, size, text. */
static size_t attribute_bytes(const char *name, size_t text_bytes)
{
    return strlen(name) + 1 + sizeof "string" + 4 + text_bytes;
}

static void set_exr_text(exr_context_t exr, const char *name, const char *value, exr_result_t *rc)
{
    if (*rc == EXR_ERR_SUCCESS)
        *rc = exr_attr_set_string(exr, 0, name, value);
}

/* Sets the texts that are known before the first tile, in Blender's order, since attributes are written in the order in
 * which they are set. */
static void set_texts(exr_context_t exr, const txm_tx_metadata *m, uint32_t channels, exr_result_t *rc)
{
    txm_exr_texts texts;
    txm_metadata_exr_texts(m, channels, &texts);
    for (const txm_own_word *word = texts.words; word < texts.words + texts.count; word++) {
        if (word->value && strcmp(word->name, "envmap") != 0) {
            set_exr_text(exr, word->name, word->value, rc);
        } else if (word->value && *rc == EXR_ERR_SUCCESS) {
            *rc = exr_attr_set_envmap(exr, 0, word->name, EXR_ENVMAP_LATLONG);
        } else if (!word->value) {
            /* The density is stored as OpenImageIO stores it: pixels per inch whatever the unit, except per centimetre,
             * which it converts; the unit's name is still the source's. OpenEXR accepts aspects from 1e-6 to 1e6. */
            const txm_density *d = &m->density;
            bool both = d->x > 0 && d->y > 0;
            float aspect = d->aspect > 0 ? d->aspect : both ? d->x / d->y : 0;
            float x = both && !strcmp(d->unit, "cm") ? d->x / 2.54f : d->x;
            if (*rc == EXR_ERR_SUCCESS && aspect >= 1e-6f && aspect <= 1e6f)
                *rc = exr_set_pixel_aspect_ratio(exr, 0, aspect);
            if (*rc == EXR_ERR_SUCCESS && x > 0)
                *rc = exr_attr_set_float(exr, 0, "xDensity", x);
            if (*d->unit)
                set_exr_text(exr, "ResolutionUnit", d->unit, rc);
        }
    }
    for (size_t i = 0; i < m->attribute_count; i++)
        if (!txm_metadata_is_reserved(m->attributes[i].name))
            set_exr_text(exr, txm_metadata_exr_name(m->attributes[i].name), m->attributes[i].value, rc);
}

/* SHA-1, colours, and the filler that keeps the size of the header. */
static void set_late(exr_context_t exr, const txm_tx_summary *s, uint32_t channels, exr_result_t *rc)
{
    static const char unknown[] = "----------------------------------------";
    char color[TXM_COLOR_BYTES], filler[4 * TXM_COLOR_BYTES];
    size_t room =
        attribute_bytes("oiio:ConstantColor", TXM_COLOR_BYTES) + attribute_bytes("oiio:AverageColor", TXM_COLOR_BYTES);
    set_exr_text(exr, "oiio:SHA-1", s ? s->sha1 : unknown, rc);
    if (s) {
        txm_metadata_color(s->average, channels, color);
        set_exr_text(exr, "oiio:AverageColor", color, rc);
        room -= attribute_bytes("oiio:AverageColor", strlen(color));
    }
    if (s && s->constant) {
        txm_metadata_color(s->constant_color, channels, color);
        set_exr_text(exr, "oiio:ConstantColor", color, rc);
        room -= attribute_bytes("oiio:ConstantColor", strlen(color));
    }
    memset(filler, ' ', room);
    filler[room] = 0;
    set_exr_text(exr, filler_name, filler, rc);
}

static exr_result_t write_exr_header(const exr_writer *w, const txm_tx_summary *late, exr_write_func_ptr_t write,
                                     void *user, exr_context_t *out)
{
    /* Blender's names. Sorted by name they are in the order of the pixel's channels. */
    static const char *const names[] = {"R", "channel1", "channel2", "channel3"};
    const txm_tx_layout *l = w->layout;
    const txm_tx_metadata *m = w->metadata;
    const exr_pixel_type_t type = l->type == TXM_TYPE_HALF ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
    const exr_compression_t zip = l->compression.codec == TXM_CODEC_NONE ? EXR_COMPRESSION_NONE : EXR_COMPRESSION_ZIP;
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    init.error_handler_fn = ignore_message;
    init.user_data = user;
    init.write_fn = write;
    exr_result_t rc = exr_start_write(out, w->out->name, EXR_WRITE_FILE_DIRECTLY, &init);
    /* Names of more than 31 bytes set a flag that makes old readers refuse the file, so it is set only if there is one.
     */
    bool long_names = false;
    int part;
    for (size_t i = 0; i < m->attribute_count; i++)
        long_names |=
            strlen(m->attributes[i].name) > SHORT_NAME_BYTES && !txm_metadata_is_reserved(m->attributes[i].name);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_set_longname_support(*out, long_names);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_add_part(*out, NULL, EXR_STORAGE_TILED, &part);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_initialize_required_attr_simple(*out, 0, (int32_t)l->width, (int32_t)l->height, zip);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_set_tile_descriptor(*out, 0, l->tile_px, l->tile_px, EXR_TILE_MIPMAP_LEVELS, EXR_TILE_ROUND_DOWN);
    for (uint32_t c = 0; rc == EXR_ERR_SUCCESS && c < l->channels; c++)
        rc = exr_add_channel(*out, 0, names[c], type, EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1);
    set_texts(*out, m, l->channels, &rc);
    set_late(*out, late, l->channels, &rc);
    return rc == EXR_ERR_SUCCESS ? exr_write_header(*out) : rc;
}

static void exr_close(void *self)
{
    exr_writer *w = self;
    if (!w)
        return;
    if (w->exr)
        exr_finish(&w->exr);
    free(w);
}

static txm_status exr_open(const txm_tx_layout *layout, const txm_tx_metadata *metadata, txm_output *out, void **self,
                           txm_error *err)
{
    exr_writer *w = txm_calloc(1, sizeof *w);
    if (!w)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for an EXR writer", out->name);
    w->layout = layout;
    w->metadata = metadata;
    w->out = out;
    exr_result_t rc = write_exr_header(w, NULL, write_to_output, out, &w->exr);
    if (rc != EXR_ERR_SUCCESS) {
        exr_close(w);
        return exr_refused(out, "the header", rc, err);
    }
    w->header_bytes = (size_t)txm_output_end(out);
    *self = w;
    return TXM_OK;
}

/* Chunks are compressed already; the core only enters them in its table. */
static txm_status exr_add(void *self, const txm_tile_place *place, const void *encoded, size_t size_bytes,
                          txm_error *err)
{
    exr_writer *w = self;
    exr_result_t rc = exr_write_tile_chunk(w->exr, 0, (int)place->x, (int)place->y, (int)place->level,
                                           (int)place->level, encoded, size_bytes);
    return rc == EXR_ERR_SUCCESS ? TXM_OK : exr_refused(w->out, "a tile", rc, err);
}

/* Offsets are final when the core has finished; then the header is written again with the real texts. */
static txm_status exr_finish_file(void *self, const txm_tx_summary *summary, txm_error *err)
{
    exr_writer *w = self;
    exr_context_t second = NULL;
    txm_bytes header = {0};
    exr_result_t rc = exr_finish(&w->exr);
    if (rc != EXR_ERR_SUCCESS)
        return exr_refused(w->out, "the end", rc, err);
    rc = write_exr_header(w, summary, write_to_memory, &header, &second);
    if (rc == EXR_ERR_WRITE_IO) /* OpenEXR's code for a failed write */
        rc = EXR_ERR_OUT_OF_MEMORY;
    txm_status status = TXM_OK;
    if (rc != EXR_ERR_SUCCESS || header.size != w->header_bytes ||
        !txm_output_write(w->out, 0, header.data, header.size))
        status = exr_refused(w->out, "the header", rc, err);
    if (second)
        exr_finish(&second); /* reports a missing image, which is correct for this context */
    txm_bytes_free(&header);
    return status;
}

/* Whether the file has the attribute, in which the reader replaces control characters by question marks. Attributes
 * beyond its limits are not checked. */
static bool has(const txm_read_back *c, const char *name, const char *text)
{
    const txm_metadata *m = &c->tx->metadata;
    const char *kept = txm_tx_metadata_of(c->tx, name);
    if (!kept)
        return m->count == TXM_METADATA_MAX_ENTRIES ||
               m->text.size + strlen(name) + strlen(text) + 2 > TXM_METADATA_MAX_BYTES;
    while (*kept && (*kept == *text || (*kept == '?' && iscntrl((unsigned char)*text)))) {
        kept++;
        text++;
    }
    return *kept == *text;
}

static bool has_color(const txm_read_back *c, const char *name, const float *color)
{
    char text[TXM_COLOR_BYTES];
    txm_metadata_color(color, c->layout->channels, text);
    return has(c, name, text);
}

/* Whether a finished file has the requested attributes. */
static txm_status exr_read_back(const txm_read_back *c)
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

const txm_container_writer txm_tx_exr_writer = {exr_open,  exr_add,       NULL, exr_finish_file,
                                                exr_close, exr_read_back, false};
