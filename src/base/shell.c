/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shell.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/text.h"

/* Whether a terminal would not show what begins here: a control character, or a byte that is not UTF-8. *bytes receives
 * the length of the sequence. */
static bool is_hidden(const char *at, size_t *bytes)
{
    *bytes = txm_utf8_sequence(at);
    const unsigned char first = (unsigned char)*at, second = *bytes > 1 ? (unsigned char)at[1] : 0;
    const bool control = first < ' ' || first == 0x7F || (first == 0xC2 && second < 0xA0);
    if (!*bytes)
        *bytes = 1;
    return control || !txm_utf8_sequence(at);
}

/* Messages have commands in single quotes, so double quotes are preferred inside. In $'...' everything can be escaped,
 * in '...' only that quote is special. */
char *txm_shell_word(const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    txm_bytes out = {0};
    bool hidden = false;
    if (*word && !word[strspn(word, plain)])
        return txm_strdup(word);
    for (size_t n, i = 0; word[i] && !hidden; i += n)
        hidden = is_hidden(word + i, &n);
    const bool single = hidden || strpbrk(word, "\"$`\\!");
    txm_bytes_puts(&out, hidden ? "$'" : single ? "'" : "\"");
    for (size_t n; *word; word += n) {
        const bool show = !is_hidden(word, &n);
        for (size_t i = 0; !show && i < n; i++)
            txm_bytes_printf(&out, "\\%03o", (unsigned)(unsigned char)word[i]);
        if (hidden && (*word == '\'' || *word == '\\'))
            txm_bytes_puts(&out, "\\");
        if (show && single && !hidden && *word == '\'')
            txm_bytes_puts(&out, "'\\''");
        else if (show)
            txm_bytes_add(&out, word, n);
    }
    txm_bytes_puts(&out, single ? "'" : "\"");
    return txm_bytes_take(&out);
}

char *txm_shell_path(const char *path)
{
    char *named = *path == '-' ? txm_asprintf("./%s", path) : txm_strdup(path);
    char *word = named ? txm_shell_word(named) : NULL;
    free(named);
    return word;
}
