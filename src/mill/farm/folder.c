/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the images in a folder and its subfolders. Links to folders are followed, and each folder is read once per
 * walk, so that cyclic links end. Files of the texture cache (tx files and blender_tx folders) are skipped, and so are
 * hidden names (.git, thumbnails, temporary files).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "mill/farm/entries.h"
#include "mill/farm/inputs.h"
#include "mill/rules/glob.h"
#include "txmill/format.h"

/* A walk over one operand. Folders that are still to be read are on a stack of its own, so that deep trees do not need
 * the thread's stack. */
typedef struct walk {
    txm_inputs *inputs;
    const txm_input *settings;
    size_t root_bytes; /* length of the operand in every path; globs match what follows */
    txm_names seen;    /* "device:inode" of folders that were read */
    char **pending;
    size_t count, capacity;
} walk;

static bool any_matches(const char *const *globs, const char *path)
{
    for (; globs && *globs; globs++)
        if (txm_glob_match(*globs, path))
            return true;
    return false;
}

/* txm_watch also calls it for a single file that changed, so that both take the same files. */
bool txm_inputs_want(const txm_inputs_options *options, const char *path, size_t root_bytes, bool is_folder)
{
    const txm_inputs_options *o = options;
    const char *name = txm_path_base(path), *below = path + root_bytes;
    if (name[0] == '.' || any_matches(o->exclude, below))
        return false;
    if (is_folder)
        return o->tx_files || strcmp(name, "blender_tx") != 0;
    if (!(o->ptex_files && txm_path_has_ext(name, "ptx")) && txm_path_has_ext(name, "tx") != o->tx_files)
        return false;
    return o->include ? any_matches(o->include, below) : o->tx_files || txm_is_image_name(name);
}

static bool wanted(const walk *w, const char *path, bool is_folder)
{
    return txm_inputs_want(&w->inputs->options, path, w->root_bytes, is_folder);
}

static bool push_folder(walk *w, char *path)
{
    if (!TXM_GROW(w->pending, w->capacity, w->count))
        return false;
    w->pending[w->count++] = path;
    return true;
}

/* Whether a folder is seen for the first time. */
static bool is_new(walk *w, const struct stat *st, bool *exhausted)
{
    char id[48];
    snprintf(id, sizeof id, "%" PRIxMAX ":%" PRIxMAX, (uintmax_t)st->st_dev, (uintmax_t)st->st_ino);
    txm_name *entry = txm_names_entry(&w->seen, id);
    *exhausted = !entry;
    return entry && entry->value++ == 0;
}

/* Adds one name to the inputs or to the pending folders, or skips it. Takes ownership of `path`. */
static txm_status visit_name(walk *w, char *path, bool is_file, txm_error *err)
{
    struct stat st;
    txm_status status = TXM_OK;
    int rc = stat(path, &st) == 0 ? 0 : errno;
    if (rc == 0 && S_ISDIR(st.st_mode)) {
        if (wanted(w, path, true)) {
            if (push_folder(w, path))
                return TXM_OK;
            status = txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory", path);
        }
    } else if (wanted(w, path, false) && (rc != 0 || S_ISREG(st.st_mode))) {
        /* A dangling link is added, so that opening it reports the failure. Pipes and devices in a folder are not
         * textures. */
        status = txm_inputs_add_file(w->inputs, path, w->settings, err);
    } else if (rc != 0 && rc != ENOENT && !is_file && wanted(w, path, true)) {
        /* It may be a folder of images, which must not be skipped silently. */
        txm_error failure = {0};
        txm_fail_errno(&failure, rc, "%s: cannot examine it", path);
        status = txm_inputs_add_failure(w->inputs, path, w->settings, &failure, err);
    }
    free(path);
    return status;
}

/* A folder that cannot be read becomes a failed input, and the walk continues. */
static txm_status read_folder(walk *w, const char *folder, txm_error *err)
{
    txm_entries entries = {0};
    txm_error failure = {0};
    if (txm_entries_read(folder, &entries, &failure) != TXM_OK)
        return txm_inputs_add_failure(w->inputs, folder, w->settings, &failure, err);
    size_t first = w->count;
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < entries.count; i++) {
        char *path = txm_path_join(folder, entries.items[i].name);
        status = path ? visit_name(w, path, entries.items[i].is_file, err)
                      : txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory", folder);
    }
    txm_entries_free(&entries);
    /* The stack returns the folder that was pushed last: reversing them makes it read subfolders in the order of their
     * names. */
    for (size_t i = first, j = w->count; i + 1 < j; i++) {
        char *swap = w->pending[--j];
        w->pending[j] = w->pending[i];
        w->pending[i] = swap;
    }
    return status;
}

/* Folders are identified by device and inode, so that each is read once. */
static txm_status next_folder(walk *w, txm_error *err)
{
    char *folder = w->pending[--w->count];
    struct stat st;
    bool exhausted = false;
    txm_status status = TXM_OK;
    if (stat(folder, &st) != 0) {
        txm_error failure = {0};
        txm_fail_errno(&failure, errno, "%s: cannot examine the folder", folder);
        status = txm_inputs_add_failure(w->inputs, folder, w->settings, &failure, err);
    } else if (is_new(w, &st, &exhausted)) {
        status = read_folder(w, folder, err);
    } else if (exhausted) {
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory", folder);
    }
    free(folder);
    return status;
}

/* Globs match the part of a path below the folder that was named. */
txm_status txm_inputs_add_folder(txm_inputs *inputs, const char *path, const txm_input *settings, txm_error *err)
{
    size_t n = strlen(path);
    walk w = {.inputs = inputs, .settings = settings, .root_bytes = n + (n && path[n - 1] != '/')};
    char *root = txm_strdup(path);
    txm_status status = TXM_OK;
    if (!root || !push_folder(&w, root)) {
        free(root);
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory", path);
    }
    while (status == TXM_OK && w.count)
        status = next_folder(&w, err);
    while (w.count)
        free(w.pending[--w.count]);
    free(w.pending);
    txm_names_free(&w.seen);
    return status;
}
