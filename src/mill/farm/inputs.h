/* SPDX-License-Identifier: Apache-2.0
 *
 * The collection of inputs, for the files that fill it. inputs.c owns the list and adds single files; folder.c walks
 * folders; list.c reads lists and pattern.c expands patterns. What cannot be read becomes an item with a status, so
 * that a bad entry is reported in its place and the others are still used. Equal strings of items are stored once, in
 * `names`: a million images of a farm share folders, settings and origin.
 */
#ifndef TXM_FARM_INPUTS_H
#define TXM_FARM_INPUTS_H
#include "base/names.h"
#include "txmill/batch.h"

struct txm_inputs {
    txm_inputs_options options;
    txm_names names; /* all strings of the items */
    txm_input *items;
    size_t count, capacity;
    unsigned searches; /* number of folders that were read for names in other case */
};

/* The limit of an image's sides, as in txm_settings: its own, that of the settings, or that of rules (which may be
 * NULL). */
uint32_t txm_input_limit(const txm_input *input, const txm_rules *rules, uint32_t settings_px);

/* Adds the files that a path names, unless it is a list: a file, a folder, a pattern. `settings` has their settings and
 * origin; its path is ignored. */
txm_status txm_inputs_add_path(txm_inputs *inputs, const char *path, const txm_input *settings, txm_error *err);
/* Adds one file: an image, or all images of a scene. `settings` as above. */
txm_status txm_inputs_add_file(txm_inputs *inputs, const char *path, const txm_input *settings, txm_error *err);
/* Adds an operand that could not be read. `settings` is as above and may be NULL. */
txm_status txm_inputs_add_failure(txm_inputs *inputs, const char *path, const txm_input *settings,
                                  const txm_error *failure, txm_error *err);

/* Whether a file in a folder is an input, by its extension and the globs, which match what follows the first
 * `root_bytes` bytes of the path; for a folder, whether it is read. */
bool txm_inputs_want(const txm_inputs_options *options, const char *path, size_t root_bytes, bool is_folder);
/* Adds the images in a folder. NO_MEMORY only: folders that cannot be read become failed inputs. */
txm_status txm_inputs_add_folder(txm_inputs *inputs, const char *path, const txm_input *settings, txm_error *err);
/* Adds the entries of a list, "-" for standard input. NO_MEMORY and CANCELLED only. */
txm_status txm_inputs_add_list(txm_inputs *inputs, const char *path, txm_error *err);
#endif
