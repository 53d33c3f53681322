/* SPDX-License-Identifier: Apache-2.0
 * Meshes of Ptex files: which OBJ and PLY files are read and which are refused; and the whole conversion: at the
 * texture coordinates of the new mesh, tx files of the pages give the same as lookups in the Ptex file, for all types
 * and on each level that borders allow. */
#include <dirent.h>
#include <math.h>
#include <sys/stat.h>

#include "mill/unwrap/mesh.h"
#include "mill/unwrap/page.h"
#include "txmill/unwrap.h"
#include "util_check.h"
#include "util_faults.h"
#include "util_ptex.h"
#include "util_tx.h"
#include "util_whole.h"

static const char *ptex_file(const char *name)
{
    static char path[512];
    const char *data = getenv("TXM_TESTDATA");
    snprintf(path, sizeof path, "%s/ptex/%s", data ? data : "testdata", name);
    return path;
}

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

static txm_status parse(const char *name, const void *data, size_t bytes, bool quads, txm_mesh *mesh, txm_error *err)
{
    *mesh = (txm_mesh){0};
    return txm_mesh_file_parse(name, data, bytes, quads, mesh, err);
}

/* Two quads side by side, in every format that is read. */
TEST(forms_are_the_same_mesh)
{
    static const uint32_t corners[8] = {0, 1, 4, 3, 1, 2, 5, 4};
    static const double places[6][3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0.5}};
    char text[4][2048];
    size_t bytes[4];
    bytes[0] =
        (size_t)snprintf(text[0], sizeof text[0],
                         "# made by hand\nmtllib a.mtl\r\nv 0 0 0\n v 1 0 0\nv 2 0 0 0.1 0.2 0.3\nv 0 1 0\nv 1 1 0\n"
                         "vt 0 0\nvn 0 0 1\nf 1/1/1 2/1/1 \\\n 5/1/1 4/1/1\nv 2 1 5e-1\nf -5 3 -1 5 # the second\n");
    bytes[1] = (size_t)snprintf(
        text[1], sizeof text[1],
        "ply\nformat ascii 1.0\ncomment a mesh\nelement other 1\nproperty list uchar int some\n"
        "element vertex 6\nproperty double x\nproperty float y\nproperty float z\nelement face 2\n"
        "property uchar group\nproperty list uchar int vertex_index\nend_header\n3 7 8 9\n0 0 0\n1 0 0\n"
        "2 0 0\n0 1 0\n1 1 0\n2 1 .5\n9 4 0 1 4 3\n9 4 1 2 5 4\n");
    for (int big = 0; big < 2; big++) {
        char *at = text[2 + big];
        at +=
            sprintf(at,
                    "ply\r\nformat binary_%s_endian 1.0\r\nelement vertex 6\r\nproperty float x\r\nproperty float y\r\n"
                    "property float z\r\nelement face 2\r\nproperty list ushort short vertex_indices\r\nend_header\r\n",
                    big ? "big" : "little");
        for (int i = 0; i < 18; i++) {
            const float f = (float)places[i / 3][i % 3];
            uint32_t bits;
            memcpy(&bits, &f, 4);
            bits = big ? __builtin_bswap32(bits) : bits;
            memcpy(at, &bits, 4);
            at += 4;
        }
        for (int i = 0; i < 8; i++) {
            if (i % 4 == 0) {
                *at++ = big ? 0 : 4;
                *at++ = big ? 4 : 0;
            }
            *at++ = (char)(big ? 0 : corners[i]);
            *at++ = (char)(big ? corners[i] : 0);
        }
        bytes[2 + big] = (size_t)(at - text[2 + big]);
    }
    for (int i = 0; i < 4; i++) {
        txm_mesh mesh;
        txm_error err;
        ck_assert_msg(parse(i ? "a.ply" : "a.obj", text[i], bytes[i], true, &mesh, &err) == TXM_OK, "%d: %s", i,
                      err.message);
        ck_assert_ptr_eq(mesh.format, i ? &txm_mesh_ply : &txm_mesh_obj);
        ck_assert_uint_eq(txm_mesh_polygon_count(&mesh), 2);
        ck_assert_uint_eq(txm_mesh_vertex_count(&mesh), 6);
        for (uint32_t p = 0, count; p < 2; p++) {
            ck_assert_mem_eq(txm_mesh_polygon(&mesh, p, &count), corners + (size_t)4 * p, 4 * sizeof *corners);
            ck_assert_uint_eq(count, 4);
        }
        float found[18] = {7};
        ck_assert(!txm_mesh_values(&mesh, "x y w", found) && !txm_mesh_values(&mesh, "xy", found) && found[0] == 7.0f);
        ck_assert(txm_mesh_values(&mesh, "x y z", found));
        for (int v = 0; v < 18; v++)
            ck_assert(places[v / 3][v % 3] == (double)found[v]); /* all formats hold these numbers exactly */
        ck_assert_str_eq(txm_mesh_map_name(&mesh, 0), "");
        ck_assert_str_eq(txm_mesh_map_name(&mesh, 1u << 31), "");
        txm_mesh_file_close(&mesh);
    }
}

#define PLY_HEAD "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
#define PLY_FACES "element face 1\nproperty list uchar int vertex_indices\nend_header\n"

TEST(what_is_wrong_is_said)
{
    txm_mesh *none = (txm_mesh *)1;
    ck_assert_int_eq(txm_mesh_open("no/such.ply", &none, NULL), TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_null(none);
    txm_mesh_close(&none);

    static const struct {
        const char *name, *text, *says;
    } cases[] = {
        {"a.obj", "v 0 0\nf 1 1 1\n", "a.obj:1: a vertex or normal needs three numbers"},
        {"a.obj", "v 0 0 zero\n", "a.obj:1"},
        {"a.obj", "v 0 0 0\n\nf 1 1\n", "a.obj:3: a polygon needs three corners"},
        {"a.obj", "v 0 0 0\nf 1 1 2\n", "polygon 0 has a corner at vertex 1 of 1"},
        {"a.obj", "v 0 0 0\nf 1 1 0\n", "a.obj:2: a corner of a polygon cannot be read"},
        {"a.obj", "v 0 0 0\nf 1 1 -2\n", "a.obj:2"},
        {"a.obj", "v 0 0 0\nf 1 1 99999999999999999999\n", "a.obj:2"},
        {"a.obj", "v 0 0 0\nf 1 1 1/1/x\n", "a.obj:2"},
        {"a.obj", "v 0 0 0\nf 1 1 1x\n", "a.obj:2"},
        {"a.fbx", "v 0 0 0\n", "OBJ or PLY"},
        {"a.ply", "solid\n", "does not begin with 'ply'"},
        {"a.ply", "ply\nformat ascii 1.0\n", "the header has no end"},
        {"a.ply", "ply\nend_header\n", "names no format"},
        {"a.ply", "ply\nformat ascii 2.0\n", "not a supported format"},
        {"a.ply", "ply\nproperty float x\n", "before the first element"},
        {"a.ply", "ply\nelement vertex\n", "cannot be read"},
        {"a.ply", "ply\nelement vertex 1\nproperty quad x\n", "unknown type"},
        {"a.ply", "ply\nelement vertex 1\nproperty list float\n", "cannot be read"},
        {"a.ply", PLY_HEAD PLY_FACES "0 0 0 1 0 0 0 1", "vertex 2 of 3 cannot be read"},
        {"a.ply", PLY_HEAD PLY_FACES "0 0 0 1 0 0 0 1 0 3 0 1", "corner 2 of polygon 0 cannot be read"},
        {"a.ply", PLY_HEAD PLY_FACES "0 0 0 1 0 0 0 1 0 3 0 1 3", "at vertex 3 of 3"},
        {"a.ply", PLY_HEAD PLY_FACES "0 0 0 1 0 0 0 1 0 3 0 1 -1", "cannot be read"},
        {"a.ply", PLY_HEAD PLY_FACES "0 0 0 1 0 0 0 1 0 2 0 1", "has 2 corners"},
        {"a.ply", PLY_HEAD PLY_FACES "0 0 0 1 0 0 0 1 0 2.5 0 1", "polygon 0 cannot be read"},
        {"a.ply", PLY_HEAD "element face 1\nproperty uchar x\nend_header\n0 0 0 1 0 0 0 1 0 2",
         "no list vertex_indices"},
        {"a.ply",
         "ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\n"
         "property float z\nend_header\n",
         "vertices, but the file ends before them"},
        {"a.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\n" PLY_FACES, "no x, y and z"},
        {"a.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty list uchar int x\n" PLY_FACES,
         "which is not supported"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        txm_mesh mesh;
        txm_error err = {0};
        ck_assert_msg(parse(cases[i].name, cases[i].text, strlen(cases[i].text), true, &mesh, &err) != TXM_OK, "%s",
                      cases[i].text);
        ck_assert_msg(strstr(err.message, cases[i].says) != NULL, "'%s' for '%s'", err.message, cases[i].text);
        txm_mesh_file_close(&mesh);
    }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

typedef struct world {
    char folder[64], mesh[128];
    txm_context *context;
} world;

static void setup_world(world *w)
{
    const txm_context_options options = {.struct_size = sizeof options, .threads = 2, .device = "cpu"};
    txm_error err;
    *w = (world){.folder = "/tmp/txmill-unwrap-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(w->folder));
    ck_assert_msg(txm_context_new(&options, &w->context, &err) == TXM_OK, "%s", err.message);
}

static void remove_folder(const char *folder)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static void free_world(world *w)
{
    txm_context_free(&w->context);
    remove_folder(w->folder);
}

/* Makes as many separate polygons as there are faces; only their order counts. A run of subfaces may be one polygon. */
static void write_polygons(world *w, const char *extension, const txm_ptex *ptex, bool whole_polygons)
{
    const txm_ptex_info *info = txm_ptex_info_of(ptex);
    const int n = info->mesh == TXM_PTEX_QUADS ? 4 : 3;
    uint32_t polygons = info->faces, first = 0;
    int sides = 0;
    snprintf(w->mesh, sizeof w->mesh, "%s/mesh.%s", w->folder, extension);
    FILE *f = fopen(w->mesh, "w");
    ck_assert_ptr_nonnull(f);
    if (whole_polygons) {
        while (txm_ptex_face_of(ptex, (uint32_t)sides)->flags & TXM_PTEX_SUBFACE)
            sides++;
        polygons -= (uint32_t)sides - 1;
    }
    const bool ply = strcmp(extension, "ply") == 0;
    if (ply)
        fprintf(f,
                "ply\nformat ascii 1.0\nelement vertex %u\nproperty float x\nproperty float y\nproperty float z\n"
                "property float nx\nproperty uchar red\nproperty float u\nelement face %u\nproperty list uchar int "
                "vertex_indices\nend_header\n",
                (polygons - (sides > 0)) * (unsigned)n + (unsigned)sides, polygons);
    for (int pass = 0; pass < (ply ? 2 : 1); pass++, first = 0)
        for (uint32_t i = 0; i < polygons; i++) {
            const int corners = sides && !i ? sides : n;
            for (int k = 0; k < corners && !pass; k++) {
                const double x = i + cos(6.2832 * k / corners), y = sin(6.2832 * k / corners);
                fprintf(f, ply ? "%g %g 0 1 200 7\n" : "v %g %g 0\n", x, y);
            }
            if (!ply || pass) {
                fputs(ply ? "" : "f", f);
                if (ply)
                    fprintf(f, "%d", corners);
                for (int k = 0; k < corners; k++)
                    fprintf(f, " %u", first + (unsigned)k + !ply);
                fputc('\n', f);
            }
            first += (unsigned)corners;
        }
    ck_assert_int_eq(fclose(f), 0);
}

/* Reads the texture coordinates of the new mesh, face by face and corner by corner. */
static float (*read_uvs(const char *path, uint32_t faces, int corners))[2]
{
    float(*uvs)[2] = calloc((size_t)faces * 4, sizeof *uvs);
    size_t bytes, count = 0;
    FREED uint8_t *data = load_file(path, &bytes);
    txm_mesh mesh;
    txm_error err;
    ck_assert_msg(parse(path, data, bytes, corners == 4, &mesh, &err) == TXM_OK, "%s", err.message);
    ck_assert_uint_eq(mesh.polygons, faces);
    if (mesh.values) {
        uint32_t s = 0;
        while (strcmp(mesh.properties[s].name, "s") != 0)
            s++;
        for (uint32_t i = 0; i < mesh.corner_count; i++)
            for (uint32_t k = 0; k < 2; k++)
                uvs[i][k] = (float)mesh.values[(size_t)mesh.corners[i] * mesh.property_count + s + k];
        count = mesh.corner_count;
    } else {
        /* There is one vt for each corner, in order. */
        FREED char *text = strndup((const char *)data, bytes);
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            count += sscanf(line, "vt %f %f", &uvs[count][0], &uvs[count][1]) == 2;
    }
    ck_assert_uint_eq(count, (size_t)faces * (size_t)corners);
    txm_mesh_file_close(&mesh);
    return uvs;
}

static float pixel_at(const whole_image *image, uint32_t level, int x, int y, uint32_t channel)
{
    const uint32_t width = txm_level_size(image->width, level), height = txm_level_size(image->height, level);
    float out;
    ck_assert(x >= 0 && y >= 0 && (uint32_t)x < width && (uint32_t)y < height);
    const size_t at = ((size_t)(height - 1 - (uint32_t)y) * width + (uint32_t)x) * image->channels + channel;
    txm_samples_to_float(image->type, image->pixels[level] + at * txm_type_bytes(image->type), &out, 1);
    return out;
}

/* Returns the file's channel for a channel of the page. */
static uint32_t file_channel(const txm_ptex_info *info, uint32_t channel)
{
    return info->alpha_channel < 0 || (int32_t)channel < info->alpha_channel ? channel : channel + 1;
}

/* Returns whether a corner of the face is not one where four faces meet; pages have a mean there. */
static bool near_corner(float u, float v, uint32_t u_log2, uint32_t v_log2)
{
    const float du = ldexpf(0.5f, -(int)u_log2), dv = ldexpf(0.5f, -(int)v_log2);
    return (u < du || u > 1 - du) && (v < dv || v > 1 - dv);
}

static const char *the_file; /* only this is compared */

static size_t compare_face(txm_ptex_filter *filter, const txm_ptex *ptex, uint32_t face, uint32_t level,
                           const whole_image *images, float uvs[4][2])
{
    const txm_ptex_info *info = txm_ptex_info_of(ptex);
    const txm_ptex_face *f = txm_ptex_face_of(ptex, face);
    /* Levels below 0 are rounded at each step: to the nearest value in the tx file, and down in the Ptex file. */
    const float tolerance = info->type == TXM_TYPE_U8     ? (0.6f + 1.1f * (float)level) / 255
                            : info->type == TXM_TYPE_HALF ? 2e-3f
                                                          : 1e-4f;
    size_t compared = 0;
    if (f->u_log2 < 2 || f->v_log2 < 2 || f->flags & (TXM_PTEX_CONSTANT_NEIGHBOURHOOD | TXM_PTEX_CONSTANT))
        return 0;
    const uint32_t u_log2 = f->u_log2 - level, v_log2 = f->v_log2 - level;
    for (int i = 0; i < 49; i++) {
        const float u = 0.001f + (float)(i % 7) * 0.166f, v = 0.001f + (float)(i / 7) * 0.166f;
        float wanted[4] = {0};
        txm_ptex_request r;
        txm_error err;
        if (near_corner(u, v, u_log2, v_log2))
            continue;
        txm_ptex_request_init(&r);
        r.kind = TXM_PTEX_BILINEAR;
        r.face = face;
        r.u = u;
        r.v = v;
        r.u_width1 = ldexpf(1, -(int)u_log2);
        r.v_width1 = ldexpf(1, -(int)v_log2);
        r.channels = info->channels < 4 ? info->channels : 4;
        r.result = wanted;
        ck_assert_int_eq(txm_ptex_look_up(filter, &r, &err), TXM_OK);
        double at[2]; /* a face may be turned in its page */
        for (int k = 0; k < 2; k++)
            at[k] = (double)uvs[0][k] + (double)u * (double)(uvs[1][k] - uvs[0][k]) +
                    (double)v * (double)(uvs[3][k] - uvs[0][k]);
        const double s = at[0], t = at[1];
        const uint32_t page = (uint32_t)s + 10 * (uint32_t)t;
        const whole_image *image = &images[page];
        const double x = (s - floor(s)) * txm_level_size(image->width, level) - 0.5,
                     y = (t - floor(t)) * txm_level_size(image->height, level) - 0.5;
        const int left = (int)floor(x), low = (int)floor(y);
        const float a = (float)(x - left), b = (float)(y - low);
        for (uint32_t c = 0; c < (info->channels - (info->alpha_channel >= 0) < 3 ? 1 : 3); c++) {
            const float is = (1 - b) * ((1 - a) * pixel_at(image, level, left, low, c) +
                                        a * pixel_at(image, level, left + 1, low, c)) +
                             b * ((1 - a) * pixel_at(image, level, left, low + 1, c) +
                                  a * pixel_at(image, level, left + 1, low + 1, c));
            const float want = wanted[file_channel(info, c)];
            ck_assert_msg(fabsf(is - want) <= tolerance * fmaxf(1, fabsf(want)),
                          "%s: face %u (%u x %u), level %u, at %g, %g: channel %u is %g, not %g", the_file, face,
                          1u << f->u_log2, 1u << f->v_log2, level, (double)u, (double)v, c, (double)is, (double)want);
        }
        compared++;
    }
    return compared;
}

/* Unwraps, converts and compares. */
static size_t compare_file(const char *name, const char *extension, uint32_t page_px, uint32_t padding_px,
                           bool whole_polygons)
{
    world w;
    txm_ptex *ptex;
    txm_ptex_filter *filter;
    txm_unwrapped made;
    txm_error err;
    txm_unwrap_options o;
    size_t compared = 0;
    the_file = name;
    setup_world(&w);
    ck_assert_msg(txm_ptex_open(ptex_file(name), TXM_PTEX_PREMULTIPLY, &ptex, &err) == TXM_OK, "%s", err.message);
    const txm_ptex_info *info = txm_ptex_info_of(ptex);
    write_polygons(&w, extension, ptex, whole_polygons);
    txm_unwrap_options_init(&o);
    o.folder = w.folder;
    o.page_px = page_px;
    o.padding_px = padding_px;
    o.threads = 2;
    ck_assert_msg(txm_unwrap_ptex(ptex_file(name), w.mesh, &o, &made, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_eq(made.outcome, TXM_OUTCOME_CREATED);
    ck_assert_uint_eq(made.faces, info->faces);
    FREED whole_image *images = calloc(made.pages.pages, sizeof *images);
    for (uint32_t i = 0; i < made.pages.pages; i++) {
        txm_settings settings;
        txm_result result;
        FREED char *page = txm_unwrapped_page_path(&made, i);
        txm_settings_init(&settings);
        settings.colorspace = "Non-Color";
        settings.alpha = txm_type_is_float(info->type) ? TXM_ALPHA_PREMULTIPLIED : TXM_ALPHA_STRAIGHT;
        ck_assert_msg(txm_convert(w.context, page, &settings, NULL, &result, &err) == TXM_OK, "%s", err.message);
        images[i] = whole_read(result.tx_path, TXM_EXTENSION_EXTEND);
        txm_result_clear(&result);
    }
    ck_assert_int_eq(txm_ptex_filter_new(ptex, 1 << 20, &filter, &err), TXM_OK);
    const int corners = info->mesh == TXM_PTEX_QUADS ? 4 : 3;
    float(*uvs)[2] = read_uvs(made.mesh_path, info->faces, corners);
    for (uint32_t face = 0; corners == 4 && face < info->faces; face++)
        for (uint32_t level = 0; made.pages.padding_px >> level && level < 3; level++)
            if (txm_ptex_face_of(ptex, face)->u_log2 >= level + 1 && txm_ptex_face_of(ptex, face)->v_log2 >= level + 1)
                compared += compare_face(filter, ptex, face, level, images, uvs + 4 * (size_t)face);
    for (uint32_t i = 0; i < made.pages.pages; i++)
        whole_free(&images[i]);
    free(uvs);
    txm_ptex_filter_free(&filter);
    txm_ptex_close(&ptex);
    txm_unwrapped_clear(&made);
    free_world(&w);
    return compared;
}

TEST(tx_files_at_the_coordinates_give_what_ptex_gives)
{
    static const char *const names[] = {"grid-u8.ptx",  "grid-u16.ptx",  "grid-half.ptx",  "grid-float.ptx",
                                        "sizes-u8.ptx", "sizes-u16.ptx", "sizes-half.ptx", "sizes-float.ptx",
                                        "tiled.ptx",    "star5.ptx",     "edits.ptx"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_uint_gt(compare_file(names[i], i % 2 ? "obj" : "ply", 0, 4, false), 40);
        ck_assert_uint_gt(compare_file(names[i], i % 2 ? "ply" : "obj", 64, 1, false), 20);
    }
}

/* A polygon's subfaces are packed, and found by their corners, whether it is cut here or was before. */
TEST(polygons_are_cut)
{
    for (int i = 0; i < 4; i++)
        ck_assert_uint_gt(compare_file("polygon.ptx", i % 2 ? "obj" : "ply", 0, 2, i / 2), 20);
    compare_file("triangles.ptx", "obj", 0, 0, false);
    compare_file("hexagon.ptx", "ply", 0, 0, false);
}

/* This was worked out by hand: a pentagon's quads begin at its corners and meet in its middle. */
TEST(a_cut_polygon_keeps_its_place)
{
    world w;
    txm_ptex *ptex;
    txm_unwrapped made;
    txm_error err;
    txm_unwrap_options o;
    txm_mesh before = {0}, after = {0};
    setup_world(&w);
    ck_assert_int_eq(txm_ptex_open(ptex_file("polygon.ptx"), 0, &ptex, &err), TXM_OK);
    write_polygons(&w, "obj", ptex, true);
    txm_unwrap_options_init(&o);
    o.folder = w.folder;
    ck_assert_msg(txm_unwrap_ptex(ptex_file("polygon.ptx"), w.mesh, &o, &made, &err) == TXM_OK, "%s", err.message);
    ck_assert_uint_eq(made.polygons, 6);
    ck_assert_int_eq(txm_mesh_file_open(w.mesh, true, &before, &err), TXM_OK);
    ck_assert_int_eq(txm_mesh_file_open(made.mesh_path, true, &after, &err), TXM_OK);
    ck_assert_uint_eq(after.vertices, before.vertices + 6);
    for (uint32_t k = 0; k < 5; k++)
        for (int c = 0; c < 3; c++) {
            const double *own =
                before.points.at[before.corners[k]][0] == 0 ? NULL : before.points.at[before.corners[k]];
            const double(*to)[3] = (const double(*)[3])after.points.at;
            const double *next = before.points.at[before.corners[(k + 1) % 5]];
            ck_assert_double_eq_tol(to[after.corners[4 * k]][c], before.points.at[before.corners[k]][c], 1e-6);
            ck_assert_double_eq_tol(to[after.corners[4 * k + 1]][c],
                                    (before.points.at[before.corners[k]][c] + next[c]) / 2, 1e-6);
            ck_assert_double_eq_tol(to[after.corners[4 * k + 2]][c], 0, 1e-4);
            ck_assert_uint_eq(after.corners[4 * k + 3], after.corners[4 * ((k + 4) % 5) + 1]);
            (void)own;
        }
    /* Corners of the other polygons have not moved, although their numbers have changed. */
    for (uint32_t k = 20; k < after.corner_count; k++)
        ck_assert_mem_eq(after.points.at[after.corners[k]], before.points.at[before.corners[k - 15]],
                         3 * sizeof(double));
    txm_mesh_file_close(&before);
    txm_mesh_file_close(&after);
    txm_unwrapped_clear(&made);
    txm_ptex_close(&ptex);
    free_world(&w);
}

/* PNG colours are not multiplied by alpha; the tx file has those of the Ptex file again, bit for bit. */
TEST(alpha_loses_nothing)
{
    world w;
    txm_ptex *ptex;
    txm_unwrapped made;
    txm_error err;
    txm_unwrap_options o;
    txm_settings settings;
    txm_result result;
    uint8_t texels[8][8][4];
    setup_world(&w);
    ck_assert_int_eq(txm_ptex_open(ptex_file("old.ptx"), TXM_PTEX_PREMULTIPLY, &ptex, &err), TXM_OK);
    ck_assert_int_eq(txm_ptex_info_of(ptex)->alpha_channel, 3);
    ck_assert_int_eq(txm_ptex_read(ptex, 0, 3, 3, texels, &err), TXM_OK);
    write_polygons(&w, "obj", ptex, false);
    txm_unwrap_options_init(&o);
    o.folder = w.folder;
    ck_assert_msg(txm_unwrap_ptex(ptex_file("old.ptx"), w.mesh, &o, &made, &err) == TXM_OK, "%s", err.message);
    FREED char *page = txm_unwrapped_page_path(&made, 0);
    txm_settings_init(&settings);
    ck_assert_msg(txm_convert(w.context, page, &settings, NULL, &result, &err) == TXM_OK, "%s", err.message);
    whole_image image = whole_read(result.tx_path, TXM_EXTENSION_EXTEND);
    float(*uvs)[2] = read_uvs(made.mesh_path, 1, 4);
    const uint32_t left = (uint32_t)(uvs[0][0] * (float)image.width + 0.5f),
                   low = (uint32_t)(uvs[0][1] * (float)image.height + 0.5f);
    ck_assert_uint_eq(image.channels, 4);
    for (uint32_t y = 0; y < 8; y++)
        ck_assert_mem_eq(image.pixels[0] + ((image.height - 1 - low - y) * image.width + left) * 4, texels[y], 32);
    whole_free(&image);
    free(uvs);
    txm_result_clear(&result);
    txm_unwrapped_clear(&made);
    txm_ptex_close(&ptex);
    free_world(&w);
}

TEST(a_second_run_does_nothing)
{
    world w;
    txm_ptex *ptex;
    txm_unwrapped made;
    txm_error err;
    txm_unwrap_options o;
    struct stat first, again;
    int stop = 1;
    setup_world(&w);
    ck_assert_int_eq(txm_ptex_open(ptex_file("grid-u8.ptx"), 0, &ptex, &err), TXM_OK);
    write_polygons(&w, "obj", ptex, false);
    txm_unwrap_options_init(&o);
    o.folder = w.folder;
    o.dry_run = true;
    ck_assert_int_eq(txm_unwrap_ptex(ptex_file("grid-u8.ptx"), w.mesh, &o, &made, &err), TXM_OK);
    ck_assert_int_eq(made.outcome, TXM_OUTCOME_WOULD_CREATE);
    ck_assert_int_ne(access(made.mesh_path, F_OK), 0);
    txm_unwrapped_clear(&made);
    o.dry_run = false;
    o.cancel = &stop;
    ck_assert_int_eq(txm_unwrap_ptex(ptex_file("grid-u8.ptx"), w.mesh, &o, &made, &err), TXM_STATUS_CANCELLED);
    ck_assert_ptr_null(made.mesh_path);
    o.cancel = NULL;
    ck_assert_int_eq(txm_unwrap_ptex(ptex_file("grid-u8.ptx"), w.mesh, &o, &made, &err), TXM_OK);
    FREED char *page = txm_unwrapped_page_path(&made, 0);
    ck_assert_int_eq(stat(page, &first), 0);
    txm_unwrapped_clear(&made);
    ck_assert_int_eq(txm_unwrap_ptex(ptex_file("grid-u8.ptx"), w.mesh, &o, &made, &err), TXM_OK);
    ck_assert_int_eq(made.outcome, TXM_OUTCOME_UP_TO_DATE);
    txm_unwrapped_clear(&made);
    /* Another layout replaces the page; its time is at least a second later. */
    o.padding_px = 2;
    ck_assert_int_eq(txm_unwrap_ptex(ptex_file("grid-u8.ptx"), w.mesh, &o, &made, &err), TXM_OK);
    ck_assert_int_eq(made.outcome, TXM_OUTCOME_CREATED);
    ck_assert_int_eq(stat(page, &again), 0);
    ck_assert_int_gt(again.st_mtim.tv_sec, first.st_mtim.tv_sec);
    txm_unwrapped_clear(&made);
    /* A page that is missing is made again. A file of somebody else under its name is left alone, with everything
     * else. */
    ck_assert_int_eq(unlink(page), 0);
    ck_assert_int_eq(txm_unwrap_ptex(ptex_file("grid-u8.ptx"), w.mesh, &o, &made, &err), TXM_OK);
    ck_assert_int_eq(made.outcome, TXM_OUTCOME_CREATED);
    txm_unwrapped_clear(&made);
    save_file(page, "painted by somebody", 19);
    o.force = true;
    ck_assert_int_eq(txm_unwrap_ptex(ptex_file("grid-u8.ptx"), w.mesh, &o, &made, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "txmill did not write it"));
    txm_ptex_close(&ptex);
    free_world(&w);
}

/* Every allocation fails once: there is an error, nothing leaks, and no file is left. */
TEST(memory_that_is_refused_is_an_error)
{
#if !REFUSES_MEMORY
    return;
#endif
    world w;
    txm_ptex *ptex;
    txm_error err;
    char name[512];
    setup_world(&w);
    snprintf(name, sizeof name, "%s", ptex_file("polygon.ptx"));
    ck_assert_int_eq(txm_ptex_open(name, 0, &ptex, &err), TXM_OK);
    for (int ply = 0; ply < 2; ply++) {
        bool refused = true;
        write_polygons(&w, ply ? "ply" : "obj", ptex, true);
        for (long n = 1; refused; n++) {
            txm_unwrapped made;
            txm_unwrap_options o;
            txm_unwrap_options_init(&o);
            o.folder = w.folder;
            o.threads = 1; /* faults are set for this thread only */
            o.force = true;
            refuse_memory(n);
            const txm_status status = txm_unwrap_ptex(name, w.mesh, &o, &made, &err);
            refused = memory_was_refused();
            ck_assert_msg(status == TXM_OK ||
                              (refused && (status == TXM_STATUS_NO_MEMORY || status == TXM_STATUS_INTERNAL)),
                          "allocation %ld: %d, %s", n, status, err.message);
            txm_unwrapped_clear(&made);
        }
    }
    DIR *folder = opendir(w.folder);
    for (struct dirent *e; (e = readdir(folder));)
        ck_assert_ptr_null(strstr(e->d_name, ".txm-tmp"));
    closedir(folder);
    txm_ptex_close(&ptex);
    free_world(&w);
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

/* Tests every type and number of channels in bands, as the converter reads them. */
TEST(pages_are_read_as_they_were_written)
{
    static const txm_type types[] = {TXM_TYPE_U8, TXM_TYPE_U16, TXM_TYPE_HALF, TXM_TYPE_FLOAT};
    static const uint32_t channels[] = {1, 3, 4}, heights[] = {1, 16, 33};
    world w;
    char path[128];
    setup_world(&w);
    for (int i = 0; i < 36; i++) {
        const page_format *format = i % 4 < 2 ? &txm_page_png : &txm_page_exr;
        const uint32_t width = 67, height = heights[i / 12], n = channels[i / 4 % 3], samples = width * height * n;
        page_shape shape = {path, "txmill picture", -1, width, height, n, types[i % 4]};
        const size_t bytes = txm_type_bytes(shape.type), row_bytes = width * n * bytes;
        FREED uint8_t *pixels = malloc(samples * bytes);
        FREED float *values = malloc(samples * sizeof *values);
        txm_settings settings;
        txm_result result;
        txm_error err = {0};
        void *writer = NULL;
        for (uint32_t k = 0; k < samples; k++)
            values[k] = (float)(k * 7919 % 251) / 250;
        txm_samples_from_float(shape.type, values, pixels, samples);
        snprintf(path, sizeof path, "%s/page%d.%s", w.folder, i, format->extension);
        FILE *file = fopen(path, "wb");
        shape.fd = fileno(file);
        ck_assert_msg(format->begin(&shape, &writer, &err) == TXM_OK, "%s", err.message);
        for (uint32_t y = 0; y < height; y += PAGE_BAND_ROWS)
            ck_assert_int_eq(format->rows(writer, pixels + y * row_bytes, row_bytes,
                                          height - y < PAGE_BAND_ROWS ? height - y : PAGE_BAND_ROWS, &err),
                             TXM_OK);
        ck_assert_msg(format->end(writer, &err) == TXM_OK, "%s", err.message);
        format->close(writer);
        fclose(file);
        txm_settings_init(&settings);
        settings.colorspace = "Non-Color";
        ck_assert_msg(txm_convert(w.context, path, &settings, NULL, &result, &err) == TXM_OK, "%s", err.message);
        whole_image image = whole_read(result.tx_path, TXM_EXTENSION_EXTEND);
        ck_assert_uint_eq(image.width, width);
        ck_assert_uint_eq(image.height, height);
        for (uint32_t k = 0; k < samples; k++)
            ck_assert_mem_eq(image.pixels[0] + (k / n * image.channels + k % n) * bytes, pixels + k * bytes, bytes);
        whole_free(&image);
        txm_result_clear(&result);
    }
    free_world(&w);
}

/* The disk accepts no bytes, and the writers report that. */
TEST(pages_that_cannot_be_written_are_errors)
{
    for (int i = 0; i < 2; i++) {
        const page_format *format = i ? &txm_page_png : &txm_page_exr;
        FILE *full = fopen("/dev/full", "wb");
        ck_assert_ptr_nonnull(full);
        const page_shape shape = {"page", "txmill picture", fileno(full), 64, 64, 3, i ? TXM_TYPE_U8 : TXM_TYPE_HALF};
        uint8_t *rows = calloc(64, 64 * 6);
        void *writer = NULL;
        txm_error err = {0};
        txm_status status = format->begin(&shape, &writer, &err);
        if (status == TXM_OK)
            status = format->rows(writer, rows, 64 * 3 * txm_type_bytes(shape.type), 64, &err);
        if (status == TXM_OK)
            status = format->end(writer, &err);
        format->close(writer);
        ck_assert_msg(status == TXM_STATUS_DISK_FULL, "%d: %s", status, err.message);
        free(rows);
        fclose(full);
    }
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

static txm_ptex *constant_faces(uint32_t faces, const uint8_t (*sizes)[2], uint8_t **data)
{
    txm_ptex *ptex = NULL;
    txm_error err = {0};
    size_t bytes;
    *data = made_ptex(faces, sizes, true, &bytes);
    ck_assert_ptr_nonnull(*data);
    ck_assert_msg(txm_ptex_open_memory(*data, bytes, "made", 0, &ptex, &err) == TXM_OK, "%s", err.message);
    return ptex;
}

/* Sizes of quads are random: measures how much of pages is neither faces nor borders. */
TEST(packing_wastes_little)
{
    double worst = 0;
    uint32_t seed = 1;
    for (int i = 0; i < 60; i++) {
        const uint32_t faces = (uint32_t)(40 << (i % 9)), least = (uint32_t)(1 + i % 5),
                       range = (uint32_t)(1 + i / 5 % 5);
        uint8_t(*sizes)[2] = calloc(faces, sizeof *sizes), *data;
        for (uint32_t f = 0; f < faces; f++)
            for (int k = 0; k < 2; k++) {
                seed = seed * 1664525 + 1013904223;
                sizes[f][k] = (uint8_t)(least + (seed >> 16) % range);
            }
        SCOPED(txm_ptex_close) txm_ptex *ptex = constant_faces(faces, (const uint8_t(*)[2])sizes, &data);
        SCOPED(txm_ptex_pages_free) txm_ptex_pages *pages = NULL;
        txm_error err;
        ck_assert_int_eq(txm_ptex_pages_new(ptex, NULL, &pages, &err), TXM_OK);
        const txm_ptex_pages_info *info = txm_ptex_pages_info_of(pages);
        const double waste = 1 - (double)info->block_pixels / (double)info->page_pixels;
        worst = waste > worst ? waste : worst;
        ck_assert_msg(waste <= 0.08, "%u faces of 2^%u to 2^%u texels a side: %.1f %% free", faces, least,
                      least + range - 1, 100 * waste);
        const double share = (double)info->page_pixels / (double)info->face_pixels;
        ck_assert_msg(share <= 1.15 || info->padding_px == 1, "%u faces of 2^%u to 2^%u: %.2f times their texels",
                      faces, least, least + range - 1, share);
        ck_assert_msg(share <= 1.15 || least < 5, "%u faces of 2^%u to 2^%u: %.2f times their texels", faces, least,
                      least + range - 1, share);
        free(sizes);
        free(data);
    }
    printf("packing: at most %.1f %% free\n", 100 * worst);
}
