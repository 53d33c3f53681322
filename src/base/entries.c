/* SPDX-License-Identifier: Apache-2.0
 *
 * All names are read at once and sorted by their bytes, so that folders are walked in the same order on every machine
 * and may change while their entries are processed. A folder of a hundred thousand takes a few megabytes.
 */
#include "base/entries.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const txm_entry *)a)->name, ((const txm_entry *)b)->name);
}

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
        if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
            continue;
        char *name = TXM_GROW(e.items, e.capacity, e.count) ? txm_strdup(d->d_name) : NULL;
        /* If the file system says that it is a plain file, that saves a stat. */
        if (name)
            e.items[e.count++] =
                (txm_entry){name, d->d_type != DT_UNKNOWN && d->d_type != DT_DIR && d->d_type != DT_LNK};
        else
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

bool txm_pending_push(txm_pending *p, char *path)
{
    if (!path || !TXM_GROW(p->paths, p->capacity, p->count)) {
        free(path);
        return false;
    }
    p->paths[p->count++] = path;
    return true;
}

char *txm_pending_pop(txm_pending *p)
{
    return p->count ? p->paths[--p->count] : NULL;
}

void txm_pending_free(txm_pending *p)
{
    while (p->count)
        free(p->paths[--p->count]);
    free(p->paths);
    *p = (txm_pending){0};
}
