/* SPDX-License-Identifier: Apache-2.0
 *
 * Trims a store by age and size. Fetching an object sets its access time, which records its last use. Only files that
 * are named like objects are removed, and a folder that contains anything else is refused, so that a mistyped path
 * loses nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/entries.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "mill/farm/store.h"
#include "txmill/garbage.h"
#include "txmill/out_file.h"

typedef struct object {
    char *path;
    uint64_t bytes;
    double unused_s;
    bool shared; /* a tx file elsewhere is a hard link to it */
    dev_t dev;   /* identify the file until it is removed */
    ino_t ino;
    struct timespec changed;
} object;

typedef struct objects {
    object *items;
    size_t count, capacity;
} objects;

static bool is_hex(const char *text, size_t digits)
{
    return strspn(text, "0123456789abcdef") == digits;
}

/* Files that killed runs left in the store are removed as well. */
static txm_status read_shelf(objects *o, const char *store, const char *name, const txm_trim_options *options,
                             time_t now, txm_error *err)
{
    enum { DIGITS = TXM_CONTENT_HEX - 3 }; /* with the two digits of the folder, that is a digest */
    char *folder = txm_path_join(store, name);
    txm_entries files = {0};
    txm_status status = folder ? txm_entries_read(folder, &files, err) : TXM_STATUS_NO_MEMORY;
    for (size_t i = 0; status == TXM_OK && i < files.count; i++) {
        const char *file = files.items[i].name;
        struct stat st;
        if (!is_hex(file, DIGITS) || strcmp(file + DIGITS, ".tx") != 0)
            continue;
        char *path = TXM_GROW(o->items, o->capacity, o->count) ? txm_path_join(folder, file) : NULL;
        if (!path)
            status = TXM_STATUS_NO_MEMORY;
        else if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
            free(path);
        else
            o->items[o->count++] = (object){.path = path,
                                            .bytes = (uint64_t)st.st_size,
                                            .unused_s = (double)(now - st.st_atim.tv_sec),
                                            .shared = st.st_nlink > 1,
                                            .dev = st.st_dev,
                                            .ino = st.st_ino,
                                            .changed = st.st_ctim};
    }
    txm_swept swept = {0};
    if (status == TXM_OK)
        txm_sweep_folder(folder, options->dry_run, &swept);
    if (status == TXM_STATUS_NO_MEMORY)
        txm_fail(err, status, "%s: out of memory for the list of its files", store);
    txm_entries_free(&files);
    free(folder);
    return status;
}

static int compare_uses(const void *pa, const void *pb)
{
    const object *a = pa, *b = pb;
    return a->unused_s != b->unused_s ? (a->unused_s < b->unused_s ? 1 : -1) : strcmp(a->path, b->path);
}

/* Objects are sorted by last use; those beyond the age go first, then as many as the size requires. */
txm_status txm_store_trim(const char *store, const txm_trim_options *options, txm_trim_result *result, txm_error *err)
{
    txm_error_clear(err);
    txm_trim_options own = {.struct_size = sizeof(txm_trim_options), .older_than_s = -1, .max_bytes = UINT64_MAX};
    *result = (txm_trim_result){0};
    txm_status status = txm_options_take(&own, sizeof own, options, "txm_trim_options", err);
    if (status == TXM_OK && isnan(own.older_than_s))
        status = txm_fail(err, TXM_STATUS_USAGE, "the age is not a number");
    if (status != TXM_OK)
        return status;
    options = &own;
    objects o = {0};
    const time_t now = time(NULL);
    txm_trim_result r = {0};
    txm_entries shelves = {0};
    status = txm_entries_read(store, &shelves, err);
    /* A single entry that does not belong in a store is enough to refuse: a mistyped --store must not lose files. */
    for (size_t i = 0; status == TXM_OK && i < shelves.count; i++)
        if (!is_hex(shelves.items[i].name, 2) || shelves.items[i].name[2])
            status = txm_fail(err, TXM_STATUS_USAGE, "%s: this is not a txmill store: it holds \"%s\"", store,
                              shelves.items[i].name);
    for (size_t i = 0; status == TXM_OK && i < shelves.count; i++)
        status = read_shelf(&o, store, shelves.items[i].name, options, now, err);
    txm_entries_free(&shelves);
    if (status == TXM_OK && o.count)
        qsort(o.items, o.count, sizeof *o.items, compare_uses);
    for (size_t i = 0; i < o.count; i++)
        r.bytes += o.items[i].shared ? 0 : o.items[i].bytes;
    r.objects = o.count;
    for (size_t i = 0; status == TXM_OK && i < o.count; i++) {
        const object *item = &o.items[i];
        bool old = options->older_than_s >= 0 && item->unused_s > options->older_than_s;
        /* Removing one of several links to a file frees no space. */
        bool too_much = !item->shared && r.bytes - r.removed_bytes > options->max_bytes;
        if (!old && !too_much)
            continue;
        const struct stat judged = {.st_dev = item->dev, .st_ino = item->ino, .st_ctim = item->changed};
        /* The folder of an object is kept, because it will be needed again. */
        if (!options->dry_run && txm_file_remove(item->path, NULL, &judged) != 0) {
            r.failed++;
            continue;
        }
        r.removed++;
        r.removed_bytes += item->shared ? 0 : item->bytes;
        if (options->removed)
            options->removed(options->user, item->path, item->bytes, item->unused_s);
    }
    for (size_t i = 0; i < o.count; i++)
        free(o.items[i].path);
    free(o.items);
    if (status == TXM_OK)
        *result = r;
    return status;
}
