/* SPDX-License-Identifier: Apache-2.0 The last line of a command's text output: "58 files: 57 good, 1 outdated". */
#ifndef TXM_TOOLS_SUMMARY_H
#define TXM_TOOLS_SUMMARY_H
#include <stdbool.h>
#include <stddef.h>

enum { TXM_SUMMARY_WORDS = 16 };

/* Zero-initialise, with the words in the order in which they are printed; further words are added as they occur.
 * Words are not copied. */
typedef struct txm_summary {
    const char *words[TXM_SUMMARY_WORDS];
    size_t counts[TXM_SUMMARY_WORDS];
    size_t total;
} txm_summary;

void txm_summary_add(txm_summary *summary, const char *word);
/* Prints it on standard output; `noun` is what was counted ("file"). Prints nothing if the counts are 0. */
void txm_summary_print(const txm_summary *summary, const char *noun);
/* Prints it as a message, for commands whose standard output is data. */
void txm_summary_say(const txm_summary *summary, const char *noun);
#endif
