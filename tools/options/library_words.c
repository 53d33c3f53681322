/* SPDX-License-Identifier: Apache-2.0
 * Words of the library's lists. Options are constants, so their texts are put together before main begins. */
#include "tools/options/library_words.h"

#include <stdio.h>
#include <string.h>

#include "txtile/cache.h"
#include "txtile/sampler.h"

char txm_policy_values[TXM_WORDS_TEXT], txm_policy_more[TXM_WORDS_TEXT];
char txm_replay_policy_values[TXM_WORDS_TEXT], txm_replay_policy_more[TXM_WORDS_TEXT];
char txm_filter_values[TXM_WORDS_TEXT], txm_filter_more[TXM_WORDS_TEXT];

/* Text that does not fit is left out; a test checks that all of it is there. */
static void append_words(char text[TXM_WORDS_TEXT], const char *between, const char *a, const char *colon,
                         const char *b)
{
    const size_t length = strlen(text);
    snprintf(text + length, TXM_WORDS_TEXT - length, "%s%s%s%s", length ? between : "", a, colon, b);
}

__attribute__((constructor)) static void compose_policies(void)
{
    const txm_cache_policy_words *w;
    for (unsigned i = 0; (w = txm_cache_policy_words_of((txm_cache_policy)i)); i++) {
        append_words(txm_policy_values, " ", w->name, "", "");
        append_words(txm_policy_more, "; ", w->name, ": ", w->goes);
        append_words(txm_replay_policy_values, " ", w->column, "", "");
        append_words(txm_replay_policy_more, "; ", w->column, ": ", w->goes);
    }
    append_words(txm_policy_more, "", ".", "", "");
    append_words(txm_replay_policy_values, " ", "opt", "", "");
    append_words(txm_replay_policy_more, "; ", "opt", ": ",
                 "the tile whose next use is furthest away is evicted, which is possible only with a complete trace.");
}

__attribute__((constructor)) static void compose_filters(void)
{
    const char *word;
    for (unsigned i = 0; (word = txm_filter_name((txm_filter)i)); i++) {
        append_words(txm_filter_values, " ", word, "", "");
        append_words(txm_filter_more, "; ", word, ": ", txm_filter_about((txm_filter)i));
    }
    append_words(txm_filter_more, "", ". Those that read random pixels need --seed.", "", "");
}
