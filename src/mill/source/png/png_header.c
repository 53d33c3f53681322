/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads what a PNG file states before its pixels, with libpng. OpenImageIO uses libpng too, so the same broken chunks
 * are errors and the same are ignored. Not left to libpng are the pixels, which take the time; colours, which its
 * versions judge differently (interop.c); and memory: libpng would trust any length of a chunk, and decompress any
 * number of texts.
 */
#include "mill/source/png/png.h"

#include <ctype.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/os/pages.h"
#include "base/text.h"
#include "mill/source/meta/raster_meta.h"
#include "mill/source/readers.h"

/* The limit of everything that libpng may allocate: profiles take a few MB at most, texts less. */
enum { MAX_MEMORY_BYTES = 64 << 20 };

typedef struct parser {
    txm_source_file *file;
    size_t memory; /* allocated by libpng */
    txm_status status;
    char message[200]; /* libpng's reason for giving up */
    uint8_t chunk[8];  /* the last eight bytes that were read at once: at the end, the head of the first IDAT chunk */
} parser;

static void on_read(png_structp png, png_bytep data, size_t bytes)
{
    parser *p = png_get_io_ptr(png);
    if (!txm_source_file_get(p->file, data, bytes)) {
        if (p->file->sys_errno)
            p->status = TXM_STATUS_IO;
        png_error(png, p->file->sys_errno ? strerror(p->file->sys_errno) : "the file ends before the pixel data");
    }
    if (bytes == sizeof p->chunk)
        memcpy(p->chunk, data, bytes);
}

/* Leaves libpng by its own long jump; png_destroy_read_struct frees its memory. */
static void on_error(png_structp png, png_const_charp message)
{
    parser *p = png_get_error_ptr(png);
    snprintf(p->message, sizeof p->message, "%s", message);
    png_longjmp(png, 1);
}

/* The memory per file is bounded: a few bytes of compressed text may decompress to gigabytes. */
static png_voidp on_malloc(png_structp png, png_alloc_size_t bytes)
{
    parser *p = png_get_mem_ptr(png);
    bool allowed = bytes <= MAX_MEMORY_BYTES && p->memory <= MAX_MEMORY_BYTES - bytes;
    void *memory = allowed ? malloc(bytes) : NULL;
    if (memory)
        p->memory += txm_usable_bytes(memory);
    else if (allowed)
        p->status = TXM_STATUS_NO_MEMORY;
    return memory;
}

static void on_free(png_structp png, png_voidp memory)
{
    parser *p = png_get_mem_ptr(png);
    p->memory -= txm_usable_bytes(memory);
    free(memory);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png, (void)message; /* OpenImageIO tolerates silently whatever libpng tolerates */
}

static void read_layout(png_structp png, png_infop tags, txm_png_header *h)
{
    int color_type = png_get_color_type(png, tags), color_count = 0, alpha_count = 0;
    png_color_16p key = NULL;
    png_colorp colors = NULL;
    png_bytep alphas = NULL;
    h->width = png_get_image_width(png, tags);
    h->height = png_get_image_height(png, tags);
    h->depth = png_get_bit_depth(png, tags);
    h->file_samples = png_get_channels(png, tags);
    h->interlaced = png_get_interlace_type(png, tags) != PNG_INTERLACE_NONE;
    h->palette = color_type == PNG_COLOR_TYPE_PALETTE;
    if (h->palette) {
        png_get_PLTE(png, tags, &colors, &color_count);
        png_get_tRNS(png, tags, &alphas, &alpha_count, NULL);
        h->colors_have_alpha = alpha_count > 0;
        /* The palette always has 256 entries: indexes beyond the file's are black, as in libpng. */
        for (int i = 0; i < 256; i++) {
            uint8_t *c = h->colors[i];
            if (i < color_count)
                memcpy(c, (const uint8_t[3]){colors[i].red, colors[i].green, colors[i].blue}, 3);
            c[3] = i < alpha_count ? alphas[i] : 255;
        }
    } else if (!(color_type & PNG_COLOR_MASK_ALPHA) && png_get_tRNS(png, tags, NULL, NULL, &key) && key) {
        /* One colour is transparent; libpng compares as many bits as a sample has. */
        const unsigned mask = (1u << h->depth) - 1;
        h->keyed = true;
        h->key[0] = (uint16_t)((h->file_samples == 1 ? key->gray : key->red) & mask);
        h->key[1] = (uint16_t)(h->file_samples == 1 ? 0 : key->green & mask);
        h->key[2] = (uint16_t)(h->file_samples == 1 ? 0 : key->blue & mask);
    }
}

/* A text chunk may contain an Exif block in hexadecimal digits: a first line that names it, a second one with its
 * length, then "Exif\0\0" and the block itself, split into lines. */
static bool read_hex_exif(txm_raster_meta *meta, const char *text)
{
    static const uint8_t introduction[6] = "Exif\0";
    size_t bytes = 0, room = strlen(text) / 2 + 1;
    const char *p = strstr(text, "exif");
    uint8_t *block;
    bool ok = true;
    p = p ? strchr(p, '\n') : NULL;
    p = p ? strchr(p + 1, '\n') : NULL;
    if (!p)
        return true;
    block = malloc(room);
    if (!block)
        return false;
    for (int high = -1; *p; p++) {
        if (!isxdigit((unsigned char)*p))
            continue;
        int digit = *p <= '9' ? *p - '0' : (*p | 0x20) - 'a' + 10;
        if (high >= 0)
            block[bytes++] = (uint8_t)(high << 4 | digit);
        high = high >= 0 ? -1 : digit;
    }
    if (bytes > sizeof introduction && memcmp(block, introduction, sizeof introduction) == 0)
        ok = txm_raster_meta_add_exif(meta, block + sizeof introduction, bytes - sizeof introduction);
    free(block);
    return ok;
}

/* PNG's keywords become the fields that OpenImageIO makes of them. */
static bool read_texts(png_structp png, png_infop tags, txm_raster_meta *meta, txm_source_info *info)
{
    png_textp texts = NULL;
    int count = png_get_text(png, tags, &texts, NULL);
    bool ok = true;
    for (int i = 0; i < count && ok; i++) {
        const char *key = texts[i].key, *text = texts[i].text;
        if (txm_casecmp(key, "Description") == 0)
            ok = txm_raster_meta_set(meta, "ImageDescription", text);
        else if (txm_casecmp(key, "Author") == 0)
            ok = txm_raster_meta_set(meta, "Artist", text);
        else if (txm_casecmp(key, "Raw profile type exif") == 0)
            ok = read_hex_exif(meta, text);
        else if (txm_casecmp(key, "XML:com.adobe.xmp") == 0)
            ok = txm_raster_meta_add_xmp(meta, text, strlen(text));
        else if (txm_casecmp(key, "oiio:ColorSpace") == 0)
            snprintf(info->colorspace_hint, sizeof info->colorspace_hint, "%s", text);
        else
            ok = txm_raster_meta_set(meta, key, text);
    }
    return ok;
}

/* Runs libpng up to the first IDAT chunk. It is a function of its own because a long jump may end it: no local variable
 * that changes after setjmp is used later. */
static bool parse_chunks(png_structp png, png_infop tags)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    /* Sizes are checked against txmill's own limits, with its own message. */
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(png, tags);
    return true;
}

txm_status txm_png_read_header(txm_source_file *file, const char *path, txm_png_header *header, txm_source_info *info,
                               txm_error *err)
{
    parser p = {.file = file, .status = TXM_STATUS_CORRUPT};
    txm_status status = TXM_OK;
    png_structp png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &p, on_error, on_warning, &p, on_malloc, on_free);
    png_infop tags = png ? png_create_info_struct(png) : NULL;
    memset(header, 0, sizeof *header);
    if (!tags) {
        status = txm_no_memory(err, path);
        goto destroy;
    }
    png_set_read_fn(png, &p, on_read);
    /* If memory is exhausted, libpng also silently drops chunks that it considers dispensable. */
    bool parsed = parse_chunks(png, tags);
    if (p.status == TXM_STATUS_NO_MEMORY) {
        status = txm_no_memory(err, path);
        goto destroy;
    }
    if (!parsed) {
        status = txm_fail(err, p.status, "%s: %s", path, p.message);
        goto destroy;
    }
    read_layout(png, tags, header);
    /* Pixels per metre become pixels per inch, to a tenth. The aspect is libpng's height to width, the inverse of the
     * usual meaning, and OpenImageIO takes it as it is. */
    png_uint_32 x, y;
    int unit;
    if (png_get_pHYs(png, tags, &x, &y, &unit)) {
        txm_density *density = &info->density;
        const bool metre = unit == PNG_RESOLUTION_METER;
        const float aspect = png_get_pixel_aspect_ratio(png, tags);
        density->x = metre ? roundf(10.0f * ((float)x * (2.54f / 100.0f))) / 10.0f : (float)x;
        density->y = metre ? roundf(10.0f * ((float)y * (2.54f / 100.0f))) / 10.0f : (float)y;
        density->aspect = aspect != 1 ? aspect : 0;
        strcpy(density->unit, metre ? "inch" : "none");
    }
    header->data_offset = txm_source_file_tell(file);
    header->data_bytes = txm_load_be32(p.chunk);
    /* Texts come first, then Exif; which of two values counts is decided as in OpenImageIO. */
    txm_raster_meta meta = {0};
    png_uint_32 exif_bytes = 0;
    png_bytep exif = NULL;
    bool ok = read_texts(png, tags, &meta, info);
    if (ok && png_get_eXIf_1(png, tags, &exif_bytes, &exif))
        ok = txm_raster_meta_add_exif(&meta, exif, exif_bytes);
    info->exif_says_srgb = meta.says_srgb;
    if (!ok || !txm_raster_meta_store(&meta, info))
        status = txm_no_memory(err, path);
    txm_raster_meta_clear(&meta);
destroy:
    png_destroy_read_struct(&png, &tags, NULL);
    return status;
}
