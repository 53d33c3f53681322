/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the images in a folder and its subfolders. Links to folders are followed, and each folder is read once per
 * walk, so that cyclic links end. Files of the texture cache and hidden names (.git, thumbnails, temporary files) are
 * skipped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/entries.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "mill/farm/inputs.h"
#include "mill/rules/glob.h"
#include "txmill/format.h"

typedef struct walk {
    txm_inputs *inputs;
    const txm_input *settings;
    size_t root_bytes; /* length of the operand in every path; globs match what follows */
    txm_names seen;    /* ids of folders that were read */
    txm_pending pending;
} walk;

static bool any_matches(const char *const *globs, const char *path)
{
    for (; globs && *globs; globs++)
        if (txm_glob_match(*globs, path))
            return true;
    return false;
}

/* txm_watch also calls it for a single file that changed, so that both take the same files. */
bool txm_inputs_want(const txm_inputs_options *o, const char *path, size_t root_bytes, bool is_folder)
{
    const char *name = txm_path_base(path), *below = path + root_bytes;
    if (name[0] == '.' || any_matches(o->exclude, below))
        return false;
    if (is_folder)
        return o->tx_files || strcmp(name, "blender_tx") != 0;
    if (!(o->ptex_files && txm_path_has_ext(name, "ptx")) && txm_path_has_ext(name, "tx") != o->tx_files)
        return false;
    return o->include ? any_matches(o->include, below) : o->tx_files || txm_is_image_name(name);
}

/* Adds one name to the inputs or to the pending folders, or skips it. Takes ownership of `path`. */
static txm_status visit_name(walk *w, char *path, bool is_file, txm_error *err)
{
    const txm_inputs_options *o = &w->inputs->options;
    struct stat st;
    txm_status status = TXM_OK;
    int rc = stat(path, &st) == 0 ? 0 : errno;
    const bool folder = rc == 0 && S_ISDIR(st.st_mode), wanted = txm_inputs_want(o, path, w->root_bytes, folder);
    if (folder && wanted)
        return txm_pending_push(&w->pending, path) ? TXM_OK : txm_no_memory(err, NULL);
    if (!folder && wanted && (rc != 0 || S_ISREG(st.st_mode))) {
        /* A dangling link is added, so that opening it reports the failure. Pipes and devices in a folder are not
         * textures. */
        status = txm_inputs_add_file(w->inputs, path, w->settings, err);
    } else if (rc != 0 && rc != ENOENT && !is_file && txm_inputs_want(o, path, w->root_bytes, true)) {
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
    size_t first = w->pending.count;
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < entries.count; i++) {
        char *path = txm_path_join(folder, entries.items[i].name);
        status = path ? visit_name(w, path, entries.items[i].is_file, err) : txm_no_memory(err, folder);
    }
    txm_entries_free(&entries);
    /* The stack returns the folder that was pushed last: reversing them makes it read subfolders in the order of their
     * names. */
    for (size_t i = first, j = w->pending.count; i + 1 < j; i++) {
        char *swap = w->pending.paths[--j];
        w->pending.paths[j] = w->pending.paths[i];
        w->pending.paths[i] = swap;
    }
    return status;
}

txm_status txm_inputs_add_folder(txm_inputs *inputs, const char *path, const txm_input *settings, txm_error *err)
{
    size_t n = strlen(path);
    walk w = {.inputs = inputs, .settings = settings, .root_bytes = n + (n && path[n - 1] != '/')};
    txm_status status = txm_pending_push(&w.pending, txm_strdup(path)) ? TXM_OK : txm_no_memory(err, path);
    for (char *folder; status == TXM_OK && (folder = txm_pending_pop(&w.pending)); free(folder)) {
        struct stat st;
        char id[TXM_FILE_ID_BYTES];
        txm_name *seen;
        if (stat(folder, &st) != 0) {
            txm_error failure = {0};
            txm_fail_errno(&failure, errno, "%s: cannot examine the folder", folder);
            status = txm_inputs_add_failure(inputs, folder, settings, &failure, err);
            continue;
        }
        txm_file_id(&st, id);
        if (!(seen = txm_names_entry(&w.seen, id)))
            status = txm_no_memory(err, folder);
        else if (seen->value++ == 0)
            status = read_folder(&w, folder, err);
    }
    txm_pending_free(&w.pending);
    txm_names_free(&w.seen);
    return status;
}
