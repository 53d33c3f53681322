/* SPDX-License-Identifier: Apache-2.0
 *
 * Searches folders for garbage and removes it. A file is removed while its claim is held, so that no process can be
 * making it at that moment, and only if it is still the file that was judged.
 *
 * The image of a tx file is at the path that the metadata states or, because projects are moved, beside the cache
 * folder: the image of textures/blender_tx/wood.png.0-....tx is textures/wood.png. It is gone if the file does not
 * exist but its folder does. The name shows which of the two places counts: the settings inside give that name either
 * with an absolute cache folder or with a relative one. In case of doubt a file is kept: if its metadata cannot be
 * read, a folder is not mounted, or its name matches both places.
 */
#include "txmill/garbage.h"
#include "txmill/out_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/entries.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/options.h"
#include "base/os/files.h"
#include "base/path.h"
#include "base/words.h"
#include "mill/farm/claims.h"
#include "tile/name/name.h"

typedef struct verdict {
    bool garbage;
    txm_garbage why; /* valid if it is garbage */
    txm_kept kept;   /* valid if it is not */
    char *image;     /* path of its image, present or gone, if known; owned */
} verdict;

typedef struct walk {
    const txm_garbage_options *options;
    txm_claims *claims; /* NULL on a dry run */
    txm_garbage_result *result;
    time_t now;
    txm_pending pending;
    struct stat folder; /* the folder that is being read */
} walk;

/* A tx file of a census. */
typedef struct kept_file {
    char *path;
    struct stat st;
    dev_t folder_dev;
    ino_t folder_ino;
    bool judged; /* to be a tx file that may go */
} kept_file;

struct txm_census {
    txm_names ids; /* device and inode of its files */
    kept_file *items;
    size_t count, capacity;
};

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

txm_status txm_used_add_packed(txm_used *used, const char *name, txm_error *err)
{
    txm_error_clear(err);
    return txm_names_put(&used->packed, name) ? TXM_OK : txm_no_memory(err, name);
}

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

/* The stored path, if it is absolute and has the name of the image. */
static const char *stored_path(const subject *s)
{
    const char *stored = s->description.source;
    return txm_path_is_absolute(stored) && !strcmp(txm_path_base(stored), s->name) ? stored : NULL;
}

static void condemn(verdict *out, txm_garbage why)
{
    out->garbage = true;
    out->why = why;
}

/* Tries the stored path, unless the name rules it out, then the one beside the cache folder. */
static txm_status judge_described(subject *s, const struct stat *st, verdict *out, txm_error *err)
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
        if (!(out->image = txm_strdup(places[i])))
            return txm_no_memory(err, s->path);
        /* A file that a scene uses is kept, whatever settings it states. */
        char id[TXM_FILE_ID_BYTES];
        const txm_used *u = s->options->used;
        txm_file_id(st, id);
        bool used = u && (txm_names_has(&u->files, id) || txm_names_has(&u->packed, s->name));
        bool exhausted = false, known = *s->description.requested != 0;
        bool fits = used || !known || s->relative ||
                    txm_own_name_fits(s->path, &s->description, out->image, s->dir, &exhausted);
        if (exhausted)
            return txm_no_memory(err, s->path);
        if (!fits)
            condemn(out, TXM_GARBAGE_OLD_NAME);
        else if (u && !used && !s->options->census)
            condemn(out, TXM_GARBAGE_UNUSED);
        return TXM_OK;
    }
    /* Neither the stored path nor the one beside the cache folder is an image. */
    const char *stored = stored_path(s);
    /* The cache folder is beside the image's place, so the image's folder exists. */
    bool beside = s->standard && (s->relative || !stored), known = beside;
    txm_status status = TXM_OK;
    if (!known && stored) {
        /* An image whose folder does not exist is not known to be gone, since a share may not be mounted. */
        char *folder = txm_path_dir(stored);
        status = folder ? is_there(folder, true, &known, err) : txm_no_memory(err, stored);
        free(folder);
    }
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
    out->image = txm_strdup(beside ? s->beside : stored);
    return out->image ? TXM_OK : txm_no_memory(err, s->path);
}

/* Reads the metadata; *recognised is false for a file that is not a tx file. */
static txm_status describe_subject(subject *s, bool *recognised, txm_error *err)
{
    txm_tx *tx = NULL;
    txm_error own = {0};
    txm_status status = txm_tx_open(s->path, &tx, &own);
    *recognised = status == TXM_OK;
    if (own.sys_errno == ENAMETOOLONG)
        return txm_fail_with(err, status, &own);
    if (status == TXM_STATUS_CORRUPT || status == TXM_STATUS_UNSUPPORTED || status == TXM_STATUS_TOO_LARGE ||
        status == TXM_STATUS_NEWER || status == TXM_STATUS_NOT_DOWNLOADED)
        return TXM_OK;
    if (status == TXM_OK)
        status = txm_tx_describe(tx, &s->description, &own);
    txm_tx_close(&tx);
    return status == TXM_OK ? TXM_OK : txm_fail_with(err, status, &own);
}

/* If it is known what scenes use, everything else is unused, even if it is fresh. */
static txm_status judge(const char *tx_path, const struct stat *st, const txm_garbage_options *options, verdict *out,
                        txm_error *err)
{
    subject s = {.path = tx_path, .options = options};
    verdict found = {.kept = TXM_KEPT_USED};
    size_t name_bytes = 0;
    bool recognised = txm_tx_name_parse(txm_path_base(tx_path), &name_bytes, NULL, NULL);
    s.name = txm_strndup(txm_path_base(tx_path), name_bytes);
    s.dir = txm_path_absolute_dir(tx_path);
    txm_error own = {0};
    txm_status status = !s.name ? txm_no_memory(&own, tx_path) : TXM_OK;
    if (status == TXM_OK && !s.dir)
        status = txm_path_absolute_failed(tx_path, &own);
    if (status == TXM_OK && recognised)
        status = describe_subject(&s, &recognised, &own);
    if (status == TXM_OK && recognised) {
        /* The path that the image would have if the project had been moved as a whole. */
        bool exhausted = false;
        char *above = txm_path_dir(s.dir);
        s.relative = txm_own_name_fits(s.path, &s.description, s.name, NULL, &exhausted);
        s.standard = !strcmp(txm_path_base(s.dir), "blender_tx");
        if (s.standard || s.relative)
            exhausted |= !above || !(s.beside = txm_path_join(above, s.name));
        free(above);
        status = exhausted ? txm_no_memory(&own, s.path) : TXM_OK;
    }
    if (status == TXM_OK && recognised)
        status = judge_described(&s, st, &found, &own);
    if (!recognised)
        found.kept = TXM_KEPT_UNRECOGNISED;
    txm_tx_description_free(&s.description);
    free(s.beside);
    free(s.name);
    free(s.dir);
    if (status != TXM_OK) {
        free(found.image);
        return txm_fail_with(err, status, &own);
    }
    *out = found;
    return TXM_OK;
}

const char *txm_garbage_name(txm_garbage garbage)
{
    static const char *const names[] = {"orphan", "old-name", "unused", "temporary", "claim", "over-limit"};
    return TXM_WORD_OF(names, garbage);
}

const char *txm_kept_name(txm_kept kept)
{
    static const char *const names[] = {"used",      "young", "unrecognised", "unknown-image",
                                        "no-folder", "busy",  "other-user"};
    return TXM_WORD_OF(names, kept);
}

static void add_to_sum(txm_garbage_sum *sum, uint64_t bytes)
{
    sum->files++;
    sum->bytes += bytes;
}

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

/* *busy is set if another process is making the file, or has just made or removed it. */
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

/* A file that is found twice, since folders overlap, counts once. */
static txm_status add_to_census(const walk *w, const char *path, const struct stat *st, bool judged, txm_error *err)
{
    txm_census *c = w->options->census;
    char id[TXM_FILE_ID_BYTES];
    txm_file_id(st, id);
    if (txm_names_has(&c->ids, id))
        return TXM_OK;
    char *copy = txm_strdup(path);
    if (!copy || !txm_names_put(&c->ids, id) || !TXM_GROW(c->items, c->capacity, c->count)) {
        free(copy);
        return txm_no_memory(err, path);
    }
    c->items[c->count++] = (kept_file){copy, *st, w->folder.st_dev, w->folder.st_ino, judged};
    return TXM_OK;
}

/* Young files are kept: a scene that is not saved yet may use them. */
static txm_status settle(walk *w, const char *path, const struct stat *st, const verdict *v, txm_error *err)
{
    /* The modification time of a tx file is its image's; the inode change time says when it came here. */
    double age = difftime(w->now, st->st_ctim.tv_sec);
    uint64_t freed = st->st_nlink > 1 ? 0 : (uint64_t)st->st_size;
    const txm_garbage_file file = {path, v->why, v->image, (uint64_t)st->st_size, age > 0 ? age : 0};
    bool young = w->options->older_than_s >= 0 && age <= w->options->older_than_s, busy = false;
    txm_kept kept = v->kept;
    if (v->garbage && young)
        kept = TXM_KEPT_YOUNG;
    if (v->garbage && !young) {
        if (!w->options->dry_run && remove_file(w, path, st, &busy, err) != TXM_OK)
            return err->status;
        kept = TXM_KEPT_BUSY;
        if (!busy) {
            report(w, &file, freed);
            return TXM_OK;
        }
    }
    add_to_sum(&w->result->kept[kept], freed);
    if (w->options->census && kept != TXM_KEPT_UNRECOGNISED &&
        add_to_census(w, path, st, kept == TXM_KEPT_USED, err) != TXM_OK)
        return err->status;
    if (w->options->kept && kept == TXM_KEPT_USED && v->image)
        w->options->kept(w->options->user, path, v->image, file.bytes);
    return TXM_OK;
}

/* A file that disappears meanwhile is not a failure. */
static void report_unless_gone(const walk *w, const char *path, const txm_error *err)
{
    struct stat st;
    if (err->status != TXM_STATUS_NOT_FOUND || lstat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR))
        report_failure(w, err);
}

/* Only lack of memory is a failure: problems with one file are reported. */
static txm_status visit_file(walk *w, const char *path, const struct stat *st, txm_error *err)
{
    verdict v = {0};
    txm_error own = {0};
    if (w->options->examined)
        w->options->examined(w->options->user, path);
    if (w->options->count_only)
        return add_to_census(w, path, st, false, err);
    txm_status status = judge(path, st, w->options, &v, &own);
    if (status == TXM_OK)
        status = settle(w, path, st, &v, &own);
    free(v.image);
    if (status == TXM_STATUS_NO_MEMORY)
        return txm_fail_with(err, status, &own);
    if (status != TXM_OK)
        report_unless_gone(w, path, &own);
    return TXM_OK;
}

static bool is_tx_name(const char *path)
{
    size_t name_bytes;
    return txm_tx_name_parse(txm_path_base(path), &name_bytes, NULL, NULL);
}

/* Takes ownership of `path`. */
static txm_status visit_garbage(walk *w, char *path, txm_error *err)
{
    struct stat st;
    bool there = path && lstat(path, &st) == 0;
    if (!path || (there && S_ISDIR(st.st_mode)))
        return txm_pending_push(&w->pending, path)
                   ? TXM_OK
                   : txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for the list of folders");
    txm_status status = TXM_OK;
    if (!there && errno != ENOENT) {
        txm_error own = {0};
        txm_fail_errno(&own, errno, "%s: cannot be examined", path);
        report_failure(w, &own);
    }
    if (there && S_ISREG(st.st_mode) && is_tx_name(path))
        status = visit_file(w, path, &st, err);
    free(path);
    return status;
}

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
    if (status == TXM_OK && !w->options->count_only)
        txm_sweep_folder(folder, w->options->dry_run, &swept);
    return status;
}

txm_status txm_garbage_collect(const char *path, const txm_garbage_options *options, txm_garbage_result *result,
                               txm_error *err)
{
    txm_error_clear(err);
    txm_garbage_options o = {0};
    txm_status status = txm_options_take(&o, sizeof o, options, "txm_garbage_options", err);
    if (status == TXM_OK && isnan(o.older_than_s))
        status = txm_fail(err, TXM_STATUS_USAGE, "the age is not a number");
    if (status == TXM_OK && o.count_only && !o.census)
        status = txm_fail(err, TXM_STATUS_USAGE, "count_only needs a census");
    walk w = {.options = &o, .result = result, .now = time(NULL)};
    if (status == TXM_OK && !o.dry_run && !o.count_only && !(w.claims = txm_claims_new(NULL)))
        status = txm_fail_errno(err, errno, "cannot start the thread that renews claims");
    struct stat st;
    if (status == TXM_OK && (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))) {
        status = read_folder(&w, path, err);
    } else if (status == TXM_OK && is_tx_name(path)) {
        char *folder = txm_path_dir(path);
        const int rc = !folder ? ENOMEM : stat(folder, &w.folder) == 0 ? 0 : errno;
        free(folder);
        status = rc ? txm_fail_errno(err, rc, "%s: cannot examine its folder", path) : visit_file(&w, path, &st, err);
    } else if (status == TXM_OK) {
        status = txm_fail(err, TXM_STATUS_UNSUPPORTED,
                          "%s: neither a folder nor a file named like the tx files of a texture cache, "
                          "IMAGE.0-MD5.tx; name the folder that holds the tx files",
                          path);
    }
    for (char *next; status == TXM_OK && (next = txm_pending_pop(&w.pending)); free(next)) {
        txm_error own = {0};
        status = read_folder(&w, next, &own);
        if (status == TXM_STATUS_NO_MEMORY || status == TXM_STATUS_CANCELLED) {
            txm_fail_with(err, status, &own);
        } else if (status != TXM_OK) {
            report_failure(&w, &own);
            status = TXM_OK;
        }
    }
    txm_pending_free(&w.pending);
    txm_claims_free(&w.claims);
    return status;
}

/* ---- a limit ---------------------------------------------------------------------------------------------------- */

txm_status txm_census_new(txm_census **out, txm_error *err)
{
    txm_error_clear(err);
    *out = txm_calloc(1, sizeof **out);
    return *out ? TXM_OK : txm_no_memory(err, NULL);
}

void txm_census_free(txm_census **census)
{
    if (!census || !*census)
        return;
    for (size_t i = 0; i < (*census)->count; i++)
        free((*census)->items[i].path);
    free((*census)->items);
    txm_names_free(&(*census)->ids);
    free(*census);
    *census = NULL;
}

/* A new tx file has the time of its image as access time too, until it is read or used. */
static struct timespec last_use(const struct stat *st)
{
    const bool read = st->st_atim.tv_sec != st->st_mtim.tv_sec || st->st_atim.tv_nsec != st->st_mtim.tv_nsec;
    return read ? st->st_atim : st->st_ctim;
}

static int compare_last_uses(const void *pa, const void *pb)
{
    const kept_file *a = pa, *b = pb;
    const struct timespec ta = last_use(&a->st), tb = last_use(&b->st);
    return ta.tv_sec != tb.tv_sec     ? (ta.tv_sec < tb.tv_sec ? -1 : 1)
           : ta.tv_nsec != tb.tv_nsec ? (ta.tv_nsec < tb.tv_nsec ? -1 : 1)
                                      : strcmp(a->path, b->path);
}

/* Removes one file if it may go. *freed: it takes no room any more. */
static txm_status let_go(walk *w, const kept_file *file, bool *freed, txm_error *err)
{
    const txm_used *u = w->options->used;
    size_t name_bytes = 0;
    char id[TXM_FILE_ID_BYTES];
    const double unused = difftime(w->now, last_use(&file->st).tv_sec);
    verdict v = {.kept = TXM_KEPT_USED};
    bool busy = false;
    txm_tx_name_parse(txm_path_base(file->path), &name_bytes, NULL, NULL);
    char *name = txm_strndup(txm_path_base(file->path), name_bytes);
    if (!name)
        return txm_no_memory(err, file->path);
    txm_file_id(&file->st, id);
    const bool needed = u && (txm_names_has(&u->files, id) || txm_names_has(&u->packed, name));
    free(name);
    txm_status status = TXM_OK;
    /* What a census only counted is examined when its turn has come. */
    if (!needed && !file->judged)
        status = judge(file->path, &file->st, w->options, &v, err);
    const bool young = difftime(w->now, file->st.st_ctim.tv_sec) <= w->options->older_than_s;
    const bool may_go = status == TXM_OK && !needed && !young && (v.garbage || v.kept == TXM_KEPT_USED);
    const bool foreign = may_go && !txm_file_is_own(file->st.st_uid);
    if (may_go && !foreign && !w->options->dry_run) {
        w->folder = (struct stat){.st_dev = file->folder_dev, .st_ino = file->folder_ino};
        status = remove_file(w, file->path, &file->st, &busy, err);
    }
    *freed = status == TXM_OK && may_go && !foreign && (!busy || access(file->path, F_OK) != 0);
    if (status == TXM_OK && may_go && !busy) {
        txm_garbage_sum *kept = &w->result->kept[TXM_KEPT_USED];
        const uint64_t bytes = (uint64_t)file->st.st_size;
        const txm_garbage_file gone = {file->path, TXM_GARBAGE_OVER_LIMIT, v.image, bytes, unused > 0 ? unused : 0};
        kept->files -= file->judged;
        kept->bytes -= file->judged ? bytes : 0;
        if (foreign)
            add_to_sum(&w->result->kept[TXM_KEPT_OTHER_USER], bytes);
        else
            report(w, &gone, bytes);
        if (foreign && w->options->kept)
            w->options->kept(w->options->user, file->path, NULL, bytes);
    }
    free(v.image);
    return status;
}

txm_status txm_census_trim(txm_census *census, uint64_t limit_bytes, const txm_garbage_options *options,
                           txm_garbage_result *result, uint64_t *left_bytes, txm_error *err)
{
    txm_error_clear(err);
    txm_garbage_options o = {0};
    txm_status status = txm_options_take(&o, sizeof o, options, "txm_garbage_options", err);
    walk w = {.options = &o, .result = result, .now = time(NULL)};
    o.census = census; /* so that only the limit judges what no scene uses */
    *left_bytes = 0;
    /* Removing one of several links to a file frees no space. */
    for (size_t i = 0; i < census->count; i++)
        *left_bytes += census->items[i].st.st_nlink > 1 ? 0 : (uint64_t)census->items[i].st.st_size;
    if (status != TXM_OK || *left_bytes <= limit_bytes)
        return status;
    if (!o.dry_run && !(w.claims = txm_claims_new(NULL)))
        return txm_fail_errno(err, errno, "cannot start the thread that renews claims");
    qsort(census->items, census->count, sizeof *census->items, compare_last_uses);
    for (size_t i = 0; i<census->count && * left_bytes> limit_bytes && status == TXM_OK; i++) {
        const kept_file *file = &census->items[i];
        txm_error own = {0};
        bool freed = false;
        if (txm_is_cancelled(o.cancel)) {
            status = txm_fail(err, TXM_STATUS_CANCELLED, "stopped on request");
        } else if (file->st.st_nlink == 1 && let_go(&w, file, &freed, &own) != TXM_OK) {
            if (own.status == TXM_STATUS_NO_MEMORY)
                status = txm_fail_as(err, &own);
            else
                report_unless_gone(&w, file->path, &own);
        }
        *left_bytes -= freed ? (uint64_t)file->st.st_size : 0;
    }
    txm_claims_free(&w.claims);
    return status;
}
