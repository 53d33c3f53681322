/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a scene, txmill-scene(5): one statement a line, names defined before they are used. Comes in: bytes of
 * anybody. Goes out: a scene whose indices, sizes and numbers need no further check.
 *
 * The parser walks words of the current line and stops at the first mistake, which it names with file and line;
 * after that every taker returns a harmless value, so statements need not test in between. Limits are at the
 * top: a scene that exceeds them is refused before memory is taken.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fail.h"
#include "core/mem.h"
#include "core/path.h"
#include "core/text.h"
#include "render/scene.h"

enum { FORMAT_VERSION = 1, MAX_TEXT_BYTES = 256 << 20, MAX_PICTURE_PX = 65536, MAX_UDIMS = 8999 };

/* A name of one kind, and its index. The tree below owns them. */
typedef struct named {
    char kind;
    uint32_t index;
    char name[];
} named;

typedef struct parser {
    txm_render_scene *scene;
    const char *file, *folder;
    const char *at, *end; /* the rest of the line */
    size_t line;
    void *names; /* of tsearch */
    txm_error *err;
    bool failed;
} parser;

/* ---- words ---- */

static void fail(parser *p, txm_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The first failure is the one that counts: later ones follow from it. */
static void fail(parser *p, txm_status status, const char *format, ...)
{
    char message[512];
    va_list args;
    if (p->failed)
        return;
    va_start(args, format);
    txm_vformat(message, sizeof message, format, args);
    va_end(args);
    p->failed = true;
    txm_fail(p->err, status, "%s:%zu: %s", p->file, p->line, message);
}

/* With the line as well: it tells how far a large scene came. */
static void fail_memory(parser *p)
{
    fail(p, TXM_STATUS_NO_MEMORY, "out of memory");
}

/* Carriage returns are blanks: scenes are also written on Windows. */
static void skip_blanks(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r'))
        p->at++;
}

/* False after a failure too, which ends every loop over words. */
static bool more(parser *p)
{
    skip_blanks(p);
    return !p->failed && p->at < p->end;
}

/* The next word, which ends at a blank; empty where there is none. */
static size_t take_word(parser *p, const char **word)
{
    skip_blanks(p);
    *word = p->at;
    while (p->at < p->end && *p->at != ' ' && *p->at != '\t' && *p->at != '\r')
        p->at++;
    return (size_t)(p->at - *word);
}

/* Words are not terminated: they lie in the text. */
static bool is_word(const char *word, size_t n, const char *expected)
{
    return strlen(expected) == n && memcmp(word, expected, n) == 0;
}

/* Takes the next word if it is this one. */
static bool take_if(parser *p, const char *expected)
{
    const char *before = p->at, *word;
    size_t n = take_word(p, &word);
    if (is_word(word, n, expected))
        return true;
    p->at = before;
    return false;
}

/* Keywords between values make a scene readable, and a missing value show as what it is. */
static void expect(parser *p, const char *expected)
{
    if (!p->failed && !take_if(p, expected))
        fail(p, TXM_STATUS_CORRUPT, "expected the word '%s'", expected);
}

/* By the parser that knows no locale; infinity and NaN are refused here, for good. */
static float take_number(parser *p, const char *what)
{
    const char *word;
    char text[64], *end;
    size_t n = take_word(p, &word);
    if (p->failed)
        return 0.0f;
    if (n && n < sizeof text) {
        memcpy(text, word, n);
        text[n] = 0;
        float f = txm_parse_float(text, &end);
        if (!*end && isfinite(f))
            return f;
    }
    fail(p, TXM_STATUS_CORRUPT, n ? "%s must be a number, not '%.*s'" : "%s is missing", what, (int)(n < 40 ? n : 40),
         word);
    return 0.0f;
}

/* All are written, with 0 after a failure. */
static void take_numbers(parser *p, const char *what, float *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = take_number(p, what);
}

static float take_positive(parser *p, const char *what)
{
    float f = take_number(p, what);
    if (!p->failed && !(f > 0.0f))
        fail(p, TXM_STATUS_CORRUPT, "%s must be above 0", what);
    return f;
}

/* Numbers are floats in the format, also where a count is meant: 4 and 4.0 are the same. */
static uint32_t take_count(parser *p, const char *what, uint32_t low, uint32_t high)
{
    float f = take_number(p, what);
    if (!p->failed && (f < (float)low || f > (float)high || f != floorf(f)))
        fail(p, TXM_STATUS_CORRUPT, "%s must be a whole number from %u to %u", what, low, high);
    return p->failed ? low : (uint32_t)f;
}

static txm_vec3 take_vector(parser *p, const char *what)
{
    float f[3] = {0};
    take_numbers(p, what, f, 3);
    return txm_vec_make(f[0], f[1], f[2]);
}

/* A vector that is made as long as 1. */
static txm_vec3 take_direction(parser *p, const char *what)
{
    txm_vec3 d = take_vector(p, what);
    float length = txm_vec_length(d);
    if (!p->failed && !(length > 0.0f && isfinite(length)))
        fail(p, TXM_STATUS_CORRUPT, "%s has no direction", what);
    return p->failed ? txm_vec_make(0.0f, 0.0f, 1.0f) : txm_vec_scale(d, 1.0f / length);
}

/* Twelve numbers, row by row. A matrix that flattens is allowed: Blender's objects can be scaled to 0. */
static txm_matrix take_matrix(parser *p)
{
    txm_matrix m = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    for (int row = 0; row < 3; row++)
        take_numbers(p, "the matrix", m.m[row], 4);
    return m;
}

/* A JSON string; NULL once something has failed. */
static char *take_text(parser *p, const char *what)
{
    skip_blanks(p);
    if (p->failed)
        return NULL;
    const char *end = p->at + 1;
    while (p->at < p->end && *p->at == '"' && end < p->end && *end != '"')
        end += *end == '\\' && end + 1 < p->end ? 2 : 1;
    if (p->at >= p->end || *p->at != '"' || end >= p->end) {
        fail(p, TXM_STATUS_CORRUPT, "%s must be in double quotes", what);
        return NULL;
    }
    cJSON *json = cJSON_ParseWithLength(p->at, (size_t)(end + 1 - p->at));
    const char *value = json ? cJSON_GetStringValue(json) : NULL;
    char *text = txm_strdup(value);
    if (!value)
        fail(p, TXM_STATUS_CORRUPT, "%s is not a JSON string", what);
    else if (!text)
        fail_memory(p);
    cJSON_Delete(json);
    p->at = end + 1;
    return text;
}

/* One of the words in `words`, which ends with NULL; its index. */
static int take_choice(parser *p, const char *what, const char *const *words)
{
    const char *word;
    size_t n = take_word(p, &word);
    for (int i = 0; !p->failed && words[i]; i++)
        if (is_word(word, n, words[i]))
            return i;
    fail(p, TXM_STATUS_CORRUPT, "'%.*s' is no %s", (int)(n < 40 ? n : 40), word, what);
    return 0;
}

/* ---- names ---- */

/* Names of images, materials and meshes are kinds apart: a material may be called like its image. */
static int compare_names(const void *a, const void *b)
{
    const named *x = a, *y = b;
    return x->kind != y->kind ? x->kind - y->kind : strcmp(x->name, y->name);
}

/* Also for looking up: the tree compares whole entries. */
static named *new_name(parser *p, char kind, const char *word, size_t n, uint32_t index)
{
    named *key = malloc(sizeof *key + n + 1);
    if (!key) {
        fail_memory(p);
        return NULL;
    }
    key->kind = kind;
    key->index = index;
    memcpy(key->name, word, n);
    key->name[n] = 0;
    return key;
}

/* A new name of a kind ('i'mage, 'm'aterial, me's'h) for `index`; a copy of it, NULL once something has failed. */
static char *define(parser *p, char kind, uint32_t index)
{
    const char *word;
    size_t n = take_word(p, &word);
    if (!n)
        fail(p, TXM_STATUS_CORRUPT, "the name is missing");
    named *key = p->failed ? NULL : new_name(p, kind, word, n, index);
    if (!key)
        return NULL;
    named **found = tsearch(key, &p->names, compare_names);
    if (!found || *found != key) {
        if (found)
            fail(p, TXM_STATUS_CORRUPT, "'%s' is defined twice", key->name);
        else
            fail_memory(p);
        free(key);
        return NULL;
    }
    char *copy = txm_strdup(key->name);
    if (!copy)
        fail_memory(p);
    return copy;
}

/* The index of what was defined above; after a failure any index is fine, since nobody will use it. */
static uint32_t refer(parser *p, char kind, const char *what)
{
    const char *word;
    size_t n = take_word(p, &word);
    named *key = p->failed ? NULL : new_name(p, kind, word, n, 0);
    named **found = key ? tfind(key, &p->names, compare_names) : NULL;
    uint32_t index = found ? (*found)->index : 0;
    if (key && !found)
        fail(p, TXM_STATUS_CORRUPT, n ? "there is no %s '%s' above" : "the %s is missing", what, key->name);
    free(key);
    return index;
}

/* Room for one more item, cleared and counted, so that txm_render_scene_free finds what it owns. NULL once something
 * has failed. */
#define NEW_ITEM(parser_, kind)                                                                                        \
    ((parser_)->failed || (parser_)->scene->kind##_count >= UINT32_MAX - 1 ||                                          \
             !TXM_GROW((parser_)->scene->kind##s, (parser_)->scene->kind##_capacity, (parser_)->scene->kind##_count)   \
         ? (fail_memory(parser_), NULL)                                                                                \
         : memset(&(parser_)->scene->kind##s[(parser_)->scene->kind##_count++], 0, sizeof *(parser_)->scene->kind##s))

/* ---- statements ---- */

/* The last title counts, as with all statements that appear once. */
static void read_title(parser *p)
{
    free(p->scene->title);
    p->scene->title = take_text(p, "the title");
}

/* In pixels. Options may give another size. */
static void read_size(parser *p)
{
    p->scene->width = take_count(p, "the width", 1, MAX_PICTURE_PX);
    p->scene->height = take_count(p, "the height", 1, MAX_PICTURE_PX);
}

/* `half` is half the width and height at distance 1 (perspective) or in metres (orthographic): sensor and focal
 * length have been turned into it by whoever wrote the scene, who knows Blender's rules for them. */
static void read_camera(parser *p)
{
    static const char *const kinds[] = {"perspective", "orthographic", NULL};
    txm_scene_camera *c = &p->scene->camera;
    c->kind = (txm_camera_kind)take_choice(p, "kind of camera", kinds);
    expect(p, "half");
    c->half[0] = take_positive(p, "half the width");
    c->half[1] = take_positive(p, "half the height");
    expect(p, "shift");
    take_numbers(p, "the shift", c->shift, 2);
    expect(p, "clip");
    take_numbers(p, "the clip distance", c->clip, 2);
    if (!p->failed && !(c->clip[0] >= 0.0f && c->clip[1] > c->clip[0]))
        fail(p, TXM_STATUS_CORRUPT, "the far clip distance must be beyond the near one");
    expect(p, "to-world");
    c->to_world = take_matrix(p);
    p->scene->has_camera = true;
}

/* In metres: the radius of the opening, and the distance along the axis that is sharp. */
static void read_lens(parser *p)
{
    p->scene->camera.lens_radius = take_number(p, "the lens radius");
    p->scene->camera.focus = take_positive(p, "the distance in focus");
    if (!p->failed && p->scene->camera.lens_radius < 0.0f)
        fail(p, TXM_STATUS_CORRUPT, "the lens radius must not be negative");
}

/* To the end of the line. Tiles that are listed must be there; which are is for textures.c to find out. */
static void read_udims(parser *p, txm_scene_image *image)
{
    size_t capacity = 0;
    while (more(p)) {
        uint32_t number = take_count(p, "the UDIM tile", 1001, 9999);
        if (image->udim_count >= MAX_UDIMS)
            fail(p, TXM_STATUS_CORRUPT, "more than %d UDIM tiles", MAX_UDIMS);
        if (!p->failed && !TXM_GROW(image->udims, capacity, image->udim_count))
            fail_memory(p);
        if (!p->failed)
            image->udims[image->udim_count++] = number;
    }
    if (!image->udim_count)
        fail(p, TXM_STATUS_CORRUPT, "the UDIM tiles are missing");
}

/* The path counts from the scene's folder, so that a folder can be moved as a whole. */
static void read_image(parser *p)
{
    static const char *const alphas[] = {"straight", "premultiplied", "channel_packed", "none", NULL};
    static const txm_alpha alpha_of[] = {TXM_ALPHA_STRAIGHT, TXM_ALPHA_PREMULTIPLIED, TXM_ALPHA_CHANNEL_PACKED,
                                         TXM_ALPHA_NONE};
    static const char *const extensions[] = {"repeat", "extend", "clip", "mirror", NULL};
    static const char *const filters[] = {"closest", "linear", "cubic", "smart", NULL};
    txm_scene_image *image = NEW_ITEM(p, image);
    if (!image)
        return;
    image->name = define(p, 'i', (uint32_t)p->scene->image_count - 1);
    char *path = take_text(p, "the path");
    image->path = path ? txm_path_join(p->folder, path) : NULL;
    if (path && !image->path)
        fail_memory(p);
    free(path);
    expect(p, "colorspace");
    image->colorspace = take_text(p, "the colour space");
    expect(p, "alpha");
    image->alpha = alpha_of[take_choice(p, "alpha type", alphas)];
    expect(p, "extension");
    image->extension = (txm_extension)take_choice(p, "extension", extensions);
    expect(p, "interpolation");
    image->filter = (txm_filter)take_choice(p, "interpolation", filters);
    if (more(p) && take_if(p, "udim"))
        read_udims(p, image);
}

/* A roughness above 1 is taken for 1. 0 is refused: that is a mirror, and has a word of its own. */
static void read_material(parser *p)
{
    static const char *const kinds[] = {"diffuse", "glossy", "mirror", "glass", "emission", NULL};
    txm_scene_material *m = NEW_ITEM(p, material);
    if (!m)
        return;
    m->name = define(p, 'm', (uint32_t)p->scene->material_count - 1);
    m->kind = (txm_surface_kind)take_choice(p, "kind of surface", kinds);
    take_numbers(p, "the colour", m->color, 3);
    m->ior = 1.0f;
    if (m->kind == TXM_SURFACE_GLOSSY) {
        expect(p, "roughness");
        m->roughness = take_positive(p, "the roughness");
        m->roughness = m->roughness < 1.0f ? m->roughness : 1.0f;
    }
    if (m->kind == TXM_SURFACE_GLASS) {
        expect(p, "ior");
        m->ior = take_positive(p, "the index of refraction");
    }
}

/* Only what goes to "Base Color" colours the picture. Other inputs are looked up and discarded: a shader would
 * evaluate them, and memory is what this is about. */
static void read_texture(parser *p)
{
    txm_scene_material *m = NULL;
    uint32_t material = refer(p, 'm', "material"), image = refer(p, 'i', "image");
    if (p->failed)
        return;
    m = &p->scene->materials[material];
    if (!TXM_GROW(m->textures, m->texture_capacity, m->texture_count)) {
        fail_memory(p);
        return;
    }
    txm_scene_texture *t = &m->textures[m->texture_count++];
    *t = (txm_scene_texture){.image = image};
    expect(p, "input");
    char *input = take_text(p, "the input");
    t->is_color = input && strcmp(input, "Base Color") == 0;
    free(input);
    expect(p, "uv");
    t->uv = take_text(p, "the UV map");
    expect(p, "transform");
    take_numbers(p, "the transform", t->transform, 6);
}

/* Read at once: a mesh that is missing is named with the line that asks for it. */
static void read_mesh(parser *p)
{
    txm_render_scene *scene = p->scene;
    if (p->failed || !TXM_GROW(scene->meshes, scene->mesh_capacity, scene->mesh_count)) {
        fail_memory(p);
        return;
    }
    txm_scene_mesh *mesh = memset(&scene->meshes[scene->mesh_count++], 0, sizeof *mesh);
    mesh->name = define(p, 's', (uint32_t)scene->mesh_count - 1);
    char *path = take_text(p, "the path");
    mesh->path = path ? txm_path_join(p->folder, path) : NULL;
    if (path && !mesh->path)
        fail_memory(p);
    free(path);
    txm_error own = {0};
    if (!p->failed && txm_mesh_read(mesh, &own))
        fail(p, own.status, "%s", own.message);
}

/* Added when its statement was read to the end: an object is whole or not there. */
static void add_object(parser *p, const txm_scene_object *object)
{
    txm_scene_object *kept = NEW_ITEM(p, object);
    if (kept)
        *kept = *object;
}

/* Names refer to what is defined above, so indices are final when they are read. */
static void read_instance(parser *p)
{
    txm_scene_object o = {.kind = TXM_OBJECT_INSTANCE};
    o.mesh = refer(p, 's', "mesh");
    o.material = refer(p, 'm', "material");
    o.to_world = take_matrix(p);
    add_object(p, &o);
}

/* Edges that are parallel would have no normal. */
static void read_quad(parser *p)
{
    txm_scene_object o = {.kind = TXM_OBJECT_QUAD};
    o.material = refer(p, 'm', "material");
    o.corner = take_vector(p, "the corner");
    o.u = take_vector(p, "the first edge");
    o.v = take_vector(p, "the second edge");
    if (!p->failed && !(txm_vec_length(txm_vec_cross(o.u, o.v)) > 0.0f))
        fail(p, TXM_STATUS_CORRUPT, "the edges span no area");
    add_object(p, &o);
}

/* No rotation: its poles are those of z. */
static void read_sphere(parser *p)
{
    txm_scene_object o = {.kind = TXM_OBJECT_SPHERE};
    o.material = refer(p, 'm', "material");
    o.center = take_vector(p, "the centre");
    o.radius = take_positive(p, "the radius");
    add_object(p, &o);
}

/* Which words follow depends on the kind, in the order that txmill-scene(5) gives. */
static void read_light(parser *p)
{
    static const char *const kinds[] = {"point", "spot", "area", "sun", NULL};
    txm_scene_light l = {.direction = {0.0f, 0.0f, -1.0f}};
    l.kind = (txm_light_kind)take_choice(p, "kind of light", kinds);
    expect(p, "power");
    take_numbers(p, "the power", l.power, 3);
    if (l.kind == TXM_LIGHT_POINT || l.kind == TXM_LIGHT_SPOT) {
        expect(p, "at");
        l.at = take_vector(p, "the place");
    }
    if (l.kind == TXM_LIGHT_SPOT || l.kind == TXM_LIGHT_SUN) {
        expect(p, "direction");
        l.direction = take_direction(p, "the light");
    }
    if (l.kind == TXM_LIGHT_POINT || l.kind == TXM_LIGHT_SPOT) {
        expect(p, "radius");
        l.radius = take_number(p, "the radius");
    }
    if (l.kind == TXM_LIGHT_AREA) {
        expect(p, "to-world");
        l.to_world = take_matrix(p);
        expect(p, "size");
        l.size[0] = take_positive(p, "the width");
        l.size[1] = take_positive(p, "the height");
    }
    if (l.kind == TXM_LIGHT_SPOT || l.kind == TXM_LIGHT_SUN) {
        expect(p, "angle");
        l.angle = take_number(p, "the angle");
    }
    if (l.kind == TXM_LIGHT_SPOT) {
        expect(p, "blend");
        l.blend = take_number(p, "the blend");
    }
    txm_scene_light *kept = NEW_ITEM(p, light);
    if (kept)
        *kept = l;
}

/* A colour or an image; the later statement replaces the earlier one. */
static void read_world(parser *p)
{
    static const char *const projections[] = {"latlong", "mirror-ball", NULL};
    txm_scene_world w = {.image = TXM_SCENE_NONE};
    if (take_if(p, "color")) {
        take_numbers(p, "the colour", w.color, 3);
    } else {
        w.image = refer(p, 'i', "image");
        expect(p, "projection");
        w.mirror_ball = take_choice(p, "projection", projections) == 1;
        float strength = take_if(p, "strength") ? take_number(p, "the strength") : 1.0f;
        for (int c = 0; c < 3; c++)
            w.color[c] = strength;
    }
    p->scene->world = w;
}

static const struct {
    const char *word;
    void (*read)(parser *p);
} statements[] = {
    {"title", read_title},       {"size", read_size},         {"camera", read_camera},   {"lens", read_lens},
    {"image", read_image},       {"material", read_material}, {"texture", read_texture}, {"mesh", read_mesh},
    {"instance", read_instance}, {"quad", read_quad},         {"sphere", read_sphere},   {"light", read_light},
    {"world", read_world},
};

/* What is not known is skipped: a later writer may say more. */
static void read_statement(parser *p)
{
    const char *word;
    size_t n = take_word(p, &word);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (is_word(word, n, statements[i].word))
            statements[i].read(p);
}

/* The first line. Later versions are refused by their number, so that a word can change its meaning. */
static void read_header(parser *p)
{
    if (!take_if(p, "txmill-scene")) {
        fail(p, TXM_STATUS_CORRUPT, "this is no scene: it must begin with 'txmill-scene 1'");
        return;
    }
    uint32_t version = take_count(p, "the version", 1, 1 << 20);
    if (!p->failed && version > FORMAT_VERSION)
        fail(p, TXM_STATUS_NEWER, "scenes of version %u need a newer txmill", version);
}

/* Lines are found first, words inside them: nothing that a statement expects can run on into the next line. */
txm_status txm_scene_parse(txm_render_scene *scene, const char *name, const char *folder, const char *text,
                           size_t bytes, txm_error *err)
{
    parser p = {.scene = scene, .file = name, .folder = folder, .err = err, .at = text, .end = text};
    const char *last = text + bytes;
    if (memchr(text, 0, bytes))
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: this is no text", name);
    for (const char *line = text; line < last && !p.failed;) {
        const char *end = memchr(line, '\n', (size_t)(last - line));
        p.at = line;
        p.end = end ? end : last;
        line = p.end + 1;
        p.line++;
        if (!more(&p) || *p.at == '#')
            continue;
        if (p.line == 1)
            read_header(&p);
        else
            read_statement(&p);
    }
    if (!p.line)
        p.line = 1;
    if (!p.failed && !scene->has_camera)
        fail(&p, TXM_STATUS_CORRUPT, "the scene has no camera");
    tdestroy(p.names, free);
    return p.failed ? (err ? err->status : TXM_STATUS_CORRUPT) : TXM_OK;
}

/* The whole file; NULL with errno. Non-blocking, so that a pipe of that name hangs nobody; only a regular
 * file is read. A file that shrinks gives what is there. */
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

/* `folder` is kept with the scene: meshes and images count from it. */
txm_status txm_scene_read(txm_render_scene *scene, const char *path, txm_error *err)
{
    char *file = txm_path_join(path, "scene.txt");
    size_t bytes;
    char *text = file ? read_whole(file, &bytes) : NULL;
    txm_status status = TXM_OK;
    scene->folder = txm_strdup(path);
    if (!file || !scene->folder)
        status = txm_no_memory(err, path);
    else if (!text && errno == EINVAL)
        status =
            txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not a file, but a scene is a folder with a text scene.txt", file);
    else if (!text && errno == EFBIG)
        status = txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: more than %d MB", file, MAX_TEXT_BYTES >> 20);
    else if (!text && errno == ENOENT)
        status = txm_fail(err, TXM_STATUS_NOT_FOUND,
                          "%s: is no scene: there is no scene.txt in this folder; in Blender, the extension's Export "
                          "Scene writes one",
                          path);
    else if (!text)
        status = txm_fail_errno(err, errno, "%s: the scene cannot be opened", file);
    else
        status = txm_scene_parse(scene, file, path, text, bytes, err);
    free(text);
    free(file);
    return status;
}
