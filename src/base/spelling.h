/* SPDX-License-Identifier: Apache-2.0
 * Spelling: "did you mean" for options, commands and colour spaces. */
#ifndef TXM_BASE_SPELLING_H
#define TXM_BASE_SPELLING_H
#include <stddef.h>

/* How many edits (insert, delete, replace, swap of neighbours) lead from one word to the other. Case is ignored, and
 * '-', '_' and ' ' count as equal. Only the first 63 bytes of words are compared. */
unsigned txm_spelling_distance(const char *a, const char *b);

/* Whether `candidate` is similar enough to `word` to be suggested, and more so than those before: at most a third of
 * its letters differ, or one begins with the other (at least three letters). *least, UINT_MAX at first, is then its
 * distance. */
int txm_spelling_better(const char *word, const char *candidate, unsigned *least);
#endif
