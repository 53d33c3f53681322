/* SPDX-License-Identifier: Apache-2.0
 * Generates sections of man pages from the tables of options, and answers the completion of shells. */
#ifndef TXM_TOOLS_GENERATE_H
#define TXM_TOOLS_GENERATE_H
#include "tools/commands.h"

/* mdoc: the lists of the OPTIONS and EXIT STATUS sections of one command, and the list of all commands. */
void txm_generate_man_options(FILE *out, const txm_command *command);
void txm_generate_man_exits(FILE *out, const txm_command *command);
void txm_generate_man_commands(FILE *out);
/* The kinds of findings of `txmill verify`. */
void txm_generate_man_findings(FILE *out);

/* The words of use_table.h, and lint's. As lines "LIST<tab>WORD", from which the build makes the JSON schemas; as the
 * module of the Python package; one list of them for the
 * manual, or all (NULL); false if there is no such list. */
void txm_generate_words(FILE *out);
void txm_generate_python(FILE *out);
bool txm_generate_man_words(FILE *out, const char *list);

/* mdoc: a paragraph of plain text. */
void txm_generate_man_text(FILE *out, const char *text);

/* What completes after a command, or as one: lines NAME|ARGUMENT|VALUES|HELP for the completion of shells. */
void txm_generate_options(FILE *out, const txm_command *command);
void txm_generate_commands(FILE *out);

#endif
