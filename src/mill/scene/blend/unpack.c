/* SPDX-License-Identifier: Apache-2.0
 *
 * Packed files: their names, which are those that Blender's own unpacking would give, and writing them to a folder. A
 * name without an extension gets one by the first bytes of the file. An existing file with the same bytes is kept; if
 * one has other bytes, the name gets a number. Names from the scene never leave the folder, and always have an
 * extension of images, so that settings files of other tools, or a .txmill, are never written.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/clock.h"
#include "base/path.h"
#include "base/whole.h"
#include "mill/scene/blend/blend.h"
#include "mill/source/formats.h"
#include "mill/write/publish.h"
#include "txmill/format.h"

enum {
    CHUNK_BYTES = 256 << 10,
    MAGIC_BYTES = 16,
    EXTENSION_BYTES = 8,
    STEM_MAX_BYTES =
        240, /* length of a file name, which with number and extension stays below the 255 bytes of file systems */
    MAX_NAMES = 1000
};

/* ---- names ---------------------------------------------------------------------------------------------------- */

/* Appends the extension, and cuts the name so that it can be numbered. Takes ownership of `name`. NULL if memory is
 * exhausted. */
static char *with_extension(char *name, const char *extension)
{
    size_t n = strlen(name), own = *extension && txm_path_has_ext(name, extension) ? strlen(extension) : 0;
    char *end = name + n - own;
    const char *kept = own ? end : extension;
    size_t stem = n - own < STEM_MAX_BYTES ? n - own : STEM_MAX_BYTES;
    char *whole = txm_asprintf("%.*s%s", (int)txm_path_cut(name, stem), name, kept);
    free(name);
    return whole;
}

/* Reads the first bytes of a packed file, filled up with zeros. If damage prevents that, all are zeros, and the name
 * then has no extension. */
static txm_status read_magic(const txm_blend *blend, uint32_t file, const txm_packed *packed,
                             uint8_t magic[MAGIC_BYTES], txm_error *err)
{
    txm_stream *stream = NULL;
    txm_error why = {0};
    memset(magic, 0, MAGIC_BYTES);
    size_t bytes = packed->bytes < MAGIC_BYTES ? (size_t)packed->bytes : MAGIC_BYTES;
    txm_status status = txm_blend_stream(blend, file, &stream, &why);
    if (status == TXM_OK)
        status = txm_stream_seek(stream, packed->position, &why);
    if (status == TXM_OK)
        status = txm_stream_read(stream, magic, bytes, &why);
    txm_stream_close(&stream);
    if (status != TXM_OK)
        memset(magic, 0, MAGIC_BYTES);
    return status == TXM_OK || status == TXM_STATUS_CORRUPT ? TXM_OK : txm_fail_as(err, &why);
}

/* Only extensions of images are allowed; a name without one gets it from the content. If the content is unknown it has
 * none, and is refused when it is unpacked. NULL with the failure recorded. */
static const char *packed_name(txm_scene *scene, const txm_blend_file *file, const txm_image *image,
                               const txm_packed *packed, const txm_scene_image *out, txm_error *err)
{
    const char *id_name = file->model.ids.data[image->id].name, *base = *packed->path ? packed->path : out->stored_path;
    for (const char *p = base; *p; p++)
        base = *p == '/' || *p == '\\' ? p + 1 : base; /* the path may be from Windows */
    /* A tile of a nameless image "wood" is called "wood.1002". */
    id_name = strlen(id_name) > 2 ? id_name + 2 : "image";
    char *name = *base                                   ? txm_strdup(base)
                 : out->source == TXM_SCENE_SOURCE_TILED ? txm_asprintf("%s.%u", id_name, packed->tile)
                                                         : txm_strdup(id_name);
    uint8_t magic[MAGIC_BYTES];
    char extension[EXTENSION_BYTES];
    if (name) {
        /* Makes a name safe. In a name made of an ID's name, which may contain anything, characters that file systems
         * refuse become underscores. In every name, so do control characters and leading dots: "." and ".." are
         * folders, and other such files are hidden or are settings. */
        bool of_id = !*base;
        bool in_front = true;
        for (char *p = name; *p; p++) {
            in_front = in_front && *p == '.';
            if ((unsigned char)*p < 0x20 || *p == 0x7F || in_front || (of_id && strchr("/\\?*:|\"<>", *p)))
                *p = '_';
        }
    }
    if (name && *base && txm_is_image_name(name)) {
        name = with_extension(name, txm_path_ext(name));
    } else if (name) {
        if (read_magic(scene->blend, (uint32_t)(file - scene->blend->files.data), packed, magic, err) != TXM_OK) {
            free(name);
            return NULL;
        }
        /* As Blender names it by its content; without an extension if that is unknown. */
        const txm_image_format *format = txm_format_of_head(magic, MAGIC_BYTES);
        size_t n = format && format->traits & TXM_FORMAT_UNPACKED ? txm_format_extension_bytes(format) : 0;
        *extension = 0;
        if (n && n < EXTENSION_BYTES)
            snprintf(extension, EXTENSION_BYTES, ".%.*s", (int)n, format->extensions);
        name = with_extension(name, extension);
    }
    const char *kept = name ? txm_scene_keep(scene, name) : NULL;
    free(name);
    if (!kept)
        txm_scene_exhausted(scene, err);
    return kept;
}

/* Names are decided when the scene is opened, so that a list shows what unpacking will write. */
txm_status txm_blend_name_packed(txm_scene *scene, const txm_blend_file *file, const txm_image *image,
                                 txm_scene_image *out, txm_error *err)
{
    TXM_TABLE(txm_scene_packed_file) table = {0};
    for (uint32_t i = image->packed.begin; out->state == TXM_SCENE_STATE_PACKED && i < image->packed.end; i++) {
        const txm_packed *packed = &file->model.packed.data[i];
        txm_error own = {0};
        const char *name = packed_name(scene, file, image, packed, out, &own);
        txm_scene_packed_file *p = name ? TXM_STORE_ADD(&scene->store, &table) : NULL;
        if (!p) {
            free(table.data);
            return name ? txm_scene_exhausted(scene, err) : txm_fail_as(err, &own);
        }
        /* Images that are not UDIM sets also store the number of a first tile. */
        *p = (txm_scene_packed_file){name, out->source == TXM_SCENE_SOURCE_TILED ? packed->tile : 0, packed->bytes};
    }
    out->packed = table.data;
    out->packed_count = table.count;
    return TXM_OK;
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

/* Works in chunks, since packed images may be gigabytes large. */
txm_status txm_packed_pour(txm_stream *stream, const txm_packed *packed, int fd, bool *same, const char *subject,
                           const char *failure, txm_error *err)
{
    uint8_t *chunk = malloc(2 * CHUNK_BYTES);
    if (!chunk)
        return txm_no_memory(err, subject);
    bool equal = true;
    txm_status status = txm_stream_seek(stream, packed->position, err);
    for (uint64_t done = 0; status == TXM_OK && equal && done < packed->bytes;) {
        size_t n = packed->bytes - done < CHUNK_BYTES ? (size_t)(packed->bytes - done) : CHUNK_BYTES;
        status = txm_stream_read(stream, chunk, n, err);
        if (status == TXM_OK && same) {
            const int64_t got = txm_read_most(fd, chunk + CHUNK_BYTES, n);
            equal = got == (int64_t)n && memcmp(chunk, chunk + CHUNK_BYTES, n) == 0;
            status = got < 0 ? txm_fail_errno(err, errno, "%s: %s", subject, failure) : TXM_OK;
        } else if (status == TXM_OK) {
            const int rc = txm_write_all(fd, chunk, n);
            status = rc ? txm_fail_errno(err, rc, "%s: %s", subject, failure) : TXM_OK;
        }
        done += n;
    }
    free(chunk);
    if (same)
        *same = status == TXM_OK && equal;
    return status;
}

/* Whether the file at `path` already has the packed bytes. */
static txm_status holds(const char *path, txm_stream *stream, const txm_packed *packed, bool *same, txm_error *err)
{
    static const char failure[] = "cannot be compared with the packed image";
    struct stat st;
    *same = false;
    if (stat(path, &st) != 0)
        return errno == ENOENT ? TXM_OK : txm_fail_errno(err, errno, "%s: cannot be examined", path);
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != packed->bytes)
        return TXM_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) /* a file that cannot be read counts as a different one */
        return errno == EACCES || errno == ENOENT ? TXM_OK : txm_fail_errno(err, errno, "%s: %s", path, failure);
    txm_status status = txm_packed_pour(stream, packed, fd, same, path, failure, err);
    close(fd);
    return status;
}

/* Publishes the file complete or not at all, as tx files are. */
static txm_status write_file(const char *path, txm_stream *stream, const txm_packed *packed, txm_error *err)
{
    txm_publish *publish = NULL;
    txm_status status = txm_publish_begin(path, TXM_PUBLISH_IN_NEW_FOLDER, &publish, err);
    if (status != TXM_OK)
        return status;
    status =
        txm_packed_pour(stream, packed, txm_publish_fd(publish), NULL, path, "cannot write the unpacked image", err);
    if (status != TXM_OK) {
        txm_publish_abort(&publish);
        return status;
    }
    const struct timespec now = txm_clock_today();
    return txm_publish_commit(&publish, &now, err);
}

/* Finds the first name that is free or has the same bytes. With `there` nothing is written, and it receives whether
 * the file exists. */
static txm_status unpack(txm_stream *stream, const txm_packed *packed, const char *folder, const char *name, char **out,
                         bool *there, txm_error *err)
{
    for (unsigned number = 0; number < MAX_NAMES; number++) {
        struct stat st;
        bool same = false;
        const char *extension = txm_path_ext(name); /* "wood.png", then "wood.001.png" and so on */
        char *own = number == 0 ? txm_strdup(name)
                                : txm_asprintf("%.*s.%03u%s", (int)(extension - name), name, number, extension);
        char *path = own ? txm_path_join(folder, own) : NULL;
        free(own);
        txm_status status = path ? holds(path, stream, packed, &same, err)
                                 : txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory to unpack %s", folder, name);
        bool fresh = status == TXM_OK && !same && lstat(path, &st) != 0;
        if (there)
            *there = same;
        else if (fresh)
            status = write_file(path, stream, packed, err);
        if (status != TXM_OK || (!same && !fresh)) {
            free(path);
            if (status != TXM_OK)
                return status;
            continue;
        }
        *out = path;
        return TXM_OK;
    }
    return txm_fail(err, TXM_STATUS_USAGE, "%s: %d other files are already named like %s: unpack into another folder",
                    folder, MAX_NAMES, name);
}

/* The path belongs to the caller. */
static txm_status find_or_unpack(txm_scene *scene, size_t image, size_t packed, const char *folder, char **path,
                                 bool *there, txm_error *err)
{
    *path = NULL;
    if (image >= scene->images.count || packed >= scene->images.data[image].packed_count)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: there is no packed image with that number", scene->info.path);
    const txm_blend_use *origin = &scene->blend->origins.data[image];
    const char *name = scene->images.data[image].packed[packed].name;
    if (!txm_is_image_name(name)) {
        return txm_fail(
            err, TXM_STATUS_UNSUPPORTED,
            "%s: the packed file %s is not an image of a known format, and was not unpacked; pack the image "
            "again in Blender",
            scene->info.path, name);
    }
    const txm_model *model = &scene->blend->files.data[origin->image_file].model;
    const txm_packed *where = &model->packed.data[model->images.data[origin->image].packed.begin + packed];
    txm_stream *stream = NULL;
    txm_status status = txm_blend_stream(scene->blend, origin->image_file, &stream, err);
    if (status == TXM_OK)
        status = unpack(stream, where, folder, name, path, there, err);
    txm_stream_close(&stream);
    return status;
}

txm_status txm_scene_unpack(txm_scene *scene, size_t image, size_t packed, const char *folder, char **path,
                            txm_error *err)
{
    txm_error_clear(err);
    return find_or_unpack(scene, image, packed, folder, path, NULL, err);
}

txm_status txm_scene_find_unpacked(txm_scene *scene, size_t image, size_t packed, const char *folder, char **path,
                                   bool *there, txm_error *err)
{
    txm_error_clear(err);
    *there = false;
    return find_or_unpack(scene, image, packed, folder, path, there, err);
}
