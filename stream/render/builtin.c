/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in scenes. Each stresses one property of texture caches: the plane, all levels at once and strong
 * anisotropy; the room, bounces that widen rays; the grid, many textures of which little is used; udim, one surface
 * with many files; the sphere, a lat-long image seen by scattered rays; fly, a working set that moves. Units are
 * metres, z is up. They need no files except images, so that measurements and tests can render them anywhere.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "render/random.h"
#include "render/scene.h"

enum { ROOM_SPHERES = 24, GRID = 16, UDIM_COLUMNS = 10 };

/* A scene that is being built. */
typedef struct builder {
    stm_render_scene *scene;
    const char *const *paths;
    size_t path_count;
    float frame;
    bool failed; /* memory is exhausted */
} builder;

#define NEW_ITEM(b, plural)                                                                                            \
    ((b)->failed || !STM_GROW((b)->scene->plural##s, (b)->scene->plural##_capacity, (b)->scene->plural##_count)        \
         ? ((b)->failed = true, NULL)                                                                                  \
         : memset(&(b)->scene->plural##s[(b)->scene->plural##_count++], 0, sizeof *(b)->scene->plural##s))

/* Pixels are square whatever the picture's size is, so the height follows from the half width. */
static void look_at(builder *b, txm_vec3 from, txm_vec3 to, float half_width)
{
    stm_scene_camera *c = &b->scene->camera;
    txm_vec3 back = txm_vec_add(from, -1.0f, to);
    back = txm_vec_scale(back, 1.0f / txm_vec_length(back));
    txm_vec3 right = txm_vec_cross(txm_vec_make(0.0f, 0.0f, 1.0f), back);
    right = txm_vec_scale(right, 1.0f / txm_vec_length(right));
    txm_vec3 up = txm_vec_cross(back, right);
    *c = (stm_scene_camera){
        .kind = STM_CAMERA_PERSPECTIVE,
        .half = {half_width, half_width * (float)b->scene->height / (float)b->scene->width},
        .clip = {0.01f, 1e6f},
        .to_world = {
            {{right.x, up.x, back.x, from.x}, {right.y, up.y, back.y, from.y}, {right.z, up.z, back.z, from.z}}}};
    b->scene->has_camera = true;
}

/* A material with one of the images, which are taken in turn; `which` selects it. Without images it has no texture. */
static uint32_t material(builder *b, stm_surface_kind kind, float grey, float roughness, size_t which)
{
    stm_scene_material *m = NEW_ITEM(b, material);
    if (!m)
        return 0;
    *m = (stm_scene_material){.kind = kind, .color = {grey, grey, grey}, .roughness = roughness, .ior = 1.45f};
    if (b->scene->image_count) {
        if (!STM_GROW(m->textures, m->texture_capacity, m->texture_count)) {
            b->failed = true;
            return 0;
        }
        m->textures[m->texture_count++] = (stm_scene_texture){.image = (uint32_t)(which % b->scene->image_count),
                                                              .is_color = true,
                                                              .uv = stm_strdup(""),
                                                              .transform = {1, 0, 0, 0, 1, 0}};
        b->failed |= !m->textures[m->texture_count - 1].uv;
    }
    return (uint32_t)b->scene->material_count - 1;
}

/* Sets how often a material's texture is repeated along u and v. Materials without images are not changed. */
static void repeat(builder *b, uint32_t of, float times_u, float times_v)
{
    if (b->failed || !b->scene->materials[of].texture_count)
        return;
    b->scene->materials[of].textures[0].transform[0] = times_u;
    b->scene->materials[of].textures[0].transform[4] = times_v;
}

/* Adds nothing if memory is exhausted: `failed` is checked once, at the end, so that scenes read as descriptions. */
static void quad(builder *b, uint32_t of, txm_vec3 corner, txm_vec3 u, txm_vec3 v)
{
    stm_scene_object *o = NEW_ITEM(b, object);
    if (o)
        *o = (stm_scene_object){.kind = STM_OBJECT_QUAD, .material = of, .corner = corner, .u = u, .v = v};
}

static void sphere(builder *b, uint32_t of, txm_vec3 center, float radius)
{
    stm_scene_object *o = NEW_ITEM(b, object);
    if (o)
        *o = (stm_scene_object){.kind = STM_OBJECT_SPHERE, .material = of, .center = center, .radius = radius};
}

/* The light of all outdoor scenes: from the upper left, hardly wider than the real sun. */
static void sun(builder *b)
{
    stm_scene_light *l = NEW_ITEM(b, light);
    if (l)
        *l = (stm_scene_light){.kind = STM_LIGHT_SUN,
                               .power = {2, 2, 2},
                               .direction = {0.4242641f, 0.5656854f, -0.7071068f},
                               .angle = 0.01f};
}

/* ---- the scenes ---- */

/* The sky is dim and blue, so that shadows are not black and paths that leave them still look up textures. */
static void floor_of(builder *b, float size)
{
    uint32_t m = material(b, STM_SURFACE_DIFFUSE, 0.5f, 1.0f, 0);
    repeat(b, m, size, size);
    quad(b, m, txm_vec_make(-0.5f * size, -0.5f * size, 0.0f), txm_vec_make(size, 0.0f, 0.0f),
         txm_vec_make(0.0f, size, 0.0f));
    sun(b);
    b->scene->world = (stm_scene_world){.image = STM_SCENE_NONE, .color = {0.4f, 0.5f, 0.7f}};
}

/* A low camera over a floor up to the horizon: from level 0 in front of it to 1 x 1 px far away in one picture. */
static void build_plane(builder *b)
{
    look_at(b, txm_vec_make(0.0f, -3.0f, 0.6f), txm_vec_make(0.0f, 3.0f, 0.35f), 0.7f);
    floor_of(b, 400.0f);
}

/* Six walls with an image each, and spheres at places drawn with a fixed seed, so that every render shows the same
 * room. */
static void build_room(builder *b)
{
    const float w = 4.0f, h = 2.8f;
    const txm_vec3 x = txm_vec_make(w, 0, 0), y = txm_vec_make(0, w, 0), z = txm_vec_make(0, 0, h),
                   o = txm_vec_make(0, 0, 0);
    look_at(b, txm_vec_make(0.4f, 0.3f, 1.5f), txm_vec_make(2.4f, 3.0f, 0.9f), 0.8f);
    const struct {
        txm_vec3 corner, u, v;
    } walls[] = {{o, x, y}, {z, x, y}, {o, x, z}, {y, x, z}, {o, y, z}, {x, y, z}};
    for (size_t i = 0; i < sizeof walls / sizeof *walls; i++)
        quad(b, material(b, STM_SURFACE_DIFFUSE, 0.6f, 1.0f, i), walls[i].corner, walls[i].u, walls[i].v);
    for (uint32_t i = 0; i < ROOM_SPHERES; i++) {
        float r[4];
        stm_random_four(7, i, 0, 0, r);
        /* Every fourth sphere is a mirror, every fourth glossy. */
        stm_surface_kind kind = i % 4 == 1 ? STM_SURFACE_MIRROR : i % 4 == 3 ? STM_SURFACE_GLOSSY : STM_SURFACE_DIFFUSE;
        uint32_t m = material(b, kind, 0.6f, 0.2f, 6 + i);
        if (kind == STM_SURFACE_MIRROR && !b->failed) {
            stm_scene_material *mirror = &b->scene->materials[m];
            for (size_t t = 0; t < mirror->texture_count; t++)
                free(mirror->textures[t].uv);
            mirror->texture_count = 0;
            mirror->color[0] = mirror->color[1] = mirror->color[2] = 0.9f;
        }
        float radius = 0.12f + 0.18f * r[2];
        sphere(b, m, txm_vec_make(1.0f + 2.6f * r[0], 1.5f + 2.1f * r[1], radius + (i % 3 == 0 ? 0.9f * r[3] : 0.0f)),
               radius);
    }
    stm_scene_light *l = NEW_ITEM(b, light);
    if (l) /* a square below the ceiling that faces down, of 400 W */
        *l = (stm_scene_light){.kind = STM_LIGHT_AREA,
                               .power = {400.0f, 400.0f, 400.0f},
                               .to_world = {{{1, 0, 0, 2.0f}, {0, 1, 0, 2.0f}, {0, 0, 1, h - 0.01f}}},
                               .size = {1.2f, 1.2f}};
}

/* 256 materials with the given images: many textures are seen at a small size, so that coarse levels and the number of
 * open files matter. */
static void build_grid(builder *b)
{
    look_at(b, txm_vec_make(0.0f, -11.0f, 5.0f), txm_vec_make(0.0f, 0.0f, 0.0f), 0.75f);
    for (int y = 0; y < GRID; y++)
        for (int x = 0; x < GRID; x++)
            quad(b, material(b, STM_SURFACE_DIFFUSE, 0.5f, 1.0f, (size_t)(y * GRID + x)),
                 txm_vec_make((float)(x - GRID / 2), (float)(y - GRID / 2), 0.0f), txm_vec_make(0.95f, 0.0f, 0.0f),
                 txm_vec_make(0.0f, 0.95f, 0.0f));
    sun(b);
}

/* The number of the last tile decides how many rows the wall has; missing tiles of the set are holes in the wall. */
static void build_udim(builder *b)
{
    stm_scene_image *image = b->scene->image_count ? &b->scene->images[0] : NULL;
    size_t rows = image && image->udim_count ? (image->udims[image->udim_count - 1] - 1001) / UDIM_COLUMNS + 1 : 1;
    float w = UDIM_COLUMNS, h = (float)rows;
    uint32_t m = material(b, STM_SURFACE_DIFFUSE, 0.5f, 1.0f, 0);
    look_at(b, txm_vec_make(0.2f * w, -0.55f * w, 0.8f * h), txm_vec_make(0.45f * w, 0.0f, 0.5f * h), 0.6f);
    repeat(b, m, w, h);
    quad(b, m, txm_vec_make(0.0f, 0.0f, 0.0f), txm_vec_make(w, 0.0f, 0.0f), txm_vec_make(0.0f, 0.0f, h));
    sun(b);
}

/* Only the world emits light: every path ends in a lookup of the same image, with directions from sharp to completely
 * scattered. */
static void build_sphere(builder *b)
{
    look_at(b, txm_vec_make(0.0f, -4.0f, 1.0f), txm_vec_make(0.0f, 0.0f, 0.6f), 0.7f);
    b->scene->world = b->scene->image_count ? (stm_scene_world){.image = 0, .color = {1.0f, 1.0f, 1.0f}}
                                            : (stm_scene_world){.image = STM_SCENE_NONE, .color = {0.5f, 0.5f, 0.5f}};
    for (int i = 0; i < 3; i++) {
        static const stm_surface_kind kinds[] = {STM_SURFACE_MIRROR, STM_SURFACE_GLASS, STM_SURFACE_DIFFUSE};
        stm_scene_material *m = NEW_ITEM(b, material);
        if (m)
            *m = (stm_scene_material){.kind = kinds[i], .color = {0.8f, 0.8f, 0.8f}, .ior = 1.45f};
        sphere(b, (uint32_t)b->scene->material_count - 1, txm_vec_make(1.5f * (float)(i - 1), 0.0f, 0.6f), 0.6f);
    }
}

static void key(builder *b, uint32_t frame)
{
    stm_scene_key *k = NEW_ITEM(b, key);
    if (k)
        *k = (stm_scene_key){.frame = frame, .to_world = b->scene->camera.to_world};
}

static void look_along_street(builder *b, float place)
{
    look_at(b, txm_vec_make(0.0f, -40.0f + 60.0f * place, 0.8f), txm_vec_make(0.0f, -30.0f + 60.0f * place, 0.5f),
            0.7f);
}

/* The camera moves along a street of signs: from frame to frame, some leave the picture for good and others appear,
 * which tests eviction. */
static void build_fly(builder *b)
{
    floor_of(b, 200.0f);
    look_along_street(b, 0.0f);
    key(b, 0);
    look_along_street(b, 1.0f);
    key(b, 240);
    look_along_street(b, b->frame);
    for (int i = 0; i < 40; i++) {
        float y = -35.0f + 2.0f * (float)i, side = i % 2 ? 1.2f : -2.2f;
        quad(b, material(b, STM_SURFACE_DIFFUSE, 0.5f, 1.0f, (size_t)i + 1), txm_vec_make(side, y, 0.0f),
             txm_vec_make(1.0f, 0.3f, 0.0f), txm_vec_make(0.0f, 0.0f, 1.0f));
    }
}

static const struct {
    const char *name;
    void (*build)(builder *b);
} scenes[] = {
    {"plane", build_plane}, {"room", build_room},     {"grid", build_grid},
    {"udim", build_udim},   {"sphere", build_sphere}, {"fly", build_fly},
};

/* NULL ends the list. */
const char *stm_render_builtin_name(size_t index)
{
    return index < sizeof scenes / sizeof *scenes ? scenes[index].name : NULL;
}

/* ---- images ---- */

/* The settings of a new image node in Blender: sRGB, straight alpha, repeat, linear. */
static txm_status add_image(builder *b, const char *path, txm_error *err)
{
    stm_scene_image *image = NEW_ITEM(b, image);
    if (!image)
        return stm_no_memory(err, path);
    *image = (stm_scene_image){.name = stm_asprintf("image%zu", b->scene->image_count - 1),
                               .path = stm_strdup(path),
                               .colorspace = stm_strdup("sRGB"),
                               .alpha = TXM_ALPHA_STRAIGHT,
                               .extension = TXM_EXTENSION_REPEAT,
                               .filter = TXM_FILTER_LINEAR};
    if (!image->name || !image->path || !image->colorspace)
        return stm_no_memory(err, path);
    /* UDIM sets are recognised by their path, in both of Blender's spellings. */
    return strcasestr(path, "<UDIM>") || strcasestr(path, "<UVTILE>") ? stm_scene_find_udims(image, err) : TXM_OK;
}

/* Images are added before the scene is built, since the builders take the next one for each material. */
txm_status stm_render_scene_builtin(const char *name, const char *const *images, size_t count, float frame,
                                    stm_render_scene **out, txm_error *err)
{
    size_t which = 0;
    txm_error_clear(err);
    *out = NULL;
    while (which < sizeof scenes / sizeof *scenes && strcmp(scenes[which].name, name) != 0)
        which++;
    if (which == sizeof scenes / sizeof *scenes)
        return stm_fail(err, TXM_STATUS_USAGE,
                        "there is no built-in scene '%s'; choose plane, room, grid, udim, sphere or fly", name);
    builder b = {stm_scene_new(), images, count, frame, false};
    txm_status status = b.scene ? TXM_OK : stm_no_memory(err, NULL);
    for (size_t i = 0; status == TXM_OK && i < count; i++)
        status = add_image(&b, images[i], err);
    if (status == TXM_OK) {
        scenes[which].build(&b);
        if (b.failed)
            status = stm_no_memory(err, NULL);
    }
    if (status)
        stm_render_scene_free(&b.scene);
    *out = b.scene;
    return status;
}
