/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes PNG and JPEG files with libpng and libjpeg alone, in the way that OpenImageIO uses them.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

/* jpeglib.h needs FILE. */
#include <jpeglib.h>

#include "util_raster.h"

typedef struct memory {
    const txm_bytes *file;
    size_t pos;
} memory;

static void read_memory(png_structp png, png_bytep dst, size_t bytes)
{
    memory *m = png_get_io_ptr(png);

    if (bytes > m->file->size - m->pos)
        png_error(png, "end of file");
    memcpy(dst, m->file->data + m->pos, bytes);
    m->pos += bytes;
}

static void quiet(png_structp png, png_const_charp words)
{
    (void)png, (void)words;
}

static void leave(png_structp png, png_const_charp words)
{
    (void)words;
    png_longjmp(png, 1);
}

/* false if libpng fails; *pixels may still be allocated. */
static bool decode_png(png_structp png, png_infop info, uint8_t **pixels, size_t *bytes)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_read_info(png, info);
    png_set_expand(png);
    png_set_swap(png);
    png_read_update_info(png, info);
    size_t row = png_get_rowbytes(png, info), height = png_get_image_height(png, info);
    if (row > (1 << 24) / height)
        return false;
    *bytes = row * height;
    *pixels = malloc(*bytes);
    for (size_t y = 0; y < height; y++)
        png_read_row(png, *pixels + y * row, NULL);
    return true;
}

uint8_t *raster_by_libpng(const txm_bytes *file, size_t *bytes)
{
    memory m = {file, 0};
    uint8_t *pixels = NULL;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, leave, quiet);
    png_infop info = png_create_info_struct(png);

    png_set_read_fn(png, &m, read_memory);
    if (!decode_png(png, info, &pixels, bytes)) {
        free(pixels);
        pixels = NULL;
    }
    png_destroy_read_struct(&png, &info, NULL);
    return pixels;
}

typedef struct jpeg_errors {
    struct jpeg_error_mgr manager; /* first, so that libjpeg's pointer to it also points to this struct */
    jmp_buf escape;
    char *words;
} jpeg_errors;

static void jpeg_leave(j_common_ptr jpeg)
{
    jpeg_errors *e = (jpeg_errors *)jpeg->err;

    e->manager.format_message(jpeg, e->words);
    longjmp(e->escape, 1);
}

static void jpeg_warn(j_common_ptr jpeg, int level)
{
    jpeg_errors *e = (jpeg_errors *)jpeg->err;

    if (level < 0 && e->manager.num_warnings++ == 0)
        e->manager.format_message(jpeg, e->words);
}

/* Converts inks as OpenImageIO does, in place; returns the size of the result in bytes. */
static size_t mix_inks(uint8_t *pixels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < 3; c++) {
            float light = (float)pixels[i * 4 + c] / 255 * ((float)pixels[i * 4 + 3] / 255);
            pixels[i * 3 + c] = (uint8_t)(light * 255 + 0.5f);
        }
    return count * 3;
}

static bool decode_jpeg(struct jpeg_decompress_struct *jpeg, jpeg_errors *e, const txm_bytes *file, uint8_t **pixels,
                        size_t *bytes)
{
    if (setjmp(e->escape))
        return false;
    jpeg_create_decompress(jpeg);
    jpeg_mem_src(jpeg, (const unsigned char *)file->data, file->size);
    jpeg_read_header(jpeg, TRUE);
    if (jpeg->image_width > 4096 || jpeg->image_height > 4096)
        return false;
    jpeg_start_decompress(jpeg);
    size_t row = (size_t)jpeg->output_width * (size_t)jpeg->output_components;
    *bytes = row * jpeg->output_height;
    *pixels = malloc(*bytes);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW line = *pixels + jpeg->output_scanline * row;
        jpeg_read_scanlines(jpeg, &line, 1);
    }
    if (jpeg->out_color_space == JCS_CMYK)
        *bytes = mix_inks(*pixels, *bytes / 4);
    return true;
}

uint8_t *raster_by_libjpeg(const txm_bytes *file, size_t *bytes, long *warnings, char words[JMSG_LENGTH_MAX])
{
    struct jpeg_decompress_struct jpeg = {0};
    jpeg_errors e = {.words = words};
    uint8_t *pixels = NULL;

    jpeg.err = jpeg_std_error(&e.manager);
    e.manager.error_exit = jpeg_leave;
    e.manager.emit_message = jpeg_warn;
    if (!decode_jpeg(&jpeg, &e, file, &pixels, bytes)) {
        free(pixels);
        pixels = NULL;
    }
    *warnings = e.manager.num_warnings;
    jpeg_destroy_decompress(&jpeg);
    return pixels;
}
