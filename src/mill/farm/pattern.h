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
 * The case of these words in angle brackets does not matter. Tokens of other programs mean the same:
 *
 *     %(UDIM)d, _MAPID_       <UDIM>
 *     <UVTILE0>               <UVTILE> counted from 0
 *     <U> and <V>, <u> and <v>  a tile's column and row, counted from 1, and from 0
 *     $F4, $F                 %04d, %d
 *     <frame>, <frame04>, <f4>  <f>, %04d
 */
#ifndef TXM_FARM_PATTERN_H
#define TXM_FARM_PATTERN_H
#include <stdbool.h>
#include <stddef.h>

#include "txtile/status.h"

/* Whether the file name part of `path` contains a token. */
bool txm_pattern_is(const char *path);
/* The first part of the file name that looks like a token of another program, but is none of these; NULL if there is
 * none. *bytes receives its length. */
const char *txm_pattern_unknown(const char *path, size_t *bytes);
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
