/* SPDX-License-Identifier: Apache-2.0
 * The line that ends a command's text. */
#include "tools/output/summary.h"

#include <stdio.h>
#include <string.h>

#include "tools/output/format.h"
#include "tools/output/text.h"

void txm_summary_add(txm_summary *summary, const char *word)
{
    size_t i = 0;
    while (i + 1 < TXM_SUMMARY_WORDS && summary->words[i] && strcmp(summary->words[i], word) != 0)
        i++;
    summary->words[i] = word;
    summary->counts[i]++;
    summary->total++;
}

void txm_summary_print(const txm_summary *summary, const char *noun)
{
    char text[TXM_FORMAT_COUNT];
    const char *comma = ": ";
    if (!summary->total)
        return;
    txm_print_begin();
    fputs(txm_format_count(summary->total, noun, text), stdout);
    for (size_t i = 0; i < TXM_SUMMARY_WORDS; i++) {
        if (!summary->counts[i])
            continue;
        printf("%s%zu %s", comma, summary->counts[i], summary->words[i]);
        comma = ", ";
    }
    putchar('\n');
    txm_print_end();
}
