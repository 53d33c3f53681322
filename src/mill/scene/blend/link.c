/* SPDX-License-Identifier: Apache-2.0
 *
 * Follows libraries, and finds all data-blocks that a render can reach. Each file is read once, however many files
 * link it, even in cycles: a work list has the data-blocks to visit, and each is visited once. A library that is
 * missing, damaged or nested too deep is a finding and not a failure, since the other images are still known. Packed
 * libraries are copied to an unlinked temporary file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/owner.h"
#include "base/path.h"
#include "mill/scene/blend/blend.h"
#include "mill/scene/blend/scan.h"

/* A data-block to visit. */
typedef struct visit {
    uint32_t file, id;
} visit;

typedef struct linker {
    txm_scene *scene;
    TXM_TABLE(visit) stack;
} linker;

/* ---- files ---------------------------------------------------------------------------------------------------- */

/* Streams need to seek, so a packed library inside a compressed file is written to a temporary file once. */
txm_status txm_blend_stream(const txm_blend *blend, uint32_t file, txm_stream **out, txm_error *err)
{
    const txm_blend_file *f = &blend->files.data[file];
    if (f->inside == TXM_NO_INDEX)
        return txm_stream_open(f->path, out, err);
    txm_stream *holder = NULL;
    txm_status status = txm_blend_stream(blend, f->inside, &holder, err);
    if (status != TXM_OK)
        return status;
    const char *folder = getenv("TMPDIR");
    int fd = txm_nameless_file(folder && *folder ? folder : "/tmp", "packed");
    if (fd < 0)
        status =
            txm_fail_errno(err, errno, "%s: cannot make a temporary file for a packed library (set TMPDIR)", f->path);
    else
        status = txm_packed_pour(holder, &f->packed, fd, NULL, txm_stream_name(holder),
                                 "copying a packed library to a temporary file", err);
    if (status == TXM_OK)
        status = txm_stream_from_fd(fd, f->path, out, err);
    else if (fd >= 0)
        close(fd);
    txm_stream_close(&holder);
    return status;
}

/* The scene is scanned without a graph; libraries with one, since only what is linked counts in them. */
static txm_status read_file(txm_scene *scene, uint32_t file, txm_error *err)
{
    const txm_scan_options options = {.graph = file != 0, .links = scene->options.lint};
    txm_blend_file *files = scene->blend->files.data;
    txm_stream *stream = NULL;
    unsigned nesting = 0;
    for (uint32_t f = file; files[f].inside != TXM_NO_INDEX; f = files[f].inside)
        nesting++;
    if (nesting > TXM_BLEND_MAX_NESTING)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: nested in more than %d packed libraries", files[file].path,
                        TXM_BLEND_MAX_NESTING);
    txm_status status = txm_blend_stream(scene->blend, file, &stream, err);
    if (status == TXM_OK)
        status = txm_scan(stream, &options, &scene->store, &files[file].model, err);
    txm_stream_close(&stream);
    return status;
}

static txm_status add_file(txm_scene *scene, const char *path, uint32_t *index, txm_error *err)
{
    if (scene->blend->files.count == TXM_SCENE_MAX_FILES) {
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: more than %d linked libraries", scene->info.path,
                        TXM_SCENE_MAX_FILES);
    }
    char *folder = txm_path_dir(path);
    const char *kept_path = txm_scene_keep(scene, path);
    const char *kept_folder = folder ? txm_scene_keep(scene, folder) : NULL;
    free(folder);
    txm_blend_file *file = kept_path && kept_folder ? TXM_STORE_ADD(&scene->store, &scene->blend->files) : NULL;
    if (!file)
        return txm_scene_exhausted(scene, err);
    *file = (txm_blend_file){.path = kept_path, .folder = kept_folder, .library = TXM_NO_INDEX, .inside = TXM_NO_INDEX};
    *index = (uint32_t)scene->blend->files.count - 1;
    return TXM_OK;
}

/* ---- libraries ------------------------------------------------------------------------------------------------ */

/* The file of a library that file `from` names; it is read if it is new. A library that cannot be read is a finding
 * about the scene, not a failure, unless memory is exhausted. */
static txm_status open_library(txm_scene *scene, uint32_t from, const txm_library *named, uint32_t *index,
                               txm_error *err)
{
    txm_blend *blend = scene->blend;
    const char *path = txm_scene_path(scene, named->path, blend->files.data[from].folder);
    bool packed = named->packed.bytes > 0;
    if (!path)
        return txm_scene_exhausted(scene, err);
    for (uint32_t i = 0; i < blend->files.count; i++) {
        txm_blend_file *f = &blend->files.data[i];
        if (strcmp(f->path, path) == 0 &&
            (!packed || (f->inside == from && f->packed.position == named->packed.position))) {
            *index = i;
            return TXM_OK;
        }
    }
    txm_status status = add_file(scene, path, index, err);
    if (status != TXM_OK)
        return status;
    txm_scene_library *library = TXM_STORE_ADD(&scene->store, &scene->libraries);
    if (!library)
        return txm_scene_exhausted(scene, err);
    txm_blend_file *file = &blend->files.data[*index];
    *library = (txm_scene_library){.path = file->path, .parent = blend->files.data[from].path, .message = ""};
    file->library = (uint32_t)scene->libraries.count - 1;
    if (packed) {
        library->state = TXM_SCENE_LIBRARY_STATE_PACKED;
        file->inside = from;
        file->packed = named->packed;
    }
    txm_error why = {0};
    status = read_file(scene, *index, &why);
    if (status == TXM_STATUS_NO_MEMORY)
        return txm_fail_as(err, &why);
    if (status != TXM_OK && txm_explain_pointer(library->path, &why))
        status = why.status;
    library->status = status;
    if (status == TXM_OK)
        return TXM_OK;
    library->state = status == TXM_STATUS_NOT_FOUND ? TXM_SCENE_LIBRARY_STATE_MISSING : TXM_SCENE_LIBRARY_STATE_BROKEN;
    library->message = txm_scene_keep(scene, why.message);
    return library->message ? TXM_OK : txm_scene_exhausted(scene, err);
}

/* ---- visiting ------------------------------------------------------------------------------------------------- */

/* Marks a data-block when it is put on the stack, so that it is there once. */
static txm_status reach(linker *l, uint32_t file, uint32_t id, txm_error *err)
{
    txm_id *target = &l->scene->blend->files.data[file].model.ids.data[id];
    if (target->reached)
        return TXM_OK;
    visit *v = TXM_STORE_ADD(&l->scene->store, &l->stack);
    if (!v)
        return txm_scene_exhausted(l->scene, err);
    target->reached = true;
    *v = (visit){file, id};
    return TXM_OK;
}

static txm_status visit_placeholder(linker *l, uint32_t file, uint32_t id, txm_error *err)
{
    txm_scene *scene = l->scene;
    txm_model *model = &scene->blend->files.data[file].model;
    const char *name = model->ids.data[id].name;
    uint32_t library = txm_model_find(model, model->ids.data[id].library);
    if (library == TXM_NO_INDEX || model->ids.data[library].own_library == TXM_NO_INDEX)
        return TXM_OK; /* without its library it cannot be found, as in Blender */
    /* The model's table does not move, unlike the table of files, which grows when a library is opened. */
    txm_library *named = &model->libraries.data[model->ids.data[library].own_library];
    if (named->scene_file == TXM_NO_INDEX) {
        txm_status status = open_library(scene, file, named, &named->scene_file, err);
        if (status != TXM_OK)
            return status;
    }
    txm_blend_file *files = scene->blend->files.data;
    uint32_t other = named->scene_file, number = files[other].library;
    uint32_t target = txm_model_named(&files[other].model, name);
    if (target == TXM_NO_INDEX) {
        if (number != TXM_NO_INDEX && scene->libraries.data[number].status == TXM_OK)
            scene->libraries.data[number].lost++;
        return TXM_OK;
    }
    txm_id *self = &files[file].model.ids.data[id];
    self->target_file = other;
    self->target = target;
    return reach(l, other, target, err);
}

/* Starts at all trees of the scene, and follows everything that they link. A stack takes the place of recursion, since
 * the scene decides the depth. */
txm_status txm_blend_link(txm_scene *scene, const char *path, txm_error *err)
{
    linker l = {.scene = scene};
    txm_blend *blend = scene->blend;
    uint32_t first;
    txm_status status = add_file(scene, path, &first, err);
    if (status == TXM_OK)
        status = read_file(scene, first, err);
    /* In the scene itself every tree counts, whether an object uses it or not. */
    for (uint32_t i = 0; status == TXM_OK && i < blend->files.data[first].model.ids.count; i++) {
        txm_role role = blend->files.data[first].model.ids.data[i].role;
        if (role == TXM_ROLE_TREE || role == TXM_ROLE_PLACEHOLDER)
            status = reach(&l, first, i, err);
    }
    while (status == TXM_OK && l.stack.count > 0) {
        visit v = l.stack.data[--l.stack.count];
        const txm_id id = blend->files.data[v.file].model.ids.data[v.id];
        if (id.role == TXM_ROLE_PLACEHOLDER)
            status = visit_placeholder(&l, v.file, v.id, err);
        for (uint32_t e = id.edges.begin; status == TXM_OK && e < id.edges.end; e++)
            status = reach(&l, v.file, blend->files.data[v.file].model.edges.data[e], err);
    }
    free(l.stack.data);
    return status;
}

bool txm_blend_follow(const txm_blend *blend, uint32_t *file, uint64_t address, uint32_t *id)
{
    uint32_t at = txm_model_find(&blend->files.data[*file].model, address);
    /* Two libraries may each claim that the other has it. */
    for (int hops = 0; at != TXM_NO_INDEX && hops < 64; hops++) {
        const txm_id *found = &blend->files.data[*file].model.ids.data[at];
        if (found->role != TXM_ROLE_PLACEHOLDER) {
            *id = at;
            return true;
        }
        *file = found->target_file;
        at = found->target;
    }
    return false;
}
