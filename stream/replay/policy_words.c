/* SPDX-License-Identifier: Apache-2.0
 * The words of the cache's policies, from the library's list. */
#include "replay/policy_words.h"

#include <stdio.h>
#include <string.h>

#include "txtile/cache.h"

char stm_policy_values[STM_POLICY_TEXT], stm_policy_more[STM_POLICY_TEXT];
char stm_replay_policy_values[STM_POLICY_TEXT], stm_replay_policy_more[STM_POLICY_TEXT];

/* Text that does not fit is left out; a test checks that all of it is there. */
static void append(char text[STM_POLICY_TEXT], const char *between, const char *a, const char *colon, const char *b)
{
    const size_t length = strlen(text);
    snprintf(text + length, STM_POLICY_TEXT - length, "%s%s%s%s", length ? between : "", a, colon, b);
}

__attribute__((constructor)) static void compose(void)
{
    const txm_cache_policy_words *w;
    for (unsigned i = 0; (w = txm_cache_policy_words_of((txm_cache_policy)i)); i++) {
        append(stm_policy_values, " ", w->name, "", "");
        append(stm_policy_more, "; ", w->name, ": ", w->goes);
        append(stm_replay_policy_values, " ", w->column, "", "");
        append(stm_replay_policy_more, "; ", w->column, ": ", w->goes);
    }
    append(stm_policy_more, "", ".", "", "");
    append(stm_replay_policy_values, " ", "opt", "", "");
    append(stm_replay_policy_more, "; ", "opt", ": ",
           "the tile whose next use is furthest away is evicted, which is possible only with a complete trace.");
}
