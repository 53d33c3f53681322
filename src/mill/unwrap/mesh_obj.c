/* SPDX-License-Identifier: Apache-2.0
 *
 * OBJ meshes.
 *
 * The file is copied line by line, with its materials, groups, normals and comments; only the texture coordinates are
 * replaced. A polygon that is cut needs new vertices, and new normals if it has normals. They are written just before
 * the line that uses them, because readers refuse indices of vertices that come later. The indices of all later
 * vertices are therefore raised.
 *
 * A line ends at a newline that has no backslash before it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "mill/unwrap/mesh.h"
#include "txmill/out_file.h"

enum { NUMBER_BYTES = 64, MOST_LINE = 1 << 30 };

/* The rest of a line. */
typedef struct obj_line {
    const uint8_t *at, *end; /* excluding the newline */
    const uint8_t *begin;
    uint32_t number; /* number of its first line in the file */
} obj_line;

typedef struct obj_reader {
    const txm_mesh *mesh;
    const uint8_t *at, *end;
    uint32_t lines;
} obj_reader;

/* ---- words ------------------------------------------------------------------------------------------------------- */

static bool next_line(obj_reader *r, obj_line *out)
{
    if (r->at == r->end)
        return false;
    *out = (obj_line){.at = r->at, .begin = r->at, .number = r->lines + 1};
    for (;;) {
        const uint8_t *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
        r->lines++;
        out->end = newline ? newline : r->end;
        r->at = newline ? newline + 1 : r->end;
        if (out->end > out->begin && out->end[-1] == '\r')
            out->end--;
        if (!newline || out->end == out->begin || out->end[-1] != '\\' || r->at == r->end)
            return true;
    }
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\\' || c == '\v' || c == '\f';
}

/* Returns the next word, or false at the end of the line or at a comment. */
static bool next_word(obj_line *l, const uint8_t **word, size_t *bytes)
{
    while (l->at < l->end && is_blank(*l->at))
        l->at++;
    if (l->at == l->end || *l->at == '#')
        return false;
    *word = l->at;
    while (l->at < l->end && !is_blank(*l->at))
        l->at++;
    *bytes = (size_t)(l->at - *word);
    return true;
}

static bool is_word(const uint8_t *word, size_t bytes, const char *text)
{
    return bytes == strlen(text) && memcmp(word, text, bytes) == 0;
}

static txm_status bad_line(const txm_mesh *mesh, const obj_line *l, const char *what, txm_error *err)
{
    return txm_fail(err, TXM_STATUS_CORRUPT, "%s:%u: %s", mesh->path, l->number, what);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static bool read_point(obj_line *l, double out[3])
{
    for (int i = 0; i < 3; i++) {
        const uint8_t *word;
        size_t bytes;
        char text[NUMBER_BYTES], *end;
        if (!next_word(l, &word, &bytes) || bytes >= sizeof text)
            return false;
        memcpy(text, word, bytes);
        text[bytes] = 0;
        out[i] = txm_parse_double(text, &end);
        if (end != text + bytes)
            return false;
    }
    return true;
}

static txm_status add_point(const txm_mesh *mesh, mesh_points *points, obj_line *l, txm_error *err)
{
    double at[3];
    if (!read_point(l, at))
        return bad_line(mesh, l, "a vertex or normal needs three numbers", err);
    if (points->count >= MESH_MOST_ITEMS)
        return bad_line(mesh, l, "too many vertices", err);
    if (!TXM_GROW(points->at, points->capacity, points->count) ||
        !TXM_GROW(points->before, points->before_capacity, points->count))
        return txm_no_memory(err, mesh->path);
    memcpy(points->at[points->count], at, sizeof at);
    points->before[points->count++] = points->added;
    return TXM_OK;
}

/* Reads a corner: "7", "7/1", "7//3" or "7/1/3". Vertex and normal are counted from 0; the normal is UINT32_MAX if
 * there is none. A negative number counts back from the most recent one. */
static bool read_index(const uint8_t **at, const uint8_t *end, uint32_t count, uint32_t *out)
{
    const bool back = *at < end && **at == '-';
    uint64_t n = 0;
    const uint8_t *from = *at += back;
    for (; *at < end && **at >= '0' && **at <= '9' && n <= UINT32_MAX; ++*at)
        n = 10 * n + (uint64_t)(**at - '0');
    if (*at == from || n == 0 || n > UINT32_MAX || (back && n > count))
        return false;
    *out = back ? count - (uint32_t)n : (uint32_t)n - 1;
    return true;
}

static bool read_corner(const uint8_t *word, size_t bytes, uint32_t points, uint32_t normals, uint32_t *vertex,
                        uint32_t *normal)
{
    const uint8_t *at = word, *end = word + bytes;
    *normal = UINT32_MAX;
    if (!read_index(&at, end, points, vertex))
        return false;
    if (at == end)
        return true;
    if (*at++ != '/')
        return false;
    while (at < end && *at != '/') /* skips the old texture coordinate */
        at++;
    if (at == end)
        return true;
    at++;
    return read_index(&at, end, normals, normal) && at == end;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static txm_status read_polygon(txm_mesh *mesh, obj_line *l, txm_error *err)
{
    const uint8_t *word;
    size_t bytes;
    uint32_t vertex, normal, with_normals = 0;
    txm_status status = txm_mesh_begin_polygon(mesh, err);
    while (status == TXM_OK && next_word(l, &word, &bytes)) {
        if (!read_corner(word, bytes, mesh->points.count, mesh->normals.count, &vertex, &normal))
            return bad_line(mesh, l, "a corner of a polygon cannot be read", err);
        with_normals += normal != UINT32_MAX;
        status = txm_mesh_add_corner(mesh, vertex, err);
    }
    const uint32_t n = status == TXM_OK ? txm_mesh_corners_of(mesh, mesh->polygons - 1) : 0;
    if (status == TXM_OK && n < 3)
        return bad_line(mesh, l, "a polygon needs three corners", err);
    if (status == TXM_OK && txm_mesh_is_cut(mesh, n)) {
        mesh->points.added += n + 1;
        mesh->normals.added += with_normals == n ? n + 1 : 0;
        if (mesh->points.added >= MESH_MOST_ITEMS)
            return bad_line(mesh, l, "too many corners", err);
    }
    return status;
}

static txm_status read_obj(txm_mesh *mesh, txm_error *err)
{
    obj_reader r = {mesh, mesh->data, mesh->data + mesh->bytes, 0};
    obj_line l;
    txm_status status = TXM_OK;
    while (status == TXM_OK && next_line(&r, &l)) {
        const uint8_t *word;
        size_t bytes;
        if (l.end - l.begin > MOST_LINE)
            return bad_line(mesh, &l, "the line is too long", err);
        if (!next_word(&l, &word, &bytes))
            continue;
        if (is_word(word, bytes, "v"))
            status = add_point(mesh, &mesh->points, &l, err);
        else if (is_word(word, bytes, "vn"))
            status = add_point(mesh, &mesh->normals, &l, err);
        else if (is_word(word, bytes, "f"))
            status = read_polygon(mesh, &l, err);
    }
    mesh->vertices = mesh->points.count;
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

typedef struct obj_writer {
    const txm_mesh *mesh;
    const txm_ptex_pages *pages;
    FILE *out;
    uint32_t points, normals, new_points, new_normals; /* numbers written so far */
    uint32_t polygon, face;
    uint64_t coordinates;
    uint32_t *corner_normals; /* normals of the current polygon */
    size_t capacity;
    txm_error *err;
} obj_writer;

/* The new index of a point, counted from 1 as in the file and raised by the points inserted before it. */
static unsigned long long moved_index(const mesh_points *points, uint32_t index)
{
    return 1ull + index + points->before[index];
}

static void write_coordinates(obj_writer *w, double uvs[4][2], int count)
{
    for (int i = 0; i < count; i++) {
        unsigned long long u = (unsigned long long)(uvs[i][0] * 1e8 + 0.5),
                           v = (unsigned long long)(uvs[i][1] * 1e8 + 0.5);
        fprintf(w->out, "vt %llu.%08llu %llu.%08llu\n", u / 100000000, u % 100000000, v / 100000000, v % 100000000);
    }
    w->coordinates += (unsigned)count;
}

static void write_corner(obj_writer *w, unsigned long long vertex, unsigned long long coordinate, bool has_normal,
                         unsigned long long normal)
{
    if (has_normal)
        fprintf(w->out, " %llu/%llu/%llu", vertex, coordinate, normal);
    else
        fprintf(w->out, " %llu/%llu", vertex, coordinate);
}

static txm_status write_whole(obj_writer *w, uint32_t count)
{
    const uint32_t *corners = w->mesh->corners + w->mesh->first[w->polygon];
    double uvs[4][2];
    txm_status status = txm_mesh_uvs(w->mesh, w->pages, w->face++, uvs, w->err);
    if (status != TXM_OK)
        return status;
    write_coordinates(w, uvs, (int)count);
    fputc('f', w->out);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t normal = w->corner_normals[i];
        const bool has_normal = normal < w->mesh->normals.count;
        write_corner(w, moved_index(&w->mesh->points, corners[i]), w->coordinates - count + i + 1, has_normal,
                     has_normal ? moved_index(&w->mesh->normals, normal) : 0);
    }
    fputc('\n', w->out);
    return TXM_OK;
}

/* Writes the centres of the edges, then that of the polygon. */
static void write_new_points(obj_writer *w, const char *keyword, const mesh_points *points, const uint32_t *indices,
                             uint32_t count)
{
    double middle[3] = {0};
    char line[256];
    for (uint32_t i = 0; i < count; i++) {
        const double *a = points->at[indices[i]], *b = points->at[indices[(i + 1) % count]];
        txm_format(line, sizeof line, "%s %.9g %.9g %.9g\n", keyword, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2,
                   (a[2] + b[2]) / 2);
        fputs(line, w->out);
        for (int k = 0; k < 3; k++)
            middle[k] += a[k] / count;
    }
    txm_format(line, sizeof line, "%s %.9g %.9g %.9g\n", keyword, middle[0], middle[1], middle[2]);
    fputs(line, w->out);
}

/* Writes a quad for each corner: the corner, the centre of the next edge, that of the polygon and that of the previous
 * edge. */
static txm_status write_cut(obj_writer *w, uint32_t count)
{
    const txm_mesh *mesh = w->mesh;
    const uint32_t *corners = mesh->corners + mesh->first[w->polygon];
    const unsigned long long new_point = 1ull + w->points + w->new_points,
                             new_normal = 1ull + w->normals + w->new_normals;
    bool has_normals = true;
    for (uint32_t i = 0; i < count; i++)
        has_normals &= w->corner_normals[i] < mesh->normals.count;
    write_new_points(w, "v", &mesh->points, corners, count);
    w->new_points += count + 1;
    if (has_normals) {
        write_new_points(w, "vn", &mesh->normals, w->corner_normals, count);
        w->new_normals += count + 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        double uvs[4][2];
        const uint32_t before = (i + count - 1) % count, at[3] = {i, count, before};
        txm_status status = txm_mesh_uvs(mesh, w->pages, w->face++, uvs, w->err);
        if (status != TXM_OK)
            return status;
        write_coordinates(w, uvs, 4);
        fputc('f', w->out);
        write_corner(w, moved_index(&mesh->points, corners[i]), w->coordinates - 3, has_normals,
                     has_normals ? moved_index(&mesh->normals, w->corner_normals[i]) : 0);
        for (unsigned k = 0; k < 3; k++)
            write_corner(w, new_point + at[k], w->coordinates - 2 + k, has_normals, new_normal + at[k]);
        fputc('\n', w->out);
    }
    return TXM_OK;
}

static txm_status write_polygon(obj_writer *w, obj_line *l)
{
    const uint32_t count = txm_mesh_corners_of(w->mesh, w->polygon);
    const uint8_t *word;
    size_t bytes;
    uint32_t vertex;
    for (uint32_t i = 0; i < count; i++) {
        if (!TXM_GROW(w->corner_normals, w->capacity, i))
            return txm_no_memory(w->err, w->mesh->path);
        if (!next_word(l, &word, &bytes) ||
            !read_corner(word, bytes, w->points, w->normals, &vertex, &w->corner_normals[i]))
            return txm_fail(w->err, TXM_STATUS_CHANGED, "%s: changed while it was read", w->mesh->path);
    }
    txm_status status = txm_mesh_is_cut(w->mesh, count) ? write_cut(w, count) : write_whole(w, count);
    w->polygon++;
    return status;
}

/* Writes points and lines with the new indices of their vertices and without texture coordinates. */
static txm_status write_elements(obj_writer *w, obj_line *l, const char *keyword)
{
    const uint8_t *word;
    size_t bytes;
    uint32_t vertex, normal;
    fputs(keyword, w->out);
    while (next_word(l, &word, &bytes)) {
        if (!read_corner(word, bytes, w->points, w->normals, &vertex, &normal) || vertex >= w->mesh->points.count)
            return bad_line(w->mesh, l, "a vertex of a line or point cannot be read", w->err);
        fprintf(w->out, " %llu", moved_index(&w->mesh->points, vertex));
    }
    fputc('\n', w->out);
    return TXM_OK;
}

static txm_status write_line(obj_writer *w, obj_line *l)
{
    static const char mark[] = "# " MESH_MARK;
    const size_t all = (size_t)(l->end - l->begin);
    const uint8_t *word;
    size_t bytes;
    if (all >= sizeof mark - 1 && memcmp(l->begin, mark, sizeof mark - 1) == 0)
        return TXM_OK;
    if (next_word(l, &word, &bytes)) {
        if (is_word(word, bytes, "vt"))
            return TXM_OK;
        if (is_word(word, bytes, "f"))
            return write_polygon(w, l);
        if (is_word(word, bytes, "l"))
            return write_elements(w, l, "l");
        if (is_word(word, bytes, "p"))
            return write_elements(w, l, "p");
        w->points += is_word(word, bytes, "v");
        w->normals += is_word(word, bytes, "vn");
    }
    fwrite(l->begin, 1, all, w->out);
    fputc('\n', w->out);
    return TXM_OK;
}

static txm_status write_obj(const txm_mesh *mesh, const txm_ptex_pages *pages, const char *mark, FILE *out,
                            txm_error *err)
{
    obj_writer w = {.mesh = mesh, .pages = pages, .out = out, .err = err};
    obj_reader r = {mesh, mesh->data, mesh->data + mesh->bytes, 0};
    obj_line l;
    txm_status status = TXM_OK;
    fprintf(out, "# " MESH_MARK "%s " TXM_OUT_FILE_SEAL "\n", mark);
    /* If the file was truncated after it was read, the map holds zeros there, and fewer polygons are found. */
    while (status == TXM_OK && !ferror(out) && next_line(&r, &l) &&
           (w.polygon < mesh->polygons || l.end - l.begin < MOST_LINE))
        status = w.polygon == mesh->polygons && l.begin[0] == 'f' ? TXM_OK : write_line(&w, &l);
    free(w.corner_normals);
    return status;
}

const mesh_format txm_mesh_obj = {"obj", read_obj, write_obj};
