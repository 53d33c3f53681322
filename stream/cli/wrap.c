/* SPDX-License-Identifier: Apache-2.0
 * Lines that are wider than the terminal are wrapped at spaces; in pipes and files they are whole, because scripts need
 * them so. */
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/say.h"

/* The bytes and columns of what is at `text`: a character, or an escape sequence, which takes no column. */
static size_t measure(const char *text, unsigned *columns)
{
    size_t n = stm_utf8_sequence(text);
    *columns = *text == '\033' ? 0 : stm_character_columns(text);
    if (*text == '\033' && text[1] == '[')
        for (n = 2; text[n] && (text[n] < '@' || text[n] > '~');)
            n++;
    return *text == '\033' && text[n] ? n + 1 : n ? n : 1;
}

char *stm_wrapped(const char *line, unsigned columns)
{
    unsigned indent = (unsigned)strspn(line, " ") + 4;
    stm_bytes out = {0};
    unsigned at = 0, one;
    indent = indent < columns / 2 ? indent : 0;
    stm_bytes_puts(&out, "");
    while (*line) {
        const size_t blanks = strspn(line, " ");
        size_t n = blanks;
        unsigned width = 0;
        while (line[n] && line[n] != ' ') {
            n += measure(line + n, &one);
            width += one;
        }
        if (at && width && at + blanks + width > columns) {
            stm_bytes_printf(&out, "\n%*s", (int)indent, "");
            line += blanks;
            n -= blanks;
            at = indent;
        }
        /* A word that is longer than a line is cut. */
        for (size_t step; n; line += step, n -= step) {
            step = measure(line, &one);
            if (one && at + one > columns) {
                stm_bytes_printf(&out, "\n%*s", (int)indent, "");
                at = indent;
            }
            stm_bytes_add(&out, line, step);
            at += one;
        }
    }
    return stm_bytes_take(&out);
}

/* ---- standard output --------------------------------------------------------------------------------------------- */

static stm_bytes line; /* its beginning, until its end is printed */

static bool put_line(const char *end)
{
    char *wrapped = line.data ? stm_wrapped(line.data, stm_terminal_columns(STDOUT_FILENO, 80)) : NULL;
    const bool ok = !line.failed && (!wrapped || stm_put(STDOUT_FILENO, wrapped)) && stm_put(STDOUT_FILENO, end);
    free(wrapped);
    stm_bytes_free(&line);
    return ok;
}

static ssize_t write_lines(void *cookie, const char *text, size_t bytes)
{
    (void)cookie;
    for (size_t left = bytes; left;) {
        const char *end = memchr(text, '\n', left);
        const size_t n = end ? (size_t)(end - text) : left;
        stm_bytes_add(&line, text, n);
        if (end && !put_line("\n"))
            return 0;
        text += n + (end != NULL);
        left -= n + (end != NULL);
    }
    return (ssize_t)bytes;
}

void stm_lines_install(void)
{
    FILE *wrapping =
        isatty(STDOUT_FILENO) ? fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_lines}) : NULL;
    if (wrapping) {
        setvbuf(wrapping, NULL, _IOLBF, BUFSIZ);
        stdout = wrapping;
    }
}

bool stm_lines_end(void)
{
    return fflush(stdout) == 0 && !ferror(stdout) && (!line.size || put_line(""));
}
