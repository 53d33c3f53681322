/* SPDX-License-Identifier: Apache-2.0
 *
 * The collection of inputs, as its parts see it.
 *
 * inputs.c owns the list and adds single files; folder.c walks folders; list.c reads lists and pattern.c
 * expands patterns. Each turns what it cannot read into an item with a status, so that a bad entry is reported
 * in its place and costs no other. The strings of items are kept once each, in `names`: a million images of a
 * farm share their folders' settings and their origin.
 */
#ifndef TXM_FARM_INPUTS_H
#define TXM_FARM_INPUTS_H
#include "mill/base/names.h"
#include "txmill/batch.h"

struct txm_inputs {
    txm_inputs_options options;
    txm_names names; /* every string of the items */
    txm_input *items;
    size_t count, capacity;
    unsigned looks; /* for names in other case: each reads a folder */
};

/* Adds what a path names that is no list: a file, a folder, a pattern. `settings` holds what is said about it, and its
 * origin; its path is not looked at. */
txm_status txm_inputs_add_path(txm_inputs *inputs, const char *path, const txm_input *settings, txm_error *err);
/* Adds one file: an image, or all images of a scene. `settings` as above. */
txm_status txm_inputs_add_file(txm_inputs *inputs, const char *path, const txm_input *settings, txm_error *err);
/* Adds something that could not be read. `settings` as above; may be NULL. */
txm_status txm_inputs_add_failure(txm_inputs *inputs, const char *path, const txm_input *settings,
                                  const txm_error *failure, txm_error *err);

/* Whether a name in a folder is taken: by its extension and the globs, which see what comes after the first
 * `root_bytes` bytes of the path. Of a folder, whether it is gone into. */
bool txm_inputs_want(const txm_inputs_options *options, const char *path, size_t root_bytes, bool is_folder);
/* Adds the images below a folder. NO_MEMORY only: folders that cannot be read become failed inputs. */
txm_status txm_inputs_add_folder(txm_inputs *inputs, const char *path, const txm_input *settings, txm_error *err);
/* Adds the entries of a list, "-" for standard input. NO_MEMORY and CANCELLED only. */
txm_status txm_inputs_add_list(txm_inputs *inputs, const char *path, txm_error *err);
#endif
