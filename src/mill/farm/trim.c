/* SPDX-License-Identifier: Apache-2.0
 *
 * Trims a store by age and size. Objects that were unused for longer than the age are removed first, then those unused
 * for longest until the rest fits. Fetching an object sets its access time, which records its last use. Only files
 * that are named like objects are removed, and a folder that contains anything else is refused, so that a mistyped
 * path loses nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "mill/farm/entries.h"
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

/* 62 digits and .tx: with the two digits of the folder, that is a digest. */
static bool is_object_name(const char *name)
{
    enum { DIGITS = TXM_CONTENT_HEX - 3 };
    return is_hex(name, DIGITS) && strcmp(name + DIGITS, ".tx") == 0;
}

static bool add_store_object(objects *o, const object *item)
{
    if (!TXM_GROW(o->items, o->capacity, o->count))
        return false;
    o->items[o->count++] = *item;
    return true;
}

/* Objects with several links occupy no space of their own: another folder has the same bytes. */
static bool add_store_file(objects *o, const char *folder, const char *name, time_t now)
{
    struct stat st;
    object item = {.path = txm_path_join(folder, name)};
    if (!item.path)
        return false;
    if (lstat(item.path, &st) != 0 || !S_ISREG(st.st_mode)) {
        free(item.path);
        return true;
    }
    item.bytes = (uint64_t)st.st_size;
    item.unused_s = (double)(now - st.st_atim.tv_sec);
    item.shared = st.st_nlink > 1;
    item.dev = st.st_dev;
    item.ino = st.st_ino;
    item.changed = st.st_ctim;
    if (add_store_object(o, &item))
        return true;
    free(item.path);
    return false;
}

/* Files that killed runs left in the store are removed as well. */
static txm_status read_shelf(objects *o, const char *store, const char *name, const txm_trim_options *options,
                             time_t now, txm_error *err)
{
    char *folder = txm_path_join(store, name);
    txm_entries files = {0};
    txm_status status = folder ? txm_entries_read(folder, &files, err) : TXM_STATUS_NO_MEMORY;
    for (size_t i = 0; status == TXM_OK && i < files.count; i++)
        if (is_object_name(files.items[i].name) && !add_store_file(o, folder, files.items[i].name, now))
            status = TXM_STATUS_NO_MEMORY;
    txm_swept swept = {0};
    if (status == TXM_OK)
        txm_sweep_folder(folder, options->dry_run, &swept);
    if (status == TXM_STATUS_NO_MEMORY)
        txm_fail(err, status, "%s: out of memory for the list of its files", store);
    txm_entries_free(&files);
    free(folder);
    return status;
}

/* A single entry that does not belong in a store is enough to refuse: a mistyped --store must not lose files. */
static txm_status read_store(objects *o, const char *store, const txm_trim_options *options, txm_error *err)
{
    txm_entries shelves = {0};
    time_t now = time(NULL);
    txm_status status = txm_entries_read(store, &shelves, err);
    for (size_t i = 0; status == TXM_OK && i < shelves.count; i++)
        if (!is_hex(shelves.items[i].name, 2) || shelves.items[i].name[2])
            status = txm_fail(err, TXM_STATUS_USAGE, "%s: this is not a txmill store: it holds \"%s\"", store,
                              shelves.items[i].name);
    for (size_t i = 0; status == TXM_OK && i < shelves.count; i++)
        status = read_shelf(o, store, shelves.items[i].name, options, now, err);
    txm_entries_free(&shelves);
    return status;
}

/* Sorts by last use, oldest first. */
static int compare_uses(const void *pa, const void *pb)
{
    const object *a = pa, *b = pb;
    return a->unused_s != b->unused_s ? (a->unused_s < b->unused_s ? 1 : -1) : strcmp(a->path, b->path);
}

/* The folder of an object is kept, because it will be needed again. */
static void remove_object(const object *item, const txm_trim_options *options, txm_trim_result *result)
{
    const struct stat judged = {.st_dev = item->dev, .st_ino = item->ino, .st_ctim = item->changed};
    if (!options->dry_run && txm_file_remove(item->path, NULL, &judged) != 0) {
        result->failed++;
        return;
    }
    result->removed++;
    result->removed_bytes += item->shared ? 0 : item->bytes;
    if (options->removed)
        options->removed(options->user, item->path, item->bytes, item->unused_s);
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
    txm_trim_result r = {0};
    status = read_store(&o, store, options, err);
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
        if (old || too_much)
            remove_object(item, options, &r);
    }
    for (size_t i = 0; i < o.count; i++)
        free(o.items[i].path);
    free(o.items);
    if (status == TXM_OK)
        *result = r;
    return status;
}
