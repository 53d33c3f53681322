/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens and closes scenes of every format, and gives access to their tables. Once a scene is open, its tables are
 * constant and any thread may read them.
 */
#include "mill/scene/scene.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "base/text.h"
#include "base/words.h"
#include "mill/color/config.h"
#include "mill/scene/blend/blend.h"
#include "tile/terms/releases.h"

/* ---- formats ----------------------------------------------------------------------------------------------------- */

static const txm_scene_reader readers[] = {
#define SCENE_FORMAT(id, noun, extensions, mark, begins, normal, data, read)                                           \
    {{id, noun, extensions, mark, begins, "a " noun " scene"}, normal, data, read},
#include "mill/scene/format_table.h"
#undef SCENE_FORMAT
};
enum { READERS = sizeof readers / sizeof *readers };

const txm_scene_format *txm_scene_format_at(size_t index)
{
    return index < READERS ? &readers[index].shown : NULL;
}

const txm_scene_format *txm_scene_format_of(const char *path)
{
    const char *own = path ? txm_path_ext(path) : "";
    for (size_t i = 0; *own && i < READERS; i++) {
        const char *list = readers[i].shown.extensions;
        for (size_t n; *list; list += n + (list[n] == ' ')) {
            n = strcspn(list, " ");
            if (strlen(own + 1) == n && txm_ncasecmp(own + 1, list, n) == 0)
                return &readers[i].shown;
        }
    }
    return NULL;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

txm_status txm_scene_exhausted(const txm_scene *scene, txm_error *err)
{
    if (!scene->store.over_limit)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for the images and node trees of the scene",
                        scene->info.path);
    return txm_fail(err, TXM_STATUS_TOO_LARGE,
                    "%s: the images and node trees of the scene need more than %d MiB of memory", scene->info.path,
                    TXM_SCENE_STORE_BYTES >> 20);
}

const char *txm_scene_keep(txm_scene *scene, const char *text)
{
    return txm_store_string(&scene->store, text, strlen(text));
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

txm_status txm_scene_open(const char *path, const txm_scene_options *options, txm_scene **out, txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    if (!path)
        return txm_fail(err, TXM_STATUS_USAGE, "no scene given: its path is NULL");
    txm_scene_options o = {0};
    txm_status status = txm_options_take(&o, sizeof o, options, "txm_scene_options", err);
    if (status != TXM_OK)
        return status;
    char *absolute = txm_path_absolute(path);
    txm_scene *scene = absolute ? txm_calloc(1, sizeof *scene) : NULL;
    if (scene) {
        scene->store.limit_bytes = TXM_SCENE_STORE_BYTES;
        scene->options = o;
        scene->info.path = txm_scene_keep(scene, absolute);
    }
    if (!scene || !scene->info.path) {
        /* It may also be that the current folder does not exist any more. */
        status = txm_fail_errno(err, errno, "%s: cannot open the scene", path);
    } else {
        /* A file with the extension of no scene is taken for one of the first format, whatever it is called. */
        const txm_scene_format *format = txm_scene_format_of(absolute);
        const txm_scene_reader *reader = readers;
        txm_error why = {0};
        while (format && &reader->shown != format)
            reader++;
        scene->reader = reader;
        scene->info.format = reader->shown.id;
        scene->info.compression = "plain";
        scene->info.pointer_bytes = 8;
        status = reader->read(scene, scene->info.path, &why);
        if (status != TXM_OK) {
            txm_explain_pointer(absolute, &why);
            status = txm_fail_as(err, &why);
        }
    }
    free(absolute);
    if (status != TXM_OK)
        txm_scene_close(&scene);
    *out = scene;
    return status;
}

void txm_scene_close(txm_scene **scene)
{
    txm_scene *s = scene ? *scene : NULL;
    if (!s)
        return;
    for (size_t i = 0; i < s->images.count; i++) {
        free((void *)s->images.data[i].files);
        free((void *)s->images.data[i].packed);
    }
    txm_blend_free(s);
    free(s->libraries.data);
    free(s->images.data);
    free(s->tiles.data);
    free(s->users.data);
    free(s->frames.data);
    free(s->findings.data);
    txm_store_free(&s->store);
    free(s);
    *scene = NULL;
}

/* ---- what it contains -------------------------------------------------------------------------------------------- */

const txm_scene_info *txm_scene_info_of(const txm_scene *scene)
{
    return &scene->info;
}

size_t txm_scene_image_count(const txm_scene *scene)
{
    return scene->images.count;
}

const txm_scene_image *txm_scene_image_at(const txm_scene *scene, size_t index)
{
    return index < scene->images.count ? &scene->images.data[index] : NULL;
}

size_t txm_scene_library_count(const txm_scene *scene)
{
    return scene->libraries.count;
}

const txm_scene_library *txm_scene_library_at(const txm_scene *scene, size_t index)
{
    return index < scene->libraries.count ? &scene->libraries.data[index] : NULL;
}

size_t txm_scene_finding_count(const txm_scene *scene)
{
    return scene->findings.count;
}

const txm_scene_finding *txm_scene_finding_at(const txm_scene *scene, size_t index)
{
    return index < scene->findings.count ? &scene->findings.data[index] : NULL;
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

/* Values of newer Blenders are "unknown". */
const char *txm_scene_source_name(txm_scene_source source)
{
    static const char *const names[] = {"unknown", "file", "sequence", "movie", "generated", "viewer", "tiled"};
    return source >= TXM_SCENE_SOURCE_FILE && source <= TXM_SCENE_SOURCE_TILED ? names[source] : names[0];
}

const char *txm_scene_state_name(txm_scene_state state)
{
    static const char *const names[] = {"ready", "missing", "packed", "no-path", "no-file"};
    return TXM_WORD_OF(names, state);
}

const char *txm_scene_library_state_name(txm_scene_library_state state)
{
    static const char *const names[] = {"read", "packed", "missing", "broken"};
    return TXM_WORD_OF(names, state);
}

/* ---- colour spaces ----------------------------------------------------------------------------------------------- */

/* Without a config, these are the names of data spaces in Blender's own configs. */
bool txm_scene_is_data(const txm_scene *scene, const char *colorspace)
{
    static const char *const data_names[] = {"Non-Color", "Non-Colour Data", "Generic Data",
                                             "Raw",       "Utility - Raw",   "data"};
    if (scene->options.colors.is_data)
        return scene->options.colors.is_data(scene->options.colors.user, colorspace);
    for (size_t i = 0; i < sizeof data_names / sizeof *data_names; i++)
        if (strcmp(colorspace, data_names[i]) == 0)
            return true;
    return false;
}

/* Reading scenes does not depend on OpenColorIO: callbacks say whether a name exists and whether a space is data, and
 * these use a config. */
static const char *config_canonical(void *user, const char *name)
{
    /* Cycles has this space without the config; Blender does not, and clears it like any unknown name. */
    return strcmp(name, txm_builtin_srgb_name) == 0 ? NULL : txm_color_canonical(user, name);
}

static bool config_is_data(void *user, const char *name)
{
    return txm_color_is_data(user, name);
}

/* A role can be stored, and stays unless the id is that of another space; an id that is a role gives its space. */
const char *txm_scene_opened_name(void *config, const char *name, const char *interop_id)
{
    const txm_blender blender = txm_color_blender(config);
    const bool decides = TXM_RELEASE(blender, interop_ids) && *name && *interop_id;
    const char *by_id = decides ? config_canonical(config, interop_id) : NULL,
               *by_name = config_canonical(config, name);
    if (!by_name || (by_id && strcmp(by_id, by_name) != 0))
        return by_id;
    return TXM_RELEASE(blender, canonical_names) && !txm_color_is_role(config, name) ? by_name : name;
}

txm_scene_colors txm_scene_colors_of(const txm_color_config *config)
{
    return (txm_scene_colors){(void *)config, config_canonical, config_is_data};
}

/* ---- lint -------------------------------------------------------------------------------------------------------- */

const char *txm_scene_space_shown(const txm_scene_image *image)
{
    return image->colorspace_name ? image->colorspace_stored : "no colour space";
}

bool txm_scene_add_finding(txm_scene *scene, const char *id, size_t image, char *message)
{
    const char *kept = message ? txm_scene_keep(scene, message) : NULL;
    txm_scene_finding *f = kept ? TXM_STORE_ADD(&scene->store, &scene->findings) : NULL;
    free(message);
    if (f)
        *f = (txm_scene_finding){id, kept, image};
    return f != NULL;
}

bool txm_scene_report_normal(txm_scene *scene, size_t i)
{
    const txm_scene_image *image = &scene->images.data[i];
    return txm_scene_add_finding(scene, "normal-map-color", i,
                                 txm_asprintf("image \"%s\" feeds a %s but is in %s: set it to %s", image->name,
                                              scene->reader->normal, txm_scene_space_shown(image),
                                              scene->reader->data));
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

/* The files of a scene to convert, with the settings with which the render uses them. */

typedef struct entry_list {
    txm_scene *scene;
    TXM_TABLE(txm_scene_entry) entries;
} entry_list;

/* Takes ownership of `path`, which is NULL if memory is exhausted. */
static txm_status add_path(entry_list *list, size_t image, char *path, txm_error *err)
{
    const txm_scene_image *im = &list->scene->images.data[image];
    txm_scene_entry *e = path ? TXM_STORE_ADD(&list->scene->store, &list->entries) : NULL;
    if (!e) {
        free(path);
        return txm_scene_exhausted(list->scene, err);
    }
    bool many = im->state == TXM_SCENE_STATE_READY &&
                (im->source == TXM_SCENE_SOURCE_TILED || im->source == TXM_SCENE_SOURCE_SEQUENCE);
    *e = (txm_scene_entry){.path = path,
                           .pattern = many ? im->path : NULL,
                           .colorspace = im->colorspace,
                           .alpha = im->alpha,
                           .image = image};
    return TXM_OK;
}

/* Entries that are equal in these are the same work. */
static int compare_settings(const void *a, const void *b)
{
    const txm_scene_entry *left = a, *right = b;
    int order = strcmp(left->path, right->path);
    if (order == 0)
        order = strcmp(left->colorspace, right->colorspace);
    return order ? order : (int)left->alpha - (int)right->alpha;
}

/* Among entries that are the same work, that of the first image comes first and is kept. */
static int compare_entries(const void *a, const void *b)
{
    const txm_scene_entry *left = a, *right = b;
    int order = compare_settings(a, b);
    return order ? order : left->image < right->image ? -1 : left->image > right->image;
}

/* The final order: by image, then by path. */
static int compare_images(const void *a, const void *b)
{
    const txm_scene_entry *left = a, *right = b;
    if (left->image != right->image)
        return left->image < right->image ? -1 : 1;
    return strcmp(left->path, right->path);
}

txm_status txm_scene_entries(txm_scene *scene, const char *packed_folder, txm_scene_entry **out, size_t *count,
                             txm_error *err)
{
    txm_error_clear(err);
    entry_list list = {.scene = scene};
    txm_status status = TXM_OK;
    *out = NULL;
    *count = 0;
    for (size_t i = 0; status == TXM_OK && i < scene->images.count; i++) {
        const txm_scene_image *im = &scene->images.data[i];
        for (size_t f = 0; status == TXM_OK && im->state == TXM_SCENE_STATE_READY && f < im->file_count; f++)
            status = add_path(&list, i, txm_strdup(im->files[f].path), err);
        for (size_t p = 0; status == TXM_OK && packed_folder && p < im->packed_count; p++) {
            char *path = NULL;
            status = txm_scene_unpack(scene, i, p, packed_folder, &path, err);
            if (status == TXM_OK)
                status = add_path(&list, i, path, err);
        }
    }
    if (status != TXM_OK) {
        txm_scene_entries_free(&list.entries.data, list.entries.count);
        return status;
    }
    /* Data-blocks often share a file: of equal entries, that of the first image is kept. */
    txm_scene_entry *entries = list.entries.data;
    if (list.entries.count)
        qsort(entries, list.entries.count, sizeof *entries, compare_entries);
    for (size_t i = 0; i < list.entries.count; i++)
        if (*count && compare_settings(&entries[*count - 1], &entries[i]) == 0)
            free(entries[i].path);
        else
            entries[(*count)++] = entries[i];
    if (*count)
        qsort(entries, *count, sizeof *entries, compare_images);
    *out = entries;
    return TXM_OK;
}

/* Paths belong to the entries, other strings to the scene. */
void txm_scene_entries_free(txm_scene_entry **entries, size_t count)
{
    if (!entries)
        return;
    for (size_t i = 0; *entries && i < count; i++)
        free((*entries)[i].path);
    free(*entries);
    *entries = NULL;
}
