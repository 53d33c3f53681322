/* SPDX-License-Identifier: Apache-2.0
 *
 * Scenes from text and meshes from bytes, with the errors in them; surfaces, scattering and ray differentials against
 * independent calculations.
 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <time.h>

#include "base/base.h"
#include "render/bsdf.h"
#include "render/geometry.h"
#include "render/path.h"
#include "render/random.h"
#include "render/render.h"
#include "util_check.h"

static const char camera[] =
    "camera perspective half 0.5 0.5 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 1 0 0 0 0 1 5\n";
static txm_error err;

/* ---- text ------------------------------------------------------------------------------------------------------ */

static txm_status parse(const char *text, stm_render_scene **out)
{
    *out = stm_scene_new();
    ck_assert_ptr_nonnull(*out);
    return stm_scene_parse(*out, "scene.txt", ".", text, strlen(text), &err);
}

TEST(whole_scene)
{
    char text[4096];
    stm_render_scene *s;
    snprintf(
        text, sizeof text,
        "txmill-scene 1\n# a comment\n\ntitle \"a \\\"floor\\\"\" frame 7\nsize 1920 1080\n%slens 0.01 4.5\n"
        "image wood \"textures/wood.png\" colorspace \"sRGB\" alpha straight extension mirror interpolation smart\n"
        "image many \"/t/x.<UDIM>.png\" colorspace \"Non-Color\" alpha none extension clip interpolation closest udim "
        "1001 1012\n"
        "material floor diffuse 0.8 0.7 0.6 title \"Floor\"\nmaterial ball glossy 1 1 1 roughness 0.25\n"
        "material lens glass 1 1 1 ior 1.5\nmaterial lamp emission 4 4 4\nmaterial chrome mirror 0.9 0.9 0.9\n"
        "texture floor wood input \"Base Color\" uv \"\" transform 2 0 0.5 0 3 0.25\n"
        "texture floor many input \"Roughness\" uv \"second\" transform 1 0 0 0 1 0 warp -0.5\n"
        "quad floor -1 -1 0 2 0 0 0 2 0\nsphere ball 0 0 1 0.5\n"
        "light sun power 3 3 3 direction 0 0 -2 angle 0.01\nlight point power 1 2 3 at 0 0 4 radius 0.1\n"
        "light spot power 1 1 1 at 0 0 4 direction 0 0 -1 radius 0 angle 1.2 blend 0.3\n"
        "light area power 9 9 9 to-world 1 0 0 0 0 1 0 0 0 0 1 3 size 1 2\n"
        "material leaf mix floor lens share 0.25\nmaterial pane mix leaf chrome share 1\n"
        "world wood projection latlong strength 2.5 mapping 0 1 0 0 -1 0 0 0 0 0 1 0.5 sampling manual 512\n",
        camera);
    ck_assert_msg(parse(text, &s) == TXM_OK, "%s", err.message);
    ck_assert_str_eq(s->title, "a \"floor\"");
    ck_assert_uint_eq(s->width, 1920);
    ck_assert(s->camera.lens_radius == 0.01f && s->camera.focus == 4.5f && s->camera.to_world.m[2][3] == 5.0f);
    ck_assert_uint_eq(s->image_count, 2);
    ck_assert_int_eq(s->images[0].extension, TXM_EXTENSION_MIRROR);
    ck_assert_int_eq(s->images[0].filter, TXM_FILTER_SMART);
    ck_assert_uint_eq(s->images[1].udim_count, 2);
    ck_assert_uint_eq(s->images[1].udims[1], 1012);
    ck_assert_str_eq(s->images[1].path, "/t/x.<UDIM>.png");
    ck_assert_uint_eq(s->material_count, 7);
    ck_assert_uint_eq(s->materials[0].texture_count, 2);
    ck_assert(s->materials[0].textures[0].is_color && !s->materials[0].textures[1].is_color);
    ck_assert(s->materials[0].textures[0].warp == 0.0f && s->materials[0].textures[1].warp == -0.5f);
    ck_assert_uint_eq(stm_scene_depth(s), 1);
    ck_assert(s->materials[0].textures[0].transform[4] == 3.0f && s->materials[1].roughness == 0.25f);
    ck_assert_int_eq(s->materials[2].kind, STM_SURFACE_GLASS);
    const stm_scene_material *leaf = &s->materials[5], *pane = &s->materials[6];
    ck_assert(leaf->kind == STM_SURFACE_MIX && leaf->first == 0 && leaf->second == 2 && leaf->share == 0.25f);
    ck_assert(pane->first == 5 && pane->second == 4 && pane->parts == 3);
    ck_assert_uint_eq(s->object_count, 2);
    ck_assert_uint_eq(s->light_count, 4);
    ck_assert(s->lights[0].direction.z == -1.0f);
    ck_assert_uint_eq(s->world.image, 0);
    ck_assert(s->world.color[0] == 2.5f && s->world.color[2] == 2.5f);
    ck_assert(s->world.map_columns == 512 && !s->world.unsampled);
    ck_assert(s->world.mapped && s->world.mapping.m[1][0] == -1.0f && s->world.mapping.m[2][3] == 0.5f);
    stm_render_scene_free(&s);
    ck_assert_ptr_null(s);
}

/* Each case has the line, and a part of the message. */
static const struct {
    const char *text, *says;
    txm_status status;
} wrong[] = {
    {"", "scene.txt:1: not a scene: the first line must be 'txmill-scene 1'", TXM_STATUS_CORRUPT},
    {"hello\n", "scene.txt:1: not a scene", TXM_STATUS_CORRUPT},
    {"# no first line\n\nsize 5 5\n", "scene.txt:3: not a scene", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\n", "scene.txt:1: the scene has no camera", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\ncamera perspective half 1 1 shift 0 0 clip 1 9 to-world 1 0 0 0 0 1 0 0 0 0 1 5\n",
     "scene.txt:2: the scene has no geometry", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\n# a comment\ntextur m wall\n", "scene.txt:3: unknown word 'textur'", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nsize 5 5 5\n", "scene.txt:2: unexpected '5' after the end of 'size'", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nlight point power 1 1 1 at 0 0 0 radius -1\n", "scene.txt:2: the radius must be 0 or more",
     TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nlight spot power 1 1 1 at 0 0 0 direction 0 0 1 radius 0 angle 1 blend 2\n",
     "scene.txt:2: the blend must be at most 1", TXM_STATUS_CORRUPT},
    {"txmill-scene 2\n", "scene.txt:1: scenes of version 2 need a newer txmill", TXM_STATUS_NEWER},
    {"txmill-scene x\n", "the version must be a number, not 'x'", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nsize 0 5\n", "scene.txt:2: the width must be a whole number from 1 to 65536", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nsize 5\n", "the height is missing", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nsize 5 1e99\n", "the height must be a number", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\ncamera fisheye\n", "'fisheye' is not a valid kind of camera", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\ncamera perspective half 0 1\n", "half the width must be above 0", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\ntitle wood\n", "the title must be in double quotes", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\ntitle \"wood\n", "the title must be in double quotes", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\ntitle \"\\q\"\n", "the title is not a JSON string", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nquad floor 0 0 0 1 0 0 0 1 0\n", "there is no material 'floor' above", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nmaterial a diffuse 1 1 1\nmaterial a diffuse 1 1 1\n", "scene.txt:3: 'a' is defined twice",
     TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nmaterial a diffuse 1 1 1\nquad a 0 0 0 1 0 0 2 0 0\n", "the edges span no area",
     TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nmaterial a diffuse 1 1 1\nsphere a 0 0 0 -1\n", "the radius must be above 0", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nmaterial a diffuse nan 1 1\n", "the colour must be a number", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nimage a \"x\" colorspace \"s\" alpha straight extension repeat interpolation linear\n"
     "world a projection latlong strength dim\n",
     "scene.txt:3: the strength must be a number, not 'dim'", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nimage a \"x\" colorspace \"s\" alpha straight extension repeat interpolation linear\n"
     "world a projection latlong mapping 1 0 0\n",
     "scene.txt:3: the matrix is missing", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nimage a \"x\" colorspace \"s\" alpha straight extension repeat interpolation linear\n"
     "world a projection latlong sampling often\n",
     "scene.txt:3: 'often' is not a valid kind of sampling", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nimage a \"x\" colorspace \"s\" alpha straight extension repeat interpolation linear\n"
     "world a projection latlong sampling manual 3\n",
     "scene.txt:3: the width of the map must be a whole number from 4 to 65536", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nimage a \"x\" colorspace \"s\" alpha straight extension repeat interpolation linear\n"
     "material m diffuse 1 1 1\ntexture m a input \"\" uv \"\" transform 1 0 0 0 1 0 warp 1\n",
     "scene.txt:4: material 'm' has no texture above to warp this one", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nmaterial a diffuse 1 1 1\nmaterial b mix a c share 0\n", "there is no material 'c' above",
     TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nmaterial a diffuse 1 1 1\nmaterial b mix a b share 0\n",
     "scene.txt:3: a mix cannot be a part of itself", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nmaterial a diffuse 1 1 1\nmaterial b mix a a share 1.5\n",
     "the share of the second material must be from 0 to 1", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nmaterial a mirror 1 1 1\nmaterial b mix a a share 0\nmaterial c mix b b share 0\n"
     "material d mix c c share 0\nmaterial e mix d d share 0\nmaterial f mix e e share 0\n"
     "material g mix f f share 0\nmaterial h mix g a share 0\n",
     "scene.txt:9: a mix of more than 64 materials", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nmaterial a glossy 1 1 1\n", "expected the word 'roughness'", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nlight sun power 1 1 1 direction 0 0 0 angle 1\n", "the light has no direction",
     TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nmesh a \"no.ply\"\n", "no.ply: ", TXM_STATUS_NOT_FOUND},
    {"txmill-scene 1\nimage a \"x\" colorspace \"s\" alpha straight extension wrap interpolation linear\n",
     "'wrap' is not a valid extension", TXM_STATUS_CORRUPT},
    {"txmill-scene 1\nimage a \"x\" colorspace \"s\" alpha straight extension repeat interpolation linear udim 1000\n",
     "the UDIM tile must be a whole number from 1001 to 9999", TXM_STATUS_CORRUPT},
};

TESTS(wrong_text, sizeof wrong / sizeof *wrong)
{
    SCOPED(stm_render_scene_free) stm_render_scene *s = NULL;
    ck_assert_int_eq(parse(wrong[_i].text, &s), wrong[_i].status);
    ck_assert_msg(strstr(err.message, wrong[_i].says), "%s", err.message);
}

TEST(no_text)
{
    stm_render_scene *s = stm_scene_new();
    ck_assert_int_eq(stm_scene_parse(s, "scene.txt", ".", "txmill\0-scene 1\n", 16, &err), TXM_STATUS_CORRUPT);
    stm_render_scene_free(&s);
    ck_assert_int_eq(stm_render_scene_open("/nowhere", NULL, 0, &s, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_null(s);
}

/* ---- meshes ----------------------------------------------------------------------------------------------------- */

#define HEADER "ply\nformat binary_little_endian 1.0\n"
#define XYZ "property float x\nproperty float y\nproperty float z\n"
#define FACES "property list uchar int vertex_indices\nend_header\n"

static txm_status read_ply(const char *header, const float *vertices, size_t floats, const uint8_t *faces,
                           size_t face_bytes, stm_scene_mesh *mesh)
{
    char path[] = "/tmp/txm-mesh-XXXXXX.ply";
    const int fd = mkstemps(path, 4);
    FILE *f = fdopen(fd, "wb");
    ck_assert_ptr_nonnull(f);
    fwrite(header, 1, strlen(header), f);
    fwrite(vertices, 4, floats, f);
    fwrite(faces, 1, face_bytes, f);
    ck_assert_int_eq(fclose(f), 0);
    memset(mesh, 0, sizeof *mesh);
    mesh->path = strdup(path);
    const txm_status status = stm_mesh_read(mesh, false, &err);
    unlink(path);
    return status;
}

/* Results are zero after a failure, so that they may be freed. */
TEST(failures_leave_nothing)
{
    const stm_render_options unset = {0};
    const char *image = "no/such/x.tx";
    SCOPED(stm_render_scene_free) stm_render_scene *scene = (void *)1;
    stm_render_picture picture, no_picture = {0};
    stm_render_budget budget, no_budget = {0};
    ck_assert_int_eq(stm_render_scene_open("no/such", NULL, 0, &scene, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_null(scene);
    ck_assert_int_eq(stm_render_scene_builtin("none", NULL, 0, 0, &scene, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(stm_render_scene_builtin("plane", &image, 1, 0, &scene, NULL), TXM_OK);
    memset(&picture, 0xAA, sizeof picture);
    memset(&budget, 0xAA, sizeof budget);
    ck_assert_int_eq(stm_render(scene, &unset, &picture, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(stm_render_budget_of(scene, &unset, &budget, NULL), TXM_STATUS_USAGE);
    ck_assert_mem_eq(&picture, &no_picture, sizeof picture);
    ck_assert_mem_eq(&budget, &no_budget, sizeof budget);
}

static void clear(stm_scene_mesh *mesh)
{
    SCOPED(stm_render_scene_free) stm_render_scene *s = stm_scene_new();
    s->meshes = stm_calloc(1, sizeof *mesh);
    s->meshes[s->mesh_count++] = *mesh;
}

static const uint8_t face[13] = {3, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0};

TEST(ply)
{
    const float v[] = {0, 0, 0, 0.25f, 0.5f, 9, 1, 0, 0, 1, 0.5f, 9, 0, 1, 0, 0.25f, 1, NAN};
    stm_scene_mesh m;
    ck_assert_msg(read_ply(HEADER "comment uv 0 \"UVMap\"\nelement vertex 3\n" XYZ
                                  "property float u\nproperty float v\nproperty float w\nelement face 1\n" FACES,
                           v, 18, face, 13, &m) == TXM_OK,
                  "%s", err.message);
    ck_assert_uint_eq(m.vertex_count, 3);
    ck_assert_uint_eq(m.triangle_count, 1);
    ck_assert_uint_eq(m.corners[2], 2);
    ck_assert_uint_eq(m.map_count, 1);
    ck_assert_str_eq(m.maps[0].name, "UVMap");
    ck_assert(m.maps[0].uv[0] == 0.25f && m.maps[0].uv[5] == 1.0f && !m.normals);
    ck_assert_ptr_eq(stm_mesh_map(&m, "other"), m.maps[0].uv);
    clear(&m);
    /* As text, with another type, a map of its own number, one that is incomplete, and a quad. */
    static const char text[] = "ply\nformat ascii 1.0\ncomment uv 3 \"a \\\"b\"\nelement vertex 4\nproperty double x\n"
                               "property float y\nproperty float z\nproperty float u3\nproperty float v3\n"
                               "property float u2\nelement face 1\n" FACES
                               "0 0 0 1 2 3\n1 0 0 4 5 6\n1 1 0 7 8 9\n0 1 0 10 11 12\n4 0 1 2 3\n";
    ck_assert_msg(read_ply(text, v, 0, face, 0, &m) == TXM_OK, "%s", err.message);
    ck_assert_uint_eq(m.triangle_count, 2);
    ck_assert_uint_eq(m.quad_count, 1);
    ck_assert_uint_eq(m.corners[5], 3);
    ck_assert_uint_eq(m.map_count, 1);
    ck_assert_str_eq(m.maps[0].name, "a \"b");
    ck_assert(m.maps[0].uv[7] == 11.0f && m.positions[6] == 1.0f);
    clear(&m);
}

static const struct {
    const char *header, *says;
    size_t face_bytes;
    uint8_t corner; /* 3: the index of a corner; above: the number of corners */
} wrong_ply[] = {
    {"plx\n", "not a PLY file", 0, 0},
    {HEADER "element vertex 3\n" XYZ, "the header has no end", 0, 0},
    {HEADER "element vertex 3\nproperty float x\nend_header\n", "vertices have no x, y and z", 0, 0},
    {HEADER "end_header\n", "the mesh has no vertices", 0, 0},
    {HEADER "element vertex 3\n" XYZ "element face 2\n" FACES, "polygon 1 cannot be read", 13, 0},
    {HEADER "element vertex 99999999999\n" XYZ "element face 1\n" FACES, "the file ends before them", 13, 0},
    {HEADER "element vertex 3\n" XYZ "element face 1\n" FACES, "a corner at vertex 3 of 3", 13, 3},
    {HEADER "element vertex 3\n" XYZ "element face 1\n" FACES, "corner 3 of polygon 0 cannot be read", 13, 4},
};

TESTS(wrong_meshes, sizeof wrong_ply / sizeof *wrong_ply)
{
    const float v[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    uint8_t f[21] = {0};
    stm_scene_mesh m;
    memcpy(f, face, sizeof face);
    if (wrong_ply[_i].corner > 3)
        f[0] = wrong_ply[_i].corner;
    else if (wrong_ply[_i].corner)
        f[5] = wrong_ply[_i].corner;
    ck_assert_int_eq(read_ply(wrong_ply[_i].header, v, 9, f, wrong_ply[_i].face_bytes, &m), TXM_STATUS_CORRUPT);
    ck_assert_msg(strstr(err.message, wrong_ply[_i].says), "%s", err.message);
    clear(&m);
}

/* ---- scattering -------------------------------------------------------------------------------------------------- */

/* Drawing and evaluating agree: both give the same share of light that leaves. */
TESTS(glossy_is_drawn_as_it_is, 4)
{
    const stm_scene_material m = {.kind = STM_SURFACE_GLOSSY, .roughness = 0.1f + 0.2f * (float)_i};
    const txm_vec3 n = txm_vec_make(0, 0, 1);
    txm_vec3 out = txm_vec_make(0.6f, 0.0f, 0.8f);
    double drawn = 0, evaluated = 0;
    enum { DRAWS = 200000 };
    for (uint32_t i = 0; i < DRAWS; i++) {
        float r[4];
        stm_scatter s;
        stm_random_four(1, i, 0, 0, r);
        drawn += stm_bsdf_sample(&m, n, out, false, r, &s) ? (double)s.weight : 0.0;
        /* Directions are all over the hemisphere, with density 1 / 2 pi. */
        float z = r[2], across = sqrtf(1.0f - z * z), phi = 6.2831853f * r[3];
        evaluated +=
            (double)stm_bsdf_eval(&m, n, out, txm_vec_make(across * cosf(phi), across * sinf(phi), z)) * 6.2831853;
    }
    ck_assert_msg(fabs(drawn - evaluated) / DRAWS < 0.02, "%g and %g", drawn / DRAWS, evaluated / DRAWS);
    ck_assert(drawn / DRAWS > 0.5 && drawn / DRAWS <= 1.0);
}

TEST(mirror_and_glass)
{
    const txm_vec3 n = txm_vec_make(0, 0, 1), out = txm_vec_make(0.6f, 0.0f, 0.8f);
    /* A mirror reflects sharply even if it was given a roughness, as in the built-in room. */
    const stm_scene_material mirror = {.kind = STM_SURFACE_MIRROR, .roughness = 0.2f},
                             glass = {.kind = STM_SURFACE_GLASS, .ior = 1.5f};
    const float last[4] = {0, 0, 0.999f, 0}, first[4] = {0};
    stm_scatter s;
    ck_assert(stm_bsdf_sample(&mirror, n, out, false, first, &s));
    ck_assert(fabsf(s.direction.x + 0.6f) < 1e-6f && fabsf(s.direction.z - 0.8f) < 1e-6f && s.roughness2 == 0.0f);
    ck_assert(stm_bsdf_sample(&glass, n, out, false, last, &s) && s.transmitted);
    ck_assert(fabsf(s.direction.x + 0.4f) < 1e-6f && s.direction.z < 0.0f); /* Snell: 0.6 / 1.5 */
    /* From inside, all light beyond the critical angle is reflected. */
    ck_assert(stm_bsdf_sample(&glass, n, txm_vec_make(0.8f, 0.0f, 0.6f), true, last, &s) && !s.transmitted);
}

/* ---- rays ------------------------------------------------------------------------------------------------------- */

static stm_render_scene *floor_scene(void)
{
    char text[1024];
    stm_render_scene *s;
    /* The camera looks down at an angle at a floor and a ball. */
    snprintf(
        text, sizeof text,
        "txmill-scene 1\nsize 64 48\n"
        "camera perspective half 0.4 0.3 shift 0.1 0 clip 0.1 100 to-world 1 0 0 0 0 0.6 0.8 -4 0 -0.8 0.6 3\n"
        "material floor diffuse 0.5 0.5 0.5\nquad floor -50 -50 0 100 0 0 0 100 0\nsphere floor 0.4 0.2 0.5 0.5\n");
    ck_assert_msg(parse(text, &s) == TXM_OK, "%s", err.message);
    return s;
}

/* Full differentials predict where the ray of the neighbouring pixel hits. */
TEST(camera_differentials)
{
    SCOPED(stm_render_scene_free) stm_render_scene *s = floor_scene();
    SCOPED(stm_scene_geometry_free) stm_scene_geometry g = {0};
    float centre[STM_FILTER_TABLE] = {0};
    ck_assert_msg(stm_scene_geometry_new(s, 1, NULL, &g, &err) == TXM_OK, "%s", err.message);
    /* Pixels are small, because a derivative is compared. */
    stm_path_world w = {.scene = s, .geometry = &g, .filter = centre, .differentials = STM_RENDER_DIFFERENTIALS_FULL};
    stm_path_aim(&w, &s->camera, 6400, 4800);
    unsigned compared = 0;
    for (uint32_t i = 0; i < 60; i++) {
        uint32_t pixel = 1200 * 6400 + i * 401 * 6400 % (6400 * 2400) + 3100 + i * 7;
        stm_path a, b;
        stm_surface sa, sb;
        stm_path_start(&w, pixel, 0, &a);
        stm_path_start(&w, pixel + 1, 0, &b);
        stm_path_intersect(&w, &a);
        stm_path_intersect(&w, &b);
        if (a.hit.object == UINT32_MAX || a.hit.object != b.hit.object)
            continue;
        stm_surface_of(s, &a.ray, &a.hit, &sa);
        stm_surface_of(s, &b.ray, &b.hit, &sb);
        const txm_vec3 d = txm_vec_make(a.ray.direction[0], a.ray.direction[1], a.ray.direction[2]);
        txm_full f = txm_full_transfer(a.differential.full, d, a.hit.t, sa.normal);
        txm_vec3 real = txm_vec_add(sb.at, -1.0f, sa.at), off = txm_vec_add(real, -1.0f, f.dPdx);
        ck_assert_msg(txm_vec_length(off) < 0.05f * txm_vec_length(real), "%u: %g of %g", i,
                      (double)txm_vec_length(off), (double)txm_vec_length(real));
        compared++;
    }
    ck_assert_uint_gt(compared, 30);
}

TEST(surfaces)
{
    SCOPED(stm_render_scene_free) stm_render_scene *s = floor_scene();
    SCOPED(stm_scene_geometry_free) stm_scene_geometry g = {0};
    ck_assert_msg(stm_scene_geometry_new(s, 1, NULL, &g, &err) == TXM_OK, "%s", err.message);
    const stm_ray down = {{10, 20, 5}, {0, 0, -1}, 0, INFINITY}, ball = {{0.4f, -5, 0.5f}, {0, 1, 0}, 0, INFINITY},
                  inside = {{0.4f, 0.2f, 0.5f}, {0, 0, 1}, 0, INFINITY}, away = {{0, 0, 5}, {0, 0, 1}, 0, INFINITY};
    stm_ray_hit hit;
    stm_surface at;
    stm_rays_intersect(g.rays, &down, &hit);
    stm_surface_of(s, &down, &hit, &at);
    const stm_scene_texture texture = {.transform = {2, 0, 0, 0, 1, 0.5f}};
    stm_surface_uv uv = stm_surface_uv_of(&at, &texture);
    ck_assert(hit.t == 5.0f && fabsf(uv.u - 1.2f) < 1e-6f && fabsf(uv.v - 1.2f) < 1e-6f && uv.duds == 2.0f);
    ck_assert(at.normal.z == 1.0f && !at.inside && at.curvature == 0.0f);
    stm_rays_intersect(g.rays, &ball, &hit);
    stm_surface_of(s, &ball, &hit, &at);
    ck_assert(fabsf(at.normal.y + 1.0f) < 1e-6f && fabsf(at.curvature - 2.0f) < 1e-5f);
    ck_assert(fabsf(hit.u - 0.25f) < 1e-5f && fabsf(hit.v - 0.5f) < 1e-5f); /* south, on the equator */
    ck_assert(fabsf(txm_vec_length(at.dPds) - 3.14159265f) < 1e-4f);        /* once around */
    stm_rays_intersect(g.rays, &inside, &hit);
    stm_surface_of(s, &inside, &hit, &at);
    ck_assert(at.inside && at.normal.z == -1.0f && at.curvature < 0.0f);
    stm_rays_intersect(g.rays, &away, &hit);
    ck_assert_uint_eq(hit.object, UINT32_MAX);
    ck_assert(stm_rays_occluded(g.rays, &down) && !stm_rays_occluded(g.rays, &away));
    const stm_ray bad[] = {{{NAN, 0, 5}, {0, 0, -1}, 0, INFINITY},
                           {{0, 0, 5}, {0, NAN, -1}, 0, INFINITY},
                           {{0, 0, 1e30f}, {0, 0, -1}, 0, INFINITY},
                           {{0, 0, 5}, {0, 0, -INFINITY}, 0, INFINITY}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        stm_rays_intersect(g.rays, &bad[i], &hit);
        ck_assert_uint_eq(hit.object, UINT32_MAX);
        ck_assert(stm_rays_occluded(g.rays, &bad[i]));
    }
}

/* Each quad is there twice: of two hits at one distance that of the lower number counts. */
TEST(the_first_of_two_is_hit)
{
    SCOPED(stm_render_scene_free) stm_render_scene *s = NULL;
    SCOPED(stm_scene_geometry_free) stm_scene_geometry g = {0};
    size_t hit_by[STM_OBJECT_SPHERE + 1] = {0};
    ck_assert(stm_render_scene_builtin("room", NULL, 0, 0.0f, &s, &err) == TXM_OK);
    const size_t objects = s->object_count;
    for (size_t i = objects; i-- > 0;)
        if (s->objects[i].kind == STM_OBJECT_QUAD) {
            ck_assert(STM_GROW(s->objects, s->object_capacity, s->object_count));
            s->objects[s->object_count++] = s->objects[i];
        }
    ck_assert_msg(stm_scene_geometry_new(s, 1, NULL, &g, &err) == TXM_OK, "%s", err.message);
    for (uint32_t i = 0; i < 4096; i++) {
        float a[4], b[4];
        stm_random_four(3, i, 0, 0, a);
        stm_random_four(3, i, 1, 0, b);
        const stm_ray ray = {{4.0f * a[0], 4.0f * a[1], 2.8f * a[2]},
                             {b[0] - 0.5f, b[1] - 0.5f, i % 97 ? b[2] - 0.5f : NAN},
                             0.0f,
                             i % 5 ? INFINITY : 1.0f};
        stm_ray_hit hit;
        stm_rays_intersect(g.rays, &ray, &hit);
        if (hit.object == UINT32_MAX)
            continue;
        ck_assert_uint_lt(hit.object, objects);
        hit_by[s->objects[hit.object].kind]++;
    }
    ck_assert(hit_by[STM_OBJECT_QUAD] > 1000 && hit_by[STM_OBJECT_SPHERE] > 300);
}

/* A surface of `edge` x `edge` vertices around the origin, closed but for its poles: bumps, slivers and triangles
 * without area. */
static void bumpy(uint32_t edge, float *positions, uint32_t *corners)
{
    for (uint32_t i = 0; i < edge * edge; i++) {
        const float a = 6.28318531f * (float)(i % edge % (edge - 1)) / (float)(edge - 1),
                    b = 3.14159265f * (float)(i / edge) / (float)(edge - 1),
                    r = 1.0f + 0.2f * sinf(9.0f * a) * sinf(7.0f * b);
        const float at[3] = {r * cosf(a) * sinf(b), r * sinf(a) * sinf(b), r * cosf(b)};
        memcpy(positions + 3 * (size_t)i, at, sizeof at);
    }
    for (uint32_t y = 0; y < edge - 1; y++)
        for (uint32_t x = 0; x < edge - 1; x++) {
            const uint32_t i = y * edge + x, two[6] = {i, i + 1, i + edge + 1, i, i + edge + 1, i + edge};
            memcpy(corners + 6 * ((size_t)y * (edge - 1) + x), two, sizeof two);
        }
}

/* The nearest triangle that a ray meets, by a search through all in double. */
static double searched(const float *positions, const uint32_t *corners, size_t count, const stm_ray *ray)
{
    double nearest = INFINITY;
    for (size_t i = 0; i < count; i++) {
        double e[2][3], to[3], p[3], q[3], det = 0.0, u = 0.0, v = 0.0, t = 0.0;
        const float *a = positions + 3 * (size_t)corners[3 * i];
        for (int k = 0; k < 3; k++) {
            e[0][k] = (double)positions[3 * (size_t)corners[3 * i + 1] + (size_t)k] - (double)a[k];
            e[1][k] = (double)positions[3 * (size_t)corners[3 * i + 2] + (size_t)k] - (double)a[k];
            to[k] = (double)ray->origin[k] - (double)a[k];
        }
        for (int k = 0; k < 3; k++) {
            const int m = (k + 1) % 3, n = (k + 2) % 3;
            p[k] = (double)ray->direction[m] * e[1][n] - (double)ray->direction[n] * e[1][m];
            q[k] = to[m] * e[0][n] - to[n] * e[0][m];
        }
        for (int k = 0; k < 3; k++) {
            det += e[0][k] * p[k];
            u += to[k] * p[k];
            v += (double)ray->direction[k] * q[k];
            t += e[1][k] * q[k];
        }
        if (det != 0.0 && u / det >= 0.0 && v / det >= 0.0 && (u + v) / det <= 1.0 && t / det > 0.0)
            nearest = fmin(nearest, t / det);
    }
    return nearest;
}

/* Rays find what a search through all triangles finds, whichever threads build the tree, and none slips through: from
 * inside of a closed surface every ray hits it, those through vertices and along edges too. */
TEST(rays_find_what_a_search_finds)
{
    enum { EDGE = 48, TRIANGLES = 2 * (EDGE - 1) * (EDGE - 1), RAYS = 3000 };
    static float positions[3 * EDGE * EDGE];
    static uint32_t corners[3 * TRIANGLES];
    static stm_ray_hit first[RAYS];
    static const float turned[12] = {0, -3, 0, 10, 3, 0, 0, -20, 0, 0, 3, 5};
    bumpy(EDGE, positions, corners);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        stm_rays *r = stm_rays_new(threads, NULL);
        const int mesh = stm_rays_add_mesh(r, positions, corners, TRIANGLES),
                  none = stm_rays_add_mesh(r, NULL, NULL, 0);
        static const float here[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        ck_assert(mesh == 0 && none == 1 && stm_rays_add_instance(r, none, here) &&
                  stm_rays_add_instance(r, mesh, here) && stm_rays_add_instance(r, mesh, turned) && stm_rays_commit(r));
        for (uint32_t i = 0; i < RAYS; i++) {
            float a[4];
            stm_random_four(5, i, 0, 0, a);
            stm_ray ray = {{0.3f * a[0], 0.3f * a[1], 0.3f * a[2]}, {0}, 0, INFINITY};
            const float *to = positions + 3 * (size_t)(i % (EDGE * EDGE)),
                        *next = i % 3 ? to : to + 3 * ((i + 1) % EDGE != 0);
            for (int k = 0; k < 3; k++)
                ray.direction[k] = 0.5f * (to[k] + next[k]) - ray.origin[k];
            stm_ray_hit hit;
            stm_rays_intersect(r, &ray, &hit);
            ck_assert_msg(hit.object == 1 && hit.t > 0.5f && hit.t < 1.5f, "ray %u slips through: %u, %g", i,
                          hit.object, (double)hit.t);
            ck_assert(stm_rays_occluded(r, &ray));
            ray.origin[0] = 8.0f;
            ray.origin[1] = 3.0f * a[3];
            for (int k = 0; k < 3; k++)
                ray.direction[k] = (k ? 1.5f : 0.6f) * (a[k] - 0.5f) - ray.origin[k];
            stm_rays_intersect(r, &ray, &hit);
            if (threads == 1) {
                first[i] = hit;
                const double expected = i % 7 ? (double)hit.t : searched(positions, corners, TRIANGLES, &ray);
                ck_assert_msg((double)hit.t == expected || fabs((double)hit.t - expected) < 1e-5 * expected,
                              "ray %u: %g, not %g", i, (double)hit.t, expected);
            }
            ck_assert_msg(memcmp(&hit, &first[i], sizeof hit) == 0, "ray %u with %u threads", i, threads);
            ck_assert(stm_rays_occluded(r, &ray) == (hit.object != UINT32_MAX));
            /* A ray that ends before the hit finds nothing, and the turned instance is where its matrix says. */
            ray.far_t = hit.t * 0.999f;
            stm_rays_intersect(r, &ray, &hit);
            ck_assert(isinf(ray.far_t) || hit.object == UINT32_MAX);
            const stm_ray far = {{10, -20, 50}, {0.05f * a[0], 0.05f * a[1], -1}, 0, INFINITY};
            stm_rays_intersect(r, &far, &hit);
            ck_assert(hit.object == 2 && hit.t > 40.0f && hit.t < 46.0f);
        }
        stm_rays_free(r);
    }
}

/* Coordinates that are not numbers, triangles in one place, and sizes from the smallest to the largest: everything
 * ends, and what can be hit is. */
TEST(trees_of_anything)
{
    enum { TRIANGLES = 3000 };
    static float positions[9 * TRIANGLES];
    static uint32_t corners[3 * TRIANGLES];
    for (int kind = 0; kind < 5; kind++) {
        for (uint32_t i = 0; i < 9 * TRIANGLES; i++) {
            const float size = kind == 1 ? ldexpf(1.0f, (int)(i / 9 % 250) - 125) : 1.0f;
            positions[i] =
                kind == 0 ? (float)(i % 9 == 3 || i % 9 == 7) : size * (float)(i % 9 == 0 || i % 9 == 4 || i % 9 == 8);
            if (kind > 1 && i / 9 % 3 == 0)
                positions[i] = kind == 2 ? NAN : kind == 3 ? INFINITY : i % 2 ? -3e38f : 3e38f;
            if (i < 3 * TRIANGLES)
                corners[i] = i;
        }
        stm_rays *r = stm_rays_new(2, NULL);
        static const float here[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        ck_assert(stm_rays_add_mesh(r, positions, corners, TRIANGLES) == 0 && stm_rays_add_instance(r, 0, here) &&
                  stm_rays_commit(r));
        const stm_ray ray = {{0.2f, 0.25f, kind ? 0.2f : 5}, {0, 0, kind ? 1 : -1}, 0, INFINITY};
        stm_ray_hit hit;
        stm_rays_intersect(r, &ray, &hit);
        /* Of triangles in one place the first one counts. */
        ck_assert_msg(hit.object == 0 && (kind == 1 || kind == 4 || hit.primitive == (kind > 1)), "%d: %u", kind,
                      hit.primitive);
        stm_rays_free(r);
        const volatile int now = 1;
        r = stm_rays_new(2, &now);
        ck_assert_int_eq(stm_rays_add_mesh(r, positions, corners, TRIANGLES), -1);
        stm_rays_free(r);
    }
}

/* A scene with one mesh of many triangles in a wavy sheet. */
static stm_render_scene *wavy_scene(uint32_t edge)
{
    stm_render_scene *s = floor_scene();
    s->meshes = stm_calloc(1, sizeof *s->meshes);
    s->mesh_count = s->mesh_capacity = 1;
    stm_scene_mesh *m = s->meshes;
    m->vertex_count = (size_t)edge * edge;
    m->triangle_count = 2 * (size_t)(edge - 1) * (edge - 1);
    m->positions = stm_calloc(m->vertex_count, 3 * sizeof *m->positions);
    m->corners = stm_calloc(m->triangle_count, 3 * sizeof *m->corners);
    for (uint32_t i = 0; i < m->vertex_count; i++) {
        const float x = (float)(i % edge), y = (float)(i / edge),
                    at[3] = {x, y, 10.0f * sinf(x * 0.1f) * cosf(y * 0.1f)};
        memcpy(m->positions + 3 * (size_t)i, at, sizeof at);
    }
    uint32_t *c = m->corners;
    for (uint32_t i = 0; i < edge - 1; i++)
        for (uint32_t k = 0; k < edge - 1; k++, c += 6) {
            const uint32_t a = i * edge + k, six[6] = {a, a + 1, a + edge, a + 1, a + edge + 1, a + edge};
            memcpy(c, six, sizeof six);
        }
    return s;
}

/* Seconds. */
static double clock_of_test(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static volatile int cancel;
static double cancel_after;

static void *cancel_soon(void *unused)
{
    usleep((useconds_t)(1e6 * cancel_after));
    __atomic_store_n(&cancel, 1, __ATOMIC_RELEASE);
    return unused;
}

/* Whoever closes a window does not wait for the tree of millions of triangles. */
TEST(building_is_given_up)
{
    SCOPED(stm_render_scene_free) stm_render_scene *s = wavy_scene(1200);
    stm_scene_geometry g = {0};
    pthread_t thread;
    const double begin = clock_of_test();
    ck_assert_msg(stm_scene_geometry_new(s, 2, &cancel, &g, &err) == TXM_OK, "%s", err.message);
    cancel_after = 0.3 * (clock_of_test() - begin);
    stm_scene_geometry_free(&g);
    ck_assert_int_eq(pthread_create(&thread, NULL, cancel_soon, NULL), 0);
    ck_assert_int_eq(stm_scene_geometry_new(s, 2, &cancel, &g, &err), TXM_STATUS_CANCELLED);
    pthread_join(thread, NULL);
    ck_assert_ptr_null(g.rays);
}
