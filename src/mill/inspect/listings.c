/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorted names of folders. A run has few of them, so they are searched one by one.
 */
#include "mill/inspect/listings.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"

static void free_listing(txm_listing *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->names[i]);
    free(l->names);
    free(l->times);
    free(l->folder);
}

void txm_listings_free(txm_listings *listings)
{
    for (size_t i = 0; i < listings->count; i++)
        free_listing(&listings->items[i]);
    free(listings->items);
    *listings = (txm_listings){0};
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The current folder has no name in paths like "wood.png", but it has one in messages. */
static const char *name_of(const char *folder)
{
    return *folder ? folder : ".";
}

static txm_status read_names(txm_listing *l, txm_error *err)
{
    const char *folder = name_of(l->folder);
    DIR *dir = opendir(folder);
    struct dirent *entry = NULL;
    txm_status status = TXM_OK;
    if (!dir)
        return errno == ENOENT || errno == ENOTDIR ? TXM_OK
                                                   : txm_fail_errno(err, errno, "%s: cannot be listed", folder);
    while (!status && (errno = 0, entry = readdir(dir))) {
        if (!TXM_GROW(l->names, l->capacity, l->count) || !(l->names[l->count] = txm_strdup(entry->d_name)))
            status = txm_no_memory(err, folder);
        else
            l->count++;
    }
    if (!status && errno != 0)
        status = txm_fail_errno(err, errno, "%s: cannot be listed", folder);
    closedir(dir);
    if (l->count)
        qsort(l->names, l->count, sizeof *l->names, by_bytes);
    return status;
}

txm_status txm_listings_get(txm_listings *listings, const char *folder, txm_listing **out, txm_error *err)
{
    for (size_t i = 0; i < listings->count; i++)
        if (!strcmp(listings->items[i].folder, folder)) {
            *out = &listings->items[i];
            return TXM_OK;
        }
    if (!TXM_GROW(listings->items, listings->capacity, listings->count))
        return txm_no_memory(err, name_of(folder));
    txm_listing l = {.folder = txm_strdup(folder)};
    const txm_status status = l.folder ? read_names(&l, err) : txm_no_memory(err, name_of(folder));
    if (status) {
        free_listing(&l);
        return status;
    }
    listings->items[listings->count] = l;
    *out = &listings->items[listings->count++];
    return TXM_OK;
}

size_t txm_listing_find(const txm_listing *listing, const char *name, size_t bytes)
{
    size_t from = 0, to = listing->count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (strncmp(listing->names[middle], name, bytes) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The shortest of the names that begin with it comes first. */
bool txm_listing_has(const txm_listing *listing, const char *name, size_t bytes)
{
    const size_t at = txm_listing_find(listing, name, bytes);
    return at < listing->count && !strncmp(listing->names[at], name, bytes) && !listing->names[at][bytes];
}

int64_t txm_listing_time(txm_listing *listing, size_t index)
{
    struct stat st;
    if (!listing->times) {
        listing->times = txm_calloc(listing->count, sizeof *listing->times);
        for (size_t i = 0; listing->times && i < listing->count; i++)
            listing->times[i] = INT64_MAX; /* not examined yet */
    }
    if (listing->times && listing->times[index] != INT64_MAX)
        return listing->times[index];
    char *path = txm_path_join(listing->folder, listing->names[index]);
    const int64_t time = path && stat(path, &st) == 0 ? (int64_t)st.st_mtime : INT64_MIN;
    free(path);
    if (listing->times)
        listing->times[index] = time;
    return time;
}
