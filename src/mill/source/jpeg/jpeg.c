/* SPDX-License-Identifier: Apache-2.0
 *
 * The direct reader of JPEG: grey, colour and CMYK, baseline and progressive, decoded row by row by libjpeg-turbo.
 * OpenImageIO uses the same library with its defaults (accurate integer DCT, smooth upsampling), so pixels are the
 * same. This reader is stricter about damage: libjpeg fills missing data with grey and only warns, which must not
 * become a texture. Only the end marker may be missing, because it contains nothing of the image.
 * It also saves a seventh of a conversion's processor time for large images and a third for small ones
 * (bench/readers.py).
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>

/* jpeglib.h needs FILE. */
#include <jpeglib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/source/meta/raster_meta.h"
#include "mill/source/readers.h"
#include "mill/source/source_file.h"

/* Every scan of a progressive file is a pass over the whole image but may have only a few bytes; encoders write about
 * ten. */
enum { MAX_SCANS = 500, ROWS_AT_ONCE = 16, CMYK_CHANNELS = 4, RGB_CHANNELS = 3 };
enum { MARKER_EXIF_XMP = JPEG_APP0 + 1, MARKER_PHOTOSHOP = JPEG_APP0 + 13, MARKER_BYTES = 0xffff };

typedef struct jpeg_source {
    const char *path;
    txm_source_file file;
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr input;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    uint8_t *cmyk;                 /* ROWS_AT_ONCE decoded rows of a CMYK image, else NULL */
    bool started;                  /* decompression has begun */
    bool end_missing;              /* the file ended, and libjpeg got a generated end marker */
    txm_status status;             /* the first failure; nothing can be read after it */
    char message[JMSG_LENGTH_MAX]; /* its message */
} jpeg_source;

static const char truncated[] = "truncated: the file ends inside the image";

/* libjpeg's error handler must not return: this leaves through longjmp. */
static void leave_libjpeg(jpeg_source *s, txm_status status, const char *message)
{
    s->status = status;
    snprintf(s->message, sizeof s->message, "%s", message);
    longjmp(s->escape, 1);
}

/* Kinds of JPEG that libjpeg does not support are left to OpenImageIO; all other errors are damage. */
static void on_error(j_common_ptr jpeg)
{
    jpeg_source *s = jpeg->client_data;
    char message[JMSG_LENGTH_MAX];
    int code = jpeg->err->msg_code;
    if (s->end_missing)
        leave_libjpeg(s, TXM_STATUS_CORRUPT, truncated);
    bool unsupported = code == JERR_BAD_PRECISION || code == JERR_SOF_UNSUPPORTED || code == JERR_ARITH_NOTIMPL ||
                       code == JERR_CONVERSION_NOTIMPL;

    jpeg->err->format_message(jpeg, message);
    leave_libjpeg(s,
                  code == JERR_OUT_OF_MEMORY ? TXM_STATUS_NO_MEMORY
                  : unsupported              ? TXM_STATUS_UNSUPPORTED
                                             : TXM_STATUS_CORRUPT,
                  message);
}

/* Warnings of libjpeg are errors here, except oddities of the header that do not affect the pixels. */
static void on_message(j_common_ptr jpeg, int level)
{
    const jpeg_source *s = jpeg->client_data;
    int code = jpeg->err->msg_code;
    /* Extraneous data may be between the header's markers; later they would mean that data are lost. */
    bool harmless = code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM || code == JWRN_NOT_SEQUENTIAL ||
                    code == JWRN_BOGUS_PROGRESSION || (code == JWRN_EXTRANEOUS_DATA && s->jpeg.input_scan_number == 0);
    if (level < 0 && !harmless)
        on_error(jpeg);
}

/* Progressive files with thousands of scans take minutes per megabyte, and are not made by accident. */
static void on_progress(j_common_ptr jpeg)
{
    jpeg_source *s = jpeg->client_data;
    if (s->jpeg.input_scan_number > MAX_SCANS)
        leave_libjpeg(s, TXM_STATUS_CORRUPT, "more than 500 scans");
}

/* At the end of the file, one end marker is generated so that libjpeg finishes. */
static boolean fill_input(j_decompress_ptr jpeg)
{
    static const JOCTET end_marker[] = {0xff, JPEG_EOI};
    jpeg_source *s = jpeg->client_data;
    txm_source_file *f = &s->file;
    f->pos = f->end; /* libjpeg has used all of it */
    if (!txm_source_file_fill(f)) {
        if (f->sys_errno)
            leave_libjpeg(s, TXM_STATUS_IO, strerror(f->sys_errno));
        /* If more than the marker is missing, libjpeg meets it too early, except with arithmetic coding, whose data may
         * end before the image does. */
        if (!s->started || s->end_missing || jpeg->arith_code)
            leave_libjpeg(s, TXM_STATUS_CORRUPT, truncated);
        s->end_missing = true;
        s->input.next_input_byte = end_marker;
        s->input.bytes_in_buffer = sizeof end_marker;
        return TRUE;
    }
    s->input.next_input_byte = f->buffer;
    s->input.bytes_in_buffer = f->end;
    return TRUE;
}

static void skip_input(j_decompress_ptr jpeg, long bytes)
{
    jpeg_source *s = jpeg->client_data;
    while (bytes > (long)s->input.bytes_in_buffer) {
        bytes -= (long)s->input.bytes_in_buffer;
        fill_input(jpeg);
    }
    if (bytes > 0) {
        s->input.next_input_byte += bytes;
        s->input.bytes_in_buffer -= (size_t)bytes;
    }
}

static void ignore(j_decompress_ptr jpeg)
{
    (void)jpeg;
}

/* Markers with the same number are used for several kinds of data, which begin differently. */
static bool has_prefix(const struct jpeg_marker_struct *m, const char *prefix, size_t bytes)
{
    return m->data_length >= bytes && memcmp(m->data, prefix, bytes) == 0;
}

/* Fields are read in the order of the markers: a later one replaces an earlier one only if it does so in OpenImageIO.
 */
static bool read_jpeg_meta(const jpeg_source *s, txm_source_info *info)
{
    static const char exif[6] = "Exif\0", xmp[] = "http://ns.adobe.com/xap/1.0/", photoshop[] = "Photoshop 3.0";
    static const char *const units[] = {"none", "in", "cm"};
    const struct jpeg_decompress_struct *j = &s->jpeg;
    txm_raster_meta meta = {0};
    txm_density *density = &info->density;
    bool ok = true;
    for (const struct jpeg_marker_struct *m = j->marker_list; m && ok; m = m->next) {
        const uint8_t *data = m->data;
        if (m->marker == MARKER_EXIF_XMP && has_prefix(m, exif, sizeof exif))
            ok = txm_raster_meta_add_exif(&meta, data + sizeof exif, m->data_length - sizeof exif);
        else if (m->marker == MARKER_EXIF_XMP && has_prefix(m, xmp, sizeof xmp))
            ok = txm_raster_meta_add_xmp(&meta, (const char *)data + sizeof xmp, m->data_length - sizeof xmp);
        else if (m->marker == MARKER_PHOTOSHOP && has_prefix(m, photoshop, sizeof photoshop))
            ok = txm_raster_meta_add_iptc(&meta, data + sizeof photoshop, m->data_length - sizeof photoshop);
        else if (m->marker == JPEG_COM && !meta.fields[TXM_META_DESCRIPTION])
            ok = txm_raster_meta_set_bytes(&meta, TXM_META_DESCRIPTION, data, m->data_length);
    }
    /* Exif's resolution counts unless JFIF has one; in JFIF a density of 1 only gives the aspect. As in OpenImageIO,
     * the aspect is that of the density's width and height, the inverse of what it should be, and the unit is JFIF's
     * even for Exif's numbers. */
    float x = density->x = meta.x_resolution, y = density->y = meta.y_resolution;
    if (j->X_density && j->Y_density) {
        x = j->X_density;
        y = j->Y_density;
        if (x > 1 && y > 1) {
            density->x = x;
            density->y = y;
        }
    }
    if (x != 0 && y != 0) {
        density->aspect = x != y ? x / y : 0;
        if (density->x != 0 && j->density_unit < sizeof units / sizeof *units)
            strcpy(density->unit, units[j->density_unit]);
    }
    ok = ok && txm_raster_meta_store(&meta, info);
    txm_raster_meta_clear(&meta);
    return ok;
}

/* It is also called after a long jump: libjpeg frees its own memory with its object. */
static void close_jpeg(void *self)
{
    jpeg_source *s = self;
    if (!s)
        return;
    jpeg_destroy_decompress(&s->jpeg); /* also accepts a zeroed object */
    txm_source_file_close(&s->file);
    free(s->cmyk);
    free(s);
}

/* Reads from the start of the file to the first scan. false on a failure, which may arrive by a long jump. */
static bool read_jpeg_header(jpeg_source *s)
{
    if (setjmp(s->escape))
        return false;
    if (!s->jpeg.mem) {
        jpeg_create_decompress(&s->jpeg);
        s->jpeg.client_data = s;
        s->jpeg.src = &s->input;
        s->jpeg.progress = &s->progress;
        jpeg_save_markers(&s->jpeg, MARKER_EXIF_XMP, MARKER_BYTES);
        jpeg_save_markers(&s->jpeg, MARKER_PHOTOSHOP, MARKER_BYTES);
        jpeg_save_markers(&s->jpeg, JPEG_COM, MARKER_BYTES);
    } else {
        jpeg_abort_decompress(&s->jpeg);
    }
    s->started = s->end_missing = false;
    s->status = TXM_OK;
    s->errors.num_warnings = 0;
    txm_source_file_seek(&s->file, 0);
    s->input.bytes_in_buffer = 0;
    jpeg_read_header(&s->jpeg, TRUE);
    jpeg_calc_output_dimensions(&s->jpeg);
    return true;
}

/* Decodes only the header. CMYK is delivered as RGB: its rows need memory of their own, since libjpeg delivers four
 * channels. The file's ICC profile is ignored: the user or the rules decide the colour space. */
static txm_status open_jpeg(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                            txm_error *err)
{
    jpeg_source *s = txm_calloc(1, sizeof *s);
    if (!s)
        return txm_no_memory(err, path);
    const struct jpeg_decompress_struct *j = &s->jpeg;
    s->path = path;
    /* All callbacks are set before anything can fail. */
    s->jpeg.err = jpeg_std_error(&s->errors);
    s->errors.error_exit = on_error;
    s->errors.emit_message = on_message;
    s->jpeg.client_data = s;
    s->progress.progress_monitor = on_progress;
    s->input.init_source = ignore;
    s->input.fill_input_buffer = fill_input;
    s->input.skip_input_data = skip_input;
    s->input.resync_to_restart = jpeg_resync_to_restart;
    s->input.term_source = ignore;
    txm_status status = txm_source_file_open(&s->file, path, true, err);
    if (!status && !read_jpeg_header(s))
        status = txm_fail(err, s->status, "%s: %s", path, s->message);
    if (!status && j->out_color_space != JCS_GRAYSCALE && j->out_color_space != JCS_RGB &&
        j->out_color_space != JCS_CMYK)
        status = txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: JPEG with %d components is left to OpenImageIO", path,
                          j->num_components);
    if (!status)
        status = txm_source_check_size(path, j->output_width, j->output_height, err);
    if (!status) {
        /* Two rows of blocks in all their stages, for images that are decoded in one pass; in several scans libjpeg
         * keeps the coefficients of the whole image. */
        uint64_t need = TXM_SOURCE_PIECE_BYTES + (uint64_t)j->output_width * CMYK_CHANNELS * 64;
        for (int i = 0; jpeg_has_multiple_scans(&s->jpeg) && i < j->num_components; i++)
            need += (uint64_t)j->comp_info[i].width_in_blocks * j->comp_info[i].height_in_blocks * sizeof(JBLOCK);
        info->memory_bytes = need;
        char what[64];
        snprintf(what, sizeof what, "a JPEG of %u x %u px in several scans", j->output_width, j->output_height);
        status = txm_source_afford(path, what, (double)need, s->file.bytes, options, err);
    }
    if (!status && j->out_color_space == JCS_CMYK &&
        !(s->cmyk = txm_calloc((size_t)j->output_width * CMYK_CHANNELS, ROWS_AT_ONCE)))
        status = txm_no_memory(err, path);
    if (!status) {
        info->width = j->output_width;
        info->height = j->output_height;
        info->file_channels = info->channels = s->cmyk ? RGB_CHANNELS : (uint32_t)j->output_components;
        info->type = TXM_TYPE_U8;
        info->file_alpha = TXM_FILE_ALPHA_SILENT;
        snprintf(info->colorspace_hint, sizeof info->colorspace_hint, TXM_INTEROP_SRGB);
        if (!read_jpeg_meta(s, info))
            status = txm_no_memory(err, path);
    }
    if (status) {
        close_jpeg(s);
        return status;
    }
    *self = s;
    return TXM_OK;
}

/* For an image in several scans: whether all of them came, as far as can be seen from those that came. */
static bool is_complete(const jpeg_source *s)
{
    const struct jpeg_decompress_struct *j = &s->jpeg;
    for (int c = 0; c < j->num_components; c++) {
        if (!j->comp_info[c].quant_table) /* set by its first scan */
            return false;
        for (int k = 0; j->progressive_mode && k < DCTSIZE2; k++)
            if (j->coef_bits[c][k] != 0) /* missing bits, -1 for all */
                return false;
    }
    return true;
}

/* false on a failure; output_scanline is then the row that could not be decoded. It leaves by a long jump, so nothing
 * here may own memory. jpeg_start_decompress reads a progressive file as a whole. */
static bool decode_rows(jpeg_source *s, uint32_t rows, uint8_t *dst, size_t stride_bytes)
{
    if (s->status || setjmp(s->escape))
        return false;
    if (!s->started) {
        s->started = true;
        jpeg_start_decompress(&s->jpeg);
        if (s->end_missing && !is_complete(s))
            leave_libjpeg(s, TXM_STATUS_CORRUPT, truncated);
    }
    const uint32_t width = s->jpeg.output_width;
    for (JDIMENSION done = 0, got; done < rows; done += got) {
        JSAMPROW lines[ROWS_AT_ONCE];
        JDIMENSION want = rows - done < ROWS_AT_ONCE ? rows - done : ROWS_AT_ONCE;
        for (JDIMENSION i = 0; i < want; i++)
            lines[i] = s->cmyk ? s->cmyk + (size_t)i * width * CMYK_CHANNELS : dst + (done + i) * stride_bytes;
        got = jpeg_read_scanlines(&s->jpeg, lines, want);
        /* Files of Adobe's programs store the complement of each ink, and OpenImageIO treats every CMYK file like this.
         * The rounding is unambiguous, since no product of two codes is halfway between two others. */
        for (JDIMENSION i = 0; s->cmyk && i < got; i++) {
            const uint8_t *cmyk = lines[i];
            uint8_t *rgb = dst + (done + i) * stride_bytes;
            for (uint32_t x = 0; x < width; x++, cmyk += CMYK_CHANNELS, rgb += RGB_CHANNELS)
                for (int c = 0; c < RGB_CHANNELS; c++)
                    rgb[c] = (uint8_t)((cmyk[c] * cmyk[3] + 127) / 255);
        }
    }
    return true;
}

/* After a failure every further call fails in the same way, because libjpeg's state must not be used before a rewind.
 * Rows come in order. */
static txm_status read_jpeg(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    jpeg_source *s = self;
    (void)y;
    return decode_rows(s, rows, dst, stride_bytes)
               ? TXM_OK
               : txm_fail(err, s->status, "%s: row %u of %u: %s", s->path, s->jpeg.output_scanline,
                          s->jpeg.output_height, s->message);
}

/* Reads the header again; the size must be the same. */
static txm_status rewind_jpeg(void *self, txm_error *err)
{
    jpeg_source *s = self;
    const JDIMENSION width = s->jpeg.output_width, height = s->jpeg.output_height;
    const int components = s->jpeg.output_components;
    if (!read_jpeg_header(s))
        return txm_fail(err, s->status, "%s: %s", s->path, s->message);
    if (s->jpeg.output_width != width || s->jpeg.output_height != height || s->jpeg.output_components != components) {
        s->status = TXM_STATUS_CHANGED;
        snprintf(s->message, sizeof s->message, "the file changed while it was read");
        return txm_fail(err, TXM_STATUS_CHANGED, "%s: %s", s->path, s->message);
    }
    return TXM_OK;
}

/* For the report: the texture is complete, but the file is not. */
static const char *warning_of(const void *self)
{
    const jpeg_source *s = self;
    return s->end_missing && !s->status ? "its end marker is missing, but all its rows are there" : NULL;
}

const txm_reader_ops txm_jpeg_reader = {"jpeg", open_jpeg, read_jpeg, rewind_jpeg, close_jpeg, NULL, warning_of};
