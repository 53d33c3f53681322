/* SPDX-License-Identifier: Apache-2.0
 *
 * Metadata of a tx file as pairs of strings. The file decides how many there are and how long: both are bounded.
 */
#include <ctype.h>
#include <stdlib.h>

#include "container/reader_impl.h"

/* Appends a string without what would disturb a terminal. */
static bool add_clean(txm_bytes *text, const char *s, size_t n)
{
    size_t start = text->size;
    if (!txm_bytes_add(text, s, n) || !txm_bytes_add(text, "", 1))
        return false;
    for (char *p = text->data + start; p < text->data + start + n; p++)
        if (iscntrl((unsigned char)*p) && *p != '\n' && *p != '\t')
            *p = '?';
    return true;
}

static bool grow(txm_metadata *m)
{
    size_t capacity = m->capacity ? m->capacity * 2 : 32;
    void *entries = realloc(m->entries, capacity * sizeof *m->entries);
    if (!entries)
        return false;
    m->entries = entries;
    m->capacity = capacity;
    return true;
}

bool txm_metadata_add(txm_metadata *metadata, const char *name, const char *value, size_t value_bytes)
{
    size_t name_bytes = strlen(name);
    value_bytes = strnlen(value, value_bytes);
    if (metadata->count == TXM_METADATA_MAX_ENTRIES ||
        metadata->text.size + name_bytes + value_bytes + 2 > TXM_METADATA_MAX_BYTES)
        return true;
    if (metadata->count == metadata->capacity && !grow(metadata))
        return false;
    uint32_t name_at = (uint32_t)metadata->text.size;
    if (!add_clean(&metadata->text, name, name_bytes))
        return false;
    uint32_t value_at = (uint32_t)metadata->text.size;
    if (!add_clean(&metadata->text, value, value_bytes))
        return false;
    metadata->entries[metadata->count].name = name_at;
    metadata->entries[metadata->count++].value = value_at;
    return true;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || (c && strchr(":_-.", c));
}

/* A value in double quotes, whose quotes and backslashes have a backslash in front. Steps over it. */
static bool add_quoted(txm_metadata *metadata, const char *name, const char **p, const char *end)
{
    txm_bytes value = {0};
    bool ok = true;
    const char *at = *p + 1;
    for (; ok && at < end && *at != '"'; at++) {
        at += *at == '\\' && at + 1 < end;
        ok = txm_bytes_add(&value, at, 1);
    }
    *p = at + (at < end);
    ok = ok && txm_metadata_add(metadata, name, value.data ? value.data : "", value.size);
    txm_bytes_free(&value);
    return ok;
}

bool txm_metadata_add_words(txm_metadata *metadata, const char *text, size_t text_bytes)
{
    const char *end = text + strnlen(text, text_bytes);
    for (const char *p = text; p < end;) {
        const char *start = p;
        while (p < end && is_name(*p))
            p++;
        char name[64];
        size_t name_bytes = (size_t)(p - start);
        bool ok = true, word = p < end && *p == '=' && name_bytes && name_bytes < sizeof name;
        if (word) {
            memcpy(name, start, name_bytes);
            name[name_bytes] = 0;
            p++;
        }
        bool quoted = word && p < end && *p == '"';
        if (quoted)
            ok = add_quoted(metadata, name, &p, end);
        /* The rest of the word: the value, or what is no entry. */
        const char *value = p;
        while (p < end && !isspace((unsigned char)*p))
            p++;
        if (word && !quoted)
            ok = txm_metadata_add(metadata, name, value, (size_t)(p - value));
        if (!ok)
            return false;
        while (p < end && isspace((unsigned char)*p))
            p++;
    }
    return true;
}

void txm_metadata_free(txm_metadata *metadata)
{
    txm_bytes_free(&metadata->text);
    free(metadata->entries);
    memset(metadata, 0, sizeof *metadata);
}

int txm_tx_metadata_at(const txm_tx *tx, size_t index, const char **name, const char **value)
{
    const txm_metadata *m = &tx->metadata;
    if (index >= m->count)
        return 0;
    *name = m->text.data + m->entries[index].name;
    *value = m->text.data + m->entries[index].value;
    return 1;
}

const char *txm_tx_metadata_of(const txm_tx *tx, const char *name)
{
    const char *entry, *value;
    for (size_t i = 0; txm_tx_metadata_at(tx, i, &entry, &value); i++)
        if (strcmp(entry, name) == 0)
            return value;
    return NULL;
}
