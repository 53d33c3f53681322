/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses the words of a line: values and names. It stops at the first mistake, which it reports with file and line;
 * afterwards every function returns a harmless value, so that statements need not check in between.
 */
#include "render/scene_words.h"
#include "base/base.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A name of one kind, and its index. The tree of names owns them. */
typedef struct named {
    char kind;
    uint32_t index;
    char name[];
} named;

/* The first failure is kept, since later ones follow from it. */
void stm_words_fail(stm_words *p, txm_status status, const char *format, ...)
{
    txm_error own = {0};
    va_list args;
    va_start(args, format);
    stm_fail_v(&own, status, format, args);
    va_end(args);
    stm_words_fail_as(p, &own);
}

void stm_words_fail_as(stm_words *p, const txm_error *cause)
{
    txm_error own = *cause;
    if (p->failed)
        return;
    p->failed = true;
    char *place = stm_asprintf("%s:%zu", p->file, p->line);
    stm_error_prefix(&own, place ? place : p->file);
    free(place);
    stm_fail_as(p->err, &own);
}

/* The message includes the line, which shows how much of a large scene was read. */
void stm_words_no_memory(stm_words *p)
{
    stm_words_fail(p, TXM_STATUS_NO_MEMORY, "out of memory");
}

/* Carriage returns count as blanks, since scenes are also written on Windows. */
static void skip_blanks(stm_words *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\r'))
        p->at++;
}

/* It is also false after a failure, which ends every loop over words. */
bool stm_words_more(stm_words *p)
{
    skip_blanks(p);
    return !p->failed && p->at < p->end;
}

/* The next word, which ends at a blank; empty if there is none. */
size_t stm_take_word(stm_words *p, const char **word)
{
    skip_blanks(p);
    *word = p->at;
    while (p->at < p->end && *p->at != ' ' && *p->at != '\t' && *p->at != '\r')
        p->at++;
    return (size_t)(p->at - *word);
}

/* Words are not terminated, since they are part of the text. */
bool stm_is_word(const char *word, size_t n, const char *expected)
{
    return strlen(expected) == n && memcmp(word, expected, n) == 0;
}

bool stm_take_if(stm_words *p, const char *expected)
{
    const char *before = p->at, *word;
    size_t n = stm_take_word(p, &word);
    if (stm_is_word(word, n, expected))
        return true;
    p->at = before;
    return false;
}

/* Keywords between values make a scene readable, and help to detect a missing value. */
void stm_take_keyword(stm_words *p, const char *expected)
{
    if (!p->failed && !stm_take_if(p, expected))
        stm_words_fail(p, TXM_STATUS_CORRUPT, "expected the word '%s'", expected);
}

/* The number is parsed independently of the locale; infinity and NaN are refused here. */
float stm_take_number(stm_words *p, const char *what)
{
    const char *word;
    char text[64], *end;
    size_t n = stm_take_word(p, &word);
    if (p->failed)
        return 0.0f;
    if (n && n < sizeof text) {
        memcpy(text, word, n);
        text[n] = 0;
        float f = strtof(text, &end);
        if (!*end && isfinite(f))
            return f;
    }
    stm_words_fail(p, TXM_STATUS_CORRUPT, n ? "%s must be a number, not '%.*s'" : "%s is missing", what,
                   (int)(n < 40 ? n : 40), word);
    return 0.0f;
}

/* All numbers are set, to 0 after a failure. */
void stm_take_numbers(stm_words *p, const char *what, float *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = stm_take_number(p, what);
}

float stm_take_positive(stm_words *p, const char *what)
{
    float f = stm_take_number(p, what);
    if (!p->failed && !(f > 0.0f))
        stm_words_fail(p, TXM_STATUS_CORRUPT, "%s must be above 0", what);
    return f;
}

/* Numbers are floats in the format, even for counts: 4 and 4.0 are the same. */
uint32_t stm_take_count(stm_words *p, const char *what, uint32_t low, uint32_t high)
{
    float f = stm_take_number(p, what);
    if (!p->failed && (f < (float)low || f > (float)high || f != floorf(f)))
        stm_words_fail(p, TXM_STATUS_CORRUPT, "%s must be a whole number from %u to %u", what, low, high);
    return p->failed ? low : (uint32_t)f;
}

txm_vec3 stm_take_vector(stm_words *p, const char *what)
{
    float f[3] = {0};
    stm_take_numbers(p, what, f, 3);
    return txm_vec_make(f[0], f[1], f[2]);
}

/* Reads a vector and normalises it. */
txm_vec3 stm_take_direction(stm_words *p, const char *what)
{
    txm_vec3 d = stm_take_vector(p, what);
    float length = txm_vec_length(d);
    if (!p->failed && !(length > 0.0f && isfinite(length)))
        stm_words_fail(p, TXM_STATUS_CORRUPT, "%s has no direction", what);
    return p->failed ? txm_vec_make(0.0f, 0.0f, 1.0f) : txm_vec_scale(d, 1.0f / length);
}

/* Twelve numbers, row by row. A matrix that flattens is allowed: Blender's objects can be scaled to 0. */
stm_matrix stm_take_matrix(stm_words *p)
{
    stm_matrix m = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    for (int row = 0; row < 3; row++)
        stm_take_numbers(p, "the matrix", m.m[row], 4);
    return m;
}

/* A JSON string; NULL after a failure. */
char *stm_take_text(stm_words *p, const char *what)
{
    skip_blanks(p);
    if (p->failed)
        return NULL;
    const char *end = p->at + 1;
    while (p->at < p->end && *p->at == '"' && end < p->end && *end != '"')
        end += *end == '\\' && end + 1 < p->end ? 2 : 1;
    if (p->at >= p->end || *p->at != '"' || end >= p->end) {
        stm_words_fail(p, TXM_STATUS_CORRUPT, "%s must be in double quotes", what);
        return NULL;
    }
    errno = 0; /* distinguishes a failed allocation from bad syntax */
    cJSON *json = cJSON_ParseWithLength(p->at, (size_t)(end + 1 - p->at));
    const char *value = json ? cJSON_GetStringValue(json) : NULL;
    bool exhausted = !json && errno == ENOMEM;
    char *text = stm_strdup(value);
    if ((value && !text) || exhausted)
        stm_words_no_memory(p);
    else if (!value)
        stm_words_fail(p, TXM_STATUS_CORRUPT, "%s is not a JSON string", what);
    cJSON_Delete(json);
    p->at = end + 1;
    return text;
}

/* The index of a word in `words`, which ends with NULL. */
int stm_take_choice(stm_words *p, const char *what, const char *const *words)
{
    const char *word;
    size_t n = stm_take_word(p, &word);
    for (int i = 0; !p->failed && words[i]; i++)
        if (stm_is_word(word, n, words[i]))
            return i;
    stm_words_fail(p, TXM_STATUS_CORRUPT, "'%.*s' is not a valid %s", (int)(n < 40 ? n : 40), word, what);
    return 0;
}

/* ---- names ---- */

/* Names of images, materials and meshes are separate: a material may have the name of its image. */
static int compare_names(const void *a, const void *b)
{
    const named *x = a, *y = b;
    return x->kind != y->kind ? x->kind - y->kind : strcmp(x->name, y->name);
}

/* Searching uses it too, since the tree compares whole entries. */
static named *new_name(stm_words *p, char kind, const char *word, size_t n, uint32_t index)
{
    named *key = malloc(sizeof *key + n + 1);
    if (!key) {
        stm_words_no_memory(p);
        return NULL;
    }
    key->kind = kind;
    key->index = index;
    memcpy(key->name, word, n);
    key->name[n] = 0;
    return key;
}

/* Defines a name of a kind ('i'mage, 'm'aterial, me's'h) for `index` and returns a copy of it; NULL after a failure. */
char *stm_define_name(stm_words *p, char kind, uint32_t index)
{
    const char *word;
    size_t n = stm_take_word(p, &word);
    if (!n)
        stm_words_fail(p, TXM_STATUS_CORRUPT, "the name is missing");
    named *key = p->failed ? NULL : new_name(p, kind, word, n, index);
    if (!key)
        return NULL;
    named **found = tsearch(key, &p->names, compare_names);
    if (!found || *found != key) {
        if (found)
            stm_words_fail(p, TXM_STATUS_CORRUPT, "'%s' is defined twice", key->name);
        else
            stm_words_no_memory(p);
        free(key);
        return NULL;
    }
    char *copy = stm_strdup(key->name);
    if (!copy)
        stm_words_no_memory(p);
    return copy;
}

/* The index of an earlier definition; after a failure any index will do, since it is not used. */
uint32_t stm_refer_to_name(stm_words *p, char kind, const char *what)
{
    const char *word;
    size_t n = stm_take_word(p, &word);
    named *key = p->failed ? NULL : new_name(p, kind, word, n, 0);
    named **found = key ? tfind(key, &p->names, compare_names) : NULL;
    uint32_t index = found ? (*found)->index : 0;
    if (key && !found)
        stm_words_fail(p, TXM_STATUS_CORRUPT, n ? "there is no %s '%s' above" : "the %s is missing", what, key->name);
    free(key);
    return index;
}

void stm_words_free(stm_words *p)
{
    tdestroy(p->names, free);
    p->names = NULL;
}
