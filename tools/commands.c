/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of commands, each of which is defined in its own tools/cmd_NAME.c.
 *
 * commands.def names them once; the table here, the declarations in commands.h, help and completion are generated from
 * it.
 *
 * Commands do not depend on each other. A new command is a file cmd_NAME.c with a txm_command, a line in commands.def
 * and a manual page.
 */
#include "tools/commands.h"

#include <limits.h>
#include <string.h>

#include "base/spelling.h"

#define GROUP(title)
#define COMMAND(name) extern const txm_command txm_cmd_##name;
#include "tools/commands.def"
#undef COMMAND

#define COMMAND(name) &txm_cmd_##name,
const txm_command *const txm_commands[] = {
#include "tools/commands.def"
    NULL};
#undef COMMAND
#undef GROUP

/* Only exact names are accepted: abbreviations could break scripts when a command is added. */
const txm_command *txm_command_find(const char *name)
{
    for (const txm_command *const *c = txm_commands; *c; c++)
        if (!strcmp((*c)->name, name))
            return *c;
    return NULL;
}

/* The message about an unknown command suggests it; NULL if none is similar. */
const txm_command *txm_command_near(const char *name)
{
    const txm_command *best = NULL;
    unsigned least = UINT_MAX;
    for (const txm_command *const *c = txm_commands; *c; c++)
        if (txm_spelling_better(name, (*c)->name, &least))
            best = *c;
    return best;
}
