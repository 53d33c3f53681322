/* SPDX-License-Identifier: Apache-2.0
 *
 * Patterns that match many files, in the file name part of a path:
 *
 *     <UDIM>         1001 to 9999, the tile's number: 1001 + u + 10 v
 *     <UVTILE>       u1_v1: the tile's place, counted from 1
 *     ####           a frame number of at least as many digits
 *     %04d, %d       the same, as printf would write it
 *     <f>            a frame number of any length
 *
 * The case of the words in angle brackets does not matter.
 */
#ifndef TXM_FARM_PATTERN_H
#define TXM_FARM_PATTERN_H
#include <stdbool.h>

#include "txtile/status.h"

/* Whether the file name part of `path` contains a token. */
bool txm_pattern_is(const char *path);
/* Whether `name` is a file name that `pattern`, a file name with tokens, matches. */
bool txm_pattern_match(const char *pattern, const char *name);
/* The number, 1001 to 9999, of the UDIM tile whose file `name` is; 0 if the pattern has no token for tiles or does not
 * match, or the tile's place has no number. */
unsigned txm_pattern_tile(const char *pattern, const char *name);

/* Called for each path that matches, in the order of the numbers in the names. false stops the search. */
typedef bool (*txm_pattern_fn)(void *user, const char *path);
/* Finds the files of a pattern. NOT_FOUND if there are none or the folder does not exist; DENIED and IO if it cannot be
 * read; NO_MEMORY, also if `fn` returned false. */
txm_status txm_pattern_each(const char *path, txm_pattern_fn fn, void *user, txm_error *err);
#endif
