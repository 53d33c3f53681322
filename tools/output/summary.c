/* SPDX-License-Identifier: Apache-2.0
 *
 * The last line of a command's text output.
 *
 * In: a word per file. Out: the counts of each word, in the order in which they first occurred.
 */
#include "tools/output/summary.h"

#include <stdio.h>
#include <string.h>

#include "tools/output/format.h"
#include "tools/output/say.h"
#include "tools/output/text.h"

enum { SUMMARY_BYTES = 1024 };

/* If there are more words than places, they share the last one; there are fewer states than places. */
void txm_summary_add(txm_summary *summary, const char *word)
{
    size_t i = 0;
    while (i + 1 < TXM_SUMMARY_WORDS && summary->words[i] && strcmp(summary->words[i], word) != 0)
        i++;
    summary->words[i] = word;
    summary->counts[i]++;
    summary->total++;
}

static void write_text(const txm_summary *summary, const char *noun, char *out, size_t out_bytes)
{
    char count[TXM_FORMAT_COUNT];
    int n = snprintf(out, out_bytes, "%s", txm_format_count(summary->total, noun, count));
    const char *comma = ": ";
    for (size_t i = 0; i < TXM_SUMMARY_WORDS && n > 0 && (size_t)n < out_bytes; i++) {
        if (!summary->counts[i])
            continue;
        n += snprintf(out + n, out_bytes - (size_t)n, "%s%zu %s", comma, summary->counts[i], summary->words[i]);
        comma = ", ";
    }
}

void txm_summary_print(const txm_summary *summary, const char *noun)
{
    char text[SUMMARY_BYTES];
    if (!summary->total)
        return;
    write_text(summary, noun, text, sizeof text);
    txm_print_begin();
    puts(text);
    txm_print_end();
}

void txm_summary_say(const txm_summary *summary, const char *noun)
{
    char text[SUMMARY_BYTES];
    if (!summary->total)
        return;
    write_text(summary, noun, text, sizeof text);
    txm_say(TXM_SAY_INFO, "%s", text);
}
