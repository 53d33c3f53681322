/* SPDX-License-Identifier: Apache-2.0
 *
 * PLY meshes, as text and as binary of either byte order.
 *
 * PLY stores texture coordinates per vertex, not per corner. Each corner of a face is therefore written as a vertex of
 * its own, with all properties of the original one; other properties of faces, and other elements, are left out. The
 * file is binary little-endian, and has the coordinates under two names: Blender reads s and t, other programs read u
 * and v.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "mill/unwrap/mesh.h"
#include "txmill/out_file.h"

enum { MOST_PROPERTIES = 256, MOST_ELEMENTS = 32, LINE_BYTES = 1024, WORD_BYTES = 64 };

typedef enum ply_type { NONE, INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64 } ply_type;

static const struct {
    const char *name, *other;
    uint8_t bytes;
} types[] = {{"", "", 0},           {"char", "int8", 1},     {"uchar", "uint8", 1},
             {"short", "int16", 2}, {"ushort", "uint16", 2}, {"int", "int32", 4},
             {"uint", "uint32", 4}, {"float", "float32", 4}, {"double", "float64", 8}};

typedef struct ply_element {
    char name[WORD_BYTES];
    uint64_t count;
    ply_property *properties;
    uint32_t property_count;
    size_t capacity;
} ply_element;

typedef enum ply_form { NO_FORM, TEXT, LITTLE, BIG } ply_form;

typedef struct ply_reader {
    txm_mesh *mesh;
    ply_form form;
    ply_element elements[MOST_ELEMENTS];
    uint32_t element_count;
    const uint8_t *at, *end;
    txm_error *err;
} ply_reader;

static txm_status bad_ply(const ply_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static txm_status bad_ply(const ply_reader *r, const char *format, ...)
{
    char reason[256];
    va_list args;
    va_start(args, format);
    txm_vformat(reason, sizeof reason, format, args);
    va_end(args);
    return txm_fail(r->err, TXM_STATUS_CORRUPT, "%s: %s", r->mesh->path, reason);
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

static ply_type type_of(const char *name)
{
    for (size_t i = 1; i < sizeof types / sizeof *types; i++)
        if (strcmp(name, types[i].name) == 0 || strcmp(name, types[i].other) == 0)
            return (ply_type)i;
    return NONE;
}

static txm_status read_property(ply_reader *r, const char *line)
{
    static const char *const coordinates[] = {"u", "v", "s", "t", "texture_u", "texture_v"};
    char type[WORD_BYTES], count[WORD_BYTES];
    ply_property p = {.list = NONE};
    if (!r->element_count)
        return bad_ply(r, "a property before the first element");
    ply_element *e = &r->elements[r->element_count - 1];
    if (sscanf(line, "property list %63s %63s %63s", count, type, p.name) == 3)
        p.list = (uint8_t)type_of(count);
    else if (sscanf(line, "property %63s %63s", type, p.name) != 2 || strcmp(type, "list") == 0)
        return bad_ply(r, "'%s' cannot be read", line);
    p.type = (uint8_t)type_of(type);
    if (!p.type || (strncmp(line, "property list ", 14) == 0 && !p.list))
        return bad_ply(r, "'%s' has an unknown type", line);
    if (e->property_count >= MOST_PROPERTIES)
        return bad_ply(r, "more than %d properties of one element", MOST_PROPERTIES);
    for (size_t i = 0; i < sizeof coordinates / sizeof *coordinates; i++)
        p.dropped |= strcmp(p.name, coordinates[i]) == 0;
    if (!TXM_GROW(e->properties, e->capacity, e->property_count))
        return txm_no_memory(r->err, r->mesh->path);
    e->properties[e->property_count++] = p;
    return TXM_OK;
}

/* PLY has no names for UV maps; txmill's files have them in comments, as JSON strings, because names may contain
 * anything. */
static txm_status read_comment(ply_reader *r, const char *line)
{
    char *end;
    const unsigned long map = strtoul(line + strlen("comment uv "), &end, 10);
    if (*end != ' ' || map >= MESH_MOST_MAPS)
        return TXM_OK;
    errno = 0; /* tells a failed allocation from bad syntax */
    cJSON *json = cJSON_Parse(end + 1);
    const char *name = json ? cJSON_GetStringValue(json) : end + 1;
    const bool exhausted = !json && errno == ENOMEM;
    free(r->mesh->maps[map]);
    r->mesh->maps[map] = exhausted ? NULL : txm_strdup(name ? name : "");
    cJSON_Delete(json);
    return r->mesh->maps[map] ? TXM_OK : txm_no_memory(r->err, r->mesh->path);
}

static txm_status read_header_line(ply_reader *r, const char *line)
{
    static const char *const forms[] = {"", "format ascii 1.0", "format binary_little_endian 1.0",
                                        "format binary_big_endian 1.0"};
    unsigned long long count;
    char name[WORD_BYTES];
    if (strncmp(line, "format ", 7) == 0) {
        for (int i = TEXT; i <= BIG; i++)
            if (strcmp(line, forms[i]) == 0)
                r->form = (ply_form)i;
        return r->form ? TXM_OK : bad_ply(r, "'%s' is not a supported format", line);
    }
    if (strncmp(line, "element ", 8) == 0) {
        if (sscanf(line, "element %63s %llu", name, &count) != 2)
            return bad_ply(r, "'%s' cannot be read", line);
        if (r->element_count >= MOST_ELEMENTS)
            return bad_ply(r, "more than %d elements", MOST_ELEMENTS);
        ply_element *e = &r->elements[r->element_count++];
        memcpy(e->name, name, sizeof name);
        e->count = count;
        return TXM_OK;
    }
    if (strncmp(line, "comment uv ", 11) == 0)
        return read_comment(r, line);
    return strncmp(line, "property ", 9) == 0 ? read_property(r, line) : TXM_OK;
}

/* Reads the lines up to end_header, which are text in all formats. */
static txm_status read_ply_header(ply_reader *r)
{
    if (r->mesh->bytes < 4 || memcmp(r->at, "ply", 3) != 0 || (r->at[3] != '\n' && r->at[3] != '\r'))
        return bad_ply(r, "not a PLY file: it does not begin with 'ply'");
    while (r->at < r->end) {
        char line[LINE_BYTES];
        const uint8_t *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
        size_t n = stop ? (size_t)(stop - r->at) : LINE_BYTES;
        if (n >= sizeof line)
            break;
        memcpy(line, r->at, n);
        n -= n && line[n - 1] == '\r';
        line[n] = 0;
        r->at = stop + 1;
        if (strcmp(line, "end_header") == 0)
            return r->form ? TXM_OK : bad_ply(r, "the header names no format");
        txm_status status = read_header_line(r, line);
        if (status != TXM_OK)
            return status;
    }
    return bad_ply(r, "the header has no end");
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static bool read_word(ply_reader *r, double *out)
{
    char word[WORD_BYTES], *end;
    size_t n = 0;
    while (r->at < r->end && (*r->at == ' ' || (*r->at >= '\t' && *r->at <= '\r')))
        r->at++;
    while (r->at<r->end && * r->at> ' ' && n + 1 < sizeof word)
        word[n++] = (char)*r->at++;
    word[n] = 0;
    *out = txm_parse_double(word, &end);
    return n && !*end;
}

static double load_value(ply_type type, const uint8_t *at, bool big)
{
    float f;
    double d;
    const uint64_t bits = txm_load_uint(at, types[type].bytes, big);
    const uint32_t low = (uint32_t)bits;
    switch (type) {
    case INT8:
        return (int8_t)low;
    case INT16:
        return (int16_t)low;
    case INT32:
        return (int32_t)low;
    case FLOAT32:
        memcpy(&f, &low, sizeof f);
        return (double)f;
    case FLOAT64:
        memcpy(&d, &bits, sizeof d);
        return d;
    default:
        return low;
    }
}

static bool read_value(ply_reader *r, ply_type type, double *out)
{
    if (r->form == TEXT)
        return read_word(r, out);
    if ((size_t)(r->end - r->at) < types[type].bytes)
        return false;
    *out = load_value(type, r->at, r->form == BIG);
    r->at += types[type].bytes;
    return true;
}

/* Reads a count or an index, which must be an integer of at most MESH_MOST_ITEMS. */
static bool read_count(ply_reader *r, ply_type type, uint32_t *out)
{
    double value;
    if (!read_value(r, type, &value) || !(value >= 0 && value <= MESH_MOST_ITEMS) || value != floor(value))
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool skip_property(ply_reader *r, const ply_property *p)
{
    uint32_t count = 1;
    double value;
    if (p->list && !read_count(r, (ply_type)p->list, &count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!read_value(r, (ply_type)p->type, &value))
            return false;
    return true;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* Every value takes at least one byte of the file, so the size of the file bounds the memory whatever the header says.
 */
static txm_status read_vertices(ply_reader *r, ply_element *e)
{
    txm_mesh *mesh = r->mesh;
    const size_t left = (size_t)(r->end - r->at);
    bool position[3] = {0};
    for (uint32_t i = 0; i < e->property_count; i++) {
        const ply_property *p = &e->properties[i];
        if (p->list)
            return bad_ply(r, "vertices have the list '%s', which is not supported", p->name);
        if (p->name[0] >= 'x' && p->name[0] <= 'z' && !p->name[1])
            position[p->name[0] - 'x'] = true;
    }
    if (!position[0] || !position[1] || !position[2])
        return bad_ply(r, "vertices have no x, y and z");
    if (mesh->values)
        return bad_ply(r, "there are two vertex elements");
    if (e->count > MESH_MOST_ITEMS || e->count > left / e->property_count)
        return bad_ply(r, "the header promises %llu vertices, but the file ends before them",
                       (unsigned long long)e->count);
    mesh->vertices = (uint32_t)e->count;
    mesh->values = txm_calloc((size_t)e->count * e->property_count + 1, sizeof *mesh->values);
    if (!mesh->values)
        return txm_no_memory(r->err, mesh->path);
    for (size_t i = 0; i < (size_t)e->count * e->property_count; i++)
        if (!read_value(r, (ply_type)e->properties[i % e->property_count].type, &mesh->values[i]))
            return bad_ply(r, "vertex %zu of %u cannot be read", i / e->property_count, mesh->vertices);
    mesh->properties = e->properties;
    mesh->property_count = e->property_count;
    e->properties = NULL;
    return TXM_OK;
}

static txm_status read_face(ply_reader *r, const ply_property *list)
{
    uint32_t count, vertex;
    if (!read_count(r, (ply_type)list->list, &count))
        return bad_ply(r, "polygon %u cannot be read", r->mesh->polygons);
    txm_status status = txm_mesh_begin_polygon(r->mesh, r->err);
    for (uint32_t i = 0; status == TXM_OK && i < count; i++)
        status = read_count(r, (ply_type)list->type, &vertex)
                     ? txm_mesh_add_corner(r->mesh, vertex, r->err)
                     : bad_ply(r, "corner %u of polygon %u cannot be read", i, r->mesh->polygons - 1);
    return status;
}

static txm_status read_faces(ply_reader *r, const ply_element *e)
{
    uint32_t corners = e->property_count;
    txm_status status = TXM_OK;
    for (uint32_t i = 0; i < e->property_count; i++)
        if (e->properties[i].list && (strcmp(e->properties[i].name, "vertex_indices") == 0 ||
                                      strcmp(e->properties[i].name, "vertex_index") == 0))
            corners = i;
    if (e->count && corners == e->property_count)
        return bad_ply(r, "faces have no list vertex_indices");
    for (uint64_t i = 0; i < e->count && status == TXM_OK; i++)
        for (uint32_t k = 0; k < e->property_count && status == TXM_OK; k++)
            if (k == corners)
                status = read_face(r, &e->properties[k]);
            else if (!skip_property(r, &e->properties[k]))
                status = bad_ply(r, "polygon %llu cannot be read", (unsigned long long)i);
    return status;
}

static txm_status read_ply(txm_mesh *mesh, txm_error *err)
{
    ply_reader r = {.mesh = mesh, .at = mesh->data, .end = mesh->data + mesh->bytes, .err = err};
    txm_status status = read_ply_header(&r);
    for (uint32_t i = 0; i < r.element_count && status == TXM_OK; i++) {
        ply_element *e = &r.elements[i];
        status = strcmp(e->name, "vertex") == 0 ? read_vertices(&r, e)
                 : strcmp(e->name, "face") == 0 ? read_faces(&r, e)
                                                : TXM_OK;
        /* Elements without properties have no bytes, whatever their number, and are not counted off. */
        const bool other = strcmp(e->name, "vertex") != 0 && strcmp(e->name, "face") != 0 && e->property_count;
        for (uint64_t n = 0; other && n < e->count && status == TXM_OK; n++)
            for (uint32_t k = 0; k < e->property_count && status == TXM_OK; k++)
                if (!skip_property(&r, &e->properties[k]))
                    status = bad_ply(&r, "element '%s' cannot be read", e->name);
    }
    for (uint32_t i = 0; i < r.element_count; i++)
        free(r.elements[i].properties);
    return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

typedef struct ply_writer {
    const txm_mesh *mesh;
    const txm_ptex_pages *pages;
    FILE *out;
    double *middles; /* vertices of a polygon that is cut: the centres of its edges, then its own */
    size_t middle_room;
    uint32_t face;
    txm_error *err;
} ply_writer;

static void store_value(ply_type type, double value, FILE *out)
{
    uint8_t bytes[8];
    uint64_t bits = 0;
    const float f = (float)value;
    uint32_t low;
    if (type == FLOAT64) {
        memcpy(&bits, &value, sizeof bits);
    } else if (type == FLOAT32) {
        memcpy(&low, &f, sizeof low);
        bits = low;
    } else {
        bits = (uint64_t)(int64_t)(value >= -2147483648.0 && value <= 4294967295.0 ? floor(value + 0.5) : 0);
    }
    for (unsigned i = 0; i < types[type].bytes; i++)
        bytes[i] = (uint8_t)(bits >> 8 * i);
    fwrite(bytes, 1, types[type].bytes, out);
}

static void write_vertex(const ply_writer *w, const double *values, const double uv[2])
{
    for (uint32_t i = 0; i < w->mesh->property_count; i++)
        if (!w->mesh->properties[i].dropped)
            store_value((ply_type)w->mesh->properties[i].type, values[i], w->out);
    for (int i = 0; i < 4; i++)
        store_value(FLOAT32, uv[i % 2], w->out);
}

static const double *vertex_values(const ply_writer *w, uint32_t polygon, uint32_t corner)
{
    return w->mesh->values + (size_t)w->mesh->corners[w->mesh->first[polygon] + corner] * w->mesh->property_count;
}

static bool find_middles(ply_writer *w, uint32_t polygon, uint32_t count)
{
    const uint32_t n = w->mesh->property_count;
    if (w->middle_room < ((size_t)count + 1) * n) {
        free(w->middles);
        w->middle_room = ((size_t)count + 1) * n;
        w->middles = txm_calloc(w->middle_room, sizeof *w->middles);
        if (!w->middles)
            return false;
    }
    double *all = w->middles + (size_t)count * n;
    memset(all, 0, n * sizeof *all);
    for (uint32_t i = 0; i < count; i++) {
        const double *a = vertex_values(w, polygon, i), *b = vertex_values(w, polygon, (i + 1) % count);
        for (uint32_t k = 0; k < n; k++) {
            w->middles[(size_t)i * n + k] = (a[k] + b[k]) / 2;
            all[k] += a[k] / count;
        }
    }
    return true;
}

static txm_status write_polygon(ply_writer *w, uint32_t polygon)
{
    const uint32_t count = txm_mesh_corners_of(w->mesh, polygon), n = w->mesh->property_count;
    double uvs[4][2];
    if (!txm_mesh_is_cut(w->mesh, count)) {
        txm_status status = txm_mesh_uvs(w->mesh, w->pages, w->face++, uvs, w->err);
        for (uint32_t i = 0; status == TXM_OK && i < count; i++)
            write_vertex(w, vertex_values(w, polygon, i), uvs[i]);
        return status;
    }
    if (!find_middles(w, polygon, count))
        return txm_no_memory(w->err, w->mesh->path);
    for (uint32_t i = 0; i < count; i++) {
        txm_status status = txm_mesh_uvs(w->mesh, w->pages, w->face++, uvs, w->err);
        if (status != TXM_OK)
            return status;
        write_vertex(w, vertex_values(w, polygon, i), uvs[0]);
        write_vertex(w, w->middles + (size_t)i * n, uvs[1]);
        write_vertex(w, w->middles + (size_t)count * n, uvs[2]);
        write_vertex(w, w->middles + (size_t)((i + count - 1) % count) * n, uvs[3]);
    }
    return TXM_OK;
}

static txm_status write_ply(const txm_mesh *mesh, const txm_ptex_pages *pages, const char *mark, FILE *out,
                            txm_error *err)
{
    ply_writer w = {.mesh = mesh, .pages = pages, .out = out, .err = err};
    const uint32_t corners = mesh->quads ? 4 : 3;
    uint32_t faces = 0;
    txm_status status = TXM_OK;
    for (uint32_t i = 0; i < mesh->polygons; i++)
        faces += txm_mesh_is_cut(mesh, txm_mesh_corners_of(mesh, i)) ? txm_mesh_corners_of(mesh, i) : 1;
    if ((uint64_t)faces * corners > INT32_MAX)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: %u faces need more vertices than a PLY file can have",
                        mesh->path, faces);
    fprintf(out,
            "ply\nformat binary_little_endian 1.0\ncomment " MESH_MARK "%s " TXM_OUT_FILE_SEAL
            "\ncomment uv 0 \"UVMap\"\n",
            mark);
    fprintf(out, "element vertex %llu\n", (unsigned long long)faces * corners);
    for (uint32_t i = 0; i < mesh->property_count; i++)
        if (!mesh->properties[i].dropped)
            fprintf(out, "property %s %s\n", types[mesh->properties[i].type].name, mesh->properties[i].name);
    fprintf(out, "property float s\nproperty float t\nproperty float u\nproperty float v\n");
    fprintf(out, "element face %u\nproperty list uchar int vertex_indices\nend_header\n", faces);
    for (uint32_t i = 0; i < mesh->polygons && status == TXM_OK && !ferror(out); i++)
        status = write_polygon(&w, i);
    for (uint32_t i = 0; i < faces && status == TXM_OK && !ferror(out); i++) {
        store_value(UINT8, corners, out);
        for (uint32_t k = 0; k < corners; k++)
            store_value(INT32, (double)(i * corners + k), out);
    }
    free(w.middles);
    return status;
}

const mesh_format txm_mesh_ply = {"ply", read_ply, write_ply};
