/* SPDX-License-Identifier: Apache-2.0
 *
 * Searches folders for garbage and removes it. A file is removed while its claim is held, so that no process can be
 * making it at that moment, and only if it is still the file that was judged.
 */
#include "txmill/garbage.h"
#include "txmill/out_file.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "base/words.h"
#include "mill/farm/claims.h"
#include "mill/farm/entries.h"
#include "mill/farm/garbage_judge.h"
#include "tile/name/name.h"
#include "txmill/garbage.h"

typedef struct walk {
    const txm_garbage_options *options;
    txm_claims *claims; /* NULL on a dry run */
    txm_garbage_result *result;
    time_t now;
    char **pending; /* folders still to be read, on a stack of the walk's own */
    size_t count, capacity;
    struct stat folder; /* the folder that is being read */
} walk;

const char *txm_garbage_name(txm_garbage garbage)
{
    static const char *const names[] = {"orphan", "old-name", "unused", "temporary", "claim"};
    return TXM_WORD_OF(names, garbage);
}

const char *txm_kept_name(txm_kept kept)
{
    static const char *const names[] = {"used", "young", "unrecognised", "unknown-image", "no-folder", "busy"};
    return TXM_WORD_OF(names, kept);
}

static void add_to_sum(txm_garbage_sum *sum, uint64_t bytes)
{
    sum->files++;
    sum->bytes += bytes;
}

/* A dry run reports the same lines as a real one, so that both can be compared. */
static void report(const walk *w, const txm_garbage_file *file, uint64_t freed_bytes)
{
    add_to_sum(&w->result->garbage[file->why], freed_bytes);
    if (w->options->found)
        w->options->found(w->options->user, file);
}

static void report_failure(const walk *w, const txm_error *err)
{
    if (w->options->failed)
        w->options->failed(w->options->user, err);
}

/* Files that killed runs left are two kinds of garbage. */
static void on_swept(void *user, const char *path, bool claim, uint64_t bytes)
{
    const txm_garbage_file file = {
        .path = path, .why = claim ? TXM_GARBAGE_CLAIM : TXM_GARBAGE_TEMPORARY, .bytes = bytes};
    report(user, &file, bytes);
}

/* ---- one file --------------------------------------------------------------------------------------------------- */

/* *busy is set if another process is making the file, or has just made it. */
static txm_status remove_file(const walk *w, const char *path, const struct stat *judged, bool *busy, txm_error *err)
{
    txm_claim *claim = NULL;
    txm_error own = {0};
    txm_status status = txm_claims_take(w->claims, path, &claim, &own);
    *busy = status == TXM_STATUS_LOCKED;
    /* A full disk, which may be the reason for this call, has no room for a claim; but that creating one got this far
     * shows that no other process holds it. If a process finds the file fresh at this very moment, it has to make it
     * again. */
    if (status == TXM_STATUS_DISK_FULL)
        status = TXM_OK;
    if (status == TXM_STATUS_DENIED && own.sys_errno)
        return txm_fail_errno(err, own.sys_errno, "%s: cannot be removed", path);
    if (status != TXM_OK)
        return *busy ? TXM_OK : txm_fail_as(err, &own);
    int rc = txm_file_remove(path, &w->folder, judged);
    *busy = rc == ENOENT || rc == TXM_REMOVE_OTHER;
    if (rc && !*busy)
        status = txm_fail_errno(err, rc, "%s: cannot be removed", path);
    txm_claims_drop(w->claims, &claim);
    return status;
}

/* Young files are kept: a scene that is not saved yet may use them. */
static txm_status settle(walk *w, const char *path, const struct stat *st, const txm_garbage_verdict *verdict,
                         txm_error *err)
{
    /* The modification time of a tx file is its image's; the inode change time says when it came here. */
    double age = difftime(w->now, st->st_ctim.tv_sec);
    uint64_t freed = st->st_nlink > 1 ? 0 : (uint64_t)st->st_size;
    const txm_garbage_file file = {path, verdict->why, verdict->image, (uint64_t)st->st_size, age > 0 ? age : 0};
    bool young = w->options->older_than_s >= 0 && age <= w->options->older_than_s, busy = false;
    txm_kept kept = verdict->kept;
    if (verdict->garbage && young)
        kept = TXM_KEPT_YOUNG;
    if (verdict->garbage && !young) {
        if (!w->options->dry_run && remove_file(w, path, st, &busy, err) != TXM_OK)
            return err->status;
        kept = TXM_KEPT_BUSY;
        if (!busy) {
            report(w, &file, freed);
            return TXM_OK;
        }
    }
    add_to_sum(&w->result->kept[kept], freed);
    if (w->options->kept && kept == TXM_KEPT_USED && verdict->image)
        w->options->kept(w->options->user, path, verdict->image, file.bytes);
    return TXM_OK;
}

/* Only lack of memory is a failure: problems with one file are reported. */
static txm_status visit_file(walk *w, const char *path, const struct stat *st, txm_error *err)
{
    txm_garbage_verdict verdict = {0};
    txm_error own = {0};
    if (w->options->examined)
        w->options->examined(w->options->user, path);
    txm_status status = txm_garbage_judge(path, st, w->options, &verdict, &own);
    if (status == TXM_OK)
        status = settle(w, path, st, &verdict, &own);
    free(verdict.image);
    if (status == TXM_STATUS_NO_MEMORY)
        return txm_fail_with(err, status, &own);
    /* It was removed meanwhile. */
    if (status != TXM_OK && status != TXM_STATUS_NOT_FOUND)
        report_failure(w, &own);
    return TXM_OK;
}

/* ---- folders ---------------------------------------------------------------------------------------------------- */

/* Takes ownership of `path`. */
static txm_status push_garbage_folder(walk *w, char *path, txm_error *err)
{
    if (!path || !TXM_GROW(w->pending, w->capacity, w->count)) {
        free(path);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for the list of folders");
    }
    w->pending[w->count++] = path;
    return TXM_OK;
}

/* Takes ownership of `path`. */
static txm_status visit_garbage(walk *w, char *path, txm_error *err)
{
    struct stat st;
    size_t name_bytes;
    unsigned version;
    char md5[33];
    bool there = path && lstat(path, &st) == 0;
    if (!path || (there && S_ISDIR(st.st_mode)))
        return push_garbage_folder(w, path, err);
    txm_status status = TXM_OK;
    if (!there && errno != ENOENT) {
        txm_error own = {0};
        txm_fail_errno(&own, errno, "%s: cannot be examined", path);
        report_failure(w, &own);
    }
    if (there && S_ISREG(st.st_mode) && txm_tx_name_parse(txm_path_base(path), &name_bytes, &version, md5))
        status = visit_file(w, path, &st, err);
    free(path);
    return status;
}

/* Subfolders are visited as well; links are not followed. */
static txm_status read_folder(walk *w, const char *folder, txm_error *err)
{
    txm_entries entries = {0};
    if (stat(folder, &w->folder) != 0)
        return txm_fail_errno(err, errno, "%s: cannot examine the folder", folder);
    txm_status status = txm_entries_read(folder, &entries, err);
    for (size_t i = 0; status == TXM_OK && i < entries.count; i++) {
        if (txm_is_cancelled(w->options->cancel))
            status = txm_fail(err, TXM_STATUS_CANCELLED, "stopped on request");
        else
            status = visit_garbage(w, txm_path_join(folder, entries.items[i].name), err);
    }
    txm_entries_free(&entries);
    txm_swept swept = {.user = w, .removed = on_swept};
    if (status == TXM_OK)
        txm_sweep_folder(folder, w->options->dry_run, &swept);
    return status;
}

/* Starts with the path that was named: a folder or a single file. */
static txm_status begin_walk(walk *w, const char *path, txm_error *err)
{
    struct stat st;
    size_t name_bytes;
    unsigned version;
    char md5[33];
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return read_folder(w, path, err);
    if (!txm_tx_name_parse(txm_path_base(path), &name_bytes, &version, md5))
        return txm_fail(err, TXM_STATUS_UNSUPPORTED,
                        "%s: neither a folder nor a file named like the tx files of a texture cache, "
                        "IMAGE.0-MD5.tx; name the folder that holds the tx files",
                        path);
    char *folder = txm_path_dir(path);
    const int rc = !folder ? ENOMEM : stat(folder, &w->folder) == 0 ? 0 : errno;
    free(folder);
    return rc ? txm_fail_errno(err, rc, "%s: cannot examine its folder", path) : visit_file(w, path, &st, err);
}

/* A dry run takes no claims, since it writes nothing. */
txm_status txm_garbage_collect(const char *path, const txm_garbage_options *options, txm_garbage_result *result,
                               txm_error *err)
{
    txm_error_clear(err);
    txm_garbage_options o = {0};
    txm_status status = txm_options_take(&o, sizeof o, options, "txm_garbage_options", err);
    if (status == TXM_OK && isnan(o.older_than_s))
        status = txm_fail(err, TXM_STATUS_USAGE, "the age is not a number");
    walk w = {.options = &o, .result = result, .now = time(NULL)};
    if (status == TXM_OK && !o.dry_run && !(w.claims = txm_claims_new(NULL)))
        status = txm_fail_errno(err, errno, "cannot start the thread that renews claims");
    if (status == TXM_OK)
        status = begin_walk(&w, path, err);
    while (status == TXM_OK && w.count) {
        char *next = w.pending[--w.count];
        txm_error own = {0};
        status = read_folder(&w, next, &own);
        free(next);
        if (status == TXM_STATUS_NO_MEMORY || status == TXM_STATUS_CANCELLED) {
            txm_fail_with(err, status, &own);
        } else if (status != TXM_OK) {
            report_failure(&w, &own);
            status = TXM_OK;
        }
    }
    while (w.count)
        free(w.pending[--w.count]);
    free(w.pending);
    txm_claims_free(&w.claims);
    return status;
}
