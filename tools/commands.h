/* SPDX-License-Identifier: Apache-2.0
 * The commands of txmill. */
#ifndef TXM_TOOLS_COMMANDS_H
#define TXM_TOOLS_COMMANDS_H
#include "tools/options/opt.h"

extern const txm_command *const txm_commands[]; /* in the order of the help; ends with NULL */

/* NULL if there is no command of that name. */
const txm_command *txm_command_find(const char *name);
/* The command with the most similar name; NULL if none is similar. */
const txm_command *txm_command_near(const char *name);

/* Starts the program that carries out a command, in place of this one; argv has the words after the command's. Returns
 * an exit code only if it cannot be started. */
int txm_program_start(const txm_command *command, int argc, char **argv);

/* The list of commands that `txmill --help` prints. */
void txm_commands_help(FILE *out);

/* What the build generates from the tables: "man-options COMMAND", "man-exits COMMAND", "man-commands", "bash",
 * "zsh", "fish". Returns false for an unknown kind or command. */
bool txm_generate(FILE *out, const char *kind, const char *command);
#endif
