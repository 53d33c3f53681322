/* SPDX-License-Identifier: Apache-2.0
 *
 * Judges a tx file: where its image is, whether Cycles looks for it under this name, and whether a scene uses it.
 *
 * The image is at the path that the metadata states or, because projects are moved, beside the cache folder: the image
 * of textures/blender_tx/wood.png.0-....tx is textures/wood.png. It is gone if the file does not exist but its folder
 * does. The name shows which of the two places counts: the settings inside give that name either with an absolute
 * cache folder or with a relative one. In case of doubt a file is kept: if its metadata cannot be read, a folder is
 * not mounted, or its name matches both places.
 */
#include "mill/farm/garbage_judge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/path.h"
#include "tile/name/name.h"

/* A tx file and what was found out about it. */
typedef struct subject {
    const char *path;
    const txm_garbage_options *options;
    char *name;    /* file name of its image */
    char *dir;     /* its folder, absolute */
    char *beside;  /* the image beside the cache folder; NULL if it cannot be there */
    bool relative; /* its name shows that the cache folder is relative to the image's */
    bool standard; /* the cache folder has Cycles' default name */
    txm_tx_description description;
} subject;

/* ---- tx files that scenes use ------------------------------------------------------------------------------------ */

struct txm_used {
    txm_names files;  /* device and inode of tx files */
    txm_names packed; /* names of images that are packed in scenes */
};

txm_status txm_used_new(txm_used **out, txm_error *err)
{
    txm_error_clear(err);
    *out = txm_calloc(1, sizeof **out);
    return *out ? TXM_OK : txm_no_memory(err, NULL);
}

void txm_used_free(txm_used **used)
{
    if (!used || !*used)
        return;
    txm_names_free(&(*used)->files);
    txm_names_free(&(*used)->packed);
    free(*used);
    *used = NULL;
}

/* Files are identified by device and inode, since scenes may spell a path in different ways. A file that does not exist
 * needs no entry. */
txm_status txm_used_add(txm_used *used, const char *tx_path, txm_error *err)
{
    txm_error_clear(err);
    struct stat st;
    char id[TXM_FILE_ID_BYTES];
    if (stat(tx_path, &st) != 0)
        return errno == ENOENT || errno == ENOTDIR
                   ? TXM_OK
                   : txm_fail_errno(err, errno, "%s: cannot be examined, so nothing is removed", tx_path);
    txm_file_id(&st, id);
    return txm_names_put(&used->files, id) ? TXM_OK : txm_no_memory(err, tx_path);
}

/* Packed images have no path, so only their name is compared. */
txm_status txm_used_add_packed(txm_used *used, const char *name, txm_error *err)
{
    txm_error_clear(err);
    return txm_names_put(&used->packed, name) ? TXM_OK : txm_no_memory(err, name);
}

static bool is_used(const txm_used *used, const struct stat *tx, const char *image_name)
{
    char id[TXM_FILE_ID_BYTES];
    txm_file_id(tx, id);
    return txm_names_has(&used->files, id) || txm_names_has(&used->packed, image_name);
}

/* ---- images ----------------------------------------------------------------------------------------------------- */

/* Whether a file or folder exists. If that cannot be found out, it is an error: a server that does not respond has not
 * lost its files. */
static txm_status is_there(const char *path, bool folder, bool *there, txm_error *err)
{
    struct stat st;
    *there = false;
    if (stat(path, &st) == 0)
        *there = folder ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode);
    else if (errno != ENOENT && errno != ENOTDIR)
        return txm_fail_errno(err, errno, "%s (its tx files are left alone): cannot be examined", path);
    return TXM_OK;
}

/* An image whose folder does not exist is not known to be gone, since a share may not be mounted. */
static txm_status folder_is_there(const char *path, bool *there, txm_error *err)
{
    char *folder = txm_path_dir(path);
    txm_status status = folder ? is_there(folder, true, there, err) : txm_no_memory(err, path);
    free(folder);
    return status;
}

/* The stored path, if it is absolute and has the name of the image. */
static const char *stored_path(const subject *s)
{
    const char *stored = s->description.source;
    return txm_path_is_absolute(stored) && !strcmp(txm_path_base(stored), s->name) ? stored : NULL;
}

static bool keep_path(txm_garbage_verdict *out, const char *path)
{
    out->image = txm_strdup(path);
    return out->image != NULL;
}

/* ---- judging ---------------------------------------------------------------------------------------------------- */

/* Reports show the first reason that applies. */
static void condemn(txm_garbage_verdict *out, txm_garbage why)
{
    out->garbage = true;
    out->why = why;
}

/* Called if neither the stored path nor the one beside the cache folder is an image. */
static txm_status judge_missing(const subject *s, txm_garbage_verdict *out, txm_error *err)
{
    const char *stored = stored_path(s);
    /* The cache folder is beside the image's place, so the image's folder exists. */
    bool beside = s->standard && (s->relative || !stored), known = beside;
    txm_status status = TXM_OK;
    if (!known && stored)
        status = folder_is_there(stored, &known, err);
    if (status != TXM_OK)
        return status;
    if (!stored && !beside) {
        out->kept = TXM_KEPT_UNKNOWN_IMAGE;
        return TXM_OK;
    }
    if (known || s->options->missing_folders)
        condemn(out, TXM_GARBAGE_ORPHAN);
    else
        out->kept = TXM_KEPT_NO_FOLDER;
    return keep_path(out, beside ? s->beside : stored) ? TXM_OK : txm_no_memory(err, s->path);
}

/* Called if the image exists: decides whether this is its tx file, and whether it is used. */
static txm_status judge_present(const subject *s, const struct stat *st, txm_garbage_verdict *out, txm_error *err)
{
    /* A file that a scene uses is kept, whatever settings it states. */
    bool used = s->options->used && is_used(s->options->used, st, s->name);
    bool exhausted = false, known = *s->description.requested != 0;
    bool fits =
        used || !known || s->relative || txm_own_name_fits(s->path, &s->description, out->image, s->dir, &exhausted);
    if (exhausted)
        return txm_no_memory(err, s->path);
    if (!fits)
        condemn(out, TXM_GARBAGE_OLD_NAME);
    else if (s->options->used && !used)
        condemn(out, TXM_GARBAGE_UNUSED);
    return TXM_OK;
}

/* The path that the image would have if the project had been moved as a whole. */
static txm_status place_beside(subject *s, txm_error *err)
{
    bool exhausted = false;
    char *above = txm_path_dir(s->dir);
    s->relative = txm_own_name_fits(s->path, &s->description, s->name, NULL, &exhausted);
    s->standard = !strcmp(txm_path_base(s->dir), "blender_tx");
    if (s->standard || s->relative)
        exhausted |= !above || !(s->beside = txm_path_join(above, s->name));
    free(above);
    return exhausted ? txm_no_memory(err, s->path) : TXM_OK;
}

/* Tries the stored path, unless the name rules it out, then the one beside the cache folder. */
static txm_status judge_described(subject *s, const struct stat *st, txm_garbage_verdict *out, txm_error *err)
{
    /* If the name shows that the cache folder is relative, an image at the stored path belongs to another copy of the
     * project. */
    const char *places[] = {s->standard && s->relative ? NULL : stored_path(s), s->beside};
    for (int i = 0; i < 2; i++) {
        bool there = false;
        if (places[i] && is_there(places[i], false, &there, err) != TXM_OK)
            return err->status;
        if (!there)
            continue;
        if (!keep_path(out, places[i]))
            return txm_no_memory(err, s->path);
        return judge_present(s, st, out, err);
    }
    return judge_missing(s, out, err);
}

/* Reads the metadata; *recognised is false for a file that is not a tx file. */
static txm_status describe_subject(subject *s, bool *recognised, txm_error *err)
{
    txm_tx *tx = NULL;
    txm_error own = {0};
    txm_status status = txm_tx_open(s->path, &tx, &own);
    *recognised = status == TXM_OK;
    if (status == TXM_STATUS_CORRUPT || status == TXM_STATUS_UNSUPPORTED || status == TXM_STATUS_TOO_LARGE ||
        status == TXM_STATUS_NEWER || status == TXM_STATUS_NOT_DOWNLOADED)
        return TXM_OK;
    if (status == TXM_OK)
        status = txm_tx_describe(tx, &s->description, &own);
    txm_tx_close(&tx);
    return status == TXM_OK ? TXM_OK : txm_fail_with(err, status, &own);
}

/* If it is known what scenes use, everything else is unused, even if it is fresh. */
txm_status txm_garbage_judge(const char *tx_path, const struct stat *st, const txm_garbage_options *options,
                             txm_garbage_verdict *out, txm_error *err)
{
    subject s = {.path = tx_path, .options = options};
    txm_garbage_verdict verdict = {.kept = TXM_KEPT_USED};
    size_t name_bytes = 0;
    unsigned version;
    char md5[33];
    bool recognised = txm_tx_name_parse(txm_path_base(tx_path), &name_bytes, &version, md5);
    char *dir = txm_path_dir(tx_path);
    s.name = txm_strndup(txm_path_base(tx_path), name_bytes);
    s.dir = dir ? txm_path_absolute(dir) : NULL;
    txm_error own = {0};
    txm_status status = !dir || !s.name ? txm_no_memory(&own, tx_path) : TXM_OK;
    if (status == TXM_OK && !s.dir)
        status = txm_path_absolute_failed(tx_path, &own);
    if (status == TXM_OK && recognised)
        status = describe_subject(&s, &recognised, &own);
    if (status == TXM_OK && recognised)
        status = place_beside(&s, &own);
    if (status == TXM_OK && recognised)
        status = judge_described(&s, st, &verdict, &own);
    if (!recognised)
        verdict.kept = TXM_KEPT_UNRECOGNISED;
    txm_tx_description_free(&s.description);
    free(s.beside);
    free(s.name);
    free(s.dir);
    free(dir);
    if (status != TXM_OK) {
        free(verdict.image);
        return txm_fail_with(err, status, &own);
    }
    *out = verdict;
    return TXM_OK;
}
