/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the files that scenes need.
 *
 * In: the list of files, and a root. Out: lines, or JSON with what another machine needs to know them again.
 */
#include "tools/files/list_out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/content.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/os/clock.h"
#include "base/path.h"
#include "base/text.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "txmill/archive.h"
#include "txmill/out_file.h"

/* ---- paths ------------------------------------------------------------------------------------------------------ */

/* What follows the folder in a path; NULL if the path is not below it. */
static const char *below(const char *path, const char *folder)
{
    const size_t n = strcmp(folder, "/") ? strlen(folder) : 0;
    return strncmp(path, folder, n) == 0 && path[n] == '/' && path[n + 1] ? path + n + 1 : NULL;
}

/* The part of the list's paths that all have in common, up to a slash. */
static char *common_folder(const txm_needed *needed)
{
    char *common = NULL;
    for (size_t i = 0; i < needed->count; i++) {
        if (!needed->files[i].there)
            continue;
        if (!common && !(common = txm_path_dir(needed->files[i].path)))
            return NULL;
        while (!below(needed->files[i].path, common)) {
            char *slash = strrchr(common, '/');
            slash[slash == common] = 0;
        }
    }
    return common ? common : txm_strdup("/");
}

static size_t depth_of(const char *folder)
{
    size_t n = 0;
    for (; *folder; folder++)
        n += *folder == '/' && folder[1];
    return n;
}

/* A folder such as / or /home is not the folder of a project. */
static char *default_root(const txm_needed *needed, txm_error *err)
{
    char *common = common_folder(needed), *settings = NULL, *project = NULL;
    const char *scene = needed->count ? needed->files[0].path : "/";
    if (!common || txm_project_path(scene, &settings, err) != TXM_OK ||
        (settings && !(project = txm_path_dir(settings)))) {
        txm_no_memory(err, scene);
        free(common);
        common = NULL;
    } else if (project && (!strcmp(common, project) || below(common, project))) {
        free(common);
        common = txm_strdup(project);
    } else if (depth_of(common) < 2) {
        char *folder = txm_path_dir(scene);
        if (!folder || strcmp(folder, common)) {
            free(common);
            common = folder;
            folder = NULL;
        }
        free(folder);
    }
    if (!common)
        txm_no_memory(err, scene);
    free(settings);
    free(project);
    return common;
}

/* The path below the root, by its text or, because links give a folder several names, by what the root is called
 * without links. */
static const char *relative(const txm_listing *listing, const char *real_root, const char *path)
{
    if (!listing->root)
        return path;
    const char *rest = below(path, listing->root);
    return rest || !real_root ? rest : below(path, real_root);
}

txm_status txm_listing_make(const txm_needed *needed, const char *root, bool needs_root, txm_listing *out,
                            txm_error *err)
{
    char *real_root = NULL;
    out->items = txm_calloc(needed->count + 1, sizeof *out->items);
    if (root && !(out->root = txm_path_absolute(root)))
        return txm_path_absolute_failed(root, err);
    if (root && !(real_root = realpath(out->root, NULL)))
        return txm_fail_errno(err, errno, "%s: the folder --root cannot be opened", root);
    if (needs_root && !root && !(out->root = default_root(needed, err)))
        return err->status;
    if (!out->items) {
        free(real_root);
        return txm_no_memory(err, "the list of files");
    }
    for (size_t i = 0; i < needed->count; i++) {
        const txm_needed_file *file = &needed->files[i];
        struct stat st;
        const char *path = relative(out, real_root, file->path);
        if (!path && file->there) {
            out->outside++;
            txm_say(TXM_SAY_ERROR, "%s: outside of %s, so it is not in the list; give --root a folder that has it too",
                    file->path, out->root);
        }
        if (!path)
            continue;
        /* Links may lead to a file by two paths that are one below the root. */
        txm_name *name = txm_names_entry(&out->names, path);
        if (!name) {
            free(real_root);
            return txm_no_memory(err, path);
        }
        if (name->value++)
            continue;
        if (file->there && lstat(file->path, &st) == 0 && S_ISLNK(st.st_mode) && !out->links++)
            out->linked = file->path;
        out->items[out->count++] = (txm_listed){file, path, file->of ? relative(out, real_root, file->of) : NULL};
    }
    free(real_root);
    return TXM_OK;
}

void txm_listing_free(txm_listing *listing)
{
    free(listing->root);
    free(listing->items);
    txm_names_free(&listing->names);
}

/* Programs that read lists take some first characters for options and comments. */
size_t txm_listing_print(const txm_listing *listing, char end)
{
    size_t left_out = 0;
    for (size_t i = 0; i < listing->count; i++) {
        const txm_listed *item = &listing->items[i];
        if (!item->file->there)
            continue;
        if (end && strpbrk(item->path, "\n\r")) {
            left_out++;
            txm_say(TXM_SAY_ERROR, "%s: its name has a line end, so lines cannot hold it; use --null", item->path);
            continue;
        }
        if (strchr("-#; \t@", item->path[0]))
            fputs("./", stdout);
        if (end && isatty(STDOUT_FILENO))
            txm_print_safe(item->path);
        else
            fputs(item->path, stdout);
        putchar(end);
    }
    return left_out;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

typedef struct piece_users {
    txm_sha256 *sha256;
    void (*also)(void *user, const void *piece, size_t bytes);
    void *user;
} piece_users;

static void use_piece(void *p, const void *piece, size_t bytes)
{
    const piece_users *users = p;
    if (users->sha256)
        txm_sha256_add(users->sha256, piece, bytes);
    if (users->also)
        users->also(users->user, piece, bytes);
}

txm_status txm_listed_read(const txm_listing *listing, const txm_listed *item,
                           void (*also)(void *user, const void *piece, size_t bytes), void *user, txm_listed_bytes *out,
                           txm_error *err)
{
    const char *path = item->file->path;
    struct stat st, after;
    unsigned char digest[TXM_SHA256_BYTES];
    piece_users users = {.also = also, .user = user};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *out = (txm_listed_bytes){.bytes = 0};
    if (fd < 0 || fstat(fd, &st) != 0)
        txm_fail_errno(err, errno, "%s: cannot be opened", path);
    else if (!S_ISREG(st.st_mode))
        txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not a file, but a folder or a device", path);
    else if (listing->sha256 && !(users.sha256 = txm_sha256_new()))
        txm_no_memory(err, path);
    else if (txm_content_key_of(fd, path, txm_signal_flag(), use_piece, &users, out->key, err) == TXM_OK &&
             fstat(fd, &after) != 0)
        txm_fail_errno(err, errno, "%s: cannot be examined", path);
    else if (!err->status && (after.st_size != st.st_size || after.st_mtim.tv_sec != st.st_mtim.tv_sec ||
                              after.st_mtim.tv_nsec != st.st_mtim.tv_nsec))
        txm_fail(err, TXM_STATUS_CHANGED, "%s: changed while it was read", path);
    if (users.sha256 && !err->status) {
        txm_sha256_finish(users.sha256, digest);
        txm_hex_text(digest, sizeof digest, false, out->sha256);
    }
    out->bytes = err->status ? 0 : (uint64_t)st.st_size;
    out->time = err->status ? 0 : (int64_t)st.st_mtim.tv_sec;
    txm_sha256_free(users.sha256);
    if (fd >= 0)
        close(fd);
    return err->status;
}

cJSON *txm_listing_head(const txm_listing *listing, const char *type)
{
    size_t there = 0;
    for (size_t i = 0; i < listing->count; i++)
        there += listing->items[i].file->there;
    cJSON *o = txm_json_of_type("txmill.files", type);
    txm_json_uint(o, "files", there);
    txm_json_uint(o, "outside", listing->outside);
    txm_json_uint(o, "missing", listing->count - there);
    return o;
}

cJSON *txm_listed_json(const txm_listed *item, const txm_listed_bytes *bytes)
{
    const txm_needed_file *file = item->file;
    cJSON *o = txm_json_of_type("txmill.files", "file");
    txm_json_text(o, "role", txm_needed_role_names[file->role]);
    txm_json_text(o, "path", item->path);
    if (file->number)
        txm_json_uint(o, "number", file->number);
    txm_json_text(o, "frames", file->frames);
    txm_json_text(o, "of", item->of);
    txm_json_text(o, "state",
                  file->role == TXM_NEEDED_TX ? txm_tx_state_name(file->state)
                  : file->there               ? "ready"
                  : file->foreign             ? "no-image"
                                              : "missing");
    if (bytes) {
        txm_json_uint(o, "bytes", bytes->bytes);
        txm_json_number(o, "time", (double)bytes->time, 15);
        txm_json_text(o, "key", bytes->key);
        if (*bytes->sha256)
            txm_json_text(o, "sha256", bytes->sha256);
    }
    return o;
}

txm_status txm_listing_json(const txm_listing *listing, txm_error *err)
{
    txm_json_emit(txm_listing_head(listing, "files"));
    for (size_t i = 0; i < listing->count; i++) {
        txm_listed_bytes bytes;
        const txm_listed *item = &listing->items[i];
        txm_say_progress("reading", i, listing->count);
        if (item->file->there && txm_listed_read(listing, item, NULL, NULL, &bytes, err) != TXM_OK)
            return err->status;
        txm_json_emit(txm_listed_json(item, item->file->there ? &bytes : NULL));
    }
    return TXM_OK;
}

txm_status txm_listing_manifest(const txm_listing *listing, const char *path, txm_error *err)
{
    txm_out_file *file = NULL;
    if (txm_out_file_begin(path, false, &file, err) != TXM_OK)
        return err->status;
    FILE *out = txm_out_file_stream(file);
    for (size_t i = 0; i <= listing->count && !err->status; i++) {
        txm_listed_bytes bytes;
        const txm_listed *item = i ? &listing->items[i - 1] : NULL;
        txm_say_progress("reading", i, listing->count + 1);
        if (item && (!item->file->there || txm_listed_read(listing, item, NULL, NULL, &bytes, err) != TXM_OK))
            continue;
        char *line = txm_json_take(item ? txm_listed_json(item, &bytes) : txm_listing_head(listing, "manifest"));
        if (!line)
            txm_no_memory(err, path);
        else
            fprintf(out, "%s\n", line);
        free(line);
        txm_out_file_status(file, err);
    }
    if (!err->status)
        return txm_out_file_commit(&file, err);
    txm_out_file_abort(&file);
    return err->status;
}

static void store_piece(void *archive, const void *piece, size_t bytes)
{
    txm_archive_data(archive, piece, bytes);
}

/* The manifest comes last, since it needs what was read. */
txm_status txm_listing_zip(const txm_listing *listing, const char *path, txm_error *err)
{
    static const char manifest[] = "txmill.manifest";
    txm_archive *archive = NULL;
    txm_bytes lines = {0};
    size_t odd_times = 0;
    const txm_listed *odd = NULL;
    if (txm_archive_begin(path, &archive, err) != TXM_OK)
        return err->status;
    for (size_t i = 0; i <= listing->count && !err->status; i++) {
        const txm_listed *item = i ? &listing->items[i - 1] : NULL;
        txm_listed_bytes bytes;
        struct stat st;
        txm_say_progress("storing", i, listing->count + 1);
        if (item && !item->file->there)
            continue;
        if (item && !strcmp(item->path, manifest))
            txm_fail(err, TXM_STATUS_USAGE, "%s: has the name of the manifest in the archive; rename it",
                     item->file->path);
        else if (item && stat(item->file->path, &st) != 0)
            txm_fail_errno(err, errno, "%s: cannot be examined", item->file->path);
        else if (item &&
                 txm_archive_file(archive, item->path, (uint64_t)st.st_size, st.st_mtim.tv_sec, err) == TXM_OK &&
                 txm_listed_read(listing, item, store_piece, archive, &bytes, err) == TXM_OK &&
                 bytes.time != (int64_t)st.st_mtim.tv_sec)
            txm_fail(err, TXM_STATUS_CHANGED, "%s: changed while it was read", item->file->path);
        if (item && !err->status && !txm_archive_keeps(bytes.time) && !odd_times++)
            odd = item;
        char *line = err->status
                         ? NULL
                         : txm_json_take(item ? txm_listed_json(item, &bytes) : txm_listing_head(listing, "manifest"));
        if (!err->status && (!line || !txm_bytes_puts(&lines, line) || !txm_bytes_add(&lines, "\n", 1)))
            txm_no_memory(err, path);
        free(line);
    }
    if (!err->status &&
        txm_archive_file(archive, manifest, lines.size, (int64_t)txm_clock_today().tv_sec, err) == TXM_OK)
        txm_archive_data(archive, lines.data, lines.size);
    if (err->status)
        txm_archive_abort(&archive);
    else if (txm_archive_commit(&archive, err) == TXM_OK && odd)
        txm_say(TXM_SAY_WARNING,
                "%s: zip has no times before 1980, and programs read those after 2037 in different ways; of %zu file%s "
                "only the manifest has the right one: 'txmill restore txmill.manifest' sets it",
                odd->file->path, odd_times, odd_times == 1 ? "" : "s");
    txm_bytes_free(&lines);
    return err->status;
}
