/* SPDX-License-Identifier: Apache-2.0
 *
 * Suggests similar names for a colour space that a config lacks, by edit distance over names and aliases. The nearest
 * names are appended to a message, or, if none is near, the command that lists all names.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/spelling.h"
#include "base/text.h"
#include "mill/color/config.h"

enum {
    SHOWN = 4,
    LONGEST = 63 /* number of bytes that are compared */
};

/* The distance of a typed name from one of the config's; a name that contains the other one is near whatever its length
 * is. */
static unsigned score(const char *typed, const char *known)
{
    const size_t n = strlen(typed);
    unsigned d = txm_spelling_distance(typed, known);
    for (const char *at = known; n >= 3 && *at; at++)
        if (d > 1 && txm_ncasecmp(at, typed, n) == 0)
            return 1 + (d > LONGEST / 2);
    return d;
}

void txm_color_suggest(const txm_color_config *config, const char *name, txm_error *err)
{
    const txm_color_space *near[SHOWN];
    unsigned scores[SHOWN];
    char text[1024];
    size_t shown = 0, used = 0;
    /* A name with a third of its letters wrong may still be a typing mistake. */
    unsigned limit = 1 + (unsigned)strnlen(name, LONGEST) / 3;
    for (size_t i = 0; i < config->count; i++) {
        unsigned d = score(name, config->spaces[i].name);
        for (const char **alias = config->spaces[i].aliases; *alias; alias++) {
            unsigned other = score(name, *alias);
            d = other < d ? other : d;
        }
        size_t at = shown;
        while (at > 0 && scores[at - 1] > d)
            at--;
        if (d > limit || at == SHOWN)
            continue;
        if (shown < SHOWN)
            shown++;
        memmove(near + at + 1, near + at, (shown - 1 - at) * sizeof near[0]);
        memmove(scores + at + 1, scores + at, (shown - 1 - at) * sizeof scores[0]);
        near[at] = &config->spaces[i];
        scores[at] = d;
    }
    for (size_t i = 0; i < shown && used < sizeof text; i++) {
        const char *before = i == 0 ? "did you mean " : i + 1 < shown ? ", " : " or ";
        int n =
            snprintf(text + used, sizeof text - used, "%s\"%s\"%s", before, near[i]->name, i + 1 == shown ? "?" : "");
        used += n > 0 ? (size_t)n : 0;
    }
    txm_error_advise(err, "%s", shown ? text : "'txmill colorspaces' lists its names");
}
