/* SPDX-License-Identifier: Apache-2.0
 *
 * Judging a tx file: where is its image, does Cycles look for it under this name, does a scene ask for it?
 *
 * Its image is where its metadata says, or, since projects are moved, beside the cache folder: the image of
 * textures/blender_tx/wood.png.0-....tx is textures/wood.png. It is gone when it is not there and the folder that held
 * it still is. The name tells which of the two counts: the settings inside lead to it either with an absolute cache
 * folder or without one.
 *
 * In: one file that is named like a tx file. Out: garbage and why, or kept and why, with the image it belongs
 * to. Doubt keeps a file: metadata that cannot be read, a folder that is not mounted, a name that fits two
 * places.
 */
#include "mill/farm/garbage_judge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mill/base/names.h"
#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/base/path.h"
#include "tile/name/name.h"

/* A tx file and what is known of it. */
typedef struct subject {
    const char *path;
    const txm_garbage_options *options;
    char *name;    /* of its image, by its own name */
    char *dir;     /* its folder, absolute */
    char *beside;  /* the image beside the cache folder; NULL where that is hardly the place */
    bool relative; /* the name says that the cache folder counts from the image's */
    bool standard; /* the cache folder has Cycles' default name */
    txm_tx_description description;
} subject;

/* ---- what scenes ask for ----------------------------------------------------------------------------------------- */

struct txm_used {
    txm_names files;  /* device and inode of tx files */
    txm_names packed; /* names of images that are inside scenes */
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

/* By device and inode: scenes may spell the path in any way. A file that is not there is used by nobody. */
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

/* Packed images have no path; the name must do. */
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

/* ---- where things are ------------------------------------------------------------------------------------------- */

/* Whether something is there. What cannot be known is an error: a server that does not answer has lost nothing. */
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

/* An image whose folder is missing is not known to be gone: a share may not be mounted. */
static txm_status folder_is_there(const char *path, bool *there, txm_error *err)
{
    char *folder = txm_path_dir(path);
    txm_status status = folder ? is_there(folder, true, there, err) : txm_no_memory(err, path);
    free(folder);
    return status;
}

/* The stored path, if it is one and of that image. */
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

/* For reports: the first reason that applies. */
static void condemn(txm_garbage_verdict *out, txm_garbage why)
{
    out->garbage = true;
    out->why = why;
}

/* Neither the stored path nor the one beside the cache folder leads to an image. */
static txm_status judge_missing(const subject *s, txm_garbage_verdict *out, txm_error *err)
{
    const char *stored = stored_path(s);
    /* A folder of tx files beside the place of the image: that place is there. */
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

/* The image is there: is this its tx file, and wanted? */
static txm_status judge_present(const subject *s, const struct stat *st, txm_garbage_verdict *out, txm_error *err)
{
    /* What a render was found to use stays, whatever settings it says it was made with. */
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

/* Where the image would lie if the project had been moved as a whole. */
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

/* The stored place, unless the name rules it out, then the one beside the cache folder. */
static txm_status judge_described(subject *s, const struct stat *st, txm_garbage_verdict *out, txm_error *err)
{
    /* Where the name leaves no doubt, an image of that name elsewhere, as of a project that was copied, is another. */
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

/* Reads what the file says of itself; *recognised is false for what is no tx file. */
static txm_status describe_subject(subject *s, bool *recognised, txm_error *err)
{
    txm_tx *tx = NULL;
    txm_error own = {0};
    txm_status status = txm_tx_open(s->path, &tx, &own);
    *recognised = status == TXM_OK;
    if (status == TXM_STATUS_CORRUPT || status == TXM_STATUS_UNSUPPORTED || status == TXM_STATUS_TOO_LARGE ||
        status == TXM_STATUS_NEWER)
        return TXM_OK;
    if (status == TXM_OK)
        status = txm_tx_describe(tx, &s->description, &own);
    txm_tx_close(&tx);
    return status == TXM_OK ? TXM_OK : txm_fail(err, status, "%s", own.message);
}

/* With a list of what scenes use, everything else is unused, however fresh. */
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
        return txm_fail(err, status, "%s", own.message);
    }
    *out = verdict;
    return TXM_OK;
}
