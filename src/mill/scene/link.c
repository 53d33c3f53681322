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
#include "base/whole.h"
#include "mill/scene/scene.h"
#include "mill/scene/scene_scan.h"

/* A data-block to visit. */
typedef struct visit {
    uint32_t file, id;
} visit;

typedef struct linker {
    txm_scene *blend;
    TXM_TABLE(visit) stack;
} linker;

/* ---- files ---------------------------------------------------------------------------------------------------- */

/* Copies a packed library out: it may itself be compressed, inside a compressed file. */
static txm_status copy_packed(txm_stream *from, const txm_packed *packed, int fd, txm_error *err)
{
    static const size_t chunk_bytes = 256 << 10;
    uint8_t *chunk = malloc(chunk_bytes);
    if (!chunk) {
        return txm_no_memory(err, txm_stream_name(from));
    }
    txm_status status = txm_stream_seek(from, packed->position, err);
    for (uint64_t done = 0; status == TXM_OK && done < packed->bytes;) {
        size_t n = packed->bytes - done < chunk_bytes ? (size_t)(packed->bytes - done) : chunk_bytes;
        status = txm_stream_read(from, chunk, n, err);
        const int rc = status == TXM_OK ? txm_write_all(fd, chunk, n) : 0;
        if (rc != 0) {
            status = txm_fail_errno(err, rc, "%s: copying a packed library to a temporary file", txm_stream_name(from));
        }
        done += n;
    }
    free(chunk);
    return status;
}

/* Streams need to seek, so a packed library inside a compressed file is written to a temporary file once. */
static txm_status open_packed(const txm_scene *blend, const txm_scene_file *file, txm_stream **out, txm_error *err)
{
    txm_stream *holder = NULL;
    txm_status status = txm_scene_stream(blend, file->inside, &holder, err);
    if (status != TXM_OK) {
        return status;
    }
    const char *folder = getenv("TMPDIR");
    int fd = txm_nameless_file(folder && *folder ? folder : "/tmp", "packed");
    if (fd < 0) {
        status = txm_fail_errno(err, errno, "%s: cannot make a temporary file for a packed library (set TMPDIR)",
                                file->path);
    } else {
        status = copy_packed(holder, &file->packed, fd, err);
    }
    if (status == TXM_OK) {
        status = txm_stream_from_fd(fd, file->path, out, err);
    } else if (fd >= 0) {
        close(fd);
    }
    txm_stream_close(&holder);
    return status;
}

txm_status txm_scene_stream(const txm_scene *blend, uint32_t file, txm_stream **out, txm_error *err)
{
    const txm_scene_file *f = &blend->files.data[file];
    return f->inside == TXM_NO_INDEX ? txm_stream_open(f->path, out, err) : open_packed(blend, f, out, err);
}

/* The scene is scanned without a graph; libraries with one, since only what is linked counts in them. */
static txm_status read_blend_file(txm_scene *blend, uint32_t file, txm_error *err)
{
    txm_scan_options options = {.graph = file != 0, .links = blend->lint};
    txm_model model = {0};
    txm_stream *stream = NULL;
    txm_status status = txm_scene_stream(blend, file, &stream, err);
    if (status == TXM_OK) {
        status = txm_scan(stream, &options, &blend->store, &model, err);
    }
    txm_stream_close(&stream);
    if (status == TXM_OK) {
        blend->files.data[file].model = model;
    }
    return status;
}

/* The number of libraries is bounded. */
static txm_status add_library(txm_scene *blend, const char *path, uint32_t *index, txm_error *err)
{
    if (blend->files.count == TXM_SCENE_MAX_FILES) {
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: more than %d linked libraries", blend->files.data[0].path,
                        TXM_SCENE_MAX_FILES);
    }
    char *folder = txm_path_dir(path);
    const char *kept_path = txm_store_string(&blend->store, path, strlen(path));
    const char *kept_folder = folder ? txm_store_string(&blend->store, folder, strlen(folder)) : NULL;
    free(folder);
    txm_scene_file *file = kept_path && kept_folder ? TXM_STORE_ADD(&blend->store, &blend->files) : NULL;
    if (!file) {
        return txm_scene_exhausted(blend, err);
    }
    *file = (txm_scene_file){.path = kept_path, .folder = kept_folder, .library = TXM_NO_INDEX, .inside = TXM_NO_INDEX};
    *index = (uint32_t)blend->files.count - 1;
    return TXM_OK;
}

/* ---- libraries ------------------------------------------------------------------------------------------------ */

/* A library that cannot be read is a finding about the scene, not a failure, unless memory is exhausted. */
static txm_status settle_library(txm_scene *blend, uint32_t file, txm_status status, txm_error *why, txm_error *err)
{
    txm_scene_library *library = &blend->libraries.data[blend->files.data[file].library];
    if (status == TXM_STATUS_NO_MEMORY) {
        return txm_fail_as(err, why);
    }
    if (status != TXM_OK && txm_explain_pointer(library->path, why)) {
        status = why->status;
    }
    library->status = status;
    if (status == TXM_OK) {
        return TXM_OK;
    }
    library->state = status == TXM_STATUS_NOT_FOUND ? TXM_SCENE_LIBRARY_STATE_MISSING : TXM_SCENE_LIBRARY_STATE_BROKEN;
    library->message = txm_store_string(&blend->store, why->message, strlen(why->message));
    return library->message ? TXM_OK : txm_scene_exhausted(blend, err);
}

/* Reads a library whose file was just added. */
static txm_status read_library(txm_scene *blend, uint32_t file, txm_error *err)
{
    unsigned nesting = 0;
    for (uint32_t f = file; blend->files.data[f].inside != TXM_NO_INDEX; f = blend->files.data[f].inside) {
        nesting++;
    }
    if (nesting > TXM_SCENE_MAX_NESTING) {
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: nested in more than %d packed libraries",
                        blend->files.data[file].path, TXM_SCENE_MAX_NESTING);
    }
    return read_blend_file(blend, file, err);
}

/* The file of a library that file `from` names; it is read if it is new. */
static txm_status open_library(txm_scene *blend, uint32_t from, const txm_library *named, uint32_t *index,
                               txm_error *err)
{
    const char *path = txm_scene_path(blend, named->path, blend->files.data[from].folder);
    bool packed = named->packed.bytes > 0;
    if (!path) {
        return txm_scene_exhausted(blend, err);
    }
    for (uint32_t i = 0; i < blend->files.count; i++) {
        txm_scene_file *f = &blend->files.data[i];
        if (strcmp(f->path, path) == 0 &&
            (!packed || (f->inside == from && f->packed.position == named->packed.position))) {
            *index = i;
            return TXM_OK;
        }
    }
    txm_status status = add_library(blend, path, index, err);
    if (status != TXM_OK) {
        return status;
    }
    txm_scene_library *library = TXM_STORE_ADD(&blend->store, &blend->libraries);
    if (!library) {
        return txm_scene_exhausted(blend, err);
    }
    txm_scene_file *file = &blend->files.data[*index];
    *library = (txm_scene_library){.path = file->path, .parent = blend->files.data[from].path, .message = ""};
    file->library = (uint32_t)blend->libraries.count - 1;
    if (packed) {
        library->state = TXM_SCENE_LIBRARY_STATE_PACKED;
        file->inside = from;
        file->packed = named->packed;
    }
    txm_error why = {0};
    status = read_library(blend, *index, &why);
    return settle_library(blend, *index, status, &why, err);
}

/* ---- visiting ------------------------------------------------------------------------------------------------- */

/* Marks a data-block when it is put on the stack, so that it is there once. */
static txm_status reach(linker *l, uint32_t file, uint32_t id, txm_error *err)
{
    txm_id *target = &l->blend->files.data[file].model.ids.data[id];
    if (target->reached) {
        return TXM_OK;
    }
    visit *v = TXM_STORE_ADD(&l->blend->store, &l->stack);
    if (!v) {
        return txm_scene_exhausted(l->blend, err);
    }
    target->reached = true;
    *v = (visit){file, id};
    return TXM_OK;
}

/* Finds the data-block for which a placeholder was stored. */
static txm_status visit_placeholder(linker *l, uint32_t file, uint32_t id, txm_error *err)
{
    txm_scene *blend = l->blend;
    txm_model *model = &blend->files.data[file].model;
    const char *name = model->ids.data[id].name;
    uint32_t library = txm_model_find(model, model->ids.data[id].library);
    if (library == TXM_NO_INDEX || model->ids.data[library].own_library == TXM_NO_INDEX) {
        return TXM_OK; /* without its library it cannot be found, as in Blender */
    }
    /* The model's table does not move, unlike the table of files, which grows when a library is opened. */
    txm_library *named = &model->libraries.data[model->ids.data[library].own_library];
    if (named->scene_file == TXM_NO_INDEX) {
        txm_status status = open_library(blend, file, named, &named->scene_file, err);
        if (status != TXM_OK) {
            return status;
        }
    }
    uint32_t other = named->scene_file;
    uint32_t target = txm_model_named(&blend->files.data[other].model, name);
    uint32_t number = blend->files.data[other].library;
    if (target == TXM_NO_INDEX) {
        if (number != TXM_NO_INDEX && blend->libraries.data[number].status == TXM_OK) {
            blend->libraries.data[number].lost++;
        }
        return TXM_OK;
    }
    txm_id *self = &blend->files.data[file].model.ids.data[id];
    self->target_file = other;
    self->target = target;
    return reach(l, other, target, err);
}

/* Uses a stack instead of recursion, since the scene decides the depth. */
static txm_status visit_all(linker *l, txm_error *err)
{
    txm_status status = TXM_OK;
    while (status == TXM_OK && l->stack.count > 0) {
        visit v = l->stack.data[--l->stack.count];
        const txm_id id = l->blend->files.data[v.file].model.ids.data[v.id];
        if (id.role == TXM_ROLE_PLACEHOLDER) {
            status = visit_placeholder(l, v.file, v.id, err);
        }
        for (uint32_t e = id.edges.begin; status == TXM_OK && e < id.edges.end; e++) {
            status = reach(l, v.file, l->blend->files.data[v.file].model.edges.data[e], err);
        }
    }
    return status;
}

/* Starts at all trees of the scene, and follows everything that they link. */
txm_status txm_scene_link(txm_scene *blend, const char *path, txm_error *err)
{
    linker l = {.blend = blend};
    uint32_t scene;
    txm_status status = add_library(blend, path, &scene, err);
    if (status == TXM_OK) {
        status = read_blend_file(blend, scene, err);
    }
    /* In the scene itself every tree counts, whether an object uses it or not. */
    for (uint32_t i = 0; status == TXM_OK && i < blend->files.data[scene].model.ids.count; i++) {
        txm_role role = blend->files.data[scene].model.ids.data[i].role;
        if (role == TXM_ROLE_TREE || role == TXM_ROLE_PLACEHOLDER) {
            status = reach(&l, scene, i, err);
        }
    }
    if (status == TXM_OK) {
        status = visit_all(&l, err);
    }
    free(l.stack.data);
    return status;
}

/* Follows a pointer to its data-block, through placeholders of any number of libraries. */
bool txm_scene_follow(const txm_scene *blend, uint32_t *file, uint64_t address, uint32_t *id)
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
