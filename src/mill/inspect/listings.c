/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorted names of folders. A run has few of them, so they are searched one by one.
 */
#include "mill/inspect/listings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"

static void free_listing(txm_listing *l)
{
    txm_entries_free(&l->names);
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

txm_status txm_listings_get(txm_listings *listings, const char *folder, txm_listing **out, txm_error *err)
{
    for (size_t i = 0; i < listings->count; i++)
        if (!strcmp(listings->items[i].folder, folder)) {
            *out = &listings->items[i];
            return TXM_OK;
        }
    /* The current folder has no name in paths like "wood.png", but it has one in messages. */
    const char *shown = *folder ? folder : ".";
    txm_listing l = {.folder = txm_strdup(folder)};
    txm_error why = {0};
    txm_status status = TXM_GROW(listings->items, listings->capacity, listings->count) && l.folder
                            ? txm_entries_read(shown, &l.names, &why)
                            : txm_no_memory(&why, shown);
    if (why.sys_errno == ENOENT || why.sys_errno == ENOTDIR)
        status = TXM_OK;
    else if (why.sys_errno)
        txm_fail_errno(err, why.sys_errno, "%s: cannot be listed", shown);
    else if (status)
        txm_fail_as(err, &why);
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
    size_t from = 0, to = listing->names.count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (strncmp(listing->names.items[middle].name, name, bytes) < 0)
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
    return at < listing->names.count && !strncmp(listing->names.items[at].name, name, bytes) &&
           !listing->names.items[at].name[bytes];
}

int64_t txm_listing_time(txm_listing *listing, size_t index)
{
    struct stat st;
    if (!listing->times) {
        listing->times = txm_calloc(listing->names.count, sizeof *listing->times);
        for (size_t i = 0; listing->times && i < listing->names.count; i++)
            listing->times[i] = INT64_MAX; /* not examined yet */
    }
    if (listing->times && listing->times[index] != INT64_MAX)
        return listing->times[index];
    char *path = txm_path_join(listing->folder, listing->names.items[index].name);
    const int64_t time = path && stat(path, &st) == 0 ? (int64_t)st.st_mtime : INT64_MIN;
    free(path);
    if (listing->times)
        listing->times[index] = time;
    return time;
}
