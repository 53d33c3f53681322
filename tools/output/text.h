/* SPDX-License-Identifier: Apache-2.0
 *
 * Text on standard output: in whole blocks, with control characters escaped and optional colours.
 *
 * Columns are not bytes: an accented letter takes two bytes and one column.
 */
#ifndef TXM_TOOLS_TEXT_H
#define TXM_TOOLS_TEXT_H
#include <stdbool.h>

/* Call these around everything that is printed in one block: the status line of a terminal is cleared before and may
 * be restored after; blocks of several threads do not mix. */
void txm_print_begin(void);
void txm_print_end(void);

/* Prints a file name or a text from a file with its control characters as \xHH, so that it can neither break a line
 * that scripts read nor control a terminal. */
void txm_print_safe(const char *text);

/* As printf, but strings are printed so. Of the conversions only %s, %u and %zu. */
void txm_print_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints an argument for a shell, in quotes if it contains more than letters, digits and the like. */
void txm_print_argument(const char *text);
/* The same for a path. */
void txm_print_operand(const char *path);

/* Prints a path. On a terminal the 32 digits in a tx file's name are cut to six: "wood.png.0-926BDA...tx"; pipes and
 * --json have the whole name. */
void txm_print_path(const char *path);
/* The same as a string, owned by the caller; NULL when memory is exhausted. */
char *txm_path_shown(const char *path);

/* Columns of a text on a terminal: in UTF-8, wide characters take two; bytes that are not UTF-8 take one column
 * each, control characters four. */
unsigned txm_text_columns(const char *text);
/* Prints at most `columns` of a path, from its end, with ".." for the part that was left out. */
void txm_print_fitted(const char *path, unsigned columns);

/* Prints at most `columns` of a text, from its beginning, with ".." if something was left out. */
void txm_print_cut(const char *text, unsigned columns);

typedef enum txm_style { TXM_PLAIN, TXM_GOOD, TXM_DOUBTFUL, TXM_BAD, TXM_DIM, TXM_BOLD } txm_style;

/* The escape sequence that begins a style on standard output, or "" if colours are off. */
const char *txm_style_on(txm_style style);
/* Prints a word in a style. */
void txm_print_styled(txm_style style, const char *word);

/* When colours are used: --color. AUTO: on a terminal, unless NO_COLOR or TERM=dumb is set. */
typedef enum txm_color_when { TXM_COLOR_AUTO, TXM_COLOR_ALWAYS, TXM_COLOR_NEVER } txm_color_when;
void txm_color_set(txm_color_when when);
bool txm_color_wanted(int fd);
#endif
