/* SPDX-License-Identifier: Apache-2.0
 * The values of --policy. Options are constants, so their texts are composed before main begins. */
#include "tools/options/policies.h"

#include <stdio.h>
#include <string.h>

#include "txtile/cache.h"

char txm_policy_values[TXM_POLICY_TEXT], txm_policy_more[TXM_POLICY_TEXT];
char txm_replay_policy_values[TXM_POLICY_TEXT], txm_replay_policy_more[TXM_POLICY_TEXT];

/* Text that does not fit is left out; a test checks that all of it is there. */
static void append_words(char text[TXM_POLICY_TEXT], const char *between, const char *a, const char *colon,
                         const char *b)
{
    const size_t length = strlen(text);
    snprintf(text + length, TXM_POLICY_TEXT - length, "%s%s%s%s", length ? between : "", a, colon, b);
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
