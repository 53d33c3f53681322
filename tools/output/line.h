/* SPDX-License-Identifier: Apache-2.0
 *
 * Wraps lines to the width of the terminal, at spaces, with further lines indented as far as the text of the first. In
 * pipes and files nothing is cut or wrapped, because scripts need whole lines.
 *
 * On a terminal stdout is replaced by a stream that wraps whole lines before they are written, so that printf and puts
 * can be used anywhere in the program.
 */
#ifndef TXM_TOOLS_LINE_H
#define TXM_TOOLS_LINE_H
#include <stdbool.h>
#include <stddef.h>

#include "tools/output/text.h"

/* Columns of the terminal on standard output; UINT_MAX if it is not a terminal. */
unsigned txm_line_columns(void);

/* The text, wrapped to `columns`, with a line's end for each line; escape sequences take no columns. A new string;
 * NULL when memory is exhausted. */
char *txm_line_wrap(const char *text, unsigned columns);

/* From now on lines on standard output are wrapped, if it is a terminal; call once, before anything is printed. */
void txm_lines_install(void);
/* Turns wrapping off, to print a picture, and on again. */
void txm_lines_wrapped(bool on);
/* Writes the beginning of a line that has no end yet. Returns the same as fflush. */
int txm_lines_flush(void);

/* Prints a path with `spare` columns left in the line, as txm_print_path does; of a longer path, its end. */
void txm_print_path_in(const char *path, unsigned spare);

/* Prints "PATH: state: details" with the line's end; `details` may be NULL or empty. If this is wider than the
 * terminal, the details are on the next line. */
void txm_print_line(const char *path, txm_style style, const char *state, const char *details);
#endif
