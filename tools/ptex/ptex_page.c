/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the HTML page of Ptex files.
 *
 * The input is a list of files and a limit for the bytes of pixels in the page. The page has a picture of all faces of
 * each file, and the position of each face, which is left out for a file with very many faces.
 */
#include "tools/ptex/ptex_page.h"

#include <stdio.h>

#include "tools/output/json.h"
#include "tools/page/page.h"
#include "tools/ptex/ptex_picture.h"

enum { LISTED_FACES = 200000 };

/* The faces are numbers, so that a list of very many stays small: position, logarithms of the size, flags, neighbours.
 */
static void add_faces(cJSON *o, const txm_ptex *p, const txm_ptex_sheet *sheet)
{
    const txm_ptex_info *i = txm_ptex_info_of(p);
    cJSON *list = txm_json_array(o, "faces");
    for (uint32_t k = 0; k < i->faces && i->faces <= LISTED_FACES; k++) {
        const txm_ptex_face *f = txm_ptex_face_of(p, k);
        const txm_ptex_place *at = &sheet->places[k];
        const int numbers[] = {(int)at->x,       (int)at->y,       (int)at->w,      (int)at->h,
                               f->u_log2,        f->v_log2,        f->flags,        f->neighbours[0],
                               f->neighbours[1], f->neighbours[2], f->neighbours[3]};
        txm_json_append_ints(list, numbers, i->mesh == TXM_PTEX_QUADS ? 11 : 10);
    }
}

static txm_status add_sheet(txm_page *page, cJSON *o, size_t number, const txm_ptex *p, uint32_t level,
                            const volatile int *cancel, uint64_t *bytes, txm_error *err)
{
    const txm_ptex_info *i = txm_ptex_info_of(p);
    txm_ptex_sheet sheet = {0};
    txm_level_picture pixels = {0};
    txm_status status = txm_ptex_sheet_lay(p, level, &sheet, err);
    if (status == TXM_OK)
        status = txm_ptex_sheet_picture(p, &sheet, level, TXM_PTEX_COLOURS, cancel, &pixels, err);
    if (status == TXM_OK) {
        const size_t stride = (size_t)pixels.width * pixels.channels;
        const txm_picture picture = {pixels.pixels,   stride,      pixels.width, pixels.height,
                                     pixels.channels, TXM_TYPE_U8, NULL};
        char id[40];
        snprintf(id, sizeof id, "faces-%zu", number);
        status = txm_page_picture(page, id, &picture, err);
    }
    if (status == TXM_OK) {
        *bytes = (uint64_t)pixels.width * pixels.height * pixels.channels;
        txm_json_uint(o, "width", sheet.width);
        txm_json_uint(o, "level", level);
        txm_json_uint(o, "face_count", i->faces);
        txm_json_text(o, "mesh", i->mesh == TXM_PTEX_QUADS ? "quads" : "triangles");
        txm_json_uint(o, "channels", i->channels);
        txm_json_text(o, "data_type", txm_type_name(i->type));
        txm_json_uint(o, "file_bytes", i->file_bytes);
        cJSON *borders = txm_json_array(o, "borders");
        txm_json_append_text(borders, txm_ptex_border_name(i->u_border));
        txm_json_append_text(borders, txm_ptex_border_name(i->v_border));
        add_faces(o, p, &sheet);
    }
    txm_level_picture_clear(&pixels);
    txm_ptex_sheet_clear(&sheet);
    return status;
}

txm_status txm_ptex_page_write(const char *output, const char *const *paths, size_t count, uint64_t bytes, int level,
                               const volatile int *cancel, txm_ptex_shown *shown, txm_error *err)
{
    txm_page *page = NULL;
    size_t good = 0;
    txm_status status = txm_page_begin(output, &page, err);
    if (status != TXM_OK)
        return status;
    cJSON *data = txm_page_data("ptex"), *files = txm_json_array(data, "files");
    for (size_t i = 0; i < count && !(cancel && *cancel); i++) {
        txm_ptex_shown *s = &shown[i];
        txm_ptex *ptex = NULL;
        cJSON *o = txm_json_append(files);
        txm_json_text(o, "file", paths[i]);
        if (txm_ptex_open(paths[i], TXM_PTEX_PREMULTIPLY, &ptex, &s->err) == TXM_OK) {
            s->levels = txm_ptex_info_of(ptex)->levels;
            s->level = level >= 0 ? (uint32_t)level : txm_ptex_level_within(ptex, bytes / count / 3);
            add_sheet(page, o, i, ptex, s->level, cancel, &s->bytes, &s->err);
        }
        if (s->err.status)
            txm_json_error(o, &s->err);
        good += s->err.status == TXM_OK;
        txm_ptex_close(&ptex);
    }
    if (good && !(cancel && *cancel))
        return txm_page_end(&page, data, err);
    cJSON_Delete(data);
    txm_page_abort(&page);
    return TXM_OK;
}
