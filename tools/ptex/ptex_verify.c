/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints `txmill verify` of a Ptex file (JSON: ptex-verify.schema.json), with one verdict.
 *
 * Everything that the file stores is read: each face at each size, and all metadata. Neighbours that disagree are not
 * damage, as they occur in meshes with more than two faces at an edge.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/text.h"
#include "tools/ptex/ptex_files.h"

/* Reads a face at all sizes that are stored. The buffer is reused for the next face. */
static txm_status check_texels(const txm_ptex *p, uint32_t face, uint8_t **room, size_t *room_bytes,
                               txm_ptex_check *out, txm_error *err)
{
    const txm_ptex_face *f = txm_ptex_face_of(p, face);
    for (uint32_t k = 0; k <= f->u_log2 && k <= f->v_log2; k++) {
        if (!txm_ptex_is_stored(p, face, f->u_log2 - k, f->v_log2 - k))
            break;
        size_t bytes = txm_ptex_face_bytes(p, f->u_log2 - k, f->v_log2 - k);
        if (bytes > *room_bytes) {
            free(*room);
            *room = txm_alloc_pixels(bytes, 1);
            *room_bytes = *room ? bytes : 0;
        }
        if (!*room)
            return txm_no_memory(err, NULL);
        txm_status status = txm_ptex_read(p, face, f->u_log2 - k, f->v_log2 - k, *room, err);
        if (status != TXM_OK)
            return status;
        out->blocks++;
    }
    return TXM_OK;
}

static bool is_damage(txm_status status)
{
    return status == TXM_STATUS_CORRUPT || status == TXM_STATUS_TOO_LARGE || status == TXM_STATUS_NEWER ||
           status == TXM_STATUS_UNSUPPORTED || status == TXM_STATUS_NOT_DOWNLOADED;
}

txm_status txm_ptex_check_file(const char *path, const volatile int *cancel, txm_ptex_check *out, txm_error *err)
{
    txm_ptex *p = NULL;
    uint8_t *room = NULL;
    size_t room_bytes = 0;
    *out = (txm_ptex_check){.blocks = 0};
    txm_status status = txm_ptex_open(path, 0, &p, err);
    for (uint32_t i = 0; status == TXM_OK && i < txm_ptex_info_of(p)->faces; i++) {
        /* At a one-sided edge the neighbour has a different neighbour. Edges between faces and subfaces are not
         * counted, since two subfaces share an edge of a face. */
        const txm_ptex_face *f = txm_ptex_face_of(p, i);
        unsigned edges = txm_ptex_info_of(p)->mesh == TXM_PTEX_QUADS ? 4 : 3;
        for (unsigned e = 0; e < edges; e++) {
            const txm_ptex_face *n = f->neighbours[e] < 0 ? NULL : txm_ptex_face_of(p, (uint32_t)f->neighbours[e]);
            unsigned at = txm_ptex_edge(f, e);
            if (!n || (n->flags ^ f->flags) & TXM_PTEX_SUBFACE ||
                (at < edges && n->neighbours[at] == (int64_t)i && txm_ptex_edge(n, at) == e))
                continue;
            if (!out->one_sided++) {
                out->first_face = i;
                out->first_edge = e;
            }
        }
        status = cancel && *cancel ? txm_fail(err, TXM_STATUS_CANCELLED, "%s: cancelled", path)
                                   : check_texels(p, i, &room, &room_bytes, out, err);
    }
    for (uint32_t i = 0; status == TXM_OK && i < txm_ptex_info_of(p)->metas; i++) {
        uint8_t *data = txm_calloc((size_t)txm_ptex_meta_of(p, i)->bytes + 1, 1);
        status = data ? txm_ptex_meta_read(p, i, data, err) : txm_no_memory(err, NULL);
        free(data);
        out->metas += status == TXM_OK;
    }
    free(room);
    txm_ptex_close(&p);
    if (!is_damage(status))
        return status;
    txm_fail_as(&out->damage, err);
    txm_error_clear(err);
    return TXM_OK;
}

/* ---- the verdict ------------------------------------------------------------------------------------------------- */

txm_status txm_ptex_verify(const char *path, bool json, bool quiet, const volatile int *cancel, bool *good,
                           txm_error *err)
{
    txm_ptex_check check;
    txm_status status = txm_ptex_check_file(path, cancel, &check, err);
    *good = status == TXM_OK && check.damage.status == TXM_OK;
    if (status != TXM_OK)
        return status;
    if (json) {
        cJSON *o = txm_json_new("txmill.ptex-verify");
        txm_json_text(o, "file", path);
        txm_json_bool(o, "good", check.damage.status == TXM_OK);
        txm_json_text(o, "damage", check.damage.status == TXM_OK ? NULL : check.damage.message);
        txm_json_uint(o, "blocks", check.blocks);
        txm_json_uint(o, "metadata", check.metas);
        txm_json_uint(o, "one_sided_edges", check.one_sided);
        txm_json_emit(o);
    } else if (!quiet || check.damage.status != TXM_OK) {
        const bool sound = check.damage.status == TXM_OK;
        char count[TXM_FORMAT_COUNT];
        txm_print_line(path, sound ? TXM_GOOD : TXM_BAD, sound ? "good" : "damaged", NULL);
        if (!sound)
            txm_print_format("  %s\n", check.damage.message);
        if (check.one_sided && !quiet)
            printf("  note: %s whose neighbour has another face there, first edge %u of face %u\n",
                   txm_format_count(check.one_sided, "edge", count), check.first_edge, check.first_face);
    }
    return TXM_OK;
}
