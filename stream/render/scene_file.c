/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the text of a scene, txmill-scene(5): one statement per line, with names defined before they are used. The
 * input is not trusted; indices, sizes and numbers of the result need no further checks. scene_words.c parses the
 * values of statements and stops at the first mistake. Limits are defined at the top: a scene that exceeds them is
 * refused before memory is allocated.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "render/scene_words.h"
#include "txtile/reader.h"

enum {
    FORMAT_VERSION = 1,
    MAX_TEXT_BYTES = 256 << 20,
    MAX_PICTURE_PX = 65536,
    MAX_UDIMS = 8999,
    MAX_PARTS = 64,
    MAX_SAMPLES = 1 << 24,
    MAX_BOUNCES = 1024,
    MAX_MAP_COLUMNS = 65536,
    MAX_FRAME = 1 << 24
};

typedef struct parser {
    stm_render_scene *scene;
    const char *folder;
    stm_words words;
} parser;

/* Adds an item, cleared and counted, so that stm_render_scene_free finds what it owns. NULL after a failure. */
#define NEW_ITEM(parser_, kind)                                                                                        \
    ((parser_)->words.failed || (parser_)->scene->kind##_count >= UINT32_MAX - 1 ||                                    \
             !STM_GROW((parser_)->scene->kind##s, (parser_)->scene->kind##_capacity, (parser_)->scene->kind##_count)   \
         ? (stm_words_no_memory(&(parser_)->words), NULL)                                                              \
         : memset(&(parser_)->scene->kind##s[(parser_)->scene->kind##_count++], 0, sizeof *(parser_)->scene->kind##s))

/* ---- statements ---- */

static float take_within(parser *p, const char *what, float least, float most)
{
    const float value = stm_take_number(&p->words, what);
    if (!p->words.failed && !(value >= least))
        stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "%s must be %g or more", what, (double)least);
    else if (!p->words.failed && value > most)
        stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "%s must be at most %g", what, (double)most);
    return value;
}

/* If a statement is repeated, the last one counts. */
static void read_title(parser *p)
{
    free(p->scene->title);
    p->scene->title = stm_take_text(&p->words, "the title");
}

/* The size is in pixels. Options may set another one. */
static void read_size(parser *p)
{
    p->scene->width = stm_take_count(&p->words, "the width", 1, MAX_PICTURE_PX);
    p->scene->height = stm_take_count(&p->words, "the height", 1, MAX_PICTURE_PX);
}

/* The number for the final render, which limits a budget. */
static void read_samples(parser *p)
{
    p->scene->samples = stm_take_count(&p->words, "the samples", 1, MAX_SAMPLES);
}

/* The total, then those of each kind, in any order. */
static void read_bounces(parser *p)
{
    static const char *const kinds[] = {"diffuse", "glossy", "transmission", "transparent", NULL};
    p->scene->bounces = stm_take_count(&p->words, "the bounces", 0, MAX_BOUNCES);
    while (stm_words_more(&p->words)) {
        const int kind = stm_take_choice(&p->words, "kind of bounce", kinds);
        p->scene->bounces_of[kind] = stm_take_count(&p->words, "the bounces", 0, MAX_BOUNCES);
    }
}

static void read_filter_glossy(parser *p)
{
    p->scene->filter_glossy = stm_take_number(&p->words, "Filter Glossy");
    if (!p->words.failed && p->scene->filter_glossy < 0.0f)
        stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "Filter Glossy must not be negative");
}

/* `half` is half the width and height at distance 1 (perspective) or in metres (orthographic): the exporter, which has
 * Blender's rules, computes it from sensor and focal length. */
static void read_camera(parser *p)
{
    static const char *const kinds[] = {"perspective", "orthographic", NULL};
    stm_scene_camera *c = &p->scene->camera;
    c->kind = (stm_camera_kind)stm_take_choice(&p->words, "kind of camera", kinds);
    stm_take_keyword(&p->words, "half");
    c->half[0] = stm_take_positive(&p->words, "half the width");
    c->half[1] = stm_take_positive(&p->words, "half the height");
    stm_take_keyword(&p->words, "shift");
    stm_take_numbers(&p->words, "the shift", c->shift, 2);
    stm_take_keyword(&p->words, "clip");
    stm_take_numbers(&p->words, "the clip distance", c->clip, 2);
    if (!p->words.failed && !(c->clip[0] >= 0.0f && c->clip[1] > c->clip[0]))
        stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "the far clip distance must be beyond the near one");
    stm_take_keyword(&p->words, "to-world");
    c->to_world = stm_take_matrix(&p->words);
    p->scene->has_camera = true;
}

/* Frames must be in rising order, so that no sorting is needed. */
static void read_keyframe(parser *p)
{
    const uint32_t frame = stm_take_count(&p->words, "the frame", 0, MAX_FRAME);
    const size_t before = p->scene->key_count;
    if (!p->words.failed && before && p->scene->keys[before - 1].frame >= frame)
        stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "keyframes must come in the order of their frames");
    stm_scene_key *key = NEW_ITEM(p, key);
    stm_scene_key read = {.frame = frame};
    stm_take_keyword(&p->words, "to-world");
    read.to_world = stm_take_matrix(&p->words);
    read.is_cut = stm_take_if(&p->words, "cut");
    if (key)
        *key = read;
}

/* Lengths in metres: the radius of the lens, and the distance in focus along the axis. */
static void read_lens(parser *p)
{
    p->scene->camera.lens_radius = stm_take_number(&p->words, "the lens radius");
    p->scene->camera.focus = stm_take_positive(&p->words, "the distance in focus");
    if (!p->words.failed && p->scene->camera.lens_radius < 0.0f)
        stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "the lens radius must not be negative");
}

/* Reads numbers up to the end of the line. textures.c checks whether the tiles exist. */
static void read_udims(parser *p, stm_scene_image *image)
{
    size_t capacity = 0;
    while (stm_words_more(&p->words)) {
        uint32_t number = stm_take_count(&p->words, "the UDIM tile", 1001, 9999);
        if (image->udim_count >= MAX_UDIMS)
            stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "more than %d UDIM tiles", MAX_UDIMS);
        if (!p->words.failed && !STM_GROW(image->udims, capacity, image->udim_count))
            stm_words_no_memory(&p->words);
        if (!p->words.failed)
            image->udims[image->udim_count++] = number;
    }
    if (!image->udim_count)
        stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "the UDIM tiles are missing");
}

/* A path that is relative to the scene's folder, so that the folder can be moved as a whole, or one of the machine that
 * wrote the scene. NULL after a failure. */
static char *take_path(parser *p)
{
    char *stored = stm_take_text(&p->words, "the path"), *path = NULL;
    if (stored && !txm_path_map_apply(p->scene->maps, p->scene->map_count, stored, &path))
        path = stm_path_join(p->folder, stored);
    if (stored && !path)
        stm_words_no_memory(&p->words);
    free(stored);
    return path;
}

/* Name, path and colour space of an image of either kind. NULL after a failure. */
static stm_scene_image *read_image_file(parser *p)
{
    stm_scene_image *image = NEW_ITEM(p, image);
    if (!image)
        return NULL;
    image->name = stm_define_name(&p->words, 'i', (uint32_t)p->scene->image_count - 1);
    image->path = take_path(p);
    stm_take_keyword(&p->words, "colorspace");
    image->colorspace = stm_take_text(&p->words, "the colour space");
    return image;
}

static void read_image(parser *p)
{
    static const char *const alphas[] = {"straight", "premultiplied", "channel_packed", "none", NULL};
    static const txm_alpha alpha_of[] = {TXM_ALPHA_STRAIGHT, TXM_ALPHA_PREMULTIPLIED, TXM_ALPHA_CHANNEL_PACKED,
                                         TXM_ALPHA_NONE};
    const char *extensions[8] = {NULL};
    static const char *const filters[] = {"closest", "linear", "cubic", "smart", NULL};
    stm_scene_image *image = read_image_file(p);
    for (int i = 0; i <= TXM_EXTENSION_MIRROR; i++)
        extensions[i] = txm_extension_name((txm_extension)i);
    if (!image)
        return;
    stm_take_keyword(&p->words, "alpha");
    image->alpha = alpha_of[stm_take_choice(&p->words, "alpha type", alphas)];
    stm_take_keyword(&p->words, "extension");
    image->extension = (txm_extension)stm_take_choice(&p->words, "extension", extensions);
    stm_take_keyword(&p->words, "interpolation");
    image->filter = (txm_filter)stm_take_choice(&p->words, "interpolation", filters);
    if (stm_words_more(&p->words) && stm_take_if(&p->words, "udim"))
        read_udims(p, image);
}

/* The Ptex file is opened at once, since its faces must match those of the meshes that use it. Several pages are UDIM
 * tiles. */
static void read_ptex(parser *p)
{
    stm_scene_image *image = read_image_file(p);
    txm_error own = {0};
    if (!image)
        return;
    image->alpha = TXM_ALPHA_PREMULTIPLIED;
    image->extension = TXM_EXTENSION_EXTEND;
    image->filter = TXM_FILTER_LINEAR;
    if (!p->words.failed && strcmp(image->colorspace, "sRGB") != 0 && strcmp(image->colorspace, "Non-Color") != 0 &&
        strcmp(image->colorspace, "Linear Rec.709") != 0)
        stm_words_fail(&p->words, TXM_STATUS_UNSUPPORTED,
                       "'%s' is not a colour space for Ptex files: use sRGB, Non-Color or Linear Rec.709",
                       image->colorspace);
    if (p->words.failed)
        return;
    /* Frames may be wide: pages are read in parts, and wide frames keep faces apart on more levels. */
    const txm_ptex_pages_options options = {.struct_size = sizeof options, .most_percent = 400};
    if (txm_ptex_open(image->path, TXM_PTEX_PREMULTIPLY, &image->ptex, &own) != TXM_OK ||
        txm_ptex_pages_new(image->ptex, &options, &image->pages, &own) != TXM_OK) {
        stm_words_fail_as(&p->words, &own);
        return;
    }
    const uint32_t pages = txm_ptex_pages_info_of(image->pages)->pages;
    if (pages == 1) /* a texture of its own, which takes less to look up than a set */
        return;
    image->udims = stm_calloc(pages, sizeof *image->udims);
    if (!image->udims) {
        stm_words_no_memory(&p->words);
        return;
    }
    for (image->udim_count = 0; image->udim_count < pages; image->udim_count++)
        image->udims[image->udim_count] = 1001 + (uint32_t)image->udim_count;
}

/* Parts must be defined before, so that mixes of mixes end. They are counted, since each is looked up at every hit. */
static void read_mix(parser *p, stm_scene_material *m)
{
    m->first = stm_refer_to_name(&p->words, 'm', "material");
    m->second = stm_refer_to_name(&p->words, 'm', "material");
    stm_take_keyword(&p->words, "share");
    m->share = stm_take_number(&p->words, "the share");
    if (p->words.failed)
        return;
    if (m->first + 1 == p->scene->material_count || m->second + 1 == p->scene->material_count) {
        stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "a mix cannot be a part of itself");
        return;
    }
    m->parts = p->scene->materials[m->first].parts + p->scene->materials[m->second].parts;
    if (m->share < 0.0f || m->share > 1.0f)
        stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "the share of the second material must be from 0 to 1");
    else if (m->parts > MAX_PARTS)
        stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "a mix of more than %d materials", MAX_PARTS);
}

/* A roughness above 1 counts as 1. 0 is refused, since mirrors have a word of their own. */
static void read_material(parser *p)
{
    static const char *const kinds[] = {"diffuse", "glossy", "mirror", "glass", "emission", "mix", NULL};
    stm_scene_material *m = NEW_ITEM(p, material);
    if (!m)
        return;
    m->name = stm_define_name(&p->words, 'm', (uint32_t)p->scene->material_count - 1);
    m->kind = (stm_surface_kind)stm_take_choice(&p->words, "kind of surface", kinds);
    m->parts = 1;
    m->ior = 1.0f;
    if (m->kind == STM_SURFACE_MIX) {
        read_mix(p, m);
        return;
    }
    stm_take_numbers(&p->words, "the colour", m->color, 3);
    if (m->kind == STM_SURFACE_GLOSSY) {
        stm_take_keyword(&p->words, "roughness");
        m->roughness = stm_take_positive(&p->words, "the roughness");
    }
    if (m->kind == STM_SURFACE_GLASS) {
        stm_take_keyword(&p->words, "ior");
        m->ior = stm_take_positive(&p->words, "the index of refraction");
        if (stm_words_more(&p->words) && stm_take_if(&p->words, "roughness"))
            m->roughness = stm_take_positive(&p->words, "the roughness");
    }
    m->roughness = m->roughness < 1.0f ? m->roughness : 1.0f;
}

/* Only textures for "Base Color" colour the picture. Other inputs are looked up and discarded, unless they warp the
 * next texture: a shader would evaluate them, and they need memory. */
static void read_texture(parser *p)
{
    stm_scene_material *m = NULL;
    uint32_t material = stm_refer_to_name(&p->words, 'm', "material"),
             image = stm_refer_to_name(&p->words, 'i', "image");
    if (p->words.failed)
        return;
    m = &p->scene->materials[material];
    if (!STM_GROW(m->textures, m->texture_capacity, m->texture_count)) {
        stm_words_no_memory(&p->words);
        return;
    }
    stm_scene_texture *t = &m->textures[m->texture_count++];
    *t = (stm_scene_texture){.image = image};
    stm_take_keyword(&p->words, "input");
    char *input = stm_take_text(&p->words, "the input");
    t->is_color = input && strcmp(input, "Base Color") == 0;
    free(input);
    t->pages = p->scene->images[image].pages;
    if (t->pages) {
        t->transform[0] = t->transform[4] = 1.0f;
    } else {
        stm_take_keyword(&p->words, "uv");
        t->uv = stm_take_text(&p->words, "the UV map");
        stm_take_keyword(&p->words, "transform");
        stm_take_numbers(&p->words, "the transform", t->transform, 6);
    }
    if (!stm_words_more(&p->words))
        return;
    if (stm_take_if(&p->words, "normal")) {
        t->normal = stm_take_positive(&p->words, "the strength of the normal map");
        return;
    }
    if (t->pages || !stm_take_if(&p->words, "warp"))
        return;
    t->warp = stm_take_number(&p->words, "the warp");
    if (t->warp != 0.0f && m->texture_count == 1)
        stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "material '%s' has no texture above to warp this one", m->name);
}

/* The mesh is read at once, so that a missing one is reported with its line. */
static void read_mesh(parser *p)
{
    stm_render_scene *scene = p->scene;
    if (p->words.failed || !STM_GROW(scene->meshes, scene->mesh_capacity, scene->mesh_count)) {
        stm_words_no_memory(&p->words);
        return;
    }
    stm_scene_mesh *mesh = memset(&scene->meshes[scene->mesh_count++], 0, sizeof *mesh);
    mesh->name = stm_define_name(&p->words, 's', (uint32_t)scene->mesh_count - 1);
    mesh->path = take_path(p);
    txm_error own = {0};
    if (!p->words.failed && stm_mesh_read(mesh, false, &own))
        stm_words_fail_as(&p->words, &own);
}

/* Called when the statement was read to its end, so that incomplete objects are never added. */
static void add_object(parser *p, const stm_scene_object *object)
{
    stm_scene_object *kept = NEW_ITEM(p, object);
    if (kept)
        *kept = *object;
}

/* Names refer to earlier definitions, so indices are final. */
static void read_instance(parser *p)
{
    stm_scene_object o = {.kind = STM_OBJECT_INSTANCE};
    o.mesh = stm_refer_to_name(&p->words, 's', "mesh");
    o.material = stm_refer_to_name(&p->words, 'm', "material");
    o.to_world = stm_take_matrix(&p->words);
    add_object(p, &o);
}

/* Parallel edges would have no normal. */
static void read_quad(parser *p)
{
    stm_scene_object o = {.kind = STM_OBJECT_QUAD};
    o.material = stm_refer_to_name(&p->words, 'm', "material");
    o.corner = stm_take_vector(&p->words, "the corner");
    o.u = stm_take_vector(&p->words, "the first edge");
    o.v = stm_take_vector(&p->words, "the second edge");
    if (!p->words.failed && !(txm_vec_length(txm_vec_cross(o.u, o.v)) > 0.0f))
        stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "the edges span no area");
    add_object(p, &o);
}

/* There is no rotation: its poles are on the z axis. */
static void read_sphere(parser *p)
{
    stm_scene_object o = {.kind = STM_OBJECT_SPHERE};
    o.material = stm_refer_to_name(&p->words, 'm', "material");
    o.center = stm_take_vector(&p->words, "the centre");
    o.radius = stm_take_positive(&p->words, "the radius");
    add_object(p, &o);
}

/* The kind decides which words follow, in the order of txmill-scene(5). */
static void read_light(parser *p)
{
    static const char *const kinds[] = {"point", "spot", "area", "sun", NULL};
    stm_scene_light l = {.direction = {0.0f, 0.0f, -1.0f}};
    l.kind = (stm_light_kind)stm_take_choice(&p->words, "kind of light", kinds);
    stm_take_keyword(&p->words, "power");
    stm_take_numbers(&p->words, "the power", l.power, 3);
    if (l.kind == STM_LIGHT_POINT || l.kind == STM_LIGHT_SPOT) {
        stm_take_keyword(&p->words, "at");
        l.at = stm_take_vector(&p->words, "the place");
    }
    if (l.kind == STM_LIGHT_SPOT || l.kind == STM_LIGHT_SUN) {
        stm_take_keyword(&p->words, "direction");
        l.direction = stm_take_direction(&p->words, "the light");
    }
    if (l.kind == STM_LIGHT_POINT || l.kind == STM_LIGHT_SPOT) {
        stm_take_keyword(&p->words, "radius");
        l.radius = take_within(p, "the radius", 0.0f, INFINITY);
    }
    if (l.kind == STM_LIGHT_AREA) {
        stm_take_keyword(&p->words, "to-world");
        l.to_world = stm_take_matrix(&p->words);
        stm_take_keyword(&p->words, "size");
        l.size[0] = stm_take_positive(&p->words, "the width");
        l.size[1] = stm_take_positive(&p->words, "the height");
    }
    if (l.kind == STM_LIGHT_SPOT || l.kind == STM_LIGHT_SUN) {
        stm_take_keyword(&p->words, "angle");
        l.angle = take_within(p, "the angle", 0.0f, INFINITY);
    }
    if (l.kind == STM_LIGHT_SPOT) {
        stm_take_keyword(&p->words, "blend");
        l.blend = take_within(p, "the blend", 0.0f, 1.0f);
    }
    stm_scene_light *kept = NEW_ITEM(p, light);
    if (kept)
        *kept = l;
}

/* A colour or an image; a later statement replaces an earlier one. */
static void read_world(parser *p)
{
    static const char *const projections[] = {"latlong", "mirror-ball", NULL};
    stm_scene_world w = {.image = STM_SCENE_NONE};
    if (stm_take_if(&p->words, "color")) {
        stm_take_numbers(&p->words, "the colour", w.color, 3);
    } else {
        w.image = stm_refer_to_name(&p->words, 'i', "image");
        if (!p->words.failed && p->scene->images[w.image].pages)
            stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "the world has no faces for a Ptex file");
        stm_take_keyword(&p->words, "projection");
        w.mirror_ball = stm_take_choice(&p->words, "projection", projections) == 1;
        float strength = stm_take_if(&p->words, "strength") ? stm_take_number(&p->words, "the strength") : 1.0f;
        for (int c = 0; c < 3; c++)
            w.color[c] = strength;
        w.mapped = stm_take_if(&p->words, "mapping");
        if (w.mapped)
            w.mapping = stm_take_matrix(&p->words);
        if (stm_take_if(&p->words, "sampling")) {
            /* Cycles' three ways to sample the light of a world's image. */
            static const char *const ways[] = {"automatic", "none", "manual", NULL};
            const int way = stm_take_choice(&p->words, "kind of sampling", ways);
            w.unsampled = way == 1;
            if (way == 2)
                w.map_columns = stm_take_count(&p->words, "the width of the map", 4, MAX_MAP_COLUMNS);
        }
    }
    p->scene->world = w;
}

static const struct {
    const char *word;
    void (*read)(parser *p);
} statements[] = {
    {"title", read_title},
    {"size", read_size},
    {"camera", read_camera},
    {"lens", read_lens},
    {"image", read_image},
    {"ptex", read_ptex},
    {"material", read_material},
    {"texture", read_texture},
    {"mesh", read_mesh},
    {"instance", read_instance},
    {"quad", read_quad},
    {"sphere", read_sphere},
    {"light", read_light},
    {"world", read_world},
    {"samples", read_samples},
    {"bounces", read_bounces},
    {"filter-glossy", read_filter_glossy},
    {"keyframe", read_keyframe},
};

/* Information for users that Blender's extension adds: the frame, and the Blender names of things. */
static void read_note(parser *p)
{
    if (p->words.failed || !stm_words_more(&p->words))
        return;
    if (stm_take_if(&p->words, "frame"))
        stm_take_number(&p->words, "the frame");
    else if (stm_take_if(&p->words, "title"))
        free(stm_take_text(&p->words, "the title"));
}

static int shown(size_t bytes)
{
    return bytes < 64 ? (int)bytes : 64;
}

/* Unknown words are not skipped: that would leave a texture or a light out of the figures. */
static void read_statement(parser *p)
{
    const char *word;
    size_t n = stm_take_word(&p->words, &word);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (stm_is_word(word, n, statements[i].word)) {
            statements[i].read(p);
            read_note(p);
            if (!p->words.failed && stm_words_more(&p->words)) {
                size_t length = stm_take_word(&p->words, &word);
                stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "unexpected '%.*s' after the end of '%s'", shown(length),
                               word, statements[i].word);
            }
            return;
        }
    stm_words_fail(&p->words, TXM_STATUS_CORRUPT,
                   "unknown word '%.*s'; man 5 txmill-scene lists what a line may begin with", shown(n), word);
}

/* Reads the first line. Later versions are refused by their number, so that the meaning of words can change. */
static void read_header(parser *p)
{
    if (!stm_take_if(&p->words, "txmill-scene")) {
        stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "not a scene: the first line must be 'txmill-scene 1'");
        return;
    }
    uint32_t version = stm_take_count(&p->words, "the version", 1, 1 << 20);
    if (!p->words.failed && version > FORMAT_VERSION)
        stm_words_fail(&p->words, TXM_STATUS_NEWER, "scenes of version %u need a newer txmill", version);
}

/* If the polygons were cut, those made of one that is not a quad must be subfaces, and all others must not. */
static void check_subfaces(parser *p, const stm_scene_image *image, stm_scene_mesh *mesh)
{
    if (mesh->vertex_count == mesh->given_count || mesh->subfaces_of == image)
        return;
    mesh->subfaces_of = image;
    for (uint32_t t = 0; t < mesh->triangle_count && !p->words.failed; t++) {
        unsigned part;
        const uint32_t face = stm_polygon_of(mesh, t, &part);
        const bool is_part = mesh->corners[3 * (size_t)t + 2] >= mesh->given_count;
        if (is_part != ((txm_ptex_face_of(image->ptex, face)->flags & TXM_PTEX_SUBFACE) != 0))
            stm_words_fail(
                &p->words, TXM_STATUS_CORRUPT,
                "%s: face %u is %s, but not in mesh %s: its polygons are in a different order than when it was "
                "painted",
                image->path, face, is_part ? "a whole quad" : "a part of a polygon that is not a quad", mesh->name);
    }
}

/* Checks that a Ptex file has a face for each face of the object that uses the material. Polygons that are not quads
 * are cut if the file has a face for each of their corners. */
static void check_ptex_faces(parser *p, const stm_scene_object *object, const stm_scene_material *m)
{
    const stm_scene_material *all = p->scene->materials;
    if (m->kind == STM_SURFACE_MIX) {
        check_ptex_faces(p, object, &all[m->first]);
        check_ptex_faces(p, object, &all[m->second]);
    }
    for (size_t i = 0; i < m->texture_count && !p->words.failed; i++) {
        const stm_scene_image *image = &p->scene->images[m->textures[i].image];
        if (!image->pages)
            continue;
        const txm_ptex_info *file = txm_ptex_info_of(image->ptex);
        stm_scene_mesh *mesh = object->kind == STM_OBJECT_INSTANCE ? &p->scene->meshes[object->mesh] : NULL;
        const bool quads = file->mesh == TXM_PTEX_QUADS;
        txm_error own = {0};
        if (mesh && quads && mesh->quad_count != mesh->polygon_count && mesh->cut_count == file->faces) {
            stm_mesh_empty(mesh);
            if (stm_mesh_read(mesh, true, &own))
                stm_words_fail_as(&p->words, &own);
        }
        if (p->words.failed)
            return;
        if (!mesh)
            stm_words_fail(&p->words, TXM_STATUS_CORRUPT, "%s: a Ptex file needs a mesh: material %s is on a shape",
                           image->path, m->name);
        else if (mesh->polygon_count != file->faces || mesh->quad_count != (quads ? mesh->polygon_count : 0))
            stm_words_fail(&p->words, TXM_STATUS_CORRUPT,
                           "%s: its %u faces are %s, but mesh %s has %zu faces, of which %zu are quads", image->path,
                           file->faces, txm_ptex_mesh_name(file->mesh), mesh->name, mesh->polygon_count,
                           mesh->quad_count);
        else
            check_subfaces(p, image, mesh);
    }
}

/* Splits the text into lines first and then into words, so that a statement cannot continue on the next line. */
txm_status stm_scene_parse(stm_render_scene *scene, const char *name, const char *folder, const char *text,
                           size_t bytes, txm_error *err)
{
    parser p = {.scene = scene, .folder = folder, .words = {.file = name, .err = err, .at = text, .end = text}};
    const char *last = text + bytes;
    bool begun = false;
    if (memchr(text, 0, bytes))
        return stm_fail(err, TXM_STATUS_CORRUPT, "%s: not a text file", name);
    for (const char *line = text; line < last && !p.words.failed;) {
        const char *end = memchr(line, '\n', (size_t)(last - line));
        p.words.at = line;
        p.words.end = end ? end : last;
        line = p.words.end + 1;
        p.words.line++;
        if (!stm_words_more(&p.words) || *p.words.at == '#')
            continue;
        if (begun)
            read_statement(&p);
        else
            read_header(&p);
        begun = true;
    }
    if (!p.words.line)
        p.words.line = 1;
    if (!p.words.failed && !begun)
        read_header(&p);
    if (!p.words.failed && !scene->has_camera)
        stm_words_fail(&p.words, TXM_STATUS_CORRUPT, "the scene has no camera");
    if (!p.words.failed && !scene->object_count && scene->world.image == STM_SCENE_NONE)
        stm_words_fail(&p.words, TXM_STATUS_CORRUPT,
                       "the scene has no geometry: no quad, sphere or instance, and no world with an image");
    /* The second time for objects before the one whose Ptex file had their mesh cut. */
    for (size_t i = 0; i < 2 * scene->object_count && !p.words.failed; i++) {
        const stm_scene_object *o = &scene->objects[i % scene->object_count];
        check_ptex_faces(&p, o, &scene->materials[o->material]);
    }
    stm_words_free(&p.words);
    return p.words.failed ? (err ? err->status : TXM_STATUS_CORRUPT) : TXM_OK;
}

/* Reads a whole file; NULL with errno. It is opened without blocking, so that a pipe does not hang; only a regular file
 * is read. If it shrinks, the part that exists is returned. */
static char *read_whole(const char *path, size_t *bytes)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int error = fd < 0 ? errno : fstat(fd, &s) ? errno : !S_ISREG(s.st_mode) ? EINVAL : 0;
    if (!error && s.st_size > MAX_TEXT_BYTES)
        error = EFBIG;
    char *text = error ? NULL : malloc((size_t)s.st_size + 1);
    if (!error && !text)
        error = ENOMEM;
    for (*bytes = 0; !error && *bytes < (size_t)s.st_size;) {
        ssize_t n = read(fd, text + *bytes, (size_t)s.st_size - *bytes);
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            error = errno;
        *bytes += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    if (error) {
        free(text);
        text = NULL;
    }
    errno = error;
    return text;
}

/* `folder` is stored with the scene: meshes and images are relative to it. */
txm_status stm_scene_read(stm_render_scene *scene, const char *path, txm_error *err)
{
    char *file = stm_path_join(path, "scene.txt");
    size_t bytes;
    char *text = file ? read_whole(file, &bytes) : NULL;
    txm_status status = TXM_OK;
    scene->folder = stm_strdup(path);
    if (!file || !scene->folder)
        status = stm_no_memory(err, path);
    else if (!text && errno == EINVAL)
        status = stm_fail(err, TXM_STATUS_NOT_A_FILE,
                          "%s: not a regular file; a scene is a folder that contains a text file scene.txt", file);
    else if (!text && errno == EFBIG)
        status = stm_fail(err, TXM_STATUS_TOO_LARGE, "%s: more than %d MB", file, MAX_TEXT_BYTES >> 20);
    else if (!text && errno == ENOENT)
        status = stm_fail(err, TXM_STATUS_NOT_FOUND,
                          "%s: not a scene: scene.txt is missing; in Blender, the extension's Export "
                          "Scene writes one",
                          path);
    else if (!text)
        status = stm_fail_errno(err, errno, "%s: the scene cannot be opened", file);
    else if (bytes > 40 && strncmp(text, "version https://git-lfs.github.com/spec/", 40) == 0)
        status = stm_fail(err, TXM_STATUS_NOT_DOWNLOADED,
                          "%s: a pointer of Git LFS in place of the file; 'git lfs pull' downloads the file", file);
    else
        status = stm_scene_parse(scene, file, path, text, bytes, err);
    free(text);
    free(file);
    return status;
}
