/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints `txmill info` of a Ptex file, as text and as JSON (ptex-info.schema.json).
 *
 * Files have up to millions of faces, so faces are counted by size, and listed one by one only if everything is
 * requested.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/text.h"
#include "tools/output/values.h"
#include "tools/ptex/ptex_files.h"

enum {
    SIDE = TXM_PTEX_MAX_LOG2 + 1,
    FEW = 10,               /* metadata entries, and numbers of an entry, shown by default */
    TEXT_COLUMNS = 60,      /* limit of a printed value */
    LARGEST_VALUE = 1 << 16 /* bytes of the largest value included in JSON */
};

/* Numbers of faces with different properties. */
typedef struct face_census {
    uint32_t sizes[SIDE][SIDE]; /* indexed by log2 of u and v, without constant faces */
    uint32_t constant, edited, subfaces, alone;
    uint64_t texels;
} face_census;

/* A file with the extension of Ptex counts, so that it fails as one. */
bool txm_ptex_is_file(const char *path)
{
    struct stat st;
    char magic[4];
    /* O_NONBLOCK prevents open() from waiting for the writer of a pipe. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
              ((read(fd, magic, 4) == 4 && !memcmp(magic, "Ptex", 4)) || txm_path_has_ext(path, "ptx") ||
               txm_path_has_ext(path, "ptex"));
    if (fd >= 0)
        close(fd);
    return is;
}

void txm_ptex_advise(const char *path)
{
    if (txm_ptex_is_file(path))
        txm_advise_for(TXM_VALUES_FILE);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static double meta_number(txm_ptex_meta_type type, const uint8_t *at)
{
    float f;
    double d;
    switch (type) {
    case TXM_PTEX_INT8:
        return (int8_t)*at;
    case TXM_PTEX_INT16:
        return (int16_t)txm_load_le16(at);
    case TXM_PTEX_INT32:
        return (int32_t)txm_load_le32(at);
    case TXM_PTEX_FLOAT:
        memcpy(&f, at, sizeof f);
        return (double)f;
    default:
        memcpy(&d, at, sizeof d);
        return d;
    }
}

/* Reads an entry and appends a NUL, whether or not the file has one. NULL, with the reason in err, if it fails. */
static uint8_t *read_meta(const txm_ptex *p, uint32_t index, txm_error *err)
{
    uint32_t bytes = txm_ptex_meta_of(p, index)->bytes;
    uint8_t *data = txm_calloc((size_t)bytes + 1, 1);
    if (!data) {
        txm_no_memory(err, NULL);
        return NULL;
    }
    if (txm_ptex_meta_read(p, index, data, err) != TXM_OK) {
        free(data);
        return NULL;
    }
    return data;
}

static txm_status print_meta(const txm_ptex *p, uint32_t index, bool all, txm_error *err)
{
    const txm_ptex_meta *m = txm_ptex_meta_of(p, index);
    uint8_t *data = read_meta(p, index, err);
    size_t width = m->count ? m->bytes / m->count : 1;
    uint32_t shown = all || m->count <= FEW ? m->count : FEW;
    if (!data)
        return err->status;
    printf("    ");
    txm_print_safe(m->key);
    printf("  %s", txm_ptex_meta_type_name(m->type));
    if (m->type != TXM_PTEX_STRING && m->count != 1)
        printf("[%u]", m->count);
    printf("  ");
    if (m->type == TXM_PTEX_STRING && all)
        txm_print_safe((const char *)data);
    else if (m->type == TXM_PTEX_STRING)
        txm_print_cut((const char *)data, TEXT_COLUMNS);
    for (uint32_t i = 0; i < shown && m->type != TXM_PTEX_STRING; i++)
        printf("%s%.9g", i ? " " : "", meta_number(m->type, data + i * width));
    printf("%s\n", m->type != TXM_PTEX_STRING && shown < m->count ? " .." : "");
    free(data);
    return TXM_OK;
}

static txm_status print_metas(const txm_ptex *p, bool all, txm_error *err)
{
    uint32_t count = txm_ptex_info_of(p)->metas, shown = all || count <= FEW ? count : FEW;
    txm_status status = TXM_OK;
    if (count)
        printf("  %-14s%u\n", "metadata", count);
    for (uint32_t i = 0; i < shown && status == TXM_OK; i++)
        status = print_meta(p, i, all, err);
    if (shown < count)
        printf("    and %u more; --all shows them\n", count - shown);
    return status;
}

static void print_ptex_head(const char *path, const txm_ptex *p, const face_census *c)
{
    const txm_ptex_info *i = txm_ptex_info_of(p);
    char bytes[TXM_FORMAT_BYTES], raw[TXM_FORMAT_BYTES], count[TXM_FORMAT_COUNT];
    txm_print_path(path);
    printf("\n  %-14sversion 1.%u, %s\n", "Ptex", i->minor_version, txm_format_bytes(i->file_bytes, bytes));
    printf("  %-14s%s\n", "mesh", txm_format_count(i->faces, i->mesh == TXM_PTEX_QUADS ? "quad" : "triangle", count));
    printf("  %-14s%s, %s", "texels", txm_type_name(i->type), txm_format_count(i->channels, "channel", count));
    if (i->alpha_channel >= 0)
        printf(", alpha is channel %d", i->alpha_channel);
    printf("; %llu texels, %s\n", (unsigned long long)c->texels, txm_format_bytes(c->texels * i->pixel_bytes, raw));
    if (c->texels) {
        printf("  %-14s", "sizes");
        const char *between = "";
        for (int sum = 2 * SIDE - 2; sum >= 0; sum--)
            for (int u = SIDE - 1; u >= 0; u--)
                if (sum - u >= 0 && sum - u < SIDE && c->sizes[u][sum - u]) {
                    printf("%s%u x %u: %u", between, 1u << u, 1u << (sum - u), c->sizes[u][sum - u]);
                    between = ", ";
                }
        putchar('\n');
    }
    printf("  %-14s%u constant, %u subfaces, %u without neighbours\n", "faces", c->constant, c->subfaces, c->alone);
    printf("  %-14s%u%s\n", "levels", i->levels, i->levels > 1 ? "" : " (no reductions are stored)");
    printf("  %-14s%s along u, %s along v", "borders", txm_ptex_border_name(i->u_border),
           txm_ptex_border_name(i->v_border));
    printf("%s\n", i->edge_mode == TXM_PTEX_EDGE_TANGENT ? "; channels 0 and 1 are tangent vectors" : "");
    if (i->face_edits || i->meta_edits)
        printf("  %-14s%u of faces (%u faces), %u of metadata\n", "edits", i->face_edits, c->edited, i->meta_edits);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* Leaves out long values, since a mesh in the metadata may be larger than everything else. */
static txm_status add_metas(cJSON *o, const txm_ptex *p, txm_error *err)
{
    cJSON *list = txm_json_array(o, "metadata");
    for (uint32_t i = 0; i < txm_ptex_info_of(p)->metas; i++) {
        const txm_ptex_meta *m = txm_ptex_meta_of(p, i);
        cJSON *e = txm_json_append(list);
        txm_json_text(e, "key", m->key);
        txm_json_text(e, "type", txm_ptex_meta_type_name(m->type));
        txm_json_uint(e, "count", m->count);
        if (m->bytes > LARGEST_VALUE)
            continue;
        uint8_t *data = read_meta(p, i, err);
        if (!data)
            return err->status;
        if (m->type == TXM_PTEX_STRING) {
            txm_json_text(e, "value", (const char *)data);
        } else {
            cJSON *values = txm_json_array(e, "value");
            for (uint32_t k = 0; k < m->count; k++)
                txm_json_append_number(values, meta_number(m->type, data + k * (m->bytes / m->count)), 17);
        }
        free(data);
    }
    return TXM_OK;
}

static cJSON *ptex_object(const char *path, const txm_ptex *p, const face_census *c)
{
    const txm_ptex_info *i = txm_ptex_info_of(p);
    cJSON *o = txm_json_new("txmill.ptex-info");
    txm_json_text(o, "file", path);
    txm_json_text(o, "container", "ptex");
    txm_json_uint(o, "minor_version", i->minor_version);
    txm_json_uint(o, "file_bytes", i->file_bytes);
    txm_json_text(o, "mesh", txm_ptex_mesh_name(i->mesh));
    txm_json_text(o, "data_type", txm_type_name(i->type));
    txm_json_uint(o, "channels", i->channels);
    if (i->alpha_channel < 0)
        txm_json_text(o, "alpha_channel", NULL);
    else
        txm_json_uint(o, "alpha_channel", (uint64_t)i->alpha_channel);
    txm_json_text(o, "u_border", txm_ptex_border_name(i->u_border));
    txm_json_text(o, "v_border", txm_ptex_border_name(i->v_border));
    txm_json_bool(o, "tangent_vectors", i->edge_mode == TXM_PTEX_EDGE_TANGENT);
    txm_json_uint(o, "levels", i->levels);
    txm_json_uint(o, "faces", i->faces);
    txm_json_uint(o, "constant_faces", c->constant);
    txm_json_uint(o, "subfaces", c->subfaces);
    txm_json_uint(o, "edited_faces", c->edited);
    txm_json_uint(o, "face_edits", i->face_edits);
    txm_json_uint(o, "metadata_edits", i->meta_edits);
    txm_json_uint(o, "texels", c->texels);
    txm_json_uint(o, "pixel_bytes", c->texels * i->pixel_bytes);
    cJSON *list = txm_json_array(o, "sizes");
    for (uint32_t u = SIDE; u-- > 0;)
        for (uint32_t v = SIDE; v-- > 0;)
            if (c->sizes[u][v]) {
                cJSON *e = txm_json_append(list);
                txm_json_size(e, 1u << u, 1u << v);
                txm_json_uint(e, "faces", c->sizes[u][v]);
            }
    return o;
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

static txm_status print_ptex_json(const char *path, const txm_ptex *p, const face_census *c, bool all, txm_error *err)
{
    cJSON *o = ptex_object(path, p, c);
    txm_status status = add_metas(o, p, err);
    if (all) {
        cJSON *list = txm_json_array(o, "face_list");
        for (uint32_t i = 0; i < txm_ptex_info_of(p)->faces; i++) {
            const txm_ptex_face *f = txm_ptex_face_of(p, i);
            cJSON *e = txm_json_append(list);
            txm_json_size(e, 1u << f->u_log2, 1u << f->v_log2);
            txm_json_bool(e, "constant", f->flags & TXM_PTEX_CONSTANT);
            txm_json_bool(e, "edited", f->flags & TXM_PTEX_EDITED);
            txm_json_bool(e, "subface", f->flags & TXM_PTEX_SUBFACE);
            cJSON *faces = txm_json_array(e, "neighbours"), *edges = txm_json_array(e, "edges");
            for (unsigned edge = 0; edge < (txm_ptex_info_of(p)->mesh == TXM_PTEX_QUADS ? 4u : 3u); edge++) {
                txm_json_append_number(faces, f->neighbours[edge], 10);
                txm_json_append_number(edges, txm_ptex_edge(f, edge), 1);
            }
        }
    }
    if (status == TXM_OK)
        txm_json_emit(o);
    else
        cJSON_Delete(o);
    return status;
}

static txm_status print_ptex_text(const char *path, const txm_ptex *p, const face_census *c, bool all, txm_error *err)
{
    print_ptex_head(path, p, c);
    txm_status status = print_metas(p, all, err);
    if (all && status == TXM_OK)
        printf("  %-14swith their neighbours and the neighbours' edges: bottom, right, top, left\n", "each face");
    for (uint32_t i = 0; all && status == TXM_OK && i < txm_ptex_info_of(p)->faces; i++) {
        const txm_ptex_face *f = txm_ptex_face_of(p, i);
        printf("    %-8u %5u x %-5u ", i, 1u << f->u_log2, 1u << f->v_log2);
        for (int e = 0; e < (txm_ptex_info_of(p)->mesh == TXM_PTEX_QUADS ? 4 : 3); e++)
            if (f->neighbours[e] >= 0)
                printf(" %d.%u", f->neighbours[e], txm_ptex_edge(f, (unsigned)e));
            else
                printf(" -");
        printf("%s%s%s%s\n", f->flags & TXM_PTEX_CONSTANT ? "  constant" : "",
               f->flags & TXM_PTEX_EDITED ? "  edited" : "", f->flags & TXM_PTEX_SUBFACE ? "  subface" : "",
               f->flags & TXM_PTEX_CONSTANT_NEIGHBOURHOOD ? "  one colour" : "");
    }
    return status;
}

txm_status txm_ptex_print_info(const char *path, const txm_ptex_extent *extent, txm_error *err)
{
    txm_ptex *p = NULL;
    txm_status status = TXM_OK;
    if (extent->deep) {
        txm_ptex_check check;
        status = txm_ptex_check_file(path, txm_signal_flag(), &check, err);
        if (status == TXM_OK && check.damage.status)
            status = txm_fail_as(err, &check.damage);
    }
    face_census *census = txm_calloc(1, sizeof *census);
    if (status == TXM_OK && !census)
        status = txm_no_memory(err, path);
    if (status == TXM_OK)
        status = txm_ptex_open(path, 0, &p, err);
    if (status == TXM_OK) {
        const txm_ptex_info *info = txm_ptex_info_of(p);
        for (uint32_t i = 0; i < info->faces; i++) {
            const txm_ptex_face *f = txm_ptex_face_of(p, i);
            bool constant = f->flags & TXM_PTEX_CONSTANT, alone = true;
            census->constant += constant;
            census->edited += (f->flags & TXM_PTEX_EDITED) != 0;
            census->subfaces += (f->flags & TXM_PTEX_SUBFACE) != 0;
            for (int e = 0; e < (info->mesh == TXM_PTEX_QUADS ? 4 : 3); e++)
                alone &= f->neighbours[e] < 0;
            census->alone += alone;
            if (!constant) {
                census->sizes[f->u_log2][f->v_log2]++;
                census->texels += (uint64_t)1 << (f->u_log2 + f->v_log2);
            }
        }
        status = extent->json ? print_ptex_json(path, p, census, extent->all, err)
                              : print_ptex_text(path, p, census, extent->all, err);
    }
    txm_ptex_close(&p);
    free(census);
    return status;
}
