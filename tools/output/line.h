/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines that fit the terminal: wrapped at spaces, further lines indented as far as the text that they go on with. In
 * pipes and files nothing is cut and nothing is wrapped: scripts get whole lines.
 *
 * stdout itself is replaced on a terminal by a stream that folds whole lines before they are written, so that
 * printf and puts anywhere in the program need not know about widths.
 */
#ifndef TXM_TOOLS_LINE_H
#define TXM_TOOLS_LINE_H
#include <stdbool.h>
#include <stddef.h>

#include "tools/output/text.h"

/* Columns of the terminal that standard output is; UINT_MAX where it is none. */
unsigned txm_line_columns(void);

/* A string with the line's end for each line that the text needs, `columns` wide; escape sequences take no columns.
 * NULL when memory is exhausted. */
char *txm_line_wrap(const char *text, unsigned columns);

/* From now on lines on standard output are wrapped, if it is a terminal; call once, before anything is printed. */
void txm_lines_install(void);
/* Off while something is printed that is no text: a picture. */
void txm_lines_wrapped(bool on);
/* Writes what is left of a line that has no end. As fflush. */
int txm_lines_flush(void);

/* Prints a path with `spare` columns left in the line: as txm_print_path, and of a longer one its end. */
void txm_print_path_in(const char *path, unsigned spare);

/* "PATH: state: details" with the line's end; `details` may be NULL or empty. Where that is wider than the terminal,
 * the details follow below. */
void txm_print_line(const char *path, txm_style style, const char *state, const char *details);
#endif
