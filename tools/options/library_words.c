/* SPDX-License-Identifier: Apache-2.0
 * Words of the library's lists. Options are constants, so their texts are composed before main begins. */
#include "tools/options/library_words.h"

#include <stdio.h>
#include <string.h>

#include "txtile/sampler.h"

char txm_filter_values[TXM_WORDS_TEXT], txm_filter_more[TXM_WORDS_TEXT];

/* Text that does not fit is left out; a test checks that all of it is there. */
static void append_words(char text[TXM_WORDS_TEXT], const char *between, const char *a, const char *colon,
                         const char *b)
{
    const size_t length = strlen(text);
    snprintf(text + length, TXM_WORDS_TEXT - length, "%s%s%s%s", length ? between : "", a, colon, b);
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
