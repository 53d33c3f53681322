/* SPDX-License-Identifier: Apache-2.0
 *
 * Text on standard output.
 *
 * In: pieces of text. Out: standard output, with colours if the terminal and --color allow them. Widths count columns,
 * not bytes. A failed write is recorded and makes the command fail at its end.
 */
#include "tools/output/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/shell.h"
#include "base/text.h"
#include "tools/output/say.h"
#include "txmill/inspect.h"

/* Prints a block of text from one thread, with the status line cleared. */
void txm_print_begin(void)
{
    txm_say_hold();
    flockfile(stdout);
}

/* Every begin needs an end, or other threads would wait for ever. */
void txm_print_end(void)
{
    /* The text must be written before the next status line of a terminal. */
    if (txm_say_can_animate())
        fflush(stdout);
    funlockfile(stdout);
    txm_say_release();
}

/* Names of files may contain escape sequences, which are made visible. */
static void print_bytes(const char *text, size_t bytes)
{
    char escape[TXM_ESCAPE_BYTES];
    for (size_t i = 0; i < bytes;) {
        size_t shown = txm_shown_bytes(text + i), hidden = shown ? 0 : txm_escape(text + i, escape);
        if (shown)
            fwrite(text + i, 1, shown, stdout);
        else
            fputs(escape, stdout);
        i += shown + hidden;
    }
}

/* All text that does not come from the program itself must go through it. */
void txm_print_safe(const char *text)
{
    print_bytes(text, strlen(text));
}

void txm_print_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (const char *c = format; *c; c++)
        if (*c != '%')
            putchar(*c);
        else if (*++c == 's')
            txm_print_safe(va_arg(args, const char *));
        else if (*c == 'u')
            printf("%u", va_arg(args, unsigned));
        else if (*c == 'z' && *++c == 'u')
            printf("%zu", va_arg(args, size_t));
        else
            abort();
    va_end(args);
}

/* Without memory, the bare word is the best that is left. */
static void print_word(char *word, const char *otherwise)
{
    txm_print_safe(word ? word : otherwise);
    free(word);
}

void txm_print_argument(const char *text)
{
    print_word(txm_shell_word(text), text);
}

void txm_print_operand(const char *path)
{
    print_word(txm_shell_path(path), path);
}

/* Names of tx files contain 32 hex digits, of which a terminal shows the first few. Pipes get the whole name. The
 * caller frees it. NULL: no memory. */
char *txm_path_shown(const char *path)
{
    enum { DIGITS = 32, SHOWN = 6 };
    const char *base = txm_path_base(path), *dash = strrchr(base, '-');
    size_t source_bytes;
    unsigned version;
    char md5[DIGITS + 1];
    if (!isatty(STDOUT_FILENO) || !dash || !txm_tx_name_parse(base, &source_bytes, &version, md5))
        return txm_strdup(path);
    return txm_asprintf("%.*s..%s", (int)(dash + 1 + SHOWN - path), path, dash + 1 + DIGITS);
}

/* A path is shortened only on terminals. */
void txm_print_path(const char *path)
{
    char *shown = txm_path_shown(path);
    txm_print_safe(shown ? shown : path);
    free(shown);
}

/* ---- widths ------------------------------------------------------------------------------------------------------ */

static size_t measure_character(const char *text, unsigned *columns)
{
    unsigned char c = (unsigned char)*text;
    size_t n = txm_utf8_sequence(text);
    bool shown = txm_shown_bytes(text) > 0;
    *columns = shown ? 1 : 4 * (unsigned)(n ? n : 1);
    if (n < 2 || !shown)
        return n ? n : 1;
    uint32_t code = c & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3F);
    static const uint32_t wide[][2] = {{0x1100, 0x115F},   {0x2E80, 0xA4CF},  {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},
                                       {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},  {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F},
                                       {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (code >= wide[i][0] && code <= wide[i][1])
            *columns = 2;
    if (code >= 0x300 && code <= 0x36F) /* combining accents */
        *columns = 0;
    return n;
}

/* Approximately the columns on the terminal, which is enough for tables. */
unsigned txm_text_columns(const char *text)
{
    unsigned sum = 0, columns;
    while (*text) {
        text += measure_character(text, &columns);
        sum += columns;
    }
    return sum;
}

/* Cut at the beginning, because the end of a path identifies the file. */
void txm_print_fitted(const char *path, unsigned columns)
{
    unsigned all = txm_text_columns(path), skipped = 0, own;
    if (all <= columns) {
        txm_print_safe(path);
        return;
    }
    while (*path && all - skipped + 2 > columns) {
        path += measure_character(path, &own);
        skipped += own;
    }
    fputs(columns > 2 ? ".." : "", stdout);
    txm_print_safe(path);
}

/* Cut at the end, between characters, with ".." for the missing part. */
void txm_print_cut(const char *text, unsigned columns)
{
    bool cut = txm_text_columns(text) > columns;
    unsigned left = cut ? columns > 2 ? columns - 2 : 0 : columns, own = 0;
    size_t n = 0, step = 0;
    while (text[n] && (step = measure_character(text + n, &own), own <= left)) {
        left -= own;
        n += step;
    }
    print_bytes(text, n);
    fputs(cut ? ".." : "", stdout);
}

/* ---- colours ---------------------------------------------------------------------------------------------------- */

/* It is set by an option that every command has. */
static txm_color_when when;

void txm_color_set(txm_color_when asked)
{
    when = asked;
}

/* An explicit --color takes precedence; otherwise NO_COLOR (no-color.org), dumb terminals and pipes turn colours
 * off. */
bool txm_color_wanted(int fd)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (when != TXM_COLOR_AUTO)
        return when == TXM_COLOR_ALWAYS;
    return isatty(fd) && term && *term && strcmp(term, "dumb") != 0 && !(no_color && *no_color);
}

/* "" if colours are off, so that callers need not check. */
const char *txm_style_on(txm_style style)
{
    static const char *const sequences[] = {"\033[0m", "\033[32m", "\033[33m", "\033[1;31m", "\033[2m", "\033[1m"};
    return txm_color_wanted(STDOUT_FILENO) ? sequences[style] : "";
}

/* `word` comes from the program and is not escaped. */
void txm_print_styled(txm_style style, const char *word)
{
    printf("%s%s%s", txm_style_on(style), word, txm_style_on(TXM_PLAIN));
}
