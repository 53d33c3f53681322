/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds inputs that mean the same tx file. Two inputs are the same work if their tx files have the same real folder
 * and the same name. That covers two spellings of an image's path, but keeps links apart: wood.png and a link oak.png
 * to it have different tx files, because Cycles looks for them by the name in the scene.
 *
 * Afterwards each item either is made or names the item that makes its file. Inputs whose outputs would overwrite each
 * other with different pixels are refused: what a render shows must not depend on the order of the arguments.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "mill/farm/batch.h"
#include "tile/terms/settings.h"
#include "txmill/out_file.h"

typedef struct comparing {
    txm_names folders; /* folder as spelled -> its real path */
    txm_names targets; /* real tx path -> index + 1 */
    txm_names sources; /* "device:inode" -> index + 1 */
} comparing;

/* Folders repeat, so their real paths are cached. Folders in which files may be made are swept. NULL if memory is
 * exhausted. */
static const char *known_folder(comparing *c, const char *folder, bool sweep)
{
    txm_name *entry = txm_names_entry(&c->folders, folder);
    if (entry && !entry->value) {
        txm_swept swept = {0};
        if (sweep)
            txm_sweep_folder(folder, false, &swept);
        char *real = realpath(folder, NULL);
        if (!real && errno == ENOENT) {
            /* It does not exist yet: its parent's real path, with its name. */
            char *parent = txm_path_dir(folder), *parent_real = parent ? realpath(parent, NULL) : NULL;
            real = parent_real ? txm_path_join(parent_real, txm_path_base(folder)) : NULL;
            free(parent);
            free(parent_real);
        }
        if (!real)
            real = txm_path_absolute(folder);
        entry->value = (uintptr_t)txm_names_copy(&c->folders, real);
        free(real);
    }
    return entry ? (const char *)entry->value : NULL;
}

/* The index that `key` was first seen with; `index` itself if it is new. TXM_NO_INDEX if memory is exhausted. */
static ptrdiff_t first_of(txm_names *names, const char *key, size_t index)
{
    txm_name *entry = key ? txm_names_entry(names, key) : NULL;
    if (!entry)
        return TXM_NO_INDEX;
    if (!entry->value)
        entry->value = index + 1;
    return (ptrdiff_t)(entry->value - 1);
}

/* Cycles uses images of one pixel and images that are tx files themselves directly. */
static bool has_target(const txm_item *item)
{
    return item->outcome != TXM_OUTCOME_USED_AS_IS && item->outcome != TXM_OUTCOME_IS_TX;
}

/* Returns false if memory is exhausted. */
static bool compare_work(comparing *c, txm_batch *b, size_t index)
{
    txm_item *item = &b->items[index];
    /* Real folder and name are compared, because links to folders lead to the same file. */
    const char *path = item->tx_path ? item->tx_path : txm_inputs_at(b->inputs, index)->path;
    char *folder = txm_path_dir(path);
    const char *real = folder ? known_folder(c, folder, item->tx_path && !b->options.dry_run) : NULL;
    char *target = real ? txm_path_join(real, txm_path_base(path)) : NULL;
    ptrdiff_t first = first_of(&c->targets, target, index);
    free(target);
    free(folder);
    if (first == TXM_NO_INDEX)
        return false;
    const txm_item *other = &b->items[first];
    if (first == (ptrdiff_t)index) {
        char id[48];
        if (!has_target(item))
            return true;
        /* An image with two colour spaces may be used both as colour and as data, or one of them is a mistake. */
        snprintf(id, sizeof id, "%" PRIx64 ":%" PRIx64, item->device, item->inode);
        first = first_of(&c->sources, id, index);
        other = first == TXM_NO_INDEX ? item : &b->items[first];
        if (strcmp(other->requested, item->requested) != 0)
            txm_batch_warn(b, "%s: requested with two colour spaces, \"%s\" and \"%s\": two tx files",
                           txm_inputs_at(b->inputs, index)->path, txm_space_shown(other->requested),
                           txm_space_shown(item->requested));
        return first != TXM_NO_INDEX;
    }
    if (!has_target(item) && !has_target(other))
        return true;
    if (item->device != other->device || item->inode != other->inode ||
        strcmp(item->settings_key, other->settings_key) != 0) {
        /* Two different files cannot be written to the same path: only --output and lists can request that. */
        size_t writer = has_target(item) ? index : (size_t)first;
        txm_error err = {0};
        txm_fail(&err, TXM_STATUS_USAGE, "%s: its tx file would overwrite that of another input, %s",
                 b->items[writer].tx_path, txm_inputs_at(b->inputs, writer == index ? (size_t)first : index)->path);
        txm_item_fail(b, &b->items[writer], &err);
    }
    item->same_as = first;
    item->cost = (txm_cost){0};
    return true;
}

txm_status txm_find_same_work(txm_batch *b, txm_error *err)
{
    comparing c = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < b->count; i++)
        if (b->items[i].examined && !b->items[i].status)
            ok = compare_work(&c, b, i);
    txm_names_free(&c.folders);
    txm_names_free(&c.targets);
    txm_names_free(&c.sources);
    return ok ? TXM_OK : txm_no_memory(err, NULL);
}
