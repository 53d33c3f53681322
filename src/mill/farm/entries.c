/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists the names in a folder. All names are read at once and sorted by their bytes, so that folders are walked in the
 * same order on every machine and may change while their entries are processed.
 */
#include "mill/farm/entries.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* Stores whether an entry is a plain file if the file system says so, which saves a stat for each. */
static bool add_dirent(txm_entries *e, const struct dirent *d)
{
    if (e->count == e->capacity) {
        size_t capacity = e->capacity ? 2 * e->capacity : 64;
        txm_entry *items = realloc(e->items, txm_mul(capacity, sizeof *items));
        if (!items)
            return false;
        e->items = items;
        e->capacity = capacity;
    }
    txm_entry entry = {txm_strdup(d->d_name), d->d_type != DT_UNKNOWN && d->d_type != DT_DIR && d->d_type != DT_LNK};
    if (!entry.name)
        return false;
    e->items[e->count++] = entry;
    return true;
}

/* Compares bytes, independently of the locale. */
static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const txm_entry *)a)->name, ((const txm_entry *)b)->name);
}

/* All names are read at once: a folder of a hundred thousand takes a few megabytes. */
txm_status txm_entries_read(const char *folder, txm_entries *out, txm_error *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return txm_fail_errno(err, errno, "%s: cannot read the folder", folder);
    txm_entries e = {0};
    txm_status status = TXM_OK;
    struct dirent *d;
    /* Only errno distinguishes the end of the folder from a failure of readdir. */
    for (errno = 0; status == TXM_OK && (d = readdir(dir)); errno = 0) {
        if (strcmp(d->d_name, ".") && strcmp(d->d_name, "..") && !add_dirent(&e, d))
            status = txm_no_memory(err, folder);
    }
    if (status == TXM_OK && errno)
        status = txm_fail_errno(err, errno, "%s: reading the folder failed", folder);
    closedir(dir);
    if (status != TXM_OK) {
        txm_entries_free(&e);
        return status;
    }
    if (e.count)
        qsort(e.items, e.count, sizeof *e.items, compare_entries);
    *out = e;
    return TXM_OK;
}

void txm_entries_free(txm_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++)
        free(entries->items[i].name);
    free(entries->items);
    *entries = (txm_entries){0};
}
