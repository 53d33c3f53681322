/* SPDX-License-Identifier: Apache-2.0
 *
 * What a batch makes of a scene: the files to convert, with the settings under which the render looks them up.
 */
#include <stdlib.h>
#include <string.h>

#include "blend/scene.h"
#include "core/mem.h"
#include "core/path.h"

typedef struct entry_list {
    txm_blend *blend;
    TXM_TABLE(txm_blend_entry) entries;
} entry_list;

/* Takes `path` over. NULL stands for exhausted memory. */
static txm_status add_entry(entry_list *list, size_t image, char *path, txm_error *err)
{
    const txm_blend_image *im = &list->blend->images.data[image];
    txm_blend_entry *e = path ? TXM_STORE_ADD(&list->blend->store, &list->entries) : NULL;
    if (!e) {
        free(path);
        return txm_blend_exhausted(list->blend, err);
    }
    bool many = im->state == TXM_BLEND_READY && (im->source == TXM_BLEND_TILED || im->source == TXM_BLEND_SEQUENCE);
    *e = (txm_blend_entry){.path = path,
                           .pattern = many ? im->path : NULL,
                           .colorspace = im->colorspace,
                           .alpha = im->alpha,
                           .image = image};
    return TXM_OK;
}

static txm_status add_image(entry_list *list, size_t image, const char *packed_folder, txm_error *err)
{
    const txm_blend_image *im = &list->blend->images.data[image];
    txm_status status = TXM_OK;
    for (size_t f = 0; status == TXM_OK && im->state == TXM_BLEND_READY && f < im->file_count; f++) {
        status = add_entry(list, image, txm_strdup(im->files[f].path), err);
    }
    for (size_t p = 0; status == TXM_OK && packed_folder && p < im->packed_count; p++) {
        char *path = NULL;
        status = txm_blend_unpack(list->blend, image, p, packed_folder, &path, err);
        if (status == TXM_OK) {
            status = add_entry(list, image, path, err);
        }
    }
    return status;
}

static int compare_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare_settings(const void *a, const void *b)
{
    const txm_blend_entry *left = a, *right = b;
    int order = strcmp(left->path, right->path);
    if (order == 0) {
        order = compare_text(left->colorspace, right->colorspace);
    }
    return order ? order : (int)left->alpha - (int)right->alpha;
}

static int compare_entries(const void *a, const void *b)
{
    const txm_blend_entry *left = a, *right = b;
    int order = compare_settings(a, b);
    return order ? order : left->image < right->image ? -1 : left->image > right->image;
}

static int compare_images(const void *a, const void *b)
{
    const txm_blend_entry *left = a, *right = b;
    if (left->image != right->image) {
        return left->image < right->image ? -1 : 1;
    }
    return strcmp(left->path, right->path);
}

/* Data-blocks often share a file: of entries that ask for the same, the first image's stays. */
static size_t drop_repeated(txm_blend_entry *entries, size_t count)
{
    size_t kept = 0;
    if (count == 0) {
        return 0;
    }
    qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && compare_settings(&entries[kept - 1], &entries[i]) == 0) {
            free(entries[i].path);
        } else {
            entries[kept++] = entries[i];
        }
    }
    qsort(entries, kept, sizeof *entries, compare_images);
    return kept;
}

txm_status txm_blend_entries(txm_blend *blend, const char *packed_folder, txm_blend_entry **out, size_t *count,
                             txm_error *err)
{
    txm_error_clear(err);
    entry_list list = {.blend = blend};
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < blend->images.count; i++) {
        status = add_image(&list, i, packed_folder, err);
    }
    if (status != TXM_OK) {
        txm_blend_entries_free(&list.entries.data, list.entries.count);
        return status;
    }
    *count = drop_repeated(list.entries.data, list.entries.count);
    *out = list.entries.data;
    return TXM_OK;
}

void txm_blend_entries_free(txm_blend_entry **entries, size_t count)
{
    for (size_t i = 0; *entries && i < count; i++) {
        free((*entries)[i].path);
    }
    free(*entries);
    *entries = NULL;
}
