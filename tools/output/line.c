/* SPDX-License-Identifier: Apache-2.0 Wraps lines to the width of the terminal. */
#include "tools/output/line.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "tools/output/say.h"

enum { INDENT = 2, MIN_PATH = 8 };

/* Pipes and files have no limit, because lines that programs read are never wrapped. */
unsigned txm_line_columns(void)
{
    return isatty(STDOUT_FILENO) ? txm_terminal_columns(STDOUT_FILENO) : UINT_MAX;
}

/* ---- wrapping --------------------------------------------------------------------------------------------------- */

/* The bytes of a character, or of an escape sequence, which takes no columns. */
static size_t glyph_bytes(const char *text, unsigned *columns)
{
    char one[8] = "", escape[TXM_ESCAPE_BYTES];
    size_t n = txm_shown_bytes(text);
    if (text[0] == '\033' && text[1] == '[') {
        *columns = 0;
        n = 2 + strcspn(text + 2, "ABCDEFGHJKSTfhlmnsu");
        return text[n] ? n + 1 : n;
    }
    n = n ? n : txm_escape(text, escape);
    memcpy(one, text, n);
    *columns = text[0] == '\t' ? 8 : txm_text_columns(one);
    return n;
}

static size_t word_at(const char *text, unsigned *columns)
{
    size_t n = 0;
    unsigned own;
    *columns = 0;
    while (text[n] && text[n] != ' ') {
        n += glyph_bytes(text + n, &own);
        *columns += own;
    }
    return n;
}

/* The column where the text of a line begins: after labels, which end in two spaces, in its left half. */
static unsigned indent_of(const char *text, unsigned columns)
{
    unsigned at = 0, indent = 0, own;
    for (size_t n = 0; text[n] && at < columns / 2; at += own) {
        bool spaces = text[n] == ' ' && (n == 0 || text[n + 1] == ' ' || text[n - 1] == ' ');
        n += glyph_bytes(text + n, &own);
        if (spaces && text[n] && text[n] != ' ')
            indent = at + own;
    }
    return indent ? indent : INDENT;
}

/* A word that is longer than a line is put on several lines. */
static unsigned add_word(txm_bytes *out, const char *word, size_t bytes, unsigned at, unsigned indent, unsigned columns,
                         bool *ok)
{
    unsigned own;
    for (size_t i = 0, n; i < bytes; i += n) {
        n = glyph_bytes(word + i, &own);
        if (at + own > columns) {
            *ok = *ok && txm_bytes_printf(out, "\n%*s", (int)indent, "");
            at = indent;
        }
        *ok = *ok && txm_bytes_add(out, word + i, n);
        at += own;
    }
    return at;
}

/* Further lines are indented below the text of the first, so that a list remains readable. A word longer than a
 * line, usually a path, is kept in one piece so that it can be copied. */
char *txm_line_wrap(const char *text, unsigned columns)
{
    txm_bytes out = {0};
    unsigned indent = indent_of(text, columns), at = 0, own;
    bool ok = true;
    while (ok && *text) {
        size_t spaces = strspn(text, " "), n = word_at(text + spaces, &own);
        bool fits = at + spaces + own <= columns || (own > columns - indent && at + spaces < columns);
        if (!fits && at > indent && spaces) {
            ok = txm_bytes_printf(&out, "\n%*s", (int)indent, "");
            at = indent;
        } else {
            ok = txm_bytes_printf(&out, "%*s", (int)spaces, "");
            at += (unsigned)spaces;
        }
        at = add_word(&out, text + spaces, n, at, indent, columns, &ok);
        text += spaces + n;
    }
    if (ok && txm_bytes_puts(&out, "\n"))
        return out.data;
    txm_bytes_free(&out);
    return NULL;
}

/* ---- standard output -------------------------------------------------------------------------------------------- */

/* There is one standard output; stdio's lock protects it. */
static struct {
    txm_bytes line; /* the beginning of a line without its end */
    bool installed, raw;
} lines;

/* A line is wrapped as a whole, because its words come from many printf calls. */
static bool write_line(void)
{
    char *wrapped = txm_line_wrap(lines.line.data, txm_line_columns());
    bool ok = wrapped && txm_put(STDOUT_FILENO, wrapped, strlen(wrapped));
    free(wrapped);
    lines.line.size = 0;
    lines.line.data[0] = 0;
    return ok;
}

/* A cookie reports a failure to stdio by returning fewer bytes than were given. */
static ssize_t take_output(void *user, const char *data, size_t bytes)
{
    (void)user;
    txm_say_make_room();
    if (lines.raw)
        return txm_put(STDOUT_FILENO, data, bytes) ? (ssize_t)bytes : 0;
    for (size_t i = 0; i < bytes;) {
        const char *end = memchr(data + i, '\n', bytes - i);
        size_t n = end ? (size_t)(end - (data + i)) : bytes - i;
        if (!txm_bytes_add(&lines.line, data + i, n) || (end && !write_line()))
            return 0;
        i += n + (end != NULL);
    }
    return (ssize_t)bytes;
}

/* The stream is replaced only on a terminal; otherwise stdout is unchanged, with its own buffer. */
void txm_lines_install(void)
{
    static const cookie_io_functions_t functions = {.write = take_output};
    FILE *wrapped = isatty(STDOUT_FILENO) ? fopencookie(NULL, "w", functions) : NULL;
    if (!wrapped || !txm_bytes_puts(&lines.line, ""))
        return;
    setvbuf(wrapped, NULL, _IOLBF, BUFSIZ);
    stdout = wrapped;
    lines.installed = true;
}

int txm_lines_flush(void)
{
    int rc = fflush(stdout);
    if (!lines.installed || !lines.line.size)
        return rc;
    bool ok = txm_put(STDOUT_FILENO, lines.line.data, lines.line.size);
    lines.line.size = 0;
    return ok ? rc : EOF;
}

/* Pictures in a terminal, with their escape sequences, must not be changed. */
void txm_lines_wrapped(bool on)
{
    txm_lines_flush();
    lines.raw = !on;
}

/* ---- a line about a file ---------------------------------------------------------------------------------------- */

void txm_print_path_in(const char *path, unsigned spare)
{
    unsigned columns = txm_line_columns();
    char *shown = columns == UINT_MAX ? NULL : txm_path_shown(path);
    if (shown)
        txm_print_fitted(shown, columns > spare + MIN_PATH ? columns - spare : MIN_PATH);
    else
        txm_print_path(path);
    free(shown);
}

/* Path, word and details are printed on one line if they fit; otherwise the details are below, and the path gets the
 * room. */
void txm_print_line(const char *path, txm_style style, const char *state, const char *details)
{
    unsigned columns = txm_line_columns(), taken = details && *details ? txm_text_columns(details) + 2 : 0;
    unsigned word = txm_text_columns(state) + 2;
    char *shown = columns == UINT_MAX || !taken ? NULL : txm_path_shown(path);
    bool below = shown && txm_text_columns(shown) + word + taken > columns;
    free(shown);
    txm_print_path_in(path, word + (below ? 1 : taken));
    fputs(": ", stdout);
    txm_print_styled(style, state);
    if (taken) {
        fputs(below ? ":\n  " : ": ", stdout);
        txm_print_safe(details);
    }
    putchar('\n');
}
