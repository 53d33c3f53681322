/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads meshes: binary little-endian PLY of triangles and quads with positions, normals and UV maps, as defined in
 * txmill-scene(5). The input is not trusted; all indices of the result are valid.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "render/scene.h"

enum { MAX_PROPERTIES = 256, MAX_MAPS = 64, FACE_BYTES = 13, NOTHING = -1 };

/* The offsets of a vertex's properties in bytes. */
typedef struct layout {
    uint64_t vertices, faces;
    uint32_t vertex_bytes;
    int position[3], normal[3], maps[MAX_MAPS][2];
    char *names[MAX_MAPS];
    bool little_endian, face_list;
    int element; /* 0: none yet, 1: vertex, 2: face, 3: another */
} layout;

static txm_status fail(const stm_scene_mesh *mesh, txm_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static txm_status fail(const stm_scene_mesh *mesh, txm_error *err, const char *format, ...)
{
    char reason[256];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return stm_fail(err, TXM_STATUS_CORRUPT, "%s: %s", mesh->path ? mesh->path : "mesh", reason);
}

/* ---- the header ---- */

/* "u" and "v" are map 0, "u3" and "v3" map 3; NOTHING for other names. */
static int map_of(const char *name)
{
    char *end;
    if (*name != 'u' && *name != 'v')
        return NOTHING;
    if (!name[1])
        return 0;
    unsigned long n = strtoul(name + 1, &end, 10);
    return name[1] >= '1' && name[1] <= '9' && !*end && n < MAX_MAPS ? (int)n : NOTHING;
}

/* Properties with other names (colours, other attributes) only add to the stride. */
static void place_property(layout *l, const char *name)
{
    static const char *const positions[] = {"x", "y", "z"}, *const normals[] = {"nx", "ny", "nz"};
    int map = map_of(name);
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, positions[i]) == 0)
            l->position[i] = (int)l->vertex_bytes;
        if (strcmp(name, normals[i]) == 0)
            l->normal[i] = (int)l->vertex_bytes;
    }
    if (map != NOTHING)
        l->maps[map][*name == 'v'] = (int)l->vertex_bytes;
}

/* Only floats are supported: other types would need a table of sizes, which txmill's exporters do not need. */
static txm_status read_property(const stm_scene_mesh *mesh, layout *l, const char *line, txm_error *err)
{
    char type[16], name[64];
    if (l->element == 2) {
        l->face_list = strcmp(line, "property list uchar int vertex_indices") == 0;
        return l->face_list ? TXM_OK : fail(mesh, err, "faces must be 'property list uchar int vertex_indices'");
    }
    if (l->element != 1)
        return TXM_OK;
    if (sscanf(line, "property %15s %63s", type, name) != 2 || strcmp(type, "float") != 0)
        return fail(mesh, err, "properties of a vertex must be floats");
    if (l->vertex_bytes >= 4 * MAX_PROPERTIES)
        return fail(mesh, err, "more than %d properties", MAX_PROPERTIES);
    place_property(l, name);
    l->vertex_bytes += 4;
    return TXM_OK;
}

/* PLY has no names for UV maps; txmill's files have them in comments, as JSON strings, because names may contain
 * anything. */
static txm_status read_comment(const stm_scene_mesh *mesh, layout *l, const char *line, txm_error *err)
{
    char *end;
    if (strncmp(line, "comment uv ", 11) != 0)
        return TXM_OK;
    unsigned long map = strtoul(line + 11, &end, 10);
    if (line[11] < '0' || line[11] > '9' || *end != ' ' || map >= MAX_MAPS)
        return fail(mesh, err, "a comment about a UV map that cannot be read");
    errno = 0;                          /* distinguishes a failed allocation from bad syntax */
    cJSON *json = cJSON_Parse(end + 1); /* a JSON string, like all texts of a scene */
    if (!json && errno == ENOMEM)
        return stm_no_memory(err, mesh->path);
    const char *name = json ? cJSON_GetStringValue(json) : end + 1;
    free(l->names[map]);
    l->names[map] = stm_strdup(name ? name : "");
    cJSON_Delete(json);
    return l->names[map] ? TXM_OK : stm_no_memory(err, mesh->path);
}

/* Vertices must be declared before faces, which is the order of the data. Later elements are skipped with their
 * properties. */
static txm_status read_line(const stm_scene_mesh *mesh, layout *l, const char *line, txm_error *err)
{
    unsigned long long count;
    if (strcmp(line, "format binary_little_endian 1.0") == 0)
        l->little_endian = true;
    else if (strncmp(line, "comment", 7) == 0)
        return read_comment(mesh, l, line, err);
    else if (sscanf(line, "element vertex %llu", &count) == 1 && l->element == 0)
        l->vertices = count, l->element = 1;
    else if (sscanf(line, "element face %llu", &count) == 1 && l->element == 1)
        l->faces = count, l->element = 2;
    else if (strncmp(line, "element ", 8) == 0) {
        if (l->element != 2)
            return fail(mesh, err, "vertices must come first, then faces");
        l->element = 3;
    } else if (strncmp(line, "property ", 9) == 0)
        return read_property(mesh, l, line, err);
    return TXM_OK;
}

/* Reads lines up to end_header; *body is what follows. */
static txm_status read_header(const stm_scene_mesh *mesh, layout *l, const uint8_t *data, size_t bytes,
                              const uint8_t **body, txm_error *err)
{
    const uint8_t *end = data + bytes;
    if (bytes < 4 || memcmp(data, "ply\n", 4) != 0)
        return fail(mesh, err, "not a PLY file");
    for (const uint8_t *at = data + 4; at < end;) {
        char line[1024];
        const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = stop ? (size_t)(stop - at) : 0;
        if (!stop || n >= sizeof line)
            break;
        memcpy(line, at, n);
        line[n] = 0;
        at = stop + 1;
        if (strcmp(line, "end_header") == 0) {
            *body = at;
            if (!l->little_endian)
                return fail(mesh, err, "only binary little-endian PLY is read");
            for (int i = 0; i < 3; i++)
                if (l->position[i] == NOTHING)
                    return fail(mesh, err, "vertices have no x, y and z");
            return l->faces && !l->face_list ? fail(mesh, err, "faces have no vertex_indices") : TXM_OK;
        }
        txm_status status = read_line(mesh, l, line, err);
        if (status)
            return status;
    }
    return fail(mesh, err, "the header has no end");
}

/* ---- the data ---- */

/* Copies `n` floats per vertex, from any offsets. NaN and infinity become 0. */
static float *gather(const uint8_t *vertices, size_t count, uint32_t stride, const int *offsets, int n)
{
    float *out = count ? reallocarray(NULL, count, (size_t)n * sizeof *out) : calloc(1, sizeof *out);
    for (size_t i = 0; out && i < count; i++)
        for (int k = 0; k < n; k++) {
            float f;
            memcpy(&f, vertices + i * stride + offsets[k], sizeof f);
            /* NaN and infinity would send rays nowhere. */
            out[i * (size_t)n + (size_t)k] = f - f == 0.0f ? f : 0.0f;
        }
    return out;
}

/* A map with only u or only v is ignored. */
static txm_status read_maps(stm_scene_mesh *mesh, layout *l, const uint8_t *vertices, txm_error *err)
{
    mesh->maps = calloc(MAX_MAPS, sizeof *mesh->maps);
    if (!mesh->maps)
        return stm_no_memory(err, mesh->path);
    for (int i = 0; i < MAX_MAPS; i++) {
        if (l->maps[i][0] == NOTHING || l->maps[i][1] == NOTHING)
            continue;
        stm_uv_map *map = &mesh->maps[mesh->map_count++];
        map->name = l->names[i] ? stm_strdup(l->names[i]) : stm_strdup("");
        map->uv = gather(vertices, mesh->vertex_count, l->vertex_bytes, l->maps[i], 2);
        if (!map->name || !map->uv)
            return stm_no_memory(err, mesh->path);
    }
    return TXM_OK;
}

/* Corners are checked here once, so that hits need no checks. */
static txm_status read_faces(stm_scene_mesh *mesh, const uint8_t *faces, txm_error *err)
{
    mesh->corners = stm_calloc(mesh->triangle_count + 1, 3 * sizeof *mesh->corners);
    mesh->polygons = mesh->quad_count ? stm_calloc(mesh->triangle_count + 1, sizeof *mesh->polygons) : NULL;
    if (!mesh->corners || (mesh->quad_count && !mesh->polygons))
        return stm_no_memory(err, mesh->path);
    for (size_t i = 0, triangle = 0; i < mesh->polygon_count; i++) {
        const size_t count = *faces++;
        uint32_t corners[4] = {0};
        for (size_t k = 0; k < count; k++, faces += 4) {
            memcpy(&corners[k], faces, 4);
            if (corners[k] >= mesh->vertex_count)
                return fail(mesh, err, "face %zu names vertex %u of %zu", i, corners[k], mesh->vertex_count);
        }
        for (size_t part = 0; part < count - 2; part++, triangle++) {
            uint32_t *out = mesh->corners + 3 * triangle;
            out[0] = corners[0];
            out[1] = corners[part + 1];
            out[2] = corners[part + 2];
            if (mesh->polygons)
                mesh->polygons[triangle] = (uint32_t)i | (count == 4 ? (uint32_t)(part + 1) << STM_POLYGON_BITS : 0);
        }
    }
    return TXM_OK;
}

/* Walks over the faces once to count their triangles. */
static txm_status count_faces(stm_scene_mesh *mesh, const uint8_t *faces, size_t left, txm_error *err)
{
    for (size_t i = 0; i < mesh->polygon_count; i++) {
        if (!left || left < 1 + 4 * (size_t)*faces)
            return fail(mesh, err, "the header promises %zu faces, but the file ends in face %zu", mesh->polygon_count,
                        i);
        if (*faces != 3 && *faces != 4)
            return fail(mesh, err, "face %zu has %u corners: only triangles and quads are read", i, *faces);
        mesh->quad_count += *faces == 4;
        left -= 1 + 4 * (size_t)*faces;
        faces += 1 + 4 * (size_t)*faces;
    }
    mesh->triangle_count = mesh->polygon_count + mesh->quad_count;
    if (mesh->triangle_count > UINT32_MAX || (mesh->quad_count && mesh->polygon_count >> STM_POLYGON_BITS))
        return fail(mesh, err, "too many faces: %zu", mesh->polygon_count);
    return TXM_OK;
}

/* The counts are compared with the size of the file before anything is allocated, so that memory is bounded by the
 * length of the file. */
static txm_status read_body(stm_scene_mesh *mesh, layout *l, const uint8_t *body, size_t left, txm_error *err)
{
    if (l->vertices > UINT32_MAX || l->faces > UINT32_MAX || l->vertices > left / l->vertex_bytes ||
        l->faces > (left - l->vertices * l->vertex_bytes) / FACE_BYTES)
        return fail(mesh, err, "the header promises %llu vertices and %llu faces, but the file ends before them",
                    (unsigned long long)l->vertices, (unsigned long long)l->faces);
    mesh->vertex_count = (size_t)l->vertices;
    mesh->polygon_count = (size_t)l->faces;
    mesh->positions = gather(body, mesh->vertex_count, l->vertex_bytes, l->position, 3);
    bool smooth = l->normal[0] != NOTHING && l->normal[1] != NOTHING && l->normal[2] != NOTHING;
    if (smooth)
        mesh->normals = gather(body, mesh->vertex_count, l->vertex_bytes, l->normal, 3);
    if (!mesh->positions || (smooth && !mesh->normals))
        return stm_no_memory(err, mesh->path);
    txm_status status = read_maps(mesh, l, body, err);
    const uint8_t *faces = body + mesh->vertex_count * l->vertex_bytes;
    if (status == TXM_OK)
        status = count_faces(mesh, faces, left - (size_t)(faces - body), err);
    return status ? status : read_faces(mesh, faces, err);
}

/* Takes bytes, for the fuzzer. What was read before a failure stays in `mesh`, and is freed with the scene. */
txm_status stm_mesh_parse(stm_scene_mesh *mesh, const uint8_t *data, size_t bytes, txm_error *err)
{
    layout l = {.position = {NOTHING, NOTHING, NOTHING}, .normal = {NOTHING, NOTHING, NOTHING}};
    const uint8_t *body = NULL;
    for (int i = 0; i < MAX_MAPS; i++)
        l.maps[i][0] = l.maps[i][1] = NOTHING;
    txm_status status = read_header(mesh, &l, data, bytes, &body, err);
    if (status == TXM_OK)
        status = read_body(mesh, &l, body, (size_t)(data + bytes - body), err);
    for (int i = 0; i < MAX_MAPS; i++)
        free(l.names[i]);
    return status;
}

/* The file is read, not mapped: a file that shrinks is then shorter, and no fault. */
static uint8_t *read_file(int fd, size_t bytes, size_t *got)
{
    uint8_t *data = malloc(bytes);
    int error = data ? 0 : ENOMEM;
    for (*got = 0; !error && *got < bytes;) {
        const ssize_t n = read(fd, data + *got, bytes - *got);
        if (n == 0)
            break;
        error = n < 0 && errno != EINTR ? errno : 0;
        *got += n > 0 ? (size_t)n : 0;
    }
    if (error) {
        free(data);
        data = NULL;
    }
    errno = error;
    return data;
}

/* The file is opened without blocking, so that a FIFO does not hang the program; only a regular file is read, since its
 * size is relied on. */
txm_status stm_mesh_read(stm_scene_mesh *mesh, txm_error *err)
{
    struct stat s;
    uint8_t *data = NULL;
    size_t got = 0;
    const int fd = open(mesh->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int error = fd < 0 ? errno : fstat(fd, &s) ? errno : 0;
    txm_status status = TXM_OK;
    if (error)
        status = stm_fail_errno(err, error, "%s", mesh->path);
    else if (!S_ISREG(s.st_mode))
        status = stm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not a file", mesh->path);
    else if (s.st_size == 0)
        status = fail(mesh, err, "the file is empty");
    else if (!(data = read_file(fd, (size_t)s.st_size, &got)))
        status = stm_fail_errno(err, errno, "%s: cannot be read", mesh->path);
    else if (got < (size_t)s.st_size)
        status = stm_fail(err, TXM_STATUS_CHANGED, "%s: cut short while it was read", mesh->path);
    if (fd >= 0)
        close(fd);
    if (status == TXM_OK)
        status = stm_mesh_parse(mesh, data, got, err);
    free(data);
    return status;
}
