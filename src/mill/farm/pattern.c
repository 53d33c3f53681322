/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the files of a pattern: UDIM tiles and frames. A pattern is a file name with tokens. It is matched against the
 * names in its folder and not expanded into all possible numbers, so that the cost depends on the size of the folder
 * and not on gaps in the set.
 */
#include "mill/farm/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "mill/farm/entries.h"
#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/base/path.h"
#include "tile/base/text.h"

typedef enum token_kind { TOKEN_NONE, TOKEN_UDIM, TOKEN_UVTILE, TOKEN_FRAME } token_kind;

typedef struct token {
    token_kind kind;
    size_t length;   /* length of the token in bytes */
    unsigned digits; /* digits to which a frame is padded; 0: any number, padded or not */
} token;

/* %d and %04d, in which frame ranges are often written. */
static token printf_token(const char *p)
{
    const char *q = p + 1;
    unsigned digits = 1;
    if (*q == '0' && q[1] >= '1' && q[1] <= '9') {
        digits = (unsigned)(q[1] - '0');
        q += 2;
    }
    return *q == 'd' ? (token){TOKEN_FRAME, (size_t)(q - p) + 1, digits} : (token){0};
}

/* Kind 0 means that there is no token. */
static token token_at(const char *p)
{
    static const struct {
        const char *word;
        token_kind kind;
    } words[] = {{"<UDIM>", TOKEN_UDIM}, {"<UVTILE>", TOKEN_UVTILE}, {"<f>", TOKEN_FRAME}};
    if (*p == '%')
        return printf_token(p);
    if (*p == '#') {
        size_t n = strspn(p, "#");
        return (token){TOKEN_FRAME, n, (unsigned)n};
    }
    for (size_t i = 0; *p == '<' && i < sizeof words / sizeof *words; i++)
        if (txm_ncasecmp(p, words[i].word, strlen(words[i].word)) == 0)
            return (token){words[i].kind, strlen(words[i].word), 0};
    return (token){0};
}

bool txm_pattern_is(const char *path)
{
    for (const char *p = txm_path_base(path); *p; p++)
        if (token_at(p).kind)
            return true;
    return false;
}

/* The number of digits at `s`. */
static size_t digits_at(const char *s)
{
    return strspn(s, "0123456789");
}

/* The length of a place "u1_v12" at `s`, 0 if there is none. */
static size_t uvtile_at(const char *s)
{
    size_t u = s[0] == 'u' ? digits_at(s + 1) : 0;
    if (!u || s[1 + u] != '_' || s[2 + u] != 'v')
        return 0;
    size_t v = digits_at(s + 3 + u);
    return v ? 3 + u + v : 0;
}

/* 1001 + 10 row + column of a place "u1_v12"; 0 if the number would be too large. */
static unsigned uvtile_number(const char *s)
{
    unsigned long u = strtoul(s + 1, NULL, 10), v = strtoul(strchr(s, 'v') + 1, NULL, 10);
    return u >= 1 && u <= 10 && v >= 1 && v <= 900 && 10 * v + u <= 9009 ? (unsigned)(990 + 10 * v + u) : 0;
}

/* `tile` receives the number of the UDIM tile, 0 if the pattern has no token for it. */
static bool match(const char *pattern, const char *name, unsigned *tile)
{
    *tile = 0;
    for (;;) {
        token t = token_at(pattern);
        size_t n = 0;
        switch (t.kind) {
        case TOKEN_NONE:
            if (*pattern != *name)
                return false;
            if (!*pattern)
                return true;
            n = t.length = 1;
            break;
        case TOKEN_UDIM:
            /* UDIM numbers begin at 1001; with further digits it would be another number. */
            if (digits_at(name) < 4 || memcmp(name, "1001", 4) < 0)
                return false;
            n = 4;
            *tile = 1000u * (unsigned)(name[0] - '0') + 100u * (unsigned)(name[1] - '0') +
                    10u * (unsigned)(name[2] - '0') + (unsigned)(name[3] - '0');
            break;
        case TOKEN_UVTILE:
            if (!(n = uvtile_at(name)))
                return false;
            *tile = uvtile_number(name);
            break;
        case TOKEN_FRAME:
            n = digits_at(name);
            /* Numbers with more digits than the token are not padded: 00123 does not match ##. */
            if (!n || n < t.digits || (t.digits && n > t.digits && name[0] == '0'))
                return false;
            break;
        }
        pattern += t.length;
        name += n;
    }
}

bool txm_pattern_match(const char *pattern, const char *name)
{
    unsigned tile;
    return match(pattern, name, &tile);
}

unsigned txm_pattern_tile(const char *pattern, const char *name)
{
    unsigned tile;
    return match(pattern, name, &tile) ? tile : 0;
}

/* Orders file names by the numbers in them: frame 9 before frame 10. */
static int compare_numbers(const void *a, const void *b)
{
    return strverscmp(((const txm_entry *)a)->name, ((const txm_entry *)b)->name);
}

txm_status txm_pattern_each(const char *path, txm_pattern_fn fn, void *user, txm_error *err)
{
    const char *base = txm_path_base(path);
    char *dir = base == path ? txm_strdup("") : txm_strndup(path, (size_t)(base - path));
    txm_entries entries = {0};
    txm_status status = dir ? txm_entries_read(*dir ? dir : ".", &entries, err) : TXM_STATUS_NO_MEMORY;
    size_t kept = 0;
    for (size_t i = 0; i < entries.count; i++) {
        if (txm_pattern_match(base, entries.items[i].name))
            entries.items[kept++] = entries.items[i];
        else
            free(entries.items[i].name);
    }
    entries.count = kept;
    if (kept)
        qsort(entries.items, kept, sizeof *entries.items, compare_numbers);
    for (size_t i = 0; status == TXM_OK && i < kept; i++) {
        char *full = txm_path_join(dir, entries.items[i].name);
        if (!full || !fn(user, full))
            status = TXM_STATUS_NO_MEMORY;
        free(full);
    }
    if (status == TXM_STATUS_NO_MEMORY)
        txm_fail(err, status, "%s: out of memory", path);
    else if (status == TXM_OK && !kept)
        status = txm_fail(err, TXM_STATUS_NOT_FOUND, "%s: no file matches this pattern", path);
    txm_entries_free(&entries);
    free(dir);
    return status;
}
