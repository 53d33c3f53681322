/* SPDX-License-Identifier: Apache-2.0
 *
 * The hidden --generate: what the build derives from the tables of options.
 *
 * The build runs the program itself to write the OPTIONS sections of its man pages and the completion scripts, so that
 * none of them can disagree with what the program parses.
 */
#include "tools/help/generate.h"

#include <string.h>

bool txm_generate(FILE *out, const char *kind, const char *command)
{
    static const struct {
        const char *kind;
        void (*all)(FILE *);
        void (*one)(FILE *, const txm_command *);
    } kinds[] = {
        {"man-options", NULL, txm_generate_man_options},
        {"man-exits", NULL, txm_generate_man_exits},
        {"man-commands", txm_generate_man_commands, NULL},
        {"man-findings", txm_generate_man_findings, NULL},
        {"bash", txm_generate_bash, NULL},
        {"zsh", txm_generate_zsh, NULL},
        {"fish", txm_generate_fish, NULL},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].kind, kind))
            continue;
        const txm_command *c = kinds[i].one ? txm_command_find(command) : NULL;
        if (kinds[i].one && !c)
            return false;
        if (c)
            kinds[i].one(out, c);
        else
            kinds[i].all(out);
        return true;
    }
    return false;
}
