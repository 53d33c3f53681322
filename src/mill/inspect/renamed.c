/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and headers are compared, in this order, since most files of a folder differ in them; whoever renames a file
 * compares its pixels before.
 */
#include "mill/inspect/renamed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/os/files.h"
#include "base/path.h"
#include "txtile/describe.h"
#include "txtile/reader.h"

/* Comparing the pixels of a file takes as long as making it. */
enum { MAX_OTHER_TIMES = 8 };

typedef struct search {
    const char *image, *cache_dir;
    char *folder, *target; /* of the tx files; the image's own */
    const txm_source_info *info;
    const txm_tx_key *key;
    txm_listings *listings;
    txm_formers *out;
    size_t other_times;
    char md5[33]; /* the target's */
    bool shared;  /* the folder is for images of several folders, which are part of the digest */
} search;

void txm_formers_free(txm_formers *formers)
{
    for (size_t i = 0; i < formers->count; i++) {
        free(formers->items[i].path);
        free(formers->items[i].target);
    }
    free(formers->items);
    *formers = (txm_formers){0};
}

/* Whether the header fits the image; that of an image of one colour has the size of a tile. A file that cannot be
 * opened does not fit. *source: the path of the image that it was made from; owned, may be NULL. */
static bool fits_image(const search *s, const char *path, char **source)
{
    txm_tx *tx = NULL;
    txm_tx_description d = {0};
    if (txm_tx_open(path, &tx, NULL) != TXM_OK)
        return false;
    const txm_tx_info *i = txm_tx_info_of(tx);
    const bool known = txm_tx_describe(tx, &d, NULL) == TXM_OK;
    const uint32_t level = txm_limit_level(s->info->width, s->info->height, d.limit_px);
    const bool fits =
        (i->width == txm_level_size(s->info->width, level) && i->height == txm_level_size(s->info->height, level)) ||
        (i->width == i->tile_w && i->height == i->tile_h);
    if (fits && source && known)
        *source = txm_strdup(d.source);
    txm_tx_description_free(&d);
    txm_tx_close(&tx);
    return fits;
}

/* Takes images that are beside this one. In a cache folder for several folders they may also have been moved: tx files
 * say which images they were made from, and those with this image's time are opened for this. */
static txm_status names_gone_image(const search *s, const char *path, size_t bytes, bool same_time, bool *gone,
                                   txm_error *err)
{
    char *source = NULL;
    const char *name = txm_path_base(path);
    const char *own = txm_path_base(s->image);
    txm_status status = TXM_OK;
    *gone = false;
    for (int i = 0; !status && !*gone && i <= (s->shared && same_time); i++) {
        const char *folder = s->image;
        size_t folder_bytes = (size_t)(own - s->image);
        if (i && (!fits_image(s, path, &source) || !source || source[0] != '/'))
            break;
        if (i) {
            folder = source;
            folder_bytes = (size_t)(txm_path_base(source) - source);
        }
        char *former = txm_asprintf("%.*s%.*s", (int)folder_bytes, folder, (int)bytes, name);
        /* An image of this name would have the tx file, and is gone. */
        char *expected = former ? txm_tx_path(former, s->cache_dir, s->key) : NULL;
        struct stat st;
        if (expected)
            *gone = !strcmp(txm_path_base(expected), name) && lstat(former, &st) != 0 && errno == ENOENT;
        else
            status = former ? txm_path_absolute_failed(former, err) : txm_no_memory(err, s->image);
        free(expected);
        free(former);
    }
    free(source);
    return status;
}

/* Most files of a folder differ in the digest, or are named for images that are beside this one. */
static txm_status consider(search *s, const txm_listing *images, txm_listing *files, size_t index, txm_error *err)
{
    const char *name = files->names.items[index].name;
    size_t bytes;
    char md5[33];
    bool gone = false;
    if (!txm_tx_name_parse(name, &bytes, NULL, md5) || !strcmp(name, txm_path_base(s->target)) ||
        (!s->shared && (strcmp(md5, s->md5) != 0 || txm_listing_has(images, name, bytes))))
        return TXM_OK;
    char *path = txm_path_join(s->folder, name), *target = txm_strdup(s->target);
    const bool same_time = txm_listing_time(files, index) == s->info->mtime.tv_sec;
    txm_status status = path && target ? TXM_OK : txm_no_memory(err, s->image);
    if (!status && (same_time || s->other_times < MAX_OTHER_TIMES))
        status = names_gone_image(s, path, bytes, same_time, &gone, err);
    if (!status && gone && fits_image(s, path, NULL)) {
        if (TXM_GROW(s->out->items, s->out->capacity, s->out->count)) {
            s->out->items[s->out->count++] = (txm_former){path, target, same_time};
            s->other_times += !same_time;
            return TXM_OK;
        }
        status = txm_no_memory(err, s->image);
    }
    free(path);
    free(target);
    return status;
}

/* The first listing may move when the second is added. */
static txm_status search_folder(search *s, txm_error *err)
{
    txm_listing *images = NULL, *files = NULL;
    char *beside = strchr(s->image, '/') ? txm_path_dir(s->image) : txm_strdup("");
    txm_status status = beside ? txm_listings_get(s->listings, beside, &images, err) : txm_no_memory(err, s->image);
    if (!status)
        status = txm_listings_get(s->listings, s->folder, &files, err);
    if (!status)
        status = txm_listings_get(s->listings, beside, &images, err);
    for (size_t i = 0; !status && i < files->names.count; i++)
        status = consider(s, images, files, i, err);
    free(beside);
    return status;
}

/* readdir has no defined order. */
static int by_time_and_path(const void *a, const void *b)
{
    const txm_former *x = a, *y = b;
    return x->same_time != y->same_time ? y->same_time - x->same_time : strcmp(x->path, y->path);
}

txm_status txm_formers_find(const char *image, const txm_source_info *info, const char *cache_dir,
                            const txm_tx_key *key, txm_listings *listings, txm_formers *out, txm_error *err)
{
    const char *const dirs[] = {cache_dir, NULL};
    char *first = NULL;
    size_t bytes;
    txm_status status = TXM_OK;
    *out = (txm_formers){0};
    for (size_t i = 0; !status && i < 2; i++) {
        search s = {.image = image, .cache_dir = dirs[i], .info = info, .key = key, .listings = listings, .out = out};
        s.target = txm_tx_path(image, dirs[i], key);
        s.shared = dirs[i] && dirs[i][0] == '/';
        s.folder = s.target ? txm_path_dir(s.target) : NULL;
        if (!s.folder)
            status = txm_path_absolute_failed(image, err);
        else if (txm_tx_name_parse(txm_path_base(s.target), &bytes, NULL, s.md5) &&
                 (!first || (strcmp(first, s.folder) != 0 && !txm_same_file(first, s.folder))))
            status = search_folder(&s, err);
        free(s.target);
        if (first)
            free(s.folder);
        else
            first = s.folder;
    }
    free(first);
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, by_time_and_path);
    return status;
}
