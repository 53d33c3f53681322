/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the HTML page of Ptex files.
 *
 * The input is a list of files and a limit for the bytes of pixels in the page. The page has a picture of all faces of
 * each file, and a list of each face's position, which the script reads. The list is left out for a file with very many
 * faces.
 */
#include "tools/ptex/ptex_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tools/output/format.h"
#include "tools/output/html.h"
#include "tools/output/json.h"
#include "tools/ptex/ptex_picture.h"
#include "txmill/out_file.h"

static const uint8_t style[] = {
#include "ptex/ptex.css.inc"
};
static const uint8_t script[] = {
#include "ptex/ptex.js.inc"
};

enum { LISTED_FACES = 200000 };

/* A file that is being added to the page. */
typedef struct ptex_entry {
    txm_ptex *ptex;
    txm_ptex_sheet sheet;
} ptex_entry;

static void put_ptex_head(FILE *out)
{
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Ptex files</title>\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action "
          "'none'; "
          "img-src data:; style-src ",
          out);
    txm_html_digest(out, style, sizeof style);
    fputs("; script-src ", out);
    txm_html_digest(out, script, sizeof script);
    fputs("\">\n<style>", out);
    fwrite(style, 1, sizeof style, out);
    fputs("</style></head><body>\n", out);
}

static void put_ptex_facts(FILE *out, const txm_ptex *p, uint32_t level)
{
    const txm_ptex_info *i = txm_ptex_info_of(p);
    char faces[TXM_FORMAT_COUNT], channels[TXM_FORMAT_COUNT], bytes[TXM_FORMAT_BYTES];
    fprintf(out, "<p>%s, %s of %s, %s; borders %s, %s</p>\n",
            txm_format_count(i->faces, i->mesh == TXM_PTEX_QUADS ? "quad" : "triangle", faces),
            txm_format_count(i->channels, "channel", channels), txm_type_name(i->type),
            txm_format_bytes(i->file_bytes, bytes), txm_ptex_border_name(i->u_border),
            txm_ptex_border_name(i->v_border));
    fprintf(out,
            "<p>All faces at level %u%s. <label>zoom <select><option>1<option>2<option>4<option>8</select></label> "
            "<label>face <input type=\"number\" min=\"0\" max=\"%u\"></label></p>\n",
            level, level ? ", because larger ones do not fit into the page (--page-size)" : "", i->faces - 1);
}

static txm_status put_ptex_picture(FILE *out, const ptex_entry *e, uint32_t level, const volatile int *cancel,
                                   uint64_t *bytes, txm_error *err)
{
    txm_level_picture pixels = {0};
    unsigned char *png = NULL;
    size_t png_bytes = 0;
    txm_status status = txm_ptex_sheet_picture(e->ptex, &e->sheet, level, TXM_PTEX_COLOURS, cancel, &pixels, err);
    if (status == TXM_OK) {
        const txm_picture picture = {pixels.pixels,
                                     (size_t)pixels.width * pixels.channels,
                                     pixels.width,
                                     pixels.height,
                                     pixels.channels,
                                     TXM_TYPE_U8,
                                     NULL};
        status = txm_picture_encode("faces.png", &picture, &png, &png_bytes, err);
    }
    if (status == TXM_OK) {
        put_ptex_facts(out, e->ptex, level);
        fputs("<div class=\"sheet\"><img alt=\"all faces\" src=\"data:image/png;base64,", out);
        status = txm_html_base64(out, png, png_bytes, err);
        fputs("\"></div><p class=\"face\"></p>\n", out);
    }
    *bytes = (uint64_t)pixels.width * pixels.height * pixels.channels;
    txm_level_picture_clear(&pixels);
    free(png);
    return status;
}

/* Writes one section for each file, in the order of the data. */
static void put_ptex_file(FILE *out, const char *path, uint64_t share, int level, const volatile int *cancel,
                          ptex_entry *e, txm_ptex_shown *shown)
{
    txm_error *err = &shown->err;
    fputs("<section><h1>", out);
    txm_html_text(out, path);
    fputs("</h1>\n", out);
    if (txm_ptex_open(path, TXM_PTEX_PREMULTIPLY, &e->ptex, err) == TXM_OK) {
        shown->levels = txm_ptex_info_of(e->ptex)->levels;
        shown->level = level >= 0 ? (uint32_t)level : txm_ptex_level_within(e->ptex, share / 3);
        if (txm_ptex_sheet_lay(e->ptex, shown->level, &e->sheet, err) == TXM_OK)
            put_ptex_picture(out, e, shown->level, cancel, &shown->bytes, err);
    }
    if (err->status != TXM_OK) {
        txm_ptex_sheet_clear(&e->sheet);
        fputs("<p class=\"error\">", out);
        txm_html_text(out, err->message);
        fputs("</p>\n", out);
    }
    fputs("</section>\n", out);
}

/* The width is 0 for a file that is not shown. */
static cJSON *ptex_page_data(const ptex_entry *e)
{
    const uint32_t faces = e->sheet.places ? txm_ptex_info_of(e->ptex)->faces : 0;
    cJSON *o = cJSON_CreateObject(), *list;
    txm_json_uint(o, "width", e->sheet.places ? e->sheet.width : 0);
    list = txm_json_array(o, "faces");
    for (uint32_t i = 0; i < faces && faces <= LISTED_FACES; i++) {
        const txm_ptex_face *f = txm_ptex_face_of(e->ptex, i);
        const txm_ptex_place *at = &e->sheet.places[i];
        const int numbers[] = {(int)at->x,       (int)at->y,       (int)at->w,      (int)at->h,
                               f->u_log2,        f->v_log2,        f->flags,        f->neighbours[0],
                               f->neighbours[1], f->neighbours[2], f->neighbours[3]};
        txm_json_append_ints(list, numbers, txm_ptex_info_of(e->ptex)->mesh == TXM_PTEX_QUADS ? 11 : 10);
    }
    return o;
}

/* The data are numbers only, so nothing in them can end the script element. */
static txm_status put_ptex_data(FILE *out, const ptex_entry *e, txm_error *err)
{
    char *text = txm_json_take(ptex_page_data(e));
    if (!text)
        return txm_no_memory(err, NULL);
    fputs(text, out);
    free(text);
    return TXM_OK;
}

txm_status txm_ptex_page_write(const char *output, const char *const *paths, size_t count, uint64_t bytes, int level,
                               const volatile int *cancel, txm_ptex_shown *shown, txm_error *err)
{
    txm_out_file *file = NULL;
    size_t good = 0;
    ptex_entry *entries = txm_calloc(count, sizeof *entries);
    txm_status status = entries ? txm_out_file_begin(output, true, &file, err) : txm_no_memory(err, output);
    FILE *out = status == TXM_OK ? txm_out_file_stream(file) : NULL;
    if (out)
        put_ptex_head(out);
    for (size_t i = 0; i < count && out && !(cancel && *cancel); i++) {
        put_ptex_file(out, paths[i], bytes / count, level, cancel, &entries[i], &shown[i]);
        good += shown[i].err.status == TXM_OK;
    }
    if (out) {
        fputs("<script type=\"application/json\" id=\"data\">[", out);
        for (size_t i = 0; i < count && status == TXM_OK; i++) {
            fputs(i ? ",\n" : "", out);
            status = put_ptex_data(out, &entries[i], err);
        }
        fputs("]</script>\n<script>", out);
        fwrite(script, 1, sizeof script, out);
        fputs("</script></body></html>\n", out);
    }
    if (status == TXM_OK && good && !(cancel && *cancel))
        status = txm_out_file_commit(&file, err);
    txm_out_file_abort(&file);
    for (size_t i = 0; i < count && entries; i++) {
        txm_ptex_sheet_clear(&entries[i].sheet);
        txm_ptex_close(&entries[i].ptex);
    }
    free(entries);
    return status;
}
