/* SPDX-License-Identifier: Apache-2.0
 *
 * A pattern is matched against the names in its folder and not expanded into all possible numbers, so that the cost
 * depends on the size of the folder and not on gaps in the set.
 */
#include "mill/farm/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/entries.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"

typedef enum token_kind { TOKEN_NONE, TOKEN_UDIM, TOKEN_MAPID, TOKEN_UVTILE, TOKEN_U, TOKEN_V, TOKEN_FRAME } token_kind;

typedef struct token {
    token_kind kind;
    size_t length;   /* length of the token in bytes */
    unsigned digits; /* digits to which a frame is padded; 0: any number, padded or not */
    unsigned first;  /* the number of the first column and row of tiles */
} token;

/* A number of digits, as in 4 or 04, before `end`; moves past it. 0: there is none. */
static unsigned padding_at(const char **p)
{
    const char *q = *p + (**p == '0');
    unsigned digits = *q >= '1' && *q <= '9' ? (unsigned)(*q - '0') : 0;
    if (digits)
        *p = q + 1;
    return digits;
}

/* <f>, <f4>, <frame>, <frame04>. */
static token frame_token(const char *p)
{
    const char *q = p + 1;
    q += txm_ncasecmp(q, "frame", 5) == 0 ? 5 : *q == 'f' || *q == 'F' ? 1 : 0;
    bool named = q > p + 1;
    unsigned digits = padding_at(&q);
    return named && *q == '>' ? (token){TOKEN_FRAME, (size_t)(q - p) + 1, digits, 0} : (token){0};
}

static token token_at(const char *p)
{
    static const struct {
        const char *word;
        token_kind kind;
        unsigned first;
        bool exact; /* the case matters: Maya counts <u> from 0 and <U> from 1 */
    } words[] = {{"<UDIM>", TOKEN_UDIM, 1, false},
                 {"%(UDIM)d", TOKEN_UDIM, 1, false},
                 {"_MAPID_", TOKEN_MAPID, 1, true},
                 {"<UVTILE>", TOKEN_UVTILE, 1, false},
                 {"<UVTILE0>", TOKEN_UVTILE, 0, false},
                 {"<U>", TOKEN_U, 1, true},
                 {"<V>", TOKEN_V, 1, true},
                 {"<u>", TOKEN_U, 0, true},
                 {"<v>", TOKEN_V, 0, true}};
    for (size_t i = 0; strchr("<%_", *p) && i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if (words[i].exact ? strncmp(p, words[i].word, n) == 0 : txm_ncasecmp(p, words[i].word, n) == 0)
            return (token){words[i].kind, n, 0, words[i].first};
    }
    switch (*p) {
    case '%': { /* %d and %04d, in which frame ranges are often written */
        const bool padded = p[1] == '0' && p[2] >= '1' && p[2] <= '9';
        const size_t d = padded ? 3 : 1;
        return p[d] == 'd' ? (token){TOKEN_FRAME, d + 1, padded ? (unsigned)(p[2] - '0') : 1, 0} : (token){0};
    }
    case '$': { /* $F and $F4 of Houdini */
        const char *q = p + 2;
        unsigned digits = p[1] == 'F' ? padding_at(&q) : 0;
        return p[1] == 'F' ? (token){TOKEN_FRAME, (size_t)(q - p), digits ? digits : 1, 0} : (token){0};
    }
    case '<':
        return frame_token(p);
    case '#': {
        size_t n = strspn(p, "#");
        return (token){TOKEN_FRAME, n, (unsigned)n, 0};
    }
    default:
        return (token){0};
    }
}

const char *txm_pattern_unknown(const char *path, size_t *bytes)
{
    for (const char *p = txm_path_base(path); *p; p++) {
        const char *end = *p == '<' ? strchr(p, '>') : NULL;
        *bytes = end ? (size_t)(end - p) + 1 : 0;
        if ((*p == '$' && p[1] >= 'A' && p[1] <= 'Z') || (*p == '%' && p[1] == '(') || (*p == '@' && p[1] == '@'))
            *bytes = 1 + strspn(p + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@()");
        if (*bytes > 1 && !token_at(p).kind)
            return p;
    }
    return NULL;
}

bool txm_pattern_is(const char *path)
{
    for (const char *p = txm_path_base(path); *p; p++)
        if (token_at(p).kind)
            return true;
    return false;
}

static size_t digits_at(const char *s)
{
    return strspn(s, "0123456789");
}

/* 1001 + 10 row + column, where both are counted from `first`; 0 if the number would be too large. */
static unsigned number_of_place(const char *column, const char *row, unsigned first)
{
    unsigned long u = strtoul(column, NULL, 10) + 1 - first, v = strtoul(row, NULL, 10) + 1 - first;
    return u >= 1 && u <= 10 && v >= 1 && v <= 900 && 10 * v + u <= 9009 ? (unsigned)(990 + 10 * v + u) : 0;
}

/* The bytes of a UDIM number at `s`; 0 if there is none. They begin at 1001; with further digits it would be another
 * number. */
static size_t udim_at(const char *s, unsigned *tile)
{
    if (digits_at(s) < 4 || memcmp(s, "1001", 4) < 0)
        return 0;
    *tile = 1000u * (unsigned)(s[0] - '0') + 100u * (unsigned)(s[1] - '0') + 10u * (unsigned)(s[2] - '0') +
            (unsigned)(s[3] - '0');
    return 4;
}

/* `tile` receives the number of the UDIM tile, 0 if the pattern has no token for it. */
static bool match(const char *pattern, const char *name, unsigned *tile)
{
    const char *column = NULL, *row = NULL;
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
            if (!(n = udim_at(name, tile)))
                return false;
            break;
        case TOKEN_MAPID: { /* programs disagree on whether its underscores are in the name */
            size_t before = *name == '_';
            if (!(n = udim_at(name + before, tile)))
                return false;
            n += before;
            n += name[n] == '_' && pattern[t.length] != '_';
            break;
        }
        case TOKEN_UVTILE:
            /* "u1_v12" */
            n = name[0] == 'u' ? 1 + digits_at(name + 1) : 0;
            if (n < 2 || name[n] != '_' || name[n + 1] != 'v' || !digits_at(name + n + 2))
                return false;
            *tile = number_of_place(name + 1, name + n + 2, t.first);
            n += 2 + digits_at(name + n + 2);
            break;
        case TOKEN_U:
        case TOKEN_V:
            if (!(n = digits_at(name)))
                return false;
            *(t.kind == TOKEN_U ? &column : &row) = name;
            if (column && row)
                *tile = number_of_place(column, row, t.first);
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
