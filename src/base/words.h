/* SPDX-License-Identifier: Apache-2.0
 * Words for enumerators. */
#ifndef TXM_BASE_WORDS_H
#define TXM_BASE_WORDS_H

/* The word of an enumerator in an array of words; "unknown" for invalid values. */
#define TXM_WORD_OF(words, enumerator)                                                                                 \
    ((unsigned)(enumerator) < sizeof(words) / sizeof *(words) ? (words)[enumerator] : "unknown")
#endif
