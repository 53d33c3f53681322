/* SPDX-License-Identifier: Apache-2.0
 *
 * Edit distance in the restricted Damerau form.
 */
#include "base/spelling.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum { WORD = 63 };

/* Blanks, dashes and underscores are easily confused, so they count as equal. */
static unsigned char fold(char c)
{
    if (c == '_' || c == ' ')
        return '-';
    return (unsigned char)tolower((unsigned char)c);
}

unsigned txm_spelling_distance(const char *a, const char *b)
{
    size_t na = strnlen(a, WORD), nb = strnlen(b, WORD);
    /* Three rows of the table are enough, since a swap looks two rows back. */
    unsigned rows[3][WORD + 1];
    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *now = rows[i % 3];
        const unsigned *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned char ca = fold(a[i - 1]), cb = fold(b[j - 1]);
            const unsigned edit = above[j] < now[j - 1] ? above[j] + 1 : now[j - 1] + 1;
            now[j] = above[j - 1] + (ca != cb);
            now[j] = edit < now[j] ? edit : now[j];
            if (i > 1 && j > 1 && ca == fold(b[j - 2]) && fold(a[i - 2]) == cb && above2[j - 2] + 1 < now[j])
                now[j] = above2[j - 2] + 1;
        }
    }
    return rows[na % 3][nb];
}

int txm_spelling_better(const char *word, const char *candidate, unsigned *least)
{
    const size_t nw = strlen(word), nc = strlen(candidate), shorter = nw < nc ? nw : nc;
    const unsigned distance = txm_spelling_distance(word, candidate);
    const int begins = shorter >= 3 && txm_ncasecmp(word, candidate, shorter) == 0;
    if (distance >= *least || (distance > (nw + 2) / 3 && !begins))
        return 0;
    *least = distance;
    return 1;
}
