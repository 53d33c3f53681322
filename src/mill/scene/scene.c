/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens and closes a scene, and implements access to its tables. Opening runs the stages one after the other:
 * scanning, following libraries, collecting, and lint on request. Afterwards the tables are constant and any thread
 * may read them. The scene's store bounds its memory.
 */
#include "mill/scene/scene.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "base/words.h"
#include "mill/color/config.h"
#include "mill/scene/formats.h"
#include "mill/scene/nodes.h"

/* There are two reasons: memory is exhausted, or the scene needs more than its limit. */
txm_status txm_scene_exhausted(const txm_scene *blend, txm_error *err)
{
    const char *name = blend->files.count ? blend->files.data[0].path : "scene";
    if (!blend->store.over_limit)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for the images and node trees of the scene", name);
    return txm_fail(err, TXM_STATUS_TOO_LARGE,
                    "%s: the images and node trees of the scene need more than %d MiB of memory", name,
                    TXM_SCENE_STORE_BYTES >> 20);
}

/* Blender goes by the matrix, whatever the stored name is: it takes the config's space with the interop id of the
 * working space that the matrix is that of, or else the config's own. */
static const char *working_space(const txm_scene *blend, const txm_model *m)
{
    const txm_scene_colors *c = &blend->colors;
    const char *id = m->has_to_xyz ? txm_working_space_id(m->to_xyz) : NULL;
    if (!c->canonical) {
        return *m->working_space ? m->working_space : NULL;
    }
    if (m->has_to_xyz) {
        return id ? c->canonical(c->user, id) : NULL;
    }
    const char *name = *m->working_space ? c->canonical(c->user, m->working_space) : NULL;
    /* If the config lacks it, the user of the name reports that. */
    return name ? name : *m->working_space ? m->working_space : NULL;
}

/* The working space is given by its canonical name, if the config has it. */
static txm_status fill_info(txm_scene *blend, txm_error *err)
{
    const txm_scene_file *scene = &blend->files.data[0];
    const txm_model *m = &scene->model;
    blend->info = (txm_scene_info){.path = scene->path,
                                   .version = m->format.version,
                                   .subversion = m->subversion,
                                   .compression = m->compression,
                                   .pointer_bytes = m->format.pointer_bytes,
                                   .big_endian = m->format.big_endian,
                                   .format = "blend"};
    const char *name = working_space(blend, m);
    if (name) {
        blend->info.working_space = txm_store_string(&blend->store, name, strlen(name));
        if (!blend->info.working_space) {
            return txm_scene_exhausted(blend, err);
        }
    }
    return TXM_OK;
}

txm_status txm_scene_read_blend(txm_scene *blend, const char *path, txm_error *err)
{
    txm_status status = txm_scene_link(blend, path, err);
    if (status == TXM_OK) {
        status = fill_info(blend, err);
    }
    if (status == TXM_OK) {
        status = txm_scene_collect(blend, err);
    }
    return status == TXM_OK && blend->lint ? txm_scene_examine(blend, err) : status;
}

/* A file with another extension is taken for a .blend file, whatever it is called. */
static txm_status read_scene(txm_scene *blend, const char *path, txm_error *err)
{
    const txm_scene_format *format = txm_scene_format_of(path);
    return txm_scene_reader_of(format ? format->id : "blend")->read(blend, path, err);
}

/* On failure *out is NULL; libraries that fail are reported in a scene that opens. */
txm_status txm_scene_open(const char *path, const txm_scene_options *options, txm_scene **out, txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    if (!path) {
        return txm_fail(err, TXM_STATUS_USAGE, "no scene given: its path is NULL");
    }
    txm_scene_options o = {0};
    txm_status status = txm_options_take(&o, sizeof o, options, "txm_scene_options", err);
    if (status != TXM_OK) {
        return status;
    }
    txm_scene *blend = txm_calloc(1, sizeof *blend);
    char *absolute = txm_path_absolute(path);
    if (!blend || !absolute) {
        /* It may also be that the current folder does not exist any more. */
        status = txm_fail_errno(err, errno, "%s: cannot open the scene", path);
        free(blend);
        free(absolute);
        return status;
    }
    blend->store.limit_bytes = TXM_SCENE_STORE_BYTES;
    blend->colors = o.colors;
    blend->opened = o.opened;
    blend->lint = o.lint;
    blend->cancel = o.cancel;
    blend->every_variant = o.every_variant;
    blend->maps = o.maps;
    blend->map_count = o.map_count;
    txm_error own = {0};
    status = read_scene(blend, absolute, &own);
    if (status != TXM_OK) {
        txm_explain_pointer(absolute, &own);
        status = txm_fail_as(err, &own);
    }
    free(absolute);
    if (status != TXM_OK) {
        txm_scene_close(&blend);
        return status;
    }
    *out = blend;
    return TXM_OK;
}

/* Frees the tables that have memory of their own, then the store with everything else. */
void txm_scene_close(txm_scene **blend)
{
    txm_scene *b = blend ? *blend : NULL;
    if (!b) {
        return;
    }
    for (size_t i = 0; i < b->files.count; i++) {
        txm_model_free(&b->files.data[i].model);
    }
    for (size_t i = 0; i < b->images.count; i++) {
        free((void *)b->images.data[i].files);
        free((void *)b->images.data[i].packed);
    }
    free(b->files.data);
    free(b->libraries.data);
    free(b->uses.data);
    free(b->images.data);
    free(b->origins.data);
    free(b->users.data);
    free(b->findings.data);
    txm_store_free(&b->store);
    free(b);
    *blend = NULL;
}

/* Results are valid until the scene is closed, and NULL beyond the last item. */
const txm_scene_info *txm_scene_info_of(const txm_scene *blend)
{
    return &blend->info;
}

size_t txm_scene_image_count(const txm_scene *blend)
{
    return blend->images.count;
}

const txm_scene_image *txm_scene_image_at(const txm_scene *blend, size_t index)
{
    return index < blend->images.count ? &blend->images.data[index] : NULL;
}

size_t txm_scene_library_count(const txm_scene *blend)
{
    return blend->libraries.count;
}

const txm_scene_library *txm_scene_library_at(const txm_scene *blend, size_t index)
{
    return index < blend->libraries.count ? &blend->libraries.data[index] : NULL;
}

size_t txm_scene_finding_count(const txm_scene *blend)
{
    return blend->findings.count;
}

const txm_scene_finding *txm_scene_finding_at(const txm_scene *blend, size_t index)
{
    return index < blend->findings.count ? &blend->findings.data[index] : NULL;
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

/* ---- entries ----------------------------------------------------------------------------------------------------- */

/* The files of a scene to convert, with the settings with which the render uses them. */

typedef struct entry_list {
    txm_scene *blend;
    TXM_TABLE(txm_scene_entry) entries;
} entry_list;

/* Takes ownership of `path`, which is NULL if memory is exhausted. */
static txm_status add_path(entry_list *list, size_t image, char *path, txm_error *err)
{
    const txm_scene_image *im = &list->blend->images.data[image];
    txm_scene_entry *e = path ? TXM_STORE_ADD(&list->blend->store, &list->entries) : NULL;
    if (!e) {
        free(path);
        return txm_scene_exhausted(list->blend, err);
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

/* Packed images are unpacked here, if a folder was given. */
static txm_status add_scene_image(entry_list *list, size_t image, const char *packed_folder, txm_error *err)
{
    const txm_scene_image *im = &list->blend->images.data[image];
    txm_status status = TXM_OK;
    for (size_t f = 0; status == TXM_OK && im->state == TXM_SCENE_STATE_READY && f < im->file_count; f++) {
        status = add_path(list, image, txm_strdup(im->files[f].path), err);
    }
    for (size_t p = 0; status == TXM_OK && packed_folder && p < im->packed_count; p++) {
        char *path = NULL;
        status = txm_scene_unpack(list->blend, image, p, packed_folder, &path, err);
        if (status == TXM_OK) {
            status = add_path(list, image, path, err);
        }
    }
    return status;
}

/* NULL sorts before every text. */
static int compare_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

/* Entries that are equal in these are the same work. */
static int compare_settings(const void *a, const void *b)
{
    const txm_scene_entry *left = a, *right = b;
    int order = strcmp(left->path, right->path);
    if (order == 0) {
        order = compare_text(left->colorspace, right->colorspace);
    }
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
    if (left->image != right->image) {
        return left->image < right->image ? -1 : 1;
    }
    return strcmp(left->path, right->path);
}

/* Data-blocks often share a file: of equal entries, that of the first image is kept. */
static size_t drop_repeated(txm_scene_entry *entries, size_t count)
{
    size_t kept = 0;
    if (count == 0) {
        return 0;
    }
    qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && compare_settings(&entries[kept - 1], &entries[i]) == 0) {
            free(entries[i].path);
        } else {
            entries[kept++] = entries[i];
        }
    }
    qsort(entries, kept, sizeof *entries, compare_images);
    return kept;
}

/* Makes one entry per file and settings, however many images use them. */
txm_status txm_scene_entries(txm_scene *blend, const char *packed_folder, txm_scene_entry **out, size_t *count,
                             txm_error *err)
{
    txm_error_clear(err);
    entry_list list = {.blend = blend};
    txm_status status = TXM_OK;
    *out = NULL;
    *count = 0;
    for (size_t i = 0; status == TXM_OK && i < blend->images.count; i++) {
        status = add_scene_image(&list, i, packed_folder, err);
    }
    if (status != TXM_OK) {
        txm_scene_entries_free(&list.entries.data, list.entries.count);
        return status;
    }
    *count = drop_repeated(list.entries.data, list.entries.count);
    *out = list.entries.data;
    return TXM_OK;
}

/* Paths belong to the entries, other strings to the scene. */
void txm_scene_entries_free(txm_scene_entry **entries, size_t count)
{
    if (!entries) {
        return;
    }
    for (size_t i = 0; *entries && i < count; i++) {
        free((*entries)[i].path);
    }
    free(*entries);
    *entries = NULL;
}
