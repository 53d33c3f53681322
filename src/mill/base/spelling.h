/* SPDX-License-Identifier: Apache-2.0
 * Spelling: "did you mean" for options, commands and colour spaces. */
#ifndef TXM_BASE_SPELLING_H
#define TXM_BASE_SPELLING_H
#include <stddef.h>

#include "tile/base/shared.h"

/* How many edits (insert, delete, replace, swap of neighbours) lead from one word to the other; upper and lower case,
 * and '-', '_' and ' ' count as the same. Words beyond 63 bytes are compared by their first 63. */
unsigned txm_spelling_distance(const char *a, const char *b);

/* Whether `candidate` is close enough to `word` to be offered: at most a third of its letters differ, or one begins
 * with the other (three letters at least). The smaller *distance, the better. */
TXM_SHARED int txm_spelling_close(const char *word, const char *candidate, unsigned *distance);
#endif
