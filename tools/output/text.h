/* SPDX-License-Identifier: Apache-2.0
 *
 * Text on standard output: whole pieces, safe to show, with colours where they are wanted.
 *
 * Columns are not bytes: a name may hold accents, which take two bytes and one column.
 */
#ifndef TXM_TOOLS_TEXT_H
#define TXM_TOOLS_TEXT_H
#include <stdbool.h>

/* Around everything that is printed in one piece: the status line of a terminal is cleared before and may come back
 * after; pieces of several threads never mix. */
void txm_print_begin(void);
void txm_print_end(void);

/* Prints a file name or a text from a file with its control characters as \xHH: it can neither tear the line apart that
 * scripts read nor drive a terminal. */
void txm_print_safe(const char *text);

/* An argument for a shell: in quotes where it holds more than letters, digits and the like. */
void txm_print_argument(const char *text);

/* A path. On a terminal the 32 digits in a tx file's name are cut to six: "wood.png.0-926BDA...tx"; whoever needs the
 * name takes it from a pipe or from --json. */
void txm_print_path(const char *path);
/* The same as a string, owned by the caller; NULL when memory is exhausted. */
char *txm_path_shown(const char *path);

/* Columns that a text takes on a terminal: UTF-8, of which wide characters take two; what is no UTF-8 is shown as one
 * column per byte, control characters as four. */
unsigned txm_text_columns(const char *text);
/* Prints at most `columns` of a path, its end, with ".." in front of what was left out. */
void txm_print_fitted(const char *path, unsigned columns);

/* Prints at most `columns` of a text, its beginning, with ".." after it where something was left out. */
void txm_print_cut(const char *text, unsigned columns);

typedef enum txm_style { TXM_PLAIN, TXM_GOOD, TXM_DOUBTFUL, TXM_BAD, TXM_DIM, TXM_BOLD } txm_style;

/* The escape sequence that begins a style on standard output, or "" where there are no colours. */
const char *txm_style_on(txm_style style);
/* Prints a word in a style. */
void txm_print_styled(txm_style style, const char *word);

/* When there are colours: --color. AUTO: on a terminal, unless NO_COLOR or TERM=dumb say otherwise. */
typedef enum txm_color_when { TXM_COLOR_AUTO, TXM_COLOR_ALWAYS, TXM_COLOR_NEVER } txm_color_when;
void txm_color_set(txm_color_when when);
bool txm_color_wanted(int fd);
#endif
