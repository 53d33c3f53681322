/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of commands in messages, quoted so that a shell reads them as they were meant.
 */
#include "base/shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/text.h"

/* Whether a byte is in a terminal's way: a control character, or not UTF-8. *bytes: of the sequence. */
static bool is_hidden(const char *at, size_t *bytes)
{
    *bytes = txm_utf8_sequence(at);
    const unsigned char first = (unsigned char)*at, second = *bytes > 1 ? (unsigned char)at[1] : 0;
    const bool control = first < ' ' || first == 0x7F || (first == 0xC2 && second < 0xA0);
    if (!*bytes)
        *bytes = 1;
    return control || !txm_utf8_sequence(at);
}

/* $'...', in which everything can be escaped. */
static bool add_escaped(txm_bytes *out, const char *word)
{
    bool ok = txm_bytes_puts(out, "$'");
    for (size_t n; ok && *word; word += n) {
        char escape[8];
        if (*word == '\'' || *word == '\\') {
            n = 1;
            snprintf(escape, sizeof escape, "\\%c", *word);
            ok = txm_bytes_puts(out, escape);
        } else if (!is_hidden(word, &n)) {
            ok = txm_bytes_add(out, word, n);
        } else {
            for (size_t i = 0; ok && i < n; i++) {
                snprintf(escape, sizeof escape, "\\%03o", (unsigned)(unsigned char)word[i]);
                ok = txm_bytes_puts(out, escape);
            }
        }
    }
    return ok && txm_bytes_puts(out, "'");
}

/* '...', in which only that quote is special. */
static bool add_quoted(txm_bytes *out, const char *word)
{
    bool ok = txm_bytes_puts(out, "'");
    for (size_t n; ok && *word; word += n) {
        n = strcspn(word, "'");
        ok = txm_bytes_add(out, word, n);
        if (ok && word[n]) {
            ok = txm_bytes_puts(out, "'\\''");
            n++;
        }
    }
    return ok && txm_bytes_puts(out, "'");
}

/* Messages have commands in single quotes, so double quotes are preferred inside. */
char *txm_shell_word(const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    txm_bytes out = {0};
    bool hidden = false, ok;
    for (size_t n, i = 0; word[i] && !hidden; i += n)
        hidden = is_hidden(word + i, &n);
    if (*word && !word[strspn(word, plain)])
        return txm_strdup(word);
    if (hidden)
        ok = add_escaped(&out, word);
    else if (strpbrk(word, "\"$`\\!"))
        ok = add_quoted(&out, word);
    else
        ok = txm_bytes_puts(&out, "\"") && txm_bytes_puts(&out, word) && txm_bytes_puts(&out, "\"");
    if (!ok)
        txm_bytes_free(&out);
    return ok ? out.data : NULL;
}

char *txm_shell_path(const char *path)
{
    char *named = *path == '-' ? txm_asprintf("./%s", path) : txm_strdup(path);
    char *word = named ? txm_shell_word(named) : NULL;
    free(named);
    return word;
}
